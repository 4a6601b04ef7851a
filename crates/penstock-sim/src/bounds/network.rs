//! What a scheme and faults name of the network: switches, turns, hops, memory.

use penstock_fabric::{AdmissionConfig, BackpressureConfig};
use penstock_units::{Bytes, Time};

use super::{fidelity, unless};
use crate::error::ScenarioError;
use crate::scenario::Scenario;
use crate::topology::Topology;

/// The shortest T_hop of FAFC (ps), the unit of its pauses; our choice.
const SHORTEST_HOP: Time = Time::from_ns(1);

/// Checks what names nodes, ports and memory of the built topology.
pub(crate) fn nodes(scenario: &Scenario, topology: &Topology) -> Result<(), ScenarioError> {
    for (index, &(from, to)) in scenario.measure.series.iter().enumerate() {
        let remedy = "name two nodes that a link joins, the sending one first";
        let link = topology.link_between(from, to);
        let field = format!("measure.series[{index}]");
        unless(link.is_some(), &field, format!("[{from}, {to}]"), remedy)?;
    }
    if let Some(trace) = &scenario.measure.trace {
        for (index, &node) in trace.nodes.iter().enumerate() {
            let last = topology.hosts + topology.switches;
            let field = format!("measure.trace.nodes[{index}]");
            let remedy = format!("switches are the nodes {} to {}", topology.hosts, last - 1);
            unless((topology.hosts..last).contains(&node), &field, node, &remedy)?;
        }
    }
    let classes = scenario.scheme.switch.assignment.classes();
    for (index, entry) in scenario.traffic.iter().enumerate() {
        let class = entry.class();
        let field = format!("traffic[{index}].class");
        let remedy = format!("the scheme has {classes} classes, numbered from 0");
        unless(u32::from(class) < classes, &field, class, &remedy)?;
    }
    fidelity::times(scenario, topology)?;
    elisions(scenario, topology)?;
    hops(scenario, topology)?;
    super::hop_credit::memory(scenario, topology)?;
    memory(scenario, topology)
}

/// The match tables of BFC's elisions name ways through switches.
fn elisions(scenario: &Scenario, topology: &Topology) -> Result<(), ScenarioError> {
    let (path, bfc) = match &scenario.scheme.switch.backpressure {
        BackpressureConfig::Bfc(bfc) => ("elide", bfc),
        BackpressureConfig::Credits(credits) => ("pauses.elide", &credits.pauses),
        _ => return Ok(()),
    };
    for (index, &(from, at, to)) in bfc.elide.iter().enumerate() {
        let way = topology.link_between(from, at).zip(topology.link_between(at, to));
        let holds = way.is_some() && !topology.is_host(at);
        let field = format!("scheme.switch.backpressure.{path}[{index}]");
        let remedy =
            "name a node, a switch that it is linked to, and a node that this is linked to";
        unless(holds, &field, format!("[{from}, {at}, {to}]"), remedy)?;
    }
    Ok(())
}

/// FAFC counts in the delays of links.
fn hops(scenario: &Scenario, topology: &Topology) -> Result<(), ScenarioError> {
    let is_fafc = matches!(scenario.scheme.switch.backpressure, BackpressureConfig::Fafc(_));
    let shortest = topology.links.iter().map(|link| link.delay).min().unwrap_or_default();
    let holds = !is_fafc || shortest >= SHORTEST_HOP;
    let remedy = "a link without delay has no time slots for it; write 1 ns or more";
    unless(holds, "scheme.switch.backpressure.kind", "fafc", remedy)
}

/// A shared buffer must hold the headrooms and reserves of its ports, and a packet.
fn memory(scenario: &Scenario, topology: &Topology) -> Result<(), ScenarioError> {
    let AdmissionConfig::Shared(shared) = &scenario.scheme.switch.admission else { return Ok(()) };
    let switches = topology.hosts..topology.hosts + topology.switches;
    for (index, &(node, buffer)) in shared.other_buffers.iter().enumerate() {
        let holds = switches.contains(&node) && buffer > Bytes::ZERO;
        let field = format!("scheme.switch.admission.other_buffers[{index}]");
        let remedy = format!(
            "name a switch, one of {} to {}, and a positive size",
            switches.start,
            switches.end - 1
        );
        unless(holds, &field, format!("[{node}, {buffer}]"), &remedy)?;
    }
    let Some(ingress) = &shared.ingress else { return Ok(()) };
    for switch in switches {
        let needed = topology
            .egress_links(switch)
            .iter()
            .map(|&link| {
                let link = &topology.links[link as usize];
                ingress.reserve.get() + ingress.headroom.of(link.rate, link.delay)
            })
            .sum::<u64>()
            * u64::from(scenario.scheme.switch.assignment.classes());
        let name = &topology.nodes[switch as usize].name;
        let remedy = format!(
            "the headroom and reserve of the ports of {name} alone take {}",
            Bytes::new(needed)
        );
        let field = "scheme.switch.admission.buffer";
        let buffer = shared.buffer_of(switch);
        unless(needed < buffer.get(), field, buffer, &remedy)?;
    }
    Ok(())
}
