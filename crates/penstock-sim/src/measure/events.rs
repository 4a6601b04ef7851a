//! Events of a run: one row for each pause, resume and drop, when the scenario asks for events.
//!
//! Invariant: at every end of a link that must not send, the rows say at any time what its far end has
//! paused. So rows also tell what a bitmap repairs, and the pauses that end because the link has failed.

use std::collections::BTreeSet;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::epochs::label;
use penstock_packet::{PacketEvent, Signal};
use penstock_units::Time;

use super::table::{Column, Table};

/// The events of a run.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct EventTable {
    rows: Rows,
    /// What is paused by the rows so far: (link, subject of the signal).
    paused: BTreeSet<(u32, u32)>,
}

/// Rows that nobody has taken out.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
struct Rows {
    time: Vec<u64>,
    node: Vec<u32>,
    link: Vec<u32>,
    event: Vec<u32>,
    queue: Vec<u32>,
    bytes: Vec<u64>,
}

/// When and where something happened.
#[derive(Clone, Copy, Debug)]
pub struct EventPlace {
    /// Time of the event.
    pub time: Time,
    /// Node of the event.
    pub node: u32,
    /// The link of the event: for signals the link of the frame, for drops the egress link.
    pub link: u32,
    /// Data bytes stored at the node; 0 at a host, because hosts store none.
    pub bytes: u64,
}

impl EventTable {
    /// Adds a row. `queue` is what a signal pauses or resumes ([`Signal::subject`]), or the queue of a drop.
    pub fn push(&mut self, place: EventPlace, event: PacketEvent, queue: u32) {
        let rows = &mut self.rows;
        rows.time.push(place.time.as_ps());
        rows.node.push(place.node);
        rows.link.push(place.link);
        rows.event.push(event as u32);
        rows.queue.push(queue);
        rows.bytes.push(place.bytes);
    }

    /// Adds what `signal` pauses and resumes, which has come to a node where the link of `place` begins.
    pub fn hear(&mut self, place: EventPlace, signal: Signal) {
        match signal {
            Signal::QueueBitmap { epoch, queues } => {
                let subject = |queue| u32::from(label(queue, epoch));
                let named = (place.link, subject(1))..=(place.link, subject(127));
                let known = self.paused.range(named);
                let known = known.fold(0, |known, &(_, other)| known | 1 << (other - subject(0)));
                let mut wrong: u128 = (queues ^ known) & !1;
                while wrong != 0 {
                    let queue = wrong.trailing_zeros() as u16;
                    self.change(place, subject(queue), queues & (1 << queue) != 0);
                    wrong &= wrong - 1;
                }
            }
            Signal::Credit { .. } => {}
            _ => self.change(place, signal.subject(), signal.is_pause()),
        }
    }

    /// The pause of `subject` on the link of `place` has ended by itself.
    pub fn end_pause(&mut self, place: EventPlace, subject: u32) {
        self.change(place, subject, false);
    }

    /// The link of `place` has failed, and all that its far end has paused resumes.
    pub fn end_pauses(&mut self, place: EventPlace) {
        let of_link = (place.link, 0)..=(place.link, u32::MAX);
        let subjects: Vec<u32> = self.paused.range(of_link).map(|&(_, subject)| subject).collect();
        subjects.into_iter().for_each(|subject| self.change(place, subject, false));
    }

    fn change(&mut self, place: EventPlace, subject: u32, is_paused: bool) {
        let event = if is_paused {
            self.paused.insert((place.link, subject));
            PacketEvent::PauseReceived
        } else {
            self.paused.remove(&(place.link, subject));
            PacketEvent::ResumeReceived
        };
        self.push(place, event, subject);
    }

    /// How many rows nobody has taken out.
    pub fn rows(&self) -> usize {
        self.rows.time.len()
    }

    /// Takes out all rows.
    pub fn take(&mut self) -> Table {
        let taken = std::mem::take(&mut self.rows);
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
