//! Algorithms in steps: in each step every rank sends one message and receives one.
//!
//! A flow of an iteration has the number (step * ranks + sending rank) * chunks + chunk.

use super::{Algorithm, Event, Group};

/// The algorithms on a ring, and recursive halving and doubling.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    ranks: u64,
    steps: u64,
    /// A rank has its result when it has received the messages of this step and of all later ones.
    result: u64,
    is_ring: bool,
}

impl Steps {
    /// Reduce-scatter on a ring, then all-gather.
    pub(super) fn ring_all_reduce(group: &Group) -> Self {
        let ranks = group.ranks();
        Steps { ranks, steps: 2 * (ranks - 1), result: ranks - 2, is_ring: true }
    }

    /// A part of the buffer comes to each rank by n - 1 messages, the last of which completes it.
    pub(super) fn reduce_scatter(group: &Group) -> Self {
        let ranks = group.ranks();
        Steps { ranks, steps: ranks - 1, result: ranks - 2, is_ring: true }
    }

    /// Every part goes round.
    pub(super) fn all_gather(group: &Group) -> Self {
        let ranks = group.ranks();
        Steps { ranks, steps: ranks - 1, result: 0, is_ring: true }
    }

    /// Recursive halving with the farthest rank first, then doubling.
    pub(super) fn halving_doubling(group: &Group) -> Self {
        let ranks = group.ranks();
        Steps { ranks, steps: 2 * u64::from(ranks.ilog2()), result: 0, is_ring: false }
    }

    /// Halving and doubling: the distance to the partner of `step`, which is also the number of the n parts
    /// of the buffer that the two exchange.
    fn distance(&self, step: u64) -> u64 {
        let halving = step.min(self.steps - 1 - step);
        self.ranks >> (halving + 1)
    }

    /// To whom `rank` sends in `step`.
    fn peer(&self, step: u64, rank: u64) -> u64 {
        if self.is_ring { (rank + 1) % self.ranks } else { rank ^ self.distance(step) }
    }

    /// The bytes that `rank` sends in `step`.
    fn bytes(&self, group: &Group, step: u64, rank: u64) -> u64 {
        let (first, parts) = if self.is_ring {
            ((rank + 2 * self.ranks - step) % self.ranks, 1)
        } else {
            // Halving: the half that the partner keeps. Doubling: all that the rank has.
            let distance = self.distance(step);
            let of = if step < self.steps / 2 { rank ^ distance } else { rank };
            (of / distance * distance, distance)
        };
        group.offset(first + parts, self.ranks) - group.offset(first, self.ranks)
    }

    fn split(&self, group: &Group, flow: u64) -> [u64; 3] {
        let message = flow / group.chunks;
        [message / self.ranks, message % self.ranks, flow % group.chunks]
    }

    fn join(&self, group: &Group, [step, rank, chunk]: [u64; 3]) -> u64 {
        (step * self.ranks + rank) * group.chunks + chunk
    }
}

impl Algorithm for Steps {
    fn flows(&self, group: &Group) -> u64 {
        self.steps * self.ranks * group.chunks
    }

    fn message(&self, group: &Group, flow: u64) -> (u64, u64, u64, u32) {
        let [step, rank, chunk] = self.split(group, flow);
        let bytes = group.chunk(self.bytes(group, step, rank), chunk);
        (rank, self.peer(step, rank), bytes, step as u32)
    }

    fn first(&self, group: &Group, each: &mut dyn FnMut(u64)) {
        (0..self.ranks).for_each(|rank| each(self.join(group, [0, rank, 0])));
    }

    fn group(&self, group: &Group, flow: u64) -> u64 {
        if flow < self.ranks * group.chunks { group.chunks } else { 1 }
    }

    fn waits(&self, group: &Group, flow: u64) -> (u64, u64) {
        let [step, ..] = self.split(group, flow);
        if step > 0 { (2, 0) } else { (0, (self.steps - self.result) * group.chunks) }
    }

    fn dependents(&self, group: &Group, flow: u64, event: Event, each: &mut dyn FnMut(u64, bool)) {
        let [step, rank, chunk] = self.split(group, flow);
        // A rank takes a step when it has begun the one before and received a message in that step. So it has
        // also received all earlier ones, and has ended its iteration before.
        let next = match event {
            Event::Started => rank,
            Event::Received => self.peer(step, rank),
            Event::Acknowledged => return,
        };
        if step + 1 < self.steps {
            each(self.join(group, [step + 1, next, chunk]), false);
        }
        if event == Event::Received && step >= self.result {
            each(self.join(group, [0, next, 0]), true);
        }
    }
}
