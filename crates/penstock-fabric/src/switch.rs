//! The switch: arrival → admission → assignment → queue → marking → backpressure, and departure the
//! other way. It owns the ports and the five policies and has no opinion of its own.

use alloc::boxed::Box;
use alloc::vec::Vec;

use penstock_packet::{
    ControlFrame, Fifo, Moment, Observer, Packet, PacketEvent, PacketFlags, PacketId, PacketKind,
    PacketPool, SwitchFacts, SwitchFrames,
};
use penstock_units::Time;
use rand_core::RngCore;

use crate::admission::Admission;
use crate::admission::accounts::Request;
use crate::assignment::policy::{Assigning, Policy as _};
use crate::assignment::{self, Assignment};
use crate::backpressure::policy::{Place, Policy as _};
use crate::backpressure::{self, Backpressure};
use crate::config::SwitchConfig;
use crate::marking::policy::{Mark, Policy as _};
use crate::marking::{self, Marking};
use crate::parts::Draws;
use crate::passing::Passing;
use crate::port::PortCounters;
use crate::ports::Ports;

pub mod node;
mod observed;
mod part;
pub mod requests;
mod signal;
mod turns;

use turns::ControlTurns;

/// What became of a data packet that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It is in its queue.
    Queued {
        /// What the source of the packet has to be told of congestion, 1 to 63 (QCN).
        feedback: Option<u8>,
    },
    /// There was no room; the packet is still the caller's.
    Dropped,
}

/// A packet that leaves its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Departure {
    /// The packet.
    pub id: PacketId,
    /// What the source of the packet has to be told of congestion, 1 to 63 (QCN).
    pub feedback: Option<u8>,
    /// Whether it is dropped instead of sent; then it is still the caller's.
    pub is_dropped: bool,
}

/// A switch. The fields stand in the order of their use, so that a packet touches few cache lines.
#[derive(Debug)]
#[repr(C)]
pub struct Switch {
    node: u32,
    /// Whether queues have epochs.
    has_epochs: bool,
    /// Whether a packet that is queued may be dropped for one that finds no room.
    makes_room: bool,
    /// Where the header of a packet that is dropped goes on: whose turn it is at the ports.
    turns: Option<Box<ControlTurns>>,
    /// Time between two rounds of [`Switch::repeated_frame`]; none where no frames are repeated.
    pub(crate) repeat_interval: Option<Time>,
    /// Whether acknowledgements wait in data queues.
    queues_acknowledgements: bool,
    /// Packets that the last arrival has displaced so and that are still the caller's.
    displaced: Fifo,
    ports: Ports,
    admission: Admission,
    assignment: Assignment,
    marking: Marking,
    backpressure: Backpressure,
    draws: Draws,
    /// The classes of the data queues that a port has from its first packet or pause on.
    classes: Vec<u8>,
    frames: SwitchFrames,
    /// What the last data packet has made necessary upstream; none between two calls of the driver. It is
    /// kept here because few packets have one, and handing it from call to call copied its room for all.
    frame: Option<ControlFrame>,
}

penstock_units::state! { Switch {
    saved: admission, assignment, marking, backpressure, draws, displaced, turns;
    within: ports;
    kept: node, classes, frames, has_epochs, makes_room, repeat_interval, queues_acknowledgements,
        frame;
} }

impl Switch {
    /// The switch that `config` describes, at the place that `facts` describes.
    pub fn new(config: &SwitchConfig, facts: &SwitchFacts, draws: Draws) -> Self {
        let classes = config.assignment.queue_classes(facts.ports.len());
        let epoch_bits = config.assignment.epoch_bits();
        let accounts = config.assignment.classes() as usize;
        let admission = Admission::new(&config.admission, facts, accounts);
        let accounts = admission.accounts().count();
        let place = Place {
            facts,
            accounts,
            memory: config.admission.memory(facts.node),
            queues: classes.len(),
            epochs: 1 << epoch_bits,
        };
        let backpressure = Backpressure::new(&config.backpressure, &place);
        let repeats = config.backpressure.repeats(1 << epoch_bits);
        Switch {
            node: facts.node,
            ports: Ports::new(&config.scheduling, facts, epoch_bits),
            classes,
            admission,
            assignment: Assignment::new(&config.assignment, facts),
            marking: Marking::new(&config.marking, facts),
            backpressure,
            draws,
            frames: facts.frames,
            has_epochs: epoch_bits > 0,
            makes_room: config.scheduling.makes_room() || config.admission.trims(),
            turns: config
                .admission
                .control_weight()
                .map(|weight| Box::new(ControlTurns::new(weight, facts.ports.len()))),
            repeat_interval: repeats.map(|repeats| repeats.interval),
            queues_acknowledgements: config.assignment.queues_acknowledgements(),
            displaced: Fifo::default(),
            frame: None,
        }
    }

