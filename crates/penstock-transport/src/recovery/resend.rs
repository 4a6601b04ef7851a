//! Homa's recovery: the receiver asks for what has not arrived.
//!
//! B. Montazeri et al., "Homa", SIGCOMM 2018, sec. 3.7. Implemented: a receiver that has waited for
//! granted bytes for a while sends RESEND for every gap; the sender answers with the bytes at the
//! highest level, or with BUSY when it has not sent them yet because shorter messages come first. Bytes
//! may arrive in any order, as packet spraying delivers them.
//!
//! A message is acknowledged once, when all of it has arrived (our choice: Homa's response or ACK does
//! that), so that completion times are those of the other schemes. A message of which nothing has
//! arrived is not known to its receiver: a sender that has had nothing to send for as long sends its first
//! packet again (in Homa the client's RESEND for the response finds an unknown RPC, with the same effect).
//! A RESEND is a grant of what it asks for, in case the grant was lost.
//!
//! | symbol | field | value | source |
//! |---|---|---|---|
//! | - | `timeout` | 10 ms | Homa: "a few milliseconds"; our choice: longer than any queue of BFC's incasts |

use core::ops::Range;

use penstock_units::{Problems, Time};
use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::flow::{FlowView, LossSignal};
use crate::recovery::perfect;
use crate::recovery::reassembly::Reassembly;
use crate::recovery::reply::Reply;

/// Parameters of the recovery by RESEND.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResendConfig {
    /// How long one end waits for the other before it says so (ps), > 0.
    pub timeout: Time,
}

impl ResendConfig {
    /// Checks every field against its bounds.
    pub fn check(&self, problems: &mut Problems) {
        bounds::interval(problems, "timeout", self.timeout);
    }
}

/// The sending half: what is to be sent again, and when the receiver is reminded of the message.
#[derive(Clone, Debug)]
pub(crate) struct Sending {
    lost: perfect::Sending,
    timeout: Time,
    payload: u32,
    /// When the first packet is sent again, so that the receiver knows of the message, or repeats an
    /// acknowledgement that was lost.
    expiry: Time,
}

impl Sending {
    pub(crate) fn new(config: &ResendConfig, payload: u32) -> Self {
        Sending {
            lost: perfect::Sending::default(),
            timeout: config.timeout,
            payload,
            expiry: Time::NEVER,
        }
    }

    /// The receiver asks for `range`; the bytes before `next` were sent. Answers whether it has to be
    /// told that nothing is lost.
    pub(crate) fn on_resend(&mut self, range: Range<u64>, next: u64) -> bool {
        let end = range.end.min(next);
        if range.start >= end || self.lost.has_lost(range.start) {
            return true;
        }
        self.lost.on_drop(range.start, (end - range.start) as u32);
        false
    }

    /// Takes the next packet to send again: its offset and at most `payload` bytes.
    pub(crate) fn take_lost(&mut self, payload: u32) -> Option<(u64, u32)> {
        self.lost.take_lost(payload)
    }

    /// Bytes that are to be sent again.
    #[inline]
    pub(crate) fn lost_bytes(&self) -> u64 {
        self.lost.lost_bytes()
    }

    /// A packet leaves at `now`.
    #[inline]
    pub(crate) fn on_send(&mut self, now: Time) {
        self.expiry = now.saturating_add(self.timeout);
    }

    #[inline]
    pub(crate) fn expiry(&self) -> Time {
        self.expiry
    }

    /// Nothing could be sent for a while: the first packet, a grant or the acknowledgement may be lost.
    pub(crate) fn on_deadline(&mut self, now: Time, view: &FlowView) -> Option<LossSignal> {
        if now < self.expiry {
            return None;
        }
        self.expiry = now.saturating_add(self.timeout);
        if self.lost_bytes() == 0 {
            self.lost.on_drop(0, view.next.min(u64::from(self.payload)) as u32);
        }
        Some(LossSignal::Timeout { in_flight: view.next, is_repeated: false })
    }
}

/// The receiving half: what has arrived, in any order.
#[derive(Clone, Debug)]
pub(crate) struct Receiving {
    size: u64,
    timeout: Time,
    bytes: Reassembly,
    /// The bytes that the sender may have sent end here.
    granted: u64,
    /// When something granted is asked for again; [`Time::NEVER`] while nothing is expected.
    deadline: Time,
    /// The bytes before this are asked for again already, while that is being done.
    asked: u64,
}

impl Receiving {
    /// Nothing of `size` bytes has arrived, of which the first `unscheduled` come without a grant.
    pub(crate) fn new(config: &ResendConfig, size: u64, unscheduled: u64) -> Self {
        Receiving {
            size,
            timeout: config.timeout,
            bytes: Reassembly::default(),
            granted: unscheduled.min(size),
            deadline: Time::NEVER,
            asked: 0,
        }
    }

