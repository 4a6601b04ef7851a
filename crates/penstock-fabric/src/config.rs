//! The configuration of a switch: one choice on each of the five axes.

use alloc::format;

use penstock_units::{Bytes, Problems};
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

/// Facts outside the switch that policies depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The longest data packet on the wire; `None` where it is not known.
    pub packet: Option<Bytes>,
    /// Whether links fail.
    pub has_outages: bool,
    /// Whether control frames are lost.
    pub loses_control: bool,
    /// Whether frames of any kind arrive corrupted.
    pub corrupts_frames: bool,
}

impl SwitchConfig {
    /// Checks every field against its bounds, and against the other fields of its policy.
    /// [`SwitchConfig::fits`] checks whether policies go together.
    pub fn check(&self, problems: &mut Problems) {
        problems.within("assignment", |problems| self.assignment.check(problems));
        problems.within("admission", |problems| self.admission.check(problems));
        problems.within("scheduling", |problems| self.scheduling.check(problems));
        problems.within("marking", |problems| self.marking.check(problems));
        problems.within("backpressure", |problems| self.backpressure.check(problems));
    }

    /// Checks that a port has one data queue, as the `value` of `field` asks for `reason`; `or` is another
    /// remedy, if there is one.
    pub(crate) fn fits_one_queue(
        &self,
        (field, value): (&str, &str),
        (reason, or): (&str, &str),
        problems: &mut Problems,
    ) {
        if problems.has_sound("assignment") {
            let remedy = format!(
                "{reason}, and the {} assignment makes several; use assignment {{kind = \"class\", classes = \
                 1}}{or}",
                self.assignment.kind()
            );
            problems.unless(self.assignment.is_one_queue(), field, value, remedy);
        }
    }

    /// Checks that no policy has to be told when a packet that is queued is dropped, as the `value` of
    /// `field` has it.
    pub(crate) fn fits_drops_of_queued_packets(
        &self,
        (field, value): (&str, &str),
        problems: &mut Problems,
    ) {
        let mut unless = |holds: bool, remedy: &str| problems.unless(holds, field, value, remedy);
        unless(
            matches!(self.marking, MarkingConfig::None(_) | MarkingConfig::Ecn(_)),
            "a packet that marking has counted may be dropped; use marking \"none\" or \"ecn\"",
        );
        unless(
            self.backpressure.is_silent(),
            "a packet that backpressure has counted may be dropped; use backpressure \"none\"",
        );
    }

    /// Checks that the policies go together, in such `surroundings`. Skips a field that
    /// [`SwitchConfig::check`] has refused before, with the same `problems` in the same table.
    pub fn fits(&self, surroundings: &Surroundings, problems: &mut Problems) {
        self.assignment.fits(self, surroundings, problems);
        self.admission.fits(self, surroundings, problems);
        self.scheduling.fits(self, surroundings, problems);
        self.marking.fits(self, surroundings, problems);
        self.backpressure.fits(self, surroundings, problems);
    }
}
