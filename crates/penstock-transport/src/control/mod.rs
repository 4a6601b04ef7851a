//! Congestion controllers: how many bytes of a flow may be in flight, and how fast they leave.
//!
//! A controller sees acknowledgements, what switches and the receiver tell the source of congestion,
//! the losses that recovery reports ([`LossSignal`]), the packets of its flow that leave, and the
//! time; it does not know which bytes were lost or what the NIC does. To add one: write its file
//! (config, state machine, citation, tests) and add a variant to
//! [`ControllerConfig`] and [`Controller`].
//!
//! A controller may have timers: [`Controller::deadline`] is the next one, and whoever drives it
//! calls [`Controller::on_deadline`] then. What is due at the time of anything else counts before it
//! (a tick of alpha in [`dcqcn_mellanox`] after it), so that it does not matter in which order a
//! driver takes the events of one picosecond.
//!
//! Reading order: [`config`] (which there are), [`window`], [`delay`], [`new_reno`], [`swift`], [`paced_rate`] (what the others
//! share), [`dctcp`], [`hpcc`], `alpha` (what the next two share), [`dcqcn_mellanox`], `stages` (what
//! the next two share), [`dcqcn`], [`qcn`], [`timely`],
//! [`pcn`], [`packet_pair`], then those where the receiver decides: [`homa`], [`expresspass`].

use alloc::boxed::Box;

use penstock_units::{BitRate, Fidelity, Time};

use crate::flow::{FlowView, LossSignal};
use crate::notification::Notification;
use crate::path::{Acknowledgement, PathFacts};

pub mod config;
pub mod dcqcn;
pub mod dcqcn_mellanox;
pub mod dctcp;
pub mod delay;
pub mod expresspass;
pub mod homa;
pub mod hpcc;
pub mod new_reno;
pub mod paced_rate;
pub mod packet_pair;
pub mod pcn;
pub mod qcn;
pub mod swift;
pub mod timely;
pub mod window;

mod alpha;
mod stages;

pub use config::ControllerConfig;
pub use dcqcn::{Dcqcn, DcqcnConfig};
pub use dcqcn_mellanox::{DcqcnMellanox, DcqcnMellanoxConfig};
pub use dctcp::{Dctcp, DctcpConfig, DctcpStart};
pub use delay::{Delay, DelayConfig};
pub use expresspass::{CreditFeedback, ExpressPassConfig};
pub use homa::{Homa, HomaConfig};
pub use hpcc::{Hpcc, HpccConfig, HpccReaction};
pub use new_reno::{NewReno, NewRenoConfig};
use paced_rate::Paced;
pub use paced_rate::{Increase, RateWindow};
pub use packet_pair::{PacketPair, PacketPairConfig};
pub use pcn::{Pcn, PcnConfig};
pub use qcn::{Qcn, QcnConfig};
pub use swift::{Swift, SwiftConfig};
pub use timely::{Timely, TimelyBand, TimelyConfig, TimelyUpdate};
pub use window::{Window, WindowConfig};

/// The controller of one flow, stored by value; a large one in a box, so that flows of the others
/// stay small.
#[derive(Clone, Debug)]
pub enum Controller {
    /// No control.
    LineRate,
    /// A constant window.
    Window(Window),
    /// DCTCP.
    Dctcp(Dctcp),
    /// HPCC.
    Hpcc(Hpcc),
    /// BFC's delay controller.
    Delay(Delay),
    /// DCQCN as in NVIDIA's firmware.
    DcqcnMellanox(Box<DcqcnMellanox>),
    /// DCQCN as in its paper.
    Dcqcn(Box<Dcqcn>),
    /// QCN.
    Qcn(Box<Qcn>),
    /// TIMELY.
    Timely(Box<Timely>),
    /// TCP NewReno's congestion control.
    NewReno(NewReno),
    /// Swift.
    Swift(Box<Swift>),
    /// PCN.
    Pcn(Pcn),
    /// Packet-pair flow control.
    PacketPair(Box<PacketPair>),
    /// Homa's grants.
    Homa(Homa),
    /// The sender of ExpressPass.
    ExpressPass(Box<expresspass::Source>),
}

