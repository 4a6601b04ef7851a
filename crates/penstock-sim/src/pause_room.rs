//! What each switch needs so that PFC drops nothing, and what it has, before anything runs.
//!
//! What it is: a number for every link into a switch. What it is not: a check. Papers have schemes with less
//! headroom than that, and most of their runs lose nothing.

use penstock_fabric::AdmissionConfig;
use penstock_units::Bytes;
use serde::Serialize;

use crate::bounds;
use crate::error::ScenarioError;
use crate::scenario::Scenario;
use crate::topology::Topology;

/// The room behind the pauses of one link into a switch, for each class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PauseRoom {
    /// The node that sends.
    pub from: u32,
    /// The switch.
    pub to: u32,
    /// The most data that can arrive until a pause acts
    /// ([`SwitchFacts::bytes_until_a_pause_acts`](penstock_packet::SwitchFacts)).
    pub needed: Bytes,
    /// The headroom; none where the admission has no thresholds of ingresses.
    pub headroom: Option<Bytes>,
}

/// The room behind the pauses of every link into a switch, by switch and port.
///
/// # Errors
/// When the scenario is refused.
pub fn pause_room(scenario: &Scenario) -> Result<Vec<PauseRoom>, ScenarioError> {
    let topology = bounds::topology(scenario)?;
    let switches = topology.hosts..topology.hosts + topology.switches;
    Ok(switches.flat_map(|switch| of_switch(scenario, &topology, switch)).collect())
}

fn of_switch(scenario: &Scenario, topology: &Topology, switch: u32) -> Vec<PauseRoom> {
    let headroom = match &scenario.scheme.switch.admission {
        AdmissionConfig::Shared(shared) => shared.ingress.as_ref().map(|ingress| &ingress.headroom),
        _ => None,
    };
    let facts = scenario.switch_facts(topology, switch);
    let room = facts.ports.iter().map(|port| PauseRoom {
        from: port.neighbour,
        to: switch,
        needed: facts.bytes_until_a_pause_acts(port),
        headroom: headroom.map(|headroom| Bytes::new(headroom.of(&facts, port))),
    });
    room.collect()
}
