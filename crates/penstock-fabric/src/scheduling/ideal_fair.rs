//! Ideal fair queueing: bit-by-bit round robin (A. Demers, S. Keshav, S. Shenker, "Analysis and
//! Simulation of a Fair Queueing Algorithm", SIGCOMM 1989; AFQ sec. 2; BFC's Ideal-FQ).
//!
//! The round number R counts the bytes that the fluid system has served to each backlogged flow: each
//! of the N flows with F > R gets 1/N of every byte that the port sends. F is the finish of a flow's
//! last packet. An arriving packet finishes in round max(R, F) + length. The packet with the smallest
//! finish is sent first.
//!
//! R advances with the data that are really sent, not with the clock. Control packets and pauses take
//! time in which no data flow is served, and a round number that ran ahead of the service would turn a
//! busy port into a FIFO. R is kept in fixed point with 1/65,536 byte.
//!
//! A queue must belong to one flow, as the `per-flow` assignment gives.

use alloc::format;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::{Packet, PacketPool};
use penstock_units::{Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Egress, Parameters, Policy};
use crate::config::{Surroundings, SwitchConfig};
use crate::parts::IndexedHeap;
use crate::queue::DataQueue;

/// Fractional bits of a round number: a round is 2^-16 byte of every flow.
const ROUND_BITS: u32 = 16;

/// Parameters of ideal fair queueing: none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdealFairConfig {}

impl Parameters for IdealFairConfig {
    fn fits(&self, switch: &SwitchConfig, _: &Surroundings, problems: &mut Problems) {
        let remedy = format!(
            "it serves flows, and the {} assignment mixes them in a queue; use assignment \"per-flow\", or \
             scheduling \"drr\"",
            switch.assignment.kind()
        );
        let holds = switch.assignment.is_per_flow();
        problems.unless(holds, "scheduling.kind", "ideal-fair", remedy);
    }
}

/// The bit-by-bit round robin scheduler of a port.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct IdealFair {
    /// R, fixed point (bytes per flow).
    round: u64,
    /// Queues that the fluid system still serves, by the finish of their last packet.
    fluid: IndexedHeap,
    /// Active queues, by the finish of their first packet.
    active: IndexedHeap,
}

impl IdealFair {
    pub(crate) fn new(_: &IdealFairConfig, _: &Egress) -> Self {
        IdealFair::default()
    }
}

impl Policy for IdealFair {
    fn tag(&mut self, queue: &mut DataQueue, number: u32, packet: &mut Packet) {
        let length = u64::from(packet.wire_bytes) << ROUND_BITS;
        queue.finish = self.round.max(queue.finish) + length;
        packet.time = queue.finish;
        self.fluid.set(number, queue.finish);
    }

    #[inline]
    fn activate(&mut self, queues: &mut [DataQueue], number: u32, pool: &PacketPool) {
        let queue = &queues[number as usize];
        self.head_changed(number, queue.class, &pool[queue.packets.head()]);
    }

    fn deactivate(&mut self, _: &mut [DataQueue], number: u32) {
        self.active.remove(number);
    }

    fn select(&mut self, _: Time, _: &mut [DataQueue], _: &PacketPool) -> u32 {
        self.active.first().map_or(0, |(_, number)| number)
    }

    /// Shares out `bytes` in the fluid system.
    fn charge(&mut self, _: &mut DataQueue, bytes: u32) {
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

    fn head_changed(&mut self, number: u32, _: u8, head: &Packet) {
        self.active.set(number, head.time);
    }

    /// The fluid round.
    #[inline]
    fn round(&self) -> u64 {
        self.round
    }
}

#[cfg(test)]
#[path = "ideal_fair_tests.rs"]
mod tests;
