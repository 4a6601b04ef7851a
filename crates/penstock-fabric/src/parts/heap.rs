//! A binary heap of small numbers by key, in which any number can be moved or removed.

use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};

const ABSENT: u32 = u32::MAX;

/// The numbers `0..` with a key each, the smallest (key, number) first.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct IndexedHeap {
    /// (key, number) in heap order.
    entries: Vec<(u64, u32)>,
    /// Index of each number in `entries`.
    places: Vec<u32>,
}

impl IndexedHeap {
    /// The number with the smallest key.
    #[inline]
    pub fn first(&self) -> Option<(u64, u32)> {
        self.entries.first().copied()
    }

    /// Count of numbers in the heap.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the heap is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Inserts `number` with `key`, or changes its key.
    pub fn set(&mut self, number: u32, key: u64) {
        if self.places.len() <= number as usize {
            self.places.resize(number as usize + 1, ABSENT);
        }
        let place = self.places[number as usize];
        if place == ABSENT {
            self.entries.push((key, number));
            self.rise(self.entries.len() - 1);
        } else {
            self.entries[place as usize].0 = key;
            self.settle(place as usize);
        }
    }

    /// Removes `number`, if it is in the heap.
    pub fn remove(&mut self, number: u32) {
        let place = self.places.get(number as usize).copied().unwrap_or(ABSENT);
        if place == ABSENT {
            return;
        }
        self.places[number as usize] = ABSENT;
        let last = self.entries.pop().expect("an entry for every place");
        if (place as usize) < self.entries.len() {
            self.entries[place as usize] = last;
            self.settle(place as usize);
        }
    }

    fn settle(&mut self, place: usize) {
        let risen = self.rise(place);
        self.sink(risen);
    }

    fn rise(&mut self, mut place: usize) -> usize {
        let entry = self.entries[place];
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.entries[parent] <= entry {
                break;
            }
            self.entries[place] = self.entries[parent];
            self.places[self.entries[place].1 as usize] = place as u32;
            place = parent;
        }
        self.entries[place] = entry;
        self.places[entry.1 as usize] = place as u32;
        place
    }

    fn sink(&mut self, mut place: usize) {
        let entry = self.entries[place];
        loop {
            let mut child = 2 * place + 1;
            if child >= self.entries.len() {
                break;
            }
            if child + 1 < self.entries.len() && self.entries[child + 1] < self.entries[child] {
                child += 1;
            }
            if entry <= self.entries[child] {
                break;
            }
            self.entries[place] = self.entries[child];
            self.places[self.entries[place].1 as usize] = place as u32;
            place = child;
        }
        self.entries[place] = entry;
        self.places[entry.1 as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_map(
            steps in proptest::collection::vec((0u32..20, proptest::option::of(0u64..50)), 0..200),
        ) {
            let mut heap = IndexedHeap::default();
            let mut model = BTreeMap::new();
            for (number, key) in steps {
                match key {
                    Some(key) => {
                        heap.set(number, key);
                        model.insert(number, key);
                    }
                    None => {
                        heap.remove(number);
                        model.remove(&number);
                    }
                }
                let first = model.iter().map(|(&number, &key)| (key, number)).min();
                prop_assert_eq!(heap.first(), first);
                prop_assert_eq!(heap.len(), model.len());
            }
        }
    }
}
