//! Perfect retransmission: the switch that drops a packet tells the sender, and the sender sends
//! exactly those bytes again, once.
//!
//! P. Goyal et al., "Backpressure Flow Control", NSDI 2022, Sec. 6.2.1 (HPCC-PFC): a bound on what any
//! retransmission scheme can do. Real switches do not report every drop, so no real switch can offer
//! this recovery. The receiver counts bytes in any order. It sees every byte once, because only dropped
//! bytes are sent again. No timer is needed, because every drop is reported.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hooks::{AtDestination, AtSource, Parameters};
use super::lost_packets::LostPackets;
use super::reply::Reply;
use crate::flow::{FlowFacts, FlowView};

/// Perfect retransmission has no parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PerfectConfig {}

impl Parameters for PerfectConfig {}

/// The sending half: the packets that were dropped and not sent again yet.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Sending {
    lost: LostPackets,
}

impl Sending {
    /// Nothing was dropped.
    pub(crate) fn new(_config: &PerfectConfig, _flow: &FlowFacts) -> Self {
        Sending { lost: LostPackets::default() }
    }
}

impl AtSource for Sending {
    #[inline]
    fn lost_bytes(&self, _outstanding: u64) -> u64 {
        self.lost.bytes()
    }

    #[inline]
    fn departed_bytes(&self) -> u64 {
        self.lost.bytes()
    }

    /// The receiver counts bytes in any order, so its count does not include the dropped bytes.
    #[inline]
    fn end_of_flight(&self, next: u64) -> u64 {
        next.saturating_sub(self.lost.bytes())
    }

    fn take_lost(&mut self, payload: u32, _view: &FlowView) -> Option<(u64, u32)> {
        self.lost.take(payload)
    }

    fn on_switch_drop(&mut self, _now: Time, offset: u64, payload: u32) -> bool {
        self.lost.add(offset, payload);
        true
    }
}

/// The receiving half: a count.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Receiving {
    delivered: u64,
}

impl Receiving {
    /// Nothing has arrived.
    pub(crate) fn new(_config: &PerfectConfig, _flow: &FlowFacts) -> Self {
        Receiving { delivered: 0 }
    }
}

impl AtDestination for Receiving {
    #[inline]
    fn on_data(&mut self, _now: Time, _offset: u64, payload: u32) -> Reply {
        self.delivered += u64::from(payload);
        Reply::Acknowledge { cumulative: self.delivered }
    }

    /// Bytes delivered in any order.
    #[inline]
    fn delivered(&self) -> u64 {
        self.delivered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    const JSON: &str = r#"{"kind":"perfect"}"#;

    #[test]
    fn there_are_no_parameters() {
        let config = fixture::check_recovery(JSON, &[]);
        assert!(!config.reports_losses() && !config.needs_trimming());
    }

    /// The receiver's count ends 1,500 B before the last byte that was sent, until those are sent again.
    #[test]
    fn the_count_of_a_flight_leaves_out_what_was_dropped() {
        let mut sending = Sending::new(&PerfectConfig {}, &fixture::flow(&fixture::path()));
        sending.on_switch_drop(Time::ZERO, 1_000, 1_000);
        sending.on_switch_drop(Time::ZERO, 7_000, 500);
        assert_eq!(sending.end_of_flight(10_000), 8_500);
        sending.take_lost(1_000, &FlowView::default());
        assert_eq!(sending.end_of_flight(10_000), 9_500);
    }
}
