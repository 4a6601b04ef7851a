//! Links that fail and recover while a partition runs. [`crate::outage`] says what happens then.
//!
//! A link that is down is one whose transmission never ends: it costs nothing per packet.

use std::sync::Arc;

use penstock_packet::{Observer, Packet, PacketEvent, PacketId, PacketKind};
use penstock_units::Time;

use super::Partition;
use super::clock::Clock;
use crate::measure::events::{EventPlace, EventTable};

impl<O: Observer> Partition<O> {
    /// Schedules the next change of the routes, if there is one.
    pub(super) fn expect_route_change(&mut self) {
        if let Some(change) = self.setting.route_changes.get(self.next_change) {
            self.wheel.schedule(self.sources.clock(Clock::Routes), change.time);
        }
    }

    /// Links fail or recover, and the routes change with them.
    pub(super) fn on_route_change(&mut self, now: Time) {
        let setting = Arc::clone(&self.setting);
        let change = &setting.route_changes[self.next_change];
        self.next_change += 1;
        self.router.change(&change.routing);
        for &link in &change.failed {
            self.cut(link);
        }
        for &link in change.failed.iter().chain(&change.recovered) {
            if let Some(link) = self.sending_end(link) {
                self.flush(now, link);
            }
        }
        for &link in &change.recovered {
            if let Some(link) = self.sending_end(link) {
                self.wires[link as usize].is_end_scheduled = false;
            }
        }
        for &link in &change.recovered {
            if let Some(link) = self.receiving_end(link) {
                self.repeat_pauses(now, link);
            }
        }
        self.expect_route_change();
    }

    /// The place here of link `link` of the network, if it begins here.
    fn sending_end(&self, link: u32) -> Option<u32> {
        let from = self.setting.topology.links[link as usize].from;
        let is_here = self.setting.placement.of_node(from).0 == self.number;
        is_here.then(|| self.setting.placement.of_link(link)[0])
    }

    /// The place here of link `link` of the network, if it ends here.
    fn receiving_end(&self, link: u32) -> Option<u32> {
        let to = self.setting.topology.links[link as usize].to;
        let is_here = self.setting.placement.of_node(to).0 == self.number;
        is_here.then(|| self.setting.placement.of_link(link)[1])
    }

    /// The wire of link `link` of the network goes down, and everything on it is lost.
    fn cut(&mut self, link: u32) {
        if let Some(place) = self.receiving_end(link) {
            self.wheel.cancel(place);
            for id in self.wires[place as usize].take_all(&self.pool) {
                self.lose_on_wire(link, self.pool[id]);
                self.pool.remove(id);
            }
        }
        if let Some(place) = self.sending_end(link) {
            self.wheel.cancel(self.sources.transmission(place));
            self.wires[place as usize].is_end_scheduled = true; // for an end that never comes
            for packet in self.take_back(place) {
                self.lose_on_wire(link, packet);
            }
        }
    }

    /// The packets that wait for `link` are lost, and the pauses that its far end has asked for
    /// end.
    fn flush(&mut self, now: Time, link: u32) {
        let wire = &self.wires[link as usize];
        let (egress, switch) = (wire.from_port, (wire.from - self.sources.hosts) as usize);
        let (node, mut turn) = self.lend_switch(now, switch);
        node.on_link(&mut turn, egress, false);
        let node = switch as u32 + self.sources.hosts;
        self.list(now, node, link, EventTable::end_pauses);
        while let Some(id) = self.take_waiting(now, switch, egress, link) {
            self.switches[switch].take_back(egress, &self.pool[id]);
            self.lose(now, switch, link, id);
        }
    }

    /// Counts the packet `id`, which waited at `switch` for `link`, as lost.
    fn lose(&mut self, now: Time, switch: usize, link: u32, id: PacketId) {
        let packet = self.pool[id];
        self.count_loss(&packet);
        let node = switch as u32 + self.sources.hosts;
        self.note(now, node, link, PacketEvent::Drop, packet.queue);
        self.pool.remove(id);
    }

    /// Counts `packet` as lost on link `link` of the network, and lists it at the node to which it flew.
    fn lose_on_wire(&mut self, link: u32, packet: Packet) {
        self.count_loss(&packet);
        let node = self.setting.topology.links[link as usize].to;
        let time = self.now();
        if let Some(events) = &mut self.measured.event_table {
            let place = EventPlace { time, node, link, bytes: 0 };
            events.push(place, PacketEvent::Drop, u32::from(packet.queue));
        }
    }

    /// The frame `id` has arrived corrupted at the end of `link`.
    #[cold]
    pub(super) fn discard(&mut self, link: u32, id: PacketId) {
        self.lose_on_wire(self.link(link), self.pool[id]);
        self.pool.remove(id);
    }

    fn count_loss(&mut self, packet: &Packet) {
        self.measured.lost_packets += 1;
        if packet.kind == PacketKind::Data {
            self.measured.dropped_payload += u64::from(packet.payload);
        }
    }

    /// The receiving end of `link`, which has recovered, asks again for the pauses that the end
    /// still wants.
    fn repeat_pauses(&mut self, now: Time, link: u32) {
        let wire = &self.wires[link as usize];
        let (switch, port) = ((wire.to - self.sources.hosts) as usize, wire.to_port);
        let (node, mut turn) = self.lend_switch(now, switch);
        node.on_link(&mut turn, port, true);
        self.serve_switch(now, switch, 0);
    }
}
