//! DCQCN as NVIDIA's (Mellanox's) firmware does it: three timers at the sender, and a cut that
//! waits for its turn.
//!
//! Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, in the
//! variant of NVIDIA's adapters, which is what the ns-3 HPCC simulator
//! (alibaba-edu/High-Precision-Congestion-Control, `CC_MODE 1`) and the papers built on it call
//! DCQCN. Implemented: the estimate alpha on a clock of its own, the check for a cut on another,
//! and the increase timer with fast recovery, additive and hyper increase. There is no notification
//! packet: every acknowledgement echoes the mark of its data packet, and the check limits how often
//! that counts. Left out: the byte counter and `min_dec_fac` of the firmware, which that simulator
//! has not either. The flavour of the paper is [`super::dcqcn`].
//!
//! As in that simulator:
//! - The first mark sets alpha to 1 and starts both clocks; it is not counted by the first tick of
//!   alpha, but by the first check.
//! - The check runs one nanosecond behind the ticks, so that a cut uses the alpha of its moment.
//! - A cut moves the target rate only when the increase timer has expired since the last cut, or
//!   when `clamps_target` is set. The increase timer does not run before the first cut.
//! - Of an increase and a check at the same time, the one that was set earlier comes first.
//!
//! Of events at the same time that simulator takes the one that was scheduled first. A check and an
//! increase due at the time of a mark therefore come before it. A tick of alpha does so when its
//! interval is longer than the last flight of an acknowledgement, whose arrival is scheduled when its
//! transmission starts; otherwise it comes after the mark. What a switch reports as dropped changes nothing (our choice: no source combines the two).
//!
//! Ticks of alpha are no events (see `alpha`). A check is one only while a mark waits for it.
//!
//! | symbol | field | value | source |
//! |---|---|---|---|
//! | g | `gain` | 1/256 | SIGCOMM'15 Sec. 5; the simulator's `EWMA_GAIN` |
//! | - | `alpha_interval` | 1 us | NVIDIA firmware default; `ALPHA_RESUME_INTERVAL` |
//! | - | `decrease_interval` | 4 us | NVIDIA firmware default; `RATE_DECREASE_INTERVAL` |
//! | T | `increase_interval` | 300 us | NVIDIA firmware default; `RP_TIMER` |
//! | F | `fast_recovery_rounds` | 1 | NVIDIA firmware default; `FAST_RECOVERY_TIMES` |
//! | R_AI | `additive_increase` | 20 Mb/s at 100 Gb/s | the simulator: 5 Mb/s for 25 Gb/s |
//! | R_HAI | `hyper_increase` | 200 Mb/s at 100 Gb/s | the simulator: 50 Mb/s for 25 Gb/s |
//! | - | `minimum_rate` | 1 Gb/s | the simulator's run.py |
//! | - | `clamps_target` | false | NVIDIA firmware default; `CLAMP_TARGET_RATE` |
//! | - | `window` | none, or one BDP | the simulator's "dcqcn" and "dcqcn_win" |

use penstock_units::{BitRate, Problems, Time};
use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::control::alpha::Alpha;
use crate::control::paced_rate::{Paced, PacedRate, RateWindow};
use crate::path::PathFacts;

/// How far the check for a cut runs behind the tick of alpha.
const CHECK_LAG: Time = Time::from_ns(1);

/// Parameters of [`DcqcnMellanox`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DcqcnMellanoxConfig {
    /// Weight of the latest interval in alpha (g in the paper), in (0, 1].
    pub gain: f64,
    /// Time between two updates of alpha (ps), > 0.
    pub alpha_interval: Time,
    /// Time between two checks for a cut (ps), > 0.
    pub decrease_interval: Time,
    /// Time between two increases (ps), > 0.
    pub increase_interval: Time,
    /// Increases that only close in on the target rate (F in the paper), >= 0.
    pub fast_recovery_rounds: u32,
    /// What the one increase after those adds to the target rate (R_AI in the paper) (bit/s).
    pub additive_increase: BitRate,
    /// What every later increase adds to the target rate (R_HAI in the paper) (bit/s).
    pub hyper_increase: BitRate,
    /// The rate below which the flow does not fall (bit/s), > 0.
    pub minimum_rate: BitRate,
    /// Whether every cut sets the target rate to the rate before it.
    pub clamps_target: bool,
    /// How much may be in flight.
    pub window: RateWindow,
}

