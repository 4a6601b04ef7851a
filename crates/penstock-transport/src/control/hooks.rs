//! What a host asks of a controller: of its parameters, and of its state at both ends of a flow.
//!
//! Each hook has a default, which does nothing or says that nothing is needed. A controller writes only
//! the hooks for which it has something to do.

use penstock_units::random::Pcg32;
use penstock_units::{BitRate, Problems, Time};

use crate::credit::{Credit, CreditSignal};
use crate::ends::Silent;
use crate::flow::{FlowView, LossSignal, SizeShare};
use crate::notification::Notification;
use crate::path::{Acknowledgement, PathFacts};
use crate::planner::Planner;

/// What the rest of a host and the switches must know of a controller's parameters.
pub(crate) trait Parameters {
    /// Compares the fields with each other. Each field has already been checked against its declared
    /// bounds.
    fn check(&self, _problems: &mut Problems) {}

    /// Whether the controller needs per-hop telemetry in its acknowledgements.
    fn uses_telemetry(&self) -> bool {
        false
    }

    /// Whether the controller reacts to the congestion marks of data packets.
    fn uses_marks(&self) -> bool {
        false
    }

    /// Whether the controller reacts to the feedback of switches.
    fn uses_feedback(&self) -> bool {
        false
    }

    /// Whether data packets and acknowledgements carry a timestamp for the controller.
    fn uses_timestamp(&self) -> bool {
        false
    }

    /// Whether the controller has no other sign of congestion than the losses that recovery reports
    /// before a timeout ([`LossSignal::FastRetransmit`]).
    fn needs_losses(&self) -> bool {
        false
    }

    /// Whether the flows of an open connection go on with what the flow before has learnt
    /// ([`AtSource::on_next_flow`]).
    fn keeps_connections(&self) -> bool {
        false
    }

    /// Whether every data packet needs an acknowledgement of its own.
    fn acknowledges_each(&self) -> bool {
        true
    }

    /// Whether [`Parameters::follow_sizes`] changes anything.
    fn follows_sizes(&self) -> bool {
        false
    }

    /// Fills in the parameters that are left open, by the sizes of the expected flows. The network has
    /// the longest path `path`, and its switches have `levels` priority levels, at least 2.
    fn follow_sizes(&mut self, _sizes: &[SizeShare], _path: &PathFacts, _levels: u32) {}

    /// What the receivers of a host plan together, where they do. The uplink of the host has this `rate`.
    fn planner(&self, _path: &PathFacts, _rate: BitRate) -> Option<Planner> {
        None
    }

    /// Bytes of a flow that its receiver expects without having granted them. Without grants, all bytes
    /// of the flow.
    fn unscheduled_bytes(&self, _path: &PathFacts) -> u64 {
        u64::MAX
    }
}

/// The controller's half at the sender.
pub(crate) trait AtSource {
    /// How many bytes may be in flight (bytes), >= 1. `u64::MAX` means no limit. 0 means that nothing
    /// leaves without a credit.
    #[inline]
    fn window(&self) -> u64 {
        u64::MAX
    }

    /// The rate at which the flow's packets are paced (bit/s). `None` means the line rate, which needs
    /// no pacing because the NIC sends no faster.
    #[inline]
    fn rate(&self) -> Option<BitRate> {
        None
    }

    /// Whether a change of the rate moves the gap after the last packet also in the ns-3 HPCC
    /// simulator. With exact fidelity every change moves the gap.
    #[inline]
    fn moves_pending_gap_in_ns3(&self) -> bool {
        false
    }

    /// Whether the last acknowledgement set the rate in a way that moves the pending gap in the ns-3
    /// HPCC simulator, even if the rate stayed the same.
    #[inline]
    fn has_moved_gap(&self) -> bool {
        false
    }

    /// An acknowledgement, positive or negative, arrived at `now`. It is not the one that completes the
    /// flow, except under the fidelity of the ns-3 HPCC simulator.
    #[inline]
    fn on_acknowledgement(&mut self, _now: Time, _ack: &Acknowledgement, _view: &FlowView) {}

    /// A congestion notification of the receiver arrived at `now`.
    fn on_notification(&mut self, _now: Time, _notification: Notification) {}

    /// The feedback of a switch, 1 to 63, arrived at `now`.
    fn on_feedback(&mut self, _now: Time, _feedback: u8) {}

    /// The receiver grants the bytes before `offset`, at `level` if the receiver names one.
    fn on_grant(&mut self, _offset: u64, _level: Option<u8>) {}

