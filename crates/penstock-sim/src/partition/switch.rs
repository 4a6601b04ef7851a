//! The simulator as the driver of switches. The driver hands packets to switches, does what
//! switches ask for, and measures.

use penstock_engine::prefetch;
use penstock_fabric::{DroppedPacket, Received, Switch, SwitchRequest, SwitchTimer, SwitchTurn};
use penstock_packet::{ControlFrame, Observer, PacketEvent, PacketId, PacketKind, Signal};
use penstock_units::Time;

use super::Partition;
use super::router::Router;
use crate::measure::events::{EventPlace, EventTable};

impl<O: Observer> Partition<O> {
    /// A switch, and everything that it borrows for one call.
    #[inline(always)]
    pub(crate) fn lend_switch(
        &mut self,
        now: Time,
        switch: usize,
    ) -> (&mut Switch, SwitchTurn<'_, O, Router>) {
        let turn = SwitchTurn {
            now,
            pool: &mut self.pool,
            observer: &mut self.observer,
            routes: &mut self.router,
            requests: &mut self.told,
        };
        (&mut self.switches[switch], turn)
    }

    /// Does what `switch` has asked for, from request number `done` on.
    #[inline]
    pub(crate) fn serve_switch(&mut self, now: Time, switch: usize, done: usize) {
        if self.told.len() > done {
            self.serve_requests(now, switch, done, None);
        }
    }

    /// As [`Partition::serve_switch`]. Nothing is offered to the link `busy`, on which a packet is about to
    /// leave.
    fn serve_requests(&mut self, now: Time, switch: usize, done: usize, busy: Option<u32>) {
        let mut next = done;
        while let Some(request) = self.told.get(next) {
            next += 1;
            let ready = match request {
                SwitchRequest::Told(frame) => self.note_frame(now, switch, frame),
                SwitchRequest::Ready(port) => self.link_at(switch, port),
                SwitchRequest::Lapsed { port, subject } => {
                    let node = switch as u32 + self.sources.hosts;
                    self.note_lapse(now, node, self.link_at(switch, port), subject);
                    continue;
                }
                SwitchRequest::Dropped(packet) => {
                    self.note_late_drop(now, switch, packet);
                    continue;
                }
                SwitchRequest::Timer(timer, time) => {
                    self.set_switch_timer(switch, timer, time);
                    continue;
                }
            };
            if Some(ready) != busy {
                self.offer(now, ready);
            }
        }
        self.told.truncate(done);
    }

    fn set_switch_timer(&mut self, switch: usize, timer: SwitchTimer, time: Time) {
        let source = match timer {
            SwitchTimer::Clock => self.sources.switch(switch as u32),
            SwitchTimer::Repeat => self.sources.repeat(switch as u32),
            SwitchTimer::Port(port) => self.sources.release(self.link_at(switch, port)),
        };
        self.wheel.schedule_earlier(source, time);
    }

    /// The link that begins at `port` of `switch`.
    #[inline]
    fn link_at(&self, switch: usize, port: u16) -> u32 {
        self.egress[self.first_port[switch] as usize + usize::from(port)]
    }

    /// Calls every switch once, so that it asks for its first timers.
    pub(crate) fn start_switches(&mut self) {
        for switch in 0..self.switches.len() {
            let (node, mut turn) = self.lend_switch(Time::ZERO, switch);
            node.start(&mut turn);
            self.serve_switch(Time::ZERO, switch, 0);
        }
    }

    /// A timer of `switch` is due.
    pub(crate) fn on_switch_timer(&mut self, now: Time, switch: usize, timer: SwitchTimer) {
        let (node, mut turn) = self.lend_switch(now, switch);
        node.on_timer(&mut turn, timer);
        self.serve_switch(now, switch, 0);
    }

    #[inline]
    pub(crate) fn on_switch_arrival(
        &mut self,
        now: Time,
        switch: usize,
        ingress: u16,
        id: PacketId,
    ) {
        if self.pool[id].kind.is_link_local() {
            let node = switch as u32 + self.sources.hosts;
            if !self.reaches(now, node, self.link_at(switch, ingress), id) {
                return;
            }
        }
        let done = self.told.len();
        let (node, mut turn) = self.lend_switch(now, switch);
        let received = node.receive(&mut turn, ingress, id);
        match received {
            Received::Queued(port) => {
                let link = self.link_at(switch, port);
                if let Some(active) = &mut self.measured.active_flows
                    && self.pool[id].kind == PacketKind::Data
                {
                    active.come(link, self.pool[id].flow_hash);
                }
                if let Some(delays) = &mut self.measured.queue_delays {
                    delays.enter(now, id);
                }
                self.serve_switch(now, switch, done);
                self.offer(now, link);
                if let Some(active) = &mut self.measured.active_flows {
                    active.stay(now);
                }
            }
            Received::Waits(port) => self.offer(now, self.link_at(switch, port)),
            Received::Heard => {
                self.serve_switch(now, switch, done);
                self.offer(now, self.link_at(switch, ingress));
            }
            Received::Dropped { port, payload } => {
                let link = self.link_at(switch, port);
                self.note_drop(now, switch, link, payload, 0);
                self.serve_switch(now, switch, done);
            }
            Received::Refused => {}
        }
    }

