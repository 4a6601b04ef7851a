//! Pauses of single flows, by their identifiers: the ideal that BFC is held against, because BFC can only
//! pause the upstream queue that a packet came from (BFC, NSDI 2022, sec. 3.3.2).
//!
//! A packet that joins a queue longer than Th holds a counter until it leaves, as in BFC, but the counter is
//! that of its flow at its ingress. Going from 0 to 1 it pauses the flow at the upstream switch, going from 1
//! to 0 it resumes it. A switch knows which flows are paused at each of its ports, and a queue waits while the
//! packet at its head is of one of them. So a pause follows its flow into whatever queue it gets, and holds
//! nobody who gets a queue that the flow has left. The state has no bound, which is why it is no design for a
//! switch.
//!
//! The paper gives one sentence. Our choices: where flows share a queue, its head decides; links of hosts have
//! BFC's own pauses, as a NIC has a queue for each of its flows while they last; pauses are not told again, so
//! that a scenario with lost frames is refused; deadlocks among them are not looked for.
//!
//! | symbol | field | default | source |
//! |---|---|---|---|
//! | Th | `threshold` | 1 HRTT·µ/N_active | sec. 3.3.2 |

use alloc::vec;
use alloc::vec::Vec;

use hashbrown::{HashMap, HashSet};
use penstock_packet::{ControlFrame, Packet, PacketFlags, PacketPool, Signal, SwitchFacts};
use penstock_units::Time;
use serde::{Deserialize, Serialize};

use super::bfc::{Bfc, BfcConfig, ThresholdConfig};
use crate::parts::MixedKeys;
use crate::port::Port;

/// Parameters of pauses by flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowPausesConfig {
    /// The pause threshold.
    pub threshold: ThresholdConfig,
}

/// Pauses by flow at a switch.
#[derive(Debug)]
pub struct FlowPauses {
    /// Thresholds, and the pauses of the links of hosts.
    pub(crate) bfc: Bfc,
    is_from_host: Vec<bool>,
    /// Pause counters above 0, by ingress and flow.
    counters: HashMap<u64, u32, MixedKeys>,
    /// The flows that are paused at each egress.
    paused: Vec<HashSet<u32, MixedKeys>>,
}

fn key(packet: &Packet) -> u64 {
    u64::from(packet.ingress) << 32 | u64::from(packet.flow_hash)
}

impl FlowPauses {
    pub(crate) fn new(config: &FlowPausesConfig, facts: &SwitchFacts) -> Self {
        let pauses = BfcConfig {
            threshold: config.threshold.clone(),
            bitmap_interval: Time::ZERO,
            counts_last: true,
            elide_down_up: false,
            elide: vec![],
        };
        FlowPauses {
            bfc: Bfc::new(&pauses, facts),
            is_from_host: facts.ports.iter().map(|port| port.neighbour_tier == 0).collect(),
            counters: HashMap::default(),
            paused: vec![HashSet::default(); facts.ports.len()],
        }
    }

    /// `packet` has joined a queue that now holds `queue_bytes`.
    pub(crate) fn on_enqueue(
        &mut self,
        packet: &mut Packet,
        egress: u16,
        port: &Port,
        queue_bytes: u64,
    ) -> Option<ControlFrame> {
        if self.is_from_host[usize::from(packet.ingress)] {
            return self.bfc.on_enqueue(packet, egress, port, queue_bytes);
        }
        if !self.bfc.counts(packet, egress, port, queue_bytes) {
            return None;
        }
        packet.flags.insert(PacketFlags::COUNTED);
        let count = self.counters.entry(key(packet)).or_insert(0);
        *count += 1;
        if *count > 1 {
            return None;
        }
        let signal = Signal::PauseFlow(packet.flow_hash);
        Some(ControlFrame { port: packet.ingress, signal })
    }

    /// `packet` leaves.
    pub(crate) fn on_dequeue(&mut self, packet: &Packet) -> Option<ControlFrame> {
        if self.is_from_host[usize::from(packet.ingress)] {
            return self.bfc.on_dequeue(packet);
        }
        if !packet.flags.contains(PacketFlags::COUNTED) {
            return None;
        }
        let count = self.counters.get_mut(&key(packet))?;
        *count -= 1;
        if *count > 0 {
            return None;
        }
        self.counters.remove(&key(packet));
        let signal = Signal::ResumeFlow(packet.flow_hash);
        Some(ControlFrame { port: packet.ingress, signal })
    }

    /// The neighbour behind `egress` has paused or resumed `flow`.
    pub(crate) fn on_signal(&mut self, egress: u16, flow: u32, is_paused: bool) {
        let paused = &mut self.paused[usize::from(egress)];
        if is_paused {
            paused.insert(flow);
        } else {
            paused.remove(&flow);
        }
    }

    /// Whether the flow at the head of `queue` of `egress` is paused.
    pub(crate) fn is_head_paused(
        &self,
        (egress, queue): (u16, u16),
        port: &Port,
        pool: &PacketPool,
    ) -> bool {
        let head = port.queues()[usize::from(queue)].packets.head();
        let paused = &self.paused[usize::from(egress)];
        !paused.is_empty() && !head.is_none() && paused.contains(&pool[head].flow_hash)
    }

    /// Pauses or resumes `queue` of `egress`, which may have another head now.
    pub(crate) fn follow_head(
        &self,
        now: Time,
        at: (u16, u16),
        port: &mut Port,
        pool: &PacketPool,
    ) {
        let is_paused = self.is_head_paused(at, port, pool);
        port.set_queue_paused(now, at.1, is_paused, pool);
    }

    /// The pause counter of a packet's flow at its ingress, for checks.
    pub(crate) fn counter(&self, packet: &Packet) -> u32 {
        match self.is_from_host[usize::from(packet.ingress)] {
            true => self.bfc.counter(packet.ingress, packet.upstream_queue),
            false => self.counters.get(&key(packet)).copied().unwrap_or(0),
        }
    }

    /// Packets that hold a counter, for checks.
    pub(crate) fn counted(&self) -> u64 {
        self.bfc.counted() + self.counters.values().map(|&count| u64::from(count)).sum::<u64>()
    }
}

#[cfg(test)]
#[path = "flow_pauses_tests.rs"]
mod tests;
