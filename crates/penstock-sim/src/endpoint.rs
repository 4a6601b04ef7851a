//! What hosts do: send packets, acknowledge them, obey.

use penstock_packet::{Observer, Packet, PacketFlags, PacketId, PacketKind, Signal};
use penstock_transport::{Acknowledgement, Notification, Reply, Segment};
use penstock_units::Time;

use crate::simulation::Simulation;

/// What a congestion notification says.
fn notification(packet: &Packet) -> Notification {
    Notification {
        is_congested: packet.flags.contains(PacketFlags::MARKED),
        receiving_rate: packet.remaining,
    }
}

/// Fractional bits of [`Flow::byte_time`].
pub(crate) const BYTE_TIME_BITS: u32 = 10;

/// Unit of the gap of a packet pair in an acknowledgement: 16 ps, so that its 32 bits reach 68 ms.
const GAP_UNIT: Time = Time::from_ps(16);

impl<O: Observer> Simulation<O> {
    /// The uplink of `host` is free: acknowledgements first, then the NIC's choice.
    pub(crate) fn send_from_host(&mut self, now: Time, host: u32, link: u32) {
        let sender = &mut self.network.hosts[host as usize];
        let id = match sender.control.pop(&self.pool) {
            Some(id) => id,
            None if sender.held_until > now => return, // its release is on the wheel
            None if sender.credits.is_some() => match self.credited(now, host) {
                Some(id) => id,
                None => return self.await_tokens(link),
            },
            None => match sender.nic.next(now, &mut self.slots.senders) {
                Some(slot) => self.packet(now, host, slot),
                None => return self.sleep(now, host),
            },
        };
        let sender = &self.network.hosts[host as usize];
        let has_data = match &sender.credits {
            None => sender.nic.has_ready(),
            Some(waiting) => !waiting.is_empty(),
        };
        let more = !sender.control.is_empty() || has_data;
        self.transmit(now, link, id, more);
        if !more {
            self.sleep(self.network.wires[link as usize].free_at, host);
        }
    }

    /// Wakes the NIC when its first paced flow may send, but not before `earliest`. In the ns-3 HPCC
    /// simulator an alarm that is set stays as it is.
    fn sleep(&mut self, earliest: Time, host: u32) {
        let alarm = self.sources.host(host);
        if self.ns3.is_some() && self.wheel.is_pending(alarm) {
            return;
        }
        let nic = &self.network.hosts[host as usize].nic;
        if let Some(time) = nic.wake_at(earliest, &self.slots.senders) {
            self.wheel.schedule_earlier(alarm, time.max(earliest));
        }
    }

    /// In the ns-3 HPCC simulator the pacing gap of one flow, when it moves, moves an alarm that is
    /// set for later.
    fn move_alarm(&mut self, now: Time, host: u32, gap: Time) {
        let alarm = self.sources.host(host);
        if self.wheel.is_pending(alarm) && gap < self.wheel.due(alarm) {
            self.wheel.cancel(alarm);
            self.wheel.schedule(alarm, gap.max(now));
        }
    }

    /// The next packet of the flow in `slot`.
    fn packet(&mut self, now: Time, host: u32, slot: u32) -> PacketId {
        let sender = &mut self.slots.senders[slot as usize];
        let (segment, queue) = (sender.send(now), sender.queue());
        let packet = self.data_packet(now, slot, &segment, queue);
        let nic = &mut self.network.hosts[host as usize].nic;
        nic.after_send(slot, now, &mut self.slots.senders);
        self.watch(slot);
        let id = self.pool.insert(packet);
        self.pay(host, id);
        id
    }

