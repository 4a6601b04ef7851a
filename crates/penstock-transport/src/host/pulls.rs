//! What a receiver does about packets that switches have trimmed, and its PULLs. The policy is in `puller`,
//! `control/ndp` and `recovery/trimmed_headers`. All these packets travel ahead of data.

use penstock_packet::{Packet, PacketId, PacketKind};
use penstock_units::Time;

use super::{Host, Request, Timer, Turn};
use crate::planner::Planner;
use crate::puller::Puller;

impl Host {
    /// Whether receivers pull (NDP).
    pub fn has_pulls(&self) -> bool {
        matches!(self.planner.as_deref(), Some(Planner::Pulls(_)))
    }

    fn puller(&mut self) -> Option<&mut Puller> {
        match self.planner.as_deref_mut() {
            Some(Planner::Pulls(puller)) => Some(puller),
            _ => None,
        }
    }

    /// The header of a packet has arrived whose payload a switch has cut off: tells the source.
    pub(super) fn on_trimmed(&mut self, turn: &mut Turn<'_>, id: PacketId) {
        let packet = &mut turn.pool[id];
        let (flow, payload) = (packet.flow, u32::from(packet.payload));
        packet.kind = PacketKind::DropNotice;
        packet.wire_bytes = self.frames.acknowledgement;
        if turn.flows.incoming(flow).is_none() {
            return turn.pool.remove(id);
        }
        self.control.push(turn.pool, id);
        turn.requests.set_ready();
        self.ask_for_pull(turn, flow, payload);
    }

    /// A packet of `flow` has arrived without `trimmed` bytes of its payload (bytes).
    pub(super) fn ask_for_pull(&mut self, turn: &mut Turn<'_>, flow: u32, trimmed: u32) {
        let Some(puller) = self.puller() else { return };
        if turn.flows.incoming[flow as usize].receiver.asks_for_pull(trimmed) {
            puller.enter(flow);
            self.send_due_pull(turn);
        }
    }

    /// Sends the next PULL if it may leave, or asks for a timer.
    pub(super) fn send_due_pull(&mut self, turn: &mut Turn<'_>) {
        let Some(puller) = self.puller() else { return };
        let due = puller.take(turn.now);
        if let Some(flow) = due {
            let (allowed, has_more) = turn.flows.incoming[flow as usize].receiver.take_pull();
            if has_more {
                puller.enter(flow);
            }
            let packet = Packet { kind: PacketKind::Grant, offset: allowed, ..Packet::default() };
            self.send_back(turn, flow, packet);
        }
        let Some(puller) = self.puller() else { return };
        let next = puller.deadline();
        if next != Time::NEVER {
            turn.requests.push(Request::Timer(Timer::Uplink, next));
        }
    }

    /// The flow named `flow` needs no more PULLs.
    pub(super) fn forget_pulls(&mut self, flow: u32) {
        if let Some(puller) = self.puller() {
            puller.leave(flow);
        }
    }
}
