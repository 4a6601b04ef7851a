//! Invariants of a whole simulation; each switch checks its own.

use penstock_fabric::{Observer, PacketKind};

use crate::error::InvariantError;
use crate::simulation::Simulation;

impl<O: Observer> Simulation<O> {
    /// Checks that nothing is lost or counted twice.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn verify(&self) -> Result<(), InvariantError> {
        let fail = |what: String| InvariantError { time: self.now(), what };
        for switch in &self.network.switches {
            switch.verify(&self.pool).map_err(fail)?;
        }
        let (packets, payload) = self.held();
        if packets != self.pool.live() {
            let live = self.pool.live();
            return Err(fail(format!("{packets} packets are held somewhere, {live} exist")));
        }
        let measured = &self.measured;
        let gone = measured.arrived_payload + measured.dropped_payload;
        if measured.sent_payload != gone + payload {
            return Err(fail(format!(
                "{} B of payload were sent, but {} B arrived, {} B were dropped and {payload} B are \
                 on the way",
                measured.sent_payload, measured.arrived_payload, measured.dropped_payload
            )));
        }
        let flow_packets: u64 = self.slots.flows.iter().map(|flow| u64::from(flow.packets)).sum();
        if flow_packets > packets as u64 {
            return Err(fail(format!("flows own {flow_packets} packets of {packets}")));
        }
        Ok(())
    }

    /// Packets in queues and on wires, and the payload of the data packets among them.
    fn held(&self) -> (usize, u64) {
        let (mut packets, mut payload) = (0, 0);
        let mut count = |packet: &penstock_fabric::Packet| {
            packets += 1;
            if packet.kind == PacketKind::Data {
                payload += u64::from(packet.payload);
            }
        };
        for wire in &self.network.wires {
            wire.packets(&self.pool).for_each(&mut count);
        }
        for host in &self.network.hosts {
            host.control.packets(&self.pool).for_each(&mut count);
        }
        for port in self.network.switches.iter().flat_map(|switch| switch.ports()) {
            port.control_packets(&self.pool).for_each(&mut count);
            for queue in 1..port.queues().len() {
                port.packets_in(queue, &self.pool).for_each(&mut count);
            }
        }
        (packets, payload)
    }
}