    /// A packet with the bytes of `segment`, which count as sent, from `queue` of the NIC.
    #[inline]
    pub(crate) fn data_packet(
        &mut self,
        now: Time,
        slot: u32,
        segment: &Segment,
        queue: u16,
    ) -> Packet {
        let route = self.slots.forward(slot);
        let flow = &mut self.slots.flows[slot as usize];
        flow.packets += 1;
        let mut flags = PacketFlags::TRACKED;
        if flow.is_incast {
            flags.insert(PacketFlags::INCAST);
        }
        if segment.is_retransmission {
            flags.insert(PacketFlags::RETRANSMISSION);
        }
        if segment.opens_pair {
            flags.insert(PacketFlags::OPENS_PAIR);
        }
        self.measured.sent_payload += u64::from(segment.payload);
        Packet {
            flow: slot,
            flow_hash: flow.hash,
            route,
            offset: segment.offset,
            sent_at: now,
            remaining: u32::try_from(segment.remaining).unwrap_or(u32::MAX),
            wire_bytes: (segment.payload + self.network.frames.data_overhead) as u16,
            payload: segment.payload as u16,
            queue,
            kind: PacketKind::Data,
            class: flow.class,
            tag: u16::from(segment.level),
            flags,
            hop: 1,
            ..Packet::default()
        }
    }

    #[inline]
    pub(crate) fn on_host_arrival(&mut self, now: Time, host: u32, id: PacketId) {
        match self.pool[id].kind {
            PacketKind::Data => self.on_data(now, host, id),
            PacketKind::Acknowledgement | PacketKind::NegativeAcknowledgement => {
                self.on_acknowledgement(now, host, id);
            }
            PacketKind::DropNotice => self.on_drop_notice(now, host, id),
            PacketKind::CongestionFeedback | PacketKind::CongestionNotification => {
                self.on_congestion(now, host, id);
            }
            PacketKind::Grant | PacketKind::Resend | PacketKind::Busy => {
                self.on_message_control(now, host, id);
            }
            PacketKind::Credit => self.on_credit(now, host, id),
            PacketKind::CreditRequest | PacketKind::CreditStop => self.on_credit_signal(now, id),
            _ => self.on_host_signal(now, host, id),
        }
    }

    fn on_data(&mut self, now: Time, host: u32, id: PacketId) {
        let packet = &mut self.pool[id];
        let slot = packet.flow;
        self.measured.arrived_payload += u64::from(packet.payload);
        let Some(flow) = self.slots.live_flow(slot) else { return self.retire(id) };
        if let Some(order) = &mut self.order {
            order.on_arrival(slot, flow.number, packet);
        }
        let unloaded = flow.latency.as_ps()
            + ((u64::from(packet.wire_bytes) * flow.byte_time) >> BYTE_TIME_BITS);
        let queued = (now - packet.sent_at).as_ps().saturating_sub(unloaded);
        self.measured.delays[usize::from(flow.label)].record(queued);
        if self.granters.is_some() {
            return self.on_message_data(now, host, id);
        }
        let is_marked = packet.flags.contains(PacketFlags::MARKED);
        let wire_bytes = u32::from(packet.wire_bytes);
        let receiver = &mut self.slots.receivers[slot as usize];
        if let Some(notification) = receiver.notification(now, wire_bytes, is_marked) {
            self.notify(now, host, slot, notification);
        }
        let is_credited = self.credits.is_some();
        if is_credited {
            self.on_credited_data(now, id);
        }
        self.watch_receiver(slot);
        let packet = &mut self.pool[id];
        let receiver = &mut self.slots.receivers[slot as usize];
        let (offset, payload) = (packet.offset, u32::from(packet.payload));
        let opens_pair = packet.flags.contains(PacketFlags::OPENS_PAIR);
        let gap = receiver.pair_gap(now, offset, payload, opens_pair);
        match receiver.on_data(now, offset, payload) {
            // Credits acknowledge, until there is nothing to credit any more.
            Reply::Acknowledge { cumulative }
                if is_credited && cumulative != self.slots.flows[slot as usize].size =>
            {
                return self.retire(id);
            }
            Reply::Acknowledge { cumulative } => {
                packet.kind = PacketKind::Acknowledgement;
                packet.offset = cumulative;
                packet.remaining =
                    u32::try_from(gap.as_ps() / GAP_UNIT.as_ps()).unwrap_or(u32::MAX);
            }
            Reply::Negative { expected, received } => {
                packet.kind = PacketKind::NegativeAcknowledgement;
                packet.offset = expected;
                packet.remaining = u32::try_from(received - expected).unwrap_or(u32::MAX);
            }
            Reply::Nothing => return self.retire(id),
        }
        self.send_reply(now, host, id);
    }

