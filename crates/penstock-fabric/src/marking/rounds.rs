//! Per-flow ECN of AFQ (N. K. Sharma et al., "Approximating Fair Queueing on Reconfigurable Switches",
//! NSDI 2018, sec. 5): a packet is marked when its flow has more queued than a number of rounds serve.
//!
//! It goes with the assignment by rounds, which leaves in the packet by how many rounds it is ahead.
//!
//! | symbol | field | default | source |
//! |---|---|---|---|
//! | - | `rounds` | 8 | sec. 5 |

use penstock_packet::Packet;
use serde::{Deserialize, Serialize};

/// Parameters of marking by rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundMarkingConfig {
    /// A packet that is further ahead than this many rounds is marked.
    pub rounds: u32,
}

/// Marking by rounds of a switch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundMarking {
    rounds: u64,
}

impl RoundMarking {
    pub(crate) fn new(config: &RoundMarkingConfig) -> Self {
        RoundMarking { rounds: u64::from(config.rounds) }
    }

    /// Whether a packet is marked that has just got its queue.
    #[inline]
    pub(crate) fn marks(&self, packet: &Packet) -> bool {
        packet.time > self.rounds
    }
}
