//! Which NIC queue a flow gets: an empty queue while there is one, then a random queue.
//!
//! P. Goyal et al., "Backpressure Flow Control", NSDI 2022, Sec. 3.3.1 and 3.3.2: the source NIC writes
//! its queue number into its packets, and the first switch pauses that queue. Queue 0 is reserved for
//! control packets. Several priority classes divide the data queues evenly, because a pause of a queue
//! that two classes share would stop both (our choice; the paper says only that classes have queues of
//! their own).
//!
//! The search for an empty queue starts behind the queue that was given last, as in a switch. A flow
//! keeps its queue until its last packet has left, so it needs no sticky threshold (sec. 3.3.2): its
//! packets do not come from upstream, so it does not run out of them before. Only a flow that has to send
//! lost packets again takes another queue.

use alloc::vec::Vec;
use core::ops::Range;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::EmptyQueue;
use penstock_units::random::Pcg32;
use rand_core::RngCore;

/// How many flows each NIC queue has.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Queues {
    /// One entry per queue, the control queue included. Empty before the first flow.
    flows: Vec<u32>,
    /// Queues, the control queue included; 0 when flows do not share queues.
    count: u32,
    /// Bit q is set while data queue q has no flow.
    empty: u128,
    classes: u32,
    /// Where the next search for an empty queue starts.
    rotation: u32,
}

impl Queues {
    /// `queues` queues, the control queue included, for `classes` classes. With 0 queues, flows have no
    /// queues.
    pub(crate) fn new(queues: u32, classes: u32) -> Self {
        Queues { flows: Vec::new(), count: queues, empty: u128::MAX, classes, rotation: 1 }
    }

    /// The queue of a new flow of `class`; 0 when flows have no queues. `choice` says which of several
    /// empty queues it is; bit q of `paused` is set while queue q is paused.
    pub(crate) fn assign(
        &mut self,
        class: u8,
        (choice, paused): (EmptyQueue, u128),
        rng: &mut Pcg32,
    ) -> u16 {
        if self.count == 0 {
            return 0;
        }
        if self.flows.is_empty() {
            self.flows.resize(self.count as usize, 0);
        }
        let Range { start, end } = self.of_class(class);
        let count = end - start;
        let empty = self.empty & (((1 << count) - 1) << start);
        let candidates = match (choice, empty & !paused) {
            (EmptyQueue::Any, _) | (EmptyQueue::Unpaused, 0) => empty,
            (EmptyQueue::Unpaused | EmptyQueue::UnpausedOnly, unpaused) => unpaused,
        };
        let chosen = match candidates {
            0 => start + ((u64::from(rng.next_u32()) * u64::from(count)) >> 32) as u32,
            empty => self.first(empty),
        };
        self.flows[chosen as usize] += 1;
        self.empty &= !(1 << chosen);
        chosen as u16
    }

    /// The lowest queue without a flow, for a new flow of the only class; a random one when all have flows,
    /// and 0 when flows have no queues.
    pub(crate) fn assign_lowest(&mut self, rng: &mut Pcg32) -> u16 {
        self.rotation = 1;
        self.assign(0, (EmptyQueue::Any, 0), rng)
    }

    /// The first of the queues in `empty`, which is not 0, from the place of the rotation on. Moves that
    /// place behind the queue.
    fn first(&mut self, empty: u128) -> u32 {
        let behind = empty.checked_shr(self.rotation).unwrap_or(0);
        let queue = match behind {
            0 => empty.trailing_zeros(),
            behind => self.rotation + behind.trailing_zeros(),
        };
        self.rotation = queue + 1;
        queue
    }

    /// Whether `queue` has a single flow.
    pub(crate) fn has_one_flow(&self, queue: u16) -> bool {
        self.flows.get(usize::from(queue)) == Some(&1)
    }

    /// A flow leaves `queue`.
    pub(crate) fn release(&mut self, queue: u16) {
        if let Some(flows) = self.flows.get_mut(usize::from(queue)) {
            *flows -= 1;
            if *flows == 0 {
                self.empty |= 1 << queue;
            }
        }
    }

    /// The data queues of a class.
    fn of_class(&self, class: u8) -> Range<u32> {
        let data = self.count - 1;
        let class = u32::from(class);
        1 + class * data / self.classes..1 + (class + 1) * data / self.classes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: (EmptyQueue, u128) = (EmptyQueue::Any, 0);

    fn rng() -> Pcg32 {
        Pcg32::new(7, 11)
    }

    #[test]
    fn flows_have_a_queue_each_while_there_are_empty_ones() {
        let (mut queues, mut rng) = (Queues::new(32, 1), rng());
        let assigned: Vec<u16> = (0..31).map(|_| queues.assign(0, ANY, &mut rng)).collect();
        assert_eq!(assigned, (1..32).collect::<Vec<u16>>());
        queues.release(17);
        assert_eq!(queues.assign(0, ANY, &mut rng), 17);
    }

    #[test]
    fn the_search_starts_behind_the_queue_that_was_given_last() {
        let (mut queues, mut rng) = (Queues::new(4, 1), rng());
        let mut next = |queues: &mut Queues, choice, paused| {
            let queue = queues.assign(0, (choice, paused), &mut rng);
            queues.release(queue);
            queue
        };
        let any = [0; 4].map(|_| next(&mut queues, EmptyQueue::Any, 0b0100));
        assert_eq!(any, [1, 2, 3, 1], "a paused queue counts as any other");
        let unpaused = [0; 4].map(|_| next(&mut queues, EmptyQueue::Unpaused, 0b0100));
        assert_eq!(unpaused, [3, 1, 3, 1]);
        assert_eq!(next(&mut queues, EmptyQueue::Unpaused, 0b1110), 2, "all are paused");
    }

    #[test]
    fn then_they_share_a_random_one_until_all_its_flows_have_left() {
        let (mut queues, mut rng) = (Queues::new(4, 1), rng());
        for _ in 0..3 {
            queues.assign(0, ANY, &mut rng);
        }
        let mut seen = [0u32; 4];
        for _ in 0..3_000 {
            seen[usize::from(queues.assign(0, ANY, &mut rng))] += 1;
        }
        assert_eq!(seen[0], 0);
        assert!(seen[1..].iter().all(|&flows| (800..1_200).contains(&flows)), "{seen:?}");
        for _ in 0..seen[2] {
            queues.release(2);
        }
        assert_ne!(queues.empty & 0b1110, 0b0100);
        queues.release(2);
        assert_eq!(queues.assign(0, ANY, &mut rng), 2);
    }

    #[test]
    fn classes_divide_the_data_queues_evenly() {
        for (count, classes) in [(32, 4), (128, 1), (128, 3), (9, 8), (2, 1)] {
            let queues = Queues::new(count, classes);
            let mut next = 1;
            for class in 0..classes {
                let range = queues.of_class(class as u8);
                assert_eq!(range.start, next);
                assert!(range.len() as u32 >= (count - 1) / classes);
                next = range.end;
            }
            assert_eq!(next, count);
        }
    }

    #[test]
    fn without_queues_every_flow_has_label_0() {
        let (mut queues, mut rng) = (Queues::new(0, 2), rng());
        assert_eq!(queues.assign(1, ANY, &mut rng), 0);
        queues.release(0);
        assert_eq!(queues.assign(0, ANY, &mut rng), 0);
    }
}
