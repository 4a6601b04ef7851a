//! Homa's sender: a message sends its first bytes without a grant, and the rest as its receiver grants
//! them.
//!
//! B. Montazeri, Y. Li, M. Alizadeh and J. Ousterhout, "Homa: A Receiver-Driven Low-Latency Transport
//! Protocol Using Network Priorities", SIGCOMM 2018, as P. Goyal et al., "Backpressure Flow Control",
//! NSDI 2022, App. A.2, evaluate it. Implemented here: unscheduled bytes and their level (sec. 3.2,
//! 3.4), granted bytes and their level. The receiver's half is [`crate::granter`]. The NIC chooses
//! which of a host's messages sends (SRPT: `nic.scheduling = "srf"`). [`crate::recovery::resend`]
//! repairs losses.
//!
//! A flow is a message. Left out: RPCs (a message has no response); cutoffs that receivers measure and
//! publish at run time (sec. 3.4; here all senders know the cutoffs of the workload); the mark of
//! incasts that makes unscheduled bytes few (sec. 3.7; BFC's evaluation has one-way messages).
//!
//! Where the sources are silent: RTTbytes is rounded up to whole packets, because a packet that is
//! partly unscheduled would need two levels. RTTbytes is the same at all hosts, because a receiver grants
//! what is behind the unscheduled bytes, and would have to know how many each sender has.

use alloc::format;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::{BitRate, Bytes, Problems};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::control::hooks::{AtSource, Parameters};
use crate::flow::{FlowFacts, SizeShare};
use crate::granter::Granter;
use crate::path::PathFacts;
use crate::planner::Planner;

/// Most priority levels. With the control queue they are as many queues as a strict scheduler serves.
pub const MAXIMUM_LEVELS: u32 = 127;

/// Parameters of [`Homa`]. Level 0 is the highest; unscheduled levels come before scheduled ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HomaConfig {
    /// Bytes sent without a grant, and granted at most, in bandwidth-delay products (RTTbytes).
    #[schemars(extend(
        "exclusiveMinimum" = 0,
        "default" = 1.0,
        "source" = "BFC A.2: the first BDP is unscheduled, at most 1 BDP in flight"
    ))]
    pub bdp_factor: f64,
    /// Messages that a receiver grants to at a time, and scheduled levels; null: by the traffic.
    ///
    /// By the traffic these are the switch's levels times its share of scheduled bytes.
    #[schemars(
        range(min = 1, max = MAXIMUM_LEVELS),
        extend(
            "default" = null,
            "source" = "BFC A.2: as many as scheduled levels, which follow the ratio of bytes"
        )
    )]
    pub overcommitment: Option<u32>,
    /// Largest message of each unscheduled level but the last, ascending; null: by the traffic.
    ///
    /// By the traffic every unscheduled level has equal bytes.
    #[schemars(
        length(max = MAXIMUM_LEVELS - 1),
        inner(range(min = 1)),
        extend(
            "default" = null,
            "source" = "Homa authors' simulator (PlatformLab/HomaSimulation): PriorityResolver.cc"
        )
    )]
    pub cutoffs: Option<Vec<Bytes>>,
}

impl HomaConfig {
    /// RTTbytes: a whole number of packets (bytes), at least one packet.
    pub fn rtt_bytes(&self, path: &PathFacts) -> u64 {
        path.whole_packets(self.bdp_factor)
    }

    /// The first scheduled level, which follows the unscheduled ones.
    pub fn first_scheduled_level(&self) -> u8 {
        self.cutoffs.as_ref().map_or(0, Vec::len) as u8 + 1
    }

    /// The level of the unscheduled bytes of a message of `size` bytes.
    fn unscheduled_level(&self, size: u64) -> u8 {
        let cutoffs = self.cutoffs.as_deref().unwrap_or_default();
        cutoffs.partition_point(|cutoff| cutoff.get() < size) as u8
    }
}

impl Parameters for HomaConfig {
    fn check(&self, problems: &mut Problems) {
        let cutoffs = self.cutoffs.as_deref().unwrap_or_default();
        if let Some(pair) = cutoffs.windows(2).find(|pair| pair[0] >= pair[1]) {
            let value = format!("{} after {}", pair[1], pair[0]);
            problems.unless(false, "cutoffs", value, "write ascending sizes");
        }
    }

    fn follows_sizes(&self) -> bool {
        true
    }

    fn follow_sizes(&mut self, sizes: &[SizeShare], path: &PathFacts, levels: u32) {
        *self = self.with_levels(sizes, self.rtt_bytes(path), levels);
    }

    /// Parameters left open stand for one unscheduled and one scheduled level.
    fn planner(&self, path: &PathFacts, _rate: BitRate) -> Option<Planner> {
        let overcommitment = self.overcommitment.unwrap_or(1);
        let first_level = self.first_scheduled_level();
        let rtt_bytes = self.rtt_bytes(path);
        Some(Planner::Grants(Granter::new(rtt_bytes, path.payload, overcommitment, first_level)))
    }