    /// When [`Switch::on_deadline`] is due, for a policy with a clock of its own. Only that call
    /// moves it.
    pub(crate) fn deadline(&self) -> Option<Time> {
        backpressure::dispatch!(&self.backpressure, policy => policy.deadline())
    }

    /// The deadline has come.
    pub(crate) fn on_deadline(&mut self, now: Time) {
        let ports = &mut self.ports;
        backpressure::dispatch!(&mut self.backpressure, policy => policy.on_deadline(now, ports));
    }

    /// What the last data packet has made necessary upstream.
    #[inline]
    pub(crate) fn take_caused(&mut self) -> Option<ControlFrame> {
        // `take` alone would copy the room of a frame for each packet.
        if self.frame.is_none() { None } else { self.frame.take() }
    }

    /// Another frame that the last departure, or the last deadline, has made necessary.
    #[inline]
    pub(crate) fn take_frame(&mut self) -> Option<ControlFrame> {
        backpressure::dispatch!(&mut self.backpressure, policy => policy.take_frame())
    }

    /// Queues a packet that bypasses the five axes: an acknowledgement, a notice, a pause frame.
    #[inline]
    pub(crate) fn enqueue_control(&mut self, pool: &mut PacketPool, id: PacketId, egress: u16) {
        self.ports[usize::from(egress)].enqueue_control(pool, id);
    }

    /// Queues a credit; false where there is no room for it, and the packet stays the caller's.
    #[must_use]
    pub(crate) fn enqueue_credit(
        &mut self,
        pool: &mut PacketPool,
        id: PacketId,
        egress: u16,
    ) -> bool {
        self.ports[usize::from(egress)].enqueue_credit(pool, id)
    }

    /// A data packet has arrived by `ingress` and is to leave by `egress`.
    #[inline]
    pub(crate) fn on_arrival<O: Observer>(
        &mut self,
        moment: &mut Moment<'_, O>,
        id: PacketId,
        ingress: u16,
        egress: u16,
    ) -> Arrival {
        let packet = &mut moment.pool[id];
        packet.ingress = ingress;
        packet.upstream_queue = packet.queue;
        packet.queue = 0;
        packet.flags.remove(PacketFlags::COUNTED);
        let (class, bytes) = (packet.class, u64::from(packet.wire_bytes));
        self.observe(moment, PacketEvent::Arrive, id, egress);
        let mut port = &mut self.ports[usize::from(egress)];
        let request = Request { ingress, class, bytes, egress_bytes: port.bytes() };
        if !self.admission.admit(request) {
            if !self.makes_room_for(moment, id, egress, request) {
                return self.drop(moment, id, egress);
            }
            port = &mut self.ports[usize::from(egress)];
        }
        let now = moment.now;
        let packet = &mut moment.pool[id];
        let random = self.draws.own();
        port.prepare(&self.classes);
        let PortCounters { excuses, choices, .. } = port.counters;
        let admission = &self.admission;
        let arrival = Assigning { now, egress, port: &mut *port, packet, admission, random };
        let assigned =
            assignment::dispatch!(&mut self.assignment, policy => policy.assign(arrival));
        let Some(queue) = assigned else {
            port.counters.refusals += 1;
            self.admission.refuse(ingress, class, bytes);
            return self.drop(moment, id, egress);
        };
        packet.queue = queue;
        if O::IS_WATCHING {
            let PortCounters { excuses: excused, choices: chosen, .. } = port.counters;
            if excused > excuses {
                self.observe_grace(moment, PacketEvent::ResumeReceived, id, egress);
            }
            self.observe(moment, PacketEvent::Assign, id, egress);
            if chosen > choices {
                self.observe(moment, PacketEvent::Choose, id, egress);
            }
            port = &mut self.ports[usize::from(egress)];
        }
        port.enqueue(moment.pool, id);
        let queue_bytes = port.queues()[usize::from(queue)].packets.bytes();
        let mark = self.inform(moment, id, egress, queue_bytes, true);
        self.observe(moment, PacketEvent::Enqueue, id, egress);
        if O::IS_WATCHING && mark.is_marked {
            self.observe(moment, PacketEvent::Mark, id, egress);
        }
        if O::IS_WATCHING && self.frame.is_some_and(|frame| frame.signal.is_event()) {
            self.observe(moment, PacketEvent::PauseSent, id, egress);
        }
        Arrival::Queued { feedback: mark.feedback }
    }

