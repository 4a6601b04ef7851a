//! Homa's control packets: grants, requests to send again (RESEND), BUSY. The policy is in `granter`,
//! `control/homa` and `recovery/resend`. All these packets travel ahead of data (Homa sec. 3.4).

use penstock_packet::{Packet, PacketId, PacketKind};

use super::{Host, Turn};
use crate::granter::{Grant, Message};
use crate::planner::Planner;
use crate::recovery::Reply;

impl Host {
    /// A data packet of a message has arrived. Grants more bytes to messages that may have them, and
    /// acknowledges the packet's message if all of it has arrived.
    pub(super) fn on_message_data(&mut self, turn: &mut Turn<'_>, id: PacketId) {
        let packet = &turn.pool[id];
        let (flow, offset, payload) = (packet.flow, packet.offset, u32::from(packet.payload));
        let incoming = &mut turn.flows.incoming[flow as usize];
        let before = incoming.receiver.delivered();
        let reply = incoming.receiver.on_data(turn.now, offset, payload);
        let after = incoming.receiver.delivered();
        let (source, number, size) = (incoming.identity.source, incoming.number, incoming.size);
        self.watch_receiver(turn, flow);
        if let Some(Planner::Grants(granter)) = self.planner.as_deref_mut() {
            granter.on_data(Message { slot: flow, source, number, size }, before, after);
            self.send_grants(turn);
        }
        match reply {
            Reply::Acknowledge { cumulative } => {
                let packet = &mut turn.pool[id];
                packet.kind = PacketKind::Acknowledgement;
                packet.offset = cumulative;
                packet.remaining = 0;
                self.send_reply(turn, id);
            }
            _ => turn.pool.remove(id),
        }
    }

    fn next_grant(&mut self) -> Option<Grant> {
        match self.planner.as_deref_mut() {
            Some(Planner::Grants(granter)) => granter.take_grant(),
            _ => None,
        }
    }

    fn send_grants(&mut self, turn: &mut Turn<'_>) {
        while let Some(grant) = self.next_grant() {
            turn.flows.incoming[grant.slot as usize].receiver.on_grant(turn.now, grant.offset);
            self.watch_receiver(turn, grant.slot);
            let packet = Packet {
                kind: PacketKind::Grant,
                offset: grant.offset,
                tag: u16::from(grant.level),
                ..Packet::default()
            };
            self.send_back(turn, grant.slot, packet);
        }
    }

    /// The receiver of `flow` asks again for the bytes that it has waited for too long.
    pub(super) fn ask_again(&mut self, turn: &mut Turn<'_>, flow: u32) {
        while let Some(range) = turn.flows.incoming[flow as usize].receiver.resend(turn.now) {
            let packet = Packet {
                kind: PacketKind::Resend,
                offset: range.start,
                remaining: u32::try_from(range.end - range.start).unwrap_or(u32::MAX),
                ..Packet::default()
            };
            self.send_back(turn, flow, packet);
        }
    }

    /// A grant, a RESEND or a BUSY has arrived.
    pub(super) fn on_message_control(&mut self, turn: &mut Turn<'_>, id: PacketId) {
        let packet = turn.pool[id];
        turn.pool.remove(id);
        let flow = packet.flow;
        if packet.kind == PacketKind::Busy {
            if let Some(incoming) = turn.flows.incoming(flow) {
                incoming.receiver.on_busy(turn.now);
                self.watch_receiver(turn, flow);
            }
            return;
        }
        let Some(slot) = turn.flows.slot(flow) else { return };
        let sender = &mut turn.flows.senders[slot as usize];
        if packet.kind == PacketKind::Grant {
            sender.on_grant(packet.offset, packet.tag as u8);
        } else {
            let range = packet.offset..packet.offset + u64::from(packet.remaining);
            if sender.on_resend(range) {
                let busy = Packet { kind: PacketKind::Busy, ..Packet::default() };
                self.send_forward(turn, slot, busy);
            }
        }
        self.refresh(turn, slot);
    }
}