    fn unscheduled_bytes(&self, path: &PathFacts) -> u64 {
        self.rtt_bytes(path)
    }
}

/// The grants of one message, at its sender.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct Homa {
    unscheduled: u64,
    granted: u64,
    unscheduled_level: u8,
    scheduled_level: u8,
}

impl Homa {
    /// A new message, without grants.
    pub fn new(config: &HomaConfig, flow: &FlowFacts) -> Self {
        let unscheduled = flow.unscheduled;
        let unscheduled_level = config.unscheduled_level(flow.size);
        Homa { unscheduled, granted: unscheduled, unscheduled_level, scheduled_level: u8::MAX }
    }
}

impl AtSource for Homa {
    /// The receiver grants the bytes before `offset`; scheduled bytes leave at `level` from now on. A
    /// RESEND names no level. It grants the bytes that it asks for, in case the grant was lost.
    fn on_grant(&mut self, offset: u64, level: Option<u8>) {
        self.granted = self.granted.max(offset);
        self.scheduled_level = level.unwrap_or(self.scheduled_level);
    }

    /// The end of the granted bytes (bytes). It serves as the window, because nothing is acknowledged
    /// before the whole message.
    #[inline]
    fn window(&self) -> u64 {
        self.granted
    }

    #[inline]
    fn level(&self, offset: u64) -> u8 {
        if offset < self.unscheduled { self.unscheduled_level } else { self.scheduled_level }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};
    use alloc::vec;

    use super::*;
    use crate::control::ControllerConfig;
    use crate::fixture;

    fn config(cutoffs: &[u64]) -> HomaConfig {
        let cutoffs = Some(cutoffs.iter().map(|&size| Bytes::new(size)).collect());
        HomaConfig { bdp_factor: 1.0, overcommitment: Some(2), cutoffs }
    }

    fn homa(config: &HomaConfig, size: u64) -> Homa {
        let path = fixture::path();
        Homa::new(
            config,
            &FlowFacts {
                number: 0,
                start: penstock_units::Time::ZERO,
                size,
                unscheduled: config.unscheduled_bytes(&path),
                path: &path,
                clock: 0.0,
            },
        )
    }

    #[test]
    fn the_level_of_a_message_follows_its_size() {
        let config = config(&[500, 3_000]);
        let level = |size| homa(&config, size).level(0);
        assert_eq!([1, 500, 501, 3_000, 3_001, 1 << 40].map(level), [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn a_grant_moves_the_window_and_gives_the_level_of_scheduled_bytes() {
        let mut homa = homa(&config(&[500]), 1_000_000);
        assert_eq!((homa.window(), homa.level(99_000)), (100_000, 1));
        homa.on_grant(101_000, Some(3));
        assert_eq!((homa.window(), homa.level(99_000), homa.level(100_000)), (101_000, 1, 3));
        homa.on_grant(100_500, Some(2));
        assert_eq!((homa.window(), homa.level(100_000)), (101_000, 2));
        homa.on_grant(102_000, None);
        assert_eq!((homa.window(), homa.level(101_000)), (102_000, 2));
    }

    #[test]
    fn rtt_bytes_are_whole_packets() {
        let of = |bdp_factor| HomaConfig { bdp_factor, ..config(&[]) }.rtt_bytes(&fixture::path());
        assert_eq!([1.0, 1.0001, 1e-9].map(of), [100_000, 101_000, 1_000]);
        assert!(of(f64::MAX) >= 1 << 56);
    }

    /// The problems of `config`, one per line.
    fn refused(config: HomaConfig) -> String {
        let mut problems = Problems::default();
        ControllerConfig::Homa(config).check(&mut problems);
        problems.to_string()
    }

    #[test]
    fn cutoffs_that_do_not_ascend_are_refused() {
        let expected = "cutoffs is 500 B after 500 B; write ascending sizes";
        assert_eq!(refused(config(&[400, 500, 500])), expected);
        assert_eq!(refused(config(&[500, 501])), "");
    }

    #[test]
    fn parameters_out_of_bounds_are_refused() {
        let none = HomaConfig { overcommitment: Some(0), cutoffs: Some(vec![]), bdp_factor: 0.0 };
        let expected = "bdp_factor is 0.0; write above 0\novercommitment is 0; write 1 to 127";
        assert_eq!(refused(none), expected);
        assert_eq!(refused(config(&[0, 1])), "cutoffs[0] is 0 B; write 1 B or more");
        let many: Vec<_> = (1..128).collect();
        assert_eq!(refused(config(&many)), "cutoffs is a list of 127; write 0 to 126");
    }
}