    /// Tells marking and backpressure of a data packet that has joined its queue, which now holds
    /// `queue_bytes`, or has left it. Answers what the packet learns; what has to be sent upstream is in
    /// `frame`. This is part of both callers, so that neither asks which of them it is.
    #[inline(always)]
    fn inform<O: Observer>(
        &mut self,
        moment: &mut Moment<'_, O>,
        id: PacketId,
        egress: u16,
        queue_bytes: u64,
        joins: bool,
    ) -> Mark {
        let mut passing = Passing {
            now: moment.now,
            pool: moment.pool,
            id,
            egress,
            queue_bytes,
            ports: &mut self.ports,
            admission: &self.admission,
            draws: &mut self.draws,
        };
        let mark = marking::dispatch!(&mut self.marking, policy => match joins {
            true => policy.on_enqueue(&mut passing),
            false => policy.on_dequeue(&mut passing),
        });
        if mark.is_marked {
            passing.packet_mut().flags.insert(PacketFlags::MARKED);
        }
        let frame = backpressure::dispatch!(&mut self.backpressure, policy => match joins {
            true => policy.on_enqueue(&mut passing),
            false => policy.on_dequeue(&mut passing),
        });
        if frame.is_some() {
            self.draws.on_frame();
            self.frame = frame;
        }
        mark
    }

    /// Drops queued packets of `egress` until there is room for packet `id`, where the scheduler or the
    /// admission does so. Answers false when it is packet `id` that is to be dropped. The packet's queue is
    /// assigned here and once more on its way in, which changes nothing where every flow has its own, or
    /// all have one: the only assignments under such policies.
    #[cold]
    fn makes_room_for<O: Observer>(
        &mut self,
        moment: &mut Moment<'_, O>,
        id: PacketId,
        egress: u16,
        request: Request,
    ) -> bool {
        // NDP: the packet that arrives, or the last one of the queue.
        if !self.makes_room || self.turns.is_some() && self.draws.own().next_u32().is_multiple_of(2)
        {
            return false;
        }
        let (now, random) = (moment.now, self.draws.own());
        let port = &mut self.ports[usize::from(egress)];
        port.prepare(&self.classes);
        let (packet, admission) = (&mut moment.pool[id], &self.admission);
        let arrival = Assigning { now, egress, port, packet, admission, random };
        let assigned =
            assignment::dispatch!(&mut self.assignment, policy => policy.assign(arrival));
        let Some(queue) = assigned else { return false };
        loop {
            let port = &mut self.ports[usize::from(egress)];
            let victim = match self.turns.is_some() {
                true => Some(queue),
                false => port.displaced_by(queue, &moment.pool[id]),
            };
            let Some(displaced) = victim.and_then(|queue| port.displace(moment.pool, queue)) else {
                // The queue may have been given to the packet alone.
                let packet = Packet { queue, ..moment.pool[id] };
                assignment::dispatch!(
                    &mut self.assignment,
                    policy => policy.on_dequeue(now, egress, &packet, port)
                );
                return false;
            };
            let packet = &moment.pool[displaced];
            let (ingress, class, bytes) = (packet.ingress, packet.class, packet.wire_bytes);
            assignment::dispatch!(
                &mut self.assignment,
                policy => policy.on_dequeue(now, egress, packet, port)
            );
            let egress_bytes = port.bytes();
            self.admission.release(ingress, class, u64::from(bytes));
            self.observe(moment, PacketEvent::Drop, displaced, egress);
            self.displaced.push(moment.pool, displaced);
            if self.admission.admit(Request { egress_bytes, ..request }) {
                return true;
            }
        }
    }

