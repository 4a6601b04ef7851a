//! Bounds of credits between switches (BFC with credits), and what they do not go together with.

use penstock_fabric::backpressure::credits::CreditsConfig;
use penstock_fabric::{AdmissionConfig, BackpressureConfig};
use penstock_units::{Bytes, Problems};

use super::{data_queues, full_packet, kind};
use crate::network::switch_facts;
use crate::scenario::Scenario;
use crate::topology::Topology;

/// The largest size in credits (bytes): a thousand packets.
const LARGEST: Bytes = Bytes::new(1 << 20);

/// Checks the bounds of credits, and what they do not go together with.
pub(crate) fn bounds(scenario: &Scenario, credits: &CreditsConfig, problems: &mut Problems) {
    let field = |name| format!("scheme.switch.backpressure.{name}");
    if let Some(packet) = full_packet(scenario, problems) {
        let holds = (packet..=LARGEST).contains(&credits.packet);
        let remedy = format!("a packet on the wire has {packet}; write that, or at most 1 MiB");
        problems.unless(holds, &field("packet"), credits.packet, &remedy);
    }
    let least = Some(credits.packet).filter(|_| problems.is_sound(&field("packet")));
    let holds = (least.unwrap_or_default()..=LARGEST).contains(&credits.queue_reserve);
    let remedy = "write at least a packet, at most 1 MiB";
    problems.unless(holds, &field("queue_reserve"), credits.queue_reserve, remedy);
    problems.unless(
        credits.batch <= LARGEST,
        &field("batch"),
        credits.batch,
        "write at most 1 MiB",
    );
    let remedy = "credit for packets that a failed link loses is not recovered; use \"bfc\"";
    let holds = scenario.faults.outages.is_empty();
    problems.unless(holds, "scheme.switch.backpressure.kind", "credits", remedy);
    let switch = &scenario.scheme.switch;
    let holds = matches!(&switch.admission, AdmissionConfig::Shared(s) if s.ingress.is_none());
    let remedy = "credits share one memory; use admission \"shared\" without an ingress table";
    problems.unless(holds, "scheme.switch.admission.kind", kind(&switch.admission), remedy);
    if let Some(queues) = data_queues(&switch.assignment, problems) {
        let nic = scenario.scheme.host.nic.queues;
        let remedy = format!("a NIC needs data queues, at most the {queues} of a switch port");
        let holds = (2..=queues + 1).contains(&(nic as usize));
        problems.unless(holds, "scheme.host.nic.queues", nic, &remedy);
    }
}

/// Checks that the memory of every switch holds what it sets aside.
pub(crate) fn memory(scenario: &Scenario, topology: &Topology, problems: &mut Problems) {
    let switch = &scenario.scheme.switch;
    let (BackpressureConfig::Credits(credits), AdmissionConfig::Shared(shared)) =
        (&switch.backpressure, &switch.admission)
    else {
        return;
    };
    let is_sound = problems.is_sound("scheme.switch.backpressure")
        && problems.is_sound("scheme.switch.admission");
    let Some(queues) = data_queues(&switch.assignment, problems).filter(|_| is_sound) else {
        return;
    };
    let needed =
        |node: &u32| Bytes::new(credits.set_aside(&switch_facts(topology, *node, 0), queues));
    let mut switches = topology.hosts..topology.hosts + topology.switches;
    if let Some(node) = switches.find(|node| needed(node) > shared.buffer_of(*node)) {
        let (name, needed) = (&topology.nodes[node as usize].name, needed(&node));
        let remedy = format!("the windows and reserves of the ports of {name} alone take {needed}");
        let field = "scheme.switch.admission.buffer";
        problems.unless(false, field, shared.buffer_of(node), &remedy);
    }
}