    /// `payload` bytes from `offset` on arrived at `now`; only a whole message is acknowledged.
    pub(crate) fn on_data(&mut self, now: Time, offset: u64, payload: u32) -> Reply {
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

    /// The sender may send the bytes before `offset` as of `now`.
    pub(crate) fn on_grant(&mut self, now: Time, offset: u64) {
        self.granted = self.granted.max(offset);
        self.expect(now);
    }

    /// The time until the next RESEND begins anew.
    pub(crate) fn expect(&mut self, now: Time) {
        let is_due = self.delivered() < self.granted;
        self.deadline = if is_due { now.saturating_add(self.timeout) } else { Time::NEVER };
    }

    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        self.deadline
    }

    /// The next bytes to ask for again at `now`, gap after gap, if that is due.
    pub(crate) fn on_deadline(&mut self, now: Time) -> Option<Range<u64>> {
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

    /// Bytes that have arrived, in any order.
    #[inline]
    pub(crate) fn delivered(&self) -> u64 {
        self.bytes.arrived()
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const CONFIG: ResendConfig = ResendConfig { timeout: Time::from_us(1_000) };
    const NOTHING: Reply = Reply::Nothing;

    #[test]
    fn a_message_that_arrives_in_any_order_is_acknowledged_once_it_is_whole() {
        let mut receiving = Receiving::new(&CONFIG, 3_500, 100_000);
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
        let mut receiving = Receiving::new(&CONFIG, 9_000, 4_000);
        assert_eq!(receiving.deadline(), Time::NEVER);
        receiving.on_data(Time::from_us(5), 0, 1_000);
        receiving.on_data(Time::from_us(6), 3_000, 1_000);
        assert_eq!(receiving.on_deadline(Time::from_us(1_005)), None);
        assert_eq!(receiving.on_deadline(Time::from_us(1_006)), Some(1_000..3_000));
        assert_eq!(receiving.on_deadline(Time::from_us(1_006)), None);
        assert_eq!(receiving.deadline(), Time::from_us(2_006));
        receiving.expect(Time::from_us(2_000)); // BUSY
        assert_eq!(receiving.on_deadline(Time::from_us(2_006)), None);
        receiving.on_data(Time::from_us(2_100), 1_000, 1_000);
        receiving.on_data(Time::from_us(2_101), 2_000, 1_000);
        assert_eq!(receiving.deadline(), Time::NEVER);
        receiving.on_grant(Time::from_us(2_200), 5_000);
        assert_eq!(receiving.on_deadline(Time::from_us(3_200)), Some(4_000..5_000));
    }

    #[test]
    fn a_repeated_packet_does_not_put_off_what_is_asked_for() {
        let mut receiving = Receiving::new(&CONFIG, 9_000, 4_000);
        receiving.on_data(Time::ZERO, 0, 1_000);
        receiving.on_data(Time::from_us(900), 0, 1_000);
        assert_eq!(receiving.on_deadline(Time::from_us(1_000)), Some(1_000..4_000));
    }

    #[test]
    fn several_gaps_are_asked_for_one_after_the_other() {
        let mut receiving = Receiving::new(&CONFIG, 9_000, 6_000);
        receiving.on_data(Time::ZERO, 1_000, 1_000);
        receiving.on_data(Time::ZERO, 4_000, 1_000);
        let now = Time::from_us(1_000);
        let gaps: Vec<_> = core::iter::from_fn(|| receiving.on_deadline(now)).collect();
        assert_eq!(gaps, [0..1_000, 2_000..4_000, 5_000..6_000]);
        assert_eq!(receiving.deadline(), Time::from_us(2_000));
    }

    #[test]
    fn a_sender_answers_with_the_bytes_it_has_sent_or_is_busy() {
        let mut sending = Sending::new(&CONFIG, 1_000);
        assert!(sending.on_resend(4_000..5_000, 4_000));
        assert!(!sending.on_resend(1_000..5_000, 2_500));
        assert!(sending.on_resend(1_000..5_000, 2_500), "it is about to send them");
        assert!(!sending.on_resend(0..500, 2_500));
        assert_eq!(sending.take_lost(1_000), Some((1_000, 1_000)));
        assert_eq!(sending.take_lost(1_000), Some((2_000, 500)));
        assert_eq!(sending.take_lost(1_000), Some((0, 500)));
        assert_eq!(sending.take_lost(1_000), None);
    }

    #[test]
    fn the_first_packet_is_sent_again_when_nothing_was_sent_for_a_while() {
        let mut sending = Sending::new(&CONFIG, 1_000);
        let view = FlowView { acknowledged: 0, next: 2_500, newly_acknowledged: 0 };
        sending.on_send(Time::from_us(1));
        assert_eq!(sending.on_deadline(Time::from_us(1_000), &view), None);
        assert!(sending.on_deadline(Time::from_us(1_001), &view).is_some());
        assert_eq!(sending.take_lost(1_000), Some((0, 1_000)));
        sending.on_send(Time::from_us(1_002));
        assert_eq!(sending.expiry(), Time::from_us(2_002));
    }
}
