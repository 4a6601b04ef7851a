//! PCN: a congested flow falls to the rate at which its data arrive. Any other flow gains rate, first
//! gently, then aggressively.
//!
//! W. Cheng et al., "Re-architecting Congestion Management in Lossless Ethernet" (PCN), NSDI 2020, Sec.
//! 5.2 and 5.3. Implemented: the reaction point (Algorithm 1) and the notification point (NP algorithm,
//! Fig. 8 and 9). The switch does the marking that PCN expects (NP-ECN). A flow is congested in a
//! period in which more than 95 % of its packets were marked. A notification leaves at the end of every
//! period that brought packets. The notification of a congested flow carries the receiving rate in
//! units of 1 Mb/s.
//!
//! Where the paper is silent, at the sender:
//! - The receiving rate is a whole number of Mb/s, so a very slow flow is told zero. Such a flow keeps
//!   `minimum_rate`, one such unit (our choice: the smallest rate that a notification can name).
//! - The rate is a whole number of bits per second. An increase is rounded to the nearest number, so
//!   that the rate reaches the line rate (our choice).
//! - A drop that a switch reports changes nothing (our choice: PCN runs over PFC).
//!
//! Where the paper is silent or contradicts itself, at the receiver:
//! - The receiving rate is the bytes of the period over its length. The text has the fraction upside
//!   down.
//! - One packet in a period: the text replaces T by the time since the previous packet "when the
//!   inter-arrival time is larger than T"; the figure does so whenever there is one packet. We take the
//!   longer of the two times. Otherwise two packets on either side of a period's end would count as a
//!   burst. The first packet of a flow has no previous packet, and T counts.
//! - "More than 95 %" as in the figure, not "95 %" as in the text.
//! - Bytes are those on the wire, headers included, because the sender paces these bytes.
//! - Periods follow one another from the first packet on, whether or not they bring packets (Fig. 8
//!   restarts the timer at each expiry). A packet at the end of a period belongs to the next one.
//! - The rate is rounded to the nearest unit.
//!
//! Beyond the paper (`first_notification = "mark"`, ours): the first marked packet ends the first period
//! of a flow. The notification leaves at once and says that the flow is congested, so that the flow is
//! not at line rate for a whole T.
//! - The rate is the paper's: the bytes of the period over its length. The packet that ends the period
//!   belongs to the next one. So a mark on a flow's first packet tells no rate, and the next marked
//!   packet ends the period. A period of one packet has the rate of Fig. 8, its bytes over the
//!   inter-arrival time.
//! - The share of marked packets is not asked. Packets without a mark came before the congestion, and
//!   with them the first flow of a burst, whose first packet meets no queue, would be told no sooner
//!   than 2 T behind it. One mark is no proof of congestion (Sec. 5.1). So a victim of pauses may be
//!   told once to fall to the rate at which it arrives.
//! - A notification restarts the timer (Fig. 8), so that the next one leaves T later. No two
//!   notifications are closer than T, and every later period is as in the paper.
//! - A first period without such a packet ends as in the paper.

