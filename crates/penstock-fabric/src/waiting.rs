//! The packets of a switch that cannot leave because their queue is paused, and the pauses of the
//! upstream that these packets keep in place. A detector of deadlocks asks for them.
//!
//! A pause is named by a link and a number: the priority class, the queue, or the hash of the flow that it
//! stops. Only pauses without an end of their own are followed, as the backpressure states; a timed pause
//! ends by itself.
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
    /// The paused class, queue or flow at the packet's egress.
    pub pause: u32,
    /// Local port by which the packet came.
    pub ingress: u16,
    /// The class, queue or flow of the upstream whose pause the packet helps to keep.
    pub keeps: u32,
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
        let Some(stops) = self.stops() else { return Vec::new() };
        let port = self.port(egress);
        // A pause of a class is kept by all packets of an ingress, other pauses by those that were counted.
        let counts = stops != Stops::Classes;
        let mut stopped = Vec::new();
        for (index, queue) in port.queues().iter().enumerate().skip(1) {
            if queue.packets.is_empty() || queue.is_active || (counts && !queue.is_paused) {
                continue;
            }
            let pause = match stops {
                Stops::Classes => u32::from(queue.class),
                Stops::Queues => index as u32,
                Stops::Flows => pool[queue.packets.head()].flow_hash,
            };
            for packet in port.packets_in(index, pool) {
                if counts && !packet.flags.contains(PacketFlags::COUNTED) {
                    continue;
                }
                let keeps = match stops {
                    Stops::Classes => u32::from(packet.class),
                    Stops::Queues if self.has_epochs() => queue_of(packet.upstream_queue).into(),
                    Stops::Queues => packet.upstream_queue.into(),
                    Stops::Flows => packet.flow_hash,
                };
                let (ingress, bytes) = (packet.ingress, u64::from(packet.wire_bytes));
                stopped.push(Stopped { pause, ingress, keeps, bytes });
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
