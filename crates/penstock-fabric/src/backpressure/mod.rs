//! Backpressure: what does the upstream learn?

pub mod bfc;
pub mod capfc;
pub mod credits;
pub mod fafc;
pub mod flow_pauses;
pub mod pfc;
pub mod ppfc;

pub(crate) mod pairs;

use alloc::boxed::Box;

use serde::{Deserialize, Serialize};

use crate::packet::{Packet, PacketKind};
use crate::switch::{SwitchConfig, SwitchFacts};
use bfc::{Bfc, BfcConfig};
use capfc::{Capfc, CapfcConfig};
use credits::{Credits, CreditsConfig};
use fafc::{Fafc, FafcConfig};
use flow_pauses::{FlowPauses, FlowPausesConfig};
use pairs::Pairs;
use pfc::{Pfc, PfcConfig};
use ppfc::{Ppfc, PpfcConfig};

/// The backpressure axis of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum BackpressureConfig {
    /// Nothing.
    None {},
    /// Priority flow control.
    Pfc(PfcConfig),
    /// Backpressure flow control.
    Bfc(BfcConfig),
    /// Fast and accurate flow control.
    Fafc(FafcConfig),
    /// Congestion-aware priority flow control.
    Capfc(CapfcConfig),
    /// Predictive priority flow control.
    PPfc(PpfcConfig),
    /// BFC with credits.
    Credits(CreditsConfig),
    /// Pauses of single flows.
    FlowPauses(FlowPausesConfig),
}

impl BackpressureConfig {
    /// Whether numbered queues are paused: each flow then needs one path.
    pub fn pauses_queues(&self) -> bool {
        matches!(
            self,
            BackpressureConfig::Bfc(_)
                | BackpressureConfig::Credits(_)
                | BackpressureConfig::FlowPauses(_)
        )
    }
}

/// What one end of a link tells the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Stop sending a priority class.
    PauseClass(u8),
    /// Send it again.
    ResumeClass(u8),
    /// Stop sending from a queue.
    PauseQueue(u16),
    /// Send from it again.
    ResumeQueue(u16),
    /// Stop sending the flow of this hash (pauses by flow).
    PauseFlow(u32),
    /// Send it again.
    ResumeFlow(u32),
    /// The queues 0..128 that should be paused; all others should not.
    QueueBitmap(u128),
    /// Send no data for so many nanoseconds, beyond those of earlier frames (FAFC).
    PauseTime(u32),
    /// Credit for data (BFC with credits).
    Credit {
        /// 0 for what all queues of the link share, else a queue.
        account: u16,
        /// Bytes that it has been granted since the start.
        granted: u64,
    },
}

impl Signal {
    /// The frame that carries the signal, `wire_bytes` long.
    pub fn frame(self, wire_bytes: u16) -> Packet {
        let nanoseconds = if let Signal::PauseTime(time) = self { time } else { 0 };
        let (kind, queue, value) = match self {
            Signal::PauseClass(class) => (PacketKind::PauseClass, u16::from(class), 0),
            Signal::ResumeClass(class) => (PacketKind::ResumeClass, u16::from(class), 0),
            Signal::PauseQueue(queue) => (PacketKind::PauseQueue, queue, 0),
            Signal::ResumeQueue(queue) => (PacketKind::ResumeQueue, queue, 0),
            Signal::PauseFlow(flow) => (PacketKind::PauseFlow, 0, u128::from(flow)),
            Signal::ResumeFlow(flow) => (PacketKind::ResumeFlow, 0, u128::from(flow)),
            Signal::QueueBitmap(bitmap) => (PacketKind::QueueBitmap, 0, bitmap),
            Signal::PauseTime(_) => (PacketKind::PauseTime, 0, 0),
            Signal::Credit { account, granted } => {
                (PacketKind::HopCredit, account, u128::from(granted))
            }
        };
        Packet {
            kind,
            upstream_queue: queue,
            offset: value as u64,
            sent_at: penstock_units::Time::from_ps((value >> 64) as u64),
            remaining: nanoseconds,
            wire_bytes,
            ..Packet::default()
        }
    }

