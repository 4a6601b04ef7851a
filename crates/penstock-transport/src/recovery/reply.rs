//! The answers of the receiving half of a recovery.

use core::ops::Range;

use crate::flow::FlowView;
use crate::path::Acknowledgement;

/// What a receiver answers to a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// An acknowledgement of the bytes before `cumulative`. With perfect recovery, `cumulative` is
    /// instead the number of bytes that arrived.
    Acknowledge {
        /// The position or number that the acknowledgement carries (bytes).
        cumulative: u64,
    },
    /// A negative acknowledgement: a gap starts at `expected`.
    Negative {
        /// The next byte that the receiver expects (bytes).
        expected: u64,
        /// The first byte of the packet that revealed the gap (bytes), > `expected`.
        received: u64,
    },
    /// No packet: the gap was reported not long ago.
    Nothing,
}

/// The packet that has arrived ahead of a gap, according to a negative acknowledgement. The packet was full,
/// `payload` bytes, or the flow's last one.
pub(super) fn arrived_ahead(
    ack: &Acknowledgement,
    payload: u64,
    view: &FlowView,
) -> Option<Range<u64>> {
    let end = ack.received.saturating_add(payload).min(view.next);
    let start = ack.received.max(view.acknowledged);
    (ack.is_negative && start < end).then_some(start..end)
}