impl Controller {
    /// The controller of a new flow of `size` bytes. What it allocates it allocates here, once.
    pub fn new(config: &ControllerConfig, size: u64, path: &PathFacts) -> Self {
        match config {
            ControllerConfig::LineRate {} => Controller::LineRate,
            ControllerConfig::Window(config) => Controller::Window(Window::new(config, path)),
            ControllerConfig::Dctcp(config) => Controller::Dctcp(Dctcp::new(config, path)),
            ControllerConfig::Hpcc(config) => Controller::Hpcc(Hpcc::new(config, path)),
            ControllerConfig::Delay(config) => Controller::Delay(Delay::new(config, path)),
            ControllerConfig::DcqcnMellanox(config) => {
                Controller::DcqcnMellanox(Box::new(DcqcnMellanox::new(config, path)))
            }
            ControllerConfig::Dcqcn(config) => {
                Controller::Dcqcn(Box::new(Dcqcn::new(config, path)))
            }
            ControllerConfig::Qcn(config) => Controller::Qcn(Box::new(Qcn::new(config, path))),
            ControllerConfig::Timely(config) => {
                Controller::Timely(Box::new(Timely::new(config, path)))
            }
            ControllerConfig::NewReno(config) => Controller::NewReno(NewReno::new(config, path)),
            ControllerConfig::Swift(config) => {
                Controller::Swift(Box::new(Swift::new(config, path)))
            }
            ControllerConfig::Pcn(config) => Controller::Pcn(Pcn::new(config, path)),
            ControllerConfig::PacketPair(config) => {
                Controller::PacketPair(Box::new(PacketPair::new(config, path)))
            }
            ControllerConfig::Homa(config) => Controller::Homa(Homa::new(config, size, path)),
            ControllerConfig::ExpressPass(config) => {
                Controller::ExpressPass(Box::new(expresspass::Source::new(config, path)))
            }
        }
    }

    /// Whether a change of the rate moves the gap after the last packet as well. In the ns-3 HPCC
    /// simulator only HPCC's does; otherwise every controller's does.
    #[inline]
    pub(crate) fn moves_pending_gap(&self, fidelity: Fidelity) -> bool {
        fidelity == Fidelity::Exact || matches!(self, Controller::Hpcc(_))
    }

    /// Whether the last acknowledgement set the rate in a way that moves the pending gap in the
    /// ns-3 HPCC simulator, even if to the same rate.
    #[inline]
    pub(crate) fn has_moved_gap(&self) -> bool {
        matches!(self, Controller::Hpcc(hpcc) if hpcc.has_reacted())
    }

    /// An acknowledgement, positive or negative, arrived at `now`.
    pub fn on_acknowledgement(&mut self, now: Time, ack: &Acknowledgement, view: &FlowView) {
        match self {
            Controller::LineRate
            | Controller::Window(_)
            | Controller::Dcqcn(_)
            | Controller::Qcn(_)
            | Controller::Pcn(_)
            | Controller::Homa(_) => {}
            Controller::Dctcp(dctcp) => dctcp.on_acknowledgement(ack.is_marked, view),
            Controller::Hpcc(hpcc) => hpcc.on_acknowledgement(ack.telemetry, view),
            Controller::Delay(delay) => {
                delay.on_acknowledgement(now.saturating_sub(ack.sent_at), view);
            }
            Controller::DcqcnMellanox(dcqcn) => dcqcn.on_acknowledgement(now, ack.is_marked),
            Controller::Timely(timely) => {
                timely.on_acknowledgement(now, now.saturating_sub(ack.sent_at), view);
            }
            Controller::NewReno(new_reno) => new_reno.on_acknowledgement(view),
            Controller::Swift(swift) => swift.on_acknowledgement(now, ack.sent_at, view),
            Controller::PacketPair(pair) => pair.on_acknowledgement(now, ack, view),
            Controller::ExpressPass(source) if ack.is_negative => source.on_loss(),
            Controller::ExpressPass(_) => {}
        }
    }

    /// A congestion notification of the receiver arrived at `now`.
    pub fn on_notification(&mut self, now: Time, notification: Notification) {
        match self {
            Controller::Dcqcn(dcqcn) => dcqcn.on_notification(now),
            Controller::Pcn(pcn) => pcn.on_notification(notification),
            _ => {}
        }
    }

    /// The `feedback` of a switch arrived at `now`, see [`Qcn::on_feedback`].
    pub fn on_feedback(&mut self, now: Time, feedback: u8) {
        if let Controller::Qcn(qcn) = self {
            qcn.on_feedback(now, feedback);
        }
    }

    /// The receiver lets the bytes before `offset` go, at `level` if it says so (Homa).
    pub fn on_grant(&mut self, offset: u64, level: Option<u8>) {
        if let Controller::Homa(homa) = self {
            homa.on_grant(offset, level);
        }
    }

    /// The priority level of a packet that begins at `offset`; 0, the highest, where there are none.
    #[inline]
    pub fn level(&self, offset: u64) -> u8 {
        match self {
            Controller::Homa(homa) => homa.level(offset),
            _ => 0,
        }
    }

    /// Whether the next packet is the first of a pair, where there are pairs.
    #[inline]
    pub fn opens_pair(&self) -> bool {
        match self {
            Controller::PacketPair(pair) => pair.opens_pair(),
            _ => false,
        }
    }

    /// A packet of `wire_bytes` (bytes, header included) leaves at `now`.
    #[inline]
    pub fn on_send(&mut self, now: Time, wire_bytes: u32) {
        match self {
            Controller::DcqcnMellanox(dcqcn) => dcqcn.on_deadline(now),
            Controller::Dcqcn(dcqcn) => dcqcn.on_send(now, wire_bytes),
            Controller::Qcn(qcn) => qcn.on_send(now, wire_bytes),
            Controller::PacketPair(pair) => pair.on_send(now),
            _ => {}
        }
    }

