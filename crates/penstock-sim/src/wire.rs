//! A directed link while packets fly on it: a delay line in first-in first-out order, which needs
//! one pending event however many packets are on the way.

use penstock_packet::{Packet, PacketId, PacketPool};
use penstock_units::{Time, Transmission};

/// A directed link, one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Wire {
    head: PacketId,
    tail: PacketId,
    /// When the last bit of the last packet has left; the sender is busy until then.
    pub free_at: Time,
    /// Propagation, and the pipeline of the switch at the far end.
    pub delay: Time,
    /// Rate of the link.
    pub transmission: Transmission,
    /// In the ns-3 HPCC simulator's order of ties, the rank of the end of the last transmission. The
    /// event is there for every transmission; here only when something waits for it.
    pub end_rank: u64,
    /// Node that sends.
    pub from: u32,
    /// Node that receives.
    pub to: u32,
    /// Local port at the sender, when that is a switch.
    pub from_port: u16,
    /// Local port at the receiver, when that is a switch.
    pub to_port: u16,
    /// Whether an event is pending for the end of the transmission, because something waits for it.
    pub is_end_scheduled: bool,
}

const _: () = assert!(size_of::<Wire>() == 64, "a wire is one cache line");

/// What a link has carried.
#[derive(Clone, Copy, Debug, Default)]
pub struct WireCounters {
    /// Wire bytes.
    pub bytes: u64,
    /// Packets, control included.
    pub packets: u64,
    /// Payload bytes.
    pub payload: u64,
}

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
            end_rank: 0,
            from,
            to,
            from_port,
            to_port,
            is_end_scheduled: false,
        }
    }

    /// The packet that arrives next.
    #[inline]
    pub fn head(&self) -> PacketId {
        self.head
    }

    /// Starts to send `id` at `now`; returns when it arrives, if it is alone on the link. Otherwise the
    /// packet ahead of it remembers that time, and `order` beside it: what is told when a packet is
    /// taken is then in that packet's cache line (one miss less a packet-hop).
    #[inline]
    pub fn send(
        &mut self,
        now: Time,
        pool: &mut PacketPool,
        id: PacketId,
        order: u32,
    ) -> Option<Time> {
        let packet = &mut pool[id];
        packet.next = PacketId::NONE;
        self.free_at = now + self.transmission.time(u32::from(packet.wire_bytes));
        let arrival = self.free_at + self.delay;
        let was_empty = self.head.is_none();
        if was_empty {
            self.head = id;
        } else {
            let ahead = &mut pool[self.tail];
            ahead.next = id;
            ahead.time = arrival.as_ps();
            ahead.order = order;
        }
        self.tail = id;
        was_empty.then_some(arrival)
    }

    /// Takes the packet that has arrived, and says when the next one does, and its order.
    #[inline]
    pub fn take(&mut self, pool: &PacketPool) -> (PacketId, Option<(Time, u32)>) {
        let id = self.head;
        let packet = &pool[id];
        self.head = packet.next;
        let next = (!self.head.is_none()).then(|| (Time::from_ps(packet.time), packet.order));
        (id, next)
    }

    /// Takes everything that is on the way.
    pub fn take_all(&mut self, pool: &PacketPool) -> Vec<PacketId> {
        let mut ids = Vec::new();
        while !self.head.is_none() {
            ids.push(self.take(pool).0);
        }
        ids
    }

    /// The packets on the way, the next to arrive first.
    pub fn packets<'a>(&self, pool: &'a PacketPool) -> impl Iterator<Item = &'a Packet> + use<'a> {
        pool.list(self.head)
    }
}
