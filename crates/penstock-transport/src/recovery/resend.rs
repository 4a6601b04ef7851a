//! Homa's recovery: the receiver asks for the bytes that have not arrived.
//!
//! B. Montazeri et al., "Homa", SIGCOMM 2018, sec. 3.7. Implemented: a receiver that has waited for
//! granted bytes for a while sends RESEND for every gap, as Homa's Linux module does
//! (PlatformLab/HomaModule, `homa_gap_retry`). The paper, which was not at hand, is said to ask for the
//! first gap only. The sender answers with the bytes at the highest level, as in that module. It answers
//! with BUSY when it has not sent the bytes yet because shorter messages come first. Bytes may arrive in
//! any order, as with packet spraying.
//!
//! A message is acknowledged once, when all of it has arrived, so that completion times are comparable
//! with those of the other schemes (our choice: Homa's response or ACK does the same).
//!
//! A receiver does not know of a message from which nothing has arrived. So a sender that has had
//! nothing to send for the same time sends its first packet again (in Homa the client's RESEND for the
//! response finds an unknown RPC, with the same effect). A RESEND also grants the bytes that it asks
//! for, in case the grant was lost.

use core::ops::Range;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hooks::{AtDestination, AtSource, Parameters};
use super::lost_packets::LostPackets;
use super::reassembly::Reassembly;
use super::reply::Reply;
use crate::flow::{FlowFacts, FlowView, LossSignal};

/// Parameters of the recovery by RESEND.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResendConfig {
    /// Time without a granted packet after which the receiver asks again.
    ///
    /// A sender waits as long for its receiver.
    #[schemars(
        range(min = Time::LEAST_PERIOD.as_ps()),
        extend(
            "default" = "10 ms",
            "source" = "our choice: longer than the queues of BFC's incasts; Homa's Linux module \
                        (PlatformLab/HomaModule) has 5 ticks of a millisecond"
        )
    )]
    pub timeout: Time,
}

impl Parameters for ResendConfig {
    fn acknowledges_each(&self) -> bool {
        false
    }
}

/// The sending half: the bytes to send again, and when the sender reminds the receiver of the message.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Sending {
    lost: LostPackets,
    timeout: Time,
    payload: u32,
    /// When the first packet is sent again. From that packet the receiver learns of the message, or
    /// repeats a lost acknowledgement.
    expiry: Time,
}

impl Sending {
    pub(crate) fn new(config: &ResendConfig, flow: &FlowFacts) -> Self {
        Sending {
            lost: LostPackets::default(),
            timeout: config.timeout,
            payload: flow.path.payload,
            expiry: Time::NEVER,
        }
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

    fn take_lost(&mut self, payload: u32, _view: &FlowView) -> Option<(u64, u32)> {
        self.lost.take(payload)
    }

    #[inline]
    fn on_send(&mut self, now: Time, _offset: u64, _end: u64) -> bool {
        self.expiry = now.saturating_add(self.timeout);
        false
    }

    fn on_resend(&mut self, range: Range<u64>, next: u64) -> bool {
        let end = range.end.min(next);
        if range.start >= end || self.lost.contains(range.start) {
            return true;
        }
        self.lost.add(range.start, (end - range.start) as u32);
        false
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.expiry
    }

    /// Nothing could be sent for a while: the first packet, a grant or the acknowledgement may be lost.
    fn on_deadline(&mut self, now: Time, view: &mut FlowView) -> Option<LossSignal> {
        if now < self.expiry {
            return None;
        }
        self.expiry = now.saturating_add(self.timeout);
        if self.lost.bytes() == 0 {
            self.lost.add(0, view.next.min(u64::from(self.payload)) as u32);
        }
        Some(LossSignal::Timeout { in_flight: view.next, is_repeated: false })
    }
}

/// The receiving half: what has arrived, in any order.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Receiving {
    size: u64,
    timeout: Time,
    bytes: Reassembly,
    /// The end of the bytes that the sender may have sent.
    granted: u64,
    /// When the receiver asks again for granted bytes; [`Time::NEVER`] while it expects none.
    deadline: Time,
    /// The bytes before this one are already asked for, while a round of RESENDs is being made.
    asked: u64,
}

