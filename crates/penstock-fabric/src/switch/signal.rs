//! What a switch does with the pauses, resumes, bitmaps and credits of its neighbours, and which frames
//! it repeats to them from time to time.

use alloc::vec::Vec;

use penstock_packet::epochs::label;
use penstock_packet::{
    Balance, ControlFrame, Moment, Observer, PacketEvent, PacketId, PacketPool, Signal,
};
use penstock_units::Time;

use super::Switch;
use crate::backpressure::policy::Policy as _;
use crate::backpressure::{self, Backpressure};
use crate::marking::policy::Policy as _;
use crate::marking::{self, Marking};

impl Switch {
    /// A pause, a resume, a bitmap or a credit has arrived from the neighbour behind `port`.
    pub(crate) fn on_signal<O: Observer>(
        &mut self,
        moment: &mut Moment<'_, O>,
        port: u16,
        signal: Signal,
        id: PacketId,
    ) {
        let now = moment.now;
        match signal {
            Signal::PauseClass(class) => {
                self.ports[usize::from(port)].set_class_paused(now, class, true, moment.pool);
            }
            Signal::PauseClassFor { class, nanoseconds } => {
                let end = now.saturating_add(Time::from_ns(u64::from(nanoseconds)));
                self.ports[usize::from(port)].set_class_paused_until(now, class, end, moment.pool);
            }
            Signal::ResumeClass(class) => self.resume_class(now, moment.pool, port, class),
            Signal::PauseQueue(label) => {
                self.ports[usize::from(port)].revoke(label, moment.pool);
                self.set_queue_paused(moment, port, label, true);
            }
            Signal::ResumeQueue(label) => {
                self.set_queue_paused(moment, port, label, false);
            }
            Signal::PauseFlow(_) | Signal::ResumeFlow(_) => {
                self.tell_policy(moment, port, signal);
                self.follow_policy(moment, port);
            }
            Signal::QueueBitmap { epoch, queues } => {
                return self.on_bitmap(moment, port, (epoch, queues), id);
            }
            Signal::PauseTime(nanoseconds) => {
                let hold = Time::from_ns(u64::from(nanoseconds));
                self.ports[usize::from(port)].hold(now, hold);
            }
            Signal::Credit { .. } => return self.tell_policy(moment, port, signal),
        }
        self.observe_signal(moment, port, signal.is_pause(), id);
    }

    /// Resumes a class at `port`, and tells marking which bytes waited.
    fn resume_class(&mut self, now: Time, pool: &PacketPool, port: u16, class: u8) {
        if self.ports[usize::from(port)].set_class_paused(now, class, false, pool) {
            self.tell_marking(port, 1 << class);
        }
    }

    /// The timed pause of all data of `port` may be over, which is due at [`Port::held_until`]. Then marking
    /// is told which bytes waited. Answers whether it is over.
    pub(crate) fn release(&mut self, now: Time, port: u16) -> bool {
        let has_ended = self.ports[usize::from(port)].release(now);
        if has_ended {
            let is_open = |class: &u8| !self.port(port).is_class_paused(*class);
            let resumed = (0..8).filter(is_open).map(|class| 1 << class).sum();
            self.tell_marking(port, resumed);
        }
        has_ended
    }

    /// Tells marking what waits in the queues of `port` whose classes have a bit in `resumed`.
    fn tell_marking(&mut self, port: u16, resumed: u8) {
        for (number, queue) in (0..).zip(self.ports[usize::from(port)].queues()) {
            if resumed & (1 << queue.class) != 0 {
                let waited = queue.packets.bytes();
                marking::dispatch!(
                    &mut self.marking,
                    policy => policy.on_resume(port, number, waited)
                );
            }
        }
    }

    /// Resumes the classes of `port` whose pauses had an end that has come. Answers the first of them,
    /// until there are none.
    pub(crate) fn lapse(&mut self, now: Time, pool: &PacketPool, port: u16) -> Option<u8> {
        let class = self.port(port).lapsed_class(now)?;
        self.resume_class(now, pool, port, class);
        Some(class)
    }

    /// Pauses or resumes the queue with this label at `port`, and tells marking which bytes waited. Answers
    /// whether anything changed.
    fn set_queue_paused<O: Observer>(
        &mut self,
        moment: &Moment<'_, O>,
        port: u16,
        label: u16,
        is_paused: bool,
    ) -> bool {
        let egress = &mut self.ports[usize::from(port)];
        if is_paused {
            egress.prepare(&self.classes);
        }
        let has_changed = egress.set_queue_paused(moment.now, label, is_paused, moment.pool);
        if has_changed && !is_paused {
            let queue = egress.named(label);
            let waited = egress.queues()[usize::from(queue)].packets.bytes();
            marking::dispatch!(
                &mut self.marking,
                policy => policy.on_resume(port, queue, waited)
            );
        }
        has_changed
    }

