//! QCN's reaction point: the rate falls by the feedback of a switch and recovers on a timer and a byte
//! counter.
//!
//! IEEE 802.1Qau (now 802.1Q, clauses 30 to 33), and M. Alizadeh et al., "Data Center Transport
//! Mechanisms: Congestion Control Theory and IEEE Standardization", Allerton 2008. Implemented: the cut
//! by the quantized feedback, fast recovery, active and hyper-active increase with halved periods,
//! "extra fast recovery" and the fall of a target that is far above the rate. The congestion point is a
//! marking policy of the switch (`qcn`). The standard was not at hand. What a cut does to target and
//! counter, and when a target falls, is as in the released DCQCN simulator, whose state machine is that
//! of QCN (bobzhuyb/ns3-rdma, `qbb-net-device.cc`, without its options to clamp the target):
//! - In the first cycle of the counter, feedback leaves the target and the counter as they are. The
//!   timer is restarted by all feedback, and its expiries do not lower the target.
//! - The first cycle in which a target may fall is the timer's first or the counter's first.
//!
//! Left out: the rate limiter per priority that several flows may share, and its release. Each flow has
//! its own limiter here, as in simulators of QCN. In place of a release, neither timer nor counter runs
//! at line rate until the next feedback. Left out as well: the variation of the periods by up to 15 % in
//! active increase, for which that simulator has lines that are commented out.
//!
//! Where the sources are silent:
//! - The byte counter counts bytes on the wire (our choice).
//! - The timer's stage halves the timer's period, and the counter's stage halves the counter's period.
//! - The rate is a whole number of bits per second. Half of an odd sum is rounded up, so that the rate
//!   reaches the line rate (our choice).
//! - A drop that a switch reports changes nothing (our choice: no source combines the two).

use alloc::format;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::{BitRate, Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::control::hooks::{AtSource, Parameters};
use crate::control::paced_rate::RateWindow;
use crate::control::stages::{Climb, Steps};
use crate::flow::FlowFacts;

/// The source of the values.
const STANDARD: &str = "IEEE 802.1Q (802.1Qau)";

/// Parameters of [`Qcn`].
#[derive(Clone, Debug, PartialEq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(deny_unknown_fields)]
pub struct QcnConfig {
    /// Share of the rate that one unit of feedback cuts (Gd).
    #[schemars(
        range(max = 1),
        extend(
            "exclusiveMinimum" = 0,
            "default" = 1.0 / 128.0,
            "source" = format!("{STANDARD}: rpgGd")
        )
    )]
    pub decrease_gain: f64,
    /// Share of the rate that a cut leaves at least.
    #[schemars(
        range(max = 1),
        extend(
            "exclusiveMinimum" = 0,
            "default" = 0.5,
            "source" = format!("{STANDARD}: rpgMinDecFac")
        )
    )]
    pub minimum_decrease_factor: f64,
    /// Time between two increases.
    #[schemars(
        range(min = Time::LEAST_PERIOD.as_ps()),
        extend("default" = "15 ms", "source" = format!("{STANDARD}: rpgTimeReset"))
    )]
    pub increase_interval: Time,
    /// Bytes on the wire between two increases; 0: no byte counter.
    #[schemars(extend("default" = "150 kB", "source" = format!("{STANDARD}: rpgByteReset")))]
    pub increase_bytes: Bytes,
    /// Expiries that leave the target as it is.
    #[schemars(extend("default" = 5, "source" = format!("{STANDARD}: rpgThreshold")))]
    pub fast_recovery_rounds: u32,
    /// Added to the target by an active increase (R_AI).
    #[schemars(
        range(min = 1),
        extend("default" = "5 Mb/s", "source" = format!("{STANDARD}: rpgAiRate"))
    )]
    pub additive_increase: BitRate,
    /// Added to the target by a hyper-active increase, times its number (R_HAI).
    #[schemars(
        range(min = 1),
        extend("default" = "50 Mb/s", "source" = format!("{STANDARD}: rpgHaiRate"))
    )]
    pub hyper_increase: BitRate,
    /// Rate below which no flow falls.
    #[schemars(
        range(min = 1),
        extend("default" = "5 Mb/s", "source" = format!("{STANDARD}: rpgMinRate"))
    )]
    pub minimum_rate: BitRate,
    /// In flight at most: anything, one BDP, or BDP x rate / line rate.
    #[schemars(extend("default" = "none", "source" = STANDARD))]
    pub window: RateWindow,
}

