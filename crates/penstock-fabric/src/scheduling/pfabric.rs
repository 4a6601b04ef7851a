//! pFabric: the flow with the fewest bytes to go sends, and the packet with the most bytes to go is dropped.
//!
//! M. Alizadeh et al., "pFabric: Minimal Near-Optimal Datacenter Transport", SIGCOMM 2013, sec. 4.1. The
//! paper was not at hand: rules are those of an implementation, NetSys/simulator. Implemented:
//! - The flow that has the packet with the fewest bytes to go sends its earliest packet. So the packets of a
//!   flow stay in order, and early ones do not starve.
//! - Where the memory of a port is full, the packet with the most bytes to go is dropped, queued or arriving.
//!   The arriving one is dropped when it has as many as any.
//!
//! A queue must belong to one flow, as the `per-flow` assignment gives.
//!
//! The bytes to go are those of the flow from the packet on, as for the `srf` scheduler. In that simulator
//! they are those that were not acknowledged when the packet left, which are more by at most a window. A
//! flow sends its packets in order. So with our number its first packet in a queue has the most to go, and
//! it is the first one that is dropped. A packet that was sent again, or that took another path, may stand
//! behind packets with fewer bytes to go; it counts when it is the first. The fewest bytes to go are those
//! of any packet that the flow has had in the queue since the queue was empty.
//!
//! Of flows with equally many bytes to go, the one in the queue with the lowest number sends, and also loses
//! its packet. In that simulator the packet that came first is sent, and the one that came last is dropped.
//! More than 2^32 - 1 bytes to go count as 2^32 - 1, so that all endless flows have equally many.
//!
//! Control packets go first and are not dropped, as with all schemes here.

use alloc::format;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::{Packet, PacketPool};
use penstock_units::{Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Egress, End, Parameters, Policy, fits_room_in_ports};
use crate::config::{Surroundings, SwitchConfig};
use crate::parts::IndexedHeap;
use crate::queue::DataQueue;

/// Parameters of pFabric's scheduler: none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PfabricConfig {}

impl Parameters for PfabricConfig {
    fn makes_room(&self) -> bool {
        true
    }

    fn fits(&self, switch: &SwitchConfig, _: &Surroundings, problems: &mut Problems) {
        let field = ("scheduling.kind", "pfabric");
        let remedy = format!(
            "it ranks flows, and the {} assignment mixes them in a queue; use assignment \"per-flow\"",
            switch.assignment.kind()
        );
        problems.unless(switch.assignment.is_per_flow(), field.0, field.1, remedy);
        fits_room_in_ports(switch, field, problems);
    }
}

/// The pFabric scheduler of a port.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct Pfabric {
    /// The fewest bytes to go of each queue, by its number.
    fewest: Vec<u32>,
    /// Active queues, by the fewest bytes to go.
    active: IndexedHeap,
    /// Queues with packets, the one whose first packet has the most bytes to go first.
    longest: IndexedHeap,
}

/// The key of a first packet with so many bytes to go: a heap has its smallest key first.
fn most_first(remaining: u32) -> u64 {
    !u64::from(remaining)
}

impl Pfabric {
    pub(crate) fn new(_: &PfabricConfig, _: &Egress) -> Self {
        Pfabric::default()
    }
}

impl Policy for Pfabric {
    fn tag(&mut self, queue: &mut DataQueue, number: u32, packet: &mut Packet) {
        let index = number as usize;
        if self.fewest.len() <= index {
            self.fewest.resize(index + 1, 0);
        }
        if queue.packets.is_empty() {
            self.fewest[index] = packet.remaining;
            self.longest.set(number, most_first(packet.remaining));
        } else if packet.remaining < self.fewest[index] {
            self.fewest[index] = packet.remaining;
            if queue.is_active {
                self.active.set(number, u64::from(packet.remaining));
            }
        }
    }

    fn displaced_by(&self, _: &DataQueue, packet: &Packet) -> Option<u32> {
        let (key, number) = self.longest.first()?;
        (key < most_first(packet.remaining)).then_some(number)
    }

    fn displaces(&self) -> End {
        End::First
    }

    fn untag(&mut self, queue: &mut DataQueue, number: u32, _: &Packet, pool: &PacketPool) {
        match queue.packets.head() {
            head if head.is_none() => self.longest.remove(number),
            head => self.longest.set(number, most_first(pool[head].remaining)),
        }
    }

    #[inline]
    fn activate(&mut self, _: &mut [DataQueue], number: u32, _: &PacketPool) {
        self.active.set(number, u64::from(self.fewest[number as usize]));
    }

    fn deactivate(&mut self, queues: &mut [DataQueue], number: u32) {
        self.active.remove(number);
        if queues[number as usize].packets.is_empty() {
            self.longest.remove(number);
        }
    }

    fn select(&mut self, _: Time, _: &mut [DataQueue], _: &PacketPool) -> u32 {
        self.active.first().map_or(0, |(_, number)| number)
    }

    fn head_changed(&mut self, number: u32, _: u8, head: &Packet) {
        self.longest.set(number, most_first(head.remaining));
    }
}

#[cfg(test)]
#[path = "pfabric_tests.rs"]
mod tests;
