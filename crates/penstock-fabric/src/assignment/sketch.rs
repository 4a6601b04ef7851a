//! The store of AFQ's bids (N. K. Sharma et al., "Approximating Fair Queueing on Reconfigurable
//! Switches", NSDI 2018, sec. 3.2): the count-min sketch, and a perfect table to compare the sketch
//! with.
//!
//! A row of the sketch has a cell for each hash value, so a flow has one cell in each row. Reading a
//! flow's bid takes the smallest of the flow's cells. Writing a bid raises the flow's cells to the bid
//! (Fig. 3, `read_sketch` and `update_sketch`). Bids only grow. So a cell that no other flow has
//! touched is exact, and any other cell is too high, never too low.

use alloc::vec;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use hashbrown::HashMap;

use crate::parts::{MixedKeys, reduce, salted};

/// Makes the rows' hashes differ: the golden ratio in 32 bits, as multiplicative hashing uses it
/// (Knuth, The Art of Computer Programming, vol. 3, sec. 6.4).
const ROW_SALT: u32 = 0x9e37_79b9;

/// Smallest number of flows at which a table is searched for flows to forget.
const PRUNED_MIN: usize = 1_024;

/// The count-min sketches of a switch, one for each egress port.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Sketch {
    /// Bids by port, row and column (bytes).
    cells: Vec<u64>,
    /// A salt per row, which makes the hashes of the rows differ.
    salts: Vec<u32>,
    columns: u32,
}

impl Sketch {
    pub(crate) fn new(ports: usize, rows: u32, columns: u32, salt: u32) -> Self {
        let row_salt = |row: u32| salt.wrapping_add(row.wrapping_mul(ROW_SALT));
        Sketch {
            cells: vec![0; ports * rows as usize * columns as usize],
            salts: (0..rows).map(row_salt).collect(),
            columns,
        }
    }

    /// Index of the flow's cell in `row` at a port.
    #[inline]
    fn place(&self, egress: u16, row: usize, flow_hash: u32) -> usize {
        let row_of_all = usize::from(egress) * self.salts.len() + row;
        let column = reduce(salted(flow_hash, self.salts[row]), self.columns);
        row_of_all * self.columns as usize + column as usize
    }

    /// The flow's last bid at a port, or a larger number (bytes).
    #[inline]
    pub(crate) fn read(&self, egress: u16, flow_hash: u32) -> u64 {
        let cell = |row| self.cells[self.place(egress, row, flow_hash)];
        (0..self.salts.len()).map(cell).min().unwrap_or(0)
    }

    /// Raises the flow's cells to its bid (bytes).
    #[inline]
    pub(crate) fn raise(&mut self, egress: u16, flow_hash: u32, bid: u64) {
        for row in 0..self.salts.len() {
            let place = self.place(egress, row, flow_hash);
            let cell = &mut self.cells[place];
            *cell = (*cell).max(bid);
        }
    }
}

/// The bids of one egress port.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
struct PortBids {
    #[borsh(
        serialize_with = "penstock_units::state::save_members",
        deserialize_with = "penstock_units::state::read_members"
    )]
    bids: HashMap<u32, u64, MixedKeys>,
    /// At this number of flows, flows whose bids have passed are forgotten.
    prune_at: usize,
}

/// The bid of every flow at every egress port of a switch. No hardware has memory for this table.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct PerfectTable {
    ports: Vec<PortBids>,
}

impl PerfectTable {
    pub(crate) fn new(ports: usize) -> Self {
        let port = || PortBids { bids: HashMap::default(), prune_at: PRUNED_MIN };
        PerfectTable { ports: core::iter::repeat_with(port).take(ports).collect() }
    }

    /// The flow's last bid at a port (bytes); 0 when the flow has none or was forgotten.
    #[inline]
    pub(crate) fn read(&self, egress: u16, flow_hash: u32) -> u64 {
        self.ports[usize::from(egress)].bids.get(&flow_hash).copied().unwrap_or(0)
    }

    /// Sets the flow's bid (bytes). Bids up to `passed` may be forgotten.
    #[inline]
    pub(crate) fn set(&mut self, egress: u16, flow_hash: u32, bid: u64, passed: u64) {
        let port = &mut self.ports[usize::from(egress)];
        if port.bids.len() >= port.prune_at {
            port.bids.retain(|_, bid| *bid > passed);
            port.prune_at = (2 * port.bids.len()).max(PRUNED_MIN);
        }
        port.bids.insert(flow_hash, bid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sketch_never_reads_too_little_and_its_ports_do_not_mix() {
        let mut sketch = Sketch::new(2, 2, 16, 7);
        for flow in 0..64u32 {
            sketch.raise(1, flow.wrapping_mul(ROW_SALT), u64::from(flow) * 100);
        }
        for flow in 0..64u32 {
            assert!(sketch.read(1, flow.wrapping_mul(ROW_SALT)) >= u64::from(flow) * 100);
            assert_eq!(sketch.read(0, flow.wrapping_mul(ROW_SALT)), 0);
        }
    }

    #[test]
    fn a_second_row_tells_flows_apart_that_collide_in_the_first() {
        let (one, two) = (Sketch::new(1, 1, 8, 7), Sketch::new(1, 2, 8, 7));
        let mut wrong = [0, 0];
        for other in 2..=500u32 {
            for (number, empty) in [&one, &two].into_iter().enumerate() {
                let mut sketch =
                    Sketch { cells: empty.cells.clone(), salts: empty.salts.clone(), ..*empty };
                sketch.raise(0, other.wrapping_mul(0x9e37_79b1), 1_000);
                wrong[number] += u32::from(sketch.read(0, 0x9e37_79b1) > 0);
            }
        }
        // Of 499 flows an eighth collides in one row and a 64th in two rows: 62.4 and 7.8 flows. Four
        // standard deviations of the binomial draws are 29.5 and 11.1.
        assert!(wrong[0].abs_diff(62) <= 29 && wrong[1] <= 18, "{wrong:?}");
    }

    #[test]
    fn a_perfect_table_forgets_bids_that_have_passed() {
        let mut table = PerfectTable::new(1);
        for flow in 0..PRUNED_MIN as u32 {
            table.set(0, flow, 100 + u64::from(flow % 2), 0);
        }
        table.set(0, 9_999, 300, 100);
        assert_eq!(table.ports[0].bids.len(), PRUNED_MIN / 2 + 1);
        assert_eq!((table.read(0, 1), table.read(0, 2), table.read(0, 9_999)), (101, 0, 300));
    }
}
