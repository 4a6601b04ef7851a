//! Data that arrive at a host, and the host's replies.

use penstock_packet::{Packet, PacketFlags, PacketId, PacketKind};
use penstock_units::Time;

use super::{Host, Request, Timer, Turn};
use crate::notification::Notification;
use crate::planner::Planner;
use crate::recovery::Reply;

/// Unit of the gap of a packet pair in an acknowledgement: 16 ps, so that its 32 bits reach 68 ms.
pub(super) const GAP_UNIT: Time = Time::from_ps(16);

impl Host {
    #[inline]
    pub(super) fn on_data(&mut self, turn: &mut Turn<'_>, id: PacketId) {
        if self.planner.is_some() && self.is_planned(turn, id) {
            return;
        }
        let packet = &turn.pool[id];
        let flow = packet.flow;
        let Some(incoming) = turn.flows.incoming(flow) else { return turn.pool.remove(id) };
        let is_marked = packet.flags.contains(PacketFlags::MARKED);
        let wire_bytes = u32::from(packet.wire_bytes);
        if let Some(notification) = incoming.receiver.notification(turn.now, wire_bytes, is_marked)
        {
            self.notify(turn, flow, notification);
        }
        let is_credited = self.credited.is_some();
        if is_credited {
            self.on_credited_data(turn, id);
        }
        self.watch_receiver(turn, flow);
        let incoming = &mut turn.flows.incoming[flow as usize];
        let receiver = &mut incoming.receiver;
        let packet = &mut turn.pool[id];
        let (offset, payload) = (packet.offset, u32::from(packet.payload));
        let opens_pair = packet.flags.contains(PacketFlags::OPENS_PAIR);
        let gap = receiver.pair_gap(turn.now, offset, payload, opens_pair);
        match receiver.on_data(turn.now, offset, payload) {
            // Credits acknowledge the data, until nothing is left to credit.
            Reply::Acknowledge { cumulative } if is_credited && cumulative != incoming.size => {
                return turn.pool.remove(id);
            }
            Reply::Acknowledge { cumulative } => {
                packet.kind = PacketKind::Acknowledgement;
                packet.offset = cumulative;
                packet.queue = self.nic.reply_label(incoming.number).unwrap_or(packet.queue);
                packet.remaining =
                    u32::try_from(gap.as_ps() / GAP_UNIT.as_ps()).unwrap_or(u32::MAX);
            }
            Reply::Negative { expected, received } => {
                packet.kind = PacketKind::NegativeAcknowledgement;
                packet.offset = expected;
                packet.remaining = u32::try_from(received - expected).unwrap_or(u32::MAX);
            }
            Reply::Nothing => return turn.pool.remove(id),
        }
        self.send_reply(turn, id);
    }

    /// Data have arrived at a host whose receivers plan together. Answers whether nothing else is to be done.
    #[inline(never)] // few schemes come here
    fn is_planned(&mut self, turn: &mut Turn<'_>, id: PacketId) -> bool {
        let flow = turn.pool[id].flow;
        if turn.flows.incoming(flow).is_none() {
            return false;
        }
        let grants = matches!(self.planner.as_deref(), Some(Planner::Grants(_)));
        match grants {
            true => self.on_message_data(turn, id),
            false => self.ask_for_pull(turn, flow, 0),
        }
        grants
    }

    /// Sends a reply back to the source of the data packet from which it was made.
    #[inline]
    pub(super) fn send_reply(&mut self, turn: &mut Turn<'_>, id: PacketId) {
        let packet = &mut turn.pool[id];
        packet.wire_bytes = self.frames.acknowledgement;
        packet.payload = 0;
        self.control.push(turn.pool, id);
        turn.requests.set_ready();
    }

    /// Sends a congestion notification to the source of `flow`, ahead of the reply to the data packet.
    fn notify(&mut self, turn: &mut Turn<'_>, flow: u32, notification: Notification) {
        let mut flags = PacketFlags::default();
        if notification.is_congested {
            flags.insert(PacketFlags::MARKED);
        }
        let packet = Packet {
            kind: PacketKind::CongestionNotification,
            flags,
            remaining: notification.receiving_rate,
            ..Packet::default()
        };
        self.send_back(turn, flow, packet);
    }

    /// Asks for a timer at the deadline of the receiver of `flow`, unless an earlier one is set.
    #[inline]
    pub(super) fn watch_receiver(&self, turn: &mut Turn<'_>, flow: u32) {
        let incoming = &mut turn.flows.incoming[flow as usize];
        let deadline = incoming.receiver.deadline();
        if deadline < incoming.timer {
            incoming.timer = deadline;
            turn.requests.push(Request::Timer(Timer::Receiver(flow), deadline));
        }
    }

    pub(super) fn on_receiver_timer(&mut self, turn: &mut Turn<'_>, flow: u32) {
        let Some(incoming) = turn.flows.incoming(flow) else { return };
        incoming.timer = Time::NEVER;
        if let Some(notification) = incoming.receiver.on_deadline(turn.now) {
            self.notify(turn, flow, notification);
        }
        self.ask_again(turn, flow);
        self.send_due_credit(turn, flow);
        self.watch_receiver(turn, flow);
    }
}
