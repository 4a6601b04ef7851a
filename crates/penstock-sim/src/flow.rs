//! Flows that are alive, by the names that the packet pool gives.
//!
//! A run needs memory only for the flows that are alive at one time. A name is used again only when
//! no packet bears it, because a late duplicate must find the route on which it was sent.

use penstock_units::Time;

/// One-to-one pairs of flow numbers and flow hashes. No two flows of a run look alike to a switch,
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
#[derive(Clone, Copy, Debug, Default)]
pub struct Flow {
    /// Hash of the flow; see [`FlowNames`].
    pub hash: u32,
    /// Sending host.
    pub source: u32,
    /// Receiving host.
    pub destination: u32,
    /// Index of the traffic entry.
    pub label: u16,
    /// Priority class.
    pub class: u8,
    /// Whether the flow has not ended.
    pub is_live: bool,
    /// Number in order of arrival.
    pub number: u64,
    /// Bytes to send; 0 for endless.
    pub size: u64,
    /// When the flow arrived.
    pub start: Time,
    /// Completion time of the same flow alone on its path.
    pub ideal: Time,
    /// Propagation and pipeline delays on the way to the destination.
    pub latency: Time,
    /// Time that a byte takes on all links to the destination, in units of 2^-10 ps.
    pub byte_time: u64,
}

/// All flows that are alive, by name.
#[derive(Debug)]
pub struct FlowSlots {
    /// What the simulator knows, by name.
    pub flows: Vec<Flow>,
    /// Routes: for each name `stride` links to the destination and `stride` links back.
    pub routes: Vec<u32>,
    stride: usize,
}

impl FlowSlots {
    /// No flows; `stride` is the largest number of links of a path.
    pub fn new(stride: usize) -> Self {
        FlowSlots { flows: vec![], routes: vec![], stride }
    }

    /// Enters a flow under its `name`. A flow that has ended may have had the same name.
    pub fn insert(&mut self, name: u32, flow: Flow, forward: &[u32], back: &[u32]) {
        if self.flows.len() <= name as usize {
            self.flows.resize(name as usize + 1, Flow::default());
            self.routes.resize(2 * self.stride * self.flows.len(), u32::MAX);
        }
        self.flows[name as usize] = flow;
        for (is_reply, links) in [(false, forward), (true, back)] {
            let route = self.route(name, is_reply);
            self.routes[route..route + links.len()].copy_from_slice(links);
        }
    }

    /// Marks the flow with this name as ended.
    pub fn end(&mut self, name: u32) {
        self.flows[name as usize].is_live = false;
    }

    /// Where the route of the flow starts in `routes`: to the destination, or with `is_reply` back.
    #[inline]
    pub fn route(&self, name: u32, is_reply: bool) -> usize {
        (2 * name as usize + usize::from(is_reply)) * self.stride
    }

    /// The flow with the name `slot`; none when that flow has ended.
    #[inline]
    pub fn live_flow(&self, slot: u32) -> Option<&Flow> {
        let flow = &self.flows[slot as usize];
        flow.is_live.then_some(flow)
    }

    /// The names of all flows that have not ended, by ascending number.
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
