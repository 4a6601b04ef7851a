//! End hosts of a data-center network: who may send, when, and what is sent again.
//!
//! This crate holds the sans-IO state machines of a host. They take `now` and what arrived, and answer
//! what to do next. Packets, links, events and clocks are not in this crate: a simulator or a real NIC
//! drives the host. Invariants: nothing is allocated per packet, nothing reads a clock or a global
//! random source, and the same calls give the same answers.
//!
//! Reading order:
//! 1. [`path`]: what an end host knows of a flow's path, and what an acknowledgement carries back.
//! 2. [`flow`], [`credit`]: what the parts of a sender, and the two ends of a flow, tell each other.
//! 3. [`control`]: congestion controllers, one per file; they set a window and a rate.
//! 4. [`recovery`]: what both ends do about a lost packet.
//! 5. [`sender`]: one flow at its source: window, pacing, retransmission.
//! 6. [`receiver`]: one flow at its destination: the reply to a data packet.
//! 7. `notification`: what the destination tells the source of congestion.
//! 8. `planner`: what the flows to a host plan together: [`granter`], which messages may send more bytes
//!    (Homa), or [`puller`], whose packet is pulled next (NDP).
//! 9. [`nic`]: which of a host's flows sends the next packet, and which flows are paused.
//! 10. [`host`]: all parts above as one state machine, which a driver calls.
//! 11. [`config`]: the three choices that make a host, and their bounds.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[macro_use]
mod ends;

pub mod config;
pub mod control;
pub mod credit;
pub mod flow;
pub mod granter;
pub mod host;
pub mod nic;
pub mod path;
pub mod puller;
pub mod receiver;
pub mod recovery;
pub mod sender;

mod notification;
mod planner;

#[cfg(test)]
mod fixture;

pub use config::{BaseRtt, HostConfig, OtherController};
pub use control::{ControllerConfig, ExpressPassConfig};
pub use credit::{Credit, CreditSignal};
pub use flow::{FlowFacts, FlowView, LossSignal, SizeShare};
pub use granter::{Grant, Granter, Message};
pub use host::{
    Flows, FrameBytes, Host, HostCounters, HostDraws, HostFacts, HostPauses, Opening, Request,
    Requests, SharedConnections, Timer, Turn,
};
pub use nic::{Nic, NicConfig, NicScheduling};
pub use notification::Notification;
pub use path::{Acknowledgement, HopTelemetry, PathFacts};
pub use receiver::Receiver;
pub use recovery::{RecoveryConfig, Reply};
pub use sender::{CreditUse, Readiness, Segment, Sender};
