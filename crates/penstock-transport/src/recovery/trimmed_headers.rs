//! Recovery by trimmed headers: a switch cuts off the payload that it cannot store, the receiver reports the
//! header that arrives, and the sender sends those bytes again.
//!
//! M. Handley et al., "Re-architecting Datacenter Networks and Stacks for Low Latency and High Performance"
//! (NDP), SIGCOMM 2017, sec. 3.2. The paper was not at hand: rules and values are those of the authors'
//! simulator (Broadcom/csg-htsim, `ndp.cpp`). Implemented:
//! - The receiver acknowledges each packet, and reports each header: a notice of a drop (NACK there).
//! - Packets arrive in any order, and none counts as lost because a later one has arrived.
//! - What was trimmed is sent again before new bytes, in the order of the reports (there: by position).
//! - A timer is the last resort, for headers, acknowledgements and PULLs that are lost: what is not known to
//!   have arrived is sent again, without a PULL. There each packet has a timer. Here the flow has one, for
//!   the first packet that is neither known to have arrived nor reported as trimmed. When the timer expires,
//!   the other packets that were on the way with that one go along.
//! - When the timer of a pulled flow expires and all that has left has arrived, the last PULLs are lost. The
//!   sender then sends a window of new bytes unasked, as at its start. There nothing follows.
//!
//! With the controller "ndp" the window is what the receiver has allowed in all, and all bytes that have left
//! count against it. With other controllers the window is what may be in flight, and trimmed bytes are not.

use core::ops::Range;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hooks::{AtSource, Parameters};
use super::lost_packets::LostPackets;
use super::range_set::RangeSet;
pub(crate) use super::reassembly::Receiving;
use super::reply::arrived_ahead;
use crate::flow::{FlowFacts, FlowView, LossSignal};
use crate::path::Acknowledgement;

/// Parameters of the recovery by trimmed headers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrimmedHeadersConfig {
    /// Time after which a packet without a report is sent again.
    #[schemars(
        range(min = Time::LEAST_PERIOD.as_ps()),
        extend("default" = "5 ms", "source" = "csg-htsim (ndp.h): DEFAULT_RTO_MIN")
    )]
    pub timeout: Time,
}

impl Parameters for TrimmedHeadersConfig {
    fn needs_trimming(&self) -> bool {
        true
    }
}

/// The sending half.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Sending {
    payload: u32,
    timeout: Time,
    /// Size of the flow (bytes); `u64::MAX` for an endless one.
    size: u64,
    /// Bytes that may leave at the start, before the first PULL; `u64::MAX` where nobody pulls.
    unscheduled: u64,
    /// The bytes before this one are acknowledged.
    acknowledged: u64,
    /// The bytes before this one have left.
    next: u64,
    /// Bytes that are known to have arrived ahead of a gap.
    received: RangeSet,
    lost: LostPackets,
    /// Bytes that have left because the receiver allowed it.
    sent: u64,
    /// Lost bytes that may leave without being allowed, after a timeout.
    forced: u64,
    /// Bytes that may leave in all after a timeout, whatever the receiver has allowed.
    unasked: u64,
    expiry: Time,
    /// The timer is that of the bytes before this one.
    timed: u64,
    /// Whether the timer has expired since the last report.
    has_expired: bool,
}

impl Sending {
    /// Nothing was sent.
    pub(crate) fn new(config: &TrimmedHeadersConfig, flow: &FlowFacts) -> Self {
        Sending {
            payload: flow.path.payload,
            timeout: config.timeout,
            size: flow.size,
            unscheduled: flow.unscheduled,
            acknowledged: 0,
            next: 0,
            received: RangeSet::default(),
            lost: LostPackets::default(),
            sent: 0,
            forced: 0,
            unasked: 0,
            expiry: Time::NEVER,
            timed: u64::MAX,
            has_expired: false,
        }
    }

    /// Whether the bytes of `range` are known to have arrived.
    fn has_arrived(&self, range: Range<u64>) -> bool {
        range.end <= self.acknowledged || self.received.missing(range) == 0
    }

    /// Whether the window is what the receiver has allowed in all.
    fn is_pulled(&self) -> bool {
        self.unscheduled < u64::MAX
    }

