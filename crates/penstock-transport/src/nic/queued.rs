//! A NIC with lists of the flows that can send.
//!
//! The cost per packet does not depend on the number of blocked and paused flows. The cost is
//! logarithmic in the number of paced flows and, under SRF, in the number of ready flows.
//!
//! Blocked flows are in no structure. Paced flows are in a heap, ordered by time. A flow of a paused
//! queue is set aside when it comes to the front, and returns to the back when the queue resumes. The
//! NIC skips a paused class as a whole.

use alloc::boxed::Box;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::epochs::{label, queue_of};
use penstock_packet::{EmptyQueue, Epochs};
use penstock_units::Time;
use penstock_units::random::Pcg32;

use super::config::{MAXIMUM_QUEUES, NicConfig};
use super::list::List;
use super::queues::Queues;
use super::ready::ReadyFlows;
use super::seat::{Place, Seat};
use super::slot_heap::SlotHeap;
use crate::sender::{Readiness, Sender};

/// The control queue, which is never paused.
const CONTROL_QUEUE: u128 = 1;

/// A NIC with lists of the flows that can send.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct QueuedNic {
    /// The ready flows, one entry per class.
    ready: Vec<ReadyFlows>,
    /// Bit c is set while class c has ready flows.
    ready_classes: u32,
    paused_classes: u32,
    /// One list per queue: the flows that came to the front while the queue was stopped. Empty before the
    /// first flow, because most hosts of a large network have none.
    parked: Vec<List>,
    /// Queues, the control queue included; 0 when flows have no queues.
    queue_count: u16,
    paused_queues: u128,
    /// Queues without credit.
    dry_queues: u128,
    paced: SlotHeap,
    queues: Queues,
    flow_count: usize,
    reacts: bool,
    empty_queue: EmptyQueue,
    /// Where queues have epochs (BFC with epochs).
    pub(super) epochs: Option<Box<Epochs>>,
}

impl QueuedNic {
    /// A NIC without flows, for `classes` priority classes.
    pub(super) fn new(config: &NicConfig, classes: u32) -> Self {
        QueuedNic {
            ready: alloc::vec![ReadyFlows::new(config.scheduling); classes as usize],
            ready_classes: 0,
            paused_classes: 0,
            parked: Vec::new(),
            queue_count: config.queues as u16,
            paused_queues: 0,
            dry_queues: 0,
            paced: SlotHeap::default(),
            queues: Queues::new(config.queues, classes),
            flow_count: 0,
            reacts: config.reacts,
            empty_queue: config.empty_queue,
            epochs: None,
        }
    }

    /// A new flow in `slot`; the class of `seat` is one of the NIC's. The flow gets its queue and may
    /// send. Answers whether this ends a pause of the queue.
    pub(super) fn start(
        &mut self,
        slot: u32,
        seat: Seat,
        flows: &mut [Sender],
        rng: &mut Pcg32,
    ) -> bool {
        self.flow_count += 1;
        if self.parked.is_empty() {
            self.parked.resize(usize::from(self.queue_count), List::new());
        }
        self.paced.reserve(self.flow_count);
        self.ready[usize::from(seat.class)].reserve(self.flow_count);
        flows[slot as usize].seat = seat;
        let has_ended = self.take_queue(slot, flows, rng);
        self.make_ready(slot, flows);
        has_ended
    }

    /// The flow in `slot` is complete and leaves the NIC and its queue.
    pub(super) fn finish(&mut self, slot: u32, flows: &mut [Sender]) {
        self.detach(slot, flows);
        self.leave_queue(slot, flows);
        self.flow_count -= 1;
    }

    /// Gives a queue to a flow that has something to send, unless the flow has one. Answers whether this ends
    /// a pause of the queue: one of an epoch before.
    fn take_queue(&mut self, slot: u32, flows: &mut [Sender], rng: &mut Pcg32) -> bool {
        let flow = &mut flows[slot as usize];
        if flow.seat.has_queue {
            return false;
        }
        flow.seat.has_queue = true;
        let before = self.paused_queues;
        let queue = self.queues.assign(flow.seat.class, (self.empty_queue, before), rng);
        flow.set_queue(queue);
        if self.queues.has_one_flow(queue)
            && let Some(epochs) = &mut self.epochs
            && !epochs.advance(queue)
        {
            self.paused_queues &= !(1 << queue);
        }
        self.paused_queues != before
    }

    /// The label that packets from `queue` carry.
    #[inline]
    pub(super) fn label(&self, queue: u16) -> u16 {
        self.epochs.as_ref().map_or(queue, |epochs| epochs.label(queue))
    }

