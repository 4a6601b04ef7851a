//! The way back of a rate that was cut: the timer and the byte counter on which QCN and DCQCN win a
//! rate back (802.1Q clause 32; Y. Zhu et al., SIGCOMM 2015, Fig. 7).
//!
//! Both start anew with a cut. Each of their expiries moves the rate half way to a target, and the
//! numbers of expiries say whether the target grows before: not in fast recovery, additively once
//! one of the two has left it, in ever larger steps once both have.

use penstock_units::{BitRate, Time};

use super::paced_rate::{PacedRate, RateWindow};
use crate::path::PathFacts;

/// The two, and how often each has expired since the last cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stages {
    /// The next expiry of the timer; [`Time::NEVER`] while nothing runs.
    due: Time,
    /// Bytes since the counter has expired (bytes).
    sent: u64,
    timer: u32,
    counter: u32,
}

/// What an expiry adds to the target rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    /// The first expiry, of either, after which the target grows.
    pub(crate) first: u32,
    /// Expiries of both after which it grows in ever larger steps.
    pub(crate) both: u32,
    /// In one step.
    pub(crate) additive: BitRate,
    /// In the first of the larger steps; the second adds twice that, and so on.
    pub(crate) hyper: BitRate,
}

impl Stages {
    /// Neither runs: a flow at line rate.
    pub(crate) fn stopped() -> Self {
        Stages { due: Time::NEVER, sent: 0, timer: 0, counter: 0 }
    }

    /// A cut at `now`: both begin anew, the timer with `period`.
    pub(crate) fn restart(&mut self, now: Time, period: Time) {
        *self = Stages { due: now.saturating_add(period), ..Stages::stopped() };
    }

    /// The line rate is reached.
    pub(crate) fn stop(&mut self) {
        self.due = Time::NEVER;
    }

    /// When the timer expires (ps); [`Time::NEVER`] when it does not run.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        self.due
    }

    /// Expiries of the timer since the last cut.
    pub(crate) fn timer(&self) -> u32 {
        self.timer
    }

    /// Expiries of the byte counter since the last cut.
    pub(crate) fn counter(&self) -> u32 {
        self.counter
    }

    /// Whether either has expired since the last cut.
    pub(crate) fn has_expired(&self) -> bool {
        self.timer > 0 || self.counter > 0
    }

    /// A packet of `wire_bytes` leaves; answers whether the counter expires, which it does every
    /// `period` bytes, or never when that is 0.
    #[inline]
    pub(crate) fn on_send(&mut self, wire_bytes: u32, period: u64) -> bool {
        if period == 0 || self.due == Time::NEVER {
            return false;
        }
        self.sent += u64::from(wire_bytes);
        if self.sent < period {
            return false;
        }
        self.sent -= period;
        self.counter = self.counter.saturating_add(1);
        true
    }

    /// The timer expires; `period` says when next, given how often it has.
    pub(crate) fn on_timer(&mut self, period: impl Fn(u32) -> Time) {
        self.timer = self.timer.saturating_add(1);
        self.due = self.due.saturating_add(period(self.timer).max(Time::from_ps(1)));
    }

    /// What the target gains now (bit/s).
    pub(crate) fn step(&self, steps: &Steps) -> u64 {
        let low = self.timer.min(self.counter);
        if self.timer.max(self.counter) < steps.first {
            0
        } else if low > steps.both {
            steps.hyper.as_bps().saturating_mul(u64::from(low - steps.both))
        } else {
            steps.additive.as_bps()
        }
    }

    /// The bytes since the counter has expired, for tests.
    #[cfg(test)]
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }
}

/// A rate, the target that it climbs to, and what moves it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Climb {
    pub(crate) rate: PacedRate,
    /// The target rate (bit/s).
    pub(crate) target: u64,
    pub(crate) stages: Stages,
}

impl Climb {
    /// At line rate, where nothing runs.
    pub(crate) fn new(path: &PathFacts, minimum_rate: BitRate, window: RateWindow) -> Self {
        let rate = PacedRate::new(path, minimum_rate, window);
        Climb { rate, target: rate.get(), stages: Stages::stopped() }
    }

    /// Raises the target by what the stages say, at most to the line rate.
    pub(crate) fn raise(&mut self, steps: &Steps) {
        let step = self.stages.step(steps);
        self.target = self.target.saturating_add(step).min(self.rate.line());
    }

    /// Moves the rate half way to the target; at line rate nothing runs any more.
    pub(crate) fn approach(&mut self) {
        self.rate.set((self.rate.get() + self.target).div_ceil(2));
        if self.rate.get() == self.rate.line() {
            self.stages.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: Steps = Steps {
        first: 5,
        both: 5,
        additive: BitRate::from_mbps(40),
        hyper: BitRate::from_mbps(200),
    };

    #[test]
    fn the_target_grows_when_one_has_left_fast_recovery_and_faster_when_both_have() {
        let mut stages = Stages::stopped();
        stages.restart(Time::ZERO, Time::from_us(55));
        let mut gains = [0; 8];
        for gain in &mut gains {
            stages.on_timer(|_| Time::from_us(55));
            *gain = stages.step(&STEPS) / 1_000_000;
        }
        assert_eq!(gains, [0, 0, 0, 0, 40, 40, 40, 40]);
        for gain in &mut gains {
            assert!(stages.on_send(1_500, 1_500));
            *gain = stages.step(&STEPS) / 1_000_000;
        }
        assert_eq!(gains, [40, 40, 40, 40, 40, 200, 400, 600]);
    }

    #[test]
    fn nothing_counts_before_a_cut_or_after_the_line_rate_is_reached() {
        let mut stages = Stages::stopped();
        assert!(!stages.on_send(9_000, 1_000) && stages.deadline() == Time::NEVER);
        stages.restart(Time::from_us(1), Time::from_us(2));
        assert_eq!(stages.deadline(), Time::from_us(3));
        assert!(!stages.on_send(9_000, 0) && stages.on_send(1_500, 1_000));
        assert_eq!((stages.sent(), stages.counter(), stages.has_expired()), (500, 1, true));
        stages.stop();
        assert!(!stages.on_send(9_000, 1_000));
    }
}
