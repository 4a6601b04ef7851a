//! Why flows started that wait for others: one row for each such flow that has started.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;

use super::table::{Column, Table};
use crate::workload::dependent::Step;

/// The dependent flows that have started.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct DependentTable {
    start: Vec<u64>,
    flow: Vec<u64>,
    released_by: Vec<u64>,
    iteration: Vec<u32>,
    step: Vec<u32>,
    rank: Vec<u32>,
}

/// A dependent flow that starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DependentRecord {
    /// When it starts.
    pub time: Time,
    /// Its number.
    pub flow: u64,
    /// The flow whose event it waited for last.
    pub released_by: u64,
    /// Where it stands in its pattern.
    pub step: Step,
}

impl DependentTable {
    /// Adds a row.
    pub(crate) fn push(&mut self, record: &DependentRecord) {
        self.start.push(record.time.as_ps());
        self.flow.push(record.flow);
        self.released_by.push(record.released_by);
        self.iteration.push(record.step.iteration);
        self.step.push(record.step.step);
        self.rank.push(record.step.rank);
    }

    /// How many rows nobody has taken out.
    pub fn rows(&self) -> usize {
        self.start.len()
    }

    /// Takes out all rows.
    pub fn take(&mut self) -> Table {
        let taken = std::mem::take(self);
        let columns = vec![
            ("start_ps", Column::U64(taken.start)),
            ("flow", Column::U64(taken.flow)),
            ("released_by", Column::U64(taken.released_by)),
            ("iteration", Column::U32(taken.iteration)),
            ("step", Column::U32(taken.step)),
            ("rank", Column::U32(taken.rank)),
        ];
        Table { name: "dependents", columns }
    }
}