    /// The priority level of a packet that begins at `offset`; 0, the highest, where there are none.
    #[inline]
    fn level(&self, _offset: u64) -> u8 {
        0
    }

    /// Whether the next packet is the first of a pair, where there are pairs.
    #[inline]
    fn opens_pair(&self) -> bool {
        false
    }

    /// A packet of `wire_bytes` (bytes, header included) leaves at `now`.
    #[inline]
    fn on_send(&mut self, _now: Time, _wire_bytes: u32) {}

    /// A credit of the receiver arrived at `now`. The credit pays for one packet, and `packets` are
    /// left after it.
    fn on_credit(&mut self, _now: Time, _packets: u64) {}

    /// Whether the sender has something to tell the receiver about credits.
    #[inline]
    fn has_credit_signal(&self) -> bool {
        false
    }

    /// What the sender tells the receiver at `now` about credits, with `packets` packets left.
    fn take_credit_signal(&mut self, _now: Time, _packets: u64) -> Option<CreditSignal> {
        None
    }

    /// When the next timer is due (ps); [`Time::NEVER`] when none runs. An acknowledgement or a
    /// packet that leaves may move it either way.
    #[inline]
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// Serves the timers that are due by `now`.
    fn on_deadline(&mut self, _now: Time) {}

    /// The sender hears at `now` that a switch dropped a packet of the flow.
    fn on_switch_drop(&mut self, _now: Time) {}

    /// A timed pause of the host at `now`: the rate is multiplied by `kept`, 0 to 1 (FAFC, Algorithm 3),
    /// but not below the minimum rate. Only the controllers with which FAFC is evaluated react (DCTCP,
    /// both forms of DCQCN, HPCC and TIMELY), and those of a Python class; the others ignore the pause.
    fn on_timed_pause(&mut self, _now: Time, _kept: f64) {}

    /// The next flow of an open connection begins, with what this one has learnt. `is_late` says that
    /// nothing was sent for longer than the retransmission timeout.
    fn on_next_flow(&mut self, _is_late: bool) {}

    /// Recovery reports a loss, or the end of a recovery. By default the controller changes nothing, as
    /// RDMA NICs do.
    #[inline]
    fn on_loss(&mut self, _now: Time, _signal: LossSignal) {}
}

/// The controller's half at the receiver.
pub(crate) trait AtDestination {
    /// A data packet of `wire_bytes` (bytes, headers included) arrived at `now`, with or without a
    /// congestion mark. Answers the notification for its source, if one is due.
    #[inline]
    fn on_data(&mut self, _now: Time, _wire_bytes: u32, _is_marked: bool) -> Option<Notification> {
        None
    }

    /// A data packet with `payload` bytes from `offset` on arrived at `now`; `opens_pair` tells whether
    /// the packet is the first of a pair. Answers the time from the first packet of a pair to the
    /// second one, when this packet is the second (ps); zero otherwise.
    #[inline]
    fn pair_gap(&mut self, _now: Time, _offset: u64, _payload: u32, _opens_pair: bool) -> Time {
        Time::ZERO
    }

    /// When a notification or a credit is due without a packet (ps); [`Time::NEVER`] when none is.
    #[inline]
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// The notification that is due at `now` without a packet, if there is one.
    fn on_deadline(&mut self, _now: Time) -> Option<Notification> {
        None
    }

    /// The source asks for credits, or stops asking, at `now`.
    fn on_credit_signal(&mut self, _now: Time, _signal: CreditSignal) {}

    /// The credit that is due at `now`, if there is one. Draws the credit's size and the gap to the
    /// next credit.
    fn take_credit(&mut self, _now: Time, _rng: &mut Pcg32) -> Option<Credit> {
        None
    }

    /// Data arrived at `now`, paid for by credit `number`, which had left `elapsed` before.
    fn on_credited_data(&mut self, _now: Time, _number: u16, _elapsed: Time) {}

    /// A packet arrived, whole, or without `trimmed` bytes of payload (bytes, 0 for a whole packet). Answers
    /// whether the flow has a PULL to send now, and had none before.
    fn asks_for_pull(&mut self, _trimmed: u32) -> bool {
        false
    }

    /// A PULL leaves. Answers how many bytes the sender may send in all (bytes), and whether another PULL
    /// waits.
    fn take_pull(&mut self) -> (u64, bool) {
        (0, false)
    }
}

impl AtDestination for Silent {}
