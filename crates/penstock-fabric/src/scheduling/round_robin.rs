//! Round robin by number: the queues that can send take turns, a packet each, in the order of their
//! numbers (J. Nagle, "On Packet Switches with Infinite Storage", RFC 970, 1985).
//!
//! The search begins behind the queue that sent last. So a queue that gets its first packet is served in
//! its place among the numbers, half a round later in the mean, where [`super::drr`] lets it wait for a
//! whole round. Packets count, not bytes: queues with longer packets get more of the port. Priority
//! classes make no difference. NASA-NJU/Pyrrha-NS3 serves BFC's queues in this way, once its scheduler's
//! position is stored as its authors evidently meant.

use alloc::format;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::PacketPool;
use penstock_units::{Fidelity, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Egress, Parameters, Policy};
use super::strict::{QUEUES_MAX, fits_numbers};
use crate::config::{Surroundings, SwitchConfig};
use crate::queue::DataQueue;

/// Parameters of the round robin by number: none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundRobinConfig {}

impl Parameters for RoundRobinConfig {
    fn fits(&self, switch: &SwitchConfig, _: &Surroundings, problems: &mut Problems) {
        fits_numbers(switch, problems);
        let classes = switch.assignment.classes();
        let remedy = format!(
            "it serves classes alike, and the assignment has {classes}; use one class, or scheduling \
             \"drr\""
        );
        problems.unless(classes == 1, "scheduling.kind", "round-robin", remedy);
    }

    fn is_in(&self, simulator: Fidelity) -> bool {
        simulator != Fidelity::Ns3Hpcc
    }
}

/// The round robin of a port, for up to 128 queues.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct RoundRobin {
    active: u128,
    /// The queue that sent last.
    last: u32,
}

const _: () = assert!(QUEUES_MAX == u128::BITS);

impl RoundRobin {
    pub(crate) fn new(_: &RoundRobinConfig, _: &Egress) -> Self {
        RoundRobin::default()
    }
}

impl Policy for RoundRobin {
    #[inline]
    fn activate(&mut self, _: &mut [DataQueue], number: u32, _: &PacketPool) {
        self.active |= 1 << number;
    }

    #[inline]
    fn deactivate(&mut self, _: &mut [DataQueue], number: u32) {
        self.active &= !(1 << number);
    }

    #[inline]
    fn select(&mut self, _: Time, _: &mut [DataQueue], _: &PacketPool) -> u32 {
        let behind = self.active & (u128::MAX << self.last << 1);
        let next = if behind == 0 { self.active } else { behind };
        self.last = next.trailing_zeros();
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::refusal::{DYNAMIC, PER_FLOW, refused};
    use serde_json::json;

    fn round_robin(active: &[u32]) -> RoundRobin {
        let mut scheduler = RoundRobin::default();
        for &number in active {
            scheduler.activate(&mut [], number, &PacketPool::new(false));
        }
        scheduler
    }

    fn next(scheduler: &mut RoundRobin) -> u32 {
        scheduler.select(Time::ZERO, &mut [], &PacketPool::new(false))
    }

    #[test]
    fn queues_take_turns_by_number() {
        let mut scheduler = round_robin(&[7, 2, 127]);
        assert_eq!([(); 5].map(|()| next(&mut scheduler)), [2, 7, 127, 2, 7]);
    }

    #[test]
    fn a_new_queue_is_served_in_its_place() {
        let mut scheduler = round_robin(&[2, 9]);
        assert_eq!(next(&mut scheduler), 2);
        scheduler.activate(&mut [], 5, &PacketPool::new(false));
        scheduler.activate(&mut [], 1, &PacketPool::new(false));
        assert_eq!([(); 4].map(|()| next(&mut scheduler)), [5, 9, 1, 2]);
        scheduler.deactivate(&mut [], 5);
        assert_eq!(next(&mut scheduler), 9);
    }

    #[test]
    fn it_serves_one_class_of_numbered_queues() {
        const ROUND_ROBIN: (&str, &str) = ("scheduling", r#"{"kind": "round-robin"}"#);
        let expected =
            "scheduling.kind is round-robin; it serves at most 128 queues; use scheduling \"drr\"";
        assert_eq!(refused(&[PER_FLOW, ROUND_ROBIN], &[]), [expected]);
        let two = refused(&[DYNAMIC, ROUND_ROBIN], &[("/assignment/classes", json!(2))]);
        assert!(two[0].contains("it serves classes alike"), "{two:?}");
        assert!(refused(&[DYNAMIC, ROUND_ROBIN], &[]).is_empty());
    }
}
