//! The bytes that a receiver has: all bytes before the next one in order, and some ahead of gaps; and the
//! receiving half that replies by them alone.

use core::ops::Range;

use super::hooks::AtDestination;
use super::range_set::RangeSet;
use super::reply::Reply;
use crate::flow::FlowFacts;
use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;

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

/// The receiving half of recoveries in which packets may come in any order: each reply says which one came.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct Receiving {
    bytes: Reassembly,
}

impl Receiving {
    /// Nothing has arrived. Parameters and flow make no difference.
    pub(crate) fn new<Parameters>(_parameters: &Parameters, _flow: &FlowFacts) -> Self {
        Receiving::default()
    }
}

impl AtDestination for Receiving {
    fn on_data(&mut self, _now: Time, offset: u64, payload: u32) -> Reply {
        self.bytes.reply(offset, payload)
    }

    /// Bytes delivered in order.
    #[inline]
    fn delivered(&self) -> u64 {
        self.bytes.expected()
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

    #[test]
    fn the_receiver_names_what_arrived_behind_a_gap() {
        let mut receiving = Receiving::default();
        let acknowledge = |cumulative| Reply::Acknowledge { cumulative };
        let negative = |received| Reply::Negative { expected: 1_000, received };
        assert_eq!(receiving.on_data(Time::ZERO, 0, 1_000), acknowledge(1_000));
        assert_eq!(receiving.on_data(Time::ZERO, 3_000, 1_000), negative(3_000));
        assert_eq!(receiving.on_data(Time::ZERO, 2_000, 1_000), negative(2_000));
        assert_eq!(receiving.on_data(Time::ZERO, 2_000, 1_000), acknowledge(1_000)); // a duplicate
        assert_eq!(receiving.on_data(Time::ZERO, 1_000, 1_000), acknowledge(4_000));
        assert_eq!(receiving.on_data(Time::ZERO, 0, 1_000), acknowledge(4_000));
        assert_eq!(receiving.delivered(), 4_000);
    }
}
