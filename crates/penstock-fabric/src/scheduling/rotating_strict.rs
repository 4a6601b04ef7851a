//! The rotating strict priority scheduler of AFQ (N. K. Sharma et al., "Approximating Fair Queueing on
//! Reconfigurable Switches", NSDI 2018, sec. 3.3.2 and Fig. 3): the queue of the current round is
//! served until it is empty; then it becomes the last, and the round advances.
//!
//! The round advances when the next packet is chosen, not when the port goes idle (`DESIGN.md` sec.
//! 9): until then packets may still join the round.

use crate::queue::DataQueue;

/// The rotating strict priority scheduler of a port.
#[derive(Debug, Default)]
pub struct RotatingStrict {
    round: u64,
}

impl RotatingStrict {
    /// The current round (R in the paper).
    #[inline]
    pub(crate) fn round(&self) -> u64 {
        self.round
    }

    /// The queue of the first round from the current one on that has packets.
    #[inline]
    pub(crate) fn select(&mut self, queues: &[DataQueue]) -> u32 {
        let data = queues.len() as u64 - 1;
        loop {
            let number = 1 + (self.round % data) as usize;
            if queues[number].is_active {
                return number as u32;
            }
            self.round += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queues(active: &[usize]) -> [DataQueue; 5] {
        core::array::from_fn(|number| DataQueue {
            is_active: active.contains(&number),
            ..DataQueue::default()
        })
    }

    /// AFQ Fig. 5: a queue that is drained gets the lowest priority, and the round advances.
    #[test]
    fn a_drained_queue_becomes_the_last() {
        let mut scheduler = RotatingStrict::default();
        assert_eq!((scheduler.select(&queues(&[1, 2, 3, 4])), scheduler.round()), (1, 0));
        assert_eq!((scheduler.select(&queues(&[1, 2, 3, 4])), scheduler.round()), (1, 0));
        assert_eq!((scheduler.select(&queues(&[2, 3, 4])), scheduler.round()), (2, 1));
        assert_eq!((scheduler.select(&queues(&[1, 2, 3, 4])), scheduler.round()), (2, 1));
        assert_eq!((scheduler.select(&queues(&[1, 4])), scheduler.round()), (4, 3));
        assert_eq!((scheduler.select(&queues(&[1])), scheduler.round()), (1, 4));
        assert_eq!((scheduler.select(&queues(&[1])), scheduler.round()), (1, 4));
    }
}
