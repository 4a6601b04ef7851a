//! Marking: what does the packet learn?

pub(crate) mod policy;

use penstock_packet::{SwitchFacts, axis};

use policy::Parameters;

pub use policy::MarkingPoint;

axis! { $
    /// The marking axis of a scenario.
    config MarkingConfig, each by configured;
    /// The marking policy of a switch, stored by value.
    state Marking, built in SwitchFacts, each by dispatch;
    /// Nothing.
    none: None(NoneConfig => Nothing),
    /// Explicit congestion notification with a RED profile.
    ecn: Ecn(EcnConfig => Ecn),
    /// ECN with a threshold of zero that leaves out what waited through a pause (PCN).
    non_pause_ecn: NonPauseEcn(NonPauseEcnConfig => NonPauseEcn),
    /// In-band telemetry of each hop.
    telemetry: Telemetry(TelemetryConfig => Telemetry),
    /// Quantized feedback to the source of a sampled packet.
    qcn: Qcn(QcnConfig => Qcn),
    /// Congestion notification by the queue that FAFC predicts.
    predicted: Predicted(PredictedConfig => Predicted),
    /// Explicit congestion notification of flows that are many rounds ahead (AFQ).
    rounds: Rounds(RoundMarkingConfig => RoundMarking),
}

impl MarkingConfig {
    /// Whether packets carry telemetry.
    pub fn has_telemetry(&self) -> bool {
        configured!(self, parameters => parameters.has_telemetry())
    }
}

#[cfg(test)]
#[path = "marking_tests.rs"]
mod tests;
