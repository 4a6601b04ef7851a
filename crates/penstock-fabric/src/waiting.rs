//! Who waits for whom, as a detector of deadlocks asks a switch: the packets that cannot leave
//! because their queue is paused, and which pauses of the upstream they keep in place.
//!
//! A pause is named by a link and a number: the priority class or the queue that it stops. Only pauses
//! that last until they are taken back are followed, as the backpressure says: a timed pause ends by itself.
//! Where a policy has another beneath it, only the pauses of that one may count, so that no deadlock is seen
//! where there is none.
//! Invariant: nothing here changes the switch, and nothing is called per packet.

use alloc::vec::Vec;

use penstock_packet::{PacketFlags, PacketPool};

use crate::backpressure::policy::{Policy as _, Stops};
use crate::backpressure::{self, Backpressure, KeptPause};
use crate::switch::Switch;

/// A packet that cannot leave its switch until a pause ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The class or queue at its egress that is paused.
    pub pause: u16,
    /// Local port by which it came.
    pub ingress: u16,
    /// The class or queue of the upstream whose pause it helps to keep.
    pub keeps: u16,
    /// Wire bytes.
    pub bytes: u64,
}

impl Switch {
    /// Whether its pauses can be followed.
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
                stopped.push(Stopped {
                    pause: if by_queue { index as u16 } else { u16::from(queue.class) },
                    ingress: packet.ingress,
                    keeps: if by_queue { packet.upstream_queue } else { u16::from(packet.class) },
                    bytes: u64::from(packet.wire_bytes),
                });
            }
        }
        stopped
    }

    /// Which of `pauses` would last even if every packet left that keeps none of them.
    ///
    /// Then, as long as the packets that keep them are stopped, no resume is sent, whatever else
    /// arrives: more packets only raise what an ingress holds and lower the dynamic thresholds.
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
