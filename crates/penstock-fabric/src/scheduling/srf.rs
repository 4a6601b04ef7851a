//! Shortest remaining flow first (BFC App. A.2): the queue whose *head* packet carries the smallest
//! remaining flow size sends. A later packet of a flow never overtakes an earlier one, because each
//! queue is first in, first out.

use penstock_packet::Packet;

use crate::parts::IndexedHeap;

/// The SRF scheduler: active queues by (class, remaining bytes of the head packet).
#[derive(Debug, Default)]
pub struct Srf {
    active: IndexedHeap,
}

impl Srf {
    pub(crate) fn set_head(&mut self, number: u32, class: u8, head: &Packet) {
        self.active.set(number, (u64::from(class) << 32) | u64::from(head.remaining));
    }

    pub(crate) fn deactivate(&mut self, number: u32) {
        self.active.remove(number);
    }

    pub(crate) fn select(&self) -> u32 {
        self.active.first().map_or(0, |(_, number)| number)
    }
}

#[cfg(test)]
#[path = "srf_tests.rs"]
mod tests;
