//! A directed link while packets fly on it: a delay line in first-in first-out order, which needs
//! one pending event however many packets are on the way.

use penstock_fabric::{Packet, PacketId, PacketPool};
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
            from,
            to,
            from_port,
            to_port,
            is_end_scheduled: false,
        }
    }

    /// Starts to send `id` at `now`; returns when it arrives, if it is alone on the link.
    #[inline]
    pub fn send(&mut self, now: Time, pool: &mut PacketPool, id: PacketId) -> Option<Time> {
        let packet = &mut pool[id];
        self.free_at = now + self.transmission.time(u32::from(packet.wire_bytes));
        let arrival = self.free_at + self.delay;
        packet.time = arrival.as_ps();
        packet.next = PacketId::NONE;
        let was_empty = self.head.is_none();
        if was_empty {
            self.head = id;
        } else {
            pool[self.tail].next = id;
        }
        self.tail = id;
        was_empty.then_some(arrival)
    }

    /// Takes the packet that has arrived, and says when the next one does.
    #[inline]
    pub fn take(&mut self, pool: &PacketPool) -> (PacketId, Option<Time>) {
        let id = self.head;
        self.head = pool[id].next;
        let next = (!self.head.is_none()).then(|| Time::from_ps(pool[self.head].time));
        (id, next)
    }

    /// The packet that arrives next.
    #[inline]
    pub fn head(&self) -> PacketId {
        self.head
    }

    /// The packets on the way, the next to arrive first.
    pub fn packets<'a>(&self, pool: &'a PacketPool) -> impl Iterator<Item = &'a Packet> + use<'a> {
        pool.list(self.head)
    }
}
