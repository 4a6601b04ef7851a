//! TIMELY: the rate follows how fast the round-trip time grows.
//!
//! R. Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015, Algorithm
//! 1; and its patched form, Y. Zhu et al., "ECN or Delay: Lessons Learnt from Analysis of DCQCN and
//! TIMELY", CoNEXT 2016. Implemented: the three bands of the round-trip time; hyper-active increase;
//! updates per segment as in the paper, or per round trip as in the ns-3 HPCC simulator
//! (alibaba-edu/High-Precision-Congestion-Control, `CC_MODE 7`); the patched middle band.
//!
//! Left out:
//! - Segments that leave as one burst at line rate. Packets are paced one by one, as in that simulator
//!   and in PCN's.
//! - The first rate of C / (N + 1), which needs the host's number of flows. A flow starts at line rate,
//!   as in that simulator.
//!
//! Where the sources are silent or differ:
//! - The round-trip time of a segment is that of its last packet, from the moment when the packet left
//!   the NIC. With paced packets, the round-trip time of the first packet would contain the pacing (our
//!   choice).
//! - The sixth increase in a row is the first hyper-active one, as in that simulator; the paper
//!   lets five completions pass.
//! - With `hyper_below_low` unset a completion below the low threshold neither counts nor breaks the
//!   row (our choice; the paper's text speaks of the gradient only).
//! - The patched band has no hyper-active increase and ends a row (our choice; its authors have no
//!   hyper-active increase at all).
//! - In the authors' code snippet, as ported in eRPC, an update takes at most half of the rate away
//!   (`largest_cut`). An update that comes sooner than D_minRTT after the last one counts in proportion
//!   less (`weighs_interval`). The paper's Algorithm 1 has neither. Left out of the snippet: its row counts
//!   falls of the raw round-trip time, of which the fifth is already hyper-active, and it skips samples below
//!   D_minRTT.
//! - A drop that a switch reports changes nothing (our choice: no source combines the two).

use alloc::format;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::source::HPCC_SIMULATOR;
use penstock_units::{BitRate, Bytes, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::control::hooks::{AtSource, Parameters};
use crate::control::paced_rate::{PacedRate, RateWindow};
use crate::flow::{FlowFacts, FlowView};
use crate::path::Acknowledgement;

/// Parameters of [`Timely`].
#[derive(Clone, Debug, PartialEq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(deny_unknown_fields)]
pub struct TimelyConfig {
    /// Weight of a new difference (alpha).
    #[schemars(
        range(max = 1),
        extend(
            "exclusiveMinimum" = 0,
            "default" = 0.875,
            "source" = format!("{HPCC_SIMULATOR}: TimelyAlpha")
        )
    )]
    pub ewma_weight: f64,
    /// Strength of a cut (beta).
    ///
    /// Patched TIMELY has 0.008.
    #[schemars(
        range(max = 1),
        extend("exclusiveMinimum" = 0, "default" = 0.8, "source" = "TIMELY paper: 0.8")
    )]
    pub decrease_factor: f64,
    /// Added by an increase (delta).
    #[schemars(
        range(min = 1),
        extend(
            "default" = "100 Mb/s",
            "source" = format!("{HPCC_SIMULATOR}: 10 Mb/s x 100/10, at 100 Gb/s")
        )
    )]
    pub additive_increase: BitRate,
    /// Added by an increase after many in a row (N delta).
    #[schemars(
        range(min = 1),
        extend(
            "default" = "500 Mb/s",
            "source" = format!(
                "TIMELY paper: 5 delta; {HPCC_SIMULATOR}: 50 Mb/s x 100/10, at 100 Gb/s"
            )
        )
    )]
    pub hyper_increase: BitRate,
    /// Increases in a row before hyper increases.
    #[schemars(extend("default" = 5, "source" = "TIMELY paper: 5"))]
    pub hyper_after: u32,
    /// Whether increases below low_rtt count and become hyper increases, too.
    #[schemars(extend(
        "default" = true,
        "source" = format!("{HPCC_SIMULATOR}; the paper's do not")
    ))]
    pub hyper_below_low: bool,
    /// RTT below which the rate grows (T_low), at most high_rtt.
    #[schemars(extend("default" = "50 us", "source" = "TIMELY paper: T_low"))]
    pub low_rtt: Time,
    /// RTT above which the rate falls (T_high).
    #[schemars(extend("default" = "500 us", "source" = "TIMELY paper: T_high"))]
    pub high_rtt: Time,
    /// What a difference is divided by (D_minRTT).
    #[schemars(
        range(min = 1),
        extend("default" = "20 us", "source" = "TIMELY paper: D_minRTT")
    )]
    pub minimum_rtt: Time,
    /// Largest share of the rate that one update takes away; 1: no limit.
    #[schemars(
        range(max = 1),
        extend(
            "exclusiveMinimum" = 0,
            "default" = 1.0,
            "source" = "TIMELY paper: none; its authors' code snippet, as ported in eRPC: 0.5"
        )
    )]
    pub largest_cut: f64,
    /// Whether an update sooner than minimum_rtt after the last one counts in proportion less.
    #[schemars(extend(
        "default" = false,
        "source" = "TIMELY paper: none; its authors' code snippet, as ported in eRPC: true"
    ))]
    pub weighs_interval: bool,
    /// When the rate is adjusted.
    #[schemars(extend("default" = {"kind": "round-trip"}, "source" = HPCC_SIMULATOR))]
    pub update: TimelyUpdate,
    /// What happens between low_rtt and high_rtt.
    #[schemars(extend("default" = {"kind": "gradient"}, "source" = "TIMELY paper"))]
    pub band: TimelyBand,
    /// Rate below which no flow falls.
    #[schemars(
        range(min = 1),
        extend(
            "default" = "1 Gb/s",
            "source" = format!("{HPCC_SIMULATOR}: MIN_RATE 1000 Mb/s in run.py")
        )
    )]
    pub minimum_rate: BitRate,
    /// In flight at most: anything, one BDP, or BDP x rate / line rate.
    ///
    /// The simulator's "timely" has none, its "timely_vwin" scaled.
    #[schemars(extend("default" = "none", "source" = format!("{HPCC_SIMULATOR}: HAS_WIN 0")))]
    pub window: RateWindow,
}

