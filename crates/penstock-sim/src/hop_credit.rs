//! Credit at both ends of a link (BFC with credits): who gets it at the start, how NICs pay with it, and
//! whether the books of the two ends agree.

use penstock_fabric::backpressure::credits::CreditsConfig;
use penstock_fabric::{AdmissionConfig, BackpressureConfig};
use penstock_packet::{Balance, Observer, PacketFlags, PacketId, PacketKind};
use penstock_units::Bytes;

use crate::bounds::{kind, unless};
use crate::error::ScenarioError;
use crate::network::{Host, Network, switch_facts};
use crate::scenario::Scenario;
use crate::simulation::Simulation;
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

impl Network {
    /// Gives the sending end of each link that leads to a switch what that switch grants from the start.
    pub(crate) fn connect_credits(&mut self) {
        let hosts = self.hosts.len() as u32;
        for wire in &self.wires {
            let Some(switch) = wire.to.checked_sub(hosts) else { continue };
            let Some(balance) = self.switches[switch as usize].opening_balance(wire.to_port) else {
                continue;
            };
            match wire.from.checked_sub(hosts) {
                None => self.hosts[wire.from as usize].credit = Some(Box::new(balance)),
                Some(from) => self.switches[from as usize].connect(wire.from_port, balance),
            }
        }
    }
}

impl<O: Observer> Simulation<O> {
    /// The NIC of `host` pays for packet `id`, which it sends now.
    pub(crate) fn pay(&mut self, host: u32, id: PacketId) {
        if let Some(credit) = &mut self.network.hosts[host as usize].credit {
            credit.pay(&mut self.pool[id]);
            self.apply_credit(host);
        }
    }

    /// The first switch has granted credit to the NIC of `host`.
    pub(crate) fn on_host_credit(&mut self, host: u32, account: u16, granted: u64) {
        if let Some(credit) = &mut self.network.hosts[host as usize].credit {
            credit.on_credit(account, granted);
            self.apply_credit(host);
        }
    }

    /// Tells the NIC of `host` which of its queues have run out of credit or have got some.
    fn apply_credit(&mut self, host: u32) {
        let Host { credit: Some(credit), nic, .. } = &mut self.network.hosts[host as usize] else {
            return;
        };
        while let Some((queue, is_dry)) = credit.take_change() {
            nic.set_queue_dry(queue, is_dry, &mut self.slots.senders);
        }
    }

    /// Checks that what the sending end of each link has paid has arrived or is on the wire, and that it
    /// knows of no grant that was not given.
    ///
    /// # Errors
    /// The first account whose books disagree.
    pub(crate) fn verify_credits(&self) -> Result<(), String> {
        for (link, wire) in self.network.wires.iter().enumerate() {
            let Some(switch) = wire.to.checked_sub(self.sources.hosts) else { continue };
            let ledger = self.network.switches[switch as usize].ledger(wire.to_port);
            let Some(balance) = self.sending_end(wire.from, wire.from_port) else { continue };
            let mut flying = vec![0; ledger.len()];
            for packet in wire.packets(&self.pool).filter(|p| p.kind == PacketKind::Data) {
                let is_own = packet.flags.contains(PacketFlags::OWN_CREDIT);
                let account = if is_own { usize::from(packet.queue) } else { 0 };
                flying[account] += u64::from(packet.wire_bytes);
            }
            for (account, (flying, known)) in (0..).zip(flying.into_iter().zip(ledger)) {
                let (paid, granted) = (balance.paid(account), balance.granted(account));
                let arrived = known.arrived;
                if paid != arrived + flying || granted > known.granted {
                    return Err(format!(
                        "link {link}, credit account {account}: {paid} B paid of {granted} B, but \
                         {arrived} B arrived and {flying} B fly"
                    ));
                }
            }
        }
        Ok(())
    }

    /// The credit of the sending end of a link.
    fn sending_end(&self, node: u32, port: u16) -> Option<&Balance> {
        match node.checked_sub(self.sources.hosts) {
            None => self.network.hosts[node as usize].credit.as_deref(),
            Some(switch) => self.network.switches[switch as usize].balance(port),
        }
    }
}