    /// Notes the pause or resume of the queue with this label. Answers the queue, if the pause holds it.
    fn note(&mut self, label: u16, is_paused: bool) -> Option<u16> {
        match &mut self.epochs {
            None => Some(label),
            Some(epochs) => epochs.note(label, is_paused).then(|| queue_of(label)),
        }
    }

    /// Takes the queue from a flow that has nothing to send.
    fn leave_queue(&mut self, slot: u32, flows: &mut [Sender]) {
        let flow = &mut flows[slot as usize];
        if flow.seat.has_queue {
            flow.seat.has_queue = false;
            self.queues.release(flow.queue());
        }
    }

    /// The readiness of the flow in `slot` may have changed. Answers whether this ends a pause of a queue.
    pub(super) fn on_change(
        &mut self,
        slot: u32,
        now: Time,
        flows: &mut [Sender],
        rng: &mut Pcg32,
    ) -> bool {
        let has_data = flows[slot as usize].remaining_unsent() > 0;
        let has_ended = has_data && self.take_queue(slot, flows, rng);
        let flow = &flows[slot as usize];
        let keeps_place = self.ready[0].keeps_place();
        match (flow.seat.place, flow.readiness(now)) {
            (Place::Parked, _) => {} // looked at again when its queue has resumed
            (Place::Ready, Readiness::Ready) if keeps_place => {}
            (Place::Waiting, Readiness::Blocked | Readiness::Idle) => {}
            (Place::Paced, Readiness::At(time)) => {
                self.paced.change_key(time.as_ps(), slot, flows);
            }
            (_, readiness) => {
                self.detach(slot, flows);
                self.place(slot, readiness, flows);
            }
        }
        has_ended
    }

    /// The flow that sends next at `now`, if any flow can. The flow stays first until
    /// [`QueuedNic::after_send`].
    pub(super) fn next(&mut self, now: Time, flows: &mut [Sender]) -> Option<u32> {
        while let Some((_, slot)) = self.paced.first().filter(|first| first.0 <= now.as_ps()) {
            self.detach(slot, flows);
            self.make_ready(slot, flows);
        }
        loop {
            let slot = self.first_ready()?;
            let flow = &flows[slot as usize];
            let queue = flow.queue();
            if self.is_queue_stopped(queue) {
                self.detach(slot, flows);
                flows[slot as usize].seat.place = Place::Parked;
                self.parked[usize::from(queue)].push_back(slot, flows);
                continue;
            }
            match flow.readiness(now) {
                Readiness::Ready => return Some(slot),
                readiness => {
                    self.detach(slot, flows);
                    self.place(slot, readiness, flows);
                }
            }
        }
    }

    /// The flow in `slot` has sent a packet at `now`. The flow goes to the back of its class. After its
    /// last packet the flow also leaves its queue, as a switch frees the queue of a flow without
    /// packets.
    pub(super) fn after_send(&mut self, slot: u32, now: Time, flows: &mut [Sender]) {
        let flow = &flows[slot as usize];
        let readiness = flow.readiness(now);
        // The only flow of its class is also the last one.
        if readiness == Readiness::Ready
            && self.ready[usize::from(flow.seat.class)].is_one_in_turn()
        {
            return;
        }
        self.detach(slot, flows);
        if readiness == Readiness::Idle {
            self.leave_queue(slot, flows);
        }
        self.place(slot, readiness, flows);
    }

    /// When the earliest paced flow may send (ps).
    #[inline]
    pub(super) fn wake_at(&self) -> Option<Time> {
        self.paced.first().map(|(time, _)| Time::from_ps(time))
    }

    /// Whether an unpaused class has a flow in turn. `false` means that [`QueuedNic::next`] finds
    /// nothing before [`QueuedNic::wake_at`]. After `true`, `next` may still find nothing, when all
    /// flows in turn have paused queues.
    #[inline]
    pub(super) fn has_ready(&self) -> bool {
        self.ready_classes & !self.paused_classes != 0
    }

    /// The first switch paused the queue with this label.
    pub(super) fn pause_queue(&mut self, label: u16) {
        let Some(queue) = self.note(label, true) else { return };
        if self.reacts && queue < self.queue_count {
            self.paused_queues |= (1 << queue) & !CONTROL_QUEUE;
        }
    }

    /// The first switch resumed the queue with this label.
    pub(super) fn resume_queue(&mut self, label: u16, flows: &mut [Sender]) {
        let Some(queue) = self.note(label, false) else { return };
        if !self.is_queue_paused(queue) {
            return;
        }
        self.paused_queues &= !(1 << queue);
        self.unpark(queue, flows);
    }

