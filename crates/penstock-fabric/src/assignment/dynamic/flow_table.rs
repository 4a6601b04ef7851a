//! The flow table of BFC's dynamic assignment, for all ports of a switch.
//!
//! In hardware each port has thousands of entries, whether flows use them or not. Here an entry takes
//! memory only while it matters. An entry without packets matters for as long as a flow keeps its queue
//! (BFC sec. 3.3.2, sticky assignment); afterwards it is like an entry that no flow has used.

use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;

/// An entry of the flow table. Queue 0, the control queue, stands for "never assigned".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(super) struct FlowEntry {
    /// When a packet of the entry was last put into its queue or left it.
    pub touched: Time,
    /// Packets of the entry that are queued.
    pub size: u32,
    /// The queue of the entry's flow.
    pub queue: u16,
}

/// A place that holds nothing.
const FREE: u32 = u32::MAX;

/// How many entries the first memory holds, a power of two (our choice: what a port of a quiet switch
/// needs).
const FIRST_PLACES: usize = 64;

/// Entries by number, in a table with open addressing. Entries are removed only when the table is built
/// anew, which happens when half of its places are taken.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub(super) struct FlowTable {
    /// The number and the entry at each place; a power of two of places.
    places: Vec<(u32, FlowEntry)>,
    taken: usize,
    /// An entry without packets matters for so long.
    sticky: Time,
}

impl FlowTable {
    /// A table without entries, in which an entry matters for `sticky` after its last packet.
    pub(super) fn new(sticky: Time) -> Self {
        FlowTable { sticky, ..FlowTable::default() }
    }

    /// The place of entry `number`, or the free place at which it would be put. There must be places.
    #[inline]
    fn place(&self, number: u32) -> usize {
        let mask = self.places.len() - 1;
        let mut place = (number.wrapping_mul(0x9e37_79b1) >> 7) as usize & mask; // 2^32 / golden ratio
        while self.places[place].0 != number && self.places[place].0 != FREE {
            place = (place + 1) & mask;
        }
        place
    }

    /// The place of entry `number`, which is below 2^32 - 1, at `now`. An entry that matters no more is as
    /// good as new. The place is that of the entry until the next call.
    #[inline]
    pub(super) fn place_of(&mut self, now: Time, number: u32) -> usize {
        if 2 * self.taken >= self.places.len() {
            self.rebuild(now);
        }
        let place = self.place(number);
        if self.places[place].0 == FREE {
            self.places[place].0 = number;
            self.taken += 1;
        }
        place
    }

    /// The entry at `place`.
    #[inline]
    pub(super) fn at(&mut self, place: usize) -> &mut FlowEntry {
        &mut self.places[place].1
    }

    /// Entry `number`, which has packets.
    #[inline]
    pub(super) fn entry_in_use(&mut self, number: u32) -> &mut FlowEntry {
        let place = self.place(number);
        debug_assert!(self.places[place].0 == number, "entry {number} has packets");
        &mut self.places[place].1
    }

    /// Whether `entry` has no packets, and its flow has lost its queue.
    #[inline]
    pub(super) fn is_stale(&self, now: Time, entry: FlowEntry) -> bool {
        entry.size == 0 && now.saturating_sub(entry.touched) > self.sticky
    }

    /// Leaves out the entries that matter no more, and makes room for more.
    #[cold]
    fn rebuild(&mut self, now: Time) {
        let kept: Vec<(u32, FlowEntry)> =
            self.entries().filter(|&(_, entry)| !self.is_stale(now, entry)).collect();
        let room = (4 * kept.len()).next_power_of_two().max(FIRST_PLACES);
        self.places.clear();
        self.places.resize(room, (FREE, FlowEntry::default()));
        self.places.shrink_to(2 * room);
        self.taken = kept.len();
        for (number, entry) in kept {
            let place = self.place(number);
            self.places[place] = (number, entry);
        }
    }

    /// All entries with their numbers, in no order.
    pub(super) fn entries(&self) -> impl Iterator<Item = (u32, FlowEntry)> {
        self.places.iter().copied().filter(|(number, _)| *number != FREE)
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Beside a table in which every entry stays for ever.
        #[test]
        fn entries_are_those_of_a_table_that_forgets_nothing(
            steps in prop::collection::vec((0u32..400, 0u64..40, any::<bool>()), 1..2_000),
        ) {
            let sticky = Time::from_ns(100);
            let mut table = FlowTable::new(sticky);
            let mut model: BTreeMap<u32, FlowEntry> = BTreeMap::new();
            let mut now = Time::ZERO;
            for (number, wait, arrives) in steps {
                now += Time::from_ns(wait);
                let expected = model.entry(number).or_default();
                if arrives {
                    let is_new = |entry: FlowEntry, table: &FlowTable| {
                        entry.queue == 0 || table.is_stale(now, entry)
                    };
                    let place = table.place_of(now, number);
                    let found = *table.at(place);
                    prop_assert_eq!(is_new(found, &table), is_new(*expected, &table));
                    if !is_new(found, &table) {
                        prop_assert_eq!(found, *expected);
                    }
                    *expected = FlowEntry { touched: now, size: expected.size + 1, queue: 1 + wait as u16 };
                    *table.at(place) = *expected;
                } else if expected.size > 0 {
                    for entry in [expected, table.entry_in_use(number)] {
                        entry.size -= 1;
                        entry.touched = now;
                    }
                }
            }
        }
    }

    #[test]
    fn entries_that_matter_no_more_take_no_memory() {
        let mut table = FlowTable::new(Time::from_ns(10));
        for number in 0..100_000u32 {
            let now = Time::from_ns(u64::from(number));
            let place = table.place_of(now, number);
            *table.at(place) = FlowEntry { touched: now, size: 0, queue: 1 };
        }
        assert!(table.places.len() <= 64, "{}", table.places.len());
    }
}
