//! End hosts of a data-center network: who may send, when, and what is sent again.
//!
//! What it is: the sans-IO state machines of a host. They take `now` and what arrived, and answer
//! what to do next. What it is not: packets, links, events or clocks; a simulator or a real NIC
//! drives it. Invariants: nothing is allocated per packet, nothing reads a clock or a global random
//! source, and the same calls give the same answers.
//!
//! Reading order:
//! 1. [`path`]: what an end host knows of its path, and what an acknowledgement carries back.
//! 2. [`control`]: congestion controllers, one per file; they set a window and a rate.
//! 3. [`recovery`]: what a lost packet costs, at both ends.
//! 4. [`sender`]: one flow at its source: window, pacing, retransmission.
//! 5. [`receiver`]: one flow at its destination: what to reply to a data packet.
//! 6. `notification`, `receiving_rate`: when the destination tells the source of congestion.
//! 7. [`granter`]: which messages the destination lets send more (Homa).
//! 8. [`nic`]: which of a host's flows sends the next packet, and which are paused.
//! 9. [`host`]: all of these as one state machine, which a driver calls.
//! 10. [`config`]: the three choices that make a host, and their bounds.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod config;
pub mod control;
pub mod granter;
pub mod host;
pub mod nic;
pub mod path;
pub mod receiver;
pub mod recovery;
pub mod sender;

mod notification;
mod pair_meter;
mod receiving_rate;

#[cfg(test)]
mod fixture;

pub use config::{BaseRtt, ConfigError, HostConfig};
pub use control::{
    Controller, ControllerConfig, Credit, CreditSignal, ExpressPassConfig, FlowView, SizeShare,
};
pub use granter::{Grant, Granter, Message};
pub use host::{
    Flows, FrameBytes, Host, HostCounters, HostDraws, HostFacts, HostPauses, Opening, Request,
    Requests, Timer, Turn,
};
pub use nic::{Nic, NicConfig, NicScheduling};
pub use notification::Notification;
pub use path::{Acknowledgement, HopTelemetry, PathFacts};
pub use receiver::Receiver;
pub use recovery::{RecoveryConfig, Reply};
pub use sender::{CreditUse, Readiness, Segment, Sender};
