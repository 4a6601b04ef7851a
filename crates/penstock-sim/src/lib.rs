//! The simulator: scenario → network → events → records.
//!
//! What it is: the runtime that drives switches (`penstock-fabric`) and hosts
//! (`penstock-transport`) over links, in simulated time. What it is not: the runtime makes no
//! decision about a packet; every policy lives in those two crates.
//! Invariant: the same scenario gives the same records, byte for byte, on any number of threads.
//!
//! Reading order: [`scenario`] (the input), [`external`] (policies that the program supplies), [`topology`],
//! [`routing`], [`workload`], [`network`] (everything built from the input), [`wire`], [`flow`], `placement`
//! (which nodes share a thread), `partition` (the event loop, and how it drives hosts and switches),
//! [`simulation`] (windows, and what happens between them), [`watch`] (whoever follows a run), `check`
//! (invariants), `deadlock`, `ns3` (another simulator's fidelity), [`measure`] and [`results`] (the output).
//! [`live`] lends the parts of a network to a driver in real time. [`mod@dependencies`] answers
//! `penstock deadlock`; [`paths`] are those of flows, for drawings; [`mod@forecast`] says how large a run
//! will be, and [`mod@pause_room`] where PFC could drop; [`bare`] is the yardstick of the benchmark.

pub mod bare;
mod bounds;
mod check;
mod corruption;
mod deadlock;
pub mod dependencies;
pub mod error;
pub mod external;
pub mod flow;
pub mod forecast;
mod label;
mod levels;
pub mod live;
mod losses;
pub mod measure;
pub mod network;
mod ns3;
pub mod outage;
mod partition;
pub mod paths;
pub mod pause_room;
mod placement;
pub mod planned;
pub mod results;
pub mod routing;
pub mod rows;
pub mod run;
pub mod scenario;
mod setting;
pub mod simulation;
pub mod topology;
pub mod watch;
pub mod wire;
pub mod workload;

pub use dependencies::{DependencyReport, dependencies};
/// FAFC's linear program, for comparison with a solver.
pub use penstock_fabric::backpressure::fafc::pause_time;

pub use error::{CheckpointError, InvariantError, RunError, ScenarioError, StandstillError};
pub use forecast::{Forecast, forecast};
pub use paths::{CorePaths, FlowStart, core_paths, link_ends};
pub use pause_room::{PauseRoom, pause_room};
pub use placement::partitions;
pub use planned::planned;
pub use results::Results;
pub use run::{resume, run, validate};
pub use scenario::Scenario;
pub use simulation::processors;
pub use watch::{Progress, RunOptions, Watch};
