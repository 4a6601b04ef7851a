//! Alpha, DCTCP's estimate of the share of marked bytes, and its cut, at most once a round trip (M.
//! Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010; RFC 8257 Sec. 3.3).
//!
//! The first acknowledgement of a flow only opens the first round, as in the RDMA simulators
//! (alibaba-edu/High-Precision-Congestion-Control). With RFC 8257 it would also end a round, of one packet,
//! so that alpha is 15/16 from then on if that has no mark.

use borsh::{BorshDeserialize, BorshSerialize};

use crate::flow::FlowView;

/// The estimate of one flow.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct MarkedShare {
    /// Weight of a new round (g), in (0, 1].
    gain: f64,
    /// Estimated share of marked bytes, in [0, 1].
    alpha: f64,
    /// Bytes acknowledged in this round, and the marked bytes among them.
    acknowledged_bytes: u64,
    marked_bytes: u64,
    /// The round ends with the first acknowledgement beyond this byte; 0 where the next one opens a round.
    round_end: u64,
    /// A cut counts until an acknowledgement beyond this byte.
    cut_until: Option<u64>,
}

impl MarkedShare {
    /// A flow that has sent nothing; alpha starts at 1 (RFC 8257 Sec. 3.3).
    pub(crate) fn new(gain: f64) -> Self {
        MarkedShare {
            gain,
            alpha: 1.0,
            acknowledged_bytes: 0,
            marked_bytes: 0,
            round_end: 0,
            cut_until: None,
        }
    }

    /// Counts an acknowledgement. Answers whether it ends a round.
    pub(crate) fn count(&mut self, is_marked: bool, view: &FlowView) -> bool {
        self.acknowledged_bytes += view.newly_acknowledged;
        self.marked_bytes += if is_marked { view.newly_acknowledged } else { 0 };
        let is_round_end = view.acknowledged > self.round_end;
        if is_round_end {
            self.end_round(view.next);
        }
        if self.cut_until.is_some_and(|end| view.acknowledged > end) {
            self.cut_until = None;
        }
        is_round_end
    }

    /// Takes the round that ended into alpha. Opens the next round, which ends beyond `next`.
    fn end_round(&mut self, next: u64) {
        let is_first = self.round_end == 0;
        self.round_end = next;
        if is_first || self.acknowledged_bytes == 0 {
            return;
        }
        let fraction = self.marked_bytes as f64 / self.acknowledged_bytes as f64;
        self.alpha = (1.0 - self.gain) * self.alpha + self.gain * fraction;
        self.acknowledged_bytes = 0;
        self.marked_bytes = 0;
    }

    /// A mark has come. Answers the share of the window that is left, 1 - alpha/2; `None` when the window
    /// has been cut in this round trip. Bytes before `next` have been sent.
    pub(crate) fn cut(&mut self, next: u64) -> Option<f64> {
        if self.is_cut() {
            return None;
        }
        self.cut_until = Some(next);
        Some(1.0 - self.alpha / 2.0)
    }

    /// All packets will be sent again. Opens a new round with the next acknowledgement; alpha stays.
    pub(crate) fn begin_anew(&mut self) {
        *self = MarkedShare { alpha: self.alpha, ..MarkedShare::new(self.gain) };
    }

    /// Whether the window has been cut in this round trip.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut_until.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::view;

    #[test]
    fn alpha_follows_the_share_of_marked_bytes_round_by_round() {
        let mut share = MarkedShare::new(1.0 / 16.0);
        assert!(share.count(false, &view(1, 2, 1))); // opens the first round
        let expected = [0.9375, 0.878_906, 0.886_475, 0.862_32, 0.808_425];
        // Rounds of two packets: the second one is the first beyond the end of the round.
        let marks = [[false; 2], [false; 2], [true; 2], [false, true], [false; 2]];
        let mut packet = 1;
        for (round, expected) in marks.iter().zip(expected) {
            for (is_last, &is_marked) in [false, true].into_iter().zip(round) {
                packet += 1;
                assert_eq!(share.count(is_marked, &view(packet, packet + 1, 1)), is_last);
            }
            assert!((share.alpha - expected).abs() < 1e-5, "{} {expected}", share.alpha);
        }
    }

    #[test]
    fn there_is_one_cut_in_a_round_trip() {
        let mut share = MarkedShare::new(1.0 / 16.0);
        share.count(true, &view(1, 10, 1));
        assert_eq!(share.cut(10_000), Some(0.5)); // alpha is 1
        share.count(true, &view(10, 19, 1));
        assert_eq!((share.cut(19_000), share.is_cut()), (None, true));
        share.count(true, &view(11, 20, 1));
        assert_eq!((share.is_cut(), share.cut(20_000)), (false, Some(0.5)));
    }
}
