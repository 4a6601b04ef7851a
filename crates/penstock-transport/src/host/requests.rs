//! What a host asks of its driver.

use alloc::vec::Vec;

use penstock_units::Time;

/// The purpose of a host's timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Timer {
    /// The retransmission and the controller of the flow with this name, at its source.
    Sender(u32),
    /// The notifications, credits and requests of the flow with this name, at its destination.
    Receiver(u32),
    /// The uplink: a pause that ends by itself is over, or the tokens suffice for the next credit.
    Uplink,
}

/// What a driver is to do for a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Call [`crate::Host::on_timer`] with this timer at this time, or before. A timer that is set for
    /// an earlier time stays as it is. A timer that is set for a later time moves to this time.
    Timer(Timer, Time),
    /// Only in the ns-3 HPCC simulator's fidelity: a flow of this host may send at this time. An alarm
    /// that is set for a later time moves to this time ([`crate::Host::ready_at`]).
    Alarm(Time),
    /// The flow with this name has completed: its source has received the acknowledgement of the last
    /// byte. The driver tells the destination ([`crate::Host::close`]).
    Completed(u32),
    /// The host may have a packet to send: call [`crate::Host::transmit`] as soon as the uplink is free.
    Ready,
    /// The pause of this class, or of [`penstock_packet::ALL_CLASSES`], has ended by itself (FAFC, PFC with
    /// timed pauses): for a list of events.
    Lapsed(u32),
    /// Call [`crate::Host::on_timer`] with this timer now.
    Due(Timer),
}

/// The requests of a host that the driver has not served yet.
#[derive(Debug, Default)]
pub struct Requests {
    waiting: Vec<Request>,
    next: usize,
    is_ready: bool,
    due: Option<Timer>,
}

impl Requests {
    /// Appends a request.
    #[inline]
    pub(super) fn push(&mut self, request: Request) {
        self.waiting.push(request);
    }

    /// The host may have a packet to send.
    #[inline]
    pub(super) fn set_ready(&mut self) {
        self.is_ready = true;
    }

    /// Asks that `timer` be served after everything else, when all packets that can leave have left.
    #[inline]
    pub(super) fn defer(&mut self, timer: Timer) {
        self.due = Some(timer);
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && !self.is_ready && self.due.is_none()
    }

    /// The next request. The driver polls after every call of a host, until there is none. Requests
    /// come in the order in which they were made. Then [`Request::Ready`] comes once, and
    /// [`Request::Due`] comes last.
    #[inline]
    pub fn poll(&mut self) -> Option<Request> {
        if !self.waiting.is_empty() {
            if let Some(&request) = self.waiting.get(self.next) {
                self.next += 1;
                return Some(request);
            }
            self.waiting.clear();
            self.next = 0;
        }
        if core::mem::take(&mut self.is_ready) {
            return Some(Request::Ready);
        }
        self.due.take().map(Request::Due)
    }
}
