//! DCQCN as NVIDIA's (Mellanox's) firmware does it: the sender has three clocks, and a mark cuts the
//! rate only at the next check.
//!
//! Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, in the variant
//! of NVIDIA's adapters. The ns-3 HPCC simulator (alibaba-edu/High-Precision-Congestion-Control,
//! `CC_MODE 1`) and the papers built on it call this variant DCQCN. Implemented: the estimate alpha on
//! a clock of its own, the check for a cut on another clock, and the increase timer with fast recovery,
//! additive and hyper increase. There is no notification packet. Every acknowledgement echoes the mark
//! of its data packet, and the check limits how often marks count. Left out: the byte counter and
//! `min_dec_fac` of the firmware, which that simulator also leaves out. The variant of the paper is
//! [`super::dcqcn`].
//!
//! As in that simulator:
//! - The first mark sets alpha to 1 and starts both clocks. The first check counts this mark, but the
//!   first tick of alpha does not.
//! - The check runs one nanosecond behind the ticks, so that a cut uses the alpha of its moment.
//! - A cut moves the target rate only when the increase timer has expired since the last cut, or when
//!   `clamps_target` is set. The increase timer does not run before the first cut.
//! - Of an increase and a check at the same time, the one that was set earlier comes first.
//!
//! Of events at the same time that simulator takes the one that was scheduled first. So a check or an
//! increase that is due at the time of a mark comes before the mark. A tick of alpha comes before the
//! mark when its interval is longer than the last flight of an acknowledgement, because the
//! acknowledgement's arrival is scheduled when its last transmission starts. Otherwise the tick comes
//! after the mark. A drop that a switch reports changes nothing (our choice: no source combines the
//! two).
//!
//! A pause of FAFC cuts the rate as a check that finds a mark. Alpha and the clock of the checks stay,
//! as they belong to the marks (our choice; FAFC's Algorithm 3 says of the rate alone what becomes of
//! it).
//!
//! Ticks of alpha are not events (see `alpha`). A check is an event only while a mark waits for it.

use alloc::format;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::source::{DCQCN_PAPER, HPCC_SIMULATOR};
use penstock_units::{BitRate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::control::alpha::Alpha;
use crate::control::hooks::{AtSource, Parameters};
use crate::control::paced_rate::{PacedRate, RateWindow};
use crate::flow::{FlowFacts, FlowView};
use crate::path::Acknowledgement;

/// The source of the intervals.
const FIRMWARE: &str = "NVIDIA firmware";

/// Time from a tick of alpha to the check for a cut.
const CHECK_LAG: Time = Time::from_ns(1);

/// Parameters of [`DcqcnMellanox`].
#[derive(Clone, Debug, PartialEq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(deny_unknown_fields)]
pub struct DcqcnMellanoxConfig {
    /// Weight of a new estimate (g).
    #[schemars(
        range(max = 1),
        extend(
            "exclusiveMinimum" = 0,
            "default" = 1.0 / 256.0,
            "source" = format!("{DCQCN_PAPER}; {HPCC_SIMULATOR}: EWMA_GAIN")
        )
    )]
    pub gain: f64,
    /// Time between two estimates.
    #[schemars(
        range(min = Time::LEAST_PERIOD.as_ps()),
        extend(
            "default" = "1 us",
            "source" = format!("{FIRMWARE}; {HPCC_SIMULATOR}: ALPHA_RESUME_INTERVAL")
        )
    )]
    pub alpha_interval: Time,
    /// Time between two checks for a cut.
    #[schemars(
        range(min = Time::LEAST_PERIOD.as_ps()),
        extend(
            "default" = "4 us",
            "source" = format!("{FIRMWARE}; {HPCC_SIMULATOR}: RATE_DECREASE_INTERVAL")
        )
    )]
    pub decrease_interval: Time,
    /// Time between two increases (T).
    #[schemars(
        range(min = Time::LEAST_PERIOD.as_ps()),
        extend(
            "default" = "300 us",
            "source" = format!("{FIRMWARE}; {HPCC_SIMULATOR}: RP_TIMER")
        )
    )]
    pub increase_interval: Time,
    /// Increases that only approach the target (F).
    #[schemars(extend(
        "default" = 1,
        "source" = format!("{FIRMWARE}; {HPCC_SIMULATOR}: FAST_RECOVERY_TIMES")
    ))]
    pub fast_recovery_rounds: u32,
    /// Added to the target by the increase after those (R_AI).
    #[schemars(
        range(min = 1),
        extend(
            "default" = "20 Mb/s",
            "source" = format!("{HPCC_SIMULATOR}: 5 Mb/s x 100/25, at 100 Gb/s")
        )
    )]
    pub additive_increase: BitRate,
    /// Added to the target by every later increase (R_HAI).
    #[schemars(
        range(min = 1),
        extend(
            "default" = "200 Mb/s",
            "source" = format!("{HPCC_SIMULATOR}: 50 Mb/s x 100/25, at 100 Gb/s")
        )
    )]
    pub hyper_increase: BitRate,
    /// Rate below which no flow falls.
    #[schemars(
        range(min = 1),
        extend(
            "default" = "1 Gb/s",
            "source" = format!("{HPCC_SIMULATOR}: MIN_RATE 1000 Mb/s in run.py")
        )
    )]
    pub minimum_rate: BitRate,
    /// Whether every cut lowers the target, not only one after an increase.
    #[schemars(extend(
        "default" = false,
        "source" = format!("{FIRMWARE}; {HPCC_SIMULATOR}: CLAMP_TARGET_RATE 0")
    ))]
    pub clamps_target: bool,
    /// In flight at most: anything, one BDP, or BDP x rate / line rate.
    ///
    /// The simulator's "dcqcn" has none, its "dcqcn_vwin" scaled.
    #[schemars(extend("default" = "none", "source" = format!("{HPCC_SIMULATOR}: HAS_WIN 0")))]
    pub window: RateWindow,
}