impl Parameters for QcnConfig {
    fn uses_feedback(&self) -> bool {
        true
    }
}

/// The state of one flow.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Qcn {
    config: QcnConfig,
    /// CR and TR in the standard, with the timer and counter that move them.
    climb: Climb,
}

impl Qcn {
    /// A flow that has sent nothing. The flow starts at line rate.
    pub fn new(config: &QcnConfig, flow: &FlowFacts) -> Self {
        let path = flow.path;
        let climb = Climb::new(path, config.minimum_rate, config.window);
        Qcn { config: config.clone(), climb }
    }

    /// Whether a timer or counter at `stage` has left fast recovery, so that its period is halved.
    #[inline]
    fn is_beyond_recovery(&self, stage: u32) -> bool {
        stage >= self.config.fast_recovery_rounds
    }

    /// The timer or the counter has expired: the standard's self-increase. In the first cycle of either,
    /// a target that is far above the rate falls and does not grow.
    fn increase(&mut self) {
        if !self.climb.lower_far_target() {
            self.climb.raise(&Steps {
                first: self.config.fast_recovery_rounds.saturating_add(1),
                both: self.config.fast_recovery_rounds,
                additive: self.config.additive_increase,
                hyper: self.config.hyper_increase,
            });
        }
        self.climb.approach();
    }
}

impl AtSource for Qcn {
    /// A switch's `feedback` (|Fb| in the standard), 1 to 63, arrived at `now`.
    fn on_feedback(&mut self, now: Time, feedback: u8) {
        self.on_deadline(now);
        if self.climb.stages.counter() > 0 {
            self.climb.target = self.climb.rate.get();
        }
        let factor = 1.0 - self.config.decrease_gain * f64::from(feedback);
        self.climb.rate.scale(factor.max(self.config.minimum_decrease_factor));
        self.climb.stages.restart_timer(now, self.config.increase_interval);
    }

    fn on_send(&mut self, now: Time, wire_bytes: u32) {
        self.on_deadline(now);
        let halves = u64::from(self.is_beyond_recovery(self.climb.stages.counter())) + 1;
        if self.climb.stages.on_send(wire_bytes, self.config.increase_bytes.get() / halves) {
            self.increase();
        }
    }

    /// When the timer expires (ps); [`Time::NEVER`] when it does not run.
    #[inline]
    fn deadline(&self) -> Time {
        self.climb.stages.deadline()
    }

    /// Serves everything that is due by `now`.
    fn on_deadline(&mut self, now: Time) {
        while self.climb.stages.deadline() <= now {
            let mut stages = self.climb.stages;
            stages.on_timer(|timer| {
                let halves = u64::from(self.is_beyond_recovery(timer)) + 1;
                self.config.increase_interval / halves
            });
            self.climb.stages = stages;
            self.increase();
        }
    }

    #[inline]
    fn window(&self) -> u64 {
        self.climb.rate.window()
    }

