//! Where a flow stands at its NIC.
//!
//! Invariant: a flow is in the structure that its [`Place`] names, or in none.

use borsh::{BorshDeserialize, BorshSerialize};

/// Which structure of the NIC holds a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(crate) enum Place {
    /// No structure: the flow waits for an acknowledgement, or is not at the NIC.
    #[default]
    Waiting,
    /// The ready flows of its class.
    Ready,
    /// The flows that wait for their pacing gap.
    Paced,
    /// The flows of a paused queue.
    Parked,
}

/// A flow's part of the NIC's structures.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct Seat {
    /// The next and the previous flow in the list of this flow.
    pub(super) next: u32,
    pub(super) previous: u32,
    /// Position in the heap that holds the flow, if one does.
    pub(crate) heap_index: u32,
    /// Number of the flow, modulo 2^32. Of flows that are otherwise equal, the lowest comes first.
    pub(super) number: u32,
    pub(crate) class: u8,
    pub(crate) place: Place,
    /// Whether the flow counts among those of its NIC queue.
    pub(crate) has_queue: bool,
}

impl Seat {
    /// The seat of flow `number`, of `class`, that waits.
    pub(crate) fn new(class: u8, number: u64) -> Self {
        Seat { class, number: number as u32, ..Seat::default() }
    }
}
