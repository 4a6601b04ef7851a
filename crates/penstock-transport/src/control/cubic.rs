//! CUBIC: after a cut the window grows along a cubic function of the time, flat around the window
//! of the last loss, and at least as fast as a Reno flow's.
//!
//! L. Xu et al., "CUBIC for Fast and Long-Distance Networks", RFC 9438. Implemented: the cubic
//! function, its target and the bounds of the target (Sec. 4.2), the Reno-friendly region (4.3), the
//! concave and convex regions (4.4, 4.5), the decrease by losses and by congestion marks (4.6), fast
//! convergence (4.7), timeouts (4.8), and Reno's slow start (4.10, RFC 5681 Sec. 3.1). Recovery decides
//! what is sent again and when. A fast recovery ends as in RFC 6582 Sec. 3.2, and so does that of
//! [`crate::control::new_reno`].
//!
//! The cubic function counts seconds. At the round-trip times of a data center the flow is in the
//! Reno-friendly region: alpha_cubic = 0.53 packets more per round trip, and 0.7 of the window after a
//! loss.
//!
//! Left out: HyStart++, the slow start that RFC 9438 recommends; the response to spurious losses (4.9,
//! optional); the receiver's window; sending less than a packet per round trip when a window of one
//! packet is marked. Flows send until they end, so no application ever limits one (5.8). The NIC does,
//! and what it leaves unused of the window does not grow (`crate::control::most_in_flight`).
//!
//! Marks are optional, and losses are not. A mark counts once per window of data, together with losses
//! (RFC 3168 Sec. 6.1.2). After a cut the window stays until a packet that left after the cut is
//! acknowledged, because a receiver of RFC 3168 repeats its echo until then. The bytes that the
//! acknowledgement with a mark takes out of flight still count as in flight (our choice). Otherwise a
//! window of n packets would be cut like one of n - 1.
//!
//! The round-trip time is smoothed by RFC 6298, with a sample per acknowledgement of new data, which
//! the timestamps of RFC 7323 allow. Our choices:
//! - The stage of congestion avoidance begins with the first acknowledgement that the cubic function
//!   answers, as in Linux.
//! - A window equal to the threshold is in congestion avoidance. RFC 5681 leaves this case open, and by
//!   the letter of Sec. 4.10 a packet of slow start would follow every cut.
//! - The stage begins anew once the NIC no longer limits the flow. Sec. 5.8 has the function leave out
//!   that time, which comes to the same where the window is W_max or more.
//! - A window above W_max at the beginning of a stage becomes W_max, as Sec. 4.8 does after a timeout.
//! - A timeout forgets W_max, as in Linux. So a loss in the slow start that follows a timeout is no reason
//!   for fast convergence.

use crate::control::hooks::{AtSource, Parameters};
use crate::control::most_in_flight::MostInFlight;
use crate::flow::{FlowFacts, FlowView, LossSignal};
use crate::path::Acknowledgement;
use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The smallest window after a loss, and the smallest threshold (packets): RFC 9438 Sec. 4.6.
const AFTER_LOSS: f64 = 2.0;

/// The smallest window after a mark (packets): RFC 9438 Sec. 4.6.
const AFTER_MARK: f64 = 1.0;

/// The window after a timeout (packets): the loss window of RFC 5681 Sec. 3.1.
const AFTER_TIMEOUT: f64 = 1.0;

/// The target is at most this many windows: RFC 9438 Sec. 4.2.
const TARGET_LIMIT: f64 = 1.5;

/// The weight of a sample of the round-trip time: alpha of RFC 6298 Sec. 2.3.
const SAMPLE_WEIGHT: f64 = 1.0 / 8.0;

/// Parameters of [`Cubic`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CubicConfig {
    /// First window (IW).
    #[schemars(
        range(min = 1),
        extend("unit" = "packets", "default" = 10, "source" = "RFC 6928")
    )]
    pub initial_window_packets: u32,
    /// Steepness of the cubic function (C), in packets per cubed second.
    #[schemars(extend(
        "exclusiveMinimum" = 0,
        "default" = 0.4,
        "source" = "RFC 9438 sec. 5.1: C SHOULD be 0.4"
    ))]
    pub steepness: f64,
    /// Share of the window that is left after a loss or a mark (beta_cubic).
    #[schemars(extend(
        "exclusiveMinimum" = 0,
        "exclusiveMaximum" = 1,
        "default" = 0.7,
        "source" = "RFC 9438 sec. 4.6: beta_cubic SHOULD be 0.7"
    ))]
    pub beta: f64,
    /// Whether a flow whose window falls from loss to loss makes room for others.
    #[schemars(extend(
        "default" = true,
        "source" = "RFC 9438 sec. 4.7: SHOULD, unless a flow is alone in the network"
    ))]
    pub fast_convergence: bool,
}

