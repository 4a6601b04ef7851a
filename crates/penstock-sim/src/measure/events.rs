//! Pauses, resumes and drops, one row each, when the scenario asks for them.

use penstock_packet::PacketEvent;
use penstock_units::Time;

use super::table::{Column, Table};

/// The events of a run.
#[derive(Clone, Debug, Default)]
pub struct EventTable {
    time: Vec<u64>,
    node: Vec<u32>,
    link: Vec<u32>,
    event: Vec<u32>,
    queue: Vec<u32>,
    bytes: Vec<u64>,
}

/// One event.
#[derive(Clone, Copy, Debug)]
pub struct EventRecord {
    /// When.
    pub time: Time,
    /// Node at which it happened.
    pub node: u32,
    /// The link it is about: that of the frame for signals, the egress for drops.
    pub link: u32,
    /// What.
    pub event: PacketEvent,
    /// Queue or class that is paused or resumed; 0 for drops and bitmaps.
    pub queue: u16,
    /// Data bytes stored at the node; 0 at a host, which stores none.
    pub bytes: u64,
}

impl EventTable {
    /// Adds a row.
    pub fn push(&mut self, record: EventRecord) {
        self.time.push(record.time.as_ps());
        self.node.push(record.node);
        self.link.push(record.link);
        self.event.push(record.event as u32);
        self.queue.push(u32::from(record.queue));
        self.bytes.push(record.bytes);
    }

    /// The table.
    pub fn into_table(self) -> Table {
        let columns = vec![
            ("time_ps", Column::U64(self.time)),
            ("node", Column::U32(self.node)),
            ("link", Column::U32(self.link)),
            ("event", Column::U32(self.event)),
            ("queue", Column::U32(self.queue)),
            ("bytes", Column::U64(self.bytes)),
        ];
        Table { name: "events", columns }
    }
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
