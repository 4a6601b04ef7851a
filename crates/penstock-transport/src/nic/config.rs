//! How the flows of a host share its NIC: the parameters and their bounds.

use penstock_units::Problems;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Queues of a NIC at most: the pause bitmap has 128 bits, and BFC uses 32 or 128 queues
/// (NSDI 2022, Sec. 6.2.1 and App. A.1).
pub const MAXIMUM_QUEUES: u32 = 128;

/// Priority classes of a NIC at most: IEEE 802.1Q has eight.
pub const MAXIMUM_CLASSES: u32 = 8;

/// How the flows of a host share its NIC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NicConfig {
    /// Queues that the first switch can pause one by one, the control queue included: 0 for none,
    /// else 2 to [`MAXIMUM_QUEUES`].
    pub queues: u32,
    /// Whether the NIC obeys pauses of its queues; pauses of classes are always obeyed.
    pub reacts: bool,
    /// Which ready flow of a class sends next.
    pub scheduling: NicScheduling,
}

/// Which ready flow of a class sends next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NicScheduling {
    /// In turn, a packet each.
    RoundRobin,
    /// The one with the fewest bytes left to send; of equal ones the lowest slot.
    Srf,
}

impl NicConfig {
    /// Checks the number of queues against its bounds.
    pub fn check(&self, problems: &mut Problems) {
        let holds = self.queues == 0 || (2..=MAXIMUM_QUEUES).contains(&self.queues);
        let remedy = "it must be 0 (no queues to pause) or 2 to 128, the control queue included";
        problems.unless(holds, "queues", self.queues, remedy);
    }

    /// Checks that every one of `classes` priority classes gets a queue.
    pub fn check_classes(&self, classes: u32, problems: &mut Problems) {
        let holds = self.suffices_for(classes);
        let remedy = "it must be above the number of classes, or 0 for no queues";
        problems.unless(holds, "queues", self.queues, remedy);
    }

    /// Whether every one of `classes` priority classes gets a queue, or none needs one.
    pub(crate) fn suffices_for(&self, classes: u32) -> bool {
        self.queues == 0 || self.queues > classes
    }
}
