//! How a rate recovers from a cut: the timer and the byte counter of QCN and DCQCN (802.1Q clause 32;
//! Y. Zhu et al., SIGCOMM 2015, Fig. 7).
//!
//! A cut restarts both in DCQCN. In QCN a cut restarts the counter only when the counter has expired since
//! the last cut. Each expiry of timer or counter moves the rate half way to a target. Before
//! that the target may grow, depending on the numbers of expiries since the cut. In fast recovery the
//! target stays. Once timer or counter has left fast recovery, the target grows additively. Once both
//! have, it grows in ever larger steps.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::{BitRate, Time};

use super::paced_rate::{PacedRate, RateWindow};
use crate::path::PathFacts;

/// A target above this many times the rate is far from it (802.1Q, clause 32: the reaction point's
/// self-increase; `AdjustRates` of bobzhuyb/ns3-rdma).
const FAR_ABOVE: u64 = 10;
/// A far target is divided by this.
const FALL: u64 = 8;

/// The timer and the counter, and how often each has expired since the last cut.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Stages {
    /// The next expiry of the timer; [`Time::NEVER`] while nothing runs.
    due: Time,
    /// Bytes since the last expiry of the counter (bytes).
    sent: u64,
    timer: u32,
    counter: u32,
}

/// What an expiry adds to the target rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    /// The target grows from this expiry of the timer or of the counter on.
    pub(crate) first: u32,
    /// The target grows in ever larger steps once both have expired more often than this.
    pub(crate) both: u32,
    /// Added by an additive step.
    pub(crate) additive: BitRate,
    /// Added by the first of the larger steps; the second adds twice as much, and so on.
    pub(crate) hyper: BitRate,
}

impl Stages {
    /// Timer and counter stand still: a flow at line rate.
    pub(crate) fn stopped() -> Self {
        Stages { due: Time::NEVER, sent: 0, timer: 0, counter: 0 }
    }

    /// A cut at `now` restarts both, the timer with `period`.
    pub(crate) fn restart(&mut self, now: Time, period: Time) {
        *self = Stages { due: now.saturating_add(period), ..Stages::stopped() };
    }

    /// A cut at `now` restarts the timer with `period`. The counter is restarted only when it has
    /// expired since the last cut, or when nothing ran.
    pub(crate) fn restart_timer(&mut self, now: Time, period: Time) {
        let goes_on = self.due != Time::NEVER && self.counter == 0;
        let sent = if goes_on { self.sent } else { 0 };
        self.restart(now, period);
        self.sent = sent;
    }

    /// Stops the timer, because the line rate is reached.
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

    /// Expiries since the last cut of the one that has expired less often.
    pub(crate) fn fewest(&self) -> u32 {
        self.timer.min(self.counter)
    }

    /// Expiries since the last cut of the one that has expired more often.
    pub(crate) fn most(&self) -> u32 {
        self.timer.max(self.counter)
    }

    /// A packet of `wire_bytes` leaves. Answers whether the counter expires. The counter expires every
    /// `period` bytes, or never when `period` is 0.
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

    /// The timer expires. `period` gives the time to the next expiry from the number of expiries.
    pub(crate) fn on_timer(&mut self, period: impl Fn(u32) -> Time) {
        self.timer = self.timer.saturating_add(1);
        self.due = self.due.saturating_add(period(self.timer).max(Time::from_ps(1)));
    }

    /// The bit rate that the target gains at an expiry (bit/s).
    pub(crate) fn step(&self, steps: &Steps) -> u64 {
        let low = self.fewest();
        if self.most() < steps.first {
            0
        } else if low > steps.both {
            steps.hyper.as_bps().saturating_mul(u64::from(low - steps.both))
        } else {
            steps.additive.as_bps()
        }
    }

    /// The bytes since the last expiry of the counter, for tests.
    #[cfg(test)]
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }
}

/// A rate, its target, and the timer and counter that move both.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Climb {
    pub(crate) rate: PacedRate,
    /// The target rate (bit/s).
    pub(crate) target: u64,
    pub(crate) stages: Stages,
}

impl Climb {
    /// A flow at line rate, where timer and counter stand still.
    pub(crate) fn new(path: &PathFacts, minimum_rate: BitRate, window: RateWindow) -> Self {
        let rate = PacedRate::new(path, minimum_rate, window);
        Climb { rate, target: rate.get(), stages: Stages::stopped() }
    }

    /// Lowers a target that is far above the rate, in the first cycle of the timer or of the counter.
    /// Answers whether it did: such a target does not grow (QCN's rule).
    pub(crate) fn lower_far_target(&mut self) -> bool {
        let is_first = self.stages.timer() == 1 || self.stages.counter() == 1;
        let lowers = is_first && self.target > self.rate.get().saturating_mul(FAR_ABOVE);
        if lowers {
            self.target /= FALL;
        }
        lowers
    }

    /// Raises the target by the step of the current stage, at most to the line rate.
    pub(crate) fn raise(&mut self, steps: &Steps) {
        let step = self.stages.step(steps);
        self.target = self.target.saturating_add(step).min(self.rate.line());
    }

    /// Moves the rate half way to the target. At line rate the timer stops.
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
        assert_eq!((stages.sent(), stages.counter()), (500, 1));
        stages.stop();
        assert!(!stages.on_send(9_000, 1_000));
    }

    #[test]
    fn a_counter_that_has_not_expired_outlives_a_cut_that_restarts_the_timer() {
        let mut stages = Stages::stopped();
        stages.restart_timer(Time::ZERO, Time::from_us(15));
        assert!(!stages.on_send(600, 1_000));
        stages.on_timer(|_| Time::from_us(15));
        stages.restart_timer(Time::from_us(20), Time::from_us(15));
        assert_eq!((stages.timer(), stages.deadline()), (0, Time::from_us(35)));
        assert!(stages.on_send(600, 1_000));
        stages.restart_timer(Time::from_us(21), Time::from_us(15));
        assert_eq!((stages.counter(), stages.sent()), (0, 0));
        assert!(!stages.on_send(600, 1_000));
        stages.stop();
        stages.restart_timer(Time::from_us(22), Time::from_us(15));
        assert_eq!(stages.sent(), 0);
    }
}
