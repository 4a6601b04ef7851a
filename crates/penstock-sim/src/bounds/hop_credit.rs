//! Bounds of credits between switches (BFC with credits), and what they do not go together with.

use penstock_fabric::backpressure::credits::CreditsConfig;
use penstock_fabric::{AdmissionConfig, BackpressureConfig};
use penstock_units::Bytes;

use super::{kind, unless};
use crate::error::ScenarioError;
use crate::network::switch_facts;
use crate::scenario::Scenario;
use crate::topology::Topology;

/// The largest size in credits (bytes): a thousand packets.
const LARGEST: Bytes = Bytes::new(1 << 20);

/// Checks the bounds of credits, and what they do not go together with.
pub(crate) fn bounds(scenario: &Scenario, credits: &CreditsConfig) -> Result<(), ScenarioError> {
    let field = |name| format!("scheme.switch.backpressure.{name}");
    let packet = Bytes::new(u64::from(scenario.wire.payload + scenario.data_overhead()));
    let holds = (packet..=LARGEST).contains(&credits.packet);
    let remedy = format!("a packet on the wire has {packet}; write that, or at most 1 MiB");
    unless(holds, &field("packet"), credits.packet, &remedy)?;
    let holds = (credits.packet..=LARGEST).contains(&credits.queue_reserve);
    let remedy = "write at least a packet, at most 1 MiB";
    unless(holds, &field("queue_reserve"), credits.queue_reserve, remedy)?;
    unless(credits.batch <= LARGEST, &field("batch"), credits.batch, "write at most 1 MiB")?;
    let remedy = "credit for packets that a failed link loses is not recovered; use \"bfc\"";
    unless(
        scenario.faults.outages.is_empty(),
        "scheme.switch.backpressure.kind",
        "credits",
        remedy,
    )?;
    let switch = &scenario.scheme.switch;
    let holds = matches!(&switch.admission, AdmissionConfig::Shared(s) if s.ingress.is_none());
    let remedy = "credits share one memory; use admission \"shared\" without an ingress table";
    unless(holds, "scheme.switch.admission.kind", kind(&switch.admission), remedy)?;
    let queues = switch.assignment.queue_classes(0).len() as u32;
    let nic = scenario.scheme.host.nic.queues;
    let remedy = format!("a NIC needs data queues, at most the {queues} of a switch port");
    unless((2..=queues + 1).contains(&nic), "scheme.host.nic.queues", nic, &remedy)
}

/// Checks that the memory of every switch holds what it sets aside.
pub(crate) fn memory(scenario: &Scenario, topology: &Topology) -> Result<(), ScenarioError> {
    let switch = &scenario.scheme.switch;
    let (BackpressureConfig::Credits(credits), AdmissionConfig::Shared(shared)) =
        (&switch.backpressure, &switch.admission)
    else {
        return Ok(());
    };
    let queues = switch.assignment.queue_classes(0).len();
    for node in topology.hosts..topology.hosts + topology.switches {
        let needed = credits.set_aside(&switch_facts(topology, node, 0), queues);
        let name = &topology.nodes[node as usize].name;
        let needed = Bytes::new(needed);
        let remedy = format!("the windows and reserves of the ports of {name} alone take {needed}");
        let field = "scheme.switch.admission.buffer";
        let memory = shared.buffer_of(node);
        unless(needed <= memory, field, memory, &remedy)?;
    }
    Ok(())
}
