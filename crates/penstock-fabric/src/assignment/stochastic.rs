//! Stochastic fair queueing: the queue is a hash of the flow (P. McKenney, "Stochastic Fairness
//! Queueing", INFOCOM 1990; BFC sec. 3.2 and App. A.10). No state, but two flows may share a queue
//! while others are empty. The hash is salted by switch, so that a pair that collides at one switch
//! is unlikely to collide at the next (`BASELINES.md` 18.2).

use alloc::vec::Vec;

use penstock_packet::Packet;
use serde::{Deserialize, Serialize};

use super::classes::{ClassRange, class_ranges};
use crate::parts::{reduce, salted};

/// Parameters of the stochastic assignment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StochasticConfig {
    /// Queues of a port, the control queue included; 2 to 65,535. BFC compares with 32 (sec. 6.4).
    pub queues: u32,
    /// Priority classes that share the data queues evenly, 1 to 8.
    pub classes: u32,
}

/// The stochastic assignment of a switch.
#[derive(Debug)]
pub(crate) struct Stochastic {
    ranges: Vec<ClassRange>,
    salt: u32,
}

impl Stochastic {
    pub(crate) fn new(config: &StochasticConfig, salt: u32) -> Self {
        Stochastic { ranges: class_ranges(config.queues, config.classes), salt }
    }

    #[inline]
    pub(crate) fn assign(&self, packet: &Packet) -> u16 {
        let range = self.ranges[usize::from(packet.class).min(self.ranges.len() - 1)];
        let size = u32::from(range.to - range.from);
        range.from + reduce(salted(packet.flow_hash, self.salt), size) as u16
    }
}

#[cfg(test)]
#[path = "stochastic_tests.rs"]
mod tests;
