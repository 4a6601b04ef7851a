//! FIFO lists of packets, threaded through the packets themselves.

use crate::packet::Packet;
use crate::pool::{PacketId, PacketPool};

/// A first-in first-out list of packets.
#[derive(Clone, Copy, Debug, Default)]
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
    pub(crate) fn tail(&self) -> PacketId {
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

    /// The packets in the list, first to last, for checks.
    pub fn packets<'a>(&self, pool: &'a PacketPool) -> impl Iterator<Item = &'a Packet> + use<'a> {
        pool.list(self.head)
    }
}

/// A data queue of an egress port.
#[derive(Clone, Copy, Debug, Default)]
pub struct DataQueue {
    /// Its packets.
    pub packets: Fifo,
    /// Neighbours in the scheduler's list. Writer: scheduling (DRR).
    pub(crate) next: u32,
    pub(crate) previous: u32,
    /// Credit left in this round (bytes). Writer: scheduling (DRR).
    pub(crate) deficit: u32,
    /// What may still leave although the queue is paused, as the pause is older than its flow (BFC)
    /// (bytes). Writer: [`crate::Port`].
    pub grace: u32,
    /// Priority class that the queue serves.
    pub class: u8,
    /// Paused by the downstream switch (BFC). Writer: [`crate::Port`].
    pub is_paused: bool,
    /// Has no credit for a full packet (BFC with credits). Writer: [`crate::Port`].
    pub is_dry: bool,
    /// The queue has packets, may send and its class may. Writer: [`crate::Port`].
    pub is_active: bool,
    /// Round at which the last packet finishes in the fluid system, fixed point. Writer: scheduling
    /// (ideal fair).
    pub(crate) finish: u64,
}

impl DataQueue {
    /// Whether a pause holds its packets.
    #[inline]
    pub fn is_held(&self) -> bool {
        self.is_paused && self.grace == 0
    }
}
