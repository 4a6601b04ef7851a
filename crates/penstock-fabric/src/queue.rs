//! A data queue of an egress port, and what the axes keep in it.
use penstock_packet::Fifo;

/// A data queue of an egress port.
#[derive(Clone, Copy, Debug, Default)]
pub struct DataQueue {
    /// Its packets.
    pub packets: Fifo,
    /// Neighbours in the scheduler's list. Writer: scheduling (DRR).
    pub(crate) next: u32,
    pub(crate) previous: u32,
    /// Credit left in this round (bytes). Writer: scheduling (DRR).
    pub(crate) deficit: u32,
    /// What may still leave although the queue is paused, as the pause is older than its flow (BFC)
    /// (bytes). Writer: [`crate::Port`].
    pub grace: u32,
    /// Priority class that the queue serves.
    pub class: u8,
    /// Paused by the downstream switch (BFC). Writer: [`crate::Port`].
    pub is_paused: bool,
    /// Has no credit for a full packet (BFC with credits). Writer: [`crate::Port`].
    pub is_dry: bool,
    /// The queue has packets, may send and its class may. Writer: [`crate::Port`].
    pub is_active: bool,
    /// Round at which the last packet finishes in the fluid system, fixed point. Writer: scheduling
    /// (ideal fair).
    pub(crate) finish: u64,
}

impl DataQueue {
    /// Whether a pause holds its packets.
    #[inline]
    pub fn is_held(&self) -> bool {
        self.is_paused && self.grace == 0
    }
}
