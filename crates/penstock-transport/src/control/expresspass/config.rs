//! The parameters of ExpressPass at hosts, and their bounds.

use penstock_units::{Bytes, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::control::hooks::Parameters;

/// Parameters of ExpressPass at hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpressPassConfig {
    /// First rate of a flow's credits, as a share of what the link carries, in (0, 1].
    pub initial_rate: f64,
    /// First weight of the largest rate in an increase, in (0, 1].
    pub initial_weight: f64,
    /// Smallest weight, in (0, 1].
    pub minimum_weight: f64,
    /// Largest weight, in (0, 1], >= `minimum_weight`.
    pub maximum_weight: f64,
    /// How the rate follows the loss of credits.
    pub feedback: CreditFeedback,
    /// The gap between two credits varies by up to this share of it, either way, in [0, 1).
    pub jitter: f64,
    /// Smallest credit on the wire (bytes), >= 1.
    pub credit_minimum: Bytes,
    /// Largest credit on the wire (bytes), >= `credit_minimum`; sizes are uniform between the two.
    pub credit_maximum: Bytes,
    /// A flow with fewer packets left starts at a rate that is lower in proportion (packets); 0 for
    /// never.
    pub full_rate_packets: u32,
    /// Whether a sender stops its credits once those of the last round trip are as many as it needs.
    pub early_stop: bool,
    /// After how long without a credit a sender repeats its request (ps), > 0.
    pub request_timeout: Time,
}

/// The feedback loop: how the rate of credits follows their loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum CreditFeedback {
    /// As in the released code: the target falls as the rate rises, the weight grows by a step.
    Released {
        /// Target loss of a flow without credits, in [0, 1]; 0.125 in the released code. A flow at the
        /// largest rate has none.
        target_loss: f64,
        /// Added to the weight by a second increase in a row, >= 0; 0.05 in the released code.
        weight_step: f64,
    },
    /// As in Algorithm 1 of the paper: a constant target, the weight goes half the way to the largest.
    Paper {
        /// Target loss, in [0, 1]; 0.1 in the paper.
        target_loss: f64,
    },
}

impl CreditFeedback {
    /// Checks every field against its bounds.
    fn check(self, problems: &mut Problems) {
        let (target, step) = match self {
            CreditFeedback::Released { target_loss, weight_step } => (target_loss, weight_step),
            CreditFeedback::Paper { target_loss } => (target_loss, 0.0),
        };
        let share = "it must be 0 to 1";
        problems.unless((0.0..=1.0).contains(&target), "target_loss", target, share);
        problems.unless((0.0..=1.0).contains(&step), "weight_step", step, share);
    }

    /// The loss that is aimed at while credits leave at `rate`, a share of the largest.
    pub(super) fn target_loss(self, rate: f64) -> f64 {
        match self {
            CreditFeedback::Released { target_loss, .. } => target_loss * (1.0 - rate),
            CreditFeedback::Paper { target_loss } => target_loss,
        }
    }
}

/// The largest credit (bytes): the largest frame that a credit can stand for; our choice.
const LARGEST_CREDIT: Bytes = Bytes::new(1 << 14);

impl ExpressPassConfig {
    /// Mean size of a credit on the wire (bytes), rounded down.
    pub fn credit(&self) -> Bytes {
        Bytes::new((self.credit_minimum.get() + self.credit_maximum.get()) / 2)
    }

    /// Checks every field against its bounds.
    pub fn check(&self, problems: &mut Problems) {
        bounds::weight(problems, "initial_rate", self.initial_rate);
        bounds::weight(problems, "initial_weight", self.initial_weight);
        bounds::weight(problems, "minimum_weight", self.minimum_weight);
        bounds::weight(problems, "maximum_weight", self.maximum_weight);
        problems.unless(
            self.minimum_weight <= self.maximum_weight,
            "maximum_weight",
            self.maximum_weight,
            "it must be at least minimum_weight",
        );
        problems.within("feedback", |inner| self.feedback.check(inner));
        let holds = (0.0..1.0).contains(&self.jitter);
        problems.unless(holds, "jitter", self.jitter, "it must be 0 or more, below 1");
        let (least, most) = (self.credit_minimum, self.credit_maximum);
        let holds = most <= LARGEST_CREDIT && most > Bytes::ZERO;
        problems.unless(holds, "credit_maximum", most, "it must be 1 B to 16 KiB, a frame");
        let holds = least > Bytes::ZERO && least <= most;
        let remedy = "it must be at least 1 B and at most credit_maximum";
        problems.unless(holds, "credit_minimum", least, remedy);
        bounds::interval(problems, "request_timeout", self.request_timeout);
    }
}

impl Parameters for ExpressPassConfig {
    fn acknowledges_each(&self) -> bool {
        false
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::*;
    use crate::path::PathFacts;

    /// The parameters of BFC, credits of one size.
    pub(crate) fn config() -> ExpressPassConfig {
        ExpressPassConfig {
            initial_rate: 0.5,
            initial_weight: 0.0625,
            minimum_weight: 0.01,
            maximum_weight: 0.5,
            feedback: CreditFeedback::Released { target_loss: 0.125, weight_step: 0.05 },
            jitter: 0.1,
            credit_minimum: Bytes::new(84),
            credit_maximum: Bytes::new(84),
            full_rate_packets: 40,
            early_stop: true,
            request_timeout: Time::from_us(100),
        }
    }

    /// BFC's path with the frames of ExpressPass.
    pub(crate) fn path() -> PathFacts {
        PathFacts { payload: 1_460, data_overhead: 78, ..crate::fixture::path() }
    }

    /// The fields that are refused.
    fn refused(config: &ExpressPassConfig) -> Vec<String> {
        let mut problems = Problems::default();
        config.check(&mut problems);
        problems.found().iter().map(|problem| problem.path.clone()).collect()
    }

    #[test]
    fn parameters_out_of_bounds_are_refused() {
        assert_eq!(refused(&config()), [""; 0]);
        let cases: [(&str, ExpressPassConfig); 8] = [
            ("initial_rate", ExpressPassConfig { initial_rate: 0.0, ..config() }),
            ("initial_weight", ExpressPassConfig { initial_weight: 1.1, ..config() }),
            ("maximum_weight", ExpressPassConfig { maximum_weight: 0.005, ..config() }),
            ("jitter", ExpressPassConfig { jitter: 1.0, ..config() }),
            ("credit_minimum", ExpressPassConfig { credit_minimum: Bytes::new(85), ..config() }),
            (
                "credit_maximum",
                ExpressPassConfig { credit_maximum: Bytes::new(16_385), ..config() },
            ),
            ("request_timeout", ExpressPassConfig { request_timeout: Time::ZERO, ..config() }),
            (
                "feedback.target_loss",
                ExpressPassConfig {
                    feedback: CreditFeedback::Paper { target_loss: 2.0 },
                    ..config()
                },
            ),
        ];
        for (field, config) in cases {
            assert_eq!(refused(&config), [field]);
        }
    }
}
