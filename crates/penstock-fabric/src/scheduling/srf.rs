//! Shortest remaining flow first (BFC App. A.2): the queue whose *head* packet carries the smallest
//! remaining flow size sends. A later packet of a flow never overtakes an earlier one, because each
//! queue is first in, first out.

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

/// Parameters of the SRF scheduler: none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SrfConfig {}

impl Parameters for SrfConfig {
    fn fits(&self, switch: &SwitchConfig, _: &Surroundings, problems: &mut Problems) {
        let remedy = format!(
            "it ranks flows, and the {} assignment mixes them in a queue; use assignment \"per-flow\" or \
             \"dynamic\"",
            switch.assignment.kind()
        );
        problems.unless(switch.assignment.parts_flows(), "scheduling.kind", "srf", remedy);
    }
}

/// The SRF scheduler: active queues by (class, remaining bytes of the head packet).
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct Srf {
    active: IndexedHeap,
}

impl Srf {
    pub(crate) fn new(_: &SrfConfig, _: &Egress) -> Self {
        Srf::default()
    }
}

impl Policy for Srf {
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

    fn head_changed(&mut self, number: u32, class: u8, head: &Packet) {
        self.active.set(number, (u64::from(class) << 32) | u64::from(head.remaining));
    }
}

#[cfg(test)]
#[path = "srf_tests.rs"]
mod tests;
