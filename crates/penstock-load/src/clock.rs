//! The clock that both ends of a flow share.

use penstock_units::Time;
use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;

/// The moment from which all times of a run count: nanoseconds of CLOCK_MONOTONIC.
///
/// Threads in all network namespaces of a machine see the same CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin(u64);

impl Origin {
    /// The present.
    pub fn now() -> Self {
        Origin(monotonic())
    }

    /// `span` after the present, in whole nanoseconds. The threads of a run need a moment until they run.
    pub fn after(span: Time) -> Self {
        Origin(monotonic().saturating_add(span.as_ps() / 1_000))
    }

    /// From nanoseconds of CLOCK_MONOTONIC.
    pub fn from_monotonic_ns(nanoseconds: u64) -> Self {
        Origin(nanoseconds)
    }

    /// The time since the origin; zero before it.
    pub fn elapsed(self) -> Time {
        self.time_of(monotonic())
    }

    /// The time from the origin to `nanoseconds` of CLOCK_MONOTONIC; zero before the origin.
    pub(crate) fn time_of(self, nanoseconds: u64) -> Time {
        Time::from_ps(nanoseconds.saturating_sub(self.0).saturating_mul(1_000))
    }

    /// Nanoseconds of CLOCK_MONOTONIC at `time`, rounded up.
    pub(crate) fn monotonic_at(self, time: Time) -> u64 {
        self.0.saturating_add(time.as_ps().div_ceil(1_000))
    }

    /// Whether the origin is in the future.
    pub(crate) fn is_ahead(self) -> bool {
        monotonic() < self.0
    }
}

/// Nanoseconds of CLOCK_MONOTONIC.
pub(crate) fn monotonic() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * SECOND + now.tv_nsec.unsigned_abs()
}
