//! When the datagrams of a sender at a constant rate are due.

use penstock_units::{BIT_PICOSECONDS, BitRate, Bytes, Time};

/// The schedule of a sender at a constant rate: datagram k is due when k datagrams have been paid for at the
/// rate, rounded up to a picosecond. No error adds up, because each time is counted from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    rate: BitRate,
    payload: Bytes,
}

impl Pace {
    /// Datagrams of `payload` bytes (> 0) at `rate` (> 0).
    pub fn new(rate: BitRate, payload: Bytes) -> Self {
        Pace { rate, payload }
    }

    /// When datagram `index` is due, from the start of the flow; the first has index 0 and is due at once.
    pub fn due(self, index: u64) -> Time {
        self.rate.transmission_time(Bytes::new(self.payload.get().saturating_mul(index)))
    }

    /// How many datagrams are due before `span` has passed since the start of the flow.
    pub fn due_before(self, span: Time) -> u64 {
        let Some(last) = span.as_ps().checked_sub(1) else { return 0 };
        let paid_for = u128::from(last) * u128::from(self.rate.as_bps());
        let datagram = u128::from(self.payload.get()) * BIT_PICOSECONDS;
        u64::try_from(paid_for / datagram + 1).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_count_is_rate_times_time_within_one_datagram() {
        // 12 Mb/s in datagrams of 1,500 B: one each millisecond.
        let pace = Pace::new(BitRate::from_mbps(12), Bytes::new(1_500));
        assert_eq!(pace.due(3), Time::from_ms(3));
        assert_eq!(pace.due_before(Time::ZERO), 0);
        assert_eq!(pace.due_before(Time::from_ps(1)), 1);
        assert_eq!(pace.due_before(Time::from_ms(10)), 10);
        assert_eq!(pace.due_before(Time::from_ps(10_000_000_001)), 11);
    }

    proptest! {
        #[test]
        fn counts_and_times_agree(
            bps in 1u64..1_000_000_000_000, payload in 1u64..65_476, span in 0u64..100_000_000_000_000,
        ) {
            let (rate, payload) = (BitRate::from_bps(bps), Bytes::new(payload));
            let (pace, span) = (Pace::new(rate, payload), Time::from_ps(span));
            let count = pace.due_before(span);
            prop_assert!(pace.due(count) >= span);
            prop_assert!(count == 0 || pace.due(count - 1) < span);
            let bytes = rate.bytes_in(span).get();
            prop_assert!((count * payload.get()).abs_diff(bytes) <= payload.get());
        }
    }
}
