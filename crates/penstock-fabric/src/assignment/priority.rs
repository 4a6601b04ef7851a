//! By the packet's own priority: one data queue for each level, all of one class.
//!
//! The end hosts choose the level of every packet (B. Montazeri et al., "Homa", SIGCOMM 2018,
//! sec. 3.4). With strict scheduling the port serves level 0 first. Levels are no priority classes:
//! nothing pauses or accounts for them one by one, so there may be more than the eight of IEEE 802.1Q.

use penstock_packet::Packet;
use serde::{Deserialize, Serialize};

/// Parameters of the assignment by priority.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByPriorityConfig {
    /// Levels, each with a data queue, 1 to 127 (with the control queue as many as a strict scheduler
    /// serves). A packet of a level beyond the last joins the last.
    pub levels: u32,
}

/// The assignment by priority of a switch.
#[derive(Debug)]
pub(crate) struct ByPriority {
    last: u8,
}

impl ByPriority {
    pub(crate) fn new(config: &ByPriorityConfig) -> Self {
        ByPriority { last: (config.levels - 1) as u8 }
    }

    #[inline]
    pub(crate) fn assign(&self, packet: &Packet) -> u16 {
        1 + packet.tag.min(u16::from(self.last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_has_its_queue_and_the_last_takes_what_is_beyond() {
        let policy = ByPriority::new(&ByPriorityConfig { levels: 32 });
        let queue = |tag| policy.assign(&Packet { tag, ..Packet::default() });
        assert_eq!([0, 1, 31, 32, 255].map(queue), [1, 2, 32, 32, 32]);
    }
}
