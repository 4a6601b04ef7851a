//! What policies that grant or set aside memory need: enough memory in every switch, and hosts
//! whose queues pay for packets.

use penstock_units::{Bytes, Problems};

use crate::scenario::Scenario;
use crate::topology::Topology;

/// Checks that the queues by which a NIC pays are queues that a switch port knows.
pub(super) fn queues(scenario: &Scenario, problems: &mut Problems) {
    let (switch, nic) = (&scenario.scheme.switch, &scenario.scheme.host.nic);
    let field = "scheme.host.nic.queues";
    let is_sound = problems.is_sound("scheme.switch.assignment") && problems.is_sound(field);
    if !is_sound || !switch.backpressure.has_credits() {
        return;
    }
    if let Some(queues) = switch.assignment.queues() {
        let remedy = format!(
            "a NIC pays for its packets by queue, and a switch knows {queues} of a port; use 2 to {queues}"
        );
        problems.unless((2..=queues).contains(&nic.queues), field, nic.queues, remedy);
    }
}

/// Checks that the memory of every switch is at least as large as what the switch sets aside.
pub(crate) fn memory(scenario: &Scenario, topology: &Topology, problems: &mut Problems) {
    let switch = &scenario.scheme.switch;
    let mut axes = ["assignment", "admission", "backpressure"].into_iter();
    if !axes.all(|axis| problems.is_sound(&format!("scheme.switch.{axis}"))) {
        return;
    }
    let queues = switch.assignment.queue_classes(0).len();
    let needed = |node| switch.backpressure.set_aside(&topology.switch_facts(node), queues);
    let mut switches = topology.hosts..topology.hosts + topology.switches;
    if let Some(node) = switches.find(|&node| needed(node) > switch.admission.memory(node)) {
        let (name, needed) = (&topology.nodes[node as usize].name, Bytes::new(needed(node)));
        let remedy = format!(
            "the windows and reserves of the ports of {name} alone take {needed}; make it larger"
        );
        let (field, memory) = ("scheme.switch.admission.buffer", switch.admission.memory(node));
        problems.unless(false, field, Bytes::new(memory), remedy);
    }
}
