//! What switches tell each other and the sources: pauses, resumes, bitmaps, drop notices, congestion
//! feedback.

use penstock_packet::{
    ControlFrame, Moment, Observer, Packet, PacketEvent, PacketFlags, PacketId, PacketKind, Signal,
};
use penstock_units::Time;
use rand_core::RngCore;

use crate::clock::Clock;
use crate::measure::events::EventRecord;
use crate::simulation::Simulation;

impl<O: Observer> Simulation<O> {
    pub(crate) fn bitmap_interval(&self) -> Option<Time> {
        self.network.switches.first()?.repeat_interval()
    }

    pub(crate) fn on_bitmap(&mut self, now: Time) {
        for switch in 0..self.network.switches.len() {
            for port in 0..self.network.switches[switch].ports().len() as u16 {
                for frame in self.network.switches[switch].repeated_frames(port) {
                    self.send_frame(now, switch, frame);
                }
            }
        }
        if let Some(interval) = self.bitmap_interval() {
            self.wheel.schedule(self.sources.clock(Clock::Bitmap), now + interval);
        }
    }

    /// A pause, resume or bitmap arrived at a switch.
    pub(crate) fn on_signal(&mut self, now: Time, switch: usize, port: u16, id: PacketId) {
        let node = switch as u32 + self.sources.hosts;
        let link = self.network.ports.egress[node as usize][usize::from(port)];
        if let Some(signal) = Signal::of(&self.pool[id])
            && !self.is_lost()
        {
            let mut moment = Moment { now, pool: &mut self.pool, observer: &mut self.observer };
            self.network.switches[switch].on_signal(&mut moment, port, signal, id);
            if let Signal::PauseTime(_) = signal {
                self.expect_release(link, self.network.switches[switch].port(port).held_until());
            }
            self.note_signal(now, node, link, signal, id);
            self.offer(now, link);
        }
        self.pool.remove(id);
    }

    /// Lists the pause or resume `id` that has arrived at `node`, at the end of `link` there.
    pub(crate) fn note_signal(
        &mut self,
        now: Time,
        node: u32,
        link: u32,
        signal: Signal,
        id: PacketId,
    ) {
        if signal.is_event() {
            let event = match signal.is_pause() {
                true => PacketEvent::PauseReceived,
                false => PacketEvent::ResumeReceived,
            };
            self.note(now, node, link, event, self.pool[id].upstream_queue);
        }
    }

    /// Whether a control frame is lost on its wire.
    pub(crate) fn is_lost(&mut self) -> bool {
        self.control_loss > 0 && u64::from(self.fault_random.next_u32()) < self.control_loss
    }

    pub(crate) fn on_drop(&mut self, now: Time, switch: usize, link: u32, id: PacketId) {
        self.measured.drops += 1;
        let node = switch as u32 + self.sources.hosts;
        self.note(now, node, link, PacketEvent::Drop, 0);
        self.measured.dropped_payload += u64::from(self.pool[id].payload);
        if !self.measured.has_drop_notices {
            return self.pool.remove(id);
        }
        let packet = &mut self.pool[id];
        packet.kind = PacketKind::DropNotice;
        packet.wire_bytes = self.network.frames.acknowledgement;
        if let Some(back) = self.queue_back(switch, id) {
            self.offer(now, back);
        }
    }

    /// Tells the source of a data packet that has just joined a queue of `switch`, or leaves one by
    /// `busy`, how congested the queue is; whether the message waits behind that packet.
    pub(crate) fn send_feedback(
        &mut self,
        now: Time,
        switch: usize,
        data: PacketId,
        feedback: u8,
        busy: Option<u32>,
    ) -> bool {
        let packet = Packet {
            kind: PacketKind::CongestionFeedback,
            wire_bytes: self.network.frames.control,
            payload: 0,
            remaining: u32::from(feedback),
            flags: PacketFlags::default(),
            ..self.pool[data]
        };
        let id = self.pool.insert(packet);
        let Some(back) = self.queue_back(switch, id) else { return false };
        if busy == Some(back) {
            return true;
        }
        self.offer(now, back);
        false
    }

    /// Queues a packet on the reverse of the way that the data packet took which it was, or of which
    /// it is a copy; `switch` is the last one on that way. The link by which it leaves, if there is
    /// one.
    fn queue_back(&mut self, switch: usize, id: PacketId) -> Option<u32> {
        let back = match self.has_outages {
            true => self.link_of_table(switch, id),
            false => {
                self.pool[id].hop -= 1; // to the link by which it came, and next_link to the one before
                self.next_link(id)
            }
        };
        let egress = self.network.wires[back? as usize].from_port;
        self.network.switches[switch].enqueue_control(&mut self.pool, id, egress);
        back
    }

    /// Sends a frame to a neighbour, ahead of everything else.
    pub(crate) fn send_frame(&mut self, now: Time, switch: usize, frame: ControlFrame) {
        let link = self.queue_frame(now, switch, frame);
        self.offer(now, link);
    }

    /// The same while a packet leaves by `busy`, behind which the frame waits if it leaves by that
    /// link too, as it does when the packet has turned back at the switch; whether it waits.
    pub(crate) fn send_frame_beside(
        &mut self,
        now: Time,
        switch: usize,
        frame: ControlFrame,
        busy: u32,
    ) -> bool {
        let link = self.queue_frame(now, switch, frame);
        if link != busy {
            self.offer(now, link);
        }
        link == busy
    }

    /// Puts a frame into the control queue of its port; answers by which link it leaves.
    fn queue_frame(&mut self, now: Time, switch: usize, frame: ControlFrame) -> u32 {
        let node = switch as u32 + self.sources.hosts;
        let link = self.network.ports.egress[node as usize][usize::from(frame.port)];
        self.measured.pauses.on_send(link, frame.signal);
        let packet = frame.signal.frame(self.network.frames.control);
        let queue = packet.upstream_queue;
        let id = self.pool.insert(packet);
        self.network.switches[switch].enqueue_control(&mut self.pool, id, frame.port);
        if frame.signal.is_event() {
            let event = if frame.signal.is_pause() {
                PacketEvent::PauseSent
            } else {
                PacketEvent::ResumeSent
            };
            self.note(now, node, link, event, queue);
        }
        link
    }

    /// Lists an event, where events are asked for.
    pub(crate) fn note(&mut self, now: Time, node: u32, link: u32, event: PacketEvent, queue: u16) {
        if let Some(events) = &mut self.measured.event_table {
            let switch = node.checked_sub(self.sources.hosts);
            let bytes =
                switch.map_or(0, |switch| self.network.switches[switch as usize].accounts().total);
            events.push(EventRecord { time: now, node, link, event, queue, bytes });
        }
    }
}
