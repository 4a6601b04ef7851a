//! TIMELY: the rate follows how fast the round-trip time grows.
//!
//! R. Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015,
//! Algorithm 1; and its patched form, Y. Zhu et al., "ECN or Delay: Lessons Learnt from Analysis of
//! DCQCN and TIMELY", CoNEXT 2016. Implemented: the three bands of the round-trip time, hyper-active
//! increase, updates per segment as in the paper or per round trip as in the ns-3 HPCC simulator
//! (alibaba-edu/High-Precision-Congestion-Control, `CC_MODE 7`), and the patched middle band. Left
//! out: segments that leave as one burst at line rate (packets are paced one by one, as in that
//! simulator and in PCN's), and the first rate of C / (N + 1) that needs the host's number of
//! flows: a flow starts at line rate, as in that simulator.
//!
//! Where the sources are silent or differ:
//! - The round-trip time of a segment is that of its last packet, from the moment it left the NIC:
//!   with paced packets, that of the first would contain the pacing (our choice).
//! - The sixth increase in a row is the first one of hyper-active increase, as in that simulator;
//!   the paper says "for five completion events".
//! - With `hyper_below_low` unset a completion below the low threshold neither counts nor breaks
//!   the row (our choice; the paper's text speaks of the gradient only).
//! - The patched band has no hyper-active increase and ends a row (our choice; its authors have
//!   none anywhere).
//! - The authors' code snippet, as it was ported in eRPC, takes at most half of the rate away at once
//!   (`largest_cut`) and counts steps that come sooner than D_minRTT after the last in proportion less
//!   (`weighs_interval`); the paper's Algorithm 1 has neither.
//! - What a switch reports as dropped changes nothing (our choice: no source combines the two).
//!
//! | symbol | field | value | source |
//! |---|---|---|---|
//! | alpha | `ewma_weight` | 0.875 | the simulator's `TMLY_ALPHA` |
//! | beta | `decrease_factor` | 0.8; patched 0.008 | the paper; CoNEXT 2016 |
//! | delta | `additive_increase` | 10 Mb/s at 10 Gb/s | the paper; the simulator scales it |
//! | N delta | `hyper_increase` | 50 Mb/s at 10 Gb/s | the paper: N = 5 |
//! | - | `hyper_after` | 5 | the paper |
//! | - | `hyper_below_low` | false; true in the simulator | Algorithm 1; theirs |
//! | T_low | `low_rtt` | 50 us | the paper |
//! | T_high | `high_rtt` | 500 us | the paper |
//! | D_minRTT | `minimum_rtt` | 20 us | the paper |
//! | - | `largest_cut` | 1; 0.5 | the paper; the authors' code snippet |
//! | - | `weighs_interval` | false; true | the paper; the authors' code snippet |
//! | Seg | `update` | 16 or 64 KB; a round trip in the simulator | the paper; theirs |
//! | RTT_ref | `band` | T_low | CoNEXT 2016 |
//! | - | `minimum_rate` | 1 Gb/s | the simulator's run.py |
//! | - | `window` | none, or scaled | the simulator's "timely" and "timely_vwin" |

use penstock_units::{BitRate, Bytes, Problems, Time};
use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::control::paced_rate::{Paced, PacedRate, RateWindow};
use crate::flow::FlowView;
use crate::path::PathFacts;

