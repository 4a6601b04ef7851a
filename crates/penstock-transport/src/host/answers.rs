//! What a host does with answers to its data: acknowledgements, congestion notifications, notices of
//! drops.

use penstock_packet::{PacketFlags, PacketId, PacketKind};

use super::receiving::GAP_UNIT;
use super::{Host, Request, Turn};
use crate::notification::Notification;
use crate::path::Acknowledgement;

impl Host {
    #[inline]
    pub(super) fn on_acknowledgement(&mut self, turn: &mut Turn<'_>, id: PacketId) {
        let packet = &turn.pool[id];
        let flow = packet.flow;
        if let Some(slot) = turn.flows.slot(flow) {
            let is_negative = packet.kind == PacketKind::NegativeAcknowledgement;
            let gap = if is_negative { 0 } else { packet.remaining };
            let acknowledgement = Acknowledgement {
                cumulative: packet.offset,
                is_negative,
                received: packet.offset + u64::from(packet.remaining),
                pair_gap: GAP_UNIT * u64::from(gap),
                is_marked: packet.flags.contains(PacketFlags::MARKED),
                sent_at: packet.sent_at,
                path: packet.tag,
                telemetry: turn.pool.telemetry(id),
            };
            let sender = &mut turn.flows.senders[slot as usize];
            let is_complete = sender.on_acknowledgement(turn.now, &acknowledgement);
            if self.fidelity.is_ns3() && sender.has_moved_gap() {
                turn.requests.push(Request::Alarm(sender.next_available()));
            }
            if is_complete {
                self.complete(turn, slot);
            } else {
                self.refresh(turn, slot);
            }
        }
        turn.pool.remove(id);
    }

    /// A congestion notification of the receiver, or the feedback of a switch, has arrived.
    pub(super) fn on_congestion(&mut self, turn: &mut Turn<'_>, id: PacketId) {
        let packet = &turn.pool[id];
        let (flow, value) = (packet.flow, packet.remaining);
        if let Some(slot) = turn.flows.slot(flow) {
            let sender = &mut turn.flows.senders[slot as usize];
            if packet.kind == PacketKind::CongestionFeedback {
                sender.on_feedback(turn.now, value as u8);
            } else {
                let is_congested = packet.flags.contains(PacketFlags::MARKED);
                let notification = Notification { is_congested, receiving_rate: value };
                sender.on_notification(turn.now, notification);
            }
            self.refresh(turn, slot);
        }
        turn.pool.remove(id);
    }

    /// A notice has arrived: a switch dropped a data packet, or trimmed it.
    pub(super) fn on_drop_notice(&mut self, turn: &mut Turn<'_>, id: PacketId) {
        let packet = &turn.pool[id];
        let (flow, offset, payload) = (packet.flow, packet.offset, u32::from(packet.payload));
        if let Some(slot) = turn.flows.slot(flow) {
            turn.flows.senders[slot as usize].on_switch_drop(turn.now, offset, payload);
            self.refresh(turn, slot);
        }
        turn.pool.remove(id);
    }
}
