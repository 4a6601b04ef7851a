//! The packets of a switch that cannot leave because their queue is paused, and the pauses of the
//! upstream that these packets keep in place. A detector of deadlocks asks for them.
//!
//! A pause is named by a link and a number: the priority class or the queue that it stops. Only pauses
//! without an end of their own are followed, as the backpressure states; a timed pause ends by itself.
//! Where a policy has another policy beneath it, only the pauses of the lower one may count. So no
//! deadlock is reported where there is none. Invariant: nothing here changes the switch, and nothing is
//! called per packet.

use alloc::vec::Vec;

use penstock_packet::epochs::queue_of;
use penstock_packet::{PacketFlags, PacketPool};

use crate::backpressure::policy::{Policy as _, Stops};
use crate::backpressure::{self, Backpressure, KeptPause};
use crate::switch::Switch;

/// A packet that cannot leave its switch until a pause ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The paused class or queue at the packet's egress.
    pub pause: u16,
    /// Local port by which the packet came.
    pub ingress: u16,
    /// The class or queue of the upstream whose pause the packet helps to keep.
    pub keeps: u16,
    /// Wire bytes.
    pub bytes: u64,
}

impl Switch {
    /// Whether the pauses of this switch can be followed.
    pub fn has_lasting_pauses(&self) -> bool {
        self.stops().is_some()
    }

    fn stops(&self) -> Option<Stops> {
        backpressure::dispatch!(self.backpressure(), policy => policy.stops())
    }

    /// The data packets in paused queues of `egress` that keep a pause of their upstream in place.
    pub fn stopped(&self, pool: &PacketPool, egress: u16) -> Vec<Stopped> {
        let port = self.port(egress);
        let by_queue = self.stops() == Some(Stops::Queues);
        let mut stopped = Vec::new();
        for (index, queue) in port.queues().iter().enumerate().skip(1) {
            if queue.packets.is_empty() || queue.is_active || (by_queue && !queue.is_paused) {
                continue;
            }
            for packet in port.packets_in(index, pool) {
                if by_queue && !packet.flags.contains(PacketFlags::COUNTED) {
                    continue;
                }
                let label = packet.upstream_queue;
                let upstream = if self.has_epochs() { queue_of(label) } else { label };
                stopped.push(Stopped {
                    pause: if by_queue { index as u16 } else { u16::from(queue.class) },
                    ingress: packet.ingress,
                    keeps: if by_queue { upstream } else { u16::from(packet.class) },
                    bytes: u64::from(packet.wire_bytes),
                });
            }
        }
        stopped
    }

    /// For each of `pauses`, whether the pause would last even if all packets that keep none of them
    /// left.
    ///
    /// If a pause would last, no resume is sent while the packets that keep the pauses are stopped,
    /// whatever else arrives. More packets only raise the bytes of an ingress and lower the dynamic
    /// thresholds.
    pub fn lasting(&self, pauses: &[KeptPause]) -> Vec<bool> {
        let admission = self.admission();
        let shared = pauses.iter().map(|pause| admission.beyond_reserve(pause.bytes)).sum();
        let lasts = |pause: &KeptPause| {
            backpressure::dispatch!(
                self.backpressure(),
                policy => policy.lasts(admission, pause, shared)
            )
        };
        pauses.iter().map(lasts).collect()
    }
}

#[cfg(test)]
#[path = "waiting_tests.rs"]
mod tests;
