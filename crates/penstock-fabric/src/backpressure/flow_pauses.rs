//! Pauses of single flows, by their identifiers. They are the ideal to which the paper compares BFC,
//! because BFC can only pause the upstream queue from which a packet came (BFC, NSDI 2022, sec. 3.3.2).
//!
//! A packet that joins a queue longer than Th holds a counter until it leaves, as in BFC. Here the
//! counter belongs to the packet's flow at its ingress. When the counter goes from 0 to 1, the flow is
//! paused at the upstream switch. When it goes from 1 to 0, the flow resumes. A switch knows which
//! flows are paused at each of its ports. A queue waits while the packet at its head belongs to a
//! paused flow. So a pause follows its flow into any queue, and does not hold a flow that gets a queue
//! which the paused flow has left. The state has no bound, so no switch can be built this way.
//!
//! The paper has one sentence on these pauses. Our choices:
//! - Where flows share a queue, its head decides.
//! - Links of hosts have BFC's own pauses, as a NIC has a queue for each of its flows while they last.
//! - Pauses are not repeated, so a scenario with lost frames is refused.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use hashbrown::{HashMap, HashSet};
use penstock_packet::{ControlFrame, Packet, PacketFlags, PacketPool, Signal};
use penstock_units::{Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bfc::{Bfc, BfcConfig, ThresholdConfig, fits_numbers};
use super::policy::{KeptPause, Parameters, Place, Policy, Stops};
use crate::admission::Admission;
use crate::config::{Surroundings, SwitchConfig};
use crate::parts::MixedKeys;
use crate::passing::Passing;
use crate::port::Port;
use crate::stored::Stored;

/// Parameters of pauses by flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowPausesConfig {
    /// Pause threshold (Th).
    #[schemars(extend(
        "default" = {"kind": "hop-rtts", "factor": 1.0},
        "source" = "BFC 3.3.2"
    ))]
    pub threshold: ThresholdConfig,
}

impl Parameters for FlowPausesConfig {
    fn fits(&self, switch: &SwitchConfig, around: &Surroundings, problems: &mut Problems) {
        let holds = !around.has_outages && !around.loses_control && !around.corrupts_frames;
        let remedy =
            "pauses of flows that are lost are not told again; use \"bfc\", or leave out faults";
        problems.unless(holds, "backpressure.kind", "flow-pauses", remedy);
        fits_numbers(switch, problems);
    }

    fn pauses_queues(&self) -> bool {
        true
    }
}

/// Pauses by flow at a switch.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct FlowPauses {
    /// BFC, for its thresholds and for the pauses of hosts' links.
    bfc: Bfc,
    is_from_host: Vec<bool>,
    /// Pause counters above 0, by ingress and flow.
    #[borsh(
        serialize_with = "penstock_units::state::save_members",
        deserialize_with = "penstock_units::state::read_members"
    )]
    counters: HashMap<u64, u32, MixedKeys>,
    /// The paused flows, by egress and flow.
    #[borsh(
        serialize_with = "penstock_units::state::save_members",
        deserialize_with = "penstock_units::state::read_members"
    )]
    paused: HashSet<u64, MixedKeys>,
}

/// The key of a packet that is counted: its flow at the port by which it came.
fn counted(packet: &Packet) -> u64 {
    key(packet.ingress, packet.flow_hash)
}

/// A key for a flow at a port.
fn key(port: u16, flow_hash: u32) -> u64 {
    u64::from(port) << 32 | u64::from(flow_hash)
}

impl FlowPauses {
    pub(crate) fn new(config: &FlowPausesConfig, place: &Place<'_>) -> Self {
        let pauses = BfcConfig {
            threshold: config.threshold.clone(),
            bitmap_interval: Time::ZERO,
            counts_last: true,
            elide_down_up: false,
            elide: vec![],
        };
        let facts = place.facts;
        FlowPauses {
            bfc: Bfc::new(&pauses, place),
            is_from_host: facts.ports.iter().map(|port| port.neighbour_tier == 0).collect(),
            counters: HashMap::default(),
            paused: HashSet::default(),
        }
    }

    /// Whether the flow at the head of `queue` of `egress` is paused.
    fn is_head_paused(&self, (egress, queue): (u16, u16), port: &Port, pool: &PacketPool) -> bool {
        let head = port.queues()[usize::from(queue)].packets.head();
        !self.paused.is_empty()
            && !head.is_none()
            && self.paused.contains(&key(egress, pool[head].flow_hash))
    }

