//! Backpressure: what does the upstream learn?

pub mod bfc;
pub mod fafc;
pub mod pfc;

use alloc::boxed::Box;

use serde::{Deserialize, Serialize};

use crate::packet::{Packet, PacketKind};
use bfc::{Bfc, BfcConfig};
use fafc::{Fafc, FafcConfig};
use pfc::{Pfc, PfcConfig};

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
    /// The queues 0..128 that should be paused; all others should not.
    QueueBitmap(u128),
    /// Send no data for so many nanoseconds, beyond those of earlier frames (FAFC).
    PauseTime(u32),
}

impl Signal {
    /// The frame that carries the signal, `wire_bytes` long.
    pub fn frame(self, wire_bytes: u16) -> Packet {
        let nanoseconds = if let Signal::PauseTime(time) = self { time } else { 0 };
        let (kind, queue, bitmap) = match self {
            Signal::PauseClass(class) => (PacketKind::PauseClass, u16::from(class), 0),
            Signal::ResumeClass(class) => (PacketKind::ResumeClass, u16::from(class), 0),
            Signal::PauseQueue(queue) => (PacketKind::PauseQueue, queue, 0),
            Signal::ResumeQueue(queue) => (PacketKind::ResumeQueue, queue, 0),
            Signal::QueueBitmap(bitmap) => (PacketKind::QueueBitmap, 0, bitmap),
            Signal::PauseTime(_) => (PacketKind::PauseTime, 0, 0),
        };
        Packet {
            kind,
            upstream_queue: queue,
            offset: bitmap as u64,
            sent_at: penstock_units::Time::from_ps((bitmap >> 64) as u64),
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
            PacketKind::QueueBitmap => {
                let high = u128::from(packet.sent_at.as_ps());
                Some(Signal::QueueBitmap((high << 64) | u128::from(packet.offset)))
            }
            PacketKind::PauseTime => Some(Signal::PauseTime(packet.remaining)),
            _ => None,
        }
    }

    /// Whether it makes somebody stop.
    pub fn is_pause(self) -> bool {
        matches!(self, Signal::PauseClass(_) | Signal::PauseQueue(_) | Signal::PauseTime(_))
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
}

#[cfg(test)]
#[path = "signal_tests.rs"]
mod tests;