use alloc::format;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::{BitRate, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::control::hooks::{AtDestination, AtSource, Parameters};
use crate::control::paced_rate::{PacedRate, RateWindow};
use crate::control::ticks::Ticks;
use crate::flow::FlowFacts;
use crate::notification::Notification;

/// The source of the values.
const PAPER: &str = "PCN paper (Cheng et al., NSDI 2020)";

/// The largest error of a clock (parts per million).
const LARGEST_CLOCK_ERROR: f64 = 1_000.0;

/// Factor from bytes / ps to Mb/s: bits per byte, times picoseconds times Mb/s per bit.
const BYTES_PER_PS_IN_MBPS: u128 = 8 * 1_000_000;

/// Parameters of [`Pcn`] and of the receivers of its flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PcnConfig {
    /// Weight of the line rate in a first increase, and the share that a cut leaves away (w_min).
    #[schemars(extend(
        "exclusiveMinimum" = 0,
        "exclusiveMaximum" = 1,
        "default" = 1.0 / 128.0,
        "source" = format!("{PAPER} 5.3, the example of fig. 10; 6.2 recommends 0.1 / flows")
    ))]
    pub minimum_weight: f64,
    /// Weight that increases in a row come to (w_max), at least minimum_weight.
    #[schemars(
        range(max = 1),
        extend("exclusiveMinimum" = 0, "default" = 0.5, "source" = format!("{PAPER} 6.2"))
    )]
    pub maximum_weight: f64,
    /// Time from one notification of a receiver to the next (T).
    #[schemars(
        range(min = Time::LEAST_PERIOD.as_ps()),
        extend(
            "default" = "50 us",
            "source" = format!("{PAPER} 5.2; 6.2 recommends the largest round-trip time")
        )
    )]
    pub notification_interval: Time,
    /// When the first notification of a flow leaves: at the end of its first period, or at its first mark.
    ///
    /// A mark on the first packet of a flow waits for the next marked packet, which tells a rate.
    #[schemars(extend(
        "default" = "period",
        "source" = format!("{PAPER} 5.2, fig. 8; mark is ours")
    ))]
    pub first_notification: FirstNotification,
    /// Largest error of a receiver's clock: its intervals are longer or shorter by up to this part.
    ///
    /// Each host draws its error once, evenly from both sides, from a stream of its own. Without an error
    /// the periods of flows that start in a run keep their phases for ever.
    #[schemars(
        range(min = 0, max = LARGEST_CLOCK_ERROR),
        extend(
            "default" = 0.0,
            "unit" = "parts per million",
            "source" = "our choice: none, as in the paper's model; IEEE 802.3 allows 100"
        )
    )]
    pub clock_error: f64,
    /// A flow of whose packets a larger share is marked is congested.
    #[schemars(
        range(min = 0),
        extend("exclusiveMaximum" = 1, "default" = 0.95, "source" = format!("{PAPER} 5.2"))
    )]
    pub marked_share: f64,
    /// Rate below which no flow falls.
    #[schemars(
        range(min = 1),
        extend(
            "default" = "1 Mb/s",
            "source" = "our choice: one unit of a notification's rate; the paper gives none"
        )
    )]
    pub minimum_rate: BitRate,
}

/// When the first notification of a flow leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FirstNotification {
    /// At the end of the first period.
    Period,
    /// At the first marked packet that has a packet before it, or at the end of the first period.
    Mark,
}

impl Parameters for PcnConfig {
    fn check(&self, problems: &mut Problems) {
        let (least, most) = (self.minimum_weight, self.maximum_weight);
        let remedy = format!("write at least minimum_weight, {least}");
        problems.unless(most >= least, "maximum_weight", most, remedy);
    }

    fn uses_marks(&self) -> bool {
        true
    }
}

/// The state of one flow.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Pcn {
    /// sendRate in the paper.
    rate: PacedRate,
    /// w in the paper.
    weight: f64,
    minimum_weight: f64,
    maximum_weight: f64,
}

impl Pcn {
    /// A flow that has sent nothing. The flow starts at line rate.
    pub fn new(config: &PcnConfig, flow: &FlowFacts) -> Self {
        let path = flow.path;
        Pcn {
            rate: PacedRate::new(path, config.minimum_rate, RateWindow::None),
            weight: config.minimum_weight,
            minimum_weight: config.minimum_weight,
            maximum_weight: config.maximum_weight,
        }
    }
}

impl AtSource for Pcn {
    /// Algorithm 1.
    fn on_notification(&mut self, _now: Time, notification: Notification) {
        let rate = self.rate.get();
        if notification.is_congested {
            let received = BitRate::from_mbps(u64::from(notification.receiving_rate)).as_bps();
            let discounted = received as f64 * (1.0 - self.minimum_weight);
            self.rate.set(rate.min(discounted as u64));
            self.weight = self.minimum_weight;
        } else {
            let weight = self.weight;
            let line = self.rate.line() as f64;
            self.rate.set((rate as f64 * (1.0 - weight) + line * weight + 0.5) as u64);
            self.weight = weight * (1.0 - weight) + self.maximum_weight * weight;
        }
    }

    #[inline]
    fn window(&self) -> u64 {
        self.rate.window()
    }

    #[inline]
    fn rate(&self) -> Option<BitRate> {
        self.rate.rate()
    }
}

