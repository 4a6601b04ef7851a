//! The argument of a hook when a data packet joins or leaves a queue.

use penstock_packet::{Packet, PacketId, PacketPool};
use penstock_units::Time;

use crate::admission::Admission;
use crate::parts::Draws;
use crate::port::Port;
use crate::ports::Ports;

/// A data packet that has just joined a queue, or has just left one.
pub(crate) struct Passing<'a> {
    /// The time.
    pub now: Time,
    /// All packets.
    pub pool: &'a mut PacketPool,
    /// The packet. Its fields name its ingress, its class and its queue.
    pub id: PacketId,
    /// The port by which it leaves.
    pub egress: u16,
    /// Bytes in the packet's queue now (bytes).
    pub queue_bytes: u64,
    /// The ports of the switch.
    pub ports: &'a mut Ports,
    /// The memory of the switch: the policy and its accounts.
    pub admission: &'a Admission,
    /// The random numbers of the switch.
    pub draws: &'a mut Draws,
}

impl Passing<'_> {
    /// The packet.
    #[inline]
    pub(crate) fn packet(&self) -> &Packet {
        &self.pool[self.id]
    }

    /// The packet, for writing.
    #[inline]
    pub(crate) fn packet_mut(&mut self) -> &mut Packet {
        &mut self.pool[self.id]
    }

    /// The egress port of the packet.
    #[inline]
    pub(crate) fn port(&self) -> &Port {
        &self.ports[usize::from(self.egress)]
    }
}