    /// Hands the signal of the neighbour behind `port` to the backpressure.
    fn tell_policy<O: Observer>(&mut self, moment: &Moment<'_, O>, port: u16, signal: Signal) {
        let egress = &mut self.ports[usize::from(port)];
        egress.prepare(&self.classes);
        backpressure::dispatch!(
            &mut self.backpressure,
            policy => policy.on_signal(port, egress, signal, moment.pool)
        );
    }

    /// Pauses and resumes the queues of `port` as the backpressure decides, if the backpressure decides
    /// about queues.
    fn follow_policy<O: Observer>(&mut self, moment: &Moment<'_, O>, port: u16) {
        for queue in 1..self.port(port).queues().len() as u16 {
            let (at, egress) = ((port, queue), self.port(port));
            let held = backpressure::dispatch!(
                &self.backpressure,
                policy => policy.holds(at, egress, moment.pool)
            );
            let Some(is_paused) = held else { return };
            self.set_queue_paused(moment, port, queue, is_paused);
        }
    }

    /// Corrects the pauses that lost frames have left wrong. Only queues that change are observed.
    fn on_bitmap<O: Observer>(
        &mut self,
        moment: &mut Moment<'_, O>,
        port: u16,
        (epoch, queues): (u8, u128),
        id: PacketId,
    ) {
        for queue in 1..self.queue_count(port).min(128) as u16 {
            let is_paused = queues & (1 << queue) != 0;
            let label = label(queue, epoch);
            if self.set_queue_paused(moment, port, label, is_paused) {
                moment.pool[id].upstream_queue = label;
                self.observe_signal(moment, port, is_paused, id);
            }
        }
    }

    fn observe_signal<O: Observer>(
        &self,
        moment: &mut Moment<'_, O>,
        port: u16,
        is_pause: bool,
        id: PacketId,
    ) {
        if O::IS_WATCHING {
            let frame = &mut moment.pool[id];
            frame.ingress = port;
            frame.queue = frame.upstream_queue;
            let event =
                if is_pause { PacketEvent::PauseReceived } else { PacketEvent::ResumeReceived };
            self.observe(moment, event, id, port);
        }
    }

    /// The flow of packet `id` has got an empty queue at `port` whose pause does not hold the flow at
    /// once, or the flow has used up that grace. An observer sees the first case as a resume and the
    /// second as a pause.
    pub(super) fn observe_grace<O: Observer>(
        &self,
        moment: &mut Moment<'_, O>,
        event: PacketEvent,
        id: PacketId,
        port: u16,
    ) {
        let ingress = core::mem::replace(&mut moment.pool[id].ingress, port);
        self.observe(moment, event, id, port);
        moment.pool[id].ingress = ingress;
    }

    /// The link behind `port` has failed. Everything that its far end has paused here resumes.
    pub(crate) fn forget_pauses<O: Observer>(&mut self, moment: &Moment<'_, O>, port: u16) {
        for queue in 1..self.port(port).queues().len() as u16 {
            let label = self.port(port).label(queue);
            self.set_queue_paused(moment, port, label, false);
        }
        self.ports[usize::from(port)].forget_epochs();
        for class in 0..8 {
            self.resume_class(moment.now, moment.pool, port, class);
        }
        self.ports[usize::from(port)].forget_holds(moment.now);
        self.release(moment.now, port);
    }

    /// The frames that ask the neighbour behind `port` for all pauses that should be in place. After an
    /// outage of the link the neighbour knows of none.
    pub fn standing_pauses(&self, port: u16) -> Vec<ControlFrame> {
        backpressure::dispatch!(
            &self.backpressure,
            policy => policy.standing_pauses(&self.admission, port)
        )
    }

    /// Frame `number` of those that are repeated to the neighbour behind `port` from time to time, because
    /// frames may be lost; none behind the last.
    pub(crate) fn repeated_frame(&mut self, port: u16, number: usize) -> Option<ControlFrame> {
        backpressure::dispatch!(
            &mut self.backpressure,
            policy => policy.repeated_frame(&self.admission, port, number)
        )
    }

    /// The credit of the neighbour behind `port` at the start, where there are credits.
    pub fn opening_balance(&self, port: u16) -> Option<Balance> {
        backpressure::dispatch!(&self.backpressure, policy => policy.opening_balance(port))
    }

    /// Stores the credit `balance` that the neighbour behind `port`, a switch, grants at the start.
    pub fn connect(&mut self, port: u16, balance: Balance) {
        backpressure::dispatch!(&mut self.backpressure, policy => policy.connect(port, balance));
    }
}
