//! One flow at its source: what the flow sends next and when.
//!
//! Rules (the NIC model of alibaba-edu/High-Precision-Congestion-Control):
//! - A flow is blocked when the bytes in flight have reached its window. The sender compares them
//!   before it sends a packet, so a flow may exceed its window by less than one packet. Bytes that
//!   recovery knows to have left the network are not in flight.
//! - A paced flow waits after each packet for the packet's wire time at the flow's rate. When the rate
//!   changes, the end of the pending gap moves by the difference of the two gaps. Otherwise a slow flow
//!   would sleep through its own acceleration. We do so for every paced controller. The simulator named
//!   above does so for HPCC only, and so do we under its fidelity.
//! - Every packet but the last is full. The last one has at least one byte.
//!
//! - A flow may be one of several on an open connection ([`Sender::follow`]). Recovery and control then know
//!   the bytes of the connection, and begin where the flow before has left them. Callers know the bytes of
//!   the flow, from 0 on.
//!
//! Invariant: base <= acknowledged + lost <= next <= size, all in bytes.

use core::ops::Range;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::{BitRate, Bytes, Fidelity, Time};

use crate::config::HostConfig;
use crate::control::Controller;
use crate::credit::CreditSignal;
use crate::flow::{FlowFacts, FlowView};
use crate::nic::seat::Seat;
use crate::notification::Notification;
use crate::path::{Acknowledgement, PathFacts};
use crate::recovery::Sending;

/// Whether a flow can send a packet now, and if not, what it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// The flow can send now.
    Ready,
    /// The flow is paced and can send at this time.
    At(Time),
    /// The window is full: the flow waits for an acknowledgement.
    Blocked,
    /// Everything is sent: the flow waits for acknowledgements, or is complete.
    Idle,
}

/// The bytes of a flow that one packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Position of the first byte in the flow (bytes).
    pub offset: u64,
    /// Number of bytes (bytes), from 1 to the payload of a full packet.
    pub payload: u32,
    /// Bytes of the flow from `offset` on (bytes); SRF switches rank packets by this number.
    pub remaining: u64,
    /// Whether these bytes were sent before.
    pub is_retransmission: bool,
    /// Whether the packet is the first of a pair (packet-pair flow control).
    pub opens_pair: bool,
    /// Priority level of the packet, 0 the highest (Homa); 0 where there are no levels.
    pub level: u8,
}

/// What a sender does with a credit (ExpressPass).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreditUse {
    /// The sender sends these bytes at once.
    Sends(Segment),
    /// The sender has nothing to send.
    Wasted,
    /// The credit acknowledges the last bytes of the flow: the flow is complete.
    Completes,
}

/// The sending end of a flow.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub struct Sender {
    /// Bytes of the flows that went before on the same connection.
    base: u64,
    /// The end of the flow, and what has been sent and acknowledged, counted from the first byte of the
    /// connection.
    size: u64,
    next: u64,
    acknowledged: u64,
    next_available: Time,
    last_sent_at: Time,
    last_wire_bytes: u32,
    payload: u32,
    overhead: u32,
    retransmitted_packets: u32,
    timeouts: u32,
    queue: u16,
    fidelity: Fidelity,
    /// Whether another flow may take over what the controller has learnt.
    is_on_connection: bool,
    /// The rate from which `next_available` was computed.
    rate: Option<BitRate>,
    /// When the flow stops; [`Time::NEVER`] when it goes on to its last byte.
    stop: Time,
    recovery: Sending,
    controller: Controller,
    /// Where the flow stands at its NIC. Only the NIC changes the seat.
    pub(crate) seat: Seat,
}

impl Sender {
    /// A flow of `size` bytes, 0 for an endless one, that may start at `now`. Its number is 0.
    pub fn new(size: u64, config: &HostConfig, path: &PathFacts, now: Time) -> Self {
        Self::of(&config.flow(size, path), config, now)
    }

    /// The flow `flow`, which may start at `now`.
    pub(crate) fn of(flow: &FlowFacts<'_>, config: &HostConfig, now: Time) -> Self {
        let path = flow.path;
        let controller = Controller::new(&config.controller, flow);
        Sender {
            base: 0,
            size: flow.size,
            next: 0,
            acknowledged: 0,
            next_available: now,
            last_sent_at: now,
            last_wire_bytes: 0,
            payload: path.payload,
            overhead: path.data_overhead,
            retransmitted_packets: 0,
            timeouts: 0,
            queue: 0,
            fidelity: path.fidelity,
            is_on_connection: false,
            rate: controller.rate(),
            stop: Time::NEVER,
            recovery: Sending::new(&config.recovery, flow),
            controller,
            seat: Seat::default(),
        }
    }

