//! Go-Back-N as RDMA NICs do it: the receiver takes bytes in order only, and after a gap the sender
//! starts again at the gap.
//!
//! Source: the RoCE NIC model of alibaba-edu/High-Precision-Congestion-Control, which is the default in
//! the evaluation of BFC (P. Goyal et al., NSDI 2022, Sec. 6.2.1). The receiver reports a gap with one
//! negative acknowledgement and repeats the report only after an interval. The sender rewinds and
//! continues at its current rate.
//!
//! Differs from that model: duplicates are acknowledged again, and the sender has a retransmission
//! timer without back-off. Without both, the loss of a flow's last packet or of a negative
//! acknowledgement would stall the flow for ever. That model relies on a lossless network.

use super::hooks::{AtDestination, AtSource, Parameters};
use super::reply::Reply;
use crate::flow::{FlowFacts, FlowView, LossSignal};
use crate::path::Acknowledgement;
use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;
use penstock_units::source::HPCC_SIMULATOR;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of Go-Back-N.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GoBackNConfig {
    /// Time without an acknowledgement after which everything in flight is sent again.
    ///
    /// Several round trips, pauses included.
    #[schemars(
        range(min = Time::LEAST_PERIOD.as_ps()),
        extend(
            "default" = "4 ms",
            "source" = "our choice: above every pause seen, so that it fires after losses only"
        )
    )]
    pub timeout: Time,
    /// Time before which a receiver does not report the same gap again.
    #[schemars(extend("default" = "500 us", "source" = HPCC_SIMULATOR))]
    pub nack_interval: Time,
}

impl Parameters for GoBackNConfig {}

/// The sending half: the retransmission timer and the furthest byte of the flow that was sent.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Sending {
    timeout: Time,
    /// When the timer expires; [`Time::NEVER`] while nothing is in flight.
    expiry: Time,
    /// The end of the furthest byte that was ever sent.
    furthest: u64,
    /// Whether the timer has expired since new bytes were acknowledged.
    has_expired: bool,
}

impl Sending {
    pub(crate) fn new(config: &GoBackNConfig, _flow: &FlowFacts) -> Self {
        Sending { timeout: config.timeout, expiry: Time::NEVER, furthest: 0, has_expired: false }
    }
}

impl AtSource for Sending {
    #[inline]
    fn on_send(&mut self, now: Time, offset: u64, end: u64) -> bool {
        if self.expiry == Time::NEVER {
            self.expiry = now.saturating_add(self.timeout);
        }
        let is_retransmission = offset < self.furthest;
        self.furthest = self.furthest.max(end);
        is_retransmission
    }

    /// A negative acknowledgement rewinds the flow, unless it asks for bytes that are already
    /// acknowledged.
    fn on_acknowledgement(
        &mut self,
        now: Time,
        ack: &Acknowledgement,
        view: &mut FlowView,
    ) -> Option<LossSignal> {
        self.has_expired &= view.newly_acknowledged == 0;
        if ack.is_negative && ack.cumulative == view.acknowledged {
            view.next = view.acknowledged;
        }
        if view.next == view.acknowledged {
            self.expiry = Time::NEVER;
        } else if view.newly_acknowledged > 0 {
            self.expiry = now.saturating_add(self.timeout);
        }
        None
    }

    /// The flow starts again at the first unacknowledged byte.
    fn on_deadline(&mut self, now: Time, view: &mut FlowView) -> Option<LossSignal> {
        if now < self.expiry {
            return None;
        }
        let in_flight = view.next - view.acknowledged;
        self.expiry = Time::NEVER;
        view.next = view.acknowledged;
        let is_repeated = core::mem::replace(&mut self.has_expired, true);
        Some(LossSignal::Timeout { in_flight, is_repeated })
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.expiry
    }
}

/// The receiving half.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Receiving {
    /// The next byte in order.
    expected: u64,
    nack_interval: Time,
    /// The gap that was reported last, and when it may be reported again.
    reported_gap: Option<u64>,
    report_again_at: Time,
}

impl Receiving {
    pub(crate) fn new(config: &GoBackNConfig, _flow: &FlowFacts) -> Self {
        Receiving {
            expected: 0,
            nack_interval: config.nack_interval,
            reported_gap: None,
            report_again_at: Time::ZERO,
        }
    }
}

