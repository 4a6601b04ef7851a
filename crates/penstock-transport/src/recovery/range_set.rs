//! Ranges of bytes of a flow that arrived ahead of a gap.
//!
//! Invariants: the ranges are not empty, they are sorted, and no two of them touch. Packets arrive in
//! order except after losses. So nearly always the last range grows or a new last range is added,
//! without a search.

use alloc::vec::Vec;
use core::ops::Range;

use borsh::{BorshDeserialize, BorshSerialize};

/// Number of ranges that the first gap allocates at once. A window of 100 packets cannot have more (our
/// choice: a bandwidth-delay product at 100 Gb/s and 8 us).
const FIRST_RANGES: usize = 64;

/// A set of bytes, kept as ranges.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct RangeSet {
    ranges: Vec<Range<u64>>,
    bytes: u64,
}

impl RangeSet {
    /// Number of bytes in the set (bytes).
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds a range that is not empty. Answers the number of bytes that are new (bytes).
    pub(crate) fn insert(&mut self, range: Range<u64>) -> u64 {
        if let Some(last) = self.ranges.last_mut()
            && last.end == range.start
        {
            last.end = range.end;
            self.bytes += range.end - range.start;
            return range.end - range.start;
        }
        if self.ranges.capacity() == 0 {
            self.ranges.reserve(FIRST_RANGES);
        }
        let first = self.ranges.partition_point(|other| other.end < range.start);
        let end = self.ranges.partition_point(|other| other.start <= range.end);
        let mut merged = range;
        let mut known = 0;
        for other in &self.ranges[first..end] {
            known += other.end - other.start;
            merged = merged.start.min(other.start)..merged.end.max(other.end);
        }
        let added = merged.end - merged.start - known;
        self.bytes += added;
        self.ranges.splice(first..end, [merged]);
        added
    }

    /// Removes all bytes below `offset`, and the bytes that follow `offset` without a gap. Answers
    /// where the remaining set or the next gap begins, and how many bytes were removed.
    pub(crate) fn advance(&mut self, offset: u64) -> (u64, u64) {
        let mut reached = offset;
        let mut taken = 0;
        let passed = self.ranges.iter().take_while(|range| range.start <= offset).count();
        for range in self.ranges.drain(..passed) {
            reached = reached.max(range.end);
            taken += range.end - range.start;
        }
        self.bytes -= taken;
        (reached, taken)
    }

    /// Where the last gap ends (bytes): the start of the last range, or 0 when the set is empty.
    #[inline]
    pub(crate) fn last_start(&self) -> u64 {
        self.ranges.last().map_or(0, |range| range.start)
    }

    /// The first gap in `within`, cut to `within`.
    pub(crate) fn first_gap(&self, within: Range<u64>) -> Option<Range<u64>> {
        let next = self.ranges.partition_point(|range| range.end <= within.start);
        let (start, next) = match self.ranges.get(next) {
            Some(range) if range.start <= within.start => (range.end, next + 1),
            _ => (within.start, next),
        };
        let end = self.ranges.get(next).map_or(within.end, |range| range.start.min(within.end));
        (start < end).then_some(start..end)
    }

    /// Bytes in `within` that are not in the set (bytes).
    pub(crate) fn missing(&self, within: Range<u64>) -> u64 {
        let mut missing = within.end.saturating_sub(within.start);
        for range in self.ranges.iter().rev() {
            if range.end <= within.start {
                break;
            }
            let (start, end) = (range.start.max(within.start), range.end.min(within.end));
            missing -= end.saturating_sub(start);
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn set(ranges: &[Range<u64>]) -> RangeSet {
        let mut set = RangeSet::default();
        ranges.iter().for_each(|range| {
            set.insert(range.clone());
        });
        set
    }

    #[test]
    fn ranges_that_touch_become_one() {
        let mut set = set(&[10..20, 30..40, 50..60]);
        assert_eq!(set.insert(20..30), 10);
        assert_eq!(set.insert(15..55), 10);
        assert_eq!((set.ranges.len(), set.last_start(), set.bytes), (1, 10, 50));
        assert_eq!(set.missing(10..60), 0);
    }

    #[test]
    fn the_front_goes_up_to_the_next_gap() {
        let mut set = set(&[10..20, 30..40]);
        assert_eq!(set.advance(5), (5, 0));
        assert_eq!(set.advance(10), (20, 10));
        assert_eq!((set.last_start(), set.bytes()), (30, 10));
        assert_eq!(set.advance(99), (99, 10));
        assert_eq!((set.last_start(), set.bytes()), (0, 0));
    }

    #[test]
    fn gaps_are_found_and_counted() {
        let set = set(&[10..20, 30..40]);
        assert_eq!(set.first_gap(0..30), Some(0..10));
        assert_eq!(set.first_gap(12..30), Some(20..30));
        assert_eq!(set.first_gap(12..20), None);
        assert_eq!(set.first_gap(35..35), None);
        assert_eq!((set.missing(0..30), set.missing(15..35), set.missing(20..30)), (20, 10, 10));
    }

    proptest! {
        #[test]
        fn it_is_a_set_of_bytes(
            steps in prop::collection::vec((0u64..60, 1u64..9, any::<bool>()), 0..60),
            within in (0u64..60, 0u64..60),
        ) {
            let mut ranges = RangeSet::default();
            let mut model = BTreeSet::new();
            for (start, length, advances) in steps {
                let before = model.len() as u64;
                if advances {
                    let mut reached = start;
                    while model.contains(&reached) {
                        reached += 1;
                    }
                    model.retain(|&byte| byte >= reached);
                    let taken = before - model.len() as u64;
                    prop_assert_eq!(ranges.advance(start), (reached, taken));
                } else {
                    model.extend(start..start + length);
                    let added = model.len() as u64 - before;
                    prop_assert_eq!(ranges.insert(start..start + length), added);
                }
                prop_assert_eq!(ranges.bytes(), model.len() as u64);
            }
            let gap: Vec<u64> = (within.0..within.1).filter(|byte| !model.contains(byte)).collect();
            prop_assert_eq!(ranges.missing(within.0..within.1), gap.len() as u64);
            let found = ranges.first_gap(within.0..within.1);
            prop_assert_eq!(found.clone().map(|range| range.start), gap.first().copied());
            prop_assert!(found.into_iter().flatten().all(|byte| !model.contains(&byte)));
        }
    }
}
