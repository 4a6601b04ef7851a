//! Events of a run: one row for each pause, resume and drop, when the scenario asks for events.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::PacketEvent;
use penstock_units::Time;

use super::table::{Column, Table};

/// The events of a run.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
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
    /// Time of the event.
    pub time: Time,
    /// Node of the event.
    pub node: u32,
    /// The link of the event: for signals the link of the frame, for drops the egress link.
    pub link: u32,
    /// Kind of the event.
    pub event: PacketEvent,
    /// The queue or class that the signal pauses or resumes; 0 for drops and bitmaps.
    pub queue: u16,
    /// Data bytes stored at the node; 0 at a host, because hosts store none.
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

    /// How many rows nobody has taken out.
    pub fn rows(&self) -> usize {
        self.time.len()
    }

    /// Takes out all rows.
    pub fn take(&mut self) -> Table {
        let taken = std::mem::take(self);
        let columns = vec![
            ("time_ps", Column::U64(taken.time)),
            ("node", Column::U32(taken.node)),
            ("link", Column::U32(taken.link)),
            ("event", Column::U32(taken.event)),
            ("queue", Column::U32(taken.queue)),
            ("bytes", Column::U64(taken.bytes)),
        ];
        Table { name: "events", columns }
    }
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
