//! Flows that are alive, by the names that a partition's packet pool gives.
//!
//! A run needs memory only for the flows that are alive at one time. A flow has two halves, at its
//! two hosts. Where the hosts are in two partitions, each of them knows the flow by a name of its own.

use std::collections::HashMap;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_fabric::parts::MixedKeys;
use penstock_units::Time;

/// One-to-one pairs of flow numbers and flow hashes. No two flows of a run look alike to a switch,
/// and a trace can name the flow behind a hash.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct FlowNames {
    key: u32,
}

/// An odd multiplier that spreads consecutive numbers (2^32 over the golden ratio), and its inverse
/// modulo 2^32.
const SPREAD: u32 = 0x9e37_79b1;
const GATHER: u32 = 0x0e8b_2f51;

impl FlowNames {
    /// Pairs that depend on `seed`.
    pub fn new(seed: u64) -> Self {
        FlowNames { key: penstock_engine::stream::mix(seed) as u32 }
    }

    /// The hash of flow `number`. Any two of 2^32 consecutive numbers have different hashes.
    pub fn hash(self, number: u64) -> u32 {
        (number as u32 ^ self.key).wrapping_mul(SPREAD)
    }

    /// The number of the flow with `hash`, modulo 2^32.
    pub fn number(self, hash: u32) -> u64 {
        u64::from(hash.wrapping_mul(GATHER) ^ self.key)
    }
}

/// What the simulator knows about a flow. The hosts keep their own state of the flow.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
#[repr(align(64))]
pub struct Flow {
    /// Sending host.
    pub source: u32,
    /// Receiving host.
    pub destination: u32,
    /// Index of the traffic entry.
    pub label: u16,
    /// Priority class.
    pub class: u8,
    /// Whether the source is here, and the flow has not completed.
    pub is_sending: bool,
    /// Whether the destination is here, and does not know yet that the flow has completed.
    pub is_receiving: bool,
    /// Whether others wait for the destination to have the last byte, and the destination has it not yet.
    pub is_receipt_awaited: bool,
    /// Number in the run; without dependent traffic in order of arrival.
    pub number: u64,
    /// Bytes to send; 0 for endless.
    pub size: u64,
    /// Whether the flow neither has a last byte nor stops.
    pub is_endless: bool,
    /// When the flow arrived.
    pub start: Time,
    /// Completion time of the same flow alone on its path.
    pub ideal: Time,
    /// Propagation and pipeline delays on the way to the destination.
    pub latency: Time,
    /// Time that a byte takes on all links to the destination, in units of 2^-10 ps.
    pub byte_time: u64,
}

const _: () = assert!(size_of::<Flow>() == 64, "each data packet reads it: one cache line");

/// The flows of a partition, by name.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub struct FlowSlots {
    /// What the simulator knows, by name. The entry of a name that nobody bears is of an earlier flow.
    pub flows: Vec<Flow>,
    /// By hash: the names of the flows, where there are several partitions. A packet that comes from
    /// another partition bears no name, even where both ends of its flow are here.
    names: Option<HashMap<u32, u32, MixedKeys>>,
    /// The hashes of the flows.
    hashes: FlowNames,
}

impl FlowSlots {
    /// No flows yet, in one of so many partitions.
    pub fn new(partitions: usize, hashes: FlowNames) -> Self {
        FlowSlots { flows: vec![], names: (partitions > 1).then(HashMap::default), hashes }
    }

    /// Enters a flow under its `name`. A flow that has ended may have had the same name.
    pub fn insert(&mut self, name: u32, flow: Flow) {
        if let Some(names) = &mut self.names {
            names.insert(self.hashes.hash(flow.number), name);
        }
        if self.flows.len() <= name as usize {
            self.flows.resize(name as usize + 1, Flow::default());
        }
        self.flows[name as usize] = flow;
    }

    /// The source of the flow has received its last acknowledgement. True when nothing of the flow is
    /// left here.
    pub fn end_sending(&mut self, name: u32) -> bool {
        self.flows[name as usize].is_sending = false;
        self.forget(name)
    }

    /// The destination knows that the flow has completed. True when nothing of the flow is left here.
    pub fn end_receiving(&mut self, name: u32) -> bool {
        self.flows[name as usize].is_receiving = false;
        self.forget(name)
    }

    fn forget(&mut self, name: u32) -> bool {
        let flow = &self.flows[name as usize];
        let is_over = !flow.is_sending && !flow.is_receiving;
        if is_over && let Some(names) = &mut self.names {
            names.remove(&self.hashes.hash(flow.number));
        }
        is_over
    }

    /// The name here of the flow with `hash`, where there are several partitions; 0 when the flow is not
    /// known.
    pub fn name_of(&self, hash: u32) -> u32 {
        self.names.as_ref().and_then(|names| names.get(&hash)).copied().unwrap_or(0)
    }

    /// The flow named `name`, as long as its destination listens.
    #[inline]
    pub fn receiving(&self, name: u32) -> Option<&Flow> {
        self.flows.get(name as usize).filter(|flow| flow.is_receiving)
    }

    /// How many flows have a name.
    pub fn named(&self) -> u64 {
        let is_named = |flow: &&Flow| flow.is_sending || flow.is_receiving;
        self.flows.iter().filter(is_named).count() as u64
    }

    /// The flows that have not completed and whose source is here, with their names, by ascending
    /// number.
    pub fn sending(&self) -> Vec<(u32, &Flow)> {
        self.live(|flow| flow.is_sending)
    }

    /// The flows to which a destination here listens, with their names, by ascending number.
    pub fn listening(&self) -> Vec<(u32, &Flow)> {
        self.live(|flow| flow.is_receiving)
    }

    fn live(&self, is_live: impl Fn(&Flow) -> bool) -> Vec<(u32, &Flow)> {
        let mut live: Vec<(u32, &Flow)> =
            (0u32..).zip(&self.flows).filter(|(_, flow)| is_live(flow)).collect();
        live.sort_unstable_by_key(|(_, flow)| flow.number);
        live
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
