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
//!
//! When the memory of a port is full, either the packet that arrives is dropped, or, with
//! `full_memory = "drop-furthest"`, the packet with the largest finish among those of the port and the one
//! that arrives (AFQ sec. 5: of the rounds of all packets the largest one loses its packet). The
//! arriving packet is dropped when its finish is as large as any. A flow whose last packet is dropped
//! finishes where that packet would have begun. What the fluid system has served of the packet stays served
//! (our choice: the paper is silent, and the furthest packet has hardly ever begun).

use alloc::format;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::{Packet, PacketPool};
use penstock_units::{Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Egress, Parameters, Policy, fits_room_in_ports};
use crate::config::{Surroundings, SwitchConfig};
use crate::parts::IndexedHeap;
use crate::queue::DataQueue;

/// Fractional bits of a round number: a round is 2^-16 byte of every flow.
const ROUND_BITS: u32 = 16;

/// Parameters of ideal fair queueing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdealFairConfig {
    /// Which packet is dropped when the memory of a port is full.
    #[schemars(extend("default" = "drop-arriving", "source" = "our choice: drop tail, as elsewhere"))]
    pub full_memory: FullMemory,
}

/// Which packet ideal fair queueing drops when the memory of a port is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FullMemory {
    /// The packet that arrives.
    DropArriving,
    /// The packet with the largest round, queued or arriving (AFQ 5).
    DropFurthest,
}

impl Parameters for IdealFairConfig {
    fn makes_room(&self) -> bool {
        self.full_memory == FullMemory::DropFurthest
    }

    fn fits(&self, switch: &SwitchConfig, _: &Surroundings, problems: &mut Problems) {
        let remedy = format!(
            "it serves flows, and the {} assignment mixes them in a queue; use assignment \"per-flow\", or \
             scheduling \"drr\"",
            switch.assignment.kind()
        );
        let holds = switch.assignment.is_per_flow();
        problems.unless(holds, "scheduling.kind", "ideal-fair", remedy);
        if self.makes_room() {
            let field = ("scheduling.full_memory", "drop-furthest");
            fits_room_in_ports(switch, field, problems);
        }
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
    /// Queues with packets, the latest finish of a last packet first, where the furthest packet is dropped.
    last: Option<IndexedHeap>,
}

/// The key of a last packet that finishes in round `finish`: a heap has its smallest key first.
fn furthest_first(finish: u64) -> u64 {
    !finish
}

impl IdealFair {
    pub(crate) fn new(config: &IdealFairConfig, _: &Egress) -> Self {
        IdealFair { last: config.makes_room().then(IndexedHeap::default), ..IdealFair::default() }
    }

    /// The round in which a packet of `bytes` finishes behind what `queue` has.
    #[inline]
    fn finish(&self, queue: &DataQueue, bytes: u16) -> u64 {
        self.round.max(queue.finish) + (u64::from(bytes) << ROUND_BITS)
    }
}

impl Policy for IdealFair {
    fn tag(&mut self, queue: &mut DataQueue, number: u32, packet: &mut Packet) {
        queue.finish = self.finish(queue, packet.wire_bytes);
        packet.time = queue.finish;
        self.fluid.set(number, queue.finish);
        if let Some(last) = &mut self.last {
            last.set(number, furthest_first(queue.finish));
        }
    }

    fn displaced_by(&self, queue: &DataQueue, packet: &Packet) -> Option<u32> {
        let (key, number) = self.last.as_ref()?.first()?;
        (key < furthest_first(self.finish(queue, packet.wire_bytes))).then_some(number)
    }

    fn untag(&mut self, queue: &mut DataQueue, number: u32, packet: &Packet, pool: &PacketPool) {
        queue.finish = packet.time - (u64::from(packet.wire_bytes) << ROUND_BITS);
        if queue.finish > self.round {
            self.fluid.set(number, queue.finish);
        } else {
            self.fluid.remove(number);
        }
        let Some(last) = &mut self.last else { return };
        match queue.packets.tail() {
            tail if tail.is_none() => last.remove(number),
            tail => last.set(number, furthest_first(pool[tail].time)),
        }
    }

    #[inline]
    fn activate(&mut self, queues: &mut [DataQueue], number: u32, pool: &PacketPool) {
        let queue = &queues[number as usize];
        self.head_changed(number, queue.class, &pool[queue.packets.head()]);
    }

    fn deactivate(&mut self, queues: &mut [DataQueue], number: u32) {
        self.active.remove(number);
        if let Some(last) = &mut self.last
            && queues[number as usize].packets.is_empty()
        {
            last.remove(number);
        }
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