    /// The signal that a frame carries, if it carries one.
    pub fn of(packet: &Packet) -> Option<Signal> {
        let queue = packet.upstream_queue;
        match packet.kind {
            PacketKind::PauseClass => Some(Signal::PauseClass(queue as u8)),
            PacketKind::ResumeClass => Some(Signal::ResumeClass(queue as u8)),
            PacketKind::PauseQueue => Some(Signal::PauseQueue(queue)),
            PacketKind::ResumeQueue => Some(Signal::ResumeQueue(queue)),
            PacketKind::PauseFlow => Some(Signal::PauseFlow(packet.offset as u32)),
            PacketKind::ResumeFlow => Some(Signal::ResumeFlow(packet.offset as u32)),
            PacketKind::QueueBitmap => {
                let high = u128::from(packet.sent_at.as_ps());
                Some(Signal::QueueBitmap((high << 64) | u128::from(packet.offset)))
            }
            PacketKind::PauseTime => Some(Signal::PauseTime(packet.remaining)),
            PacketKind::HopCredit => {
                Some(Signal::Credit { account: queue, granted: packet.offset })
            }
            _ => None,
        }
    }

    /// Whether it stops somebody or lets him go on; bitmaps repeat, and credits come before a stop.
    pub fn is_event(self) -> bool {
        !matches!(self, Signal::QueueBitmap(_) | Signal::Credit { .. })
    }

    /// Whether it makes somebody stop.
    pub fn is_pause(self) -> bool {
        matches!(
            self,
            Signal::PauseClass(_)
                | Signal::PauseQueue(_)
                | Signal::PauseFlow(_)
                | Signal::PauseTime(_)
        )
    }
}

/// A frame to be sent out of a port, ahead of everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlFrame {
    /// Local port whose neighbour is told.
    pub port: u16,
    /// What it is told.
    pub signal: Signal,
}

/// The backpressure policy of a switch, stored by value and dispatched by `match`.
#[derive(Debug)]
pub(crate) enum Backpressure {
    None,
    Pfc(Pfc),
    Bfc(Bfc),
    Fafc(Box<Fafc>),
    Credits(Box<Credits>),
    FlowPauses(Box<FlowPauses>),
    Capfc(Box<Capfc>),
    Ppfc(Box<Ppfc>),
}

impl Backpressure {
    /// The policy of the switch that `config` describes, with `accounts` ingress accounts.
    pub(crate) fn new(config: &SwitchConfig, facts: &SwitchFacts, accounts: usize) -> Self {
        let ports = facts.ports.len();
        match &config.backpressure {
            BackpressureConfig::None {} => Backpressure::None,
            BackpressureConfig::Pfc(pfc) => Backpressure::Pfc(Pfc::new(pfc, accounts)),
            BackpressureConfig::Bfc(bfc) => Backpressure::Bfc(Bfc::new(bfc, facts)),
            BackpressureConfig::Fafc(fafc) => {
                Backpressure::Fafc(Box::new(Fafc::new(fafc, facts, accounts)))
            }
            BackpressureConfig::Capfc(capfc) => {
                Backpressure::Capfc(Box::new(Capfc::new(capfc, ports)))
            }
            BackpressureConfig::PPfc(ppfc) => Backpressure::Ppfc(Box::new(Ppfc::new(ppfc, ports))),
            BackpressureConfig::FlowPauses(flows) => {
                Backpressure::FlowPauses(Box::new(FlowPauses::new(flows, facts)))
            }
            BackpressureConfig::Credits(credits) => {
                let memory = config.admission.memory(facts.node);
                let queues = config.assignment.queue_classes(ports).len();
                Backpressure::Credits(Box::new(Credits::new(credits, facts, memory, queues)))
            }
        }
    }

    /// PFC, if that is the policy or beneath it.
    pub(crate) fn pfc(&self) -> Option<&Pfc> {
        match self {
            Backpressure::Pfc(pfc) => Some(pfc),
            Backpressure::Fafc(fafc) => Some(&fafc.pfc),
            _ => self.pairs().map(|pairs| &pairs.pfc),
        }
    }

    /// The pairs of ports, where ingresses are paused for the sake of an egress.
    pub(crate) fn pairs(&self) -> Option<&Pairs> {
        match self {
            Backpressure::Capfc(capfc) => Some(&capfc.pairs),
            Backpressure::Ppfc(ppfc) => Some(&ppfc.pairs),
            _ => None,
        }
    }
}

#[cfg(test)]
#[path = "signal_tests.rs"]
mod tests;
