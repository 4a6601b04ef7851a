//! By class: one data queue for each priority class. With one class this is a FIFO port.

use alloc::vec::Vec;

use penstock_packet::SwitchFacts;
use penstock_units::Problems;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::classes::check_classes;
use super::policy::{Assigning, Parameters, Policy};

/// Parameters of the by-class assignment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByClassConfig {
    /// Priority classes, 1 to 8 (IEEE 802.1Q has eight).
    pub classes: u32,
}

impl Parameters for ByClassConfig {
    fn check(&self, problems: &mut Problems) {
        check_classes(self.classes, problems);
    }

    fn classes(&self) -> u32 {
        self.classes
    }

    fn queue_classes(&self, _: usize) -> Vec<u8> {
        (0..self.classes as u8).collect()
    }
}

/// The by-class assignment of a switch.
#[derive(Debug)]
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
