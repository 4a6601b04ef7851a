//! Runs a scenario from beginning to end.

use penstock_packet::{Observer, Unobserved};
use penstock_units::{Fidelity, Problems, Time};
use thiserror::Error;

use crate::bounds;
use crate::error::{InvariantError, ScenarioError, StandstillError};
use crate::flow::FlowNames;
use crate::measure::table::Table;
use crate::measure::trace::{PacketTrace, PortLinks};
use crate::network::Network;
use crate::results::Results;
use crate::scenario::Scenario;
use crate::simulation::Simulation;
use crate::workload::Workload;

/// Options of a run that do not change its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Whether the invariants are checked regularly during the run.
    pub check: bool,
    /// Threads that share the run, 1 or more. Under the fidelity of the ns-3 HPCC simulator one thread
    /// does all.
    pub threads: usize,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions { check: false, threads: 1 }
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

/// Runs `scenario`. `on_progress` is called every few milliseconds. When `on_progress` answers
/// false, the run stops and returns the results so far.
///
/// # Errors
/// When the scenario is refused, an invariant fails while it is checked, or time stands still.
pub fn run(
    scenario: &Scenario,
    options: RunOptions,
    on_progress: impl FnMut(Progress) -> bool,
) -> Result<Results, RunError> {
    let network = Network::build(scenario)?;
    let Some(trace) = &scenario.measure.trace else {
        return Ok(drive(scenario, network, || Unobserved, options, on_progress)?.0);
    };
    let names = FlowNames::new(scenario.seed);
    let ports = PortLinks::new(&network.topology);
    let observer = || PacketTrace::new(&trace.nodes, ports.clone(), names);
    let (mut results, observers) = drive(scenario, network, observer, options, on_progress)?;
    let traces = observers.into_iter().map(PacketTrace::into_table).collect();
    results.tables.extend(Table::merged(traces, ["time_ps", "node"], |key| key));
    Ok(results)
}

fn drive<O: Observer + Send>(
    scenario: &Scenario,
    network: Network,
    observer: impl FnMut() -> O,
    options: RunOptions,
    on_progress: impl FnMut(Progress) -> bool,
) -> Result<(Results, Vec<O>), RunError> {
    let partitions = match scenario.fidelity {
        Fidelity::Exact => options.threads,
        Fidelity::Ns3Hpcc => 1,
    };
    let mut simulation = Simulation::partitioned(scenario, network, partitions, observer)?;
    if options.check {
        simulation.watch_order();
    }
    let cancelled = simulation.run(options, on_progress)?;
    Ok(simulation.finish(cancelled))
}
