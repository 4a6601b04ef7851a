//! A directed link while packets fly on it: a first-in first-out delay line. A wire needs one
//! pending event, however many packets are on their way.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::{Packet, PacketId, PacketPool};
use penstock_units::{Time, Transmission};

/// The node at the other end of a wire, where that end is in another partition.
pub const ELSEWHERE: u32 = u32::MAX;

/// A link as the partition of its receiver knows it.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct Beyond {
    /// The number of that partition.
    pub partition: u16,
    /// The place of the link there.
    pub link: u32,
}

/// A directed link, one cache line. Of a link between two partitions, each has a wire: the sender's
/// counts what leaves, and the receiver's holds the packets on their way.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
#[repr(C, align(64))]
pub struct Wire {
    head: PacketId,
    tail: PacketId,
    /// When the last bit of the last packet leaves the sender; until then the sender is busy.
    pub free_at: Time,
    /// Propagation delay, plus the pipeline delay of the switch at the far end.
    pub delay: Time,
    /// Rate of the link.
    pub transmission: Transmission,
    /// Where `to` is [`ELSEWHERE`]: the link there.
    pub beyond: Beyond,
    /// The node that sends, or [`ELSEWHERE`].
    pub from: u32,
    /// The node that receives, or [`ELSEWHERE`].
    pub to: u32,
    /// Local port at the sender, when the sender is a switch.
    pub from_port: u16,
    /// Local port at the receiver, when the receiver is a switch.
    pub to_port: u16,
    /// Whether an event is pending for the end of the transmission, because something waits for the
    /// end.
    pub is_end_scheduled: bool,
}

const _: () = assert!(size_of::<Wire>() == 64, "a wire is one cache line");

impl Wire {
    /// An idle link.
    pub fn new(transmission: Transmission, delay: Time, ends: [(u32, u16); 2]) -> Self {
        let [(from, from_port), (to, to_port)] = ends;
        Wire {
            head: PacketId::NONE,
            tail: PacketId::NONE,
            free_at: Time::ZERO,
            delay,
            transmission,
            beyond: Beyond::default(),
            from,
            to,
            from_port,
            to_port,
            is_end_scheduled: false,
        }
    }

    /// An idle link like this one, between these nodes, and `beyond` where its receiver is elsewhere.
    pub(crate) fn between(&self, from: u32, to: u32, beyond: Beyond) -> Self {
        let ends = [(from, self.from_port), (to, self.to_port)];
        Wire { beyond, ..Wire::new(self.transmission, self.delay, ends) }
    }

    /// The packet that arrives next.
    #[inline]
    pub fn head(&self) -> PacketId {
        self.head
    }

    /// Sends `wire_bytes` from `now` on; returns when their last bit arrives.
    #[inline]
    pub fn occupy(&mut self, now: Time, wire_bytes: u16) -> Time {
        self.free_at = now + self.transmission.time(u32::from(wire_bytes));
        self.free_at + self.delay
    }

    /// Puts `id`, which arrives at `arrival`, behind the other packets. True when no other is on its
    /// way. Otherwise the packet ahead of `id` stores the arrival time: when that packet is taken, the
    /// time is in its cache line (one miss less per packet-hop).
    #[inline]
    pub fn append(&mut self, pool: &mut PacketPool, id: PacketId, arrival: Time) -> bool {
        pool[id].next = PacketId::NONE;
        let was_empty = self.head.is_none();
        if was_empty {
            self.head = id;
        } else {
            let ahead = &mut pool[self.tail];
            ahead.next = id;
            ahead.time = arrival.as_ps();
        }
        self.tail = id;
        was_empty
    }

    /// Takes the packet that has arrived. Also returns the arrival time of the next packet, if any.
    #[inline]
    pub fn take(&mut self, pool: &PacketPool) -> (PacketId, Option<Time>) {
        let id = self.head;
        let packet = &pool[id];
        self.head = packet.next;
        let next = (!self.head.is_none()).then(|| Time::from_ps(packet.time));
        (id, next)
    }

    /// Takes all packets that are on their way.
    pub fn take_all(&mut self, pool: &PacketPool) -> Vec<PacketId> {
        let mut ids = Vec::new();
        while !self.head.is_none() {
            ids.push(self.take(pool).0);
        }
        ids
    }

    /// The packets on their way, the next to arrive first.
    pub fn packets<'a>(&self, pool: &'a PacketPool) -> impl Iterator<Item = &'a Packet> + use<'a> {
        pool.list(self.head)
    }
}