    /// A packet that the last arrival has displaced; it is the caller's from now on.
    #[inline]
    pub(crate) fn take_displaced(&mut self, pool: &PacketPool) -> Option<PacketId> {
        self.displaced.pop(pool)
    }

    /// There is no room for a packet, which stays the caller's.
    #[inline]
    fn drop<O: Observer>(
        &mut self,
        moment: &mut Moment<'_, O>,
        id: PacketId,
        egress: u16,
    ) -> Arrival {
        self.ports[usize::from(egress)].counters.drops += 1;
        self.observe(moment, PacketEvent::Drop, id, egress);
        Arrival::Dropped
    }

    /// The link behind `egress` is free: takes the control packet that is next. Its departure makes nothing
    /// necessary.
    #[inline]
    pub(crate) fn on_control_departure<O: Observer>(
        &mut self,
        moment: &mut Moment<'_, O>,
        egress: u16,
    ) -> Option<PacketId> {
        let id = self.ports[usize::from(egress)].dequeue_control(moment.pool)?;
        self.observe(moment, PacketEvent::ControlDepart, id, egress);
        Some(id)
    }

    /// The link behind `egress` is free, and no control packet waits: takes the packet that is next, and
    /// what its departure makes necessary.
    #[inline]
    pub(crate) fn on_departure<O: Observer>(
        &mut self,
        moment: &mut Moment<'_, O>,
        egress: u16,
    ) -> Option<Departure> {
        let port = &mut self.ports[usize::from(egress)];
        let id = port.dequeue(moment.now, moment.pool)?;
        let packet = &mut moment.pool[id];
        if !is_queued(packet.kind, self.queues_acknowledgements) {
            self.observe(moment, PacketEvent::ControlDepart, id, egress);
            return Some(Departure { id, feedback: None, is_dropped: false });
        }
        let (ingress, class, bytes) = (packet.ingress, packet.class, packet.wire_bytes);
        let queue_bytes = port.queues()[usize::from(packet.queue)].packets.bytes();
        let ends_grace = port.is_out_of_grace();
        assignment::dispatch!(
            &mut self.assignment,
            policy => policy.on_dequeue(moment.now, egress, packet, port)
        );
        self.admission.release(ingress, class, u64::from(bytes));
        let mark = self.inform(moment, id, egress, queue_bytes, false);
        if mark.is_dropped {
            self.ports[usize::from(egress)].drop_taken(&moment.pool[id]);
        }
        if O::IS_WATCHING {
            if mark.is_marked {
                self.observe(moment, PacketEvent::Mark, id, egress);
            }
            let end = if mark.is_dropped { PacketEvent::Drop } else { PacketEvent::Depart };
            self.observe(moment, end, id, egress);
            if self.frame.is_some_and(|frame| frame.signal.is_event()) {
                self.observe(moment, PacketEvent::ResumeSent, id, egress);
            }
        }
        if ends_grace {
            self.ports[usize::from(egress)].end_grace(moment.pool);
            if O::IS_WATCHING {
                self.observe_grace(moment, PacketEvent::PauseReceived, id, egress);
            }
        }
        if self.has_epochs && !mark.is_dropped {
            let packet = &mut moment.pool[id];
            packet.queue = self.ports[usize::from(egress)].label(packet.queue);
        }
        Some(Departure { id, feedback: mark.feedback, is_dropped: mark.is_dropped })
    }

    /// Whether packets of this kind wait in data queues.
    #[inline]
    pub(crate) fn is_queued(&self, kind: PacketKind) -> bool {
        is_queued(kind, self.queues_acknowledgements)
    }
}

/// Whether packets of this kind wait in data queues, where acknowledgements do or do not.
#[inline]
fn is_queued(kind: PacketKind, queues_acknowledgements: bool) -> bool {
    kind == PacketKind::Data || (queues_acknowledgements && kind == PacketKind::Acknowledgement)
}

#[cfg(test)]
#[path = "switch_tests.rs"]
mod tests;
