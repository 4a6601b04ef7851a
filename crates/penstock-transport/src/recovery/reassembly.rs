//! The bytes that a receiver has: all bytes before the next one in order, and some ahead of gaps.

use core::ops::Range;

use super::range_set::RangeSet;
use super::reply::Reply;
use borsh::{BorshDeserialize, BorshSerialize};

/// The bytes of a flow that have arrived.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct Reassembly {
    /// The next byte in order.
    expected: u64,
    /// Bytes that arrived ahead of a gap.
    ahead: RangeSet,
}

impl Reassembly {
    /// The bytes of `range` arrived. Answers whether they revealed or widened what lies ahead of a gap.
    #[inline]
    pub(crate) fn take(&mut self, range: Range<u64>) -> bool {
        if range.start > self.expected {
            return self.ahead.insert(range) > 0;
        }
        self.expected = self.ahead.advance(self.expected.max(range.end)).0;
        false
    }

    /// The reply to a packet with `payload` bytes from `offset` on, which has arrived: where it stands, if it
    /// is ahead of a gap.
    pub(crate) fn reply(&mut self, offset: u64, payload: u32) -> Reply {
        let expected = self.expected;
        if self.take(offset..offset + u64::from(payload)) {
            return Reply::Negative { expected, received: offset };
        }
        Reply::Acknowledge { cumulative: self.expected }
    }

    /// The next byte in order (bytes). It equals the number of bytes delivered.
    #[inline]
    pub(crate) fn expected(&self) -> u64 {
        self.expected
    }

    /// Number of bytes that have arrived, in any order (bytes).
    #[inline]
    pub(crate) fn arrived(&self) -> u64 {
        self.expected + self.ahead.bytes()
    }

    /// The first bytes of `range` that have not arrived.
    pub(crate) fn first_gap(&self, range: Range<u64>) -> Option<Range<u64>> {
        self.ahead.first_gap(self.expected.max(range.start)..range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_ahead_of_a_gap_count_once_it_is_closed() {
        let mut bytes = Reassembly::default();
        assert!(!bytes.take(0..1_000));
        assert!(bytes.take(2_000..3_000));
        assert!(!bytes.take(2_000..3_000));
        assert_eq!((bytes.expected(), bytes.arrived()), (1_000, 2_000));
        assert_eq!(bytes.first_gap(0..5_000), Some(1_000..2_000));
        assert_eq!(bytes.first_gap(1_500..5_000), Some(1_500..2_000));
        assert_eq!(bytes.first_gap(2_000..3_000), None);
        assert!(!bytes.take(500..2_000));
        assert_eq!(bytes.expected(), 3_000);
    }
}
