//! Per-flow ECN of AFQ (N. K. Sharma et al., "Approximating Fair Queueing on Reconfigurable Switches",
//! NSDI 2018, sec. 5): a packet is marked when its flow has more queued than a number of rounds serve.
//!
//! It goes with the assignment by rounds, which leaves in the packet by how many rounds it is ahead.
//!
//! | symbol | field | default | source |
//! |---|---|---|---|
//! | - | `rounds` | 8 | sec. 5 |

use penstock_packet::SwitchFacts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Mark, Parameters, Policy};
use crate::passing::Passing;

/// Parameters of marking by rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundMarkingConfig {
    /// A packet that is further ahead than this many rounds is marked.
    pub rounds: u32,
}

impl Parameters for RoundMarkingConfig {}

/// Marking by rounds of a switch.
#[derive(Clone, Copy, Debug)]
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
