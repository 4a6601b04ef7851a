//! What Homa's hosts tell each other beside data: grants, requests to send again, BUSY.
//!
//! The policy is in `penstock-transport` (`granters`, `control/homa`, `recovery/resend`). All of these
//! are control packets, which travel ahead of data (Homa sec. 3.4: at the highest priority).

use penstock_packet::{Observer, Packet, PacketId, PacketKind};
use penstock_transport::{ControllerConfig, Granters, Message, Reply};
use penstock_units::Time;

use crate::network::Network;
use crate::scenario::Scenario;
use crate::simulation::Simulation;

/// The granting halves of the hosts of `scenario`, if they are Homa's.
pub(crate) fn granters(scenario: &Scenario, network: &Network) -> Option<Box<Granters>> {
    let ControllerConfig::Homa(homa) = &scenario.scheme.host.controller else { return None };
    Some(Box::new(Granters::new(homa, &network.path, network.hosts.len())))
}

impl<O: Observer> Simulation<O> {
    /// A data packet of a live message arrived at its receiver: grants more bytes to some message, and
    /// acknowledges this one if it is whole now.
    pub(crate) fn on_message_data(&mut self, now: Time, host: u32, id: PacketId) {
        let packet = &self.pool[id];
        let (slot, offset, payload) = (packet.flow, packet.offset, u32::from(packet.payload));
        let receiver = &mut self.slots.receivers[slot as usize];
        let before = receiver.delivered();
        let reply = receiver.on_data(now, offset, payload);
        let after = receiver.delivered();
        self.watch_receiver(slot);
        let flow = &self.slots.flows[slot as usize];
        let size = if flow.size == 0 { u64::MAX } else { flow.size };
        let message = Message { slot, source: flow.source, number: flow.number, size };
        if let Some(granters) = &mut self.granters {
            granters.on_data(host, message, before, after);
            self.send_grants(now, host);
        }
        match reply {
            Reply::Acknowledge { cumulative } => {
                let packet = &mut self.pool[id];
                packet.kind = PacketKind::Acknowledgement;
                packet.offset = cumulative;
                packet.remaining = 0;
                self.send_reply(now, host, id);
            }
            _ => self.retire(id),
        }
    }

    fn send_grants(&mut self, now: Time, host: u32) {
        while let Some(grant) = self.granters.as_mut().and_then(|granters| granters.take_grant()) {
            self.slots.receivers[grant.slot as usize].on_grant(now, grant.offset);
            self.watch_receiver(grant.slot);
            let packet = Packet {
                kind: PacketKind::Grant,
                offset: grant.offset,
                tag: u16::from(grant.level),
                route: self.slots.back(grant.slot),
                ..Packet::default()
            };
            self.send_control(now, host, grant.slot, packet);
        }
    }

    /// The receiver of the flow in `slot` asks for what it has waited for too long.
    pub(crate) fn ask_again(&mut self, now: Time, slot: u32) {
        let host = self.slots.flows[slot as usize].destination;
        while let Some(range) = self.slots.receivers[slot as usize].resend(now) {
            let packet = Packet {
                kind: PacketKind::Resend,
                offset: range.start,
                remaining: u32::try_from(range.end - range.start).unwrap_or(u32::MAX),
                route: self.slots.back(slot),
                ..Packet::default()
            };
            self.send_control(now, host, slot, packet);
        }
    }

    /// A grant, a RESEND or a BUSY arrived at `host`.
    pub(crate) fn on_message_control(&mut self, now: Time, host: u32, id: PacketId) {
        let packet = self.pool[id];
        let slot = packet.flow;
        if self.slots.live_flow(slot).is_some() {
            match packet.kind {
                PacketKind::Grant => {
                    self.slots.senders[slot as usize].on_grant(packet.offset, packet.tag as u8);
                    self.refresh(now, host, slot);
                }
                PacketKind::Resend => {
                    let range = packet.offset..packet.offset + u64::from(packet.remaining);
                    if self.slots.senders[slot as usize].on_resend(range) {
                        let route = self.slots.forward(slot);
                        let busy = Packet { kind: PacketKind::Busy, route, ..Packet::default() };
                        self.send_control(now, host, slot, busy);
                    }
                    self.refresh(now, host, slot);
                }
                _ => {
                    self.slots.receivers[slot as usize].on_busy(now);
                    self.watch_receiver(slot);
                }
            }
        }
        self.retire(id);
    }
}
