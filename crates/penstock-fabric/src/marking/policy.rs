//! The hooks of a marking policy. A policy leaves out those for which it has nothing to do.

use alloc::string::String;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::{Fidelity, Problems};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{Surroundings, SwitchConfig};
use crate::passing::Passing;
use crate::stored::Stored;

/// Where a packet is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkingPoint {
    /// When it leaves its queue.
    Dequeue,
    /// When it joins its queue.
    Enqueue,
}

/// What a packet and its source learn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Whether the packet is marked.
    pub is_marked: bool,
    /// What its source is told of congestion, 1 to 63.
    pub feedback: Option<u8>,
    /// Whether the packet is dropped instead of sent. Only one that leaves its queue can be; a
    /// packet that joins it is the matter of admission.
    pub is_dropped: bool,
}

impl Mark {
    /// The packet is marked, or not.
    #[inline]
    pub(crate) fn of(is_marked: bool) -> Self {
        Mark { is_marked, ..Mark::default() }
    }
}

/// What the parameters of a policy tell.
pub(crate) trait Parameters {
    /// Checks the fields with each other; their bounds are declared with them.
    fn check(&self, _problems: &mut Problems) {}

    /// Checks that the policy goes together with the others of `switch`, its own switch, in its
    /// surroundings. Fields are named by their path below the switch; those that were refused before are
    /// not counted with.
    fn fits(&self, _switch: &SwitchConfig, _around: &Surroundings, _problems: &mut Problems) {}

    /// Whether packets carry telemetry.
    fn has_telemetry(&self) -> bool {
        false
    }

    /// Whether packets are marked for their receivers.
    fn has_marks(&self) -> bool {
        false
    }

    /// Whether sources are sent feedback, which goes back on the path of their flow.
    fn has_feedback(&self) -> bool {
        false
    }

    /// Whether the simulator of this fidelity has the policy. Ours has all.
    fn is_in(&self, simulator: Fidelity) -> bool {
        simulator == Fidelity::Exact
    }
}

/// A marking policy of a switch.
pub(crate) trait Policy {
    /// A packet has joined its queue.
    #[inline]
    fn on_enqueue(&mut self, _packet: &mut Passing<'_>) -> Mark {
        Mark::default()
    }

    /// A packet has left its queue. Where it is dropped, the next packet of the port follows at once.
    #[inline]
    fn on_dequeue(&mut self, _packet: &mut Passing<'_>) -> Mark {
        Mark::default()
    }

    /// A paused `queue` of `egress` is resumed and holds `queue_bytes`.
    fn on_resume(&mut self, _egress: u16, _queue: u16, _queue_bytes: u64) {}

    /// Recomputes its state from the packets that are stored.
    ///
    /// # Errors
    /// The first number that is wrong, in words.
    fn audit(&self, _stored: &Stored<'_>) -> Result<(), String> {
        Ok(())
    }
}
