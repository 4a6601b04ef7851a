//! A directed link while packets fly on it: a first-in first-out delay line. A wire needs one
//! pending event, however many packets are on their way.

use penstock_packet::{Packet, PacketId, PacketPool};
use penstock_units::{Time, Transmission};

/// A directed link, one cache line.
#[derive(Clone, Copy, Debug)]
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
    /// The rank of the end of the last transmission, in the ns-3 HPCC simulator's order of ties.
    /// That simulator has an event for the end of every transmission; here the event exists only
    /// when something waits for it.
    pub end_rank: u64,
    /// The node that sends.
    pub from: u32,
    /// The node that receives.
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

/// Counters of what a link has carried.
#[derive(Clone, Copy, Debug, Default)]
pub struct WireCounters {
    /// Wire bytes.
    pub bytes: u64,
    /// Packets, control packets included.
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

    /// Starts to send `id` at `now`. Returns the arrival time when `id` is alone on the link.
    /// Otherwise the packet ahead of `id` stores the arrival time and `order`: when that packet is
    /// taken, both are in its cache line (one miss less per packet-hop).
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

    /// Takes the packet that has arrived. Also returns the arrival time and the order of the next
    /// packet, if any.
    #[inline]
    pub fn take(&mut self, pool: &PacketPool) -> (PacketId, Option<(Time, u32)>) {
        let id = self.head;
        let packet = &pool[id];
        self.head = packet.next;
        let next = (!self.head.is_none()).then(|| (Time::from_ps(packet.time), packet.order));
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