    /// A frame of the neighbour arrives at `node`, at the end of `link` there. True when the frame
    /// gets through, false when a fault has lost it.
    pub(crate) fn reaches(&mut self, now: Time, node: u32, link: u32, id: PacketId) -> bool {
        if let Some(losses) = &mut self.control_losses
            && losses.hits(link)
        {
            self.pool.remove(id);
            return false;
        }
        if let Some(signal) = Signal::of(&self.pool[id]) {
            self.list(now, node, link, |events, place| events.hear(place, signal));
        }
        true
    }

    /// Takes the packet that `switch` sends next by `link`, which begins at port `egress`, and says whether
    /// another waits behind it. Serves the requests that this departure causes.
    #[inline(always)]
    pub(crate) fn depart(
        &mut self,
        now: Time,
        switch: usize,
        egress: u16,
        link: u32,
    ) -> Option<(PacketId, bool)> {
        let done = self.told.len();
        let (node, mut turn) = self.lend_switch(now, switch);
        let sent = node.transmit(&mut turn, egress);
        let mut more = node.has_more(egress);
        if let Some(id) = sent {
            let packet = &self.pool[id];
            // The next packet of that queue may have waited longer than a cache remembers: worth 6
            // % of a packet-hop in the reference's incasts, 2 % elsewhere.
            let behind = packet.next;
            if !behind.is_none() {
                prefetch(&self.pool[behind]);
            }
            if packet.kind == PacketKind::Data {
                if let Some(active) = &mut self.measured.active_flows {
                    active.leave(now, link, packet.flow_hash);
                }
                if let Some(delays) = &mut self.measured.queue_delays {
                    delays.leave(now, link, id, packet);
                }
            }
        }
        if self.told.len() > done {
            self.serve_requests(now, switch, done, Some(link));
            more = self.switches[switch].has_more(egress);
        }
        sent.map(|id| (id, more))
    }

    /// As [`Partition::depart`], when `link` has failed: the packet departs for nowhere. Its wait is none.
    pub(super) fn take_waiting(
        &mut self,
        now: Time,
        switch: usize,
        egress: u16,
        link: u32,
    ) -> Option<PacketId> {
        let done = self.told.len();
        self.observer.set_failed(true);
        let (node, mut turn) = self.lend_switch(now, switch);
        let taken = node.transmit(&mut turn, egress);
        self.observer.set_failed(false);
        let packet = taken.map(|id| self.pool[id]);
        if let Some(packet) = packet.filter(|packet| packet.kind == PacketKind::Data)
            && let Some(active) = &mut self.measured.active_flows
        {
            active.leave(now, link, packet.flow_hash);
        }
        self.serve_requests(now, switch, done, Some(link));
        taken
    }

    /// Counts and lists a data packet that has left its queue at `switch` and was dropped.
    #[cold]
    fn note_late_drop(&mut self, now: Time, switch: usize, packet: DroppedPacket) {
        let link = self.link_at(switch, packet.port);
        if let Some(active) = &mut self.measured.active_flows {
            active.leave(now, link, packet.flow_hash);
        }
        self.note_drop(now, switch, link, packet.payload, packet.queue);
    }

    /// Counts and lists a data packet with so much `payload` (bytes) that was to leave `switch` by
    /// `link`; it was in `queue`, or in none yet.
    fn note_drop(&mut self, now: Time, switch: usize, link: u32, payload: u16, queue: u16) {
        self.measured.drops += 1;
        self.measured.dropped_payload += u64::from(payload);
        let node = switch as u32 + self.sources.hosts;
        self.note(now, node, link, PacketEvent::Drop, queue);
    }

    /// Counts and lists a frame that waits at `switch`; returns the link by which the frame will
    /// leave.
    fn note_frame(&mut self, now: Time, switch: usize, frame: ControlFrame) -> u32 {
        let link = self.link_at(switch, frame.port);
        self.measured.pauses.on_send(link, frame.signal);
        if frame.signal.is_event() {
            let event = match frame.signal.is_pause() {
                true => PacketEvent::PauseSent,
                false => PacketEvent::ResumeSent,
            };
            let node = switch as u32 + self.sources.hosts;
            self.note(now, node, link, event, frame.signal.subject());
        }
        link
    }

    /// The pause of `subject` at `node`, where `link` begins, has ended by itself. It is listed as a resume.
    pub(crate) fn note_lapse(&mut self, now: Time, node: u32, link: u32, subject: u32) {
        self.list(now, node, link, |events, place| events.end_pause(place, subject));
    }

    /// Lists an event, where events are asked for. `queue` is as in [`EventTable::push`].
    pub(crate) fn note(
        &mut self,
        now: Time,
        node: u32,
        link: u32,
        event: PacketEvent,
        queue: impl Into<u32>,
    ) {
        self.list(now, node, link, |events, place| events.push(place, event, queue.into()));
    }

    /// Lists what `rows` makes of an event at `node`, where events are asked for.
    pub(crate) fn list(
        &mut self,
        now: Time,
        node: u32,
        link: u32,
        rows: impl FnOnce(&mut EventTable, EventPlace),
    ) {
        if self.measured.event_table.is_none() {
            return;
        }
        let switch = node.checked_sub(self.sources.hosts);
        let bytes = switch.map_or(0, |switch| self.switches[switch as usize].accounts().total);
        let place = EventPlace { time: now, node: self.node(node), link: self.link(link), bytes };
        if let Some(events) = &mut self.measured.event_table {
            rows(events, place);
        }
    }
}
