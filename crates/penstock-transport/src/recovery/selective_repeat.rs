//! Selective repeat as IRN does it: the receiver reports the packets that arrived ahead of a gap, and
//! the sender sends only the lost packets again.
//!
//! R. Mittal et al., "Revisiting Network Support for RDMA" (IRN), SIGCOMM 2018, Sec. 3. The paper was
//! not at hand: values are those of an implementation, conweave-project/conweave-ns3. Implemented:
//! - A negative acknowledgement carries the cumulative position and the packet that arrived. Other
//!   acknowledgements are cumulative, one per packet.
//! - A packet counts as lost once a later packet is known to have arrived.
//! - The timeout is static, and short while few packets are in flight.
//! - New packets leave only while no more than a bandwidth-delay product is outstanding (BDP-FC).
//!
//! Left out: the extensions for RDMA operations (its Sec. 5). The paper's bitmaps are sets of ranges
//! here; the cap on outstanding bytes bounds the sets as it bounds the bitmaps.
//!
//! After a timeout all outstanding bytes that are not known to have arrived count as lost, as in that
//! implementation. By the rule of the later packet alone, a lost tail would cost a timeout per packet.
//!
//! Where the paper is silent:
//! - A packet is sent again once. A retransmission that is lost waits for the timeout.
//! - Every acknowledgement with new information restarts the timer. In that implementation each packet
//!   that is sent does so, too, and acknowledgements without news.
//! - A retransmission needs room in the controller's window. Lost and selectively acknowledged bytes
//!   are not in flight for the window.

use alloc::format;

use super::hooks::{AtSource, Parameters};
pub(crate) use super::reassembly::Receiving;
use super::scoreboard::{News, Scoreboard};
use crate::flow::{FlowFacts, FlowView, LossSignal};
use crate::path::Acknowledgement;
use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::{Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the values come from.
const SIMULATOR: &str = "IRN in ConWeave's simulator (conweave-project/conweave-ns3)";

/// Parameters of selective repeat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelectiveRepeatConfig {
    /// Outstanding data at most, in bandwidth-delay products of the longest path.
    #[schemars(extend(
        "exclusiveMinimum" = 0,
        "default" = 1.0,
        "source" = format!("{SIMULATOR}: IrnBdp")
    ))]
    pub bdp_factor: f64,
    /// Timeout with few packets outstanding (RTO_low).
    #[schemars(
        range(min = Time::LEAST_PERIOD.as_ps()),
        extend("default" = "100 us", "source" = format!("{SIMULATOR}: IrnRtoLow"))
    )]
    pub timeout_low: Time,
    /// Timeout otherwise (RTO_high), at least timeout_low.
    #[schemars(
        range(min = Time::LEAST_PERIOD.as_ps()),
        extend("default" = "320 us", "source" = format!("{SIMULATOR}: IrnRtoHigh"))
    )]
    pub timeout_high: Time,
    /// Packets outstanding that are few (N).
    #[schemars(extend("unit" = "packets", "default" = 3, "source" = format!("{SIMULATOR}: 3 in GetRto")))]
    pub low_packets: u32,
}

impl Parameters for SelectiveRepeatConfig {
    fn check(&self, problems: &mut Problems) {
        let (low, high) = (self.timeout_low, self.timeout_high);
        let remedy = format!("write at least timeout_low, {low}");
        problems.unless(high >= low, "timeout_high", high, remedy);
    }

    fn reports_losses(&self) -> bool {
        true
    }
}

/// The sending half.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Sending {
    board: Scoreboard,
    /// A new packet leaves only while no more than this is outstanding (bytes).
    cap: u64,
    timeout_low: Time,
    timeout_high: Time,
    /// The parameter `low_packets` in bytes.
    low_bytes: u64,
    /// The recovery ends when everything below this byte is acknowledged; `None` outside a recovery.
    recovery_end: Option<u64>,
    /// When the timer was started; [`Time::NEVER`] while nothing is outstanding.
    started_at: Time,
    /// When to look at the timer: `timeout_low` after its start, or later.
    expiry: Time,
    /// Whether the timer has expired since the last progress.
    has_expired: bool,
}

impl Sending {
    pub(crate) fn new(config: &SelectiveRepeatConfig, flow: &FlowFacts) -> Self {
        let path = flow.path;
        Sending {
            board: Scoreboard::new(path.payload),
            cap: ((path.bdp.get() as f64 * config.bdp_factor) as u64).max(1),
            timeout_low: config.timeout_low,
            timeout_high: config.timeout_high,
            low_bytes: u64::from(config.low_packets) * u64::from(path.payload),
            recovery_end: None,
            started_at: Time::NEVER,
            expiry: Time::NEVER,
            has_expired: false,
        }
    }

    fn restart(&mut self, now: Time) {
        self.started_at = now;
        self.expiry = now.saturating_add(self.timeout_low);
    }

    fn stop(&mut self) {
        self.started_at = Time::NEVER;
        self.expiry = Time::NEVER;
    }
}

impl AtSource for Sending {
    #[inline]
    fn lost_bytes(&self, _outstanding: u64) -> u64 {
        self.board.lost_bytes()
    }

    #[inline]
    fn departed_bytes(&self) -> u64 {
        self.board.departed_bytes()
    }

    /// The cap does not hold back retransmissions.
    #[inline]
    fn has_room(&self, outstanding: u64, window: u64) -> bool {
        let is_below_cap = self.board.lost_bytes() > 0 || outstanding < self.cap;
        self.has_window(outstanding, window) && is_below_cap
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.expiry
    }

    fn take_lost(&mut self, _payload: u32, _view: &FlowView) -> Option<(u64, u32)> {
        self.board.take_lost()
    }

    #[inline]
    fn on_send(&mut self, now: Time, _offset: u64, _end: u64) -> bool {
        if self.started_at == Time::NEVER {
            self.restart(now);
        }
        false
    }

    fn on_acknowledgement(
        &mut self,
        now: Time,
        ack: &Acknowledgement,
        view: &mut FlowView,
    ) -> Option<LossSignal> {
        let news = self.board.on_acknowledgement(ack, view);
        if news == News::default() {
            return None;
        }
        self.board.lose_gaps(view);
        self.has_expired = false;
        if view.next == view.acknowledged {
            self.stop();
        } else {
            self.restart(now);
        }
        let in_flight = view.next - view.acknowledged;
        match self.recovery_end {
            Some(end) if view.acknowledged >= end => {
                self.recovery_end = None;
                Some(LossSignal::RecoveryExit { in_flight })
            }
            None if news.is_ahead => {
                self.recovery_end = Some(view.next);
                Some(LossSignal::FastRetransmit { in_flight })
            }
            _ => None,
        }
    }

    /// All outstanding bytes that are not known to have arrived count as lost.
    fn on_deadline(&mut self, now: Time, view: &mut FlowView) -> Option<LossSignal> {
        if now < self.expiry {
            return None;
        }
        let in_flight = view.next - view.acknowledged;
        let late = self.started_at.saturating_add(self.timeout_high);
        if in_flight > self.low_bytes && now < late {
            self.expiry = late;
            return None;
        }
        self.board.lose_all(view);
        self.recovery_end = Some(view.next);
        self.stop(); // until the first retransmission leaves
        let is_repeated = core::mem::replace(&mut self.has_expired, true);
        Some(LossSignal::Timeout { in_flight, is_repeated })
    }
}

#[cfg(test)]
#[path = "selective_repeat_tests.rs"]
mod tests;
