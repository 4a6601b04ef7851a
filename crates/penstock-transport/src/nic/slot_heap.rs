//! A binary heap of flows by a key, smallest first. Any flow can be removed.
//!
//! Each flow's seat stores the flow's position in the heap, so removal takes logarithmic time. Flows
//! with equal keys leave in the order of their numbers, whatever the order of their insertion.

use alloc::vec::Vec;

use crate::sender::Sender;
use borsh::{BorshDeserialize, BorshSerialize};

/// Flows by key; a flow is in at most one heap.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct SlotHeap {
    /// Key, number of the flow, slot of the flow.
    entries: Vec<(u64, u32, u32)>,
}

impl SlotHeap {
    /// Makes room for `flows` flows, so that insertions up to that many allocate nothing.
    pub(crate) fn reserve(&mut self, flows: usize) {
        self.entries.reserve(flows.saturating_sub(self.entries.len()));
    }

    /// The smallest key and its flow.
    #[inline]
    pub(crate) fn first(&self) -> Option<(u64, u32)> {
        self.entries.first().map(|&(key, _, slot)| (key, slot))
    }

    pub(crate) fn insert(&mut self, key: u64, slot: u32, flows: &mut [Sender]) {
        self.entries.push((key, flows[slot as usize].seat.number, slot));
        self.rise(self.entries.len() - 1, flows);
    }

    pub(crate) fn remove(&mut self, slot: u32, flows: &mut [Sender]) {
        let index = flows[slot as usize].seat.heap_index as usize;
        debug_assert_eq!(self.entries[index].2, slot);
        self.entries.swap_remove(index);
        if index < self.entries.len() {
            let index = self.rise(index, flows);
            self.sink(index, flows);
        }
    }

    /// Gives a flow of the heap another key.
    pub(crate) fn change_key(&mut self, key: u64, slot: u32, flows: &mut [Sender]) {
        let index = flows[slot as usize].seat.heap_index as usize;
        debug_assert_eq!(self.entries[index].2, slot);
        self.entries[index].0 = key;
        let index = self.rise(index, flows);
        self.sink(index, flows);
    }

    /// Moves an entry towards the root until its parent is not larger; answers where it stops.
    fn rise(&mut self, mut index: usize, flows: &mut [Sender]) -> usize {
        let entry = self.entries[index];
        while index > 0 {
            let parent = (index - 1) / 2;
            if self.entries[parent] <= entry {
                break;
            }
            self.put(index, self.entries[parent], flows);
            index = parent;
        }
        self.put(index, entry, flows);
        index
    }

    /// Moves an entry away from the root until no child is smaller.
    fn sink(&mut self, mut index: usize, flows: &mut [Sender]) {
        let entry = self.entries[index];
        loop {
            let left = 2 * index + 1;
            let Some(children) = self.entries.get(left..) else {
                break;
            };
            let Some(&smaller) = children.iter().take(2).min() else {
                break;
            };
            if entry <= smaller {
                break;
            }
            let child = left + usize::from(children[0] != smaller);
            self.put(index, smaller, flows);
            index = child;
        }
        self.put(index, entry, flows);
    }

    fn put(&mut self, index: usize, entry: (u64, u32, u32), flows: &mut [Sender]) {
        self.entries[index] = entry;
        flows[entry.2 as usize].seat.heap_index = index as u32;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fixture;
    use crate::nic::seat::Seat;
    use penstock_units::Time;

    proptest! {
        #[test]
        fn flows_come_out_in_order_whatever_was_changed_or_removed(
            keys in prop::collection::vec(0u64..20, 1..60),
            removed in prop::collection::vec(any::<bool>(), 60),
            changed in prop::collection::vec(prop::option::of(0u64..20), 60),
        ) {
            let host = fixture::line_rate();
            let flow = |_| Sender::new(1, &host, &fixture::path(), Time::ZERO);
            let mut flows: Vec<_> = (0..keys.len()).map(flow).collect();
            // Numbers in the reverse order of the slots.
            let number = |slot: u32| 100 - slot;
            for slot in 0..keys.len() as u32 {
                flows[slot as usize].seat = Seat::new(0, u64::from(number(slot)));
            }
            let mut heap = SlotHeap::default();
            for (slot, &key) in (0u32..).zip(&keys) {
                heap.insert(key, slot, &mut flows);
            }
            let entry = |(slot, &key)| (key, number(slot), slot);
            let mut expected: Vec<_> = (0u32..).zip(&keys).map(entry).collect();
            for (slot, key) in (0u32..keys.len() as u32).zip(changed) {
                if let Some(key) = key {
                    heap.change_key(key, slot, &mut flows);
                    expected[slot as usize].0 = key;
                }
            }
            for slot in (0u32..keys.len() as u32).filter(|&slot| removed[slot as usize]) {
                heap.remove(slot, &mut flows);
                expected.retain(|entry| entry.2 != slot);
            }
            expected.sort_unstable();
            for (key, _, slot) in expected {
                prop_assert_eq!(heap.first(), Some((key, slot)));
                heap.remove(slot, &mut flows);
            }
            prop_assert_eq!(heap.first(), None);
        }
    }
}