impl Parameters for CubicConfig {
    fn needs_losses(&self) -> bool {
        true
    }

    fn keeps_connections(&self) -> bool {
        true
    }

    fn uses_timestamp(&self) -> bool {
        true
    }
}

/// The state of one CUBIC flow. Windows are in packets, as in the RFC.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct Cubic {
    steepness: f64,
    beta: f64,
    fast_convergence: bool,
    /// Payload of a full packet (bytes).
    packet: f64,
    /// cwnd.
    window: f64,
    /// The window of a new connection.
    initial: f64,
    /// Slow start lasts while the window is below this (ssthresh).
    threshold: f64,
    /// The window at the last cut (cwnd_prior).
    prior: f64,
    /// The window at which the cubic function is flat (W_max); 0 while it is not known, as after a
    /// timeout.
    plateau: f64,
    /// The stage of congestion avoidance; `None` before the cubic function has answered an
    /// acknowledgement.
    stage: Option<Stage>,
    /// Smoothed round-trip time (s); `None` before the first sample.
    round_trip: Option<f64>,
    /// Whether a fast recovery is on. The window does not change during one.
    is_recovering: bool,
    /// After a cut by a mark: the end of the bytes that had been sent at the cut (bytes). `None` once
    /// they are acknowledged.
    marked_until: Option<u64>,
    /// What bounds the growth of the window.
    most_in_flight: MostInFlight,
}

/// A stage of congestion avoidance: from a cut to the next one.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct Stage {
    /// t_epoch.
    began: Time,
    /// Time from the beginning until the cubic function reaches the plateau (K) (s).
    climb: f64,
    /// The window that Reno would have (W_est) (packets).
    reno: f64,
}

impl Cubic {
    /// A flow that has sent nothing.
    pub fn new(config: &CubicConfig, flow: &FlowFacts) -> Self {
        Cubic {
            steepness: config.steepness,
            beta: config.beta,
            fast_convergence: config.fast_convergence,
            packet: f64::from(flow.path.payload),
            window: f64::from(config.initial_window_packets),
            initial: f64::from(config.initial_window_packets),
            threshold: f64::INFINITY,
            prior: 0.0,
            plateau: 0.0,
            stage: None,
            round_trip: None,
            is_recovering: false,
            marked_until: None,
            most_in_flight: MostInFlight::default(),
        }
    }

    /// Takes a sample of the round-trip time. Answers the smoothed time (s) (RFC 6298 Sec. 2.2 and
    /// 2.3).
    fn measure(&mut self, sample: Time) -> f64 {
        let sample = seconds(sample);
        let mean = self.round_trip.map_or(sample, |mean| mean + SAMPLE_WEIGHT * (sample - mean));
        self.round_trip = Some(mean);
        mean
    }

    /// `packets` packets of new data were acknowledged at `now`.
    fn grow(&mut self, now: Time, packets: f64, round_trip: f64) {
        let is_slow_start = self.window < self.threshold;
        let window = self.window * self.packet;
        if !self.most_in_flight.lets_grow(window, self.packet, is_slow_start) {
            self.stage = None;
            return;
        }
        if is_slow_start {
            self.window += packets.min(1.0); // RFC 5681 Eq. 2
        } else {
            self.step(now, packets, round_trip);
        }
    }

    /// A step of congestion avoidance: `packets` packets of new data were acknowledged at `now`.
    fn step(&mut self, now: Time, packets: f64, round_trip: f64) {
        let mut stage = self.stage.unwrap_or_else(|| self.begin(now));
        // Sec. 4.3: alpha_cubic, and 1 once the window of the last cut is reached.
        let increase =
            if stage.reno < self.prior { 3.0 * (1.0 - self.beta) / (1.0 + self.beta) } else { 1.0 };
        stage.reno += increase * packets / self.window; // Sec. 4.3, W_est
        self.stage = Some(stage);
        let elapsed = seconds(now.saturating_sub(stage.began));
        if self.cubic(elapsed - stage.climb) < stage.reno {
            self.window = stage.reno; // Sec. 4.3: the Reno-friendly region
        } else {
            let ahead = self.cubic(elapsed + round_trip - stage.climb);
            let target = ahead.min(TARGET_LIMIT * self.window).max(self.window); // Sec. 4.2
            self.window += (target - self.window) / self.window; // Sec. 4.4 and 4.5
        }
    }

