//! The packets that a sender has to send again, in the order in which the sender learnt of the losses.

use alloc::collections::VecDeque;
use core::ops::Range;

use borsh::{BorshDeserialize, BorshSerialize};

/// The bytes of packets that were lost and are not sent again yet, oldest loss first.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct LostPackets {
    /// Lost bytes. Neighbouring packets share one range, so the drops of a burst take little memory.
    ranges: VecDeque<Range<u64>>,
    bytes: u64,
}

impl LostPackets {
    /// The packet with `payload` bytes from `offset` on is lost.
    pub(crate) fn add(&mut self, offset: u64, payload: u32) {
        self.add_range(offset..offset + u64::from(payload));
    }

    /// The packets with the bytes of `range` are lost.
    pub(crate) fn add_range(&mut self, range: Range<u64>) {
        self.bytes += range.end - range.start;
        match self.ranges.back_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.ranges.push_back(range),
        }
    }

    /// The packets of `others` from `offset` on are lost as well.
    pub(crate) fn add_from(&mut self, others: &LostPackets, offset: u64) {
        for range in &others.ranges {
            let range = range.start.max(offset)..range.end;
            if !range.is_empty() {
                self.add_range(range);
            }
        }
    }

    /// The bytes before `offset` have arrived after all.
    pub(crate) fn forget(&mut self, offset: u64) {
        if self.bytes == 0 {
            return;
        }
        self.ranges.retain_mut(|range| {
            range.start = range.start.max(offset);
            !range.is_empty()
        });
        self.bytes = self.ranges.iter().map(|range| range.end - range.start).sum();
    }

    /// Takes the next packet to send again: its offset and at most `payload` bytes.
    pub(crate) fn take(&mut self, payload: u32) -> Option<(u64, u32)> {
        let range = self.ranges.front_mut()?;
        let offset = range.start;
        let length = (range.end - offset).min(u64::from(payload));
        range.start += length;
        if range.is_empty() {
            self.ranges.pop_front();
        }
        self.bytes -= length;
        Some((offset, length as u32))
    }

    /// Whether the byte at `offset` is still to be sent again.
    pub(crate) fn contains(&self, offset: u64) -> bool {
        self.ranges.iter().any(|range| range.contains(&offset))
    }

    /// Number of bytes to send again (bytes).
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dropped_packets_come_back_as_they_were() {
        let mut lost = LostPackets::default();
        for (offset, payload) in [(3_000, 1_000), (4_000, 1_000), (9_000, 1_000), (10_000, 7)] {
            lost.add(offset, payload);
        }
        assert_eq!(lost.bytes(), 3_007);
        assert_eq!(lost.ranges.len(), 2);
        for expected in [(3_000, 1_000), (4_000, 1_000), (9_000, 1_000), (10_000, 7)] {
            assert_eq!(lost.take(1_000), Some(expected));
        }
        assert_eq!((lost.take(1_000), lost.bytes()), (None, 0));
    }

    #[test]
    fn what_has_arrived_after_all_does_not_come_back() {
        let mut lost = LostPackets::default();
        for packet in [1, 5, 2, 3] {
            lost.add(packet * 1_000, 1_000);
        }
        lost.forget(3_000);
        assert_eq!(lost.bytes(), 2_000);
        assert_eq!(
            [0; 3].map(|_| lost.take(1_000)),
            [Some((5_000, 1_000)), Some((3_000, 1_000)), None]
        );
    }

    #[test]
    fn a_packet_that_is_dropped_again_comes_back_again() {
        let mut lost = LostPackets::default();
        lost.add(0, 1_000);
        for _ in 0..3 {
            assert_eq!(lost.take(1_000), Some((0, 1_000)));
            lost.add(0, 1_000);
        }
        assert_eq!(lost.bytes(), 1_000);
    }
}
