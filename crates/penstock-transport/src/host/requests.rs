//! What a host asks of its driver.

use alloc::vec::Vec;

use penstock_units::Time;

/// What a timer of a host is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Timer {
    /// The retransmission and the controller of the flow with this name, at its source.
    Sender(u32),
    /// The notifications, credits and requests of the flow with this name, at its destination.
    Receiver(u32),
    /// The uplink: a pause that ends by itself is over, or the tokens suffice for the next credit.
    Uplink,
}

/// Something that a driver does for a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Call [`crate::Host::on_timer`] with this timer at this time, or before: a timer that is set for an
    /// earlier time stays as it is, and one that is set for a later time moves.
    Timer(Timer, Time),
    /// In the ns-3 HPCC simulator's fidelity: a flow of this host may send at this time; an alarm that is
    /// set for later moves there ([`crate::Host::ready_at`]).
    Alarm(Time),
    /// The flow with this name has completed: its last byte is acknowledged at its source. The driver
    /// tells the destination ([`crate::Host::close`]).
    Completed(u32),
    /// The host may have a packet to send: call [`crate::Host::transmit`] as soon as the uplink is free.
    Ready,
    /// Call [`crate::Host::on_timer`] with this timer now.
    Due(Timer),
}

/// What a host has asked for and the driver has not done yet.
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

    /// `timer` is served after everything else, when what can leave has left.
    #[inline]
    pub(super) fn defer(&mut self, timer: Timer) {
        self.due = Some(timer);
    }

    /// The next request. The driver polls after every call of a host, until there is none. Requests come
    /// in the order in which they were made; [`Request::Ready`] comes behind them, once, and
    /// [`Request::Due`] last.
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
