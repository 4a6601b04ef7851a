//! A load generator: sends the flows of a scenario over real sockets and measures them.
//!
//! What it is: one thread for each host, with one `epoll` for its server and its client. The thread must be
//! inside the network namespace of its host before it calls [`LoadHost::new`]. All hosts are threads of one
//! process, so one monotonic clock times both ends of a flow. What it is not: the crate makes no namespace,
//! no device and no address, and draws no random number. Linux only.
//! Invariant: memory is bounded by the flows that a host sends and expects, whatever arrives from outside;
//! nothing that arrives makes a host panic.
//!
//! The loop of a run:
//!
//! 1. [`raise_descriptor_limit`] and [`check_congestion`], once for the process.
//! 2. [`LoadRun::new`]: what all hosts share.
//! 3. On each host's thread: [`LoadHost::new`] binds the server. No flow starts yet.
//! 4. When all hosts are made: one [`Origin`] for all, and [`LoadHost::run`] on each thread.
//! 5. [`join`] makes one [`LoadRecord`] for each flow of the hosts' reports.
//!
//! A host has one loop, not one thread for its server and one for its client: an emulator needs the
//! processors for its packets, a receipt and a departure of one host are never handled at the same time, and
//! no lock is needed. Work is bounded for each event, so a busy server delays the next departure by
//! microseconds.
//!
//! **Amounts.** All amounts are the flow's own bytes. The crate's [`header`] of 32 B comes on top: once
//! in a TCP stream, in each UDP datagram.
//!
//! **Timers** are of `timerfd`, at absolute nanoseconds. The kernel adds its timer slack (50 µs by default,
//! prctl(2)) to the timeouts of `epoll`, not to those timers. The example `loopback` prints how late flows
//! started. On two processors shared with other programs: 30 µs in the median, the making of the socket
//! included; at the 99th percentile 50 to 110 µs when the program goes before the others (`chrt -f`), and up
//! to milliseconds when it does not.
//!
//! Reading order: [`flow`], [`header`], [`pace`], [`record`], [`run`], [`host`], then `client` and `server`.

mod client;
mod clock;
pub mod congestion;
pub mod descriptors;
pub mod error;
pub mod flow;
pub mod header;
pub mod host;
pub mod pace;
mod poll;
pub mod record;
pub mod run;
pub mod samples;
mod server;
mod socket;
mod system;

pub use clock::Origin;
pub use congestion::{available_congestion_controls, check_congestion};
pub use descriptors::{descriptors_at_most, raise_descriptor_limit};
pub use error::LoadError;
pub use flow::{LoadFlow, Protocol};
pub use host::{HostSetup, LoadHost};
pub use record::{FlowEnd, HostReport, LoadRecord, ServerFaults, join};
pub use run::{LoadRun, RunOptions};
pub use samples::Samples;
pub use system::TcpFacts;
