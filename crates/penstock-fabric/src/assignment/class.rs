//! By class: one data queue for each priority class. With one class this is a FIFO port.

use penstock_packet::Packet;
use serde::{Deserialize, Serialize};

/// Parameters of the by-class assignment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByClassConfig {
    /// Priority classes, 1 to 8 (IEEE 802.1Q has eight).
    pub classes: u32,
}

/// The by-class assignment of a switch.
#[derive(Debug)]
pub(crate) struct ByClass {
    last: u8,
}

impl ByClass {
    pub(crate) fn new(config: &ByClassConfig) -> Self {
        ByClass { last: config.classes as u8 - 1 }
    }

    #[inline]
    pub(crate) fn assign(&self, packet: &Packet) -> u16 {
        1 + u16::from(packet.class.min(self.last))
    }
}
