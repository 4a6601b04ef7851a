//! PCN: a congested flow falls to the rate at which it arrives, another gains first gently, then
//! aggressively.
//!
//! W. Cheng et al., "Re-architecting Congestion Management in Lossless Ethernet" (PCN), NSDI 2020,
//! Sec. 5.3. Implemented: the reaction point (Algorithm 1). The notification point is the module
//! `receiving_rate`, the marking that it expects (NP-ECN) is the switch's.
//!
//! Where the paper is silent:
//! - The receiving rate is a whole number of Mb/s, so that a very slow flow is told zero. It keeps
//!   `minimum_rate`, one such unit (our choice: the smallest rate that a notification can name).
//! - The rate is a whole number of bits per second; an increase is rounded to the nearest, so that the
//!   line rate is reached (our choice).
//! - What a switch reports as dropped changes nothing (our choice: PCN runs over PFC).
//!
//! | symbol | field | value | source |
//! |---|---|---|---|
//! | w_min | `minimum_weight` | 1/128 | Sec. 5.3, the example of Fig. 10; Sec. 6.2: 0.1 / N |
//! | w_max | `maximum_weight` | 0.5 | Sec. 6.2 |
//! | T | `notification_interval` | 50 us | Sec. 5.2; Sec. 6.2: the largest round-trip time |
//! | 95 % | `marked_share` | 0.95 | Sec. 5.2 |
//! | - | `minimum_rate` | 1 Mb/s | our choice, see above |

use penstock_units::{BitRate, Problems, Time};
use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::control::paced_rate::{Paced, PacedRate, RateWindow};
use crate::notification::Notification;
use crate::path::PathFacts;

/// Parameters of [`Pcn`] and of the receivers of its flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PcnConfig {
    /// Weight of the line rate in the first increase, and what a cut leaves away (w_min in the
    /// paper), in (0, 1).
    pub minimum_weight: f64,
    /// What the weight grows to (w_max in the paper), at least `minimum_weight`, at most 1.
    pub maximum_weight: f64,
    /// From one notification of a receiver to the next (T in the paper) (ps), > 0.
    pub notification_interval: Time,
    /// A flow of whose packets a larger share is marked is congested, in [0, 1).
    pub marked_share: f64,
    /// The rate below which the flow does not fall (bit/s), > 0.
    pub minimum_rate: BitRate,
}

impl PcnConfig {
    /// Checks every field against its bounds.
    pub fn check(&self, problems: &mut Problems) {
        let (minimum, maximum) = (self.minimum_weight, self.maximum_weight);
        let remedy = "it must be above 0 and below 1";
        problems.unless(minimum > 0.0 && minimum < 1.0, "minimum_weight", minimum, remedy);
        let remedy = "it must be at least minimum_weight and at most 1";
        problems.unless(maximum >= minimum && maximum <= 1.0, "maximum_weight", maximum, remedy);
        bounds::interval(problems, "notification_interval", self.notification_interval);
        let share = self.marked_share;
        let remedy = "it must be at least 0 and below 1";
        problems.unless((0.0..1.0).contains(&share), "marked_share", share, remedy);
        bounds::rate(problems, "minimum_rate", self.minimum_rate);
    }
}

/// The state of one flow.
#[derive(Clone, Debug)]
pub struct Pcn {
    /// sendRate in the paper.
    rate: PacedRate,
    /// w in the paper.
    weight: f64,
    minimum_weight: f64,
    maximum_weight: f64,
}

impl Pcn {
    /// A flow that has sent nothing; it starts at line rate.
    pub fn new(config: &PcnConfig, path: &PathFacts) -> Self {
        Pcn {
            rate: PacedRate::new(path, config.minimum_rate, RateWindow::None),
            weight: config.minimum_weight,
            minimum_weight: config.minimum_weight,
            maximum_weight: config.maximum_weight,
        }
    }