/// The notification point of one flow.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct ReceivingRate {
    /// T in the paper (ps), > 0: what the receiver's clock shows at the end of a period.
    interval: Time,
    /// The periods.
    periods: Ticks,
    /// A flow with a larger share of marked packets is congested.
    marked_share: f64,
    /// Whether a marked packet may end this period: at most a first one.
    may_end_early: bool,
    /// When the first packet arrived (ps).
    first_arrival: Time,
    /// When the last packet arrived (ps).
    last_arrival: Time,
    /// Time between the last two packets (ps); zero while there is only one.
    gap: Time,
    /// In this period: packets (recNum), marked packets (ECNNum), and bytes (recData).
    packets: u32,
    marked: u32,
    bytes: u64,
}

/// `interval` > 0 as a clock measures it that is wrong by `error` (parts per million, at most
/// [`LARGEST_CLOCK_ERROR`] either way).
fn off_by(interval: Time, error: f64) -> Time {
    let wrong = (interval.as_ps() as f64 * error / 1e6) as i64;
    Time::from_ps(interval.as_ps().saturating_add_signed(wrong))
}

impl ReceivingRate {
    /// The notification point of a flow from which nothing has arrived.
    pub(crate) fn new(config: &PcnConfig, flow: &FlowFacts) -> Self {
        let interval = off_by(config.notification_interval, config.clock_error * flow.clock);
        ReceivingRate {
            interval: config.notification_interval,
            periods: Ticks::new(interval),
            marked_share: config.marked_share,
            may_end_early: config.first_notification == FirstNotification::Mark,
            first_arrival: Time::ZERO,
            last_arrival: Time::ZERO,
            gap: Time::ZERO,
            packets: 0,
            marked: 0,
            bytes: 0,
        }
    }

    /// The receiving rate of a period with packets, which counts for `span` > 0 (Mb/s).
    fn rate(&self, span: Time) -> u32 {
        let span = u128::from(span.as_ps());
        let rate = (u128::from(self.bytes) * BYTES_PER_PS_IN_MBPS + span / 2) / span;
        u32::try_from(rate).unwrap_or(u32::MAX)
    }

    /// The notification of the period that ends, which counts for `span` > 0 (ps). A period begins.
    fn end_period(&mut self, is_congested: bool, span: Time) -> Notification {
        let receiving_rate = if is_congested { self.rate(span) } else { 0 };
        (self.packets, self.marked, self.bytes) = (0, 0, 0);
        self.may_end_early = false;
        Notification { is_congested, receiving_rate }
    }

    /// The notification of a first period that a packet ends at `now`. The packet belongs to the next
    /// period.
    fn end_early(&mut self, now: Time, is_marked: bool) -> Option<Notification> {
        let has_rate = self.packets > 0 && now > self.first_arrival;
        if !(self.may_end_early && is_marked && has_rate) {
            return None;
        }
        self.periods.start(now);
        Some(self.end_period(true, now - self.first_arrival))
    }
}

impl AtDestination for ReceivingRate {
    /// A data packet arrived at `now`. Answers the notification of a period that ends by then.
    #[inline]
    fn on_data(&mut self, now: Time, wire_bytes: u32, is_marked: bool) -> Option<Notification> {
        let told = self.on_deadline(now).or_else(|| self.end_early(now, is_marked));
        if self.periods.is_running() {
            self.gap = now - self.last_arrival;
            self.periods.pass(now);
        } else {
            self.first_arrival = now;
            self.periods.start(now);
        }
        self.last_arrival = now;
        self.packets += 1;
        self.marked += u32::from(is_marked);
        self.bytes += u64::from(wire_bytes);
        told
    }

    /// When a notification is due (ps); [`Time::NEVER`] while the period has brought nothing.
    #[inline]
    fn deadline(&self) -> Time {
        if self.packets > 0 { self.periods.next() } else { Time::NEVER }
    }

    /// The notification of a period that has ended by `now`.
    #[inline]
    fn on_deadline(&mut self, now: Time) -> Option<Notification> {
        if now < self.deadline() {
            return None;
        }
        let is_congested = f64::from(self.marked) > self.marked_share * f64::from(self.packets);
        let span = match self.packets {
            1 => self.interval.max(self.gap),
            _ => self.interval,
        };
        Some(self.end_period(is_congested, span))
    }
}

#[cfg(test)]
#[path = "pcn_tests.rs"]
mod tests;
