//! NDP's receivers: when the next PULL leaves, and for which flow.
//!
//! M. Handley et al., "Re-architecting Datacenter Networks and Stacks for Low Latency and High Performance"
//! (NDP), SIGCOMM 2017, sec. 3.2. The paper was not at hand: the rules are those of the authors' simulator
//! (Broadcom/csg-htsim, `ndp.cpp`). Implemented:
//! - Every packet that arrives, whole or trimmed, asks for a PULL. A host has one queue of them for all of
//!   its flows.
//! - PULLs leave no faster than full packets would fill the host's link, so that what they bring is no more
//!   than the link carries.
//! - The flows of a host take turns.
//!
//! What a PULL says is the flow's business (`control/ndp`). Left out: PULLs by priority.
//!
//! Invariant: a flow is in the list once while it has PULLs to send.

use alloc::collections::VecDeque;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;

/// The pulling half of one host.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Puller {
    /// Time that a full packet takes on the host's link.
    gap: Time,
    /// When the next PULL may leave.
    next_at: Time,
    /// The flows that have PULLs to send, the next one first.
    flows: VecDeque<u32>,
}

impl Puller {
    /// A puller of a host to which nothing has come. A full packet takes `gap` (ps) on its link.
    pub fn new(gap: Time) -> Self {
        Puller { gap, next_at: Time::ZERO, flows: VecDeque::new() }
    }

    /// The flow named `flow`, which had no PULLs to send, has some.
    pub fn enter(&mut self, flow: u32) {
        self.flows.push_back(flow);
    }

    /// The flow whose PULL leaves at `now`, if one may. It has to [enter](Puller::enter) again when it has
    /// more of them.
    pub fn take(&mut self, now: Time) -> Option<u32> {
        if now < self.next_at {
            return None;
        }
        let flow = self.flows.pop_front()?;
        self.next_at = now + self.gap;
        Some(flow)
    }

    /// The flow named `flow` needs no more PULLs.
    pub fn leave(&mut self, flow: u32) {
        self.flows.retain(|&other| other != flow);
    }

    /// When the next PULL leaves (ps); [`Time::NEVER`] while there is none.
    pub fn deadline(&self) -> Time {
        if self.flows.is_empty() { Time::NEVER } else { self.next_at }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn pulls_leave_as_fast_as_the_link_takes_packets_and_flows_take_turns() {
        let gap = Time::from_ns(84);
        let mut puller = Puller::new(gap);
        assert_eq!((puller.take(Time::ZERO), puller.deadline()), (None, Time::NEVER));
        puller.enter(7);
        puller.enter(9);
        let start = Time::from_ns(1_000);
        assert_eq!((puller.take(start), puller.take(start)), (Some(7), None));
        puller.enter(7);
        let mut taken = Vec::new();
        while puller.deadline() < Time::NEVER {
            let now = puller.deadline();
            taken.push((now - start, puller.take(now).unwrap()));
        }
        assert_eq!(taken, [(gap, 9), (gap * 2, 7)]);
        // The link was idle for a while: the next one leaves at once.
        puller.enter(8);
        assert_eq!(puller.take(start + gap * 10), Some(8));
    }
}
