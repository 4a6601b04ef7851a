//! A data queue of an egress port, and the fields that the axes keep in the queue.
use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::Fifo;

/// A data queue of an egress port.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct DataQueue {
    /// The packets of the queue.
    pub packets: Fifo,
    /// Neighbours in the scheduler's list. Writer: scheduling (DRR).
    pub(crate) next: u32,
    pub(crate) previous: u32,
    /// Credit left in this round (bytes). Writer: scheduling (DRR).
    pub(crate) deficit: u32,
    /// Bytes that may still leave although the queue is paused, because the pause is older than the
    /// queue's flow (BFC). Writer: [`crate::Port`].
    pub grace: u32,
    /// Priority class that the queue serves.
    pub class: u8,
    /// The downstream switch has paused the queue (BFC). Writer: [`crate::Port`].
    pub is_paused: bool,
    /// The queue has no credit for a full packet (BFC with credits). Writer: [`crate::Port`].
    pub is_dry: bool,
    /// The queue has packets, and both the queue and its class may send. Writer: [`crate::Port`].
    pub is_active: bool,
    /// Round at which the last packet finishes in the fluid system, fixed point. Writer: scheduling
    /// (ideal fair).
    pub(crate) finish: u64,
}

impl DataQueue {
    /// Whether a pause holds the packets of the queue.
    #[inline]
    pub fn is_held(&self) -> bool {
        self.is_paused && self.grace == 0
    }
}
