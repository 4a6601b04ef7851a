//! Flows that are alive: a slab of slots, so that a run needs memory for the flows it has at a time
//! and not for those it has had. A slot is used again only when no packet of its flow is left: a
//! duplicate that is still on its way must find the route it was sent on.

use penstock_transport::{Receiver, Sender};
use penstock_units::Time;

/// Flow numbers and flow hashes, one to one, so that no two flows of a run are confused by a switch
/// and a trace can name the flow behind a hash.
#[derive(Clone, Copy, Debug)]
pub struct FlowNames {
    key: u32,
}

/// An odd multiplier that spreads consecutive numbers (2^32 over the golden ratio), and its inverse
/// modulo 2^32.
const SPREAD: u32 = 0x9e37_79b1;
const GATHER: u32 = 0x0e8b_2f51;

impl FlowNames {
    /// Names that depend on `seed`.
    pub fn new(seed: u64) -> Self {
        FlowNames { key: penstock_engine::stream::mix(seed) as u32 }
    }

    /// The hash of flow `number`; different for any two of 2^32 consecutive numbers.
    pub fn hash(self, number: u64) -> u32 {
        (number as u32 ^ self.key).wrapping_mul(SPREAD)
    }

    /// The number of the flow with `hash`, modulo 2^32.
    pub fn number(self, hash: u32) -> u64 {
        u64::from(hash.wrapping_mul(GATHER) ^ self.key)
    }
}

/// What the simulator knows about a flow beside its sender and receiver.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flow {
    /// See [`FlowNames`].
    pub hash: u32,
    /// Sending host.
    pub source: u32,
    /// Receiving host.
    pub destination: u32,
    /// Index of the traffic entry.
    pub label: u16,
    /// Priority class.
    pub class: u8,
    /// Whether its packets carry the incast label.
    pub is_incast: bool,
    /// Whether the flow has not ended.
    pub is_live: bool,
    /// When the event for its timers is due; [`Time::NEVER`] when none is pending.
    pub timer: Time,
    /// Packets of the flow that are queued or on a wire, acknowledgements included.
    pub packets: u32,
    /// Number in order of arrival.
    pub number: u64,
    /// Bytes to send; 0 for endless.
    pub size: u64,
    /// When it arrived.
    pub start: Time,
    /// Completion time of the same flow alone on its path.
    pub ideal: Time,
    /// Propagation and pipelines on the way there.
    pub latency: Time,
    /// Time of a byte on all links of the way there, in units of 2^-10 ps.
    pub byte_time: u64,
}

/// All flows that are alive. A slot indexes every column.
#[derive(Debug)]
pub struct FlowSlots {
    /// What the simulator knows.
    pub flows: Vec<Flow>,
    /// Sending ends.
    pub senders: Vec<Sender>,
    /// Receiving ends.
    pub receivers: Vec<Receiver>,
    /// Routes: for each slot `stride` links there and `stride` links back.
    pub routes: Vec<u32>,
    stride: u32,
    free: Vec<u32>,
}

impl FlowSlots {
    /// No flows; `stride` is the largest number of links of a path.
    pub fn new(stride: usize) -> Self {
        FlowSlots {
            flows: vec![],
            senders: vec![],
            receivers: vec![],
            routes: vec![],
            stride: stride as u32,
            free: vec![],
        }
    }

    /// Puts a flow into a free slot and returns it.
    pub fn insert(&mut self, flow: Flow, sender: Sender, receiver: Receiver) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.flows[slot as usize] = flow;
            self.senders[slot as usize] = sender;
            self.receivers[slot as usize] = receiver;
            return slot;
        }
        let slot = self.flows.len() as u32;
        self.flows.push(flow);
        self.senders.push(sender);
        self.receivers.push(receiver);
        self.routes.resize(self.routes.len() + 2 * self.stride as usize, u32::MAX);
        slot
    }

    /// The flow in `slot` has ended.
    pub fn end(&mut self, slot: u32) {
        self.flows[slot as usize].is_live = false;
        self.free_if_unused(slot);
    }

    /// A packet of the flow in `slot` is no more.
    #[inline]
    pub fn release_packet(&mut self, slot: u32) {
        self.flows[slot as usize].packets -= 1;
        self.free_if_unused(slot);
    }

    #[inline]
    fn free_if_unused(&mut self, slot: u32) {
        let flow = &self.flows[slot as usize];
        if flow.packets == 0 && !flow.is_live {
            self.free.push(slot);
        }
    }

    /// Where the way there starts in `routes`.
    #[inline]
    pub fn forward(&self, slot: u32) -> u32 {
        slot * 2 * self.stride
    }

    /// Where the way back starts in `routes`.
    #[inline]
    pub fn back(&self, slot: u32) -> u32 {
        slot * 2 * self.stride + self.stride
    }

    /// The flow in `slot`, unless it has ended.
    #[inline]
    pub fn live_flow(&self, slot: u32) -> Option<&Flow> {
        let flow = &self.flows[slot as usize];
        flow.is_live.then_some(flow)
    }

    /// The slots of flows that have not ended, in the order of their flows' numbers.
    pub fn live(&self) -> Vec<u32> {
        let mut slots: Vec<u32> = (0..self.flows.len() as u32)
            .filter(|&slot| self.flows[slot as usize].is_live)
            .collect();
        slots.sort_unstable_by_key(|&slot| self.flows[slot as usize].number);
        slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn names_are_one_to_one(seed: u64, number in 0u64..1 << 32) {
            let names = FlowNames::new(seed);
            prop_assert_eq!(names.number(names.hash(number)), number);
        }
    }
}
