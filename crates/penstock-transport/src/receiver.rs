//! One flow at its destination: the reply to a data packet.
//!
//! The reply echoes the data packet's mark, departure time and telemetry. The driver copies these
//! fields, because they need no state in the receiver.

use core::ops::Range;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;
use penstock_units::random::Pcg32;

use crate::config::HostConfig;
use crate::control::Counterpart;
use crate::credit::{Credit, CreditSignal};
use crate::flow::FlowFacts;
use crate::notification::Notification;
use crate::path::PathFacts;
use crate::recovery::{Receiving, Reply};

/// The receiving end of a flow.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Receiver {
    recovery: Receiving,
    control: Counterpart,
}

impl Receiver {
    /// The receiver of a flow of `size` bytes, 0 for an endless one, that has delivered nothing. `clock`,
    /// from -1 to 1, is the error of its host's clock as a share of what the controller allows.
    pub fn new(config: &HostConfig, size: u64, path: &PathFacts, clock: f64) -> Self {
        let flow = FlowFacts { clock, ..config.flow(size, path) };
        let recovery = Receiving::new(&config.recovery, &flow);
        Receiver { recovery, control: Counterpart::new(&config.controller, &flow) }
    }

    /// A data packet of `wire_bytes` (bytes, headers included) arrived at `now`, with or without a
    /// congestion mark. Answers the notification for the source, if one is due. The notification leaves
    /// ahead of the reply.
    #[inline]
    pub fn notification(
        &mut self,
        now: Time,
        wire_bytes: u32,
        is_marked: bool,
    ) -> Option<Notification> {
        self.control.on_data(now, wire_bytes, is_marked)
    }

    /// When a notification, a credit or a RESEND is due without a packet (ps); [`Time::NEVER`] when
    /// none is. A packet that arrives may move the deadline, later or earlier.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.recovery.deadline().min(self.control.deadline())
    }

    /// The next bytes that the receiver has waited for too long and asks for again, until there are
    /// none (Homa). May be called before the deadline.
    pub fn resend(&mut self, now: Time) -> Option<Range<u64>> {
        self.recovery.on_deadline(now)
    }

    /// The source was granted the bytes before `offset` (Homa).
    pub fn on_grant(&mut self, now: Time, offset: u64) {
        self.recovery.on_grant(now, offset);
    }

    /// The source has not sent yet the bytes that a RESEND asked for (Homa).
    pub fn on_busy(&mut self, now: Time) {
        self.recovery.on_busy(now);
    }

    /// The notification that is due at `now` without a packet, if there is one. May be called before
    /// the deadline.
    pub fn on_deadline(&mut self, now: Time) -> Option<Notification> {
        self.control.on_deadline(now)
    }

    /// The source asks for credits, or stops asking, at `now` (ExpressPass).
    pub fn on_credit_signal(&mut self, now: Time, signal: CreditSignal) {
        self.control.on_credit_signal(now, signal);
    }

    /// The credit that is due at `now`, if there is one. Draws the credit's size and the gap to the
    /// next credit.
    pub fn take_credit(&mut self, now: Time, rng: &mut Pcg32) -> Option<Credit> {
        self.control.take_credit(now, rng)
    }

    /// Data arrived at `now`, paid for by credit `number`, which had left `elapsed` before.
    pub fn on_credited_data(&mut self, now: Time, number: u16, elapsed: Time) {
        self.control.on_credited_data(now, number, elapsed);
    }

    /// A packet arrived, without `trimmed` bytes of its payload (bytes). Answers whether the flow has a PULL
    /// to send now, and had none before (NDP).
    pub fn asks_for_pull(&mut self, trimmed: u32) -> bool {
        self.control.asks_for_pull(trimmed)
    }

    /// A PULL leaves. Answers how many bytes the sender may send in all (bytes), and whether another PULL
    /// waits (NDP).
    pub fn take_pull(&mut self) -> (u64, bool) {
        self.control.take_pull()
    }

    /// A data packet with `payload` bytes from `offset` on arrived at `now`; `opens_pair` tells whether
    /// the packet is the first of a pair. Answers the time from the first packet of a pair to the
    /// second one, when this packet is the second (ps); zero otherwise.
    #[inline]
    pub fn pair_gap(&mut self, now: Time, offset: u64, payload: u32, opens_pair: bool) -> Time {
        self.control.pair_gap(now, offset, payload, opens_pair)
    }

    /// A data packet with `payload` bytes from `offset` on arrived at `now`.
    #[inline]
    pub fn on_data(&mut self, now: Time, offset: u64, payload: u32) -> Reply {
        self.recovery.on_data(now, offset, payload)
    }

    /// Bytes delivered to the application (bytes). Perfect recovery and RESEND count all bytes that
    /// arrived; the other recoveries count the bytes in order.
    #[inline]
    pub fn delivered(&self) -> u64 {
        self.recovery.delivered()
    }
}
