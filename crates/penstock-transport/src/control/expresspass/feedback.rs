//! The feedback loop of a flow's credits. Rates are shares of the largest rate, times are in
//! picoseconds.
//!
//! The sender returns the number of the credit with each data packet. A gap in these numbers shows that
//! credits were dropped. Once in a round trip, when data arrive, the loop sets the rate anew.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;

use super::config::{CreditFeedback, ExpressPassConfig};

/// Weight of a new sample in the round-trip time (the released code).
const RTT_GAIN: f64 = 0.2;

/// The state of the loop.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct Feedback {
    kind: CreditFeedback,
    minimum_weight: f64,
    maximum_weight: f64,
    /// Gap between credits at the largest rate (ps).
    shortest_gap: f64,
    /// Share of the largest rate; above 1 with the paper's loop only.
    rate: f64,
    weight: f64,
    /// Whether the loss at the last update was not above the target loss.
    may_raise_weight: bool,
    /// Smoothed round-trip time (ps); 0 before the first data.
    rtt: f64,
    updated_at: Time,
    /// Number of the credit whose data come next, if no credit is lost.
    expected: u16,
    returned: u32,
    lost: u32,
}

impl Feedback {
    /// A loop that starts at `now` with credit number `first` and with `rate`, a share of the largest
    /// rate. The largest rate leaves `shortest_gap` between two credits.
    pub(super) fn new(
        config: &ExpressPassConfig,
        (now, first): (Time, u16),
        rate: f64,
        shortest_gap: Time,
    ) -> Self {
        Feedback {
            kind: config.feedback,
            minimum_weight: config.minimum_weight,
            maximum_weight: config.maximum_weight,
            shortest_gap: shortest_gap.as_ps() as f64,
            rate,
            weight: config.initial_weight,
            may_raise_weight: false,
            rtt: 0.0,
            updated_at: now,
            expected: first,
            returned: 0,
            lost: 0,
        }
    }

    /// The mean gap between two credits (ps).
    pub(super) fn gap(&self) -> f64 {
        self.shortest_gap / self.rate
    }

    /// Data arrived at `now` that credit `number` paid for, which had left `elapsed` before.
    pub(super) fn on_data(&mut self, now: Time, number: u16, elapsed: Time) {
        let gap = number.wrapping_sub(self.expected);
        if gap > u16::MAX / 2 {
            return; // of a credit from before a stop
        }
        self.expected = number.wrapping_add(1);
        self.lost += u32::from(gap);
        self.returned += 1;
        let sample = elapsed.as_ps() as f64;
        self.rtt += if self.rtt > 0.0 { RTT_GAIN * (sample - self.rtt) } else { sample };
        let interval = (now - self.updated_at).as_ps() as f64;
        if interval >= self.rtt {
            self.update(interval);
            (self.returned, self.lost, self.updated_at) = (0, 0, now);
        }
    }

    /// Sets the rate at the end of an interval of `interval` (ps).
    fn update(&mut self, interval: f64) {
        let total = f64::from(self.returned) + f64::from(self.lost);
        let loss = f64::from(self.lost) / total;
        let target = self.kind.target_loss(self.rate);
        let delivered = f64::from(self.returned) * self.shortest_gap / interval;
        let has_excess = loss > target;
        let (rate, weight, largest) = match self.kind {
            CreditFeedback::Released { weight_step, .. } => {
                let cut = self.rate.min(delivered * (1.0 + target));
                (cut, self.weight + weight_step, 1.0)
            }
            CreditFeedback::Paper { .. } => {
                let cut = self.rate * (1.0 - loss) * (1.0 + target);
                (cut, (self.weight + self.maximum_weight) / 2.0, 1.0 + target)
            }
        };
        if has_excess {
            self.rate = rate;
            self.weight = (self.weight / 2.0).max(self.minimum_weight);
        } else {
            if self.may_raise_weight {
                self.weight = weight.min(self.maximum_weight);
            }
            self.rate = self.weight * largest + (1.0 - self.weight) * self.rate;
        }
        self.may_raise_weight = !has_excess;
        // At least one credit per round trip.
        self.rate = self.rate.max((self.shortest_gap / self.rtt).min(1.0)).min(largest);
    }
}

#[cfg(test)]
#[path = "feedback_tests.rs"]
mod tests;