    /// Sends a data packet that has become a reply back to its source.
    #[inline]
    pub(crate) fn send_reply(&mut self, now: Time, host: u32, id: PacketId) {
        let packet = &mut self.pool[id];
        packet.wire_bytes = self.network.frames.acknowledgement;
        packet.payload = 0;
        packet.route = self.slots.back(packet.flow);
        packet.hop = 1;
        let host = &mut self.network.hosts[host as usize];
        host.control.push(&mut self.pool, id);
        let uplink = host.uplink;
        self.offer(now, uplink);
    }

    /// Sends a congestion notification from `host` to the source of the flow in `slot`, ahead of the
    /// reply to the data packet.
    fn notify(&mut self, now: Time, host: u32, slot: u32, notification: Notification) {
        let mut flags = PacketFlags::default();
        if notification.is_congested {
            flags.insert(PacketFlags::MARKED);
        }
        let packet = Packet {
            route: self.slots.back(slot),
            kind: PacketKind::CongestionNotification,
            flags,
            remaining: notification.receiving_rate,
            ..Packet::default()
        };
        self.send_control(now, host, slot, packet);
    }

    /// Sends a control packet of the flow in `slot` from `host`, on the route that it names.
    pub(crate) fn send_control(&mut self, now: Time, host: u32, slot: u32, packet: Packet) {
        let wire_bytes = self.network.frames.control;
        let id = self.insert_packet(slot, Packet { wire_bytes, ..packet });
        let host = &mut self.network.hosts[host as usize];
        host.control.push(&mut self.pool, id);
        let uplink = host.uplink;
        self.offer(now, uplink);
    }

    /// A packet of the flow in `slot` that is at its first hop.
    pub(crate) fn insert_packet(&mut self, slot: u32, packet: Packet) -> PacketId {
        let flow = &mut self.slots.flows[slot as usize];
        flow.packets += 1;
        self.pool.insert(Packet { flow: slot, flow_hash: flow.hash, hop: 1, ..packet })
    }

    /// A congestion notification of the receiver, or the feedback of a switch.
    fn on_congestion(&mut self, now: Time, host: u32, id: PacketId) {
        let packet = self.pool[id];
        let slot = packet.flow;
        if self.slots.live_flow(slot).is_some() {
            let sender = &mut self.slots.senders[slot as usize];
            match packet.kind {
                PacketKind::CongestionFeedback => sender.on_feedback(now, packet.remaining as u8),
                _ => sender.on_notification(now, notification(&packet)),
            }
            self.refresh(now, host, slot);
        }
        self.retire(id);
    }

    fn on_acknowledgement(&mut self, now: Time, host: u32, id: PacketId) {
        let packet = &self.pool[id];
        let slot = packet.flow;
        if self.slots.live_flow(slot).is_some() {
            let is_negative = packet.kind == PacketKind::NegativeAcknowledgement;
            let gap = if is_negative { 0 } else { packet.remaining };
            let acknowledgement = Acknowledgement {
                cumulative: packet.offset,
                is_negative,
                received: packet.offset + u64::from(packet.remaining),
                pair_gap: GAP_UNIT * u64::from(gap),
                is_marked: packet.flags.contains(PacketFlags::MARKED),
                sent_at: packet.sent_at,
                telemetry: self.pool.telemetry(id),
            };
            let sender = &mut self.slots.senders[slot as usize];
            let is_complete = sender.on_acknowledgement(now, &acknowledgement);
            if self.ns3.is_some() && sender.has_moved_gap() {
                let gap = sender.next_available();
                self.move_alarm(now, host, gap);
            }
            if is_complete {
                self.end_flow(now, host, slot);
                if self.ns3.is_some() {
                    self.offer(now, self.network.hosts[host as usize].uplink);
                }
            } else {
                self.refresh(now, host, slot);
            }
        }
        self.retire(id);
    }

