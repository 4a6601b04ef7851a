//! What a sender knows of its outstanding bytes: which have arrived ahead of a gap, and which are lost.

use borsh::{BorshDeserialize, BorshSerialize};

use super::range_set::RangeSet;
use super::reply::arrived_ahead;
use crate::flow::FlowView;
use crate::path::Acknowledgement;

/// The outstanding bytes of a flow.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Scoreboard {
    payload: u64,
    /// Bytes that are known to have arrived ahead of a gap.
    received: RangeSet,
    /// The bytes below this one are acknowledged, known to have arrived, or sent again.
    resent_to: u64,
    /// Missing bytes from `resent_to` up to here are lost.
    lost_end: u64,
    /// Missing bytes between `resent_to` and `lost_end`.
    lost_bytes: u64,
}

/// What an acknowledgement has told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// All bytes up to a later one have arrived.
    pub(crate) has_advanced: bool,
    /// A packet ahead of a gap has arrived, and nobody knew.
    pub(crate) is_ahead: bool,
}

impl Scoreboard {
    /// Nothing was sent. A full packet has `payload` bytes.
    pub(crate) fn new(payload: u32) -> Self {
        Scoreboard {
            payload: u64::from(payload),
            received: RangeSet::default(),
            resent_to: 0,
            lost_end: 0,
            lost_bytes: 0,
        }
    }

    /// Bytes that are to be sent again (bytes).
    #[inline]
    pub(crate) fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    /// Bytes that are lost, or known to have arrived (bytes).
    #[inline]
    pub(crate) fn departed_bytes(&self) -> u64 {
        self.lost_bytes + self.received.bytes()
    }

    /// Takes the first packet that is lost. Answers its offset and length.
    pub(crate) fn take_lost(&mut self) -> Option<(u64, u32)> {
        if self.lost_bytes == 0 {
            return None;
        }
        let gap = self.received.first_gap(self.resent_to..self.lost_end)?;
        let length = (gap.end - gap.start).min(self.payload);
        self.resent_to = gap.start + length;
        self.lost_bytes -= length;
        Some((gap.start, length as u32))
    }

    /// An acknowledgement arrived; `view` already has its cumulative part. Bytes ahead of a gap count as
    /// newly acknowledged at the first report, and not a second time. Lost bytes that have arrived are not
    /// sent again.
    pub(crate) fn on_acknowledgement(
        &mut self,
        ack: &Acknowledgement,
        view: &mut FlowView,
    ) -> News {
        let has_advanced = view.newly_acknowledged > 0;
        let known = self.received.advance(view.acknowledged).1;
        view.newly_acknowledged = view.newly_acknowledged.saturating_sub(known);
        let added =
            arrived_ahead(ack, self.payload, view).map_or(0, |range| self.received.insert(range));
        view.newly_acknowledged += added;
        let news = News { has_advanced, is_ahead: added > 0 };
        if self.lost_bytes > 0 && news != News::default() {
            self.count_lost(view);
        }
        news
    }

    /// The gaps before the last packet that is known to have arrived are lost.
    pub(crate) fn lose_gaps(&mut self, view: &FlowView) {
        let end = self.received.last_start();
        if end > self.lost_end {
            self.lost_end = end;
            self.count_lost(view);
        }
    }

    /// All outstanding bytes that are not known to have arrived are lost.
    pub(crate) fn lose_all(&mut self, view: &FlowView) {
        self.resent_to = view.acknowledged;
        self.lost_end = view.next;
        self.count_lost(view);
    }

    fn count_lost(&mut self, view: &FlowView) {
        self.resent_to = self.resent_to.max(view.acknowledged);
        self.lost_bytes = self.received.missing(self.resent_to..self.lost_end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::view;

    #[test]
    fn a_gap_that_is_found_after_a_timeout_leaves_all_lost_that_was() {
        let mut board = Scoreboard::new(1_000);
        let ack =
            Acknowledgement { is_negative: true, received: 5_000, ..Acknowledgement::plain(0) };
        board.on_acknowledgement(&ack, &mut view(0, 10, 0));
        board.lose_gaps(&view(0, 10, 0));
        assert_eq!(board.lost_bytes(), 5_000);
        board.lose_all(&view(0, 10, 0));
        assert_eq!(board.take_lost(), Some((0, 1_000)));
        board.lose_gaps(&view(0, 10, 0));
        assert_eq!((board.lost_bytes(), board.departed_bytes()), (8_000, 9_000));
    }
}
