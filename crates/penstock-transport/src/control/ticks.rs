//! A clock that ticks at equal times from the first packet of a flow on, whether or not there is
//! anything to do. Receivers notify by it ([`super::pcn`], and [`super::dcqcn`] at ticks).
//!
//! Ticks that bring nothing are not events: the clock makes up for them. A packet at the time of a tick
//! belongs to the next interval.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;

/// The clock of one flow at its receiver.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Ticks {
    /// Time between two ticks (ps), > 0.
    interval: Time,
    /// The next tick (ps); zero before the clock has been started.
    next: Time,
}

impl Ticks {
    /// A clock that does not run yet. Its ticks are `interval` > 0 apart.
    pub(crate) fn new(interval: Time) -> Self {
        Ticks { interval, next: Time::ZERO }
    }

    /// Whether the clock has been started.
    #[inline]
    pub(crate) fn is_running(&self) -> bool {
        self.next != Time::ZERO
    }

    /// The first tick is one interval after `now`.
    pub(crate) fn start(&mut self, now: Time) {
        self.next = now.saturating_add(self.interval);
    }

    /// The next tick (ps) of a clock that runs.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Moves on to the first tick after `now`.
    #[inline]
    pub(crate) fn pass(&mut self, now: Time) {
        if now >= self.next {
            let passed = (now - self.next).as_ps() / self.interval.as_ps() + 1;
            let span = self.interval.as_ps().saturating_mul(passed);
            self.next = self.next.saturating_add(Time::from_ps(span));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_stay_in_step_with_the_first_packet() {
        let mut ticks = Ticks::new(Time::from_us(50));
        assert!(!ticks.is_running());
        ticks.start(Time::from_us(7));
        assert!(ticks.is_running());
        for (now, next) in [(7, 57), (56, 57), (57, 107), (300, 307), (307, 357)] {
            ticks.pass(Time::from_us(now));
            assert_eq!(ticks.next(), Time::from_us(next), "at {now} us");
        }
    }
}
