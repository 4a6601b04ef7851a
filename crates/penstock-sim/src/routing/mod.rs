//! Which links a flow takes, and how long that takes at least.
//!
//! What it is: shortest paths by number of links with flow-hash ECMP ([`Routing`]), and the times
//! of an otherwise empty network ([`latency`]): base round-trip time and ideal flow completion
//! time. What it is not: it queues nothing, and it draws nothing: the caller gives each flow its
//! hash.
//! Invariant: a path depends on the network, the two hosts and the hash alone.
//!
//! Reading order: [`table`], [`symmetric`] (both ways on the same links), [`latency`], [`dependency`] (who may wait for whom).

pub mod dependency;
pub mod latency;
pub mod symmetric;
pub mod table;

pub use dependency::{Dependencies, Dependency};
pub(crate) use latency::longest_path;
pub use latency::{FrameSizes, base_rtt, ideal_fct};
pub use symmetric::{RoutingConfig, symmetric_paths};
pub use table::Routing;