    /// A packet of a flow is no more.
    #[inline]
    pub(crate) fn retire(&mut self, id: PacketId) {
        self.slots.release_packet(self.pool[id].flow);
        self.pool.remove(id);
    }

    /// The flow in `slot` may have become ready, and its timer may have moved.
    #[inline]
    pub(crate) fn refresh(&mut self, now: Time, host: u32, slot: u32) {
        self.signal_receiver(now, host, slot);
        self.watch(slot);
        let host = &mut self.network.hosts[host as usize];
        host.nic.on_change(slot, now, &mut self.slots.senders, &mut self.nic_random);
        let uplink = host.uplink;
        self.offer(now, uplink);
    }

    /// Sees to an event at the deadline of the flow in `slot`, or before.
    #[inline]
    pub(crate) fn watch(&mut self, slot: u32) {
        let deadline = self.slots.senders[slot as usize].deadline();
        self.wake_by(slot, deadline);
    }

    /// Sees to an event at the deadline of the flow's receiver, or before.
    #[inline]
    pub(crate) fn watch_receiver(&mut self, slot: u32) {
        let deadline = self.slots.receivers[slot as usize].deadline();
        self.wake_by(slot, deadline);
    }

    #[inline]
    fn wake_by(&mut self, slot: u32, deadline: Time) {
        let flow = &mut self.slots.flows[slot as usize];
        if deadline < flow.timer {
            flow.timer = deadline;
            self.wheel.schedule_earlier(self.sources.flow(slot), deadline);
        }
    }

    fn on_drop_notice(&mut self, now: Time, host: u32, id: PacketId) {
        let packet = self.pool[id];
        if self.slots.live_flow(packet.flow).is_some() {
            let sender = &mut self.slots.senders[packet.flow as usize];
            sender.on_switch_drop(packet.offset, u32::from(packet.payload));
            self.refresh(now, host, packet.flow);
        }
        self.retire(id);
    }

    fn on_host_signal(&mut self, now: Time, host: u32, id: PacketId) {
        if let Some(signal) = Signal::of(&self.pool[id])
            && !self.is_lost()
        {
            self.measured.on_host_signal(now, host, signal);
            let uplink = self.network.hosts[host as usize].uplink;
            self.note_signal(now, host, uplink, signal, id);
            let nic = &mut self.network.hosts[host as usize].nic;
            match signal {
                Signal::PauseClass(class) => nic.pause_class(class),
                Signal::ResumeClass(class) => nic.resume_class(class),
                Signal::PauseQueue(queue) => nic.pause_queue(queue),
                Signal::ResumeQueue(queue) => nic.resume_queue(queue, &mut self.slots.senders),
                Signal::QueueBitmap(bitmap) => {
                    nic.set_paused_queues(bitmap, &mut self.slots.senders);
                }
                Signal::PauseTime(nanoseconds) => {
                    self.hold_host(now, host, Time::from_ns(u64::from(nanoseconds)));
                }
                Signal::Credit { account, granted } => self.on_host_credit(host, account, granted),
                // Switches pause the queues of NICs, not flows.
                Signal::PauseFlow(_) | Signal::ResumeFlow(_) => {}
            }
            if self.ns3.is_none() || !signal.is_pause() {
                self.offer(now, uplink);
            }
        }
        self.pool.remove(id);
    }

    pub(crate) fn on_flow_timer(&mut self, now: Time, slot: u32) {
        let flow = &mut self.slots.flows[slot as usize];
        flow.timer = Time::NEVER;
        let (host, destination) = (flow.source, flow.destination);
        if let Some(notification) = self.slots.receivers[slot as usize].on_deadline(now) {
            self.notify(now, destination, slot, notification);
        }
        self.ask_again(now, slot);
        self.send_due_credit(now, slot);
        self.watch_receiver(slot);
        let sender = &mut self.slots.senders[slot as usize];
        if sender.deadline() > now {
            return self.watch(slot);
        }
        if sender.on_deadline(now) {
            self.measured.timeouts += 1;
        }
        match self.ns3 {
            None => self.refresh(now, host, slot),
            Some(_) => self.watch(slot), // there a timer does not wake the NIC
        }
    }
}
