//! Runs a scenario from beginning to end.

use penstock_packet::{Observer, Unobserved};
use penstock_units::{Problems, Time};
use thiserror::Error;

use crate::bounds;
use crate::error::{InvariantError, ScenarioError, StandstillError};
use crate::flow::FlowNames;
use crate::measure::trace::PacketTrace;
use crate::network::Network;
use crate::results::Results;
use crate::scenario::Scenario;
use crate::simulation::Simulation;
use crate::standstill::LOOK_EVENTS;
use crate::workload::Workload;

/// Options of a run that do not change its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunOptions {
    /// Whether the invariants are checked regularly during the run.
    pub check: bool,
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
        return Ok(drive(scenario, network, Unobserved, options, on_progress)?.0);
    };
    let names = FlowNames::new(scenario.seed);
    let observer = PacketTrace::new(&trace.nodes, network.ports.clone(), names);
    let (mut results, observer) = drive(scenario, network, observer, options, on_progress)?;
    results.tables.push(observer.into_table());
    Ok(results)
}

fn drive<O: Observer>(
    scenario: &Scenario,
    network: Network,
    observer: O,
    options: RunOptions,
    mut on_progress: impl FnMut(Progress) -> bool,
) -> Result<(Results, O), RunError> {
    let mut simulation = Simulation::new(scenario, network, observer)?;
    if options.check {
        simulation.watch_order();
    }
    let end = scenario.duration + scenario.drain;
    let mut cancelled = false;
    while simulation.advance(LOOK_EVENTS)? {
        if options.check {
            simulation.verify()?;
        }
        cancelled = !on_progress(simulation.progress(end));
        if cancelled {
            break;
        }
    }
    if options.check {
        simulation.verify()?;
    }
    Ok(simulation.finish(cancelled))
}

impl<O: Observer> Simulation<O> {
    fn progress(&self, end: Time) -> Progress {
        Progress {
            now: self.now(),
            end,
            events: self.measured.events,
            flows_finished: self.measured.flows_finished,
        }
    }
}
