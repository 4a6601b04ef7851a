//! What an observer sees of a switch.

use penstock_packet::{Moment, Observation, Observer, PacketEvent, PacketId};

use super::Switch;
use crate::assignment::policy::Policy as _;
use crate::assignment::{self, Assignment};
use crate::backpressure::policy::Policy as _;
use crate::backpressure::{self, Backpressure};

impl Switch {
    /// A packet that bypasses the five axes has arrived by `ingress`: an observer sees it. Nothing else asks
    /// by which port such a packet came.
    #[inline]
    pub(super) fn observe_control<O: Observer>(
        &self,
        moment: &mut Moment<'_, O>,
        id: PacketId,
        ingress: u16,
        egress: u16,
    ) {
        if O::IS_WATCHING {
            moment.pool[id].ingress = ingress;
            self.observe(moment, PacketEvent::ControlArrive, id, egress);
        }
    }

    /// An observer that watches such events sees what happens to the packet `id` of port `egress`.
    #[inline]
    pub(super) fn observe<O: Observer>(
        &self,
        moment: &mut Moment<'_, O>,
        event: PacketEvent,
        id: PacketId,
        egress: u16,
    ) {
        if !O::IS_WATCHING || !moment.observer.watches(self.node, event) {
            return;
        }
        let port = &self.ports[usize::from(egress)];
        let packet = moment.pool[id];
        let threshold = backpressure::dispatch!(
            &self.backpressure,
            policy => policy.threshold(&self.admission, packet.ingress, egress, port)
        );
        let queue = port.queues().get(usize::from(packet.queue));
        moment.observer.record(Observation {
            time: moment.now,
            node: self.node,
            ingress: packet.ingress,
            egress,
            event,
            packet,
            queue_bytes: queue.map_or(0, |queue| queue.packets.bytes()),
            port_bytes: port.bytes(),
            active_queues: port.active(),
            table_index: assignment::dispatch!(
                &self.assignment,
                policy => policy.table_index(egress, &packet)
            ),
            threshold,
        });
    }
}
