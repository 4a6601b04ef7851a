//! By the packet's own priority: one data queue for each level, all of one class.
//!
//! The end hosts choose the level of every packet (B. Montazeri et al., "Homa", SIGCOMM 2018, sec.
//! 3.4). With strict scheduling the port serves level 0 first. Levels are not priority classes. Levels
//! have no pauses and no accounts of their own, so there may be more than the eight classes of IEEE
//! 802.1Q.

use alloc::vec;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::{Packet, SwitchFacts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Assigning, Parameters, Policy};
use crate::scheduling::strict::QUEUES_MAX;

/// The most levels: with the control queue as many queues as a strict scheduler serves, 128.
const LARGEST: u32 = QUEUES_MAX - 1;

/// Parameters of the assignment by priority.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByPriorityConfig {
    /// Levels, each with a queue.
    ///
    /// A packet of a level beyond the last joins the last. One level is for unscheduled and one for scheduled
    /// data at least.
    #[schemars(
        range(min = 2, max = LARGEST),
        extend("default" = 32, "source" = "BFC A.2: 32 priority levels")
    )]
    pub levels: u32,
}

impl Parameters for ByPriorityConfig {
    fn queue_classes(&self, _: usize) -> Vec<u8> {
        vec![0; self.levels as usize]
    }

    fn levels(&self) -> Option<u32> {
        Some(self.levels)
    }
}

/// The assignment by priority of a switch.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct ByPriority {
    last: u8,
}

impl ByPriority {
    pub(crate) fn new(config: &ByPriorityConfig, _: &SwitchFacts) -> Self {
        ByPriority { last: (config.levels - 1) as u8 }
    }

    #[inline]
    fn queue_of(&self, packet: &Packet) -> u16 {
        1 + packet.tag.min(u16::from(self.last))
    }
}

impl Policy for ByPriority {
    #[inline]
    fn assign(&mut self, arrival: Assigning<'_>) -> Option<u16> {
        Some(self.queue_of(arrival.packet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::hosts;
    use crate::fixture::refusal::{STRICT, refused};
    use serde_json::json;

    #[test]
    fn every_level_has_its_queue_and_the_last_takes_what_is_beyond() {
        let policy = ByPriority::new(&ByPriorityConfig { levels: 32 }, &hosts(2));
        let queue = |tag| policy.queue_of(&Packet { tag, ..Packet::default() });
        assert_eq!([0, 1, 31, 32, 255].map(queue), [1, 2, 32, 32, 32]);
    }

    #[test]
    fn there_are_levels_for_data_of_two_kinds_and_no_more_than_can_be_ranked() {
        let levels = |levels| {
            let by_priority = ("assignment", r#"{"kind": "priority", "levels": 32}"#);
            refused(&[by_priority, STRICT], &[("/assignment/levels", json!(levels))])
        };
        assert!(levels(2).is_empty() && levels(127).is_empty());
        assert_eq!(levels(1), ["assignment.levels is 1; write 2 to 127"]);
        assert_eq!(levels(128), ["assignment.levels is 128; write 2 to 127"]);
    }
}
