//! FIFO lists of packets, threaded through the packets themselves.

use crate::id::PacketId;
use crate::packet::Packet;
use crate::pool::PacketPool;
use borsh::{BorshDeserialize, BorshSerialize};

/// A first-in first-out list of packets.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct Fifo {
    head: PacketId,
    tail: PacketId,
    /// Wire bytes in the list.
    bytes: u64,
}

impl Fifo {
    /// Whether there is no packet.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head.is_none()
    }

    /// The packet that leaves next, or [`PacketId::NONE`].
    #[inline]
    pub fn head(&self) -> PacketId {
        self.head
    }

    /// The packet that came last, or [`PacketId::NONE`].
    #[inline]
    pub fn tail(&self) -> PacketId {
        if self.head.is_none() { PacketId::NONE } else { self.tail }
    }

    /// Wire bytes in the list.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends `id`.
    #[inline]
    pub fn push(&mut self, pool: &mut PacketPool, id: PacketId) {
        let packet = &mut pool[id];
        packet.next = PacketId::NONE;
        self.bytes += u64::from(packet.wire_bytes);
        if self.head.is_none() {
            self.head = id;
        } else {
            pool[self.tail].next = id;
        }
        self.tail = id;
    }

    /// Takes the first packet.
    #[inline]
    pub fn pop(&mut self, pool: &PacketPool) -> Option<PacketId> {
        let id = self.head;
        if id.is_none() {
            return None;
        }
        let packet = &pool[id];
        self.head = packet.next;
        self.bytes -= u64::from(packet.wire_bytes);
        Some(id)
    }

    /// Takes the last packet. The walk to the packet before it takes a step for each packet in the list,
    /// so this is for drops only.
    pub fn pop_last(&mut self, pool: &mut PacketPool) -> Option<PacketId> {
        let last = self.tail();
        if last.is_none() || last == self.head {
            return self.pop(pool);
        }
        let mut before = self.head;
        while pool[before].next != last {
            before = pool[before].next;
        }
        pool[before].next = PacketId::NONE;
        self.tail = before;
        self.bytes -= u64::from(pool[last].wire_bytes);
        Some(last)
    }

    /// The packets in the list, first to last, for checks.
    pub fn packets<'a>(&self, pool: &'a PacketPool) -> impl Iterator<Item = &'a Packet> + use<'a> {
        pool.list(self.head)
    }
}
