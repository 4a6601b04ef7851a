//! Ideal fair queueing: bit-by-bit round robin (A. Demers, S. Keshav, S. Shenker, "Analysis and
//! Simulation of a Fair Queueing Algorithm", SIGCOMM 1989; AFQ sec. 2; BFC's Ideal-FQ).
//!
//! The round number R counts the bytes that each backlogged flow has been served in the fluid
//! system: of every byte that the port sends, each of the N flows with F > R gets 1/N. An arriving
//! packet finishes in round max(R, F) + length, F being the finish of its flow's last packet; the
//! smallest finish is sent first. R advances with the data that is really sent and not with the
//! clock: control packets and pauses take time that no data flow is served in, and a round number
//! that ran ahead of the service would turn a busy port into a FIFO. It is kept in fixed point with
//! 1/65,536 byte.
//!
//! A queue must belong to one flow, as the `per-flow` assignment gives.

use penstock_packet::Packet;

use crate::parts::IndexedHeap;
use crate::queue::DataQueue;

/// Fractional bits of a round number: a round is 2^-16 byte of every flow.
const ROUND_BITS: u32 = 16;

/// The bit-by-bit round robin scheduler of a port.
#[derive(Debug, Default)]
pub struct IdealFair {
    /// R, fixed point (bytes per flow).
    round: u64,
    /// Queues that the fluid system still serves, by the finish of their last packet.
    fluid: IndexedHeap,
    /// Active queues, by the finish of their first packet.
    active: IndexedHeap,
}

impl IdealFair {
    /// The round number.
    #[inline]
    pub(crate) fn round(&self) -> u64 {
        self.round
    }

    pub(crate) fn tag(&mut self, queue: &mut DataQueue, number: u32, packet: &mut Packet) {
        let length = u64::from(packet.wire_bytes) << ROUND_BITS;
        queue.finish = self.round.max(queue.finish) + length;
        packet.time = queue.finish;
        self.fluid.set(number, queue.finish);
    }

    pub(crate) fn set_head(&mut self, number: u32, head: &Packet) {
        self.active.set(number, head.time);
    }

    pub(crate) fn deactivate(&mut self, number: u32) {
        self.active.remove(number);
    }

    pub(crate) fn select(&self) -> u32 {
        self.active.first().map_or(0, |(_, number)| number)
    }

    /// The port sends `bytes`: so many are shared out in the fluid system.
    pub(crate) fn serve(&mut self, bytes: u32) {
        let mut service = u64::from(bytes) << ROUND_BITS;
        while let Some((finish, number)) = self.fluid.first() {
            let flows = self.fluid.len() as u64;
            let needed = finish.saturating_sub(self.round).saturating_mul(flows);
            if needed > service {
                self.round += service / flows;
                return;
            }
            service -= needed;
            self.round = self.round.max(finish);
            self.fluid.remove(number);
        }
    }
}

#[cfg(test)]
#[path = "ideal_fair_tests.rs"]
mod tests;
