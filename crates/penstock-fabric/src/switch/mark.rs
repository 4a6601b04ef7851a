//! What a switch tells packets, and their sources, as they come and go: the marking axis.

use penstock_packet::{Moment, Observer, Packet, PacketFlags, PacketId};

use super::Switch;
use crate::marking::Marking;
use crate::marking::ecn::MarkingPoint;

impl Switch {
    /// What a data packet that has joined its queue, which now holds `queue_bytes`, learns: whether it
    /// is marked, and what its source is told.
    #[inline]
    pub(super) fn mark_arrival(
        &mut self,
        packet: &mut Packet,
        egress: u16,
        queue_bytes: u64,
    ) -> (bool, Option<u8>) {
        let point = MarkingPoint::Enqueue;
        let bytes = u64::from(packet.wire_bytes);
        let mut feedback = None;
        let is_marked = match &mut self.marking {
            Marking::None | Marking::Telemetry(_) | Marking::NonPauseEcn(_) => false,
            Marking::Rounds(rounds) => rounds.marks(packet),
            Marking::Ecn(ecn) => ecn.marks(point, egress, queue_bytes, &mut self.draws),
            Marking::Qcn(qcn) => {
                let at = (egress, packet.queue);
                feedback = qcn.on_packet(point, at, queue_bytes, bytes, self.draws.own());
                false
            }
            Marking::Predicted(predicted) => {
                let is_stopped = self.ports[usize::from(egress)].is_stopped(packet.class);
                predicted.on_enqueue(egress, bytes, is_stopped);
                false
            }
        };
        if is_marked {
            packet.flags.insert(PacketFlags::MARKED);
        }
        (is_marked, feedback)
    }

    /// What a data packet that leaves its queue learns: whether it is marked, and what its source is
    /// told.
    #[inline]
    pub(super) fn mark_departure<O: Observer>(
        &mut self,
        moment: &mut Moment<'_, O>,
        id: PacketId,
        egress: u16,
    ) -> (bool, Option<u8>) {
        let port = &self.ports[usize::from(egress)];
        let packet = &moment.pool[id];
        let (queue, bytes) = (packet.queue, packet.wire_bytes);
        let left_bytes = port.queues()[usize::from(queue)].packets.bytes();
        let mut feedback = None;
        let is_marked = match &mut self.marking {
            Marking::None | Marking::Rounds(_) => false,
            Marking::Qcn(qcn) => {
                let (point, at) = (MarkingPoint::Dequeue, (egress, queue));
                let random = self.draws.own();
                feedback = qcn.on_packet(point, at, left_bytes, u64::from(bytes), random);
                false
            }
            Marking::Predicted(predicted) => predicted.on_dequeue(egress, port.forecast()),
            Marking::Telemetry(telemetry) => {
                moment.pool.push_telemetry(id, telemetry.hop(moment.now, port, bytes));
                false
            }
            Marking::Ecn(ecn) => {
                ecn.marks(MarkingPoint::Dequeue, egress, left_bytes, &mut self.draws)
            }
            Marking::NonPauseEcn(ecn) => {
                ecn.on_dequeue(egress, queue, u64::from(bytes), left_bytes)
            }
        };
        if is_marked {
            moment.pool[id].flags.insert(PacketFlags::MARKED);
        }
        (is_marked, feedback)
    }
}
