//! The store of AFQ's bids (N. K. Sharma et al., "Approximating Fair Queueing on Reconfigurable
//! Switches", NSDI 2018, sec. 3.2): the count-min sketch, and a perfect table to compare the sketch
//! with.
//!
//! A row of the sketch has a cell for each hash value, so a flow has one cell in each row. Reading a
//! flow's bid takes the smallest of the flow's cells. Writing a bid raises the flow's cells to the bid
//! (Fig. 3, `read_sketch` and `update_sketch`). Bids only grow. So a cell that no other flow has
//! touched is exact, and any other cell is too high, never too low.

use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};

use crate::parts::{reduce, salted};

/// Makes the rows' hashes differ, and spreads keys over slots: the golden ratio in 32 bits, as
/// multiplicative hashing uses it (Knuth, The Art of Computer Programming, vol. 3, sec. 6.4).
const SPREAD: u32 = 0x9e37_79b9;

/// Fewest slots of a table that has any (our choice: four cache lines).
const FEWEST_SLOTS: usize = 16;

/// A bid (bytes), of what `key` stands for; 0 in an empty slot.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
struct Bid {
    key: u32,
    bytes: u64,
}

/// The bids of one egress port. A bid that has *passed*, that is, does not exceed the byte at which the
/// current round begins, tells no more than no bid. Such bids are forgotten when the table is full, so it is
/// as large as what waits at the port. With a place of its own for each bid that may ever come, AFQ took 6.9
/// GB with 8,192 hosts.
///
/// The table has open addressing and linear probing (Knuth, The Art of Computer Programming, vol. 3, sec.
/// 6.4, algorithm L).
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
struct PortBids {
    /// None before the first bid, then a power of two. At least a quarter of them are empty.
    slots: Vec<Bid>,
    /// The slot of a key is its product with [`SPREAD`], shifted right by so much, or one that follows.
    shift: u32,
    /// Slots that are not empty.
    used: usize,
}

impl PortBids {
    /// The bid of `key` (bytes); 0 when there is none or it was forgotten.
    #[inline]
    fn read(&self, key: u32) -> u64 {
        if self.slots.is_empty() { 0 } else { self.slots[self.find(key)].bytes }
    }

    /// Raises the bid of `key` to `bytes`, which exceed `passed`. Bids up to `passed` may be forgotten.
    #[inline]
    fn raise(&mut self, key: u32, bytes: u64, passed: u64) {
        if 4 * self.used >= 3 * self.slots.len() {
            self.forget(passed);
        }
        let mask = self.slots.len() - 1;
        let (mut place, mut forgotten) = (self.home(key), None);
        loop {
            let bid = &self.slots[place];
            if bid.bytes == 0 {
                self.used += usize::from(forgotten.is_none());
                place = forgotten.unwrap_or(place);
                break;
            }
            if bid.key == key {
                break;
            }
            if bid.bytes <= passed && forgotten.is_none() {
                forgotten = Some(place);
            }
            place = (place + 1) & mask;
        }
        let bid = &mut self.slots[place];
        *bid = Bid { key, bytes: bytes.max(bid.bytes) };
    }

    #[inline]
    fn home(&self, key: u32) -> usize {
        (key.wrapping_mul(SPREAD) >> self.shift) as usize
    }

    /// The slot with the bid of `key`, or the empty slot for it.
    #[inline]
    fn find(&self, key: u32) -> usize {
        let mask = self.slots.len() - 1;
        let mut place = self.home(key);
        loop {
            let bid = &self.slots[place];
            if bid.key == key || bid.bytes == 0 {
                return place;
            }
            place = (place + 1) & mask;
        }
    }

    /// Forgets the bids up to `passed`. At least half of the slots are empty afterwards.
    #[cold]
    fn forget(&mut self, passed: u64) {
        let ahead: Vec<Bid> = self.slots.iter().filter(|bid| bid.bytes > passed).copied().collect();
        let size = (2 * ahead.len()).next_power_of_two().max(FEWEST_SLOTS);
        self.shift = u32::BITS - size.ilog2();
        self.used = ahead.len();
        self.slots.clear();
        self.slots.resize(size, Bid::default());
        for bid in ahead {
            let place = self.find(bid.key);
            self.slots[place] = bid;
        }
    }
}

/// The count-min sketches of a switch, one for each egress port.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Sketch {
    /// By port: the bids of cells. A cell's number counts the cells of all rows, one row after the other.
    ports: Vec<PortBids>,
    /// A salt per row, which makes the hashes of the rows differ.
    salts: Vec<u32>,
    columns: u32,
}

impl Sketch {
    pub(crate) fn new(ports: usize, rows: u32, columns: u32, salt: u32) -> Self {
        let row_salt = |row: u32| salt.wrapping_add(row.wrapping_mul(SPREAD));
        Sketch {
            ports: core::iter::repeat_with(PortBids::default).take(ports).collect(),
            salts: (0..rows).map(row_salt).collect(),
            columns,
        }
    }

