//! What a lost packet costs, at both ends of a flow.
//!
//! Each kind of recovery has a sending half, which chooses the bytes that leave next, and a
//! receiving half, which chooses the reply to a data packet. A flow uses the same kind at both
//! ends.
//!
//! Reading order: [`go_back_n`], [`perfect`].

use serde::{Deserialize, Serialize};

use crate::config::ConfigError;

pub mod go_back_n;
pub mod perfect;

pub use go_back_n::GoBackNConfig;

/// Which recovery the flows of a scheme use, with its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RecoveryConfig {
    /// After a gap everything from the gap on is sent again.
    GoBackN(GoBackNConfig),
    /// The switch that drops a packet tells the sender, which sends exactly that packet again.
    /// Written with braces so that parsing refuses stray fields.
    Perfect {},
}

impl RecoveryConfig {
    /// Checks every parameter against its bounds.
    ///
    /// # Errors
    /// The first parameter that is out of bounds.
    pub fn validate(&self) -> Result<(), ConfigError> {
        match self {
            RecoveryConfig::GoBackN(config) => config.validate(),
            RecoveryConfig::Perfect {} => Ok(()),
        }
    }
}

/// What a receiver answers to a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// An acknowledgement of the bytes before `cumulative`; with perfect recovery of as many bytes
    /// as `cumulative`.
    Acknowledge {
        /// What goes into the acknowledgement (bytes).
        cumulative: u64,
    },
    /// A negative acknowledgement: a gap starts at `expected`.
    Negative {
        /// The next byte that the receiver expects (bytes).
        expected: u64,
    },
    /// No packet: the gap was reported not long ago.
    Nothing,
}

/// The sending half of a flow's recovery.
#[derive(Clone, Debug)]
pub(crate) enum Sending {
    GoBackN(go_back_n::Sending),
    Perfect(perfect::Sending),
}

impl Sending {
    pub(crate) fn new(config: &RecoveryConfig) -> Self {
        match config {
            RecoveryConfig::GoBackN(config) => Sending::GoBackN(go_back_n::Sending::new(config)),
            RecoveryConfig::Perfect {} => Sending::Perfect(perfect::Sending::default()),
        }
    }

    /// Bytes that a switch dropped and that were not sent again yet.
    #[inline]
    pub(crate) fn lost_bytes(&self) -> u64 {
        match self {
            Sending::GoBackN(_) => 0,
            Sending::Perfect(perfect) => perfect.lost_bytes(),
        }
    }
}

/// The receiving half of a flow's recovery.
#[derive(Clone, Debug)]
pub(crate) enum Receiving {
    GoBackN(go_back_n::Receiving),
    Perfect(perfect::Receiving),
}

impl Receiving {
    pub(crate) fn new(config: &RecoveryConfig) -> Self {
        match config {
            RecoveryConfig::GoBackN(config) => {
                Receiving::GoBackN(go_back_n::Receiving::new(config))
            }
            RecoveryConfig::Perfect {} => Receiving::Perfect(perfect::Receiving::default()),
        }
    }
}
