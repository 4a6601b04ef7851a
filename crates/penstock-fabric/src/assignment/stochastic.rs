//! Stochastic fair queueing: the queue is a hash of the flow (P. McKenney, "Stochastic Fairness
//! Queueing", INFOCOM 1990; BFC sec. 3.2 and App. A.10). The policy has no state, but two flows may
//! share a queue while others are empty. Each switch salts the hash. So two flows that collide at one
//! switch are unlikely to collide at the next. The salt is our choice: BFC sec. 3.2 uses the same hash
//! function at each switch.

use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::{Packet, SwitchFacts};
use penstock_units::Problems;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::classes::{
    ClassRange, LARGEST_CLASSES, LARGEST_QUEUES, check_classes, class_ranges, partition,
};
use super::policy::{Assigning, Parameters, Policy};
use crate::parts::{reduce, salted};

/// Parameters of the stochastic assignment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StochasticConfig {
    /// Queues of a port, the control queue included.
    #[schemars(
        range(min = 2, max = LARGEST_QUEUES),
        extend("default" = 32, "source" = "BFC 6.2.1: 32 queues per port")
    )]
    pub queues: u32,
    /// Priority classes that share them evenly.
    #[schemars(
        range(min = 1, max = LARGEST_CLASSES),
        extend("default" = 1, "source" = "BFC 6.2.1: one class; A.3: four")
    )]
    pub classes: u32,
}

impl Parameters for StochasticConfig {
    fn check(&self, problems: &mut Problems) {
        check_classes(self.queues, 0, self.classes, problems);
    }

    fn classes(&self) -> u32 {
        self.classes
    }

    fn queue_classes(&self, _: usize) -> Vec<u8> {
        partition(self.queues, self.classes)
    }
}

/// The stochastic assignment of a switch.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Stochastic {
    ranges: Vec<ClassRange>,
    salt: u32,
}

impl Stochastic {
    pub(crate) fn new(config: &StochasticConfig, facts: &SwitchFacts) -> Self {
        Stochastic { ranges: class_ranges(config.queues, config.classes), salt: facts.salt }
    }

    #[inline]
    fn queue_of(&self, packet: &Packet) -> u16 {
        let range = self.ranges[usize::from(packet.class).min(self.ranges.len() - 1)];
        let size = u32::from(range.to - range.from);
        range.from + reduce(salted(packet.flow_hash, self.salt), size) as u16
    }
}

impl Policy for Stochastic {
    #[inline]
    fn assign(&mut self, arrival: Assigning<'_>) -> Option<u16> {
        Some(self.queue_of(arrival.packet))
    }
}

#[cfg(test)]
#[path = "stochastic_tests.rs"]
mod tests;
