//! By class: one data queue for each priority class. With one class the port is a FIFO.

use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::SwitchFacts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::classes::LARGEST_CLASSES;
use super::policy::{Assigning, Parameters, Policy};

/// Parameters of the by-class assignment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByClassConfig {
    /// Classes, each with a queue.
    #[schemars(
        range(min = 1, max = LARGEST_CLASSES),
        extend("default" = 1, "source" = "our choice: no priorities")
    )]
    pub classes: u32,
}

impl Parameters for ByClassConfig {
    fn classes(&self) -> u32 {
        self.classes
    }

    fn queue_classes(&self, _: usize) -> Vec<u8> {
        (0..self.classes as u8).collect()
    }

    fn is_one_queue(&self) -> bool {
        self.classes == 1
    }
}

/// The by-class assignment of a switch.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct ByClass {
    last: u8,
}

impl ByClass {
    pub(crate) fn new(config: &ByClassConfig, _: &SwitchFacts) -> Self {
        ByClass { last: config.classes as u8 - 1 }
    }
}

impl Policy for ByClass {
    #[inline]
    fn assign(&mut self, arrival: Assigning<'_>) -> Option<u16> {
        Some(1 + u16::from(arrival.packet.class.min(self.last)))
    }
}
