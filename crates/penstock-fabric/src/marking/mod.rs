//! Marking: what does the packet learn?

pub(crate) mod policy;

use penstock_packet::{SwitchFacts, axis};
use penstock_units::{Fidelity, Problems};

use policy::Parameters;

pub use ecn::MarkedLength;
pub use policy::MarkingPoint;

use crate::config::{Surroundings, SwitchConfig};

axis! { $
    /// The marking axis of a scenario.
    config MarkingConfig, each by configured;
    /// The marking policy of a switch, stored by value.
    state Marking, built in SwitchFacts, each by dispatch;
    /// Packets learn nothing.
    none: None(NoneConfig => Nothing),
    /// RED marking on the instantaneous queue length.
    ecn: Ecn(EcnConfig => Ecn),
    /// Mark every packet that leaves others behind, unless it waited for a pause to end (PCN).
    non_pause_ecn: NonPauseEcn(NonPauseEcnConfig => NonPauseEcn),
    /// In-band telemetry: each switch stamps queue, bytes sent, rate and time (HPCC).
    telemetry: Telemetry(TelemetryConfig => Telemetry),
    /// QCN's congestion point: tell the source of a sampled packet how congested its queue is.
    qcn: Qcn(QcnConfig => Qcn),
    /// Marking by the queue that FAFC predicts; what came during a pause does not count.
    predicted: Predicted(PredictedConfig => Predicted),
    /// AFQ: mark a packet whose flow is many rounds ahead.
    rounds: Rounds(RoundMarkingConfig => RoundMarking),
    /// CoDel: drop or mark when packets have waited too long for some time (RFC 8289).
    codel: Codel(CodelConfig => Codel),
    /// A class in Python, which `penstock run` supplies.
    external: Python(ExternalMarkingConfig => ExternalMarker),
}

impl MarkingConfig {
    /// Whether packets carry telemetry.
    pub fn has_telemetry(&self) -> bool {
        configured!(self, parameters => parameters.has_telemetry())
    }

    /// Whether packets are marked for their receivers.
    pub fn has_marks(&self) -> bool {
        configured!(self, parameters => parameters.has_marks())
    }

    /// Whether sources are sent feedback, which goes back on the path of their flow.
    pub fn has_feedback(&self) -> bool {
        configured!(self, parameters => parameters.has_feedback())
    }

    /// Whether the simulator of this fidelity has the policy.
    pub fn is_in(&self, simulator: Fidelity) -> bool {
        configured!(self, parameters => parameters.is_in(simulator))
    }

    /// Checks that it goes together with the other policies of `switch`.
    pub(crate) fn fits(
        &self,
        switch: &SwitchConfig,
        around: &Surroundings,
        problems: &mut Problems,
    ) {
        configured!(self, parameters => parameters.fits(switch, around, problems));
    }
}

#[cfg(test)]
#[path = "marking_tests.rs"]
mod tests;
