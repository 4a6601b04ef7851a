//! Marking: what does the packet learn?

pub mod ecn;
pub mod non_pause_ecn;
pub mod predicted;
pub mod qcn;
pub mod rounds;
pub mod telemetry;

use penstock_units::BitRate;
use serde::{Deserialize, Serialize};

use ecn::{Ecn, EcnConfig};
use non_pause_ecn::NonPauseEcn;
use predicted::{Predicted, PredictedConfig};
use qcn::{Qcn, QcnConfig};
use rounds::{RoundMarking, RoundMarkingConfig};
use telemetry::{Telemetry, TelemetryConfig};

/// The marking axis of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum MarkingConfig {
    /// Nothing.
    None {},
    /// Explicit congestion notification with a RED profile.
    Ecn(EcnConfig),
    /// ECN with a threshold of zero that leaves out what waited through a pause (PCN).
    NonPauseEcn {},
    /// In-band telemetry of each hop.
    Telemetry(TelemetryConfig),
    /// Quantized feedback to the source of a sampled packet.
    Qcn(QcnConfig),
    /// Congestion notification by the queue that FAFC predicts.
    Predicted(PredictedConfig),
    /// Explicit congestion notification of flows that are many rounds ahead (AFQ).
    Rounds(RoundMarkingConfig),
}

impl MarkingConfig {
    /// Whether packets carry telemetry.
    pub fn has_telemetry(&self) -> bool {
        matches!(self, MarkingConfig::Telemetry(_))
    }
}

/// The marking policy of a switch, stored by value and dispatched by `match`.
#[derive(Debug)]
pub(crate) enum Marking {
    None,
    Ecn(Ecn),
    NonPauseEcn(NonPauseEcn),
    Telemetry(Telemetry),
    Qcn(Qcn),
    Predicted(Predicted),
    Rounds(RoundMarking),
}

impl Marking {
    /// The policy of a switch with ports of `rates`.
    pub(crate) fn new(config: &MarkingConfig, rates: impl Iterator<Item = BitRate>) -> Self {
        match config {
            MarkingConfig::None {} => Marking::None,
            MarkingConfig::Ecn(config) => Marking::Ecn(Ecn::new(config, rates)),
            MarkingConfig::NonPauseEcn {} => Marking::NonPauseEcn(NonPauseEcn::new(rates.count())),
            MarkingConfig::Telemetry(config) => Marking::Telemetry(Telemetry::new(config)),
            MarkingConfig::Qcn(config) => Marking::Qcn(Qcn::new(config, rates.count())),
            MarkingConfig::Rounds(config) => Marking::Rounds(RoundMarking::new(config)),
            MarkingConfig::Predicted(config) => {
                Marking::Predicted(Predicted::new(config, rates.count()))
            }
        }
    }

    /// A paused `queue` of `egress` is resumed and holds `queue_bytes`.
    pub(crate) fn on_resume(&mut self, egress: u16, queue: u16, queue_bytes: u64) {
        if let Marking::NonPauseEcn(ecn) = self {
            ecn.on_resume(egress, queue, queue_bytes);
        }
    }
}

#[cfg(test)]
#[path = "marking_tests.rs"]
mod tests;
