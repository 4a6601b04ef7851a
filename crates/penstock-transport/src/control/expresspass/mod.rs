//! ExpressPass: the receiver sends credits, and each lets the sender send one data packet.
//!
//! I. Cho, K. Jang and D. Han, "Credit-Scheduled Delay-Bounded Congestion Control for Datacenters",
//! SIGCOMM 2017; the released code, kaist-ina/ns2-xpass; and its use in P. Goyal et al., "Backpressure
//! Flow Control", NSDI 2022 (BFC), sec. 6.2.1. The paper was not at hand: what stands here of its
//! algorithm is quoted from memory, the rest follows the released code.
//!
//! Implemented: credit request, credit, credit stop, the sender's early stop (`source`); the
//! receiver's pacing with jitter and random credit sizes (`destination`); the feedback loop of both
//! (`feedback`). Switches and NICs shape credits (`penstock_fabric::scheduling::credit_shaping`),
//! and data must take the way of their credits back (the routing `symmetric-ecmp`). Losses of data are
//! repaired by [`crate::recovery::go_back_n`].
//!
//! Left out: the handshake of TCP, on which the paper lets the request ride; the 2 ms for which the
//! released receiver keeps its state after a stop (a new request starts it anew with or without); the
//! limit of 1,000 data packets in a host, whose queue holds the packets of two or three credits.
//!
//! Where the sources are silent, our choices:
//! - A credit acknowledges the bytes that the receiver has, as any header in its direction can. The last
//!   byte of a flow is acknowledged by a packet of its own, so that a completion time is measured where
//!   that of every scheme is, at the sender. In the released code nothing repairs the loss of a flow's
//!   last packet; here the timer of Go-Back-N does, and asks for credits again.
//! - Requests and stops travel in the control queue, as all such packets do here; so a stop may
//!   overtake data that wait.
//! - Credits are numbered modulo 2^16. So a loss of more than 32,767 in a row, which are 4 ms of them at
//!   100 Gb/s, is taken for something else.
//! - After a stop that came too early a sender asks again when two round trips have brought too few
//!   credits. The sender's round trip is the longest of the network.
//!
//! | symbol | field | value | source |
//! |---|---|---|---|
//! | α | `initial_rate` | 0.5 | BFC sec. 6.2.1; the paper's scripts |
//! | w_init | `initial_weight` | 1/16 | BFC sec. 6.2.1; the paper's scripts |
//! | w_min, w_max | `minimum_weight`, `maximum_weight` | 0.01, 0.5 | the released code |
//! | - | `feedback` | see [`CreditFeedback`] | |
//! | - | `jitter` | 0.1 | the released code |
//! | - | `credit_minimum`, `credit_maximum` | 84 B; 76 to 92 B | fixed by default, random in the paper's scripts |
//! | - | `full_rate_packets` | 40 | the released code |
//! | - | `early_stop` | on | the released code |
//! | - | `request_timeout` | 100 us | the paper's scripts |

use penstock_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

use crate::config::ConfigError;

mod destination;
mod feedback;
mod source;

pub(crate) use destination::Destination;
pub use source::Source;

/// Parameters of ExpressPass at hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
    /// The loss that is aimed at while credits leave at `rate`, a share of the largest.
    fn target_loss(self, rate: f64) -> f64 {
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

    /// Checks the bounds.
    ///
    /// # Errors
    /// The first field that is out of bounds.
    pub fn validate(&self) -> Result<(), ConfigError> {
        ConfigError::unless_weight("controller.initial_rate", self.initial_rate)?;
        ConfigError::unless_weight("controller.initial_weight", self.initial_weight)?;
        ConfigError::unless_weight("controller.minimum_weight", self.minimum_weight)?;
        ConfigError::unless_weight("controller.maximum_weight", self.maximum_weight)?;
        ConfigError::unless(
            self.minimum_weight <= self.maximum_weight,
            "controller.maximum_weight",
            self.maximum_weight,
            "it must be at least minimum_weight",
        )?;
        let (target, step) = match self.feedback {
            CreditFeedback::Released { target_loss, weight_step } => (target_loss, weight_step),
            CreditFeedback::Paper { target_loss } => (target_loss, 0.0),
        };
        let share = "it must be 0 to 1";
        let holds = (0.0..=1.0).contains(&target);
        ConfigError::unless(holds, "controller.feedback.target_loss", target, share)?;
        let holds = (0.0..=1.0).contains(&step);
        ConfigError::unless(holds, "controller.feedback.weight_step", step, share)?;
        let holds = (0.0..1.0).contains(&self.jitter);
        let remedy = "it must be 0 or more, below 1";
        ConfigError::unless(holds, "controller.jitter", self.jitter, remedy)?;
        let (least, most) = (self.credit_minimum, self.credit_maximum);
        let holds = most <= LARGEST_CREDIT && most > Bytes::ZERO;
        let remedy = "it must be 1 B to 16 KiB, a frame";
        ConfigError::unless(holds, "controller.credit_maximum", most, remedy)?;
        let holds = least > Bytes::ZERO && least <= most;
        let remedy = "it must be at least 1 B and at most credit_maximum";
        ConfigError::unless(holds, "controller.credit_minimum", least, remedy)?;
        ConfigError::unless_interval("controller.request_timeout", self.request_timeout)
    }
}

/// What a sender tells its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreditSignal {
    /// It has packets that need credits.
    Request {
        /// How many (packets), at most `u32::MAX`.
        packets: u32,
    },
    /// It needs no more credits than those on their way.
    Stop,
}

/// A credit that leaves its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    /// Its number in the flow, from 0, modulo 2^16.
    pub number: u16,
    /// Its size on the wire (bytes).
    pub wire_bytes: u32,
}

#[cfg(test)]
pub(crate) mod tests {
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

    #[test]
    fn parameters_out_of_bounds_are_refused() {
        assert_eq!(config().validate(), Ok(()));
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
            assert_eq!(config.validate().unwrap_err().field, alloc::format!("controller.{field}"));
        }
    }
}
