//! The packets that leave a host: control packets first, then credits and the data that they paid for,
//! or the NIC's choice.

use penstock_packet::{Packet, PacketFlags, PacketId, PacketKind};
use penstock_units::{Fidelity, Time};

use super::{Flows, Host, Request, Timer, Turn};
use crate::sender::Segment;

impl Host {
    /// The packet that leaves now, if there is one. The uplink must be free.
    #[inline(always)] // a driver has one call
    pub fn transmit(&mut self, turn: &mut Turn<'_>) -> Option<PacketId> {
        let id = self.leaving(turn)?;
        self.counters.carried.add(&turn.pool[id]);
        Some(id)
    }

    /// As [`Host::transmit`], before the packet is counted.
    #[inline(always)] // part of `transmit`
    fn leaving(&mut self, turn: &mut Turn<'_>) -> Option<PacketId> {
        if let Some(id) = self.control.pop(turn.pool) {
            return Some(id);
        }
        if self.held_until > turn.now {
            return None; // the timer of the uplink runs
        }
        if self.credited.is_some() {
            return self.next_credited(turn);
        }
        let slot = self.nic.next(turn.now, &mut turn.flows.senders)?;
        Some(self.next_packet(turn, slot))
    }

    /// Whether a packet waits behind the one that [`Host::transmit`] has given. A flow does not count
    /// while its pacing gap lasts ([`Host::ready_at`]). A flow of a paused queue may count.
    #[inline]
    pub fn has_more(&self) -> bool {
        let has_data = match &self.credited {
            None => self.nic.has_ready(),
            Some(credited) => !(credited.credits.is_empty() && credited.data.is_empty()),
        };
        has_data || !self.control.is_empty()
    }

    /// When a host that has nothing to send looks again because of pacing, at `earliest` or later (ps).
    /// `None` when only an input can give the host something to send. In the ns-3 HPCC simulator's
    /// fidelity an alarm that is set stays as it is.
    #[inline]
    pub fn ready_at(&self, flows: &Flows, earliest: Time) -> Option<Time> {
        if self.credited.is_some() || self.held_until > earliest {
            return None; // the timer of the uplink runs
        }
        self.nic.wake_at(earliest, &flows.senders).map(|time| time.max(earliest))
    }

    /// The next packet of the flow in `slot`, which the NIC chose.
    #[inline(never)] // a packet on the stack would make every departure align the stack
    fn next_packet(&mut self, turn: &mut Turn<'_>, slot: u32) -> PacketId {
        let sender = &mut turn.flows.senders[slot as usize];
        let (segment, label) = (sender.send(turn.now), self.nic.label(sender.queue()));
        let packet = self.data_packet(turn, slot, &segment, label);
        self.nic.after_send(slot, turn.now, &mut turn.flows.senders);
        self.watch_sender(turn, slot);
        let id = turn.pool.insert(packet);
        self.pay(turn, id);
        id
    }

    /// Makes a packet with the bytes of `segment`, from the queue of the NIC with this `label`. The sender
    /// in `slot` counts these bytes as sent.
    #[inline]
    pub(super) fn data_packet(
        &self,
        turn: &Turn<'_>,
        slot: u32,
        segment: &Segment,
        label: u16,
    ) -> Packet {
        let outgoing = &turn.flows.outgoing[slot as usize];
        let mut flags = PacketFlags::TRACKED;
        if outgoing.is_incast {
            flags.insert(PacketFlags::INCAST);
        }
        if segment.is_retransmission {
            flags.insert(PacketFlags::RETRANSMISSION);
        }
        if segment.opens_pair {
            flags.insert(PacketFlags::OPENS_PAIR);
        }
        outgoing.identity.mark(
            outgoing.flow,
            Packet {
                offset: segment.offset,
                sent_at: turn.now,
                remaining: u32::try_from(segment.remaining).unwrap_or(u32::MAX),
                wire_bytes: (segment.payload + self.frames.data_overhead) as u16,
                payload: segment.payload as u16,
                queue: label,
                kind: PacketKind::Data,
                class: outgoing.class,
                tag: u16::from(segment.level),
                flags,
                ..Packet::default()
            },
        )
    }

    /// Queues a control packet. `packet` states its own size.
    #[inline]
    pub(super) fn send(&mut self, turn: &mut Turn<'_>, packet: Packet) {
        let id = turn.pool.insert(packet);
        self.control.push(turn.pool, id);
        turn.requests.set_ready();
    }

    /// Queues a control packet from the source of the flow in `slot` to its destination.
    pub(super) fn send_forward(&mut self, turn: &mut Turn<'_>, slot: u32, packet: Packet) {
        let outgoing = &turn.flows.outgoing[slot as usize];
        let packet = outgoing.identity.mark(outgoing.flow, packet);
        self.send(turn, Packet { wire_bytes: self.frames.control, ..packet });
    }

    /// Queues a control packet from the destination of `flow` to its source.
    pub(super) fn send_back(&mut self, turn: &mut Turn<'_>, flow: u32, packet: Packet) {
        let packet = turn.flows.incoming[flow as usize].identity.mark(flow, packet);
        self.send(turn, Packet { wire_bytes: self.frames.control, ..packet });
    }

    /// The flow in `slot` may have become ready, and its timers may have moved.
    #[inline]
    pub(super) fn refresh(&mut self, turn: &mut Turn<'_>, slot: u32) {
        self.signal_receiver(turn, slot);
        self.watch_sender(turn, slot);
        if self.nic.on_change(slot, turn.now, &mut turn.flows.senders, &mut self.draws.nic) {
            self.note_pause_end(turn.now);
        }
        turn.requests.set_ready();
    }

    /// Asks for a timer at the deadline of the sender in `slot`, or now if that is over, unless an earlier
    /// one is set.
    #[inline(always)] // each data packet and each answer comes here
    pub(super) fn watch_sender(&self, turn: &mut Turn<'_>, slot: u32) {
        let deadline = turn.flows.senders[slot as usize].deadline();
        let outgoing = &mut turn.flows.outgoing[slot as usize];
        if deadline < outgoing.timer {
            outgoing.timer = deadline;
            let due = deadline.max(turn.now);
            turn.requests.push(Request::Timer(Timer::Sender(outgoing.flow), due));
        }
    }

    pub(super) fn on_sender_timer(&mut self, turn: &mut Turn<'_>, flow: u32) {
        let Some(slot) = turn.flows.slot(flow) else { return };
        turn.flows.outgoing[slot as usize].timer = Time::NEVER;
        self.signal_receiver(turn, slot);
        let sender = &mut turn.flows.senders[slot as usize];
        if sender.deadline() > turn.now {
            return self.watch_sender(turn, slot);
        }
        if sender.on_deadline(turn.now) {
            self.counters.timeouts += 1;
        }
        if turn.flows.senders[slot as usize].is_complete() {
            return self.complete(turn, slot); // it has stopped, and nothing was in flight
        }
        match self.fidelity {
            Fidelity::Exact => self.refresh(turn, slot),
            // There a timer does not wake the NIC.
            Fidelity::Ns3Hpcc | Fidelity::Ns3Bfc => self.watch_sender(turn, slot),
        }
    }
}
