//! Points and spans of time in integer picoseconds.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub};

use borsh::{BorshDeserialize, BorshSerialize};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::write_exact;

/// A point in simulated time, or a span of it (ps).
///
/// The range is 213 days. One byte takes 80 ps at 100 Gb/s and 20 ps at 400 Gb/s, so the
/// serialization times of common links are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(transparent)]
#[schemars(inline, extend("quantity" = "time"))]
pub struct Time(u64);

impl Time {
    /// The origin, and the empty span.
    pub const ZERO: Time = Time(0);
    /// Later than any event; used as "no deadline".
    pub const NEVER: Time = Time(u64::MAX);
    /// The shortest period of a timer that sets itself again, and the shortest timeout, that a scenario
    /// may ask for (100 ns).
    ///
    /// Our choice: about as long as a link of 100 Gb/s takes for a packet of 1,048 B (84 ns). Between two
    /// packets such a timer finds nothing new, and fires no more often than a busy port sends. A timer of
    /// 1 ps would fire a million times in a microsecond, and its run would practically not end.
    pub const LEAST_PERIOD: Time = Time::from_ns(100);

    /// From picoseconds.
    pub const fn from_ps(picoseconds: u64) -> Self {
        Time(picoseconds)
    }

    /// From nanoseconds.
    pub const fn from_ns(nanoseconds: u64) -> Self {
        Time(nanoseconds * 1_000)
    }

    /// From microseconds.
    pub const fn from_us(microseconds: u64) -> Self {
        Time(microseconds * 1_000_000)
    }

    /// From milliseconds.
    pub const fn from_ms(milliseconds: u64) -> Self {
        Time(milliseconds * 1_000_000_000)
    }

    /// In picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// In nanoseconds, for tables and pictures only.
    pub fn as_ns_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// In seconds as ns-3 has it: whole nanoseconds, cut off behind 64 binary places. A microsecond is a
    /// little less than 1e-6, so BFC's threshold is 24,999 B in NASA-NJU/Pyrrha-NS3 where 25,000 B is meant.
    pub fn as_ns3_seconds(self) -> f64 {
        let nanoseconds = u128::from(self.0 / 1_000);
        ((nanoseconds << 64) / 1_000_000_000) as f64 / (1_u128 << 64) as f64
    }

    /// In seconds, for tables and pictures only.
    pub fn as_s_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// `self - earlier`, or zero when `earlier` is later.
    pub const fn saturating_sub(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }

    /// `self + span`, at most [`Time::NEVER`].
    pub const fn saturating_add(self, span: Time) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Add for Time {
    type Output = Time;
    fn add(self, other: Time) -> Time {
        Time(self.0 + other.0)
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, other: Time) {
        self.0 += other.0;
    }
}

impl Sub for Time {
    type Output = Time;
    fn sub(self, other: Time) -> Time {
        Time(self.0 - other.0)
    }
}

impl Mul<u64> for Time {
    type Output = Time;
    fn mul(self, factor: u64) -> Time {
        Time(self.0 * factor)
    }
}

impl Div<u64> for Time {
    type Output = Time;
    fn div(self, divisor: u64) -> Time {
        Time(self.0 / divisor)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 5] = [
            (1_000_000_000_000, "s"),
            (1_000_000_000, "ms"),
            (1_000_000, "us"),
            (1_000, "ns"),
            (1, "ps"),
        ];
        write_exact(f, self.0, &UNITS)
    }
}