impl DcqcnMellanoxConfig {
    /// Checks every field against its bounds.
    pub fn check(&self, problems: &mut Problems) {
        bounds::weight(problems, "gain", self.gain);
        bounds::interval(problems, "alpha_interval", self.alpha_interval);
        bounds::interval(problems, "decrease_interval", self.decrease_interval);
        bounds::interval(problems, "increase_interval", self.increase_interval);
        bounds::rate(problems, "additive_increase", self.additive_increase);
        bounds::rate(problems, "hyper_increase", self.hyper_increase);
        bounds::rate(problems, "minimum_rate", self.minimum_rate);
    }
}

/// The state of one flow.
#[derive(Clone, Debug)]
pub struct DcqcnMellanox {
    config: DcqcnMellanoxConfig,
    /// R_C in the paper.
    rate: PacedRate,
    /// R_T in the paper (bit/s).
    target: u64,
    /// Its clock runs from the first mark on.
    alpha: Alpha,
    is_marked_since_tick: bool,
    /// Whether a tick due at the time of a mark comes before it.
    is_tick_first: bool,
    first_check: Time,
    /// The check that will find a mark; [`Time::NEVER`] while there is none to find.
    check_at: Time,
    /// The next increase; [`Time::NEVER`] before the first cut.
    increase_at: Time,
    /// Increases since the last cut.
    stage: u32,
}

impl DcqcnMellanox {
    /// A flow that has sent nothing; it starts at line rate.
    pub fn new(config: &DcqcnMellanoxConfig, path: &PathFacts) -> Self {
        let rate = PacedRate::new(path, config.minimum_rate, config.window);
        DcqcnMellanox {
            config: config.clone(),
            rate,
            target: rate.get(),
            alpha: Alpha::new(config.gain, config.alpha_interval),
            is_marked_since_tick: false,
            is_tick_first: config.alpha_interval > path.last_flight,
            first_check: Time::NEVER,
            check_at: Time::NEVER,
            increase_at: Time::NEVER,
            stage: 0,
        }
    }

