//! The flows of a run: one row for each flow, in the order in which flows finished, unfinished
//! flows last.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;

use super::table::{Column, Table};

/// The facts about a flow when it ends.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct FlowRecord {
    /// Number in order of arrival.
    pub flow: u64,
    /// Sending host.
    pub source: u32,
    /// Receiving host.
    pub destination: u32,
    /// Bytes to send; 0 for an endless flow.
    pub size: u64,
    /// When the flow arrived.
    pub start: Time,
    /// From the start to the last acknowledgement at the sender; none while unfinished.
    pub completion: Option<Time>,
    /// The completion time of the same flow alone on its path.
    pub ideal: Time,
    /// Index of the traffic entry.
    pub label: u16,
    /// Priority class.
    pub class: u8,
    /// Payload bytes that the receiver has.
    pub delivered: u64,
    /// Packets of the flow that were sent again.
    pub retransmitted_packets: u32,
}

impl FlowRecord {
    /// By what finished flows are sorted: when they finished, and their numbers.
    pub fn order(&self) -> (Time, u64) {
        (self.start + self.completion.unwrap_or(Time::ZERO), self.flow)
    }

    /// The digest of rows of which this is the last, and `digest` that of those before it.
    fn chained(&self, digest: u128) -> u128 {
        let completion = self.completion.map_or(u64::MAX, Time::as_ps);
        let wide = [self.flow, self.size, self.start.as_ps(), completion, self.delivered];
        let (label, class) = (u32::from(self.label), u32::from(self.class));
        let narrow = [self.source, self.destination, label, class, self.retransmitted_packets];
        let mut row = [0; 16 + 5 * 8 + 5 * 4];
        row[..16].copy_from_slice(&digest.to_le_bytes());
        for (place, value) in row[16..56].chunks_exact_mut(8).zip(wide) {
            place.copy_from_slice(&value.to_le_bytes());
        }
        for (place, value) in row[56..].chunks_exact_mut(4).zip(narrow) {
            place.copy_from_slice(&value.to_le_bytes());
        }
        xxhash_rust::xxh3::xxh3_128(&row)
    }
}

/// The flows of a run that have ended, column by column, except those that were taken out.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct FlowTable {
    /// The digest of all rows so far; 0 before the first.
    digest: u128,
    /// Packets that were sent again, over all rows so far.
    resent: u64,
    flow: Vec<u64>,
    source: Vec<u32>,
    destination: Vec<u32>,
    size: Vec<u64>,
    start: Vec<u64>,
    completion: Vec<u64>,
    ideal: Vec<u64>,
    label: Vec<u32>,
    class: Vec<u32>,
    delivered: Vec<u64>,
    retransmitted_packets: Vec<u32>,
}

impl FlowTable {
    /// Adds a row.
    pub fn push(&mut self, record: &FlowRecord) {
        self.digest = record.chained(self.digest);
        self.resent += u64::from(record.retransmitted_packets);
        self.flow.push(record.flow);
        self.source.push(record.source);
        self.destination.push(record.destination);
        self.size.push(record.size);
        self.start.push(record.start.as_ps());
        self.completion.push(record.completion.map_or(u64::MAX, Time::as_ps));
        self.ideal.push(record.ideal.as_ps());
        self.label.push(u32::from(record.label));
        self.class.push(u32::from(record.class));
        self.delivered.push(record.delivered);
        self.retransmitted_packets.push(record.retransmitted_packets);
    }

    /// Packets that were sent again, over all flows that have ended.
    pub fn retransmitted_packets(&self) -> u64 {
        self.resent
    }

    /// How many rows nobody has taken out.
    pub fn rows(&self) -> usize {
        self.flow.len()
    }

    /// Takes out all rows. The digest and the count of packets that were sent again keep them.
    pub fn take(&mut self) -> Table {
        let (digest, resent) = (self.digest, self.resent);
        std::mem::replace(self, FlowTable { digest, resent, ..FlowTable::default() }).into_table()
    }

    /// The result digest, exact to the picosecond: equal flow records in equal order have equal
    /// digests.
    pub fn digest(&self) -> String {
        format!("{:032x}", self.digest)
    }

    fn into_table(self) -> Table {
        let ns = |column: &[u64]| -> Vec<f64> {
            column
                .iter()
                .map(|&ps| if ps == u64::MAX { f64::NAN } else { ps as f64 / 1e3 })
                .collect()
        };
        let slowdown = self.completion.iter().zip(&self.ideal).map(|(&fct, &ideal)| match fct {
            u64::MAX => f64::NAN,
            _ => fct as f64 / ideal as f64,
        });
        let columns = vec![
            ("slowdown", Column::F64(slowdown.collect())),
            ("start_ns", Column::F64(ns(&self.start))),
            ("fct_ns", Column::F64(ns(&self.completion))),
            ("ideal_fct_ns", Column::F64(ns(&self.ideal))),
            ("finished", Column::Bool(self.completion.iter().map(|&f| f != u64::MAX).collect())),
            ("flow", Column::U64(self.flow)),
            ("src", Column::U32(self.source)),
            ("dst", Column::U32(self.destination)),
            ("size_bytes", Column::U64(self.size)),
            ("label", Column::U32(self.label)),
            ("class", Column::U32(self.class)),
            ("delivered_bytes", Column::U64(self.delivered)),
            ("retransmitted_packets", Column::U32(self.retransmitted_packets)),
        ];
        Table { name: "flows", columns }
    }
}

#[cfg(test)]
#[path = "flows_tests.rs"]
mod tests;
