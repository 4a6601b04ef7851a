//! How the flows of a host share its NIC: the parameters and their bounds.

use alloc::format;

use penstock_packet::{CLASSES, EmptyQueue};
use penstock_units::source::HPCC_SIMULATOR;
use penstock_units::{Problems, declared};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Queues of a NIC at most: the pause bitmap has 128 bits, and BFC uses 32 or 128 queues
/// (NSDI 2022, Sec. 6.2.1 and App. A.1).
pub const MAXIMUM_QUEUES: u32 = 128;

/// Priority classes of a NIC at most.
pub const MAXIMUM_CLASSES: u32 = CLASSES as u32;

/// The network interface: which of its flows sends next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NicConfig {
    /// Queues, the control queue included; 0: one per flow.
    ///
    /// The first switch can pause them one by one.
    #[schemars(
        range(max = MAXIMUM_QUEUES),
        extend(
            "default" = 0,
            "source" = format!("our choice: one per flow, as {HPCC_SIMULATOR}")
        )
    )]
    pub queues: u32,
    /// Whether pauses of its queues are obeyed.
    ///
    /// Pauses of classes always are.
    #[schemars(extend("default" = true, "source" = "BFC 3; A.8 turns it off"))]
    pub reacts: bool,
    /// Which of several empty queues a new flow gets.
    #[schemars(extend("default" = "any", "source" = "BFC 3.3.1: the bitmap of empty queues knows no pauses"))]
    pub empty_queue: EmptyQueue,
    /// Which ready flow of a class sends next.
    #[schemars(extend("default" = "round-robin", "source" = HPCC_SIMULATOR))]
    pub scheduling: NicScheduling,
}

/// Which ready flow of a class sends next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NicScheduling {
    /// In turn, a packet each.
    RoundRobin,
    /// The one with the fewest bytes left to send; of equal ones the one that started first.
    Srf,
}

impl NicConfig {
    /// Checks every field against the bounds that it declares, and that data have a queue.
    pub fn check(&self, problems: &mut Problems) {
        declared::check(self, problems);
        let remedy = "one is the control queue; write 2 or more, or 0 for one per flow";
        problems.unless(self.queues != 1, "queues", self.queues, remedy);
    }

    /// Checks that every one of `classes` priority classes gets a queue.
    pub fn check_classes(&self, classes: u32, problems: &mut Problems) {
        let holds = self.suffices_for(classes);
        let remedy = format!(
            "one is the control queue, and each of {classes} class(es) needs one; write {} or more, or \
             0 for one per flow",
            classes + 1
        );
        problems.unless(holds, "queues", self.queues, remedy);
    }

    /// Whether every one of `classes` priority classes gets a queue, or none needs one.
    pub(crate) fn suffices_for(&self, classes: u32) -> bool {
        self.queues == 0 || self.queues > classes
    }
}
