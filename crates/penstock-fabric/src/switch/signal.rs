//! What a switch does with the pauses, resumes, bitmaps and credits of its neighbours, and what it tells
//! them again from time to time.

use alloc::vec::Vec;

use penstock_packet::{Balance, ControlFrame, Moment, Observer, PacketEvent, PacketId, Signal};
use penstock_units::Time;

use super::Switch;
use crate::backpressure::Backpressure;

impl Switch {
    /// A pause, a resume, a bitmap or credit has arrived from the neighbour behind `port`.
    pub fn on_signal<O: Observer>(
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
            Signal::ResumeClass(class) => self.resume_class(moment, port, class),
            Signal::PauseQueue(queue) => {
                self.ports[usize::from(port)].revoke(queue, moment.pool);
                self.set_queue_paused(moment, port, queue, true);
            }
            Signal::ResumeQueue(queue) => {
                self.set_queue_paused(moment, port, queue, false);
            }
            Signal::PauseFlow(flow) => self.on_flow_signal(moment, port, flow, true),
            Signal::ResumeFlow(flow) => self.on_flow_signal(moment, port, flow, false),
            Signal::QueueBitmap(bitmap) => return self.on_bitmap(moment, port, bitmap, id),
            Signal::PauseTime(nanoseconds) => {
                let hold = Time::from_ns(u64::from(nanoseconds));
                self.ports[usize::from(port)].hold(now, hold);
            }
            Signal::Credit { account, granted } => {
                if let Backpressure::Credits(credits) = &mut self.backpressure {
                    credits.on_credit(port, account, granted);
                    credits.apply(port, &mut self.ports[usize::from(port)], moment.pool);
                }
                return;
            }
        }
        self.observe_signal(moment, port, signal.is_pause(), id);
    }

    /// Resumes a class at `port`, and tells marking what waited.
    fn resume_class<O: Observer>(&mut self, moment: &Moment<'_, O>, port: u16, class: u8) {
        let egress = &mut self.ports[usize::from(port)];
        if !egress.set_class_paused(moment.now, class, false, moment.pool) {
            return;
        }
        for (number, queue) in (0..).zip(egress.queues()) {
            if queue.class == class {
                self.marking.on_resume(port, number, queue.packets.bytes());
            }
        }
    }

    /// Pauses or resumes a queue at `port`, and tells marking what waited; whether anything changed.
    fn set_queue_paused<O: Observer>(
        &mut self,
        moment: &Moment<'_, O>,
        port: u16,
        queue: u16,
        is_paused: bool,
    ) -> bool {
        let egress = &mut self.ports[usize::from(port)];
        let has_changed = egress.set_queue_paused(moment.now, queue, is_paused, moment.pool);
        if has_changed && !is_paused {
            let waited = egress.queues()[usize::from(queue)].packets.bytes();
            self.marking.on_resume(port, queue, waited);
        }
        has_changed
    }

    /// The neighbour behind `port` has paused or resumed a flow.
    fn on_flow_signal<O: Observer>(
        &mut self,
        moment: &Moment<'_, O>,
        port: u16,
        flow: u32,
        is_paused: bool,
    ) {
        if let Backpressure::FlowPauses(flows) = &mut self.backpressure {
            flows.on_signal(port, flow, is_paused);
        }
        for queue in 1..self.port(port).queues().len() as u16 {
            let Some(flows) = self.flow_pauses() else { return };
            let is_paused = flows.is_head_paused((port, queue), self.port(port), moment.pool);
            self.set_queue_paused(moment, port, queue, is_paused);
        }
    }

    /// Repairs what lost frames have left wrong; only queues that change are observed.
    fn on_bitmap<O: Observer>(
        &mut self,
        moment: &mut Moment<'_, O>,
        port: u16,
        bitmap: u128,
        id: PacketId,
    ) {
        for queue in 1..self.port(port).queues().len().min(128) as u16 {
            let is_paused = bitmap & (1 << queue) != 0;
            if self.set_queue_paused(moment, port, queue, is_paused) {
                moment.pool[id].upstream_queue = queue;
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

    /// The flow of packet `id` has got an empty queue at `port` whose pause does not hold it at once, or
    /// has used that grace up: for whoever follows the queue a resume, or a pause.
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

    /// The link behind `port` has failed: what its far end has paused there is paused no more.
    pub fn forget_pauses<O: Observer>(&mut self, moment: &Moment<'_, O>, port: u16) {
        for queue in 1..self.port(port).queues().len() as u16 {
            self.set_queue_paused(moment, port, queue, false);
        }
        for class in 0..8 {
            self.resume_class(moment, port, class);
        }
        let held_until = self.port(port).held_until();
        self.ports[usize::from(port)].release(held_until.max(moment.now));
    }

    /// The frames that ask the neighbour behind `port` for all pauses that should be in place: after
    /// an outage of the link it knows of none.
    pub fn standing_pauses(&self, port: u16) -> Vec<ControlFrame> {
        let pause = |class| ControlFrame { port, signal: Signal::PauseClass(class) };
        if let Some(pairs) = self.backpressure.pairs() {
            return pairs.paused_class(port).map(pause).into_iter().collect();
        }
        let classes = self.pfc().into_iter().flat_map(|pfc| pfc.paused(&self.admission, port));
        classes.map(pause).chain(self.bitmap_frame(port)).collect()
    }

    /// The periodic bitmap for the neighbour behind `port` (BFC sec. 3.3.2).
    pub fn bitmap_frame(&self, port: u16) -> Option<ControlFrame> {
        let signal = Signal::QueueBitmap(self.bfc()?.bitmap(port));
        Some(ControlFrame { port, signal })
    }

    /// What the neighbour behind `port` may send from the start, where there are credits.
    pub fn opening_balance(&self, port: u16) -> Option<Balance> {
        Some(self.credits()?.opening(port))
    }

    /// The neighbour behind `port`, a switch, has granted `balance` from the start.
    pub fn connect(&mut self, port: u16, balance: Balance) {
        if let Backpressure::Credits(credits) = &mut self.backpressure {
            credits.connect(port, balance);
        }
    }

    /// Grants that are told again, with the bitmap, to the neighbour behind `port`.
    pub fn repeat_grants(&mut self, port: u16) -> Option<[ControlFrame; 2]> {
        match &mut self.backpressure {
            Backpressure::Credits(credits) => Some(credits.repeat(port)),
            _ => None,
        }
    }
}
