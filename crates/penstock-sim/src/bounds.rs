//! Bounds of a scenario's fields, and policies that do not go together.
//!
//! Every check adds the problems that it finds and goes on. A check that needs the value of a field
//! skips the field when an earlier check has refused it.

use std::sync::LazyLock;

pub(crate) use penstock_units::declared::kind;
use penstock_units::declared::{self, Declared};
use penstock_units::{Bytes, Problems, Time};
use serde_json::json;

use crate::error::ScenarioError;
use crate::label::check_label;
use crate::outage::{RouteChange, route_changes};
use crate::routing::Routing;
use crate::scenario::{MeasureConfig, Scenario};
use crate::topology::{self, Topology};
use crate::workload::{self, Workload};

mod combination;
mod credit;
mod fidelity;
mod hop_credit;
mod levels;
mod network;

/// The longest run (ps). The timing wheel tells times apart up to hours, but a minute of simulated
/// time at 100 Gb/s is already a billion packets a link.
const LONGEST: Time = Time::from_ms(60_000);

/// The most nodes of a network whose routes are found only to check a scenario; our choice: 0.03 s with
/// 8,192 hosts, 1 s with 65,536 below 2,432 switches.
const SMALL: u32 = 20_000;

/// What a scenario declares of its own fields. Kept, as it describes every table below them: 1.4 ms.
static SCALARS: LazyLock<Declared> = LazyLock::new(Declared::by::<Scenario>);

/// A network with its routes at the start, and how they change.
type LaidOut = (Topology, Routing, Vec<RouteChange>);

/// The network of `scenario`, with its routes at the start and how they change.
///
/// # Errors
/// All problems of the scenario, those of its traffic included. Without any other problem the
/// traffic is not checked here.
pub(crate) fn network(scenario: &Scenario) -> Result<LaidOut, ScenarioError> {
    let mut problems = Problems::default();
    match checked_topology(scenario, &mut problems) {
        Some(topology) => laid_out(scenario, topology, problems),
        None => Err(ScenarioError(problems)),
    }
}

/// As [`network`], and none for a large network without a problem in what is checked before its routes.
///
/// # Errors
/// Those of [`network`]; of a large network those that need no routes.
pub(crate) fn small_network(scenario: &Scenario) -> Result<Option<LaidOut>, ScenarioError> {
    let mut problems = Problems::default();
    let Some(topology) = checked_topology(scenario, &mut problems) else {
        return Err(ScenarioError(problems));
    };
    if topology.hosts + topology.switches > SMALL {
        return ScenarioError::unless_none(problems).map(|()| None);
    }
    laid_out(scenario, topology, problems).map(Some)
}

/// The topology of `scenario`, for what needs no routes.
///
/// # Errors
/// The problems that need no routes to be found, but for those of the traffic.
pub(crate) fn topology(scenario: &Scenario) -> Result<Topology, ScenarioError> {
    let mut problems = Problems::default();
    match checked_topology(scenario, &mut problems) {
        Some(topology) if problems.is_empty() => Ok(topology),
        _ => Err(ScenarioError(problems)),
    }
}

/// The topology of `scenario`, after every check that needs no routes; none when it was refused.
fn checked_topology(scenario: &Scenario, problems: &mut Problems) -> Option<Topology> {
    fields(scenario, problems);
    let topology = topology::checked(&scenario.topology, problems)?;
    network::nodes(scenario, &topology, problems);
    Some(topology)
}

/// `topology` with its routes. Where there are `problems`, those of the traffic are told with them.
fn laid_out(
    scenario: &Scenario,
    topology: Topology,
    mut problems: Problems,
) -> Result<LaidOut, ScenarioError> {
    let routing = Routing::new(&topology);
    fidelity::paths(scenario, (&topology, &routing), &mut problems);
    let changes = route_changes(&scenario.faults.outages, &topology, &mut problems);
    if problems.is_empty() {
        return Ok((topology, routing, changes));
    }
    let duration = if problems.is_sound("duration") { scenario.duration } else { LONGEST };
    let (traffic, seed) = (&scenario.traffic, scenario.seed);
    Workload::check(traffic, &topology, &routing, seed, duration, &mut problems);
    Err(ScenarioError(problems))
}

/// The longest data packet on the wire; none when a field of its size was refused.
fn full_packet(scenario: &Scenario, problems: &Problems) -> Option<Bytes> {
    problems.is_sound("wire").then(|| scenario.full_packet())
}

/// Checks everything that can be checked before the topology is built.
fn fields(scenario: &Scenario, problems: &mut Problems) {
    let Scenario { duration, drain, scheme, .. } = scenario;
    check_label("name", &scenario.name, problems);
    SCALARS.check(&json!({ "duration": duration, "drain": drain }), problems);
    let span = duration.saturating_add(*drain);
    let remedy = format!(
        "duration and drain together are {span}, more than a minute of simulated time; shorten either, \
         a minute at 100 Gb/s is a billion packets per link"
    );
    let (field, longer) = if drain > duration { ("drain", drain) } else { ("duration", duration) };
    problems.unless(span <= LONGEST, field, longer, remedy);
    workload::check_count(&scenario.traffic, problems);
    problems.within("wire", |problems| declared::check(&scenario.wire, problems));
    problems.within("faults", |problems| declared::check(&scenario.faults, problems));
    // Rows of links and nodes are checked later, with the network.
    let measure = MeasureConfig { series: vec![], trace: None, ..scenario.measure };
    problems.within("measure", |problems| {
        declared::check(&measure, problems);
        problems.unless_period_or_never("sample_interval", measure.sample_interval);
    });
    check_label("scheme.name", &scheme.name, problems);
    problems.within("scheme.routing", |problems| declared::check(&scheme.routing, problems));
    problems.within("scheme.switch", |problems| scenario.scheme.switch.check(problems));
    hosts(scenario, problems);
    combination::combinations(scenario, problems);
    credit::check(scenario, problems);
    fidelity::parts(scenario, problems);
}

fn hosts(scenario: &Scenario, problems: &mut Problems) {
    let host = &scenario.scheme.host;
    problems.within("scheme.host", |problems| host.check(problems));
    if problems.is_sound("scheme.switch.assignment") && problems.is_sound("scheme.host.nic") {
        let classes = scenario.scheme.switch.assignment.classes();
        problems.within("scheme.host.nic", |nic| host.nic.check_classes(classes, nic));
    }
}