    /// When the next timer is due (ps); [`Time::NEVER`] when none runs. An acknowledgement or a
    /// packet that leaves may move it either way.
    #[inline]
    pub fn deadline(&self) -> Time {
        match self {
            Controller::DcqcnMellanox(dcqcn) => dcqcn.deadline(),
            Controller::Dcqcn(dcqcn) => dcqcn.deadline(),
            Controller::Qcn(qcn) => qcn.deadline(),
            Controller::ExpressPass(source) => source.deadline(),
            _ => Time::NEVER,
        }
    }

    /// Serves the timers that are due by `now`.
    pub fn on_deadline(&mut self, now: Time) {
        match self {
            Controller::DcqcnMellanox(dcqcn) => dcqcn.on_deadline(now),
            Controller::Dcqcn(dcqcn) => dcqcn.on_deadline(now),
            Controller::Qcn(qcn) => qcn.on_deadline(now),
            Controller::ExpressPass(source) => source.on_deadline(now),
            _ => {}
        }
    }

    /// A switch told the sender that it dropped a packet: DCTCP and HPCC fall to their minimum rate
    /// (the HPCC-PFC variant of BFC, NSDI 2022, as its authors' simulator does it);
    /// the others continue as they are.
    pub fn on_switch_drop(&mut self) {
        match self {
            Controller::Dctcp(dctcp) => dctcp.on_switch_drop(),
            Controller::Hpcc(hpcc) => hpcc.on_switch_drop(),
            _ => {}
        }
    }

    /// A timed pause of the host: the rate is multiplied by `kept`, 0 to 1 (FAFC, Algorithm 3), down
    /// to the minimum rate. So do the controllers that FAFC is evaluated with; the others continue as
    /// they are.
    pub fn on_timed_pause(&mut self, kept: f64) {
        match self {
            Controller::Dctcp(dctcp) => dctcp.on_timed_pause(kept),
            Controller::Hpcc(hpcc) => hpcc.on_timed_pause(kept),
            Controller::Timely(timely) => timely.on_timed_pause(kept),
            _ => {}
        }
    }

    /// Recovery has something to tell. DCTCP halves its window when a loss is detected, NewReno and
    /// Swift follow their own rules; the others continue as they are, as RDMA NICs do.
    pub fn on_loss(&mut self, now: Time, signal: LossSignal) {
        match self {
            Controller::Dctcp(dctcp) => match signal {
                LossSignal::FastRetransmit { .. } | LossSignal::Timeout { .. } => dctcp.on_loss(),
                LossSignal::RecoveryExit { .. } => {}
            },
            Controller::NewReno(new_reno) => new_reno.on_loss(signal),
            Controller::Swift(swift) => swift.on_loss(now, signal),
            Controller::ExpressPass(source) => source.on_loss(),
            _ => {}
        }
    }

    /// How many bytes may be in flight (bytes), >= 1; `u64::MAX` means no limit, and 0 that nothing
    /// leaves without a credit.
    #[inline]
    pub fn window(&self) -> u64 {
        match self {
            Controller::LineRate => u64::MAX,
            Controller::Window(window) => window.bytes(),
            Controller::Dctcp(dctcp) => dctcp.window(),
            Controller::Hpcc(hpcc) => hpcc.window(),
            Controller::Delay(delay) => delay.window(),
            Controller::DcqcnMellanox(dcqcn) => dcqcn.window(),
            Controller::Dcqcn(dcqcn) => dcqcn.window(),
            Controller::Qcn(qcn) => qcn.window(),
            Controller::Timely(timely) => timely.window(),
            Controller::NewReno(new_reno) => new_reno.window(),
            Controller::Swift(swift) => swift.window(),
            Controller::Pcn(pcn) => pcn.window(),
            Controller::PacketPair(pair) => pair.window(),
            Controller::Homa(homa) => homa.granted(),
            Controller::ExpressPass(_) => 0,
        }
    }

    /// The rate at which the flow's packets are paced (bit/s); `None` means the line rate, which
    /// needs no pacing because the NIC sends no faster.
    #[inline]
    pub fn rate(&self) -> Option<BitRate> {
        match self {
            Controller::LineRate
            | Controller::Window(_)
            | Controller::Delay(_)
            | Controller::NewReno(_)
            | Controller::Homa(_)
            | Controller::ExpressPass(_) => None,
            Controller::Dctcp(dctcp) => dctcp.rate(),
            Controller::Hpcc(hpcc) => hpcc.rate(),
            Controller::DcqcnMellanox(dcqcn) => dcqcn.rate(),
            Controller::Dcqcn(dcqcn) => dcqcn.rate(),
            Controller::Qcn(qcn) => qcn.rate(),
            Controller::Timely(timely) => timely.rate(),
            Controller::Swift(swift) => swift.rate(),
            Controller::Pcn(pcn) => pcn.rate(),
            Controller::PacketPair(pair) => pair.rate(),
        }
    }
}
