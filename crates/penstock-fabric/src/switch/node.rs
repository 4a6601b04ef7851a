//! A switch as a node that any driver can run.
//!
//! A switch has numbered ports and no clock. A driver calls it and lends it a [`SwitchTurn`]: the time, the
//! packets, whoever watches, the routes, and a list for what the switch asks for ([`SwitchRequests`]).
//!
//! | call | when |
//! |---|---|
//! | [`Switch::start`] | once, before anything else |
//! | [`Switch::receive`] | the last bit of a packet has arrived |
//! | [`Switch::transmit`] | the link behind a port is free, and something waits there |
//! | [`Switch::on_timer`] | a timer that the switch has asked for is due |
//! | [`Switch::on_link`] | the link behind a port has failed, or has recovered |
//!
//! After every call the driver does what the switch asks for, in that order. Frames to neighbours
//! and messages to sources are in the queues of the ports already; the driver offers them to the
//! link. A packet that a switch receives is the switch's: it is queued or removed from the pool.

use penstock_packet::{
    ALL_CLASSES, ControlFrame, Moment, Observer, Packet, PacketFlags, PacketId, PacketKind,
    PacketPool, Signal,
};
use penstock_units::Time;

use super::requests::{DroppedPacket, Received, SwitchRequest, SwitchRequests, SwitchTimer};
use super::{Arrival, Departure, Switch};

/// The way of packets, which the driver knows.
pub trait Routes {
    /// The port by which a packet leaves `node`, where it has arrived, or where a data packet of its flow has
    /// turned into it (a notice to the source).
    fn egress(&mut self, node: u32, packet: &mut Packet) -> u16;
}

/// What a driver lends a switch for one call.
#[derive(Debug)]
pub struct SwitchTurn<'a, O, R> {
    /// The time.
    pub now: Time,
    /// All packets.
    pub pool: &'a mut PacketPool,
    /// Who watches.
    pub observer: &'a mut O,
    /// Where packets go.
    pub routes: &'a mut R,
    /// What the switch asks for.
    pub requests: &'a mut SwitchRequests,
}

impl<O, R> SwitchTurn<'_, O, R> {
    /// The part of it that policies see.
    #[inline]
    fn moment(&mut self) -> Moment<'_, O> {
        Moment { now: self.now, pool: self.pool, observer: self.observer }
    }
}

impl Switch {
    /// When the next pause of `port` that has an end is over, after `now`; [`Time::NEVER`] when there is
    /// none.
    fn next_release(&self, port: u16, now: Time) -> Time {
        let port = self.port(port);
        let held_until = Some(port.held_until()).filter(|until| *until > now);
        port.next_lapse().min(held_until.unwrap_or(Time::NEVER))
    }

    /// Asks for the first timers.
    pub fn start<O, R>(&self, turn: &mut SwitchTurn<'_, O, R>) {
        self.ask_for_clock(turn);
        self.ask_for_repeat(turn);
    }

    fn ask_for_clock<O, R>(&self, turn: &mut SwitchTurn<'_, O, R>) {
        if let Some(deadline) = self.deadline() {
            turn.requests.push(SwitchRequest::Timer(SwitchTimer::Clock, deadline));
        }
    }

    fn ask_for_repeat<O, R>(&self, turn: &mut SwitchTurn<'_, O, R>) {
        if let Some(interval) = self.repeat_interval {
            let next = turn.now + interval;
            turn.requests.push(SwitchRequest::Timer(SwitchTimer::Repeat, next));
        }
    }

    /// The last bit of packet `id` has arrived by `ingress`.
    #[inline(always)]
    pub fn receive<O: Observer, R: Routes>(
        &mut self,
        turn: &mut SwitchTurn<'_, O, R>,
        ingress: u16,
        id: PacketId,
    ) -> Received {
        let SwitchTurn { now, pool, observer, routes, requests } = turn;
        let packet = &mut pool[id];
        if packet.kind.is_link_local() {
            let mut moment = Moment { now: *now, pool, observer: *observer };
            return self.hear(&mut moment, requests, ingress, id);
        }
        let kind = packet.kind;
        let egress = routes.egress(self.node, packet);
        match kind {
            kind if self.is_queued(kind) => {
                let mut moment = Moment { now: *now, pool, observer: *observer };
                let arrival = self.on_arrival(&mut moment, id, ingress, egress);
                while let Some(displaced) = self.take_displaced(pool) {
                    self.discard_taken(pool, *routes, requests, (egress, displaced));
                }
                match arrival {
                    Arrival::Queued { feedback } => {
                        if let Some(frame) = self.take_caused() {
                            self.tell(pool, requests, frame);
                        }
                        if let Some(feedback) = feedback {
                            self.send_feedback(pool, *routes, requests, (id, feedback));
                        }
                        Received::Queued(egress)
                    }
                    Arrival::Dropped => {
                        let payload = pool[id].payload;
                        self.discard(pool, *routes, requests, (egress, id));
                        Received::Dropped { port: egress, payload }
                    }
                }
            }
            _ => {
                let mut moment = Moment { now: *now, pool, observer: *observer };
                self.observe_control(&mut moment, id, ingress, egress);
                self.forward_control(pool, id, egress)
            }
        }
    }

