//! Per-flow ECN of AFQ (N. K. Sharma et al., "Approximating Fair Queueing on Reconfigurable Switches",
//! NSDI 2018, sec. 5): a packet is marked when its flow has more bytes queued than a number of rounds
//! serve.
//!
//! This marking goes with the assignment by rounds, which stores in the packet how many rounds the
//! packet is ahead.

use alloc::format;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::SwitchFacts;
use penstock_units::Problems;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Mark, Parameters, Policy};
use crate::config::{Surroundings, SwitchConfig};
use crate::passing::Passing;

/// Parameters of marking by rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundMarkingConfig {
    /// Rounds that a flow may be ahead unmarked.
    #[schemars(extend("default" = 8, "source" = "AFQ 5"))]
    pub rounds: u32,
}

impl Parameters for RoundMarkingConfig {
    fn fits(&self, switch: &SwitchConfig, _: &Surroundings, problems: &mut Problems) {
        let remedy = format!(
            "the {} assignment knows no rounds; use assignment \"rounds\"",
            switch.assignment.kind()
        );
        problems.unless(switch.assignment.keeps_rounds(), "marking.kind", "rounds", remedy);
    }

    fn has_marks(&self) -> bool {
        true
    }
}

/// Marking by rounds of a switch.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct RoundMarking {
    rounds: u64,
}

impl RoundMarking {
    pub(crate) fn new(config: &RoundMarkingConfig, _: &SwitchFacts) -> Self {
        RoundMarking { rounds: u64::from(config.rounds) }
    }
}

impl Policy for RoundMarking {
    #[inline]
    fn on_enqueue(&mut self, packet: &mut Passing<'_>) -> Mark {
        Mark::of(packet.packet().time > self.rounds)
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::refusal::{ROTATING, ROUNDS, refused};

    #[test]
    fn somebody_keeps_rounds() {
        let rounds = ("marking", r#"{"kind": "rounds", "rounds": 8}"#);
        assert!(refused(&[ROUNDS, ROTATING, rounds], &[]).is_empty());
        let expected = "marking.kind is rounds; the class assignment knows no rounds; use \
                        assignment \"rounds\"";
        assert_eq!(refused(&[rounds], &[]), [expected]);
    }
}