    /// The numbers of the flow's cells.
    #[inline]
    fn cells(salts: &[u32], columns: u32, flow_hash: u32) -> impl Iterator<Item = u32> {
        let column = move |salt| reduce(salted(flow_hash, salt), columns);
        (0..).zip(salts).map(move |(row, &salt)| row * columns + column(salt))
    }

    /// The flow's last bid at a port, or a larger number (bytes); 0 when the bid was forgotten.
    #[inline]
    pub(crate) fn read(&self, egress: u16, flow_hash: u32) -> u64 {
        let bids = &self.ports[usize::from(egress)];
        let cells = Sketch::cells(&self.salts, self.columns, flow_hash);
        cells.map(|cell| bids.read(cell)).min().unwrap_or(0)
    }

    /// Raises the flow's cells to its bid (bytes). Bids up to `passed` may be forgotten.
    #[inline]
    pub(crate) fn raise(&mut self, egress: u16, flow_hash: u32, bid: u64, passed: u64) {
        let bids = &mut self.ports[usize::from(egress)];
        for cell in Sketch::cells(&self.salts, self.columns, flow_hash) {
            bids.raise(cell, bid, passed);
        }
    }
}

/// The bid of every flow at every egress port of a switch. No hardware has memory for this table.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct PerfectTable {
    ports: Vec<PortBids>,
}

impl PerfectTable {
    pub(crate) fn new(ports: usize) -> Self {
        PerfectTable { ports: core::iter::repeat_with(PortBids::default).take(ports).collect() }
    }

    /// The flow's last bid at a port (bytes); 0 when the flow has none or the bid was forgotten.
    #[inline]
    pub(crate) fn read(&self, egress: u16, flow_hash: u32) -> u64 {
        self.ports[usize::from(egress)].read(flow_hash)
    }

    /// Raises the flow's bid (bytes). Bids up to `passed` may be forgotten.
    #[inline]
    pub(crate) fn raise(&mut self, egress: u16, flow_hash: u32, bid: u64, passed: u64) {
        self.ports[usize::from(egress)].raise(flow_hash, bid, passed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    #[test]
    fn a_sketch_never_reads_too_little_and_its_ports_do_not_mix() {
        let mut sketch = Sketch::new(2, 2, 16, 7);
        for flow in 1..=64u32 {
            sketch.raise(1, flow.wrapping_mul(SPREAD), u64::from(flow) * 100, 0);
        }
        for flow in 1..=64u32 {
            assert!(sketch.read(1, flow.wrapping_mul(SPREAD)) >= u64::from(flow) * 100);
            assert_eq!(sketch.read(0, flow.wrapping_mul(SPREAD)), 0);
        }
    }

    #[test]
    fn a_second_row_tells_flows_apart_that_collide_in_the_first() {
        let mut wrong = [0, 0];
        for other in 2..=500u32 {
            for (rows, wrong) in (1..).zip(&mut wrong) {
                let mut sketch = Sketch::new(1, rows, 8, 7);
                sketch.raise(0, other.wrapping_mul(0x9e37_79b1), 1_000, 0);
                *wrong += u32::from(sketch.read(0, 0x9e37_79b1) > 0);
            }
        }
        // Of 499 flows an eighth collides in one row and a 64th in two rows: 62.4 and 7.8 flows. Four
        // standard deviations of the binomial draws are 29.5 and 11.1.
        assert!(wrong[0].abs_diff(62) <= 29 && wrong[1] <= 18, "{wrong:?}");
    }

    #[test]
    fn a_table_is_as_large_as_the_bids_that_have_not_passed() {
        let mut table = PerfectTable::new(2);
        assert_eq!(table.read(0, 1), 0);
        for flow in 1..100_000u32 {
            let bid = u64::from(flow);
            table.raise(0, flow, bid, bid.saturating_sub(8));
        }
        assert_eq!((table.ports[0].slots.len(), table.ports[1].slots.len()), (FEWEST_SLOTS, 0));
        for flow in 1..=1_000u32 {
            table.raise(1, flow, 1_000_000, 0);
        }
        assert_eq!(table.ports[1].slots.len(), 2_048);
    }

    proptest! {
        /// Rounds see the larger of a bid and the byte at which the round begins.
        #[test]
        fn rounds_see_what_they_see_of_a_table_that_forgets_nothing(
            raises in proptest::collection::vec((0u32..40, 1u64..100, 0u64..20), 1..400),
        ) {
            let (mut bids, mut all, mut passed) = (PortBids::default(), BTreeMap::new(), 0);
            for (key, beyond, later) in raises {
                passed += later;
                let bid = all.entry(key).or_insert(0u64);
                *bid = (*bid).max(passed + beyond);
                bids.raise(key, passed + beyond, passed);
                for key in 0..40 {
                    let exact = all.get(&key).copied().unwrap_or(0);
                    prop_assert_eq!(bids.read(key).max(passed), exact.max(passed));
                }
            }
        }
    }
}
