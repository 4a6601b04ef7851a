//! Runs a scenario from beginning to end.

use std::io::{self, Read, Write};

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::Unobserved;
use penstock_units::{Fidelity, Problems, Time};
use thiserror::Error;

use crate::bounds;
use crate::error::{InvariantError, ScenarioError, StandstillError};
use crate::flow::FlowNames;
use crate::measure::table::Table;
use crate::measure::trace::{PacketTrace, PortLinks};
use crate::network::Network;
use crate::placement;
use crate::results::Results;
use crate::rows::Record;
use crate::scenario::Scenario;
use crate::simulation::Simulation;
use crate::simulation::checkpoint::CheckpointError;
use crate::workload::Workload;

/// Options of a run that do not change its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Whether the invariants are checked regularly during the run.
    pub check: bool,
    /// Threads that share the run, 1 or more. Under the fidelity of the ns-3 HPCC simulator, and with a
    /// class that the program supplies ([`crate::external`]), one thread does all.
    pub threads: usize,
    /// The rows of all tables that the run holds before it hands them to [`Watch::rows`]; more come at
    /// once when they are measured at once.
    pub most_rows: usize,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions { check: false, threads: 1, most_rows: usize::MAX }
    }
}

/// The progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// When the run ends at the latest.
    pub end: Time,
    /// Events processed.
    pub events: u64,
    /// Flows that finished.
    pub flows_finished: u64,
}

/// Whoever follows a run. A function of its progress is one, too: it lets the run go on when it answers
/// true.
pub trait Watch {
    /// Hears how far the run is; false stops it.
    fn progress(&mut self, progress: Progress) -> bool;

    /// Gets the rows so far, table by table, when they are more than [`RunOptions::most_rows`]. The results
    /// do not hold them again. False stops the run.
    fn rows(&mut self, tables: Vec<Table>) -> bool;

    /// The run has been stopped. Its state goes to the file that this opens, and then the run goes on; none
    /// ends it.
    ///
    /// # Errors
    /// When there is no such file.
    fn state(&mut self) -> io::Result<Option<Box<dyn Write>>>;

    /// The state has been written; false ends the run.
    fn saved(&mut self) -> bool;
}

impl<F: FnMut(Progress) -> bool> Watch for F {
    fn progress(&mut self, progress: Progress) -> bool {
        self(progress)
    }

    fn rows(&mut self, _: Vec<Table>) -> bool {
        true
    }

    fn state(&mut self) -> io::Result<Option<Box<dyn Write>>> {
        Ok(None)
    }

    fn saved(&mut self) -> bool {
        true
    }
}

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RunError {
    /// The scenario was refused; nothing ran.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// An invariant did not hold.
    #[error(transparent)]
    Invariant(#[from] InvariantError),
    /// Time stands still.
    #[error(transparent)]
    Standstill(#[from] StandstillError),
    /// The state cannot be saved, or restored.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

/// Checks `scenario` as [`run`] does, without building what a run needs: that takes a thousand times
/// the memory. The routes of a network of more than 20,000 nodes take seconds. Its loads, its traffic and its
/// outages are left to [`run`], which refuses them before anything happens.
///
/// # Errors
/// When the scenario is refused.
pub fn validate(scenario: &Scenario) -> Result<(), ScenarioError> {
    let Some((topology, routing, _)) = bounds::small_network(scenario)? else { return Ok(()) };
    let (traffic, seed, duration) = (&scenario.traffic, scenario.seed, scenario.duration);
    let mut problems = Problems::default();
    Workload::check(traffic, &topology, &routing, seed, duration, &mut problems);
    ScenarioError::unless_none(problems)
}

/// Runs `scenario`. `watch` is told of progress every few milliseconds. When it answers false, the run
/// stops and returns the results so far.
///
/// # Errors
/// When the scenario is refused, an invariant fails while it is checked, or time stands still.
pub fn run(
    scenario: &Scenario,
    options: RunOptions,
    watch: impl Watch,
) -> Result<Results, RunError> {
    resume(scenario, options, watch, None)
}

/// As [`run`]; the run goes on from the state `from`, if there is one, that a run of the same scenario on
/// as many threads has saved.
///
/// # Errors
/// Those of [`run`], and when the state cannot be saved or does not belong to this run.
pub fn resume(
    scenario: &Scenario,
    options: RunOptions,
    mut watch: impl Watch,
    from: Option<&mut (dyn Read + Send)>,
) -> Result<Results, RunError> {
    resume_watched(scenario, options, &mut watch, from)
}

/// As [`resume`], compiled once and not for each kind of `watch`: with its calls all of the simulation would
/// be compiled again.
fn resume_watched(
    scenario: &Scenario,
    options: RunOptions,
    watch: &mut dyn Watch,
    from: Option<&mut (dyn Read + Send)>,
) -> Result<Results, RunError> {
    let network = Network::build(scenario)?;
    let Some(trace) = &scenario.measure.trace else {
        return drive(scenario, network, || Unobserved, options, watch, from);
    };
    let names = FlowNames::new(scenario.seed);
    let ports = PortLinks::new(&network.topology);
    let observer = || PacketTrace::new(trace, ports.clone(), names);
    drive(scenario, network, observer, options, watch, from)
}

fn drive<O: Record + BorshSerialize + BorshDeserialize + Send>(
    scenario: &Scenario,
    network: Network,
    observer: impl FnMut() -> O,
    options: RunOptions,
    watch: &mut dyn Watch,
    from: Option<&mut (dyn Read + Send)>,
) -> Result<Results, RunError> {
    let threads = if scenario.is_external() { 1 } else { options.threads };
    let options = RunOptions { threads, ..options };
    let partitions = match scenario.fidelity {
        Fidelity::Exact => placement::partitions(&network.topology, options.threads),
        Fidelity::Ns3Hpcc | Fidelity::Ns3Bfc => 1,
    };
    let mut simulation = Simulation::partitioned(scenario, network, partitions, observer)?;
    if options.check {
        simulation.watch_order();
    }
    if let Some(from) = from {
        simulation = simulation.restored(from)?;
    }
    let mut cancelled = simulation.run(options, watch)?;
    while cancelled && let Some(mut file) = watch.state().map_err(unwritten)? {
        simulation.save(&mut file)?;
        if !watch.saved() {
            break;
        }
        cancelled = simulation.run(options, watch)?;
    }
    Ok(simulation.finish(cancelled))
}

fn unwritten(error: io::Error) -> CheckpointError {
    CheckpointError::Write(error.to_string())
}
