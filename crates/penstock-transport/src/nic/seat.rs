//! Where a flow stands at its NIC, and the linked lists that flows stand in.
//!
//! The links are in the flows themselves, so a NIC allocates nothing when flows come and go, and a
//! flow leaves the middle of a list in constant time. Invariant: a flow is in the one structure
//! that its [`Place`] names, or in none.

use crate::sender::Sender;

/// The end of a list.
const NOBODY: u32 = u32::MAX;

/// Which structure of the NIC holds a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// None: it waits for an acknowledgement, or is not at the NIC.
    #[default]
    Waiting,
    /// The ready flows of its class.
    Ready,
    /// The flows that wait for their pacing gap.
    Paced,
    /// The flows of a paused queue.
    Parked,
}

/// A flow's part of the NIC's structures.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seat {
    next: u32,
    previous: u32,
    /// Position in the heap that holds the flow, if one does.
    pub(crate) heap_index: u32,
    pub(crate) class: u8,
    pub(crate) place: Place,
    /// Whether the flow counts among those of its NIC queue.
    pub(crate) has_queue: bool,
}

impl Seat {
    /// The seat of a flow of `class` that waits.
    pub(crate) fn of_class(class: u8) -> Self {
        Seat { class, ..Seat::default() }
    }
}

/// A doubly linked list of flows, first come first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    head: u32,
    tail: u32,
}

impl List {
    pub(crate) const fn new() -> Self {
        List { head: NOBODY, tail: NOBODY }
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<u32> {
        (self.head != NOBODY).then_some(self.head)
    }

    pub(crate) fn push_back(&mut self, slot: u32, flows: &mut [Sender]) {
        let seat = &mut flows[slot as usize].seat;
        seat.previous = self.tail;
        seat.next = NOBODY;
        match self.tail {
            NOBODY => self.head = slot,
            tail => flows[tail as usize].seat.next = slot,
        }
        self.tail = slot;
    }

    pub(crate) fn remove(&mut self, slot: u32, flows: &mut [Sender]) {
        let Seat { next, previous, .. } = flows[slot as usize].seat;
        match previous {
            NOBODY => self.head = next,
            previous => flows[previous as usize].seat.next = next,
        }
        match next {
            NOBODY => self.tail = previous,
            next => flows[next as usize].seat.previous = previous,
        }
    }
}