    /// Queues a packet that bypasses the five axes and goes on by `egress`.
    #[inline(always)] // it has one call
    fn forward_control(&mut self, pool: &mut PacketPool, id: PacketId, egress: u16) -> Received {
        if pool[id].kind != PacketKind::Credit {
            self.enqueue_control(pool, id, egress);
        } else if !self.enqueue_credit(pool, id, egress) {
            pool.remove(id);
            return Received::Refused;
        }
        Received::Waits(egress)
    }

    /// Data packet `id`, which was to leave by `port`, is dropped: it turns into a notice to its source where
    /// switches send such, or its header goes on where they trim.
    #[cold]
    fn discard<R: Routes>(
        &mut self,
        pool: &mut PacketPool,
        routes: &mut R,
        requests: &mut SwitchRequests,
        (port, id): (u16, PacketId),
    ) {
        if self.turns.is_some() {
            let packet = &mut pool[id];
            packet.kind = PacketKind::Trimmed;
            packet.wire_bytes = packet.wire_bytes.min(self.frames.control);
            self.enqueue_control(pool, id, port);
            return requests.push(SwitchRequest::Ready(port));
        }
        match self.frames.notice {
            None => pool.remove(id),
            Some(wire_bytes) => {
                let packet = &mut pool[id];
                packet.kind = PacketKind::DropNotice;
                packet.wire_bytes = wire_bytes;
                self.send_back(pool, routes, requests, id);
            }
        }
    }

    /// A frame of the neighbour behind `port` has arrived.
    fn hear<O: Observer>(
        &mut self,
        moment: &mut Moment<'_, O>,
        requests: &mut SwitchRequests,
        port: u16,
        id: PacketId,
    ) -> Received {
        self.observe_control(moment, id, port, port);
        if let Some(signal) = Signal::of(&moment.pool[id]) {
            self.on_signal(moment, port, signal, id);
            if let Signal::PauseTime(_) | Signal::PauseClassFor { .. } = signal {
                let until = self.next_release(port, moment.now);
                requests.push(SwitchRequest::Timer(SwitchTimer::Port(port), until));
            }
        }
        moment.pool.remove(id);
        Received::Heard
    }

    /// The link behind `port` is free: the packet that leaves now, if there is one. Packets that
    /// marking drops instead are told in the requests.
    #[inline(always)] // half of all packets are control packets, and each saves a call
    pub fn transmit<O: Observer, R: Routes>(
        &mut self,
        turn: &mut SwitchTurn<'_, O, R>,
        port: u16,
    ) -> Option<PacketId> {
        let waits = self.port(port).has_control();
        if waits && !(self.turns.is_some() && self.is_turn_of_data(port)) {
            return self.on_control_departure(&mut turn.moment(), port);
        }
        self.transmit_queued(turn, port)
    }

    /// Whether data at `port` have their turn now that control packets wait there, too. Counts the turn.
    #[inline(never)] // one scheme comes here
    fn is_turn_of_data(&mut self, port: u16) -> bool {
        let waits = self.port(port).may_send_data();
        self.turns.as_mut().is_some_and(|turns| waits && turns.is_of_data(port))
    }

    /// As [`Switch::transmit`], when no control packet waits or it is the turn of data.
    #[inline(always)] // it has one call
    fn transmit_queued<O: Observer, R: Routes>(
        &mut self,
        turn: &mut SwitchTurn<'_, O, R>,
        port: u16,
    ) -> Option<PacketId> {
        let SwitchTurn { now, pool, observer, routes, requests } = turn;
        loop {
            let mut moment = Moment { now: *now, pool, observer: *observer };
            let Some(departure) = self.on_departure(&mut moment, port) else {
                // The tokens may suffice later for a credit that waits (ExpressPass).
                if let Some(due) = self.port(port).credits().and_then(|credits| credits.due()) {
                    requests.push(SwitchRequest::Timer(SwitchTimer::Port(port), due));
                }
                return None;
            };
            let Departure { id, feedback, is_dropped } = departure;
            if let Some(frame) = self.take_caused() {
                self.tell(pool, requests, frame);
            }
            if let Some(feedback) = feedback {
                self.send_feedback(pool, *routes, requests, (id, feedback));
            }
            while let Some(frame) = self.take_frame() {
                self.tell(pool, requests, frame);
            }
            if !is_dropped {
                return Some(id);
            }
            self.discard_taken(pool, *routes, requests, (port, id));
            // What the departure made necessary may leave by this port, ahead of data.
            let mut moment = Moment { now: *now, pool, observer: *observer };
            if let Some(id) = self.on_control_departure(&mut moment, port) {
                return Some(id);
            }
        }
    }

