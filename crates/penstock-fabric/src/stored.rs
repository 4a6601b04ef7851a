//! The stored packets of a switch, for the audits of its policies.

use penstock_packet::{Packet, PacketPool};

use crate::port::Port;
use crate::ports::Ports;
use crate::queue::DataQueue;

/// The data packets that are queued in a switch.
pub(crate) struct Stored<'a> {
    /// The ports of the switch.
    pub ports: &'a Ports,
    /// All packets.
    pub pool: &'a PacketPool,
}

impl<'a> Stored<'a> {
    /// Every data queue, with its egress port and its number there.
    pub(crate) fn queues(&self) -> impl Iterator<Item = (u16, u16, &'a DataQueue)> + use<'a> {
        let of_port = |(egress, port): (u16, &'a Port)| {
            (0..=u16::MAX)
                .zip(port.queues())
                .skip(1)
                .map(move |(number, queue)| (egress, number, queue))
        };
        (0..=u16::MAX).zip(self.ports.iter()).flat_map(of_port)
    }

    /// Every packet, with its egress port and its queue there.
    pub(crate) fn packets(&self) -> impl Iterator<Item = (u16, u16, &'a Packet)> + use<'a> {
        let pool = self.pool;
        self.queues().flat_map(move |(egress, number, queue)| {
            queue.packets.packets(pool).map(move |packet| (egress, number, packet))
        })
    }
}
