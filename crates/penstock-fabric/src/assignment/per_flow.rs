//! Ideal: a queue for each flow, without limit. No switch can do so. BFC's and AFQ's ideal fair
//! queueing use this assignment.
//!
//! A flow keeps its queue while it has packets, and after that until the scheduler has forgotten the
//! flow: bit-by-bit round robin must remember a flow's last finish until the round has passed it.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use hashbrown::HashMap;
use penstock_packet::{Packet, SwitchFacts};
use penstock_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Assigning, Parameters, Policy};
use crate::parts::{MixedKeys, reduce};
use crate::port::Port;

/// Queue numbers are 16 bits wide. With more flows at one port, flows share queues.
const QUEUES_MAX: usize = 1 << 16;

/// Parameters of the per-flow assignment: none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PerFlowConfig {}

impl Parameters for PerFlowConfig {
    /// A port starts without data queues and adds queues as flows come.
    fn queue_classes(&self, _: usize) -> Vec<u8> {
        Vec::new()
    }

    fn queues(&self) -> Option<u32> {
        None
    }

    fn is_per_flow(&self) -> bool {
        true
    }
}

/// The queues of one egress port.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
struct PortFlows {
    #[borsh(
        serialize_with = "penstock_units::state::save_members",
        deserialize_with = "penstock_units::state::read_members"
    )]
    queue_of: HashMap<u32, u16, MixedKeys>,
    /// Owner of each queue, and whether the queue stands in `idle`; index 0 is the control queue.
    owners: Vec<(u32, bool)>,
    /// Queues that ran empty, oldest first.
    idle: VecDeque<u16>,
}

/// The per-flow assignment of a switch.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct PerFlow {
    ports: Vec<PortFlows>,
}

impl PerFlow {
    pub(crate) fn new(_: &PerFlowConfig, facts: &SwitchFacts) -> Self {
        let flows = || PortFlows { owners: alloc::vec![(0, false)], ..PortFlows::default() };
        PerFlow { ports: core::iter::repeat_with(flows).take(facts.ports.len()).collect() }
    }

    fn queue_of(&mut self, arrival: Assigning<'_>) -> u16 {
        let flows = &mut self.ports[usize::from(arrival.egress)];
        let flow = arrival.packet.flow_hash;
        if let Some(&queue) = flows.queue_of.get(&flow) {
            return queue;
        }
        let queue = match flows.reclaim(arrival.port) {
            Some(queue) => queue,
            None if arrival.port.queues().len() == QUEUES_MAX => {
                let shared = 1 + reduce(flow, QUEUES_MAX as u32 - 1) as u16;
                flows.queue_of.insert(flow, shared);
                return shared;
            }
            None => {
                flows.owners.push((flow, false));
                arrival.port.add_queue(0)
            }
        };
        flows.owners[usize::from(queue)].0 = flow;
        flows.queue_of.insert(flow, queue);
        queue
    }
}

impl PortFlows {
    /// The oldest empty queue that the scheduler has forgotten.
    fn reclaim(&mut self, port: &Port) -> Option<u16> {
        while let Some(&queue) = self.idle.front() {
            let is_empty = port.queues()[usize::from(queue)].packets.is_empty();
            if is_empty && !port.is_settled(queue) {
                return None;
            }
            self.idle.pop_front();
            let owner = &mut self.owners[usize::from(queue)];
            owner.1 = false;
            if is_empty {
                self.queue_of.remove(&owner.0);
                return Some(queue);
            }
        }
        None
    }
}

impl Policy for PerFlow {
    #[inline]
    fn assign(&mut self, arrival: Assigning<'_>) -> Option<u16> {
        Some(self.queue_of(arrival))
    }

    fn on_dequeue(&mut self, _: Time, egress: u16, packet: &Packet, port: &Port) {
        if port.queues()[usize::from(packet.queue)].packets.is_empty() {
            let flows = &mut self.ports[usize::from(egress)];
            let owner = &mut flows.owners[usize::from(packet.queue)];
            if !owner.1 {
                owner.1 = true;
                flows.idle.push_back(packet.queue);
            }
        }
    }
}

#[cfg(test)]
#[path = "per_flow_tests.rs"]
mod tests;
