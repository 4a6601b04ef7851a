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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_names_full_packets_beyond_what_is_acknowledged_and_the_short_last_one() {
        let view = FlowView { acknowledged: 3_000, next: 9_300, newly_acknowledged: 0 };
        let ahead = |is_negative, received| {
            let ack = Acknowledgement { is_negative, received, ..Acknowledgement::plain(3_000) };
            arrived_ahead(&ack, 1_000, &view)
        };
        assert_eq!(ahead(true, 5_000), Some(5_000..6_000));
        assert_eq!(ahead(true, 9_000), Some(9_000..9_300));
        assert_eq!(ahead(true, 2_500), Some(3_000..3_500));
        assert_eq!(ahead(true, 2_000), None, "acknowledged in the meantime");
        assert_eq!(ahead(true, 9_300), None, "never sent");
        assert_eq!(ahead(false, 5_000), None, "not a report");
    }
}
