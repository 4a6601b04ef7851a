//! The clock of a run: the machine's monotonic clock, from an origin that all threads share, scaled.

use penstock_units::Time;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// The time of a run. With a scale of 1,000 a millisecond of the machine is a microsecond of the run, so a
/// link of 100 Gb/s carries 100 Mb/s.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// When the run starts: CLOCK_MONOTONIC (ns).
    origin: u64,
    /// How many seconds of the machine are a second of the run, at least 1.
    scale: u64,
}

impl Clock {
    /// A clock that shows 0 in `ahead` of the machine's time.
    pub fn starting_in(ahead: Time, scale: u32) -> Self {
        Clock { origin: monotonic() + ahead.as_ps() / 1_000, scale: u64::from(scale.max(1)) }
    }

    /// The time of the run; 0 before its start.
    #[inline]
    pub fn now(self) -> Time {
        Time::from_ps(monotonic().saturating_sub(self.origin) * 1_000 / self.scale)
    }

    /// How much of the machine's time a span of the run is.
    #[inline]
    pub fn in_real(self, span: Time) -> Time {
        Time::from_ps(span.as_ps().saturating_mul(self.scale))
    }

    /// How much of the run a span of the machine's time is.
    #[inline]
    pub fn in_run(self, span: Time) -> Time {
        Time::from_ps(span.as_ps() / self.scale)
    }

    /// When the run starts, as CLOCK_MONOTONIC has it (ns).
    pub fn origin(self) -> u64 {
        self.origin
    }
}

/// CLOCK_MONOTONIC (ns).
#[inline]
fn monotonic() -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Monotonic);
    tv_sec as u64 * 1_000_000_000 + tv_nsec as u64
}
