//! Alpha, DCQCN's estimate of congestion, which is updated on a clock (Y. Zhu et al., SIGCOMM 2015,
//! Sec. 3.1).
//!
//! An update is not an event. When alpha is needed, all updates that are due are made up for, with
//! exactly the numbers that one update at a time gives.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;

/// An estimate in [0, 1].
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Alpha {
    value: f64,
    gain: f64,
    interval: Time,
    /// When the next update is due; [`Time::NEVER`] while the clock does not run.
    due: Time,
}

impl Alpha {
    /// An estimate that is `first`, in [0, 1], until something is seen. Its updates are `interval` > 0
    /// apart. `gain` (g in the paper), in (0, 1], is the weight of the latest update. The clock does not run
    /// yet.
    pub(crate) fn new(first: f64, gain: f64, interval: Time) -> Self {
        Alpha { value: first, gain, interval, due: Time::NEVER }
    }

    /// The estimate, in [0, 1].
    pub(crate) fn get(&self) -> f64 {
        self.value
    }

    /// Whether the clock has been started.
    pub(crate) fn is_running(&self) -> bool {
        self.due != Time::NEVER
    }

    /// Restarts the clock: the next update is one interval after `now`.
    pub(crate) fn start(&mut self, now: Time) {
        self.due = now.saturating_add(self.interval);
    }

    /// One update. `has_seen` tells whether congestion was seen.
    pub(crate) fn update(&mut self, has_seen: bool) {
        let seen = if has_seen { self.gain } else { 0.0 };
        self.value = (1.0 - self.gain) * self.value + seen;
    }

    /// Makes up for the updates that are due by `now`. Congestion counts for the first of them. Answers
    /// whether an update was due.
    pub(crate) fn catch_up(&mut self, now: Time, has_seen: bool) -> bool {
        if now < self.due {
            return false;
        }
        let updates = (now - self.due).as_ps() / self.interval.as_ps() + 1;
        self.due = self.due.saturating_add(self.interval * updates);
        self.update(has_seen);
        for _ in 1..updates {
            let before = self.value;
            self.update(false);
            if self.value == before {
                break; // it has come down to where a product is rounded back to itself
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: Time = Time::from_us(1);

    #[test]
    fn it_halves_in_177_updates_without_congestion() {
        let mut alpha = Alpha::new(1.0, 1.0 / 256.0, US);
        assert!(!alpha.catch_up(Time::from_ms(1), false) && !alpha.is_running());
        alpha.start(Time::ZERO);
        assert!(!alpha.catch_up(Time::from_ps(999_999), false));
        assert!(alpha.catch_up(US * 177, false));
        assert!((alpha.get() - 0.5).abs() < 0.001, "{}", alpha.get());
    }

    #[test]
    fn updates_that_are_made_up_for_give_what_one_at_a_time_gives() {
        let mut alpha = Alpha::new(1.0, 1.0 / 256.0, US);
        alpha.start(Time::ZERO);
        let (mut value, mut last) = (1.0f64, 0);
        for now in [1, 37, 1_200, 1_201, 40_000, 900_000] {
            for microsecond in last + 1..=now {
                let seen = if last > 0 && microsecond == last + 1 { 1.0 / 256.0 } else { 0.0 };
                value = (1.0 - 1.0 / 256.0) * value + seen;
            }
            assert!(alpha.catch_up(US * now, last > 0));
            assert_eq!(alpha.get().to_bits(), value.to_bits(), "{now} us");
            last = now;
        }
        assert!(value > 0.0 && value < f64::MIN_POSITIVE); // so far that products are rounded back
    }
}
