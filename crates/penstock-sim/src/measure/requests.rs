//! Requests that were answered: one row each, and the distribution of latencies.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;

use super::histogram::LogHistogram;
use super::table::{Column, Table};

/// The requests that were answered.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct RequestTable {
    end: Vec<u64>,
    flow: Vec<u64>,
    label: Vec<u32>,
    client: Vec<u32>,
    slot: Vec<u32>,
    number: Vec<u32>,
    start: Vec<u64>,
    fan_out: Vec<u32>,
    slowest: Vec<u64>,
    /// By traffic entry: latencies (ps).
    pub(crate) latencies: Vec<LogHistogram>,
}

/// A request that was answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestRecord {
    /// Number of its first flow.
    pub flow: u64,
    /// Index of its traffic entry.
    pub label: u16,
    /// The host that asked.
    pub client: u32,
    /// The slot of the entry, from 0; each client has as many as requests at a time.
    pub slot: u32,
    /// Requests of the slot before this one.
    pub number: u32,
    /// When the client asked.
    pub start: Time,
    /// When the client had the last answer.
    pub end: Time,
    /// Servers.
    pub fan_out: u32,
    /// The answer that came last.
    pub slowest: u64,
}

impl RequestTable {
    /// No requests yet of `entries` traffic entries.
    pub(crate) fn new(entries: usize) -> Self {
        RequestTable { latencies: vec![LogHistogram::default(); entries], ..Self::default() }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, record: &RequestRecord) {
        self.end.push(record.end.as_ps());
        self.flow.push(record.flow);
        self.label.push(record.label.into());
        self.client.push(record.client);
        self.slot.push(record.slot);
        self.number.push(record.number);
        self.start.push(record.start.as_ps());
        self.fan_out.push(record.fan_out);
        self.slowest.push(record.slowest);
        self.latencies[usize::from(record.label)].record((record.end - record.start).as_ps());
    }

    /// How many rows nobody has taken out.
    pub fn rows(&self) -> usize {
        self.end.len()
    }

    /// Takes out all rows. The latencies stay.
    pub fn take(&mut self) -> Table {
        let kept = RequestTable { latencies: self.latencies.clone(), ..Self::default() };
        let taken = std::mem::replace(self, kept);
        let times = taken.start.iter().zip(&taken.end);
        let latency = times.map(|(start, end)| end - start).collect();
        let columns = vec![
            ("end_ps", Column::U64(taken.end)),
            ("flow", Column::U64(taken.flow)),
            ("label", Column::U32(taken.label)),
            ("client", Column::U32(taken.client)),
            ("slot", Column::U32(taken.slot)),
            ("request", Column::U32(taken.number)),
            ("start_ps", Column::U64(taken.start)),
            ("latency_ps", Column::U64(latency)),
            ("fan_out", Column::U32(taken.fan_out)),
            ("slowest_flow", Column::U64(taken.slowest)),
        ];
        Table { name: "requests", columns }
    }
}
