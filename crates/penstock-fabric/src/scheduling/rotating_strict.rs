//! The rotating strict priority scheduler of AFQ (N. K. Sharma et al., "Approximating Fair Queueing on
//! Reconfigurable Switches", NSDI 2018, sec. 3.3.2 and Fig. 3). The queue of the current round is
//! served until it is empty. Then this queue becomes the last, and the round advances.
//!
//! In the pseudo-code the round advances as soon as its queue is empty. Here the round advances when the next
//! packet is chosen, not when the port goes idle (our choice). Until then packets may still join the round.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::PacketPool;
use penstock_units::{Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Egress, Parameters, Policy, RoundSource, fits_rounds};
use crate::config::{Surroundings, SwitchConfig};
use crate::queue::DataQueue;

/// Parameters of rotating strict priority: none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RotatingStrictConfig {}

impl Parameters for RotatingStrictConfig {
    fn fits(&self, switch: &SwitchConfig, _: &Surroundings, problems: &mut Problems) {
        fits_rounds(switch, problems);
    }

    fn round_source(&self) -> Option<RoundSource> {
        Some(RoundSource::Scheduler)
    }
}

/// The rotating strict priority scheduler of a port.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct RotatingStrict {
    round: u64,
}

impl RotatingStrict {
    pub(crate) fn new(_: &RotatingStrictConfig, _: &Egress) -> Self {
        RotatingStrict::default()
    }
}

impl Policy for RotatingStrict {
    /// The queue of the current round, or of the next round with packets.
    #[inline]
    fn select(&mut self, _: Time, queues: &mut [DataQueue], _: &PacketPool) -> u32 {
        let data = queues.len() as u64 - 1;
        loop {
            let number = 1 + (self.round % data) as usize;
            if queues[number].is_active {
                return number as u32;
            }
            self.round += 1;
        }
    }

    /// The current round (R in the paper).
    #[inline]
    fn round(&self) -> u64 {
        self.round
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::refusal::{ROTATING, SFQ, refused};

    /// The queue that sends, and the round, while the queues `active` have packets.
    fn step(scheduler: &mut RotatingStrict, active: &[usize]) -> (u32, u64) {
        let mut queues: [DataQueue; 5] = core::array::from_fn(|number| DataQueue {
            is_active: active.contains(&number),
            ..DataQueue::default()
        });
        let number = scheduler.select(Time::ZERO, &mut queues, &PacketPool::new(false));
        (number, scheduler.round())
    }

    /// AFQ Fig. 5: a queue that is drained gets the lowest priority, and the round advances.
    #[test]
    fn a_drained_queue_becomes_the_last() {
        let mut scheduler = RotatingStrict::default();
        assert_eq!(step(&mut scheduler, &[1, 2, 3, 4]), (1, 0));
        assert_eq!(step(&mut scheduler, &[1, 2, 3, 4]), (1, 0));
        assert_eq!(step(&mut scheduler, &[2, 3, 4]), (2, 1));
        assert_eq!(step(&mut scheduler, &[1, 2, 3, 4]), (2, 1));
        assert_eq!(step(&mut scheduler, &[1, 4]), (4, 3));
        assert_eq!(step(&mut scheduler, &[1]), (1, 4));
        assert_eq!(step(&mut scheduler, &[1]), (1, 4));
    }

    #[test]
    fn it_serves_rounds() {
        let expected = "scheduling.kind is rotating-strict; the stochastic assignment knows no rounds; use \
                        assignment \"rounds\"";
        assert_eq!(refused(&[SFQ, ROTATING], &[]), [expected]);
    }
}
