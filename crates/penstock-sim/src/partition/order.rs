//! The order in which a flow's packets arrive.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_fabric::{AdmissionConfig, AssignmentConfig, SchedulingConfig};
use penstock_packet::{Observer, Packet, PacketFlags};

use super::Partition;
use crate::routing::RoutingConfig;
use crate::scenario::Scenario;

/// Checks that the packets of a flow arrive in the order in which they were sent.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct OrderCheck {
    /// By slot: the number of the flow, and the offset of its packet that arrived last.
    last: Vec<(u64, u64)>,
    violation: Option<String>,
}

impl OrderCheck {
    /// Notes that a packet of flow `number` in `slot` arrived. Retransmitted bytes may come late.
    pub(super) fn on_arrival(&mut self, slot: u32, number: u64, packet: &Packet) {
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

    /// The first arrival that was late, in words.
    pub(crate) fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }
}

/// Whether the packets of a flow arrive in order under this scheme. The order is not checked where
/// routes change, and where the scheme may reorder packets: BFC with sampled bookkeeping (App. A.8), AFQ
/// with groups that change places or a quantum that a round may exceed (sec. 4), Homa's levels, packet
/// spraying.
fn keeps_order(scenario: &Scenario) -> bool {
    let switch = &scenario.scheme.switch;
    let is_sampled = matches!(&switch.assignment, AssignmentConfig::Dynamic(d) if d.sampling < 1.0);
    let leaves_rounds = match (&switch.scheduling, &switch.admission) {
        (SchedulingConfig::PriorityGroups(_), _) => true,
        (SchedulingConfig::ScanningDrr(drr), AdmissionConfig::Static(memory)) => {
            memory.largest() > drr.quantum
        }
        (SchedulingConfig::ScanningDrr(_), _) => true,
        _ => false,
    };
    // Homa's unscheduled and scheduled packets wait in different queues.
    let has_levels = switch.assignment.levels().is_some();
    let is_sprayed = matches!(scenario.scheme.routing, RoutingConfig::Spray(_));
    let has_outages = !scenario.faults.outages.is_empty();
    !(is_sampled || leaves_rounds || has_levels || is_sprayed || has_outages)
}

impl<O: Observer> Partition<O> {
    /// From now on, also checks the order of arrivals, where the scheme keeps it.
    pub(crate) fn watch_order(&mut self) {
        self.order = keeps_order(&self.setting.scenario).then(OrderCheck::default);
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
