//! Runs a scenario from beginning to end.

use std::io::{self, Read};

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::Unobserved;
use penstock_units::{Fidelity, Problems};

use crate::bounds;
use crate::error::{CheckpointError, RunError, ScenarioError};
use crate::flow::FlowNames;
use crate::measure::trace::{PacketTrace, PortLinks};
use crate::network::Network;
use crate::placement;
use crate::results::Results;
use crate::rows::Record;
use crate::scenario::Scenario;
use crate::simulation::Simulation;
use crate::watch::{RunOptions, Watch};
use crate::workload::Workload;

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
    if let Some(from) = from {
        simulation = simulation.restored(from)?;
    } else if options.check {
        simulation.watch_order();
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
