//! The most bytes that a flow of TCP has had in flight, which bound its window. A window that holds
//! nothing back does not grow, because no acknowledgement has shown that the network bears it.
//!
//! M. Welzl, T. Henderson, G. Fairhurst, M. P. Tahiliani, "Increase of the Congestion Window when the
//! Sender Is Rate-Limited", draft-ietf-ccwg-ratelimited-increase, Sec. 3, an update of RFC 5681 and of
//! RFC 9438. There the application or the receiver limits the sender. Here it is the NIC: it takes a
//! packet from a flow only when it can send the packet, so that no queue of the NIC is in flight.

use borsh::{BorshDeserialize, BorshSerialize};

use crate::flow::FlowView;

/// The most that one flow has had in flight since its window last fell (maxFS) (bytes).
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct MostInFlight(u64);

impl MostInFlight {
    /// Counts what was in flight just before an acknowledgement.
    pub(crate) fn count(&mut self, view: &FlowView) {
        self.0 = self.0.max(view.next - view.acknowledged + view.newly_acknowledged);
    }

    /// The window has fallen.
    pub(crate) fn forget(&mut self) {
        self.0 = 0;
    }

    /// Whether a window of `window` bytes may grow by a step: it may while it is below limit(maxFS). In
    /// slow start this is twice what was in flight, and otherwise a packet of `packet` bytes more.
    pub(crate) fn lets_grow(self, window: f64, packet: f64, is_slow_start: bool) -> bool {
        let most = self.0 as f64;
        window < most + if is_slow_start { most } else { packet }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::view;

    #[test]
    fn a_window_follows_what_was_in_flight_since_it_last_fell() {
        let mut most = MostInFlight::default();
        for (acknowledged, next) in [(1, 10), (2, 12), (3, 11)] {
            most.count(&view(acknowledged, next, 1));
        }
        // 11 packets were in flight before the second acknowledgement.
        assert!(most.lets_grow(11_999.0, 1_000.0, false));
        assert!(!most.lets_grow(12_000.0, 1_000.0, false));
        assert!(most.lets_grow(21_999.0, 1_000.0, true));
        assert!(!most.lets_grow(22_000.0, 1_000.0, true));
        most.forget();
        most.count(&view(4, 9, 1));
        assert!(most.lets_grow(6_999.0, 1_000.0, false));
        assert!(!most.lets_grow(7_000.0, 1_000.0, false));
    }
}
