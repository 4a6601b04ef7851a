//! Strict priority: the lowest-numbered active queue sends. The others may starve, as expected.

use alloc::format;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::PacketPool;
use penstock_units::{Fidelity, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Egress, Parameters, Policy};
use crate::config::{Surroundings, SwitchConfig};
use crate::parts::Bitmap;
use crate::queue::DataQueue;

/// Parameters of the strict scheduler: none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StrictConfig {}

impl Parameters for StrictConfig {
    fn fits(&self, switch: &SwitchConfig, _: &Surroundings, problems: &mut Problems) {
        fits_numbers(switch, problems);
        let remedy = "it ranks queues by number, and queues that classes share have no rank; use scheduling \
                      \"drr\" or \"srf\"";
        problems.unless(!switch.assignment.classes_share(), "scheduling.kind", "strict", remedy);
    }

    fn is_in_order(&self) -> bool {
        true
    }

    fn is_in(&self, simulator: Fidelity) -> bool {
        simulator != Fidelity::Ns3Hpcc
    }
}

/// Checks that the queues are few enough for a scheduler that tells them apart by number.
pub(super) fn fits_numbers(switch: &SwitchConfig, problems: &mut Problems) {
    if problems.has_sound("assignment") {
        let holds = switch.assignment.queues().is_some_and(|queues| queues <= QUEUES_MAX);
        let remedy = format!("it serves at most {QUEUES_MAX} queues; use scheduling \"drr\"");
        problems.unless(holds, "scheduling.kind", switch.scheduling.kind(), remedy);
    }
}

/// The strict scheduler for up to 128 queues (Tofino2 has 128 at a 400 Gb/s port, BFC sec. 3.1).
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Strict {
    active: Bitmap,
}

/// The number of queues that a strict scheduler can tell apart, the control queue included.
pub const QUEUES_MAX: u32 = 128;

impl Strict {
    pub(crate) fn new(_: &StrictConfig, _: &Egress) -> Self {
        Strict { active: Bitmap::new(QUEUES_MAX as usize) }
    }
}

impl Policy for Strict {
    #[inline]
    fn activate(&mut self, _: &mut [DataQueue], number: u32, _: &PacketPool) {
        self.active.insert(number as usize);
    }

    #[inline]
    fn deactivate(&mut self, _: &mut [DataQueue], number: u32) {
        self.active.remove(number as usize);
    }

    #[inline]
    fn select(&mut self, _: Time, _: &mut [DataQueue], _: &PacketPool) -> u32 {
        let first = self.active.first_in(0, QUEUES_MAX as usize);
        first.map_or(QUEUES_MAX, |number| number as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::refusal::{BY_INGRESS, DYNAMIC, PER_FLOW, SFQ, STRICT, refused};
    use penstock_units::BitRate;
    use serde_json::json;

    #[test]
    fn the_lowest_number_goes_first() {
        let egress = Egress { node: 0, port: 0, rate: BitRate::from_gbps(100), packet: 1_048 };
        let mut strict = Strict::new(&StrictConfig {}, &egress);
        let pool = PacketPool::new(false);
        strict.activate(&mut [], 5, &pool);
        strict.activate(&mut [], 3, &pool);
        assert_eq!(strict.select(Time::ZERO, &mut [], &pool), 3);
        strict.deactivate(&mut [], 3);
        assert_eq!(strict.select(Time::ZERO, &mut [], &pool), 5);
        strict.activate(&mut [], 127, &pool);
        strict.deactivate(&mut [], 5);
        assert_eq!(strict.select(Time::ZERO, &mut [], &pool), 127);
    }

    #[test]
    fn it_tells_128_queues_apart() {
        let queues = |queues| refused(&[SFQ, STRICT], &[("/assignment/queues", json!(queues))]);
        let expected =
            "scheduling.kind is strict; it serves at most 128 queues; use scheduling \"drr\"";
        assert!(queues(128).is_empty());
        assert_eq!(queues(129), [expected]);
        assert_eq!(queues(0).len(), 1);
        for unnumbered in [PER_FLOW, BY_INGRESS] {
            assert_eq!(refused(&[unnumbered, STRICT], &[]), [expected]);
        }
    }

    #[test]
    fn it_ranks_queues() {
        let fields = ["classes_share", "classes"].map(|field| format!("/assignment/{field}"));
        let fields = [(fields[0].as_str(), json!(true)), (fields[1].as_str(), json!(2))];
        let expected = "scheduling.kind is strict; it ranks queues by number, and queues that classes share \
                        have no rank; use scheduling \"drr\" or \"srf\"";
        assert_eq!(refused(&[DYNAMIC, STRICT], &fields), [expected]);
    }
}
