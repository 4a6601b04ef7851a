//! When open-loop flows start: the points in time of a renewal process.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;
use rand_core::RngCore;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::draw;

/// The largest sigma (our choice: the squared coefficient of variation `exp(sigma^2) - 1` is then
/// 9e6, and no run is long enough to see the mean gap).
const MOST_SIGMA: f64 = 4.0;

/// Picoseconds in a second.
const SECOND: f64 = 1e12;

/// The `arrivals` section of an open-loop entry; `kind` names the variant.
///
/// The whole network has one process (BFC's generator, BASELINES 0.5), not one per host. The first
/// flow starts one gap after the entry's start.
#[derive(Clone, Copy, Debug, PartialEq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ArrivalConfig {
    /// Exponential gaps.
    Poisson {},
    /// Log-normal gaps: bursty.
    Lognormal {
        /// Standard deviation of the logarithm of the gap.
        #[schemars(
            range(min = 0, max = MOST_SIGMA),
            extend("default" = 2.0, "source" = "BFC 6.2.1")
        )]
        sigma: f64,
    },
    /// Equal gaps.
    Deterministic {},
}

/// The points in time of one renewal process.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Arrivals {
    config: ArrivalConfig,
    /// Mean gap (ps).
    mean_gap: f64,
    now: Time,
    /// The part of a picosecond by which the sum of all gaps so far exceeds `now`, in [0, 1).
    fraction: f64,
}

impl Arrivals {
    /// A process of `rate` flows per second (> 0) that starts at `start`.
    pub fn new(config: ArrivalConfig, rate: f64, start: Time) -> Self {
        Arrivals { config, mean_gap: SECOND / rate, now: start, fraction: 0.0 }
    }

    /// The next point, never before the previous one.
    pub fn next(&mut self, random: &mut impl RngCore) -> Time {
        let relative = match self.config {
            ArrivalConfig::Poisson {} => -libm::log(draw::unit(random)),
            // mu = -sigma^2 / 2 - ln(rate), so that the mean gap is 1 / rate (BASELINES 0.5).
            ArrivalConfig::Lognormal { sigma } => {
                libm::exp(sigma * draw::standard_normal(random) - sigma * sigma / 2.0)
            }
            ArrivalConfig::Deterministic {} => 1.0,
        };
        let gap = self.mean_gap * relative + self.fraction;
        let whole = libm::floor(gap);
        self.fraction = gap - whole;
        self.now = self.now.saturating_add(Time::from_ps(whole as u64));
        self.now
    }
}

#[cfg(test)]
mod tests {
    use penstock_engine::stream::stream;
    use penstock_units::{Problems, declared};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equal_gaps_do_not_drift() {
        // A rate of 3e11 flows/s means a gap of 3.33 ps.
        let mut arrivals = Arrivals::new(ArrivalConfig::Deterministic {}, 3e11, Time::ZERO);
        let mut random = stream(1, "arrivals");
        let last = (0..3_000_000).map(|_| arrivals.next(&mut random)).last().unwrap();
        assert!(last.as_ps().abs_diff(10_000_000) <= 1, "{last}");
    }

    #[test]
    fn random_gaps_have_their_mean_and_variation() {
        // (process, squared coefficient of variation of the gap)
        let sigma = 0.5;
        let cases = [
            (ArrivalConfig::Poisson {}, 1.0),
            (ArrivalConfig::Lognormal { sigma }, (sigma * sigma).exp() - 1.0),
        ];
        for (config, variation) in cases {
            let mut random = stream(1, "arrivals");
            let mut arrivals = Arrivals::new(config, 1e6, Time::ZERO);
            let count = 200_000;
            let (mut before, mut square) = (Time::ZERO, 0.0);
            for _ in 0..count {
                let now = arrivals.next(&mut random);
                square += ((now - before).as_ps() as f64 / 1e6).powi(2);
                before = now;
            }
            let count = f64::from(count);
            let mean = before.as_ps() as f64 / 1e6 / count;
            assert!((mean - 1.0).abs() < 5.0 * (variation / count).sqrt(), "{config:?}: {mean}");
            assert!((square / count / (1.0 + variation) - 1.0).abs() < 0.03, "{config:?}");
        }
    }

    #[test]
    fn the_heavy_log_normal_of_bfc_keeps_its_mean() {
        let mut random = stream(3, "arrivals");
        let mut arrivals = Arrivals::new(ArrivalConfig::Lognormal { sigma: 2.0 }, 1e6, Time::ZERO);
        let count = 2_000_000;
        let last = (0..count).map(|_| arrivals.next(&mut random)).last().unwrap();
        let mean = last.as_ps() as f64 / 1e6 / f64::from(count);
        // Within four standard errors; the squared coefficient of variation is 53.6 (BASELINES
        // 0.5).
        assert!((mean - 1.0).abs() < 4.0 * (53.6 / f64::from(count)).sqrt(), "{mean}");
    }

    #[test]
    fn sigma_and_unknown_fields_are_checked() {
        for sigma in [-1.0, 9.0, f64::NAN] {
            let mut problems = Problems::below("x");
            declared::check(&ArrivalConfig::Lognormal { sigma }, &mut problems);
            assert!(problems.to_string().starts_with("x.sigma is"), "{problems}");
        }
        let poisson = r#"{"kind":"poisson"}"#;
        let config: ArrivalConfig = serde_json::from_str(poisson).unwrap();
        assert_eq!(serde_json::to_string(&config).unwrap(), poisson);
        let unknown = r#"{"kind":"poisson","sigma":2.0}"#;
        assert!(serde_json::from_str::<ArrivalConfig>(unknown).is_err());
    }

    proptest! {
        #[test]
        fn points_never_go_back(rate in 1e-6f64..1e13, sigma in 0.0f64..4.0, seed: u64) {
            let mut random = stream(seed, "arrivals");
            let start = Time::from_ns(5);
            let mut arrivals = Arrivals::new(ArrivalConfig::Lognormal { sigma }, rate, start);
            let mut before = start;
            for _ in 0..50 {
                let now = arrivals.next(&mut random);
                prop_assert!(now >= before);
                before = now;
            }
        }
    }
}
