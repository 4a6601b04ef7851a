//! The parameters of the dynamic assignment, and their bounds.

use alloc::format;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::EmptyQueue;
use penstock_packet::epochs::MOST_EPOCH_BITS;
use penstock_units::{Fidelity, Problems};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::assignment::classes::{LARGEST_CLASSES, LARGEST_QUEUES, check_classes, partition};
use crate::assignment::policy::Parameters;
use crate::config::{Surroundings, SwitchConfig};

/// The most flow-table entries per queue; our choice: a hundred times BFC's.
const LARGEST_TABLE_FACTOR: u32 = 10_000;

/// The longest sticky threshold and grace (hop round-trip times); our choice: seconds anywhere.
const LARGEST_HOP_RTTS: f64 = 1e6;

/// Parameters of the dynamic assignment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DynamicConfig {
    /// Queues of a port, the control queue included.
    #[schemars(
        range(min = 2, max = LARGEST_QUEUES),
        extend("default" = 32, "source" = "BFC 6.2.1: 32 queues per port")
    )]
    pub queues: u32,
    /// Priority classes that share them evenly.
    #[schemars(
        range(min = 1, max = LARGEST_CLASSES),
        extend("default" = 1, "source" = "BFC 6.2.1: one class; A.3: four")
    )]
    pub classes: u32,
    /// Flow-table entries per queue.
    #[schemars(
        range(min = 1, max = LARGEST_TABLE_FACTOR),
        extend("default" = 100, "source" = "BFC 3.3.1")
    )]
    pub table_factor: u32,
    /// A flow keeps its queue for this long without packets.
    #[schemars(
        range(min = 0, max = LARGEST_HOP_RTTS),
        extend("default" = 2.0, "source" = "BFC 3.3.2", "unit" = "hop RTTs")
    )]
    pub sticky_hop_rtts: f64,
    /// All flows of incast traffic share one queue of an egress.
    ///
    /// It is the last queue of their class.
    #[schemars(extend("default" = false, "source" = "BFC A.7: off"))]
    pub incast_queue: bool,
    /// Share of the packets whose bookkeeping is done.
    #[schemars(
        range(max = 1),
        extend("exclusiveMinimum" = 0, "default" = 1.0, "source" = "BFC A.8: 1 unless sampled")
    )]
    pub sampling: f64,
    /// Where the search for an empty queue starts.
    #[schemars(extend("default" = "rotating", "source" = "BFC 4: a rotating starting point"))]
    pub search: QueueSearch,
    /// Which of several empty queues a new flow gets.
    #[schemars(extend("default" = "any", "source" = "BFC 3.3.1: the bitmap of empty queues knows no pauses"))]
    pub empty_queue: EmptyQueue,
    /// A new flow sends so long from an empty queue that is paused, at the queue's share of the port; 0: it
    /// waits.
    #[schemars(
        range(min = 0, max = LARGEST_HOP_RTTS),
        extend(
            "default" = 0.0,
            "source" = "BFC 3.3.2: a queue is paused if and only if its pause counter is above 0",
            "unit" = "hop RTTs"
        )
    )]
    pub grace_hop_rtts: f64,
    /// Bits of the epoch that packets carry beside their queue; 0: queues have no epochs.
    ///
    /// NICs have epochs too. An empty queue that gets a new flow begins a new epoch, and a pause holds
    /// the epoch for which it was sent.
    #[schemars(
        range(max = MOST_EPOCH_BITS),
        extend("default" = 0, "source" = "our choice: BFC has no epochs")
    )]
    pub epoch_bits: u32,
    /// Classes keep one queue each and share the others, instead of an even part.
    #[schemars(extend(
        "default" = false,
        "source" = "BFC A.3: a static part; sharing is proposed there"
    ))]
    pub classes_share: bool,
    /// The queue of a new flow when none is empty.
    #[schemars(extend(
        "default" = "random",
        "source" = "BFC 3.3.1: a random one; a similar size is proposed in A.2"
    ))]
    pub full_port: FullPort,
    /// Where acknowledgements wait; "data" under fidelity ns3-bfc only.
    #[schemars(extend("default" = "control", "source" = "our choice: they hold no queue and no buffer"))]
    pub acknowledgements: AcknowledgementQueue,
}

impl Parameters for DynamicConfig {
    fn check(&self, problems: &mut Problems) {
        let labelled = if self.incast_queue { self.classes } else { 0 };
        check_classes(self.queues, labelled, self.classes, problems);
        let holds = !(self.classes_share && self.incast_queue);
        let remedy =
            "incast_queue knows classes with queues of their own only; leave one of them out";
        problems.unless(holds, "classes_share", true, remedy);
    }

    fn classes(&self) -> u32 {
        self.classes
    }

    fn queue_classes(&self, _: usize) -> Vec<u8> {
        if !self.classes_share {
            return partition(self.queues, self.classes);
        }
        let own_class = |queue| if queue < self.classes { queue as u8 } else { 0 };
        (0..self.queues - 1).map(own_class).collect()
    }

    fn parts_flows(&self) -> bool {
        true
    }

    fn epoch_bits(&self) -> u32 {
        self.epoch_bits
    }

    fn is_in(&self, _: Fidelity) -> bool {
        true
    }

    fn fits(&self, switch: &SwitchConfig, _: &Surroundings, problems: &mut Problems) {
        if !problems.has_sound("assignment.epoch_bits") {
            return;
        }
        let kind = switch.backpressure.kind();
        let holds = self.epoch_bits == 0 || switch.backpressure.tells_epochs();
        let remedy = format!("backpressure {kind} pauses no epochs; use \"bfc\", or 0");
        problems.unless(holds, "assignment.epoch_bits", self.epoch_bits, remedy);
    }

    fn classes_share(&self) -> bool {
        self.classes_share
    }

    fn queues_acknowledgements(&self) -> bool {
        self.acknowledgements == AcknowledgementQueue::Data
    }
}

/// Where acknowledgements wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AcknowledgementQueue {
    /// In the control queue, ahead of data.
    Control,
    /// In the data queues, as packets of a flow of their own, which are counted and paused.
    Data,
}

/// Where the search for an empty queue starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueSearch {
    /// Behind the queue that was given last.
    Rotating,
    /// At the lowest number. A packet that is alone leaves its queue at once, so many flows share the first
    /// queues.
    Lowest,
}

/// The queue of a new flow when none of its class is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FullPort {
    /// Any.
    Random,
    /// The one whose last packet has the nearest remaining flow size.
    ClosestRemaining,
}
