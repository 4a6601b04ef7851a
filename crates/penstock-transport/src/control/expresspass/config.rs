//! The parameters of ExpressPass at hosts, and their bounds.

use alloc::format;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::source::EXPRESSPASS_SIMULATOR;
use penstock_units::{Bytes, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::control::hooks::Parameters;

/// The largest credit (bytes): no frame that a credit stands for is larger; our choice.
const LARGEST_CREDIT: u64 = 1 << 14;

/// Parameters of ExpressPass at hosts.
#[derive(Clone, Debug, PartialEq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpressPassConfig {
    /// First rate of a flow's credits, as a share of the largest (alpha).
    ///
    /// The paper's scripts have the same.
    #[schemars(
        range(max = 1),
        extend("exclusiveMinimum" = 0, "default" = 0.5, "source" = "BFC 6.2.1")
    )]
    pub initial_rate: f64,
    /// First weight of the largest rate in an increase (w_init).
    ///
    /// The paper's scripts have the same.
    #[schemars(
        range(max = 1),
        extend("exclusiveMinimum" = 0, "default" = 0.0625, "source" = "BFC 6.2.1")
    )]
    pub initial_weight: f64,
    /// Smallest weight (w_min).
    #[schemars(
        range(max = 1),
        extend("exclusiveMinimum" = 0, "default" = 0.01, "source" = EXPRESSPASS_SIMULATOR)
    )]
    pub minimum_weight: f64,
    /// Largest weight (w_max), at least minimum_weight.
    #[schemars(
        range(max = 1),
        extend("exclusiveMinimum" = 0, "default" = 0.5, "source" = EXPRESSPASS_SIMULATOR)
    )]
    pub maximum_weight: f64,
    /// How the rate follows the loss of credits.
    #[schemars(extend(
        "default" = {"kind": "released"},
        "source" = format!("{EXPRESSPASS_SIMULATOR}, which BFC ran")
    ))]
    pub feedback: CreditFeedback,
    /// Share by which gaps between credits vary either way.
    #[schemars(
        range(min = 0),
        extend("exclusiveMaximum" = 1, "default" = 0.1, "source" = EXPRESSPASS_SIMULATOR)
    )]
    pub jitter: f64,
    /// Smallest credit on the wire, at most credit_maximum.
    #[schemars(
        range(min = 1, max = LARGEST_CREDIT),
        extend("default" = "84 B", "source" = format!("{EXPRESSPASS_SIMULATOR}: fixed"))
    )]
    pub credit_minimum: Bytes,
    /// Largest credit on the wire; sizes are uniform between the two.
    ///
    /// The paper's scripts draw 76 to 92 B.
    #[schemars(
        range(min = 1, max = LARGEST_CREDIT),
        extend("default" = "84 B", "source" = format!("{EXPRESSPASS_SIMULATOR}: fixed"))
    )]
    pub credit_maximum: Bytes,
    /// Size of a flow below which it starts slower in proportion; 0: none does.
    #[schemars(extend("unit" = "packets", "default" = 40, "source" = EXPRESSPASS_SIMULATOR))]
    pub full_rate_packets: u32,
    /// Whether a sender stops once a round trip has brought as many credits as packets are left.
    #[schemars(extend("default" = true, "source" = EXPRESSPASS_SIMULATOR))]
    pub early_stop: bool,
    /// Time without a credit after which a request is repeated.
    #[schemars(
        range(min = Time::LEAST_PERIOD.as_ps()),
        extend(
            "default" = "100 us",
            "source" = format!("{EXPRESSPASS_SIMULATOR}: the paper's scripts")
        )
    )]
    pub request_timeout: Time,
}

/// The feedback loop: how the rate of credits follows their loss.
#[derive(Clone, Copy, Debug, PartialEq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum CreditFeedback {
    /// The released code: the target loss falls as the rate rises, the weight grows by steps.
    Released {
        /// Target loss of a flow without credits; at the largest rate it is none.
        #[schemars(
            range(min = 0, max = 1),
            extend("default" = 0.125, "source" = EXPRESSPASS_SIMULATOR)
        )]
        target_loss: f64,
        /// Added to the weight by a second increase in a row.
        #[schemars(
            range(min = 0, max = 1),
            extend("default" = 0.05, "source" = EXPRESSPASS_SIMULATOR)
        )]
        weight_step: f64,
    },
    /// Algorithm 1: a constant target loss, the weight goes half the way to the largest.
    Paper {
        /// Target loss.
        #[schemars(
            range(min = 0, max = 1),
            extend(
                "default" = 0.1,
                "source" = "said to be the ExpressPass paper's, which was not at hand; its code has 0.125"
            )
        )]
        target_loss: f64,
    },
}

impl CreditFeedback {
    /// The target loss while credits leave at `rate`, a share of the largest rate.
    pub(super) fn target_loss(self, rate: f64) -> f64 {
        match self {
            CreditFeedback::Released { target_loss, .. } => target_loss * (1.0 - rate),
            CreditFeedback::Paper { target_loss } => target_loss,
        }
    }
}

impl ExpressPassConfig {
    /// Mean size of a credit on the wire (bytes), rounded down.
    pub fn credit(&self) -> Bytes {
        Bytes::new((self.credit_minimum.get() + self.credit_maximum.get()) / 2)
    }
}

impl Parameters for ExpressPassConfig {
    fn check(&self, problems: &mut Problems) {
        let (least, most) = (self.minimum_weight, self.maximum_weight);
        let remedy = format!("write at least minimum_weight, {least}");
        problems.unless(most >= least, "maximum_weight", most, remedy);
        let (least, most) = (self.credit_minimum, self.credit_maximum);
        let remedy = format!("write at most credit_maximum, {most}");
        problems.unless(least <= most, "credit_minimum", least, remedy);
    }

    fn acknowledges_each(&self) -> bool {
        false
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::*;
    use crate::control::ControllerConfig;
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
        ControllerConfig::Expresspass(config.clone()).check(&mut problems);
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
