//! What both ends of a flow do about a lost packet.
//!
//! Each kind of recovery has a sending half, which chooses the bytes that leave next, and a receiving
//! half, which chooses the reply to a data packet. A flow uses the same kind at both ends. To add a
//! recovery, write its file (parameters, bounds, both halves, citation, tests) and its line below.
//!
//! Recovery decides what is sent again. Control ([`crate::control`]) decides how much may be in flight.
//! They meet in two places: recovery tells the controller of losses ([`LossSignal`]), and recovery
//! knows which outstanding bytes have left the network.
//!
//! Reading order: `hooks` (what a host asks of a recovery), [`go_back_n`], `lost_packets`, [`perfect`],
//! `range_set`, `reassembly` and `scoreboard` (shared by the following ones), [`selective_repeat`],
//! [`timeout_only`], [`fast_retransmit`], [`resend`], [`trimmed_headers`].

use core::ops::Range;

use penstock_units::Time;

use crate::flow::{FlowView, LossSignal};
use crate::path::Acknowledgement;

pub(crate) mod hooks;

mod lost_packets;
mod range_set;
mod reassembly;
mod reply;
mod scoreboard;

use hooks::{AtDestination, AtSource, Parameters};
pub use reply::Reply;

ends! { $
    /// Which recovery the flows of a scheme use, with its parameters.
    config RecoveryConfig, each by of_config;
    /// The sending half of a flow's recovery. The large ones are boxed, so that the flows of the others
    /// stay small.
    source Sending, each by at_source;
    /// The receiving half of a flow's recovery.
    destination Receiving, each by at_destination;
    /// Resend everything from the first loss.
    go_back_n: GoBackN(GoBackNConfig => Sending, Receiving),
    /// The switch tells the sender of each drop, and the sender resends that packet (BFC's HPCC-PFC).
    perfect: Perfect(PerfectConfig => Sending, Receiving),
    /// Resend what is missing, and nothing else; one BDP is outstanding at most (IRN).
    selective_repeat: SelectiveRepeat(SelectiveRepeatConfig => Box Sending, Receiving),
    /// A timeout alone tells of a loss; what is missing is sent again (pFabric).
    timeout_only: TimeoutOnly(TimeoutOnlyConfig => Box Sending, Receiving),
    /// TCP NewReno's recovery: duplicate ACKs, one lost packet per round trip, a timer.
    fast_retransmit: FastRetransmit(FastRetransmitConfig => Box Sending, Receiving),
    /// The receiver asks for what has not arrived (Homa).
    resend: Resend(ResendConfig => Box Sending, Box Receiving),
    /// The receiver reports the headers of what switches have trimmed (NDP).
    trimmed_headers: TrimmedHeaders(TrimmedHeadersConfig => Box Sending, Receiving),
}

impl RecoveryConfig {
    /// Whether a sender learns of a loss before its timer expires, and tells its controller
    /// ([`LossSignal::FastRetransmit`]).
    pub fn reports_losses(&self) -> bool {
        of_config!(self, parameters => parameters.reports_losses())
    }

    /// Whether flows may share open connections.
    pub fn keeps_connections(&self) -> bool {
        of_config!(self, parameters => parameters.keeps_connections())
    }

    /// Whether switches have to trim.
    pub fn needs_trimming(&self) -> bool {
        of_config!(self, parameters => parameters.needs_trimming())
    }

    /// See [`Parameters::acknowledges_each`].
    pub(crate) fn acknowledges_each(&self) -> bool {
        of_config!(self, parameters => parameters.acknowledges_each())
    }
}

/// The hooks of [`AtSource`].
impl Sending {
    #[inline]
    pub(crate) fn lost_bytes(&self, outstanding: u64) -> u64 {
        at_source!(self, policy => policy.lost_bytes(outstanding))
    }

    #[inline]
    pub(crate) fn departed_bytes(&self) -> u64 {
        at_source!(self, policy => policy.departed_bytes())
    }

    #[inline]
    pub(crate) fn has_room(&self, outstanding: u64, window: u64) -> bool {
        at_source!(self, policy => policy.has_room(outstanding, window))
    }

    #[inline]
    pub(crate) fn end_of_flight(&self, next: u64) -> u64 {
        at_source!(self, policy => policy.end_of_flight(next))
    }

    pub(crate) fn take_lost(&mut self, payload: u32, view: &FlowView) -> Option<(u64, u32)> {
        at_source!(self, policy => policy.take_lost(payload, view))
    }

    #[inline]
    pub(crate) fn on_send(&mut self, now: Time, offset: u64, end: u64) -> bool {
        at_source!(self, policy => policy.on_send(now, offset, end))
    }

    pub(crate) fn on_acknowledgement(
        &mut self,
        now: Time,
        ack: &Acknowledgement,
        view: &mut FlowView,
    ) -> Option<LossSignal> {
        at_source!(self, policy => policy.on_acknowledgement(now, ack, view))
    }

    pub(crate) fn on_switch_drop(&mut self, now: Time, offset: u64, payload: u32) -> bool {
        at_source!(self, policy => policy.on_switch_drop(now, offset, payload))
    }

    pub(crate) fn on_resend(&mut self, range: Range<u64>, next: u64) -> bool {
        at_source!(self, policy => policy.on_resend(range, next))
    }

    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        at_source!(self, policy => policy.deadline())
    }

    pub(crate) fn is_long(&self, silence: Time) -> bool {
        at_source!(self, policy => policy.is_long(silence))
    }

    pub(crate) fn on_deadline(&mut self, now: Time, view: &mut FlowView) -> Option<LossSignal> {
        at_source!(self, policy => policy.on_deadline(now, view))
    }
}

/// The hooks of [`AtDestination`].
impl Receiving {
    #[inline]
    pub(crate) fn on_data(&mut self, now: Time, offset: u64, payload: u32) -> Reply {
        at_destination!(self, policy => policy.on_data(now, offset, payload))
    }

    #[inline]
    pub(crate) fn delivered(&self) -> u64 {
        at_destination!(self, policy => policy.delivered())
    }

    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        at_destination!(self, policy => policy.deadline())
    }

    pub(crate) fn on_deadline(&mut self, now: Time) -> Option<Range<u64>> {
        at_destination!(self, policy => policy.on_deadline(now))
    }

    pub(crate) fn on_grant(&mut self, now: Time, offset: u64) {
        at_destination!(self, policy => policy.on_grant(now, offset))
    }

    pub(crate) fn on_busy(&mut self, now: Time) {
        at_destination!(self, policy => policy.on_busy(now))
    }
}
