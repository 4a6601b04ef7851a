//! Fields of schemes and faults that depend on the network: switches, turns, hops, memory.

use penstock_fabric::{AdmissionConfig, BackpressureConfig};
use penstock_units::{Bytes, Problems, Time};

use super::fidelity;
use crate::corruption;
use crate::scenario::Scenario;
use crate::topology::Topology;

/// The shortest T_hop of FAFC, which is the unit of its pauses (ps; our choice).
const SHORTEST_HOP: Time = Time::from_ns(1);

/// Checks the fields that name nodes, ports and memory of the built topology.
pub(crate) fn nodes(scenario: &Scenario, topology: &Topology, problems: &mut Problems) {
    for (index, &(from, to)) in scenario.measure.series.iter().enumerate() {
        if topology.link_between(from, to).is_none() {
            let field = format!("measure.series[{index}]");
            let remedy = format!(
                "there is no link from node {from} to node {to}; name the two ends of a cable, \
                 the sending one \
                 first"
            );
            problems.unless(false, &field, format!("[{from}, {to}]"), remedy);
        }
    }
    let switches = topology.hosts..topology.hosts + topology.switches;
    let traced = scenario.measure.trace.iter().flat_map(|trace| &trace.nodes);
    for (index, node) in traced.enumerate().filter(|(_, node)| !switches.contains(node)) {
        let field = format!("measure.trace.nodes[{index}]");
        let (first, last) = (switches.start, switches.end - 1);
        let remedy = format!("only switches are traced; switches are {first} to {last}");
        problems.unless(false, &field, node, remedy);
    }
    let classes = scenario.scheme.switch.assignment.classes();
    let known = match classes {
        0 | 1 => "the scheme has no class but 0".to_owned(),
        _ => format!("the scheme has classes 0 to {}", classes - 1),
    };
    let is_sound = problems.is_sound("scheme.switch.assignment");
    for (index, entry) in scenario.traffic.iter().enumerate() {
        let class = entry.class();
        let field = format!("traffic[{index}].class");
        problems.unless(!is_sound || u32::from(class) < classes, &field, class, &known);
        let sizes = entry.further_classes();
        let holds = u32::from(class) >= classes || sizes < (classes - u32::from(class)) as usize;
        let field = format!("traffic[{index}].class_above");
        let found = format!("a list of {sizes}");
        let remedy = format!("{known}, and the first is {class}");
        problems.unless(!is_sound || holds, &field, found, &remedy);
    }
    corruption::check(&scenario.faults.corruption, topology, problems);
    fidelity::times(scenario, topology, problems);
    elisions(scenario, topology, problems);
    hops(scenario, topology, problems);
    repeats(scenario, topology, problems);
    super::hop_credit::memory(scenario, topology, problems);
    memory(scenario, topology, problems);
}

/// Each entry of BFC's elisions must name a way through a switch.
fn elisions(scenario: &Scenario, topology: &Topology, problems: &mut Problems) {
    let (path, bfc) = match &scenario.scheme.switch.backpressure {
        BackpressureConfig::Bfc(bfc) => ("elide", bfc),
        BackpressureConfig::Credits(credits) => ("pauses.elide", &credits.pauses),
        _ => return,
    };
    for (index, &(from, at, to)) in bfc.elide.iter().enumerate() {
        let way = topology.link_between(from, at).zip(topology.link_between(at, to));
        let holds = way.is_some() && !topology.is_host(at);
        let field = format!("scheme.switch.backpressure.{path}[{index}]");
        let remedy = "no packet takes that way; name three nodes, the second one a switch that is linked to \
             both others";
        problems.unless(holds, &field, format!("[{from}, {at}, {to}]"), remedy);
    }
}

/// What switches tell again from time to time must leave room for data on every link.
fn repeats(scenario: &Scenario, topology: &Topology, problems: &mut Problems) {
    let switch = &scenario.scheme.switch;
    if !(problems.is_sound("wire") && problems.is_sound("scheme.switch")) {
        return;
    }
    let epochs = 1 << switch.assignment.epoch_bits();
    let Some(repeats) = switch.backpressure.repeats(epochs) else { return };
    let Some(slowest) = topology.links.iter().map(|link| link.rate).min() else { return };
    let field = format!("scheme.switch.backpressure.{}", repeats.field);
    let frame = Bytes::new(u64::from(scenario.wire.control_frame) * u64::from(repeats.frames));
    let time = slowest.transmission_time(frame);
    let remedy = format!(
        "a link of {slowest} sends these frames for {time}, and would send nothing else; write more than that"
    );
    problems.unless(repeats.interval > time, &field, repeats.interval, remedy);
}

/// FAFC uses the delays of links as time slots, so no link may be without delay.
fn hops(scenario: &Scenario, topology: &Topology, problems: &mut Problems) {
    let is_fafc = matches!(scenario.scheme.switch.backpressure, BackpressureConfig::Fafc(_));
    let shortest = topology.links.iter().map(|link| link.delay).min().unwrap_or_default();
    let holds = !is_fafc || shortest >= SHORTEST_HOP;
    let remedy = "a link without delay has no time slots for it; write 1 ns or more";
    problems.unless(holds, "scheme.switch.backpressure.kind", "fafc", remedy);
}

/// A shared buffer must hold the headrooms and reserves of its ports, and more than these.
fn memory(scenario: &Scenario, topology: &Topology, problems: &mut Problems) {
    let AdmissionConfig::Shared(shared) = &scenario.scheme.switch.admission else { return };
    let mut switches = topology.hosts..topology.hosts + topology.switches;
    for (index, &(node, buffer)) in shared.other_buffers.iter().enumerate() {
        let holds = switches.contains(&node) && buffer > Bytes::ZERO;
        let field = format!("scheme.switch.admission.other_buffers[{index}]");
        let remedy = format!(
            "name a switch, switches are {} to {}, and a size of 1 B or more",
            switches.start,
            switches.end - 1
        );
        problems.unless(holds, &field, format!("[{node}, {buffer}]"), &remedy);
    }
    let Some(ingress) = &shared.ingress else { return };
    let read = ["scheme.switch.admission", "scheme.switch.assignment", "wire"];
    if !read.iter().all(|field| problems.is_sound(field)) {
        return;
    }
    let classes = u64::from(scenario.scheme.switch.assignment.classes());
    let needed = |switch: u32| {
        let facts = scenario.switch_facts(topology, switch);
        let headrooms = facts.ports.iter().map(|port| ingress.headroom.of(&facts, port));
        let ports = headrooms.map(|headroom| ingress.reserve.get().saturating_add(headroom));
        Bytes::new(ports.fold(0, u64::saturating_add).saturating_mul(classes))
    };
    if let Some(switch) = switches.find(|&switch| needed(switch) >= shared.buffer_of(switch)) {
        let (name, needed) = (&topology.nodes[switch as usize].name, needed(switch));
        let remedy = format!("the headroom and reserve of the ports of {name} alone take {needed}");
        let field = "scheme.switch.admission.buffer";
        problems.unless(false, field, shared.buffer_of(switch), &remedy);
    }
}