    /// `queue` has run out of credit, or has got some again.
    pub(super) fn set_queue_dry(&mut self, queue: u16, is_dry: bool, flows: &mut [Sender]) {
        if queue >= self.queue_count {
            return;
        }
        if is_dry {
            self.dry_queues |= (1 << queue) & !CONTROL_QUEUE;
        } else {
            self.dry_queues &= !(1 << queue);
            self.unpark(queue, flows);
        }
    }

    /// Lets the flows of `queue` send again, if nothing else stops the queue.
    fn unpark(&mut self, queue: u16, flows: &mut [Sender]) {
        if self.is_queue_stopped(queue) {
            return;
        }
        while let Some(slot) = self.parked.get(usize::from(queue)).and_then(List::first) {
            self.detach(slot, flows);
            self.make_ready(slot, flows);
        }
    }

    /// The first switch sent a bitmap of queues in an epoch: queue q is paused when bit q is set, and
    /// resumes otherwise.
    pub(super) fn set_paused_queues(&mut self, (epoch, queues): (u8, u128), flows: &mut [Sender]) {
        for queue in 1..self.queue_count {
            if queues & (1 << queue) == 0 {
                self.resume_queue(label(queue, epoch), flows);
            } else {
                self.pause_queue(label(queue, epoch));
            }
        }
    }

    /// The queues that are paused, one bit each.
    #[inline]
    pub(super) fn paused_queues(&self) -> u128 {
        self.paused_queues
    }

    /// The classes that are paused, one bit each.
    #[inline]
    pub(super) fn paused_classes(&self) -> u32 {
        self.paused_classes
    }

    /// Whether `queue` is paused.
    #[inline]
    pub(super) fn is_queue_paused(&self, queue: u16) -> bool {
        u32::from(queue) < MAXIMUM_QUEUES && self.paused_queues & (1 << queue) != 0
    }

    /// Whether `queue` is paused or has no credit.
    #[inline]
    fn is_queue_stopped(&self, queue: u16) -> bool {
        let stopped = self.paused_queues | self.dry_queues;
        u32::from(queue) < MAXIMUM_QUEUES && stopped & (1 << queue) != 0
    }

    /// The first switch paused `class` (a PFC frame), which is below the NIC's classes.
    #[inline]
    pub(super) fn pause_class(&mut self, class: u8) {
        self.paused_classes |= 1 << class;
    }

    /// The first switch resumed `class`.
    #[inline]
    pub(super) fn resume_class(&mut self, class: u8) {
        self.paused_classes &= !(1 << class);
    }

    /// The flow in turn of the lowest unpaused class that has one.
    #[inline]
    fn first_ready(&self) -> Option<u32> {
        let classes = self.ready_classes & !self.paused_classes;
        if classes == 0 {
            return None;
        }
        self.ready[classes.trailing_zeros() as usize].first()
    }

    /// Puts a flow that is in no structure into the one for its `readiness`.
    fn place(&mut self, slot: u32, readiness: Readiness, flows: &mut [Sender]) {
        match readiness {
            Readiness::Ready => self.make_ready(slot, flows),
            Readiness::At(time) => {
                flows[slot as usize].seat.place = Place::Paced;
                self.paced.insert(time.as_ps(), slot, flows);
            }
            Readiness::Blocked | Readiness::Idle => {}
        }
    }

    /// Appends a flow that is in no structure to the ready ones of its class.
    fn make_ready(&mut self, slot: u32, flows: &mut [Sender]) {
        let flow = &mut flows[slot as usize];
        flow.seat.place = Place::Ready;
        let class = flow.seat.class;
        self.ready_classes |= 1 << class;
        self.ready[usize::from(class)].insert(slot, flows);
    }

    /// Takes a flow out of its structure.
    fn detach(&mut self, slot: u32, flows: &mut [Sender]) {
        let flow = &mut flows[slot as usize];
        let (place, class, queue) = (flow.seat.place, flow.seat.class, flow.queue());
        flow.seat.place = Place::Waiting;
        match place {
            Place::Waiting => {}
            Place::Paced => self.paced.remove(slot, flows),
            Place::Parked => self.parked[usize::from(queue)].remove(slot, flows),
            Place::Ready => {
                let ready = &mut self.ready[usize::from(class)];
                ready.remove(slot, flows);
                if ready.first().is_none() {
                    self.ready_classes &= !(1 << class);
                }
            }
        }
    }
}