    /// The stage of congestion avoidance that begins at `now` (Sec. 4.2).
    fn begin(&mut self, now: Time) -> Stage {
        self.plateau = self.plateau.max(self.window); // Sec. 4.8: K = 0 after a timeout
        let climb = libm::cbrt((self.plateau - self.window) / self.steepness); // Sec. 4.2, K
        Stage { began: now, climb, reno: self.window }
    }

    /// W_cubic at `time` (s) after the plateau; a negative `time` is before the plateau (Sec. 4.2).
    fn cubic(&self, time: f64) -> f64 {
        self.steepness * time * time * time + self.plateau
    }

    /// A congestion event with `in_flight` bytes unacknowledged: cuts the window, but not below
    /// `least` packets (Sec. 4.6).
    fn cut(&mut self, in_flight: u64, least: f64) {
        let falls = self.fast_convergence && self.window < self.plateau;
        let share = if falls { (1.0 + self.beta) / 2.0 } else { 1.0 }; // Sec. 4.7
        self.plateau = self.window * share;
        self.lower_threshold(in_flight);
        self.window = (self.beta * in_flight as f64 / self.packet).max(least);
    }

    /// Sets the threshold, and remembers the window before a cut (Sec. 4.6).
    fn lower_threshold(&mut self, in_flight: u64) {
        self.prior = self.window;
        self.threshold = (self.beta * in_flight as f64 / self.packet).max(AFTER_LOSS);
        self.stage = None;
        self.most_in_flight.forget();
    }

    /// A new mark: the first one of its window of data (RFC 3168 Sec. 6.1.2).
    fn on_mark(&mut self, ack: &Acknowledgement, view: &FlowView) {
        // A negative acknowledgement takes nothing out of flight.
        let taken = if ack.is_negative { 0 } else { view.newly_acknowledged };
        self.cut(view.next - view.acknowledged + taken, AFTER_MARK);
        self.marked_until = Some(view.next);
    }
}

impl AtSource for Cubic {
    fn on_acknowledgement(&mut self, now: Time, ack: &Acknowledgement, view: &FlowView) {
        let is_new = view.newly_acknowledged > 0;
        let sample = is_new.then(|| self.measure(now.saturating_sub(ack.sent_at)));
        // Whether the acknowledged packet left before the cut by a mark. Then the filter asks the same
        // of the next packet.
        let was_cut = self.marked_until.is_some_and(|end| view.acknowledged <= end);
        self.marked_until = self.marked_until.filter(|&end| view.acknowledged < end);
        if self.is_recovering || was_cut {
            return;
        }
        if ack.is_marked {
            self.on_mark(ack, view);
        } else if let Some(round_trip) = sample {
            self.most_in_flight.count(view);
            self.grow(now, view.newly_acknowledged as f64 / self.packet, round_trip);
        }
    }

    /// The cubic function does not climb while nothing is sent.
    fn on_next_flow(&mut self, is_late: bool) {
        self.stage = None;
        if is_late {
            self.window = self.window.min(self.initial); // RFC 5681 Sec. 4.1, RW
            self.most_in_flight.forget();
        }
    }

    fn on_loss(&mut self, _now: Time, signal: LossSignal) {
        match signal {
            LossSignal::FastRetransmit { in_flight } => {
                // A window of data that was marked has been cut (RFC 3168 Sec. 6.1.2).
                if self.marked_until.take().is_none() {
                    self.cut(in_flight, AFTER_LOSS);
                }
                self.is_recovering = true;
            }
            LossSignal::RecoveryExit { in_flight } => {
                if self.is_recovering {
                    // RFC 6582 Sec. 3.2, step 3, the first of its two ways, which causes no burst.
                    let burstless = (in_flight as f64 / self.packet).max(1.0) + 1.0;
                    self.window = self.threshold.min(burstless);
                    self.is_recovering = false;
                }
            }
            LossSignal::Timeout { in_flight, is_repeated } => {
                if !is_repeated {
                    self.lower_threshold(in_flight); // Sec. 4.8
                }
                self.window = AFTER_TIMEOUT;
                self.plateau = 0.0;
                self.is_recovering = false;
                self.marked_until = None;
            }
        }
    }

    /// The window (bytes), >= one packet. The window is in whole packets, because a part of a packet
    /// does not let a packet leave (RFC 5681 Sec. 3.1: nothing beyond the window is sent).
    #[inline]
    fn window(&self) -> u64 {
        self.window as u64 * self.packet as u64
    }
}

/// A time as the cubic function counts it (s).
fn seconds(time: Time) -> f64 {
    time.as_ps() as f64 / 1e12
}

#[cfg(test)]
#[path = "cubic_tests.rs"]
mod tests;
