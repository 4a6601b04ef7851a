//! A window with the rate that spreads it over one base round-trip time.
//!
//! HPCC and the RDMA form of DCTCP set both from one number: R = W / T (HPCC, SIGCOMM 2019). The
//! invariant kept here: minimum <= W <= bandwidth-delay product.

use penstock_units::BitRate;

use crate::path::PathFacts;

/// A window W between the minimum rate's and the line rate's, and its rate W / T.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacedWindow {
    /// (bytes); fractions of a byte are kept so that small steps add up.
    window: f64,
    minimum: f64,
    maximum: f64,
    line_rate: BitRate,
}

impl PacedWindow {
    /// A window that starts at the bandwidth-delay product, hence at the line rate.
    ///
    /// `minimum_rate` above the line rate means the line rate; the smallest window is one byte,
    /// with which a flow has one packet in flight.
    pub(crate) fn new(path: &PathFacts, minimum_rate: BitRate) -> Self {
        let maximum = path.bdp.get() as f64;
        let share = minimum_rate.as_bps() as f64 / path.line_rate.as_bps() as f64;
        let minimum = (maximum * share).max(1.0).min(maximum);
        PacedWindow { window: maximum, minimum, maximum, line_rate: path.line_rate }
    }

    /// The window (bytes), unrounded.
    #[inline]
    pub(crate) fn get(&self) -> f64 {
        self.window
    }

    /// Sets the window to `window` (bytes), or to the nearer bound when it is outside.
    pub(crate) fn set(&mut self, window: f64) {
        self.window = window.max(self.minimum).min(self.maximum);
    }

    /// Sets the window to that of the minimum rate.
    pub(crate) fn set_minimum(&mut self) {
        self.window = self.minimum;
    }

    /// The window in whole bytes, rounded down, >= 1.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        (self.window as u64).max(1)
    }

    /// W / T (bit/s), or `None` when that is the line rate.
    #[inline]
    pub(crate) fn rate(&self) -> Option<BitRate> {
        if self.window >= self.maximum {
            return None;
        }
        let rate = self.line_rate.as_bps() as f64 * (self.window / self.maximum);
        Some(BitRate::from_bps((rate as u64).max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn the_rate_is_the_window_over_the_base_round_trip_time() {
        let mut window = PacedWindow::new(&fixture::path(), BitRate::from_mbps(100));
        assert_eq!((window.bytes(), window.rate()), (100_000, None));
        window.set(25_000.0);
        assert_eq!(window.rate(), Some(BitRate::from_gbps(25)));
    }

    #[test]
    fn the_window_stays_between_the_minimum_rate_and_the_line_rate() {
        let mut window = PacedWindow::new(&fixture::path(), BitRate::from_mbps(100));
        window.set(0.0);
        assert_eq!((window.bytes(), window.rate()), (100, Some(BitRate::from_mbps(100))));
        window.set(f64::INFINITY);
        assert_eq!(window.bytes(), 100_000);
        window.set(f64::NAN);
        assert_eq!(window.bytes(), 100);
        window.set_minimum();
        assert_eq!(window.bytes(), 100);
    }
}
