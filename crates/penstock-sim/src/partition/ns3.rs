//! Ties under the fidelity of the ns-3 HPCC simulator: events of one nanosecond happen in the order in
//! which that simulator schedules them. All of it is out of line, so that other runs do not carry it
//! through a processor's nearest cache.

use penstock_packet::{Observer, PacketId};
use penstock_units::Time;

use super::Partition;

impl<O: Observer> Partition<O> {
    /// Schedules the arrival of the packet that is now the first on `link`.
    #[cold]
    pub(super) fn expect_ns3_arrival(&mut self, link: u32, arrival: Time) {
        if let Some(ns3) = &self.ns3 {
            let rank = ns3.rank(self.wires[link as usize].head());
            self.wheel.schedule_ranked(link, arrival, rank);
        }
    }

    /// Whether `link` is busy in that simulator: a link whose transmission ends now is busy until the
    /// event of that end has happened. Then schedules that event.
    #[inline]
    pub(super) fn is_busy_in_ns3(&mut self, now: Time, link: u32) -> bool {
        self.ns3.is_some() && self.wait_in_ns3(now, link)
    }

    #[cold]
    fn wait_in_ns3(&mut self, now: Time, link: u32) -> bool {
        let Some(ns3) = &self.ns3 else { return false };
        let end_rank = ns3.end_rank(link);
        let wire = &mut self.wires[link as usize];
        let ends_later = wire.free_at == now && end_rank > self.wheel.rank_now();
        let is_busy = wire.free_at > now || ends_later;
        if is_busy {
            wire.is_end_scheduled = true;
            let end = self.sources.transmission(link);
            self.wheel.schedule_ranked(end, wire.free_at, end_rank);
        }
        is_busy
    }

    /// Packet `id` leaves by `link`: schedules the end of the transmission, if `more` waits, and then the
    /// `arrival`, if `id` is the first packet on the link.
    #[cold]
    pub(super) fn schedule_in_ns3(
        &mut self,
        (link, id): (u32, PacketId),
        more: bool,
        arrival: Option<Time>,
    ) {
        let Some(ns3) = &mut self.ns3 else { return };
        let wire = &mut self.wires[link as usize];
        let end_rank = self.wheel.take_rank();
        ns3.on_transmission(link, end_rank);
        let rank = self.wheel.take_rank();
        ns3.on_send(id, rank);
        if more && !wire.is_end_scheduled {
            wire.is_end_scheduled = true;
            let end = self.sources.transmission(link);
            self.wheel.schedule_ranked(end, wire.free_at, end_rank);
        }
        if let Some(arrival) = arrival {
            self.wheel.schedule_ranked(link, arrival, rank);
        }
    }
}
