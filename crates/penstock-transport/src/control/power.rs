//! The smoothed power of a path, and the step of the rate that follows it.
//!
//! PowerTCP and theta-PowerTCP share both (V. Addanki, O. Michel and S. Schmid, "PowerTCP: Pushing the
//! Performance Limits of Datacenter Networks", NSDI 2022, Algorithms 1 and 2: the end of NORM_POWER, and
//! UPDATE_WINDOW). They differ in how they measure the power and in when they take a step. A window w is
//! the rate w / tau here, as in the algorithms' last line and in the authors' simulator
//! (inet-tub/ns3-datacenter), so that the arithmetic is that of rates.
//!
//! Normalized power is 1 on a link that is just busy and has no queue. Invariant: it is never negative.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;

use crate::path::PathFacts;

/// The source of the flows that are expected at a NIC.
pub(crate) const EXPECTED_FLOWS: &str = "the authors' simulator (inet-tub/ns3-datacenter): 150 Mb/s of \
                                         25 Gb/s; their Linux code has 10";
/// The source of the least rate.
pub(crate) const MINIMUM_RATE: &str =
    "the authors' simulator (inet-tub/ns3-datacenter): MIN_RATE 100 Mb/s";

/// The smoothed power of a flow's path, and the two parameters of a step.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Power {
    /// Average normalized power (Gamma_smooth in the paper), >= 0.
    average: f64,
    /// Weight of the new window (gamma in the paper), above 0 and at most 1.
    weight: f64,
    /// The additive increase beta / tau (bit/s).
    increase: f64,
    base_rtt: Time,
}

impl Power {
    /// A path on which nothing has been measured. The average starts at 1, as that of HPCC does in the
    /// authors' simulator, which uses the same variable for both; the algorithms give no first value.
    ///
    /// The additive increase is beta = HostBw tau / N (Sec. 3.3), so that N flows together add a
    /// bandwidth-delay product.
    pub(crate) fn new(path: &PathFacts, weight: f64, expected_flows: u32) -> Self {
        let increase = path.line_rate.as_bps() as f64 / f64::from(expected_flows);
        Power { average: 1.0, weight, increase, base_rtt: path.base_rtt }
    }

    /// The base round-trip time (tau in the paper).
    pub(crate) fn base_rtt(&self) -> Time {
        self.base_rtt
    }

    /// Takes `power`, which was measured over `elapsed` (ns), into the average over a round trip.
    ///
    /// The paper's average has a negative weight for a span above tau. Such a span counts as tau, as in
    /// the authors' simulator.
    pub(crate) fn take(&mut self, power: f64, elapsed: f64) {
        let base_rtt = self.base_rtt.as_ns_f64();
        let span = elapsed.min(base_rtt);
        self.average = (self.average * (base_rtt - span) + power * span) / base_rtt;
    }

    /// The next rate (bit/s) of a flow that had the rate `old` a round trip ago and has the rate `now`;
    /// cut off to a whole number, and not yet within bounds.
    pub(crate) fn step(&self, old: u64, now: u64) -> u64 {
        let target = old as f64 / self.average + self.increase;
        (self.weight * target + (1.0 - self.weight) * now as f64) as u64
    }

    /// The average normalized power.
    #[cfg(test)]
    pub(crate) fn average(&self) -> f64 {
        self.average
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn a_span_of_a_tenth_of_the_round_trip_weighs_a_tenth() {
        let mut power = Power::new(&fixture::path(), 0.9, 100);
        power.take(2.0, 800.0);
        assert!((power.average() - 1.1).abs() < 1e-12);
        power.take(0.5, 80_000.0); // ten round trips replace the average, and no more
        assert!((power.average() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_step_divides_the_old_rate_by_the_power_and_adds_the_increase() {
        let mut power = Power::new(&fixture::path(), 0.9, 100);
        power.take(2.0, 8_000.0);
        // 0.9 (80 / 2 + 100 / 100) + 0.1 x 60, in Gb/s.
        assert_eq!(power.step(80_000_000_000, 60_000_000_000), 42_900_000_000);
        power.take(0.0, 8_000.0); // no power at all asks for any rate
        assert_eq!(power.step(1, 1), u64::MAX);
    }
}
