//! What a host asks of a recovery: of its parameters, and of its halves at both ends of a flow.
//!
//! Nearly every hook has a default, which does nothing or says that there is nothing. A recovery writes
//! those that it has an answer to.

use core::ops::Range;

use penstock_units::{Problems, Time};

use super::reply::Reply;
use crate::flow::{FlowView, LossSignal};
use crate::path::Acknowledgement;

/// What the rest of a host and the switches must know of a recovery's parameters.
pub(crate) trait Parameters {
    /// Checks the fields with each other; each has been checked against the bounds that it declares.
    fn check(&self, _problems: &mut Problems) {}

    /// Whether a sender learns of a loss before its timer expires, and tells its controller
    /// ([`LossSignal::FastRetransmit`]).
    fn reports_losses(&self) -> bool {
        false
    }

    /// Whether every data packet is acknowledged, or only the one that makes a flow whole.
    fn acknowledges_each(&self) -> bool {
        true
    }
}

/// The sending half: which bytes leave next.
pub(crate) trait AtSource {
    /// Bytes that are to be sent again before new ones, with `outstanding` bytes that are not
    /// acknowledged.
    #[inline]
    fn lost_bytes(&self, _outstanding: u64) -> u64 {
        0
    }

    /// Bytes that are outstanding, but known not to be in the network.
    #[inline]
    fn departed_bytes(&self) -> u64 {
        0
    }

    /// Whether a window of `window` bytes has room while `outstanding` bytes are not acknowledged.
    #[inline]
    fn has_window(&self, outstanding: u64, window: u64) -> bool {
        outstanding.saturating_sub(self.departed_bytes()) < window
    }

    /// Whether a packet may leave while `outstanding` bytes are not acknowledged, with a window of
    /// `window` bytes.
    #[inline]
    fn has_room(&self, outstanding: u64, window: u64) -> bool {
        self.has_window(outstanding, window)
    }

    /// What is acknowledged once all that is in flight is (bytes), with `next` as the first byte that
    /// is sent next.
    #[inline]
    fn end_of_flight(&self, next: u64) -> u64 {
        next
    }

    /// Takes a packet of at most `payload` bytes that is to be sent again: its offset and length.
    #[inline]
    fn take_lost(&mut self, _payload: u32, _view: &FlowView) -> Option<(u64, u32)> {
        None
    }

    /// The bytes `offset .. end` leave at `now`; answers whether they had left before. Where that
    /// cannot be seen from them, [`AtSource::take_lost`] has said so.
    #[inline]
    fn on_send(&mut self, _now: Time, _offset: u64, _end: u64) -> bool {
        false
    }

    /// An acknowledgement arrived at `now`; `view` has taken its cumulative part into account.
    /// Recovery may rewind `view.next`, and may know more of what is newly acknowledged.
    #[inline]
    fn on_acknowledgement(
        &mut self,
        _now: Time,
        _ack: &Acknowledgement,
        _view: &mut FlowView,
    ) -> Option<LossSignal> {
        None
    }

    /// A switch dropped the packet with `payload` bytes from `offset` on. Answers whether recovery
    /// listens to switches.
    fn on_switch_drop(&mut self, _offset: u64, _payload: u32) -> bool {
        false
    }

    /// The receiver asks for `range` again, and the bytes before `next` were sent. Answers whether it
    /// has to be told that nothing is lost.
    fn on_resend(&mut self, _range: Range<u64>, _next: u64) -> bool {
        false
    }

    /// When the retransmission timer is due; [`Time::NEVER`] when it does not run.
    #[inline]
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// Answers whether the retransmission timer has expired by `now`. Recovery may rewind
    /// `view.next` then.
    fn on_deadline(&mut self, _now: Time, _view: &mut FlowView) -> Option<LossSignal> {
        None
    }
}

/// The receiving half: what is replied to a data packet.
pub(crate) trait AtDestination {
    /// A data packet with `payload` bytes from `offset` on arrived at `now`.
    fn on_data(&mut self, now: Time, offset: u64, payload: u32) -> Reply;

    /// Bytes delivered to the application (bytes).
    fn delivered(&self) -> u64;

    /// When something is asked for again without a packet; [`Time::NEVER`] when nothing is.
    #[inline]
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// The next bytes to ask for again because of the time alone, until there are none.
    fn on_deadline(&mut self, _now: Time) -> Option<Range<u64>> {
        None
    }

    /// The source may send the bytes before `offset` as of `now`.
    fn on_grant(&mut self, _now: Time, _offset: u64) {}

    /// The source has not sent yet what it was asked for again.
    fn on_busy(&mut self, _now: Time) {}
}
