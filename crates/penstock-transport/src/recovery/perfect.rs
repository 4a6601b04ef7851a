//! Perfect retransmission: the switch that drops a packet tells the sender, which sends exactly
//! those bytes again, once.
//!
//! P. Goyal et al., "Backpressure Flow Control", NSDI 2022, Sec. 6.2.1 (HPCC-PFC): a bound on what
//! any retransmission scheme can do. A real switch refuses it, because it needs a switch that
//! reports every drop. The receiver counts bytes in whatever order they come: only dropped bytes
//! are sent again, so it sees every byte once. There is no timer, because no drop goes unreported.

use alloc::collections::VecDeque;
use core::ops::Range;

use crate::recovery::reply::Reply;

/// The sending half: the bytes that were dropped and not sent again yet, oldest drop first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sending {
    /// Neighbouring packets are one range, so that the drops of a burst take little memory.
    lost: VecDeque<Range<u64>>,
    lost_bytes: u64,
}

impl Sending {
    /// A switch dropped the packet with the bytes from `offset` on.
    pub(crate) fn on_drop(&mut self, offset: u64, payload: u32) {
        let end = offset + u64::from(payload);
        self.lost_bytes += u64::from(payload);
        match self.lost.back_mut() {
            Some(last) if last.end == offset => last.end = end,
            _ => self.lost.push_back(offset..end),
        }
    }

    /// Takes the next packet to send again: its offset and at most `payload` bytes.
    pub(crate) fn take_lost(&mut self, payload: u32) -> Option<(u64, u32)> {
        let range = self.lost.front_mut()?;
        let offset = range.start;
        let length = (range.end - offset).min(u64::from(payload));
        range.start += length;
        if range.is_empty() {
            self.lost.pop_front();
        }
        self.lost_bytes -= length;
        Some((offset, length as u32))
    }

    /// Whether the byte at `offset` is still to be sent again.
    pub(crate) fn has_lost(&self, offset: u64) -> bool {
        self.lost.iter().any(|range| range.contains(&offset))
    }

    /// Bytes that were dropped and not sent again yet.
    #[inline]
    pub(crate) fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }
}

/// The receiving half: a count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receiving {
    delivered: u64,
}

impl Receiving {
    #[inline]
    pub(crate) fn on_data(&mut self, payload: u32) -> Reply {
        self.delivered += u64::from(payload);
        Reply::Acknowledge { cumulative: self.delivered }
    }

    /// Bytes delivered in any order.
    #[inline]
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dropped_packets_come_back_as_they_were() {
        let mut sending = Sending::default();
        for (offset, payload) in [(3_000, 1_000), (4_000, 1_000), (9_000, 1_000), (10_000, 7)] {
            sending.on_drop(offset, payload);
        }
        assert_eq!(sending.lost_bytes(), 3_007);
        assert_eq!(sending.lost.len(), 2);
        for expected in [(3_000, 1_000), (4_000, 1_000), (9_000, 1_000), (10_000, 7)] {
            assert_eq!(sending.take_lost(1_000), Some(expected));
        }
        assert_eq!((sending.take_lost(1_000), sending.lost_bytes()), (None, 0));
    }

    #[test]
    fn a_packet_that_is_dropped_again_comes_back_again() {
        let mut sending = Sending::default();
        sending.on_drop(0, 1_000);
        for _ in 0..3 {
            assert_eq!(sending.take_lost(1_000), Some((0, 1_000)));
            sending.on_drop(0, 1_000);
        }
        assert_eq!(sending.lost_bytes(), 1_000);
    }
}