/// Parameters of [`Timely`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimelyConfig {
    /// Weight of the latest difference of round-trip times (alpha in the paper), in (0, 1].
    pub ewma_weight: f64,
    /// How strong a cut is (beta in the paper), in (0, 1].
    pub decrease_factor: f64,
    /// What an increase adds (delta in the paper) (bit/s).
    pub additive_increase: BitRate,
    /// What an increase adds after many others (N delta in the paper) (bit/s).
    pub hyper_increase: BitRate,
    /// How many increases in a row come before such a one, >= 0.
    pub hyper_after: u32,
    /// Whether increases below `low_rtt` count and become such ones, too.
    pub hyper_below_low: bool,
    /// Below this round-trip time the rate grows (T_low in the paper) (ps).
    pub low_rtt: Time,
    /// Above this round-trip time the rate falls (T_high in the paper) (ps).
    pub high_rtt: Time,
    /// What differences are normalized by (D_minRTT in the paper) (ps), > 0.
    pub minimum_rtt: Time,
    /// The largest share of the rate that one update takes away, in (0, 1]; 1: no limit.
    pub largest_cut: f64,
    /// Whether an update that comes sooner than `minimum_rtt` after the one before changes the rate in
    /// proportion less.
    pub weighs_interval: bool,
    /// When the rate is adjusted.
    pub update: TimelyUpdate,
    /// What happens between the two thresholds.
    pub band: TimelyBand,
    /// The rate below which the flow does not fall (bit/s), > 0.
    pub minimum_rate: BitRate,
    /// How much may be in flight.
    pub window: RateWindow,
}

/// When the rate is adjusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TimelyUpdate {
    /// At the first acknowledgement of each round trip.
    RoundTrip {},
    /// Whenever so much has been acknowledged.
    Segment {
        /// Size of a segment (bytes), > 0.
        size: Bytes,
    },
}

/// What happens between the two thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TimelyBand {
    /// A growing round-trip time cuts the rate in proportion, another increases it (SIGCOMM 2015).
    Gradient {},
    /// The gradient only weighs an increase against a cut in proportion to the distance from a
    /// reference (CoNEXT 2016).
    Patched {
        /// The reference (RTT_ref in the paper) (ps), > 0.
        reference_rtt: Time,
    },
}

impl TimelyConfig {
    /// Checks every field against its bounds.
    pub fn check(&self, problems: &mut Problems) {
        bounds::weight(problems, "ewma_weight", self.ewma_weight);
        bounds::weight(problems, "decrease_factor", self.decrease_factor);
        let low = self.low_rtt;
        problems.unless(low <= self.high_rtt, "low_rtt", low, "it must not exceed high_rtt");
        bounds::interval(problems, "minimum_rtt", self.minimum_rtt);
        bounds::weight(problems, "largest_cut", self.largest_cut);
        if let TimelyUpdate::Segment { size } = self.update {
            let remedy = "it must be above 0, such as 64 kB";
            problems.unless(size > Bytes::ZERO, "update.size", size, remedy);
        }
        if let TimelyBand::Patched { reference_rtt } = self.band {
            bounds::interval(problems, "band.reference_rtt", reference_rtt);
        }
        bounds::rate(problems, "additive_increase", self.additive_increase);
        bounds::rate(problems, "hyper_increase", self.hyper_increase);
        bounds::rate(problems, "minimum_rate", self.minimum_rate);
    }
}

/// The state of one flow. Times are nanoseconds, in which those of the HPCC simulator are whole.
#[derive(Clone, Debug)]
pub struct Timely {
    config: TimelyConfig,
    rate: PacedRate,
    /// The round-trip time of the last update (ns); none before the first.
    last_rtt: Option<f64>,
    /// Average difference between round-trip times (ns).
    difference: f64,
    /// Increases in a row.
    stage: u32,
    /// When the last update was (ps); zero before the first.
    updated_at: Time,
    /// What counts of the steps of this update, in [0, 1].
    share: f64,
    /// The next update comes with the first acknowledgement beyond this byte.
    update_end: u64,
}

