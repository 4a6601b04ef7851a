//! The switch: five small policies around a port's queues.
//!
//! This crate decides everything about a packet between its last bit in and its first bit out. Clocks,
//! links and I/O are not in this crate, and nothing is allocated per packet. `now` is an argument;
//! frames for the upstream come back as a [`penstock_packet::ControlFrame`]. Invariant: admitted bytes
//! are released exactly once, and a paused queue is never selected.
//!
//! Reading order: [`queue`], [`port`], [`ports`], then [`switch`], which composes the five axes:
//! [`admission`] (is there room?), [`assignment`] (which queue?), [`scheduling`] (which queue next?),
//! [`marking`] (what does the packet learn?), [`backpressure`] (what does the upstream learn?), and
//! [`switch::node`], the contract with the driver of a switch. [`parts`] holds the data structures that
//! policies share.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod admission;
pub mod assignment;
pub mod backpressure;
mod config;
#[cfg(test)]
mod fixture;
pub mod marking;
pub mod parts;
mod passing;
pub mod port;
pub mod ports;
pub mod queue;
pub mod scheduling;
mod stored;
pub mod switch;
mod verify;
mod waiting;

pub use admission::AdmissionConfig;
pub use assignment::AssignmentConfig;
pub use backpressure::{BackpressureConfig, Granted, KeptPause};
pub use config::{Surroundings, SwitchConfig};
pub use marking::MarkingConfig;
pub use port::Port;
pub use ports::Ports;
pub use scheduling::SchedulingConfig;
pub use switch::Switch;
pub use switch::node::{Routes, SwitchTurn};
pub use switch::requests::{DroppedPacket, Received, SwitchRequest, SwitchRequests, SwitchTimer};
pub use waiting::Stopped;