impl AtDestination for Receiving {
    fn on_data(&mut self, now: Time, offset: u64, payload: u32) -> Reply {
        if offset <= self.expected {
            self.expected = self.expected.max(offset + u64::from(payload));
            return Reply::Acknowledge { cumulative: self.expected };
        }
        if self.reported_gap == Some(self.expected) && now < self.report_again_at {
            return Reply::Nothing;
        }
        self.reported_gap = Some(self.expected);
        self.report_again_at = now.saturating_add(self.nack_interval);
        Reply::Negative { expected: self.expected, received: offset }
    }

    /// Bytes delivered in order.
    #[inline]
    fn delivered(&self) -> u64 {
        self.expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    const JSON: &str = r#"{"kind":"go-back-n","timeout":1000000000,"nack_interval":500000000}"#;

    fn receiving() -> Receiving {
        let (timeout, nack_interval) = (Time::from_ms(1), Time::from_us(500));
        let config = GoBackNConfig { timeout, nack_interval };
        Receiving::new(&config, &fixture::flow(&fixture::path()))
    }

    #[test]
    fn bytes_in_order_are_acknowledged_one_by_one() {
        let mut receiving = receiving();
        for packet in 0..3 {
            let reply = receiving.on_data(Time::ZERO, packet * 1_000, 1_000);
            assert_eq!(reply, Reply::Acknowledge { cumulative: (packet + 1) * 1_000 });
        }
        assert_eq!(
            receiving.on_data(Time::ZERO, 3_000, 1),
            Reply::Acknowledge { cumulative: 3_001 }
        );
        assert_eq!(receiving.delivered(), 3_001);
    }

    #[test]
    fn a_gap_is_reported_once_per_interval() {
        let mut receiving = receiving();
        receiving.on_data(Time::ZERO, 0, 1_000);
        let gap = |received| Reply::Negative { expected: 1_000, received };
        assert_eq!(receiving.on_data(Time::from_us(1), 2_000, 1_000), gap(2_000));
        assert_eq!(receiving.on_data(Time::from_us(2), 3_000, 1_000), Reply::Nothing);
        assert_eq!(receiving.on_data(Time::from_us(500), 4_000, 1_000), Reply::Nothing);
        assert_eq!(receiving.on_data(Time::from_us(501), 5_000, 1_000), gap(5_000));
        assert_eq!(receiving.delivered(), 1_000);
    }

    #[test]
    fn another_gap_is_reported_at_once() {
        let mut receiving = receiving();
        receiving.on_data(Time::ZERO, 1_000, 1_000);
        receiving.on_data(Time::ZERO, 0, 1_000);
        let reply = receiving.on_data(Time::ZERO, 2_000, 1_000);
        assert_eq!(reply, Reply::Negative { expected: 1_000, received: 2_000 });
    }

    #[test]
    fn a_duplicate_is_acknowledged_again() {
        let mut receiving = receiving();
        receiving.on_data(Time::ZERO, 0, 1_000);
        receiving.on_data(Time::ZERO, 1_000, 1_000);
        let reply = receiving.on_data(Time::ZERO, 0, 1_000);
        assert_eq!(reply, Reply::Acknowledge { cumulative: 2_000 });
    }

    #[test]
    fn a_timeout_is_a_repeated_one_until_new_bytes_are_acknowledged() {
        let config = GoBackNConfig { timeout: Time::from_us(100), nack_interval: Time::ZERO };
        let mut sending = Sending::new(&config, &fixture::flow(&fixture::path()));
        let (mut now, mut state) = (Time::ZERO, fixture::view(1, 2, 0));
        let mut expire = |sending: &mut Sending| {
            sending.on_send(now, state.acknowledged, 2_000);
            now += Time::from_us(100);
            state.next = 2_000;
            match sending.on_deadline(now, &mut state) {
                Some(LossSignal::Timeout { in_flight, is_repeated }) => (in_flight, is_repeated),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(expire(&mut sending), (1_000, false));
        assert_eq!(expire(&mut sending), (1_000, true));
        // An acknowledgement of nothing new is no progress.
        let ack = Acknowledgement::plain(1_000);
        sending.on_acknowledgement(Time::ZERO, &ack, &mut fixture::view(1, 1, 0));
        assert_eq!(expire(&mut sending), (1_000, true));
        let one_byte = FlowView { acknowledged: 1_001, next: 1_001, newly_acknowledged: 1 };
        let ack = Acknowledgement::plain(1_001);
        sending.on_acknowledgement(Time::ZERO, &ack, &mut { one_byte });
        assert_eq!(expire(&mut sending), (1_000, false));
    }

    #[test]
    fn parameters_are_read_and_written_and_refused_out_of_bounds() {
        fixture::check_recovery(JSON, &[(JSON.replace("1000000000", "0"), "timeout")]);
    }
}
