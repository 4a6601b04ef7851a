//! NDP: a flow sends its first bytes blindly, and the rest as its receiver pulls them.
//!
//! M. Handley et al., "Re-architecting Datacenter Networks and Stacks for Low Latency and High Performance"
//! (NDP), SIGCOMM 2017, sec. 3.2. The paper was not at hand: the rules are those of the authors' simulator
//! (Broadcom/csg-htsim, `ndp.cpp`). Implemented:
//! - A sender sends a window at line rate, without asking anybody.
//! - Every packet that arrives, whole or trimmed, makes the receiver pull another one, until the flow has
//!   been allowed as many bytes as it needs: its size, and once more what was trimmed. In the simulator every
//!   packet pulls, until all bytes have arrived.
//! - A PULL carries the number of all bytes that the receiver has allowed, so that a lost PULL does no harm
//!   when another one follows.
//!
//! [`crate::puller`] paces the PULLs of a host, [`crate::recovery::trimmed_headers`] sends again what was
//! trimmed, and the switches trim (admission "trimming"). Packets should be sprayed (`routing`).
//!
//! Left out: the sender's own record of which paths trim most, the PULLs of higher priority, and
//! acknowledgements that are PULLs as well, where no other PULL waits.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::{BitRate, Bytes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::control::hooks::{AtDestination, AtSource, Parameters};
use crate::flow::FlowFacts;
use crate::path::PathFacts;
use crate::planner::Planner;
use crate::puller::Puller;

/// Parameters of [`Ndp`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NdpConfig {
    /// Bytes sent without a PULL, in bandwidth-delay products of the longest path.
    ///
    /// They are whole packets, and the same at all hosts.
    #[schemars(extend(
        "exclusiveMinimum" = 0,
        "default" = 1.0,
        "source" = "our choice: what fills the path, as NDP wants; csg-htsim (ndp.cpp): 15 packets of 9 KB"
    ))]
    pub bdp_factor: f64,
}

impl Parameters for NdpConfig {
    /// PULLs leave as fast as the link of the host takes full packets.
    fn planner(&self, path: &PathFacts, rate: BitRate) -> Option<Planner> {
        let packet = Bytes::new(u64::from(path.payload + path.data_overhead));
        Some(Planner::Pulls(Puller::new(rate.transmission_time(packet))))
    }

    fn unscheduled_bytes(&self, path: &PathFacts) -> u64 {
        path.whole_packets(self.bdp_factor)
    }
}

/// What the receiver of one flow has allowed, at its sender.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct Ndp {
    /// Bytes that may leave in all, those that leave again included.
    allowed: u64,
}

impl Ndp {
    /// A new flow, which nobody has pulled.
    pub fn new(_config: &NdpConfig, flow: &FlowFacts) -> Self {
        Ndp { allowed: flow.unscheduled.min(flow.size) }
    }
}

impl AtSource for Ndp {
    fn on_grant(&mut self, offset: u64, _level: Option<u8>) {
        self.allowed = self.allowed.max(offset);
    }

    /// The bytes that may leave in all. It serves as the window, because recovery compares it with all bytes
    /// that have left.
    #[inline]
    fn window(&self) -> u64 {
        self.allowed
    }
}

/// What the receiver of one flow has allowed, and what it has yet to allow.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct Pulls {
    payload: u64,
    /// Bytes that the sender may send in all.
    allowed: u64,
    /// Bytes that the sender has to send in all, as far as the receiver knows.
    needed: u64,
    /// PULLs that wait for their turn.
    waiting: u32,
}

impl Pulls {
    /// A new flow, of which nothing has arrived.
    pub fn new(_config: &NdpConfig, flow: &FlowFacts) -> Self {
        Pulls {
            payload: u64::from(flow.path.payload),
            allowed: flow.unscheduled.min(flow.size),
            needed: flow.size,
            waiting: 0,
        }
    }
}

impl AtDestination for Pulls {
    fn asks_for_pull(&mut self, trimmed: u32) -> bool {
        self.needed = self.needed.saturating_add(u64::from(trimmed));
        if self.allowed + u64::from(self.waiting) * self.payload >= self.needed {
            return false;
        }
        self.waiting += 1;
        self.waiting == 1
    }

    fn take_pull(&mut self) -> (u64, bool) {
        self.waiting -= 1;
        self.allowed = (self.allowed + self.payload).min(self.needed);
        (self.allowed, self.waiting > 0)
    }
}

#[cfg(test)]
mod tests {
    use penstock_units::Time;

    use super::*;
    use crate::fixture;

    /// Both ends of a flow of `size` bytes. The window is that of the fixture's path: 100 packets of 1,000 B.
    fn ends(size: u64) -> (Ndp, Pulls) {
        let (config, path) = (NdpConfig { bdp_factor: 1.0 }, fixture::path());
        let unscheduled = config.unscheduled_bytes(&path);
        assert_eq!(unscheduled, 100_000);
        let flow =
            FlowFacts { number: 0, start: Time::ZERO, size, unscheduled, path: &path, clock: 0.0 };
        (Ndp::new(&config, &flow), Pulls::new(&config, &flow))
    }

    #[test]
    fn a_flow_within_the_window_is_not_pulled() {
        let (sender, mut receiver) = ends(40_000);
        assert_eq!(sender.window(), 40_000);
        assert!((0..40).all(|_| !receiver.asks_for_pull(0)));
    }

    #[test]
    fn each_packet_pulls_one_until_the_flow_is_allowed() {
        let (mut sender, mut receiver) = ends(102_500);
        assert!(receiver.asks_for_pull(0), "the first PULL that waits");
        assert!(!receiver.asks_for_pull(0) && !receiver.asks_for_pull(0), "two more");
        assert!(!receiver.asks_for_pull(0), "these are enough");
        for expected in [(101_000, true), (102_000, true), (102_500, false)] {
            let (allowed, more) = receiver.take_pull();
            assert_eq!((allowed, more), expected);
            sender.on_grant(allowed, None);
            assert_eq!(sender.window(), allowed);
        }
        assert!(!receiver.asks_for_pull(0));
    }

    #[test]
    fn what_was_trimmed_is_pulled_once_more() {
        let (_, mut receiver) = ends(1_500);
        assert!(receiver.asks_for_pull(1_000), "its first packet was trimmed");
        assert!(!receiver.asks_for_pull(0), "its second one was not");
        assert_eq!(receiver.take_pull(), (2_500, false));
    }

    #[test]
    fn a_late_pull_takes_nothing_back() {
        let (mut sender, _) = ends(1_000_000);
        sender.on_grant(103_000, None);
        sender.on_grant(101_000, None);
        assert_eq!(sender.window(), 103_000);
    }
}
