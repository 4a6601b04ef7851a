//! What nodes hand each other: packets, the frames of links, and what both ends of a link keep.
//!
//! What it is: the vocabulary that switches (`penstock-fabric`) and hosts (`penstock-transport`)
//! share. What it is not: this crate makes no decision about a packet and has no clock.
//! Invariant: a packet is in one list at a time.
//!
//! Reading order: [`packet`], [`id`], [`pool`] (where packets live), [`fifo`] (lists of them),
//! [`signal`] (pauses and credits between neighbours), [`facts`] (what a node knows of its ports),
//! [`moment`] (what a node is handed with a call), [`observe`] (what an observer is told),
//! [`credit_queue`], [`balance`], [`carried`], [`class_ends`] and [`pause_clock`] (what each end of a link
//! keeps), [`empty_queue`] and [`epochs`] (which queue a new flow gets at either end, and what a pause of it
//! means), [`shared`] (what switches share under another simulator's fidelity), [`axis!`] (how policies are
//! listed).
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod axis;
pub mod balance;
pub mod carried;
pub mod class_ends;
pub mod credit_queue;
pub mod empty_queue;
pub mod epochs;
pub mod facts;
pub mod fifo;
pub mod id;
pub mod moment;
pub mod observe;
pub mod packet;
pub mod pause_clock;
pub mod pool;
pub mod shared;
pub mod signal;

pub use balance::Balance;
pub use carried::Carried;
pub use class_ends::{CLASSES, ClassEnds};
pub use credit_queue::{CreditQueue, CreditShapingConfig};
pub use empty_queue::EmptyQueue;
pub use epochs::Epochs;
pub use facts::{PortFacts, SwitchFacts, SwitchFrames};
pub use fifo::Fifo;
pub use id::PacketId;
pub use moment::Moment;
pub use observe::{Observation, Observer, PacketEvent, Unobserved};
pub use packet::{Packet, PacketFlags, PacketKind};
pub use pause_clock::PauseClock;
pub use pool::PacketPool;
pub use shared::Shared;
pub use signal::{ALL_CLASSES, ControlFrame, Signal};