    /// A notification of the receiver arrived (Algorithm 1).
    pub fn on_notification(&mut self, notification: Notification) {
        let rate = self.rate.get();
        if notification.is_congested {
            let received = BitRate::from_mbps(u64::from(notification.receiving_rate)).as_bps();
            let discounted = received as f64 * (1.0 - self.minimum_weight);
            self.rate.set(rate.min(discounted as u64));
            self.weight = self.minimum_weight;
        } else {
            let weight = self.weight;
            let line = self.rate.line() as f64;
            self.rate.set((rate as f64 * (1.0 - weight) + line * weight + 0.5) as u64);
            self.weight = weight * (1.0 - weight) + self.maximum_weight * weight;
        }
    }
}

impl Paced for Pcn {
    #[inline]
    fn paced(&self) -> &PacedRate {
        &self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    const FASTER: Notification = Notification { is_congested: false, receiving_rate: 0 };

    fn config() -> PcnConfig {
        PcnConfig {
            minimum_weight: 1.0 / 128.0,
            maximum_weight: 0.5,
            notification_interval: Time::from_us(50),
            marked_share: 0.95,
            minimum_rate: BitRate::from_mbps(1),
        }
    }

    /// A flow at the 100 Gb/s of the path.
    fn flow() -> Pcn {
        Pcn::new(&config(), &fixture::path())
    }

    fn cut(receiving_rate: u32) -> Notification {
        Notification { is_congested: true, receiving_rate }
    }

    #[test]
    fn figure_10_a_tenth_after_five_notifications_and_95_percent_after_fifteen() {
        let mut pcn = flow();
        pcn.on_notification(cut(0));
        assert_eq!(pcn.rate.get(), 1_000_000);
        let rates: [f64; 20] = core::array::from_fn(|_| {
            pcn.on_notification(FASTER);
            pcn.rate.get() as f64 / 1e11
        });
        // By hand from 0: r = r (1 - w) + w, then w = w (1 - w) + w / 2, with w = 1/128 at first.
        for (after, expected) in [(1, 0.007812), (5, 0.096788), (10, 0.538122), (15, 0.958396)] {
            assert!((rates[after - 1] - expected).abs() < 2e-5, "{after}: {}", rates[after - 1]);
        }
        assert!(rates[4] <= 0.1 && rates[14] >= 0.95);
        assert!((pcn.weight - 0.499307).abs() < 1e-6, "{}", pcn.weight);
    }

    #[test]
    fn a_cut_goes_to_the_discounted_receiving_rate_but_never_up() {
        let mut pcn = flow();
        pcn.on_notification(cut(12_800));
        assert_eq!(pcn.rate(), Some(BitRate::from_mbps(12_700))); // 127/128 of it
        pcn.on_notification(cut(25_600)); // the queue drains faster than the flow sends
        assert_eq!(pcn.rate(), Some(BitRate::from_mbps(12_700)));
        pcn.on_notification(cut(6_400));
        assert_eq!(pcn.rate(), Some(BitRate::from_mbps(6_350)));
    }

    #[test]
    fn a_cut_makes_the_next_increase_gentle_again() {
        let mut pcn = flow();
        pcn.on_notification(cut(12_800));
        for _ in 0..9 {
            pcn.on_notification(FASTER);
        }
        assert!(pcn.weight > 0.2);
        pcn.on_notification(cut(12_800));
        pcn.on_notification(FASTER);
        // 12.7 Gb/s + (100 - 12.7) / 128.
        assert_eq!(pcn.rate.get(), 13_382_031_250);
    }

    #[test]
    fn the_line_rate_is_reached_and_kept() {
        let mut pcn = flow();
        pcn.on_notification(FASTER);
        assert_eq!((pcn.rate(), pcn.window()), (None, u64::MAX));
        pcn.on_notification(cut(50_000));
        for _ in 0..60 {
            pcn.on_notification(FASTER);
        }
        assert_eq!(pcn.rate(), None);
        assert!((pcn.weight - 0.5).abs() < 1e-12, "{}", pcn.weight);
    }
}
