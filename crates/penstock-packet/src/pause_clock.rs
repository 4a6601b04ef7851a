//! How long queues, classes or links were paused: the integral of the number of pauses over time.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;

/// Pause time, summed over everything that is paused.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct PauseClock {
    paused: u32,
    since: Time,
    total: Time,
}

impl PauseClock {
    /// How many pauses hold now.
    pub fn paused(&self) -> u32 {
        self.paused
    }

    /// From `now` on `paused` pauses hold.
    pub fn set(&mut self, now: Time, paused: u32) {
        self.total = self.total(now);
        self.since = now;
        self.paused = paused;
    }

    /// Pause time until `now`.
    pub fn total(&self, now: Time) -> Time {
        self.total + (now - self.since) * u64::from(self.paused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_summed_over_what_is_paused() {
        let mut clock = PauseClock::default();
        clock.set(Time::from_ns(10), 2);
        clock.set(Time::from_ns(15), 1);
        clock.set(Time::from_ns(20), 0);
        assert_eq!(clock.total(Time::from_ns(99)), Time::from_ns(15));
    }
}
