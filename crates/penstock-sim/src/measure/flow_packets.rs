//! How many packets of each flow wait in front of one link, and at how many samples a flow had how many.
//!
//! A sample costs nothing here. Each flow remembers how many samples had passed when its number of
//! packets last changed. At the next change the flow adds the samples since then to the total of the old
//! number.
//!
//! The flows are in a hash table with open addressing and linear probing. A flow that leaves takes its
//! slot along: the flows behind it move up (Knuth, The Art of Computer Programming, vol. 3, sec. 6.4,
//! algorithm R). So nothing is left of a flow without packets.

use borsh::{BorshDeserialize, BorshSerialize};

/// The packets of one flow.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
struct Queued {
    flow: u32,
    /// 0 in a slot without a flow.
    packets: u32,
    /// How many samples had passed when `packets` changed.
    since: u64,
}

/// log2 of the slots of the smallest table (our choice: as many as fit a cache line).
const SMALLEST_LOG2: u32 = 2;

/// The packets of the flows in front of one link.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(super) struct FlowPackets {
    /// None before the first packet, then a power of two. At least half of them have no flow.
    slots: Vec<Queued>,
    /// The slot of a flow is its hash shifted right by so much, or one that follows.
    shift: u32,
    flows: u32,
    /// The element at `packets` counts the flows with so many packets, summed over the samples.
    totals: Vec<u64>,
}

impl FlowPackets {
    /// Flows with packets.
    pub(super) fn flows(&self) -> u32 {
        self.flows
    }

    /// A packet of the flow with hash `flow` comes, after `samples` samples. True when it is the flow's
    /// only packet.
    #[inline]
    pub(super) fn enter(&mut self, flow: u32, samples: u64) -> bool {
        if 2 * self.flows as usize >= self.slots.len() {
            self.grow();
        }
        let place = self.find(flow);
        let queued = &mut self.slots[place];
        if queued.packets == 0 {
            *queued = Queued { flow, packets: 1, since: samples };
            self.flows += 1;
            return true;
        }
        settle(&mut self.totals, queued, samples);
        queued.packets += 1;
        false
    }

    /// A packet of the flow with hash `flow` goes, after `samples` samples. True when it was the flow's
    /// only packet.
    ///
    /// # Panics
    /// When the flow has no packet.
    #[inline]
    pub(super) fn leave(&mut self, flow: u32, samples: u64) -> bool {
        let place = self.find(flow);
        let queued = &mut self.slots[place];
        assert!(queued.packets > 0, "a packet leaves after it entered");
        settle(&mut self.totals, queued, samples);
        queued.packets -= 1;
        if queued.packets > 0 {
            return false;
        }
        self.close_gap(place);
        self.flows -= 1;
        true
    }

    /// How many flows had so many packets, summed over the first `samples` samples: the pairs with at
    /// least one flow, by ascending number of packets.
    pub(super) fn totals(&self, samples: u64) -> impl Iterator<Item = (u32, u64)> {
        let mut totals = self.totals.clone();
        for mut queued in self.slots.iter().copied().filter(|queued| queued.packets > 0) {
            settle(&mut totals, &mut queued, samples);
        }
        (0u32..).zip(totals).filter(|&(_, flows)| flows > 0)
    }

    /// The slot of the flow with hash `flow`, or the empty slot for it.
    #[inline]
    fn find(&self, flow: u32) -> usize {
        let mask = self.slots.len() - 1;
        let mut place = (flow >> self.shift) as usize;
        loop {
            let queued = &self.slots[place];
            if queued.flow == flow || queued.packets == 0 {
                return place;
            }
            place = (place + 1) & mask;
        }
    }

    /// Empties the slot at `gap`, into which flows behind it move.
    fn close_gap(&mut self, mut gap: usize) {
        let mask = self.slots.len() - 1;
        let mut place = gap;
        loop {
            place = (place + 1) & mask;
            let queued = self.slots[place];
            if queued.packets == 0 {
                break;
            }
            let home = (queued.flow >> self.shift) as usize;
            if place.wrapping_sub(home) & mask >= place.wrapping_sub(gap) & mask {
                self.slots[gap] = queued;
                gap = place;
            }
        }
        self.slots[gap] = Queued::default();
    }

    /// Doubles the slots.
    #[cold]
    fn grow(&mut self) {
        let size = (2 * self.slots.len()).max(1 << SMALLEST_LOG2);
        let old = std::mem::replace(&mut self.slots, vec![Queued::default(); size]);
        self.shift = u32::BITS - size.ilog2();
        for queued in old.into_iter().filter(|queued| queued.packets > 0) {
            let place = self.find(queued.flow);
            self.slots[place] = queued;
        }
    }
}

/// Adds the samples since the last change of `queued`, up to sample number `samples`.
#[inline]
fn settle(totals: &mut Vec<u64>, queued: &mut Queued, samples: u64) {
    let passed = samples - queued.since;
    if passed == 0 {
        return;
    }
    queued.since = samples;
    let packets = queued.packets as usize;
    if totals.len() <= packets {
        totals.resize(packets + 1, 0);
    }
    totals[packets] += passed;
}
