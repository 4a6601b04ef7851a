//! The flows of a run: one row for each flow, in the order in which flows finished, unfinished
//! flows last.

use penstock_units::Time;
use xxhash_rust::xxh3::Xxh3;

use super::table::{Column, Table};

/// The facts about a flow when it ends.
#[derive(Clone, Copy, Debug)]
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
}

/// All flows of a run, column by column.
#[derive(Clone, Debug, Default)]
pub struct FlowTable {
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

    /// Packets that were sent again, over all flows.
    pub fn retransmitted_packets(&self) -> u64 {
        self.retransmitted_packets.iter().map(|&packets| u64::from(packets)).sum()
    }

    /// The result digest, exact to the picosecond: equal flow records in equal order have equal
    /// digests.
    pub fn digest(&self) -> String {
        let mut hasher = Xxh3::new();
        let wide = [&self.flow, &self.size, &self.start, &self.completion, &self.delivered];
        let narrow = [&self.source, &self.destination, &self.label, &self.class];
        for column in wide {
            hash(&mut hasher, column, u64::to_le_bytes);
        }
        for column in narrow.into_iter().chain([&self.retransmitted_packets]) {
            hash(&mut hasher, column, u32::to_le_bytes);
        }
        format!("{:032x}", hasher.digest128())
    }

    /// The table.
    pub fn into_table(self) -> Table {
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

/// Hashes the `bytes` of all values of a column, 1 kB at a time.
fn hash<T: Copy, const N: usize>(hasher: &mut Xxh3, column: &[T], bytes: impl Fn(T) -> [u8; N]) {
    let mut block = [0; 1024];
    for values in column.chunks(block.len() / N) {
        for (place, &value) in block.chunks_exact_mut(N).zip(values) {
            place.copy_from_slice(&bytes(value));
        }
        hasher.update(&block[..values.len() * N]);
    }
}

#[cfg(test)]
#[path = "flows_tests.rs"]
mod tests;