    /// Data packet `id`, which has left its queue at `port`, is dropped.
    #[cold]
    fn discard_taken<R: Routes>(
        &mut self,
        pool: &mut PacketPool,
        routes: &mut R,
        requests: &mut SwitchRequests,
        (port, id): (u16, PacketId),
    ) {
        let Packet { queue, flow_hash, wire_bytes, payload, .. } = pool[id];
        let dropped = DroppedPacket { port, queue, flow_hash, wire_bytes, payload };
        requests.push(SwitchRequest::Dropped(dropped));
        self.discard(pool, routes, requests, (port, id));
    }

    /// Whether something waits at `port` that may leave.
    #[inline]
    pub fn has_more(&self, port: u16) -> bool {
        self.port(port).is_ready()
    }

    /// A timer that the switch has asked for is due.
    pub fn on_timer<O, R>(&mut self, turn: &mut SwitchTurn<'_, O, R>, timer: SwitchTimer) {
        match timer {
            SwitchTimer::Clock => {
                self.on_deadline(turn.now);
                while let Some(frame) = self.take_frame() {
                    self.tell(turn.pool, turn.requests, frame);
                }
                self.ask_for_clock(turn);
            }
            SwitchTimer::Repeat => {
                for port in 0..self.ports().len() as u16 {
                    let mut numbers = 0..;
                    while let Some(frame) =
                        numbers.next().and_then(|number| self.repeated_frame(port, number))
                    {
                        self.tell(turn.pool, turn.requests, frame);
                    }
                }
                self.ask_for_repeat(turn);
            }
            SwitchTimer::Port(port) => {
                if self.release(turn.now, port) {
                    turn.requests.push(SwitchRequest::Lapsed { port, subject: ALL_CLASSES });
                }
                while let Some(class) = self.lapse(turn.now, turn.pool, port) {
                    let subject = u32::from(class);
                    turn.requests.push(SwitchRequest::Lapsed { port, subject });
                }
                let until = self.next_release(port, turn.now);
                if until != Time::NEVER {
                    turn.requests.push(SwitchRequest::Timer(timer, until));
                }
                if self.port(port).held_until() <= turn.now {
                    turn.requests.push(SwitchRequest::Ready(port));
                }
            }
        }
    }

    /// The link behind `port` has failed: what its far end has paused is paused no more, and the driver takes
    /// what waits there. Or it works again: the far end is asked for the pauses that should be in place.
    pub fn on_link<O: Observer, R>(
        &mut self,
        turn: &mut SwitchTurn<'_, O, R>,
        port: u16,
        is_up: bool,
    ) {
        if !is_up {
            return self.forget_pauses(&turn.moment(), port);
        }
        for frame in self.standing_pauses(port) {
            self.tell(turn.pool, turn.requests, frame);
        }
    }

    /// Puts a frame into the control queue of its port.
    fn tell(&mut self, pool: &mut PacketPool, requests: &mut SwitchRequests, frame: ControlFrame) {
        let id = pool.insert(frame.signal.frame(self.frames.control));
        self.enqueue_control(pool, id, frame.port);
        requests.push(SwitchRequest::Told(frame));
    }

    /// Tells the source of data packet `data`, which has just joined a queue or left it, how congested that
    /// queue is (QCN).
    fn send_feedback<R: Routes>(
        &mut self,
        pool: &mut PacketPool,
        routes: &mut R,
        requests: &mut SwitchRequests,
        (data, feedback): (PacketId, u8),
    ) {
        let message = Packet {
            kind: PacketKind::CongestionFeedback,
            wire_bytes: self.frames.control,
            payload: 0,
            remaining: u32::from(feedback),
            flags: PacketFlags::default(),
            ..pool[data]
        };
        let id = pool.insert(message);
        self.send_back(pool, routes, requests, id);
    }

    /// Queues a message to the source of the data packet which it was, or of which it is a copy.
    fn send_back<R: Routes>(
        &mut self,
        pool: &mut PacketPool,
        routes: &mut R,
        requests: &mut SwitchRequests,
        id: PacketId,
    ) {
        let port = routes.egress(self.node, &mut pool[id]);
        self.enqueue_control(pool, id, port);
        requests.push(SwitchRequest::Ready(port));
    }
}

#[cfg(test)]
#[path = "node_tests.rs"]
mod tests;
