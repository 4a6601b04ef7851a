//! What a host asks of a recovery: of its parameters, and of its halves at both ends of a flow.
//!
//! Nearly every hook has a default, which does nothing or answers "nothing". A recovery writes only the
//! hooks for which it has something to do.

use core::ops::Range;

use penstock_units::{Problems, Time};

use super::reply::Reply;
use crate::flow::{FlowView, LossSignal};
use crate::path::Acknowledgement;

/// What the rest of a host and the switches must know of a recovery's parameters.
pub(crate) trait Parameters {
    /// Compares the fields with each other. Each field has already been checked against its declared
    /// bounds.
    fn check(&self, _problems: &mut Problems) {}

    /// Whether a sender learns of a loss before its timer expires, and tells its controller
    /// ([`LossSignal::FastRetransmit`]).
    fn reports_losses(&self) -> bool {
        false
    }

    /// Whether the flows of an open connection go on with this recovery, as one sequence of bytes.
    fn keeps_connections(&self) -> bool {
        false
    }

    /// Whether switches have to trim.
    fn needs_trimming(&self) -> bool {
        false
    }

    /// Whether every data packet is acknowledged. If not, only the packet that completes a flow is.
    fn acknowledges_each(&self) -> bool {
        true
    }
}

/// The sending half: which bytes leave next.
pub(crate) trait AtSource {
    /// Bytes that are to be sent again before new ones, while `outstanding` bytes are not acknowledged.
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

    /// Whether a packet may leave with a window of `window` bytes, while `outstanding` bytes are not
    /// acknowledged.
    #[inline]
    fn has_room(&self, outstanding: u64, window: u64) -> bool {
        self.has_window(outstanding, window)
    }

    /// The acknowledged position once all bytes in flight are acknowledged (bytes). `next` is the first
    /// byte that is sent next.
    #[inline]
    fn end_of_flight(&self, next: u64) -> u64 {
        next
    }

    /// Takes a packet of at most `payload` bytes to send again. Answers its offset and length.
    #[inline]
    fn take_lost(&mut self, _payload: u32, _view: &FlowView) -> Option<(u64, u32)> {
        None
    }

    /// The bytes `offset .. end` leave at `now`. Answers whether they had left before, where their
    /// position shows it. Elsewhere [`AtSource::take_lost`] has already told.
    #[inline]
    fn on_send(&mut self, _now: Time, _offset: u64, _end: u64) -> bool {
        false
    }

    /// An acknowledgement arrived at `now`. `view` already has its cumulative part. Recovery may rewind
    /// `view.next`, and may add to the newly acknowledged bytes.
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
    fn on_switch_drop(&mut self, _now: Time, _offset: u64, _payload: u32) -> bool {
        false
    }

    /// The receiver asks for `range` again; the bytes before `next` were sent. Answers whether the
    /// sender must tell the receiver that nothing is lost.
    fn on_resend(&mut self, _range: Range<u64>, _next: u64) -> bool {
        false
    }

    /// When the retransmission timer is due; [`Time::NEVER`] when it does not run.
    #[inline]
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// Whether `silence` without a packet is longer than the retransmission timeout.
    fn is_long(&self, _silence: Time) -> bool {
        false
    }

    /// Answers whether the retransmission timer has expired by `now`. Recovery may rewind
    /// `view.next` then.
    fn on_deadline(&mut self, _now: Time, _view: &mut FlowView) -> Option<LossSignal> {
        None
    }
}

/// The receiving half: the reply to a data packet.
pub(crate) trait AtDestination {
    /// A data packet with `payload` bytes from `offset` on arrived at `now`.
    fn on_data(&mut self, now: Time, offset: u64, payload: u32) -> Reply;

    /// Bytes delivered to the application (bytes).
    fn delivered(&self) -> u64;

    /// When the receiver asks again for missing bytes without a packet; [`Time::NEVER`] when it waits
    /// for none.
    #[inline]
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// The next bytes that the receiver has waited for too long and asks for again, until there are
    /// none.
    fn on_deadline(&mut self, _now: Time) -> Option<Range<u64>> {
        None
    }

    /// The source was told at `now` that it may send the bytes before `offset`.
    fn on_grant(&mut self, _now: Time, _offset: u64) {}

    /// The source has not sent yet the bytes that were asked for again.
    fn on_busy(&mut self, _now: Time) {}
}
