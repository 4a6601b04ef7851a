//! The linked lists of the flows at a NIC.
//!
//! The links are in the flows themselves. So a NIC allocates nothing when flows come and go, and a flow
//! leaves the middle of a list in constant time.

use super::seat::Seat;
use crate::sender::Sender;
use borsh::{BorshDeserialize, BorshSerialize};

/// The end of a list.
const NOBODY: u32 = u32::MAX;

/// A doubly linked list of flows, first come first.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
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

    #[inline]
    pub(crate) fn is_single(&self) -> bool {
        self.head == self.tail && self.head != NOBODY
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