    /// Pauses or resumes the queue of a packet that joined or left, because the queue may have a new
    /// head.
    fn follow_head(&self, passing: &mut Passing<'_>) {
        let at = (passing.egress, passing.packet().queue);
        let is_paused = self.is_head_paused(at, passing.port(), passing.pool);
        let port = &mut passing.ports[usize::from(at.0)];
        port.set_queue_paused(passing.now, at.1, is_paused, passing.pool);
    }

    /// The pause counter of a packet's flow at its ingress, for checks.
    fn counter(&self, packet: &Packet) -> u32 {
        match self.is_from_host[usize::from(packet.ingress)] {
            true => self.bfc.counter(packet.ingress, packet.upstream_queue),
            false => self.counters.get(&counted(packet)).copied().unwrap_or(0),
        }
    }

    /// Packets that hold a counter, for checks.
    fn counted(&self) -> u64 {
        self.bfc.counted() + self.counters.values().map(|&count| u64::from(count)).sum::<u64>()
    }
}

impl Policy for FlowPauses {
    fn on_enqueue(&mut self, joining: &mut Passing<'_>) -> Option<ControlFrame> {
        self.follow_head(joining);
        if self.is_from_host[usize::from(joining.packet().ingress)] {
            return self.bfc.on_enqueue(joining);
        }
        if !self.bfc.counts(joining) {
            return None;
        }
        let packet = joining.packet_mut();
        packet.flags.insert(PacketFlags::COUNTED);
        let count = self.counters.entry(counted(packet)).or_insert(0);
        *count += 1;
        if *count > 1 {
            return None;
        }
        let signal = Signal::PauseFlow(packet.flow_hash);
        Some(ControlFrame { port: packet.ingress, signal })
    }

    fn on_dequeue(&mut self, leaving: &mut Passing<'_>) -> Option<ControlFrame> {
        self.follow_head(leaving);
        let packet = leaving.packet();
        if self.is_from_host[usize::from(packet.ingress)] {
            return self.bfc.on_dequeue(leaving);
        }
        if !packet.flags.contains(PacketFlags::COUNTED) {
            return None;
        }
        let count = self.counters.get_mut(&counted(packet))?;
        *count -= 1;
        if *count > 0 {
            return None;
        }
        self.counters.remove(&counted(packet));
        let signal = Signal::ResumeFlow(packet.flow_hash);
        Some(ControlFrame { port: packet.ingress, signal })
    }

    fn on_signal(&mut self, egress: u16, _: &mut Port, signal: Signal, _: &PacketPool) {
        match signal {
            Signal::PauseFlow(flow) => drop(self.paused.insert(key(egress, flow))),
            Signal::ResumeFlow(flow) => drop(self.paused.remove(&key(egress, flow))),
            _ => {}
        }
    }

    fn holds(&self, at: (u16, u16), port: &Port, pool: &PacketPool) -> Option<bool> {
        Some(self.is_head_paused(at, port, pool))
    }

    fn threshold(&self, admission: &Admission, ingress: u16, egress: u16, port: &Port) -> i64 {
        self.bfc.threshold(admission, ingress, egress, port)
    }

    fn stops(&self) -> Option<Stops> {
        Some(Stops::Flows)
    }

    /// A flow is resumed when its last counted packet leaves.
    fn lasts(&self, _: &Admission, pause: &KeptPause, _: u64) -> bool {
        pause.bytes > 0
    }

    /// Checks that a queue waits only for the flow at its head, and that the counters match the counted
    /// packets.
    fn audit(&self, stored: &Stored<'_>) -> Result<(), String> {
        for (egress, number, queue) in stored.queues() {
            let port = &stored.ports[usize::from(egress)];
            if queue.is_paused != self.is_head_paused((egress, number), port, stored.pool) {
                return Err(format!(
                    "port {egress}, queue {number}: paused {}, unlike the flow at its head",
                    queue.is_paused
                ));
            }
        }
        let mut counted = 0;
        for (egress, number, packet) in stored.packets() {
            let is_counted = packet.flags.contains(PacketFlags::COUNTED);
            counted += u64::from(is_counted);
            if is_counted && self.counter(packet) == 0 {
                return Err(format!(
                    "port {egress}, queue {number}: a counted packet has no counter"
                ));
            }
        }
        if counted != self.counted() {
            return Err(format!(
                "{counted} counted packets are queued, pause counters hold {}",
                self.counted()
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "flow_pauses_tests.rs"]
mod tests;