    /// The flow stops at `time`: what it has sent by then, a packet at least, is all of it. To be called
    /// before the first packet.
    pub fn stop_at(&mut self, time: Time) {
        self.stop = time;
    }

    /// The flow is one of several on a connection, one after the other. To be called before the first
    /// packet. The size of the flow must be known.
    pub fn join_connection(&mut self) {
        debug_assert!(self.size < u64::MAX, "nothing follows an endless flow");
        self.is_on_connection = true;
    }

    /// The flow follows the complete flow `last` on their connection, at `now`. Recovery and control go on
    /// with what they know of the path; `last` is of no use any more. A flow that comes after a timeout
    /// without packets begins with a window no larger than that of a new connection (RFC 5681 Sec. 4.1).
    pub fn follow(&mut self, last: &mut Sender, now: Time) {
        debug_assert!(last.is_complete() && self.next == self.base, "one flow after the other");
        core::mem::swap(&mut self.recovery, &mut last.recovery);
        core::mem::swap(&mut self.controller, &mut last.controller);
        self.base = last.size;
        self.size += self.base;
        (self.next, self.acknowledged) = (self.base, self.base);
        self.last_sent_at = last.last_sent_at;
        self.last_wire_bytes = last.last_wire_bytes;
        let silence = now.saturating_sub(last.last_sent_at);
        self.controller.on_next_flow(self.recovery.is_long(silence));
        self.rate = self.controller.rate();
        self.next_available = now.max(last.next_available);
    }

    /// Whether the flow can send a packet at `now`.
    #[inline(always)] // each data packet asks twice, each answer once
    pub fn readiness(&self, now: Time) -> Readiness {
        if self.remaining_unsent() == 0 {
            Readiness::Idle
        } else if !self.recovery.has_room(self.outstanding(), self.controller.window()) {
            Readiness::Blocked
        } else if self.next_available > now {
            Readiness::At(self.next_available)
        } else {
            Readiness::Ready
        }
    }

    /// The next packet, which leaves at `now`. To be called only when [`Sender::readiness`] is
    /// [`Readiness::Ready`].
    pub fn send(&mut self, now: Time) -> Segment {
        debug_assert_eq!(self.readiness(now), Readiness::Ready);
        let segment = self.next_segment(now);
        self.retransmitted_packets += u32::from(segment.is_retransmission);
        self.last_sent_at = now;
        self.last_wire_bytes = segment.payload + self.overhead;
        self.controller.on_send(now, self.last_wire_bytes);
        self.rate = self.controller.rate();
        self.next_available = now.saturating_add(self.gap());
        segment
    }

    /// An acknowledgement, positive or negative, arrived at `now`. Answers whether the flow is now
    /// complete. A sender that was blocked or paced may be ready afterwards.
    ///
    /// The controller does not hear of the acknowledgement that completes the flow, because nobody asks
    /// it again. Under the fidelity of the ns-3 HPCC simulator it does: there it sets the alarm of the host.
    /// On a connection it does, too, for the flows that follow.
    pub fn on_acknowledgement(&mut self, now: Time, ack: &Acknowledgement) -> bool {
        let of_connection;
        let ack = match self.base {
            0 => ack,
            base => {
                let (cumulative, received) = (base + ack.cumulative, base + ack.received);
                of_connection = Acknowledgement { cumulative, received, ..*ack };
                &of_connection
            }
        };
        let before = self.acknowledged;
        self.acknowledged = before.max(ack.cumulative.min(self.size));
        self.next = self.next.max(self.acknowledged);
        let mut view = self.view(self.acknowledged - before);
        let loss = self.recovery.on_acknowledgement(now, ack, &mut view);
        self.next = view.next;
        if self.is_complete() && self.fidelity == Fidelity::Exact && !self.is_on_connection {
            return true;
        }
        view.next = self.recovery.end_of_flight(view.next);
        self.controller.on_acknowledgement(now, ack, &view);
        if let Some(signal) = loss {
            self.controller.on_loss(now, signal);
        }
        self.follow_rate();
        self.is_complete()
    }

