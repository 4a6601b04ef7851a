//! All-to-all: every rank sends a part of its buffer to every other rank, first to the next rank.
//!
//! A rank sends to some others at a time: a message waits for the acknowledgement of the one that is so many
//! places before it. A rank has its result when it has received all messages and its own last ones are
//! acknowledged.
//!
//! A flow of an iteration has the number sending rank * (ranks - 1) + place, and goes to the rank that is
//! place + 1 further.

use super::{Algorithm, Event, Group};

/// The messages of each pair.
#[derive(Clone, Debug)]
pub(super) struct AllToAll {
    /// To how many others a rank sends at a time.
    peers: u64,
}

impl AllToAll {
    pub(super) fn new(group: &Group, peers: u32) -> Self {
        AllToAll { peers: u64::from(peers).min(group.ranks() - 1) }
    }
}

impl Algorithm for AllToAll {
    fn flows(&self, group: &Group) -> u64 {
        group.ranks() * (group.ranks() - 1)
    }

    fn message(&self, group: &Group, flow: u64) -> (u64, u64, u64, u32) {
        let ranks = group.ranks();
        let (rank, place) = (flow / (ranks - 1), flow % (ranks - 1));
        let to = (rank + place + 1) % ranks;
        let bytes = group.offset(to + 1, ranks) - group.offset(to, ranks);
        (rank, to, bytes, place as u32)
    }

    fn first(&self, group: &Group, each: &mut dyn FnMut(u64)) {
        (0..group.ranks()).for_each(|rank| each(rank * (group.ranks() - 1)));
    }

    fn group(&self, group: &Group, flow: u64) -> u64 {
        if flow.is_multiple_of(group.ranks() - 1) { self.peers } else { 1 }
    }

    fn waits(&self, group: &Group, flow: u64) -> (u64, u64) {
        match flow % (group.ranks() - 1) {
            0 => (0, group.ranks() - 1 + self.peers),
            _ => (1, 0),
        }
    }

    fn dependents(&self, group: &Group, flow: u64, event: Event, each: &mut dyn FnMut(u64, bool)) {
        let others = group.ranks() - 1;
        let (rank, to, _, place) = self.message(group, flow);
        match event {
            Event::Received => each(to * others, true),
            Event::Acknowledged if u64::from(place) + self.peers < others => {
                each(flow + self.peers, false);
            }
            Event::Acknowledged => each(rank * others, true),
            Event::Started => {}
        }
    }
}