impl Receiving {
    /// Nothing has arrived.
    pub(crate) fn new(config: &ResendConfig, flow: &FlowFacts) -> Self {
        Receiving {
            size: flow.size,
            timeout: config.timeout,
            bytes: Reassembly::default(),
            granted: flow.unscheduled.min(flow.size),
            deadline: Time::NEVER,
            asked: 0,
        }
    }

    /// Restarts the time until the next RESEND.
    fn expect(&mut self, now: Time) {
        let is_due = self.delivered() < self.granted;
        self.deadline = if is_due { now.saturating_add(self.timeout) } else { Time::NEVER };
    }
}

impl AtDestination for Receiving {
    /// Only a whole message is acknowledged.
    fn on_data(&mut self, now: Time, offset: u64, payload: u32) -> Reply {
        let before = self.delivered();
        self.bytes.take(offset..offset + u64::from(payload));
        if self.delivered() > before {
            self.expect(now); // not for a repeated packet, or a sender's reminders would put off every RESEND
        }
        if self.bytes.expected() < self.size {
            return Reply::Nothing;
        }
        Reply::Acknowledge { cumulative: self.size }
    }

    /// Bytes that have arrived, in any order.
    #[inline]
    fn delivered(&self) -> u64 {
        self.bytes.arrived()
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.deadline
    }

    /// One gap per call.
    fn on_deadline(&mut self, now: Time) -> Option<Range<u64>> {
        if now < self.deadline {
            return None;
        }
        let gap = self.bytes.first_gap(self.asked..self.granted);
        self.asked = gap.as_ref().map_or(0, |gap| gap.end);
        if gap.is_none() {
            self.expect(now);
        }
        gap
    }

    fn on_grant(&mut self, now: Time, offset: u64) {
        self.granted = self.granted.max(offset);
        self.expect(now);
    }

