//! Exact quantities: [`Time`] in picoseconds, [`Bytes`], [`BitRate`] in bits per second.
//!
//! What it is: integer newtypes with the arithmetic that a packet simulator and a switch need, and
//! their printing (`"12 us"`, `"100 Gb/s"`, `"12 MiB"`); Python reads what users write. What it is
//! not: floating point.
//! Invariant: no operation loses precision silently. Serialization times round up, in one place
//! ([`BitRate::transmission_time`]).
//!
//! Reading order: [`time`], [`bytes`], [`rate`], [`telemetry`],
//! [`fidelity`], [`problem`], [`declared`],
//! [`source`], [`random`], [`state`](mod@state), [`supplied`].
#![no_std]

extern crate alloc;

pub mod bytes;
pub mod declared;
pub mod fidelity;
pub mod problem;
mod quantity;
pub mod random;
pub mod rate;
pub mod source;
pub mod state;
pub mod supplied;
pub mod telemetry;
pub mod time;

pub use bytes::Bytes;
pub use fidelity::Fidelity;
pub use problem::{Problem, Problems};
pub use rate::{BIT_PICOSECONDS, BitRate, Transmission};
pub use supplied::Supplied;
pub use telemetry::HopTelemetry;
pub use time::Time;
