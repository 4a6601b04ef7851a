//! The hooks of a scheduling policy. A policy leaves out those for which it has nothing to do.

use penstock_packet::{CreditQueue, Packet, PacketId, PacketPool};
use penstock_units::{Problems, Time};

use crate::queue::DataQueue;

/// What the parameters of a policy tell.
pub(crate) trait Parameters {
    /// Checks every field against its bounds.
    fn check(&self, _problems: &mut Problems) {}
}

/// The largest quantum of a round robin (bytes): a thousand packets.
const LARGEST_QUANTUM: u32 = 1 << 20;

/// Checks the field `quantum` (bytes).
pub(crate) fn check_quantum(quantum: u32, problems: &mut Problems) {
    let holds = (1..=LARGEST_QUANTUM).contains(&quantum);
    let remedy = "write 1 B to 1 MiB; a full packet is usual";
    problems.unless(holds, "quantum", quantum, remedy);
}

/// A scheduling policy of a port.
pub(crate) trait Policy {
    /// Tags an arriving packet before it joins `queue`.
    #[inline]
    fn tag(&mut self, _queue: &mut DataQueue, _number: u32, _packet: &mut Packet) {}

    /// Queue `number` has packets and may send.
    #[inline]
    fn activate(&mut self, _queues: &mut [DataQueue], _number: u32, _pool: &PacketPool) {}

    /// Queue `number` is empty or paused.
    #[inline]
    fn deactivate(&mut self, _queues: &mut [DataQueue], _number: u32) {}

    /// The active queue that sends next at `now`; called only when there is one.
    fn select(&mut self, now: Time, queues: &mut [DataQueue], pool: &PacketPool) -> u32;

    /// `bytes` of `queue` were sent.
    #[inline]
    fn charge(&mut self, _queue: &mut DataQueue, _bytes: u32) {}

    /// The active queue `number` has another packet at its head.
    #[inline]
    fn head_changed(&mut self, _number: u32, _class: u8, _head: &Packet) {}

    /// The queue of the credits, where they have one.
    #[inline]
    fn credits(&self) -> Option<&CreditQueue> {
        None
    }

    /// Appends a credit; false where there is no room for it.
    fn push_credit(&mut self, _pool: &mut PacketPool, _id: PacketId) -> bool {
        false
    }

    /// The credit that leaves ahead of data at `now`, if one may.
    #[inline]
    fn pop_credit(&mut self, _now: Time, _pool: &PacketPool) -> Option<PacketId> {
        None
    }

    /// The round, for a scheduler that has rounds; else 0.
    #[inline]
    fn round(&self) -> u64 {
        0
    }

    /// The first round that has none of `queues` data queues yet.
    #[inline]
    fn rounds_end(&self, queues: u64) -> u64 {
        self.round() + queues
    }
}