    /// A credit of the receiver arrived at `now`. The credit acknowledges the bytes before `cumulative`
    /// (ExpressPass).
    pub fn on_credit(&mut self, now: Time, cumulative: u64) -> CreditUse {
        if self.on_acknowledgement(now, &Acknowledgement::plain(cumulative)) {
            return CreditUse::Completes;
        }
        let segment = (self.remaining_unsent() > 0).then(|| self.next_segment(now));
        self.controller.on_credit(now, self.packets_left());
        let Some(segment) = segment else { return CreditUse::Wasted };
        self.retransmitted_packets += u32::from(segment.is_retransmission);
        CreditUse::Sends(segment)
    }

    /// What the sender tells the receiver at `now` about the credits that the flow needs (ExpressPass).
    #[inline]
    pub fn take_credit_signal(&mut self, now: Time) -> Option<CreditSignal> {
        if !self.controller.has_credit_signal() {
            return None;
        }
        self.controller.take_credit_signal(now, self.packets_left())
    }

    /// Whether the sender has something to tell the receiver about credits (ExpressPass).
    #[inline]
    pub fn has_credit_signal(&self) -> bool {
        self.controller.has_credit_signal()
    }

    /// Packets that are still to be sent.
    fn packets_left(&self) -> u64 {
        self.remaining_unsent().div_ceil(u64::from(self.payload))
    }

    /// A congestion notification of the receiver arrived at `now`.
    pub fn on_notification(&mut self, now: Time, notification: Notification) {
        self.controller.on_notification(now, notification);
        self.follow_rate();
    }

    /// The congestion feedback of a switch, 1 to 63, arrived at `now` (QCN).
    pub fn on_feedback(&mut self, now: Time, feedback: u8) {
        self.controller.on_feedback(now, feedback);
        self.follow_rate();
    }

    /// The first switch pauses the host at `now` for a part of T_hop; the share `kept` of T_hop, 0 to 1,
    /// is left (FAFC, Algorithm 3).
    pub fn on_timed_pause(&mut self, now: Time, kept: f64) {
        self.controller.on_timed_pause(now, kept);
        self.follow_rate();
    }

    /// The sender learns at `now` that the packet with `payload` bytes from `offset` on was dropped or
    /// trimmed. Recoveries that know such reports send those bytes again before any new ones; the others
    /// ignore the report.
    pub fn on_switch_drop(&mut self, now: Time, offset: u64, payload: u32) {
        if self.recovery.on_switch_drop(now, self.base + offset, payload) {
            self.controller.on_switch_drop(now);
            self.follow_rate();
        }
    }

    /// The receiver grants the bytes before `offset`, at priority `level` (Homa).
    pub fn on_grant(&mut self, offset: u64, level: u8) {
        debug_assert_eq!(self.base, 0, "receivers that grant know no connections");
        self.controller.on_grant(offset, Some(level));
    }

    /// The receiver has waited too long for `range` and asks for these bytes again (Homa). Answers
    /// whether the sender must reply that the bytes have not been sent yet (BUSY).
    pub fn on_resend(&mut self, range: Range<u64>) -> bool {
        self.controller.on_grant(range.end, None);
        self.recovery.on_resend(range, self.next)
    }