    fn start_timer(&mut self, now: Time) {
        self.expiry = now.saturating_add(self.timeout);
        self.timed = u64::MAX;
    }

    /// A report has come at `now`. The timer starts anew if the report was about the first packet of which
    /// the sender knows nothing (`is_news`), or if that packet waits to be sent again.
    fn on_report(&mut self, now: Time, is_news: bool) {
        self.has_expired = false;
        if is_news || self.lost.contains(self.acknowledged) {
            self.start_timer(now);
        } else {
            self.timed = self.timed.min(self.next);
        }
    }
}

impl AtSource for Sending {
    #[inline]
    fn lost_bytes(&self, _outstanding: u64) -> u64 {
        self.lost.bytes()
    }

    /// Bytes that are trimmed, or known to have arrived.
    #[inline]
    fn departed_bytes(&self) -> u64 {
        self.lost.bytes() + self.received.bytes()
    }

    #[inline]
    fn has_room(&self, outstanding: u64, window: u64) -> bool {
        match self.is_pulled() {
            true => self.forced > 0 || self.sent < window.max(self.unasked),
            false => self.has_window(outstanding, window),
        }
    }

    fn take_lost(&mut self, payload: u32, _view: &FlowView) -> Option<(u64, u32)> {
        self.lost.take(payload)
    }

    #[inline]
    fn on_send(&mut self, now: Time, offset: u64, end: u64) -> bool {
        let bytes = end - offset;
        match self.forced {
            0 => self.sent += bytes,
            forced => self.forced = forced.saturating_sub(bytes),
        }
        if self.expiry == Time::NEVER || self.next == self.acknowledged {
            self.start_timer(now);
        }
        self.next = self.next.max(end);
        false
    }

    fn on_acknowledgement(
        &mut self,
        now: Time,
        ack: &Acknowledgement,
        view: &mut FlowView,
    ) -> Option<LossSignal> {
        let is_news = view.acknowledged > self.acknowledged;
        self.acknowledged = view.acknowledged;
        self.next = view.next;
        self.lost.forget(view.acknowledged);
        self.forced = self.forced.min(self.lost.bytes());
        let known = self.received.advance(view.acknowledged).1;
        view.newly_acknowledged = view.newly_acknowledged.saturating_sub(known);
        if let Some(range) = arrived_ahead(ack, u64::from(self.payload), view) {
            view.newly_acknowledged += self.received.insert(range);
        }
        self.on_report(now, is_news);
        let has_all = view.next == view.acknowledged;
        if has_all && (!self.is_pulled() || view.next >= self.size) {
            self.expiry = Time::NEVER;
        }
        None
    }

    fn on_switch_drop(&mut self, now: Time, offset: u64, payload: u32) -> bool {
        let range = offset..offset + u64::from(payload);
        if self.has_arrived(range) || self.lost.contains(offset) {
            return false;
        }
        self.lost.add(offset, payload);
        self.on_report(now, false);
        true
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.expiry
    }

    /// What is not known to have arrived is sent again, whether or not the receiver has allowed it. If all
    /// has arrived, new bytes follow.
    fn on_deadline(&mut self, now: Time, view: &mut FlowView) -> Option<LossSignal> {
        if now < self.expiry {
            return None;
        }
        let outstanding = view.next - view.acknowledged;
        let in_flight = outstanding.saturating_sub(self.departed_bytes());
        let reported = core::mem::take(&mut self.lost);
        let (mut from, end) = (view.acknowledged, view.next.min(self.timed));
        while let Some(gap) = self.received.first_gap(from..end) {
            from = gap.end;
            self.lost.add_range(gap);
        }
        self.forced = self.lost.bytes();
        self.lost.add_from(&reported, end);
        if outstanding == 0 {
            self.unasked = self.sent.saturating_add(self.unscheduled);
        }
        self.start_timer(now);
        let is_repeated = core::mem::replace(&mut self.has_expired, true);
        Some(LossSignal::Timeout { in_flight, is_repeated })
    }
}

#[cfg(test)]
#[path = "trimmed_headers_tests.rs"]
mod tests;
