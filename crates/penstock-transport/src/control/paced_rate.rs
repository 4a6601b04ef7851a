//! A rate with the window that goes with it.
//!
//! HPCC, DCTCP, DCQCN and TIMELY all pace a flow at a rate R. Most of them also bound the bytes in
//! flight by a window that follows from R: W = R · T (HPCC, SIGCOMM 2019; `VAR_WIN` of the ns-3 HPCC
//! simulator). R is a whole number of bits per second; every step cuts the fraction off, as that
//! simulator's `DataRate` does. Invariant: minimum <= R <= line rate.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::{BIT_PICOSECONDS, BitRate, Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::path::PathFacts;

/// How much a paced flow may have in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateWindow {
    /// Any amount.
    None,
    /// One bandwidth-delay product, whatever the rate.
    Bdp,
    /// The bandwidth-delay product times the rate over the line rate.
    Scaled,
}

/// What one additive step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Increase {
    /// An additive step of the window; the rate grows by it over the base round-trip time.
    Window {
        /// How much more is in flight after a step.
        #[schemars(range(min = 1))]
        size: Bytes,
    },
    /// An additive step of the rate.
    Rate {
        /// How much faster the flow sends after a step.
        #[schemars(range(min = 1))]
        rate: BitRate,
    },
}

impl Increase {
    /// The step as a rate (bit/s), cut off to a whole number.
    pub(crate) fn as_rate(self, path: &PathFacts) -> u64 {
        match self {
            Increase::Rate { rate } => rate.as_bps(),
            Increase::Window { size } => bits_per_second(size.get(), path.base_rtt),
        }
    }
}

/// The rate that puts `window` bytes in flight over `base_rtt` > 0 (bit/s), cut off to a whole number.
pub(crate) fn bits_per_second(window: u64, base_rtt: Time) -> u64 {
    (u128::from(window) * BIT_PICOSECONDS / u128::from(base_rtt.as_ps())) as u64
}

/// A rate R between the minimum and the line rate, and its window.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct PacedRate {
    rate: u64,
    minimum: u64,
    line: u64,
    bdp: u64,
    /// The window that goes with `rate` (bytes).
    in_flight: u64,
    window: RateWindow,
}

impl PacedRate {
    /// A flow at line rate. A `minimum_rate` above the line rate means the line rate.
    pub(crate) fn new(path: &PathFacts, minimum_rate: BitRate, window: RateWindow) -> Self {
        let line = path.line_rate.as_bps();
        let minimum = minimum_rate.as_bps().clamp(1, line);
        let bdp = path.bdp.get();
        let in_flight = if window == RateWindow::None { u64::MAX } else { bdp };
        PacedRate { rate: line, minimum, line, bdp, in_flight, window }
    }

    /// R (bit/s).
    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.rate
    }

    /// The line rate (bit/s).
    #[inline]
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// The bandwidth-delay product (bytes).
    #[inline]
    pub(crate) fn bdp(&self) -> u64 {
        self.bdp
    }

    /// `rate`, or the nearer bound of R when `rate` is outside (bit/s).
    #[inline]
    pub(crate) fn bounded(&self, rate: u64) -> u64 {
        rate.clamp(self.minimum, self.line)
    }

    /// Sets R to `rate` (bit/s), or to the nearer bound when it is outside.
    #[inline]
    pub(crate) fn set(&mut self, rate: u64) {
        self.rate = self.bounded(rate);
        if self.window == RateWindow::Scaled {
            self.in_flight = match self.bdp.checked_mul(self.rate) {
                Some(product) => product / self.line,
                None => {
                    (u128::from(self.bdp) * u128::from(self.rate) / u128::from(self.line)) as u64
                }
            }
            .max(1);
        }
    }

    /// Multiplies R by `factor`, >= 0, and cuts the product off to a whole number.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.set((self.rate as f64 * factor) as u64);
    }

    /// Sets R to the minimum rate.
    pub(crate) fn set_minimum(&mut self) {
        self.set(self.minimum);
    }

    /// The window in whole bytes, >= 1; `u64::MAX` when there is none.
    #[inline]
    pub(crate) fn window(&self) -> u64 {
        self.in_flight
    }

    /// R (bit/s), or `None` when R is the line rate.
    #[inline]
    pub(crate) fn rate(&self) -> Option<BitRate> {
        (self.rate < self.line).then_some(BitRate::from_bps(self.rate))
    }
}

#[cfg(test)]
mod tests {
    use penstock_units::{Problems, declared};

    use super::*;
    use crate::fixture;

    fn paced(window: RateWindow) -> PacedRate {
        PacedRate::new(&fixture::path(), BitRate::from_mbps(100), window)
    }

    #[test]
    fn the_window_follows_the_rate_or_does_not() {
        for (window, expected) in
            [(RateWindow::Scaled, 25_000), (RateWindow::Bdp, 100_000), (RateWindow::None, u64::MAX)]
        {
            let mut paced = paced(window);
            assert_eq!((paced.window().min(100_000), paced.rate()), (100_000, None));
            paced.scale(0.25);
            assert_eq!(paced.window(), expected);
            assert_eq!(paced.rate(), Some(BitRate::from_gbps(25)));
        }
    }

    #[test]
    fn a_scaled_window_is_a_byte_at_least_and_knows_products_beyond_64_bits() {
        let of = |bdp, rate| {
            let path = PathFacts { bdp: Bytes::new(bdp), ..fixture::path() };
            let mut paced = PacedRate::new(&path, BitRate::from_bps(1), RateWindow::Scaled);
            paced.set(rate);
            paced.window()
        };
        // 1 GB times half of 100 Gb/s is 5e19, more than 2^64.
        assert_eq!(of(1_000_000_000, 50_000_000_000), 500_000_000);
        assert_eq!(of(100_000, 1), 1);
    }

    #[test]
    fn the_rate_stays_between_the_minimum_and_the_line_rate() {
        let mut paced = paced(RateWindow::Scaled);
        paced.scale(0.0);
        assert_eq!((paced.window(), paced.rate()), (100, Some(BitRate::from_mbps(100))));
        paced.set(u64::MAX);
        assert_eq!((paced.window(), paced.rate()), (100_000, None));
        paced.scale(f64::NAN);
        assert_eq!(paced.get(), 100_000_000);
        paced.scale(f64::INFINITY);
        assert_eq!(paced.get(), paced.line());
        paced.set_minimum();
        assert_eq!(paced.window(), 100);
    }

    #[test]
    fn a_step_of_50_bytes_over_8_us_is_50_mbps() {
        let step = Increase::Window { size: Bytes::new(50) };
        assert_eq!(step.as_rate(&fixture::path()), 50_000_000);
        assert_eq!(
            Increase::Rate { rate: BitRate::from_mbps(50) }.as_rate(&fixture::path()),
            50_000_000
        );
        let mut problems = Problems::below("increase");
        declared::check(&step, &mut problems);
        assert!(problems.found().is_empty());
        declared::check(&Increase::Window { size: Bytes::ZERO }, &mut problems);
        assert_eq!(problems.found()[0].path, "increase.size");
    }
}