    fn on_busy(&mut self, now: Time) {
        self.expect(now);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::fixture;

    const CONFIG: ResendConfig = ResendConfig { timeout: Time::from_us(1_000) };
    const NOTHING: Reply = Reply::Nothing;

    fn sending() -> Sending {
        Sending::new(&CONFIG, &fixture::flow(&fixture::path()))
    }

    fn take_lost(sending: &mut Sending) -> Option<(u64, u32)> {
        sending.take_lost(1_000, &FlowView::default())
    }

    /// The receiver of a message of `size` bytes. The first `unscheduled` bytes come without a grant.
    fn receiving(size: u64, unscheduled: u64) -> Receiving {
        Receiving::new(
            &CONFIG,
            &FlowFacts {
                number: 0,
                start: Time::ZERO,
                size,
                unscheduled,
                path: &fixture::path(),
                clock: 0.0,
            },
        )
    }

    #[test]
    fn a_message_that_arrives_in_any_order_is_acknowledged_once_it_is_whole() {
        let mut receiving = receiving(3_500, 100_000);
        for (offset, payload, reply, delivered) in [
            (2_000, 1_000, NOTHING, 1_000),
            (0, 1_000, NOTHING, 2_000),
            (0, 1_000, NOTHING, 2_000),
            (3_000, 500, NOTHING, 2_500),
            (1_000, 1_000, Reply::Acknowledge { cumulative: 3_500 }, 3_500),
        ] {
            assert_eq!(receiving.on_data(Time::ZERO, offset, payload), reply);
            assert_eq!(receiving.delivered(), delivered);
        }
        assert_eq!(receiving.deadline(), Time::NEVER);
    }

    #[test]
    fn gaps_are_asked_for_after_the_timeout_and_again() {
        let mut receiving = receiving(9_000, 4_000);
        assert_eq!(receiving.deadline(), Time::NEVER);
        receiving.on_data(Time::from_us(5), 0, 1_000);
        receiving.on_data(Time::from_us(6), 3_000, 1_000);
        assert_eq!(receiving.on_deadline(Time::from_us(1_005)), None);
        assert_eq!(receiving.on_deadline(Time::from_us(1_006)), Some(1_000..3_000));
        assert_eq!(receiving.on_deadline(Time::from_us(1_006)), None);
        assert_eq!(receiving.deadline(), Time::from_us(2_006));
        receiving.on_busy(Time::from_us(2_000));
        assert_eq!(receiving.on_deadline(Time::from_us(2_006)), None);
        receiving.on_data(Time::from_us(2_100), 1_000, 1_000);
        receiving.on_data(Time::from_us(2_101), 2_000, 1_000);
        assert_eq!(receiving.deadline(), Time::NEVER);
        receiving.on_grant(Time::from_us(2_200), 5_000);
        assert_eq!(receiving.on_deadline(Time::from_us(3_200)), Some(4_000..5_000));
    }

    #[test]
    fn a_repeated_packet_does_not_put_off_what_is_asked_for() {
        let mut receiving = receiving(9_000, 4_000);
        receiving.on_data(Time::ZERO, 0, 1_000);
        receiving.on_data(Time::from_us(900), 0, 1_000);
        assert_eq!(receiving.on_deadline(Time::from_us(1_000)), Some(1_000..4_000));
    }

    #[test]
    fn several_gaps_are_asked_for_one_after_the_other() {
        let mut receiving = receiving(9_000, 6_000);
        receiving.on_data(Time::ZERO, 1_000, 1_000);
        receiving.on_data(Time::ZERO, 4_000, 1_000);
        let now = Time::from_us(1_000);
        let gaps: Vec<_> = core::iter::from_fn(|| receiving.on_deadline(now)).collect();
        assert_eq!(gaps, [0..1_000, 2_000..4_000, 5_000..6_000]);
        assert_eq!(receiving.deadline(), Time::from_us(2_000));
        let next_round = receiving.on_deadline(Time::from_us(2_000));
        assert_eq!(next_round, Some(0..1_000), "a round begins with the first byte");
    }

    #[test]
    fn a_sender_answers_with_the_bytes_it_has_sent_or_is_busy() {
        let mut sending = sending();
        assert!(sending.on_resend(4_000..5_000, 4_000));
        assert!(!sending.on_resend(1_000..5_000, 2_500));
        assert!(sending.on_resend(1_000..5_000, 2_500), "it is about to send them");
        assert!(!sending.on_resend(0..500, 2_500));
        assert_eq!(take_lost(&mut sending), Some((1_000, 1_000)));
        assert_eq!(take_lost(&mut sending), Some((2_000, 500)));
        assert_eq!(take_lost(&mut sending), Some((0, 500)));
        assert_eq!(take_lost(&mut sending), None);
    }

    #[test]
    fn the_first_packet_is_sent_again_when_nothing_was_sent_for_a_while() {
        let mut sending = sending();
        let mut view = FlowView { acknowledged: 0, next: 2_500, newly_acknowledged: 0 };
        assert!(!sending.on_send(Time::from_us(1), 0, 1_000));
        assert_eq!(sending.on_deadline(Time::from_us(1_000), &mut view), None);
        let timeout = Some(LossSignal::Timeout { in_flight: 2_500, is_repeated: false });
        assert_eq!(sending.on_deadline(Time::from_us(1_001), &mut view), timeout);
        assert_eq!(sending.on_deadline(Time::from_us(1_001), &mut view), None);
        // The NIC may be paused for longer. The packet is then still sent again once.
        assert_eq!(sending.on_deadline(Time::from_us(2_001), &mut view), timeout);
        assert_eq!(take_lost(&mut sending), Some((0, 1_000)));
        assert_eq!(take_lost(&mut sending), None);
        view.next = 300; // a message of one short packet
        assert!(sending.on_deadline(Time::from_us(3_001), &mut view).is_some());
        assert_eq!(take_lost(&mut sending), Some((0, 300)));
        sending.on_send(Time::from_us(1_002), 0, 1_000);
        assert_eq!(sending.deadline(), Time::from_us(2_002));
    }
}
