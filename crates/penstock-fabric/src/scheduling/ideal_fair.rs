//! Ideal fair queueing: bit-by-bit round robin (A. Demers, S. Keshav, S. Shenker, "Analysis and
//! Simulation of a Fair Queueing Algorithm", SIGCOMM 1989; AFQ sec. 2; BFC's Ideal-FQ).
//!
//! The round number R grows by C / N a second, N being the flows that the fluid system still
//! serves. An arriving packet finishes in round max(R, F) + length, F being the finish of its
//! flow's last packet; the smallest finish is sent first. R is exact: the fluid system's departures
//! are replayed between two arrivals, in fixed point with 1/65,536 byte.
//!
//! A queue must belong to one flow, as the `per-flow` assignment gives.

use penstock_units::{BitRate, Time};

use crate::packet::Packet;
use crate::parts::IndexedHeap;
use crate::queue::DataQueue;

/// Fractional bits of a round number: a round is 2^-16 byte of every flow.
const ROUND_BITS: u32 = 16;

/// The bit-by-bit round robin scheduler of a port.
#[derive(Debug)]
pub struct IdealFair {
    rate: BitRate,
    /// R, fixed point [bytes per flow].
    round: u64,
    updated: Time,
    /// Queues that the fluid system still serves, by the finish of their last packet.
    fluid: IndexedHeap,
    /// Active queues, by the finish of their first packet.
    active: IndexedHeap,
}

impl IdealFair {
    pub(crate) fn new(rate: BitRate) -> Self {
        IdealFair {
            rate,
            round: 0,
            updated: Time::ZERO,
            fluid: IndexedHeap::default(),
            active: IndexedHeap::default(),
        }
    }

    /// The round number, as of the last arrival.
    #[inline]
    pub(crate) fn round(&self) -> u64 {
        self.round
    }

    pub(crate) fn tag(
        &mut self,
        now: Time,
        queue: &mut DataQueue,
        number: u32,
        packet: &mut Packet,
    ) {
        self.advance(now);
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

    /// Replays the fluid system until `now`.
    fn advance(&mut self, now: Time) {
        let elapsed = now - self.updated;
        self.updated = now;
        if self.fluid.is_empty() {
            return;
        }
        let bit_picoseconds = 8 * 1_000_000_000_000;
        let mut service = (u128::from(elapsed.as_ps()) << ROUND_BITS)
            * u128::from(self.rate.as_bps())
            / bit_picoseconds;
        while let Some((finish, number)) = self.fluid.first() {
            let flows = self.fluid.len() as u128;
            let needed = u128::from(finish.saturating_sub(self.round)) * flows;
            if needed > service {
                self.round += (service / flows) as u64;
                return;
            }
            service -= needed;
            self.round = self.round.max(finish);
            self.fluid.remove(number);
        }
    }
}