    #[inline]
    fn rate(&self) -> Option<BitRate> {
        self.climb.rate.rate()
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;
    use crate::fixture;
    use crate::path::PathFacts;

    const JSON: &str = concat!(
        r#"{"kind":"qcn","decrease_gain":0.0078125,"minimum_decrease_factor":0.5,"#,
        r#""increase_interval":15000000000,"increase_bytes":150000,"fast_recovery_rounds":5,"#,
        r#""additive_increase":5000000,"hyper_increase":50000000,"minimum_rate":5000000,"#,
        r#""window":"none"}"#
    );

    /// The standard's numbers.
    fn config() -> QcnConfig {
        QcnConfig {
            decrease_gain: 1.0 / 128.0,
            minimum_decrease_factor: 0.5,
            increase_interval: Time::from_ms(15),
            increase_bytes: Bytes::new(150_000),
            fast_recovery_rounds: 5,
            additive_increase: BitRate::from_mbps(5),
            hyper_increase: BitRate::from_mbps(50),
            minimum_rate: BitRate::from_mbps(5),
            window: RateWindow::None,
        }
    }

    /// A flow at 10 Gb/s.
    fn flow() -> Qcn {
        let path = PathFacts { line_rate: BitRate::from_gbps(10), ..fixture::path() };
        Qcn::new(&config(), &fixture::flow(&path))
    }

    const START: Time = Time::from_us(100);
    const LINE: u64 = 10_000_000_000;

    /// Sends `bytes` in packets of 1,500 B.
    fn send(qcn: &mut Qcn, bytes: u32) {
        for _ in 0..bytes / 1_500 {
            qcn.on_send(START, 1_500);
        }
    }

    #[test]
    fn a_flow_without_feedback_has_no_timer_and_counts_nothing() {
        let mut qcn = flow();
        send(&mut qcn, 300_000);
        assert_eq!((qcn.deadline(), qcn.rate(), qcn.climb.stages.sent()), (Time::NEVER, None, 0));
    }

    #[test]
    fn feedback_cuts_by_a_128th_a_unit() {
        for (feedback, rate) in [(18, 8_593_750_000), (63, 5_078_125_000)] {
            let mut qcn = flow();
            qcn.on_feedback(START, feedback);
            assert_eq!((qcn.climb.rate.get(), qcn.climb.target), (rate, LINE));
        }
    }

    #[test]
    fn no_cut_leaves_less_than_half() {
        let config = QcnConfig { decrease_gain: 1.0 / 64.0, ..config() };
        let mut qcn = Qcn { config, ..flow() };
        qcn.on_feedback(START, 63);
        assert_eq!(qcn.climb.rate.get(), LINE / 2);
    }

    #[test]
    fn five_cycles_recover_all_but_a_thirty_second_of_the_cut() {
        let mut qcn = flow();
        qcn.on_feedback(START, 63);
        let cut = LINE - qcn.climb.rate.get();
        send(&mut qcn, 5 * 150_000);
        assert_eq!((qcn.climb.stages.counter(), qcn.climb.target), (5, LINE));
        assert_eq!(LINE - qcn.climb.rate.get(), cut / 32);
    }

    #[test]
    fn after_fast_recovery_cycles_are_half_as_long_and_the_target_grows() {
        let mut qcn = flow();
        qcn.climb.rate.set(LINE / 5);
        qcn.climb.target = LINE / 5;
        qcn.on_feedback(START, 32);
        send(&mut qcn, 5 * 150_000);
        let (rate, target) = (qcn.climb.rate.get(), qcn.climb.target);
        send(&mut qcn, 75_000);
        assert_eq!(qcn.climb.target, target + 5_000_000);
        assert_eq!(qcn.climb.rate.get(), (rate + qcn.climb.target).div_ceil(2));
    }

    #[test]
    fn both_beyond_fast_recovery_make_ever_larger_steps() {
        let mut qcn = flow();
        qcn.climb.rate.set(LINE / 5);
        qcn.climb.target = LINE / 5;
        qcn.on_feedback(START, 32);
        send(&mut qcn, 5 * 150_000 + 2 * 75_000);
        assert_eq!(qcn.climb.stages.counter(), 7);
        let mut targets = vec![qcn.climb.target];
        for _ in 0..8 {
            let due = qcn.deadline();
            qcn.on_deadline(due);
            targets.push(qcn.climb.target);
        }
        let steps: Vec<u64> = targets.windows(2).map(|two| (two[1] - two[0]) / 1_000_000).collect();
        assert_eq!(steps, [5, 5, 5, 5, 5, 50, 100, 100]);
    }

    #[test]
    fn the_timer_is_halved_after_fast_recovery() {
        let mut qcn = flow();
        qcn.on_feedback(START, 32);
        let mut dues = vec![];
        for _ in 0..7 {
            dues.push(qcn.deadline() - START);
            qcn.on_deadline(qcn.deadline());
        }
        let period = Time::from_us(7_500);
        assert_eq!(dues, [2, 4, 6, 8, 10, 11, 12].map(|halves| period * halves));
    }

    #[test]
    fn feedback_in_a_row_leaves_the_target_and_feedback_after_an_increase_lowers_it() {
        let mut qcn = flow();
        qcn.on_feedback(START, 64 - 1);
        qcn.on_feedback(START, 64 - 1);
        assert_eq!(qcn.climb.target, LINE);
        send(&mut qcn, 150_000);
        let rate = qcn.climb.rate.get();
        qcn.on_feedback(START, 1);
        assert_eq!(qcn.climb.target, rate);
    }

    #[test]
    fn in_the_first_cycle_of_the_counter_feedback_leaves_target_and_counter() {
        let mut qcn = flow();
        qcn.on_feedback(START, 63);
        send(&mut qcn, 90_000);
        let due = START + Time::from_ms(15);
        qcn.on_deadline(due); // the timer's first expiry
        qcn.on_feedback(due, 63);
        assert_eq!((qcn.climb.target, qcn.climb.stages.sent()), (LINE, 90_000));
        assert_eq!((qcn.climb.stages.timer(), qcn.deadline()), (0, due + Time::from_ms(15)));
        let rate = qcn.climb.rate.get();
        send(&mut qcn, 60_000); // 150 kB since the first feedback
        assert_eq!((qcn.climb.stages.counter(), qcn.climb.stages.sent()), (1, 0));
        assert_eq!(qcn.climb.rate.get(), (rate + LINE).div_ceil(2));
    }

    #[test]
    fn a_target_far_above_the_rate_falls_in_the_first_cycle_of_the_timer_too() {
        let mut qcn = flow();
        qcn.on_feedback(START, 63);
        send(&mut qcn, 5 * 150_000 + 75_000);
        qcn.climb.rate.set(LINE / 100);
        qcn.climb.target = LINE / 2;
        qcn.on_deadline(qcn.deadline());
        assert_eq!(qcn.climb.target, LINE / 16, "it falls, and R_AI is not added");
        qcn.climb.rate.set(LINE / 1_000);
        qcn.on_deadline(qcn.deadline());
        assert_eq!(qcn.climb.target, LINE / 16 + 5_000_000, "the timer's second cycle");
    }

    #[test]
    fn a_target_far_above_the_rate_falls_in_the_first_cycle() {
        let mut qcn = flow();
        for _ in 0..4 {
            qcn.on_feedback(START, 63);
        }
        let rate = qcn.climb.rate.get();
        assert!(rate * 10 < LINE);
        send(&mut qcn, 150_000);
        assert_eq!(
            (qcn.climb.target, qcn.climb.rate.get()),
            (LINE / 8, (rate + LINE / 8).div_ceil(2))
        );
    }

    #[test]
    fn nothing_falls_below_the_minimum_and_nothing_runs_at_line_rate() {
        let mut qcn = flow();
        for _ in 0..20 {
            qcn.on_feedback(START, 63);
        }
        assert_eq!(qcn.rate(), Some(BitRate::from_mbps(5)));
        qcn.climb.rate.set(LINE - 1);
        qcn.climb.target = LINE;
        qcn.on_deadline(START + Time::from_ms(15));
        assert_eq!((qcn.rate(), qcn.deadline()), (None, Time::NEVER));
    }

    #[test]
    fn parameters_are_read_and_written_and_refused_out_of_bounds() {
        fixture::check_controller(
            JSON,
            &[
                (JSON.replace("0.5", "1.5"), "minimum_decrease_factor"),
                (JSON.replace(":5000000,\"window", ":0,\"window"), "minimum_rate"),
            ],
        );
    }
}