    /// When the first timer is due, that of retransmission, that of the controller, or the end of a flow
    /// that stops; [`Time::NEVER`] when none runs. Every call that takes `now` may move the deadline, later
    /// or earlier. A driver may keep an event for an earlier time, call [`Sender::on_deadline`] then, and
    /// ask for the deadline again.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.recovery.deadline().min(self.controller.deadline()).min(self.stop)
    }

    /// Serves the timers that are due by `now`. Afterwards the flow may be ready, or may be ready no
    /// more. Answers whether the retransmission timer has expired. If so, the sender sends again what
    /// recovery takes for lost.
    pub fn on_deadline(&mut self, now: Time) -> bool {
        if now >= self.stop {
            self.stop = Time::NEVER;
            self.size = self.next.max(u64::from(self.payload)).min(self.size);
        }
        self.controller.on_deadline(now);
        let mut view = self.view(0);
        let loss = self.recovery.on_deadline(now, &mut view);
        if let Some(signal) = loss {
            self.next = view.next;
            self.timeouts += 1;
            self.controller.on_loss(now, signal);
        }
        self.follow_rate();
        loss.is_some()
    }

    /// When the pacing gap after the last packet ends (ps).
    #[inline]
    pub fn next_available(&self) -> Time {
        self.next_available
    }

    /// Whether the last acknowledgement moves the pacing gap in the ns-3 HPCC simulator.
    #[inline]
    pub fn has_moved_gap(&self) -> bool {
        self.controller.has_moved_gap()
    }

    /// Whether the last byte is acknowledged.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.acknowledged >= self.size
    }

    /// Bytes of the flow (bytes); `u64::MAX` when it is endless and has not stopped.
    #[inline]
    pub fn size(&self) -> u64 {
        self.size - self.base
    }

    /// The first byte that is sent next (bytes). Retransmissions of single packets do not change this
    /// number.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next - self.base
    }

    /// Bytes that the receiver is known to have (bytes).
    #[inline]
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged - self.base
    }

    /// Bytes that are sent, not acknowledged, and not known to have left the network (bytes).
    #[inline]
    pub fn in_flight(&self) -> u64 {
        self.outstanding().saturating_sub(self.recovery.departed_bytes())
    }

    /// Bytes that are still to be sent, the lost ones included (bytes); an SRF NIC ranks flows by this
    /// number.
    #[inline]
    pub fn remaining_unsent(&self) -> u64 {
        self.size - self.next + self.recovery.lost_bytes(self.outstanding())
    }

    /// The controller's window (bytes); `u64::MAX` when there is none.
    #[inline]
    pub fn window(&self) -> u64 {
        self.controller.window()
    }

    /// The rate at which the flow is paced (bit/s); `None` when the flow is not paced.
    #[inline]
    pub fn rate(&self) -> Option<BitRate> {
        self.rate
    }

    /// The NIC queue of the flow, from 1 to the number of queues less one; 0 without NIC queues. The
    /// flow's packets carry this number to the first switch.
    #[inline]
    pub fn queue(&self) -> u16 {
        self.queue
    }

    /// Packets that were sent again (packets).
    #[inline]
    pub fn retransmitted_packets(&self) -> u32 {
        self.retransmitted_packets
    }

    /// How often the retransmission timer expired.
    #[inline]
    pub fn timeouts(&self) -> u32 {
        self.timeouts
    }

    /// Gives the flow its NIC queue.
    pub(crate) fn set_queue(&mut self, queue: u16) {
        self.queue = queue;
    }

    /// Bytes that are sent and not acknowledged.
    #[inline]
    fn outstanding(&self) -> u64 {
        self.next - self.acknowledged
    }

    /// The state of the flow after an acknowledgement of `newly_acknowledged` bytes.
    #[inline]
    fn view(&self, newly_acknowledged: u64) -> FlowView {
        FlowView { acknowledged: self.acknowledged, next: self.next, newly_acknowledged }
    }

    /// Chooses the bytes of the next packet and counts them as sent.
    fn next_segment(&mut self, now: Time) -> Segment {
        let lost = self.recovery.take_lost(self.payload, &self.view(0));
        let (offset, payload) = lost.unwrap_or_else(|| {
            let payload = (self.size - self.next).min(u64::from(self.payload)) as u32;
            (self.next, payload)
        });
        let end = offset + u64::from(payload);
        self.next = self.next.max(end);
        let was_sent = self.recovery.on_send(now, offset, end);
        let is_retransmission = lost.is_some() || was_sent;
        let opens_pair = self.controller.opens_pair();
        let remaining = self.size - offset;
        let level = if lost.is_some() { 0 } else { self.controller.level(offset) };
        let offset = offset - self.base;
        Segment { offset, payload, remaining, is_retransmission, opens_pair, level }
    }

    /// Moves the end of the pending gap when the controller has changed the rate: the gap becomes the
    /// last packet's wire time at the new rate.
    fn follow_rate(&mut self) {
        let rate = self.controller.rate();
        if rate != self.rate {
            self.rate = rate;
            let is_exact = self.fidelity == Fidelity::Exact;
            if is_exact || self.controller.moves_pending_gap_in_ns3() {
                self.next_available = self.last_sent_at.saturating_add(self.gap());
            }
        }
    }

    /// The wire time of the last packet at the flow's rate; zero when the flow is not paced.
    #[inline]
    fn gap(&self) -> Time {
        let wire = Bytes::new(u64::from(self.last_wire_bytes));
        self.rate.map_or(Time::ZERO, |rate| rate.serialization_time(wire, self.fidelity))
    }
}