/// When the rate is adjusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TimelyUpdate {
    /// At the first ACK of each round trip.
    RoundTrip {},
    /// Whenever a segment has been acknowledged.
    Segment {
        /// Size of a segment (Seg).
        #[schemars(
            range(min = 1),
            extend("default" = "64 kB", "source" = "TIMELY paper: 16 to 64 KB")
        )]
        size: Bytes,
    },
}

/// What happens between the two thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TimelyBand {
    /// A growing round-trip time cuts the rate in proportion, another increases it (SIGCOMM 2015).
    Gradient {},
    /// The gradient weighs an increase against a cut by the distance from a reference (CoNEXT 2016).
    Patched {
        /// The reference (RTT_ref).
        #[schemars(
            range(min = 1),
            extend(
                "default" = "50 us",
                "source" = "patched TIMELY (Zhu et al., ECN or Delay, CoNEXT 2016): T_low"
            )
        )]
        reference_rtt: Time,
    },
}

impl Parameters for TimelyConfig {
    fn check(&self, problems: &mut Problems) {
        let (low, high) = (self.low_rtt, self.high_rtt);
        problems.unless(low <= high, "low_rtt", low, format!("write at most high_rtt, {high}"));
    }

    fn uses_timestamp(&self) -> bool {
        true
    }
}

/// The state of one flow. Times are in nanoseconds; the HPCC simulator's times are whole nanoseconds.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Timely {
    config: TimelyConfig,
    rate: PacedRate,
    /// The round-trip time of the last update (ns); `None` before the first update.
    last_rtt: Option<f64>,
    /// Average difference between round-trip times (ns).
    difference: f64,
    /// Increases in a row.
    stage: u32,
    /// When the last update was (ps); zero before the first.
    updated_at: Time,
    /// The share with which the steps of this update count, in [0, 1].
    share: f64,
    /// The next update comes with the first acknowledgement beyond this byte.
    update_end: u64,
}

