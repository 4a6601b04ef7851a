//! Signals of the switch to a host: pauses of classes and queues, pauses that end by themselves,
//! credit.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::{ALL_CLASSES, PacketId, PauseClock, Signal};
use penstock_units::{Fidelity, Time};

use super::{Host, Request, Timer, Turn};

/// Pauses of a host's NIC.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct HostPauses {
    /// Paused time, summed over the queues.
    pub queue_clock: PauseClock,
    /// Paused time, summed over the classes. A pause of all data counts as a pause of one class.
    pub class_clock: PauseClock,
    /// Queue pauses that took effect.
    pub queue_pauses: u64,
    /// Class pauses that took effect, and pauses of all data.
    pub class_pauses: u64,
    /// Whether all data are paused for a given time (FAFC).
    is_held: bool,
}

impl Host {
    /// A pause, resume, bitmap or credit has arrived.
    pub(super) fn on_signal(&mut self, turn: &mut Turn<'_>, id: PacketId) {
        let signal = Signal::of(&turn.pool[id]);
        turn.pool.remove(id);
        let Some(signal) = signal else { return };
        let before = (self.nic.paused_queues(), self.nic.paused_classes());
        if let Signal::PauseClass(_) | Signal::PauseClassFor { .. } | Signal::ResumeClass(_) =
            signal
        {
            self.on_class_signal(turn, signal);
            return self.react(turn, signal, before);
        }
        let senders = &mut turn.flows.senders;
        match signal {
            Signal::PauseQueue(label) => self.nic.pause_queue(label),
            Signal::ResumeQueue(label) => self.nic.resume_queue(label, senders),
            Signal::QueueBitmap { epoch, queues } => {
                self.nic.set_paused_queues((epoch, queues), senders);
            }
            Signal::PauseTime(nanoseconds) => {
                self.hold(turn, Time::from_ns(u64::from(nanoseconds)));
            }
            Signal::Credit { account, granted } => {
                if let Some(balance) = &mut self.balance {
                    balance.on_credit(account, granted);
                    self.apply_credit(turn);
                }
            }
            // Switches pause the queues of NICs, not flows.
            _ => {}
        }
        self.react(turn, signal, before);
    }

    /// A pause or resume of a class.
    fn on_class_signal(&mut self, turn: &mut Turn<'_>, signal: Signal) {
        let class = signal.subject() as u8;
        self.class_ends.clear(class);
        if let Signal::PauseClassFor { nanoseconds, .. } = signal {
            let end = turn.now.saturating_add(Time::from_ns(u64::from(nanoseconds)));
            self.class_ends.set(class, end);
            turn.requests.push(Request::Timer(Timer::Uplink, end));
        }
        match signal.is_pause() {
            true => self.nic.pause_class(class),
            false => self.nic.resume_class(class),
        }
    }

    /// Counts what `signal` has changed since `before`, and sends what it lets leave.
    fn react(&mut self, turn: &mut Turn<'_>, signal: Signal, before: (u128, u32)) {
        self.count_pauses(turn.now, before);
        if self.fidelity == Fidelity::Exact || !signal.is_pause() {
            turn.requests.set_ready();
        }
    }

    /// A pause of a queue has ended without a signal.
    #[cold]
    pub(super) fn note_pause_end(&mut self, now: Time) {
        self.count_pauses(now, (u128::MAX, u32::MAX));
    }

    /// Counts the pauses that have begun since `before`, the paused queues and classes of the NIC at
    /// that time.
    fn count_pauses(&mut self, now: Time, before: (u128, u32)) {
        let (queues, classes) = (self.nic.paused_queues(), self.nic.paused_classes());
        let pauses = self.pauses.get_or_insert_default();
        pauses.queue_pauses += u64::from((queues & !before.0).count_ones());
        pauses.class_pauses += u64::from((classes & !before.1).count_ones());
        pauses.queue_clock.set(now, queues.count_ones());
        pauses.class_clock.set(now, classes.count_ones().max(u32::from(pauses.is_held)));
    }

    /// The switch pauses the host for `span`, beyond earlier pauses. The host's flows also cut their
    /// rates by the share of T_hop that `span` takes (FAFC: C. Lu et al., Algorithm 3).
    fn hold(&mut self, turn: &mut Turn<'_>, span: Time) {
        let pauses = self.pauses.get_or_insert_default();
        pauses.class_pauses += u64::from(!pauses.is_held);
        pauses.is_held = true;
        self.held_until = self.held_until.max(turn.now) + span;
        turn.requests.push(Request::Timer(Timer::Uplink, self.held_until));
        let kept = (1.0 - span.as_ns_f64() / self.hop_delay.as_ns_f64()).max(0.0);
        for place in 0..self.open.len() {
            let slot = self.open[place];
            turn.flows.senders[slot as usize].on_timed_pause(turn.now, kept);
            self.refresh(turn, slot);
        }
    }

    /// The timer of the uplink is due. Either a pause that ends by itself is over, unless another one
    /// has begun, or the tokens suffice for the next credit.
    pub(super) fn on_uplink_timer(&mut self, turn: &mut Turn<'_>) {
        let before = (self.nic.paused_queues(), self.nic.paused_classes());
        while let Some(class) = self.class_ends.lapsed(turn.now) {
            self.class_ends.clear(class);
            self.nic.resume_class(class);
            turn.requests.push(Request::Lapsed(class.into()));
        }
        let held = self.held_until > turn.now;
        let held_until = if held { self.held_until } else { Time::NEVER };
        let next = self.class_ends.next().min(held_until);
        if next != Time::NEVER {
            turn.requests.push(Request::Timer(Timer::Uplink, next));
        }
        let pauses = self.pauses.get_or_insert_default();
        if pauses.is_held && !held {
            pauses.is_held = false;
            turn.requests.push(Request::Lapsed(ALL_CLASSES));
        }
        self.count_pauses(turn.now, before);
        if !held {
            turn.requests.set_ready();
        }
    }

    /// Pays the credit for packet `id`, which leaves now (BFC with credits).
    #[inline]
    pub(super) fn pay(&mut self, turn: &mut Turn<'_>, id: PacketId) {
        if let Some(balance) = &mut self.balance {
            balance.pay(&mut turn.pool[id]);
            self.apply_credit(turn);
        }
    }

    /// Tells the NIC which of its queues have run out of credit or have got some again.
    fn apply_credit(&mut self, turn: &mut Turn<'_>) {
        let Some(balance) = &mut self.balance else { return };
        while let Some((queue, is_dry)) = balance.take_change() {
            self.nic.set_queue_dry(queue, is_dry, &mut turn.flows.senders);
        }
    }
}
