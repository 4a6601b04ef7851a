//! Measurement: the records that a simulation makes while it runs, and the tables made from them.
//!
//! Reading order: [`table`] (columns), [`flows`], [`histogram`], `flow_packets`, [`active_flows`],
//! [`samples`], [`backlog`], [`queue_delays`], [`pauses`], [`events`], [`deadlock`], [`trace`], [`links`],
//! `dependents`, `requests`, `jobs`, `steps`,
//! [`summary`].

pub mod active_flows;
pub mod backlog;
pub mod deadlock;
pub(crate) mod dependents;
pub mod events;
mod flow_packets;
pub mod flows;
pub mod histogram;
pub(crate) mod jobs;
pub mod links;
pub mod pauses;
pub mod queue_delays;
pub(crate) mod requests;
pub mod samples;
pub mod summary;
pub mod table;
pub mod trace;