impl Timely {
    /// A flow that has sent nothing. The flow starts at line rate.
    pub fn new(config: &TimelyConfig, flow: &FlowFacts) -> Self {
        let path = flow.path;
        let mut timely = Timely {
            config: config.clone(),
            rate: PacedRate::new(path, config.minimum_rate, config.window),
            last_rtt: None,
            difference: 0.0,
            stage: 0,
            updated_at: Time::ZERO,
            share: 1.0,
            update_end: 0,
        };
        timely.update_end = timely.next_update_end(&FlowView::default());
        timely
    }

    fn next_update_end(&self, view: &FlowView) -> u64 {
        match self.config.update {
            TimelyUpdate::RoundTrip {} => view.next,
            TimelyUpdate::Segment { size } => view.acknowledged.saturating_add(size.get() - 1),
        }
    }

    /// Adjusts the rate to a round-trip time of `rtt` (ns) that grows by `gradient` (Algorithm 1).
    fn update(&mut self, rtt: f64, gradient: f64) {
        let high = nanoseconds(self.config.high_rtt);
        if rtt < nanoseconds(self.config.low_rtt) {
            if self.config.hyper_below_low {
                self.increase();
            } else {
                self.add(self.config.additive_increase);
            }
        } else if rtt > high {
            self.cut(self.config.decrease_factor * (1.0 - high / rtt));
        } else if let TimelyBand::Patched { reference_rtt } = self.config.band {
            self.balance(rtt, nanoseconds(reference_rtt), gradient);
        } else if gradient <= 0.0 {
            self.increase();
        } else {
            self.cut(self.config.decrease_factor * gradient);
        }
    }

    fn increase(&mut self) {
        self.add(match self.stage < self.config.hyper_after {
            true => self.config.additive_increase,
            false => self.config.hyper_increase,
        });
        self.stage = self.stage.saturating_add(1);
    }

    fn add(&mut self, step: BitRate) {
        let step = (step.as_bps() as f64 * self.share) as u64;
        self.rate.set(self.rate.get().saturating_add(step));
    }

    /// Takes the part `taken` of the rate away, weighted and limited by [`Timely::kept`].
    fn cut(&mut self, taken: f64) {
        self.decrease(self.kept(taken));
    }

    /// The share of the rate that is left when the part `taken` is taken away. A negative part adds to
    /// the rate.
    fn kept(&self, taken: f64) -> f64 {
        1.0 - (taken * self.share).min(self.config.largest_cut)
    }

    fn decrease(&mut self, kept: f64) {
        self.rate.scale(kept);
        self.stage = 0;
    }

    /// The patched middle band: w = 0 when the round-trip time falls fast, 1 when it grows fast.
    fn balance(&mut self, rtt: f64, reference: f64, gradient: f64) {
        let weight = (2.0 * gradient + 0.5).clamp(0.0, 1.0);
        let error = (rtt - reference) / reference;
        let kept = self.kept(self.config.decrease_factor * weight * error);
        let step = self.config.additive_increase.as_bps() as f64;
        let added = step * (1.0 - weight) * self.share;
        self.rate.set((added + self.rate.get() as f64 * kept) as u64);
        self.stage = 0;
    }
}

fn nanoseconds(time: Time) -> f64 {
    time.as_ps() as f64 / 1e3
}

impl AtSource for Timely {
    fn on_acknowledgement(&mut self, now: Time, ack: &Acknowledgement, view: &FlowView) {
        if view.acknowledged <= self.update_end {
            return;
        }
        self.update_end = self.next_update_end(view);
        let interval = now - core::mem::replace(&mut self.updated_at, now);
        let minimum_rtt = nanoseconds(self.config.minimum_rtt);
        self.share = match self.config.weighs_interval {
            true => (nanoseconds(interval) / minimum_rtt).min(1.0),
            false => 1.0,
        };
        let rtt = nanoseconds(now.saturating_sub(ack.sent_at));
        if let Some(last) = self.last_rtt.replace(rtt) {
            let weight = self.config.ewma_weight;
            self.difference = (1.0 - weight) * self.difference + weight * (rtt - last);
            self.update(rtt, self.difference / minimum_rtt);
        }
    }

    /// The host is paused: the flow keeps the share `kept` of its rate (FAFC, Algorithm 3).
    fn on_timed_pause(&mut self, _now: Time, kept: f64) {
        self.decrease(kept);
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

#[cfg(test)]
#[path = "timely_tests.rs"]
mod tests;
