//! The configuration of a switch: one choice on each of the five axes.

use penstock_units::Problems;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::admission::AdmissionConfig;
use crate::assignment::AssignmentConfig;
use crate::backpressure::BackpressureConfig;
use crate::marking::MarkingConfig;
use crate::scheduling::SchedulingConfig;

/// The five axes of a switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchConfig {
    /// Is there room?
    pub admission: AdmissionConfig,
    /// Which queue of the egress port?
    pub assignment: AssignmentConfig,
    /// Which queue next?
    pub scheduling: SchedulingConfig,
    /// What does the packet learn?
    pub marking: MarkingConfig,
    /// What does the upstream learn?
    pub backpressure: BackpressureConfig,
}

impl SwitchConfig {
    /// Checks every field against its bounds. What does not go together is another matter.
    pub fn check(&self, problems: &mut Problems) {
        problems.within("assignment", |problems| self.assignment.check(problems));
        problems.within("admission", |problems| self.admission.check(problems));
        problems.within("scheduling", |problems| self.scheduling.check(problems));
        problems.within("marking", |problems| self.marking.check(problems));
        problems.within("backpressure", |problems| self.backpressure.check(problems));
    }
}
