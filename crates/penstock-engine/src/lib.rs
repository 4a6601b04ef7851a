//! The discrete-event engine: a clock, a timing wheel, seeded random streams, and windows in which parts
//! of a simulation run beside each other.
//!
//! What it is: the part of a simulator that decides what happens next. What it is not: the engine
//! knows no packets, links or flows. An event is the number of its *source*.
//! Invariant: events leave in the order (time, source), or (time, rank) for sources with a rank. The order
//! in which they were scheduled does not matter, so a run is a function of its inputs alone.
//!
//! Reading order: [`wheel`], [`mod@stream`], [`windows`], [`mod@prefetch`].

pub mod prefetch;
pub mod stream;
pub mod wheel;
pub mod windows;

pub use prefetch::{prefetch, prefetch_for_write};
pub use stream::stream;
pub use wheel::{SourceId, Wheel};