    /// An acknowledgement arrived at `now` whose data packet was marked or not.
    pub fn on_acknowledgement(&mut self, now: Time, is_marked: bool) {
        self.on_deadline(now);
        if !is_marked {
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

    /// When the next timer is due (ps); [`Time::NEVER`] when none runs.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.check_at.min(self.increase_at)
    }

    /// Does everything that is due by `now`.
    pub fn on_deadline(&mut self, now: Time) {
        let set_earlier = self.config.increase_interval > self.config.decrease_interval;
        while self.deadline() <= now {
            let is_tie = self.increase_at == self.check_at;
            if self.increase_at < self.check_at || (is_tie && set_earlier) {
                self.increase();
            } else {
                self.cut();
            }
        }
    }

    /// Makes up for the ticks of alpha until `now`.
    fn tick(&mut self, now: Time) {
        if self.alpha.catch_up(now, self.is_marked_since_tick) {
            self.is_marked_since_tick = false;
        }
    }

    /// A check that finds a mark.
    fn cut(&mut self) {
        let now = self.check_at;
        self.tick(now);
        if self.config.clamps_target || self.stage > 0 {
            self.target = self.rate.get();
        }
        self.rate.scale(1.0 - self.alpha.get() / 2.0);
        self.stage = 0;
        self.check_at = Time::NEVER;
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

impl Paced for DcqcnMellanox {
    #[inline]
    fn paced(&self) -> &PacedRate {
        &self.rate
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;
    use crate::fixture;

    /// The numbers of the module's table, without a window.
    fn config() -> DcqcnMellanoxConfig {
        DcqcnMellanoxConfig {
            gain: 1.0 / 256.0,
            alpha_interval: Time::from_us(1),
            decrease_interval: Time::from_us(4),
            increase_interval: Time::from_us(300),
            fast_recovery_rounds: 1,
            additive_increase: BitRate::from_mbps(20),
            hyper_increase: BitRate::from_mbps(200),
            minimum_rate: BitRate::from_mbps(1_000),
            clamps_target: false,
            window: RateWindow::None,
        }
    }

    fn flow(config: &DcqcnMellanoxConfig) -> DcqcnMellanox {
        DcqcnMellanox::new(config, &fixture::path())
    }

    /// Where the first mark of every test arrives, and the first check that it starts.
    const MARK: Time = Time::from_us(10);
    const CHECK: Time = Time::from_ns(14_001);

    /// The times that a driver would wake the flow at until `end`, and the rate after each (Mb/s).
    fn serve(flow: &mut DcqcnMellanox, end: Time) -> Vec<(u64, u64)> {
        let mut served = vec![];
        while flow.deadline() <= end {
            let now = flow.deadline();
            flow.on_deadline(now);
            served.push((now.as_ps() / 1_000, flow.rate.get() / 1_000_000));
        }
        served
    }

    #[test]
    fn a_flow_that_was_never_marked_has_no_timers() {
        let mut flow = flow(&config());
        flow.on_acknowledgement(MARK, false);
        assert_eq!((flow.deadline(), flow.rate(), flow.window()), (Time::NEVER, None, u64::MAX));
    }

    #[test]
    fn the_first_mark_cuts_nothing_before_the_first_check() {
        let mut flow = flow(&config());
        flow.on_acknowledgement(MARK, true);
        assert_eq!((flow.alpha.get(), flow.rate(), flow.deadline()), (1.0, None, CHECK));
        flow.on_deadline(CHECK);
        let alpha = (255.0f64 / 256.0).powi(4); // the ticks at 11, 12, 13 and 14 us saw no mark
        assert!((flow.alpha.get() - alpha).abs() < 1e-15);
        assert_eq!(flow.rate.get(), (1e11 * (1.0 - flow.alpha.get() / 2.0)) as u64);
        assert_eq!(flow.deadline(), CHECK + Time::from_us(300));
    }

    #[test]
    fn one_cut_from_line_rate_recovers_by_half_then_additively_then_in_large_steps() {
        let mut flow = flow(&DcqcnMellanoxConfig { alpha_interval: Time::from_ms(90), ..config() });
        flow.on_acknowledgement(MARK, true);
        let served = serve(&mut flow, Time::from_us(2_200));
        let rates: Vec<u64> = served.iter().map(|served| served.1).collect();
        assert_eq!(rates, [50_000, 75_000, 87_500, 93_750, 96_875, 98_437, 99_218, 99_609]);
        assert_eq!((served[1].0, served[2].0), (314_001, 614_001));
    }

    #[test]
    fn the_target_grows_by_the_additive_and_then_by_the_hyper_increase() {
        let config = DcqcnMellanoxConfig { clamps_target: true, ..config() };
        let mut flow = flow(&config);
        flow.rate.set(50_000_000_000);
        flow.on_acknowledgement(MARK, true);
        flow.on_deadline(CHECK);
        let cut = flow.rate.get();
        assert_eq!(flow.target, 50_000_000_000);
        let recovered = cut / 2 + 25_000_000_000;
        let added = recovered / 2 + 25_010_000_000;
        let leapt = added / 2 + 25_110_000_000;
        for (periods, rate) in [(1, recovered), (2, added), (3, leapt)] {
            flow.on_deadline(CHECK + Time::from_us(300) * periods);
            assert_eq!(flow.rate.get(), rate);
        }
    }

    #[test]
    fn a_mark_for_every_check_halves_the_rate_until_alpha_has_fallen_or_the_floor_is_reached() {
        let mut flow = flow(&DcqcnMellanoxConfig { alpha_interval: Time::from_ms(90), ..config() });
        flow.on_acknowledgement(MARK, true);
        let mut check = CHECK;
        for rate in [50_000, 25_000, 12_500, 6_250, 3_125, 1_562, 1_000, 1_000] {
            flow.on_acknowledgement(check - Time::from_ns(900), true);
            flow.on_acknowledgement(check - Time::from_ns(800), true);
            flow.on_acknowledgement(check, false);
            assert_eq!(flow.rate.get() / 1_000_000, rate);
            check += Time::from_us(4);
        }
    }

    #[test]
    fn the_target_stays_until_an_increase_unless_it_is_clamped() {
        for (clamps_target, expected) in [(false, 100_000_000_000), (true, 50_000_000_000)] {
            let alpha_interval = Time::from_ms(90);
            let config = DcqcnMellanoxConfig { clamps_target, alpha_interval, ..config() };
            let mut flow = flow(&config);
            flow.on_acknowledgement(MARK, true);
            flow.on_acknowledgement(CHECK, true);
            flow.on_deadline(CHECK + Time::from_us(4));
            assert_eq!((flow.rate.get(), flow.target), (25_000_000_000, expected));
        }
    }

    #[test]
    fn a_check_at_the_time_of_a_mark_comes_before_it() {
        let mut flow = flow(&config());
        flow.on_acknowledgement(MARK, true);
        flow.on_acknowledgement(CHECK, true);
        assert_eq!((flow.stage, flow.deadline()), (0, CHECK + Time::from_us(4)));
        flow.on_deadline(CHECK + Time::from_us(4));
        flow.on_acknowledgement(CHECK + Time::from_us(9), true);
        assert_eq!(flow.deadline(), CHECK + Time::from_us(12));
    }

    #[test]
    fn a_tick_comes_before_a_mark_of_its_moment_when_it_was_set_earlier() {
        // The last flight of the fixture's path is 1.005 us: shorter than one interval, not the other.
        for (alpha_interval, ticks_with_mark) in [(Time::from_us(2), 1), (Time::from_us(1), 2)] {
            let mut flow = flow(&DcqcnMellanoxConfig { alpha_interval, ..config() });
            flow.on_acknowledgement(MARK, true);
            flow.on_acknowledgement(MARK + alpha_interval, true);
            flow.tick(MARK + alpha_interval);
            let after_first = flow.alpha.get();
            flow.tick(MARK + alpha_interval * 2);
            let is_first_marked = after_first == 1.0; // 255/256 + 1/256
            assert_eq!(is_first_marked, ticks_with_mark == 2, "{after_first}");
            assert!((flow.alpha.get() - (255.0 / 256.0)).abs() < 0.004);
        }
    }

    #[test]
    fn an_increase_and_a_check_at_the_same_time_come_in_the_order_they_were_set() {
        for (increase_interval, stage) in [(Time::from_us(8), 1), (Time::from_us(4), 0)] {
            let mut flow = flow(&DcqcnMellanoxConfig { increase_interval, ..config() });
            flow.on_acknowledgement(MARK, true);
            let tie = CHECK + increase_interval;
            flow.on_acknowledgement(tie - Time::from_us(1), true);
            let before = flow.rate.get();
            flow.on_deadline(tie);
            // The cut came last in both cases, and only in the first it saw an increase.
            assert_eq!((flow.stage, flow.deadline()), (0, tie + increase_interval));
            let target = if stage == 1 { before / 2 + 50_000_000_000 } else { 100_000_000_000 };
            assert_eq!(flow.target, target);
        }
    }

    #[test]
    fn a_mark_counts_once_for_alpha_and_the_first_not_at_all() {
        let mut flow = flow(&config());
        flow.on_acknowledgement(MARK, true);
        flow.on_acknowledgement(MARK + Time::from_ns(2_500), true);
        flow.on_acknowledgement(MARK + Time::from_ns(2_700), true);
        flow.on_deadline(CHECK);
        let kept: f64 = 255.0 / 256.0;
        let expected = kept * (kept * (kept * kept) + 1.0 / 256.0); // the tick at 13 us saw it
        assert!((flow.alpha.get() - expected).abs() < 1e-15);
    }

    #[test]
    fn a_tick_at_the_time_of_a_mark_comes_after_it() {
        let mut flow = flow(&config());
        flow.on_acknowledgement(MARK, true);
        flow.on_acknowledgement(MARK + Time::from_us(3), true);
        flow.on_deadline(CHECK);
        let kept: f64 = 255.0 / 256.0;
        let expected = kept * (kept * (kept * kept) + 1.0 / 256.0); // the tick at 13 us saw it
        assert!((flow.alpha.get() - expected).abs() < 1e-15);
    }

    #[test]
    fn windows_follow_the_rate_only_where_they_are_scaled() {
        for (window, expected) in [(RateWindow::Bdp, 100_000), (RateWindow::Scaled, 1_000)] {
            let mut flow = flow(&DcqcnMellanoxConfig { window, ..config() });
            assert_eq!(flow.window(), 100_000);
            flow.rate.set(0);
            assert_eq!((flow.window(), flow.rate()), (expected, Some(BitRate::from_gbps(1))));
        }
    }
}
