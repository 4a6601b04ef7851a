//! Invariants of a whole simulation. Each switch checks its own invariants.

use penstock_fabric::{AdmissionConfig, AssignmentConfig, SchedulingConfig};
use penstock_packet::{Balance, Observer, Packet, PacketFlags, PacketKind};

use crate::error::InvariantError;
use crate::routing::RoutingConfig;
use crate::simulation::Simulation;

/// Checks that the packets of a flow arrive in the order in which they were sent.
#[derive(Debug, Default)]
pub(crate) struct OrderCheck {
    /// By slot: the number of the flow, and the offset of its packet that arrived last.
    last: Vec<(u64, u64)>,
    violation: Option<String>,
}

impl OrderCheck {
    /// Notes that a packet of flow `number` in `slot` arrived. Retransmitted bytes may come late.
    pub(crate) fn on_arrival(&mut self, slot: u32, number: u64, packet: &Packet) {
        let slot = slot as usize;
        if self.last.len() <= slot {
            self.last.resize(slot + 1, (u64::MAX, 0));
        }
        let (flow, offset) = self.last[slot];
        let is_late = flow == number && packet.offset < offset;
        if is_late && !packet.flags.contains(PacketFlags::RETRANSMISSION) {
            self.violation.get_or_insert_with(|| {
                format!("flow {number}: byte {} arrived after byte {offset}", packet.offset)
            });
        }
        self.last[slot] = (number, packet.offset.max(if flow == number { offset } else { 0 }));
    }
}

impl<O: Observer> Simulation<O> {
    /// From now on, also checks the order of arrivals. The order is not checked where routes
    /// change, and where the scheme may reorder packets: BFC with sampled bookkeeping (App. A.8),
    /// AFQ with groups that change places or a quantum that a round may exceed (sec. 4), Homa's
    /// levels, packet spraying.
    pub fn watch_order(&mut self) {
        let switch = &self.scenario.scheme.switch;
        let is_sampled =
            matches!(&switch.assignment, AssignmentConfig::Dynamic(d) if d.sampling < 1.0);
        let leaves_rounds = match (&switch.scheduling, &switch.admission) {
            (SchedulingConfig::PriorityGroups(_), _) => true,
            (SchedulingConfig::ScanningDrr(drr), AdmissionConfig::Static(memory)) => {
                memory.per_port.get() > drr.quantum.get()
            }
            (SchedulingConfig::ScanningDrr(_), _) => true,
            _ => false,
        };
        // Homa's unscheduled and scheduled packets wait in different queues.
        let has_levels = switch.assignment.levels().is_some();
        let is_sprayed = matches!(self.scenario.scheme.routing, RoutingConfig::Spray(_));
        let may_reorder =
            is_sampled || leaves_rounds || has_levels || is_sprayed || self.has_outages;
        self.order = (!may_reorder).then(OrderCheck::default);
    }

    /// Checks that nothing is lost or counted twice.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn verify(&self) -> Result<(), InvariantError> {
        let fail = |what: String| InvariantError { time: self.now(), what };
        if let Some(violation) = self.order.as_ref().and_then(|order| order.violation.clone()) {
            return Err(fail(violation));
        }
        for switch in &self.network.switches {
            switch.verify(&self.pool).map_err(fail)?;
        }
        self.verify_credits().map_err(fail)?;
        let (packets, payload) = self.held();
        if packets != self.pool.live() {
            let live = self.pool.live();
            return Err(fail(format!("{packets} packets are held somewhere, {live} exist")));
        }
        let measured = &self.measured;
        let gone = measured.arrived_payload + measured.dropped_payload;
        let uplinks = self.network.uplinks.iter();
        let sent: u64 = uplinks.map(|&link| self.counters[link as usize].payload).sum();
        if sent != gone + payload {
            return Err(fail(format!(
                "{} B of payload were sent, but {} B arrived, {} B were dropped and {payload} B are \
                 on the way",
                sent, measured.arrived_payload, measured.dropped_payload
            )));
        }
        let live = self.router.slots.live().len() as u64;
        let bearers = self.pool.bearers() - live;
        if bearers > packets as u64 {
            return Err(fail(format!("{bearers} packets of {packets} bear the name of a flow")));
        }
        Ok(())
    }

    /// The number of packets in queues and on wires, and the payload of the data packets that have
    /// left their host and not arrived.
    fn held(&self) -> (usize, u64) {
        let (mut packets, mut payload) = (0, 0);
        let mut count = |packet: &Packet| {
            packets += 1;
            if packet.kind == PacketKind::Data {
                payload += u64::from(packet.payload);
            }
        };
        for wire in &self.network.wires {
            wire.packets(&self.pool).for_each(&mut count);
        }
        for port in self.network.switches.iter().flat_map(|switch| switch.ports()) {
            port.control_packets(&self.pool).for_each(&mut count);
            if let Some(credits) = port.credits() {
                credits.packets(&self.pool).for_each(&mut count);
            }
            for queue in 1..port.queues().len() {
                port.packets_in(queue, &self.pool).for_each(&mut count);
            }
        }
        let hosts = self.hosts.iter();
        packets += hosts.map(|host| host.packets(&self.pool).count()).sum::<usize>();
        (packets, payload)
    }

    /// Checks both sides of the credits of every link. Everything that the sending end has paid has
    /// arrived or is on the wire, and the sending end knows of no grant that was not given.
    ///
    /// # Errors
    /// The first account whose two sides disagree.
    fn verify_credits(&self) -> Result<(), String> {
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

    /// The credits at the sending end of a link.
    fn sending_end(&self, node: u32, port: u16) -> Option<&Balance> {
        match node.checked_sub(self.sources.hosts) {
            None => self.hosts[node as usize].balance(),
            Some(switch) => self.network.switches[switch as usize].balance(port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_that_was_overtaken_is_a_violation_unless_it_was_sent_again() {
        let at = |offset, flags| Packet { offset, flags, ..Packet::default() };
        let mut order = OrderCheck::default();
        order.on_arrival(0, 1, &at(2_000, PacketFlags::default()));
        order.on_arrival(0, 1, &at(1_000, PacketFlags::RETRANSMISSION));
        order.on_arrival(0, 2, &at(0, PacketFlags::default()));
        assert_eq!(order.violation, None);
        order.on_arrival(0, 2, &at(3_000, PacketFlags::default()));
        order.on_arrival(0, 2, &at(2_000, PacketFlags::default()));
        let words = order.violation.unwrap();
        assert!(words.contains("flow 2") && words.contains("byte 2000"), "{words}");
    }
}