impl Parameters for DcqcnMellanoxConfig {
    fn uses_marks(&self) -> bool {
        true
    }
}

/// The state of one flow.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct DcqcnMellanox {
    config: DcqcnMellanoxConfig,
    /// R_C in the paper.
    rate: PacedRate,
    /// R_T in the paper (bit/s).
    target: u64,
    /// The clock of alpha runs from the first mark on.
    alpha: Alpha,
    is_marked_since_tick: bool,
    /// Whether a tick of alpha comes before a mark at the same time.
    is_tick_first: bool,
    first_check: Time,
    /// When the next check finds a mark; [`Time::NEVER`] while no mark waits.
    check_at: Time,
    /// When the next increase comes; [`Time::NEVER`] before the first cut.
    increase_at: Time,
    /// Increases since the last cut.
    stage: u32,
}

impl DcqcnMellanox {
    /// A flow that has sent nothing. The flow starts at line rate.
    pub fn new(config: &DcqcnMellanoxConfig, flow: &FlowFacts) -> Self {
        let path = flow.path;
        let rate = PacedRate::new(path, config.minimum_rate, config.window);
        DcqcnMellanox {
            config: config.clone(),
            rate,
            target: rate.get(),
            alpha: Alpha::new(1.0, config.gain, config.alpha_interval),
            is_marked_since_tick: false,
            is_tick_first: config.alpha_interval > path.last_flight,
            first_check: Time::NEVER,
            check_at: Time::NEVER,
            increase_at: Time::NEVER,
            stage: 0,
        }
    }

    /// Makes up for the ticks of alpha until `now`.
    fn tick(&mut self, now: Time) {
        if self.alpha.catch_up(now, self.is_marked_since_tick) {
            self.is_marked_since_tick = false;
        }
    }

    /// A check that finds a mark.
    fn check(&mut self) {
        let now = core::mem::replace(&mut self.check_at, Time::NEVER);
        self.tick(now);
        self.cut(now, 1.0 - self.alpha.get() / 2.0);
    }

    /// A cut at `now`: the rate keeps the share `kept`.
    fn cut(&mut self, now: Time, kept: f64) {
        if self.config.clamps_target || self.stage > 0 {
            self.target = self.rate.get();
        }
        self.rate.scale(kept);
        self.stage = 0;
        self.increase_at = now.saturating_add(self.config.increase_interval);
    }

    /// The increase timer expires.
    fn increase(&mut self) {
        self.increase_at = self.increase_at.saturating_add(self.config.increase_interval);
        let rounds = self.config.fast_recovery_rounds;
        if self.stage >= rounds {
            let step = match self.stage == rounds {
                true => self.config.additive_increase,
                false => self.config.hyper_increase,
            };
            self.target = self.target.saturating_add(step.as_bps()).min(self.rate.line());
        }
        self.rate.set(self.rate.get() / 2 + self.target / 2);
        self.stage = self.stage.saturating_add(1);
    }
}

impl AtSource for DcqcnMellanox {
    fn on_acknowledgement(&mut self, now: Time, ack: &Acknowledgement, _view: &FlowView) {
        self.on_deadline(now);
        if !ack.is_marked {
            return;
        }
        if !self.alpha.is_running() {
            self.alpha.start(now);
            let first = now.saturating_add(self.config.decrease_interval);
            self.first_check = first.saturating_add(CHECK_LAG);
            self.check_at = self.first_check;
            return;
        }
        let last_tick = if self.is_tick_first { now } else { now.saturating_sub(Time::from_ps(1)) };
        self.tick(last_tick);
        self.is_marked_since_tick = true;
        if self.check_at == Time::NEVER {
            let interval = self.config.decrease_interval;
            let past = now.saturating_sub(self.first_check).as_ps() / interval.as_ps();
            self.check_at = self.first_check.saturating_add(interval * (past + 1));
        }
    }

    fn on_send(&mut self, now: Time, _wire_bytes: u32) {
        self.on_deadline(now);
    }

    /// The host is paused: the flow keeps the share `kept` of its rate (FAFC, Algorithm 3).
    fn on_timed_pause(&mut self, now: Time, kept: f64) {
        self.on_deadline(now);
        self.cut(now, kept);
    }

    /// When the next timer is due (ps); [`Time::NEVER`] when none runs.
    #[inline]
    fn deadline(&self) -> Time {
        self.check_at.min(self.increase_at)
    }

    /// Serves everything that is due by `now`.
    fn on_deadline(&mut self, now: Time) {
        let set_earlier = self.config.increase_interval > self.config.decrease_interval;
        while self.deadline() <= now {
            let is_tie = self.increase_at == self.check_at;
            if self.increase_at < self.check_at || (is_tie && set_earlier) {
                self.increase();
            } else {
                self.check();
            }
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

#[cfg(test)]
#[path = "dcqcn_mellanox_tests.rs"]
mod tests;