impl Timely {
    /// A flow that has sent nothing; it starts at line rate.
    pub fn new(config: &TimelyConfig, path: &PathFacts) -> Self {
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

    /// An acknowledgement arrived at `now`, `rtt` after its data packet left.
    pub fn on_acknowledgement(&mut self, now: Time, rtt: Time, view: &FlowView) {
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
        let rtt = nanoseconds(rtt);
        if let Some(last) = self.last_rtt.replace(rtt) {
            let weight = self.config.ewma_weight;
            self.difference = (1.0 - weight) * self.difference + weight * (rtt - last);
            self.update(rtt, self.difference / minimum_rtt);
        }
    }

    /// A pause of the host: the share `kept` of the rate (FAFC, Algorithm 3).
    pub fn on_timed_pause(&mut self, kept: f64) {
        self.decrease(kept);
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

    /// Takes the part `taken` of the rate away, or what of it counts.
    fn cut(&mut self, taken: f64) {
        self.decrease(self.kept(taken));
    }

    /// What is left of a rate of which `taken` is to be taken away (negative: added).
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

impl Paced for Timely {
    #[inline]
    fn paced(&self) -> &PacedRate {
        &self.rate
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::fixture;

    const NOW: Time = Time::from_ms(1);

    /// The paper's values, at 10 Gb/s.
    fn config() -> TimelyConfig {
        TimelyConfig {
            ewma_weight: 0.875,
            decrease_factor: 0.8,
            additive_increase: BitRate::from_mbps(10),
            hyper_increase: BitRate::from_mbps(50),
            hyper_after: 5,
            hyper_below_low: false,
            low_rtt: Time::from_us(50),
            high_rtt: Time::from_us(500),
            minimum_rtt: Time::from_us(20),
            largest_cut: 1.0,
            weighs_interval: false,
            update: TimelyUpdate::RoundTrip {},
            band: TimelyBand::Gradient {},
            minimum_rate: BitRate::from_mbps(1),
            window: RateWindow::None,
        }
    }

    /// A flow at 10 Gb/s on a 100 Gb/s path, whose last round-trip time was `rtt` (us).
    fn flow(config: &TimelyConfig, rtt: u64) -> Timely {
        let mut timely = Timely::new(config, &fixture::path());
        timely.on_acknowledgement(NOW, Time::from_us(rtt), &view(1));
        timely.rate.set(10_000_000_000);
        timely
    }

    /// The acknowledgement of the first byte of round trip `round`, each of which has 1000 B.
    fn view(round: u64) -> FlowView {
        let acknowledged = round * 1_000;
        FlowView { acknowledged, next: acknowledged + 999, newly_acknowledged: 1_000 }
    }

    /// The rates after a round trip of each time (us), in kb/s.
    fn rates<const N: usize>(timely: &mut Timely, rtts: [u64; N]) -> [u64; N] {
        let mut round = 1;
        rtts.map(|rtt| {
            round += 1;
            timely.on_acknowledgement(NOW, Time::from_us(rtt), &view(round));
            (timely.rate.get() + 500) / 1_000
        })
    }

    #[test]
    fn the_snippet_takes_at_most_half_away_and_counts_a_short_interval_less() {
        let snippet = TimelyConfig { largest_cut: 0.5, weighs_interval: true, ..config() };
        let mut timely = flow(&snippet, 60);
        let mut update = |after: u64, round, rtt| {
            let now = timely.updated_at + Time::from_us(after);
            timely.on_acknowledgement(now, Time::from_us(rtt), &view(round));
            timely.rate.get()
        };
        // By hand: the gradient is 0.875 · 90 / 20 = 3.9, so that all of the rate would be taken.
        assert_eq!(update(20, 2, 150), 5_000_000_000);
        // 1 - 0.8 · (1 - 500/1000) = 0.6, of which 10 of 20 us count: 0.8.
        assert_eq!(update(10, 3, 1_000), 4_000_000_000);
        assert_eq!(update(5, 4, 40), 4_002_500_000); // a quarter of 10 Mb/s
        assert_eq!(update(40, 5, 40), 4_012_500_000);
    }

    #[test]
    fn the_bands_and_the_gradient_of_a_written_sequence() {
        let mut timely = flow(&config(), 60);
        let expected =
            [9_300_000, 6_614_625, 6_375_878, 6_385_878, 6_395_878, 6_405_878, 5_551_761];
        assert_eq!(rates(&mut timely, [62, 70, 70, 66, 66, 40, 600]), expected);
    }

    #[test]
    fn the_sixth_increase_in_a_row_is_a_large_one() {
        let mut timely = flow(&config(), 60);
        let steps = [10_010_000, 10_020_000, 10_030_000, 10_040_000, 10_050_000, 10_100_000];
        assert_eq!(rates(&mut timely, [60; 6]), steps);
    }

    #[test]
    fn increases_below_the_low_threshold_become_large_only_where_that_is_chosen() {
        for (hyper_below_low, last) in [(false, 10_060_000), (true, 10_100_000)] {
            let mut timely = flow(&TimelyConfig { hyper_below_low, ..config() }, 40);
            assert_eq!(rates(&mut timely, [40; 6])[5], last);
        }
    }

    #[test]
    fn the_patched_band_weighs_by_the_gradient() {
        let band = TimelyBand::Patched { reference_rtt: Time::from_us(50) };
        let config = TimelyConfig { decrease_factor: 0.008, band, ..config() };
        for (gradient, expected) in [(-0.3, 10_010), (0.0, 9_965), (0.3, 9_920)] {
            let mut timely = flow(&config, 100);
            timely.update(100_000.0, gradient);
            assert_eq!(timely.rate.get() / 1_000_000, expected);
        }
    }

    #[test]
    fn the_first_acknowledgement_of_a_round_trip_counts_and_the_others_do_not() {
        let mut timely = Timely::new(&config(), &fixture::path());
        let acknowledge = |timely: &mut Timely, rtt, acknowledged, next| {
            let view = FlowView { acknowledged, next, newly_acknowledged: 1_000 };
            timely.on_acknowledgement(NOW, Time::from_us(rtt), &view);
        };
        acknowledge(&mut timely, 60, 1_000, 100_000);
        assert_eq!((timely.last_rtt, timely.rate()), (Some(60_000.0), None));
        acknowledge(&mut timely, 90, 100_000, 200_000);
        assert_eq!((timely.last_rtt, timely.rate()), (Some(60_000.0), None));
        acknowledge(&mut timely, 70, 101_000, 201_000);
        assert_eq!(timely.last_rtt, Some(70_000.0));
        assert_eq!(timely.rate.get().div_ceil(1_000), 65_000_000); // the gradient is 0.4375
    }

    #[test]
    fn a_segment_ends_with_its_last_byte() {
        let update = TimelyUpdate::Segment { size: Bytes::new(16_000) };
        let mut timely = Timely::new(&TimelyConfig { update, ..config() }, &fixture::path());
        let mut updates = vec![];
        for packet in 1..=50 {
            let view = FlowView { acknowledged: packet * 1_000, next: 99_000, ..view(0) };
            timely.last_rtt = None;
            timely.on_acknowledgement(NOW, Time::from_us(60), &view);
            if timely.last_rtt.is_some() {
                updates.push(packet);
            }
        }
        assert_eq!(updates, [16, 32, 48]);
    }

    #[test]
    fn a_steep_gradient_falls_to_the_minimum_rate_and_a_row_of_increases_ends() {
        let mut timely = flow(&config(), 60);
        timely.stage = 4;
        assert_eq!(rates(&mut timely, [400]), [1_000]);
        assert_eq!((timely.stage, timely.window()), (0, u64::MAX));
    }

    #[test]
    fn a_timed_pause_leaves_a_share_of_the_rate_and_ends_a_row_of_increases() {
        let mut timely = flow(&config(), 20);
        timely.stage = 9;
        timely.on_timed_pause(0.25);
        assert_eq!((timely.rate.get(), timely.stage), (2_500_000_000, 0));
    }

    #[test]
    fn a_scaled_window_follows_the_rate() {
        let timely = flow(&TimelyConfig { window: RateWindow::Scaled, ..config() }, 60);
        assert_eq!(timely.window(), 10_000);
    }
}
