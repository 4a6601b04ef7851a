//! Who waits for whom, as a detector of deadlocks asks a switch: the packets that cannot leave
//! because their queue is paused, and which pauses of the upstream they keep in place.
//!
//! A pause is named by a link and a number: the priority class with PFC, the queue with BFC. Other
//! backpressure is not followed: a timed pause ends by itself, and of CaPFC and P-PFC only the PFC
//! beneath is looked at, so that no deadlock is seen where there is none.
//! Invariant: nothing here changes the switch, and nothing is called per packet.

use alloc::vec::Vec;

use penstock_packet::{PacketFlags, PacketPool};

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

/// A pause that a switch has sent, and packets which it holds for as long as they are stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptPause {
    /// Local port behind which the upstream is.
    pub ingress: u16,
    /// Class or queue.
    pub number: u16,
    /// Wire bytes of the packets that keep it.
    pub bytes: u64,
}

impl Switch {
    /// Whether its pauses can be followed.
    pub fn has_lasting_pauses(&self) -> bool {
        self.pfc().is_some() || self.bfc().is_some()
    }

    /// The data packets in paused queues of `egress` that keep a pause of their upstream in place.
    pub fn stopped(&self, pool: &PacketPool, egress: u16) -> Vec<Stopped> {
        let port = self.port(egress);
        let is_bfc = self.bfc().is_some();
        let mut stopped = Vec::new();
        for (index, queue) in port.queues().iter().enumerate().skip(1) {
            if queue.packets.is_empty() || queue.is_active || (is_bfc && !queue.is_paused) {
                continue;
            }
            for packet in port.packets_in(index, pool) {
                if is_bfc && !packet.flags.contains(PacketFlags::COUNTED) {
                    continue;
                }
                stopped.push(Stopped {
                    pause: if is_bfc { index as u16 } else { u16::from(queue.class) },
                    ingress: packet.ingress,
                    keeps: if is_bfc { packet.upstream_queue } else { u16::from(packet.class) },
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
        let Some(pfc) = self.pfc() else {
            // BFC resumes a queue when the last packet that it has counted leaves.
            return pauses.iter().map(|pause| pause.bytes > 0).collect();
        };
        let admission = self.admission();
        let shared = pauses.iter().map(|pause| admission.beyond_reserve(pause.bytes)).sum();
        let lasts = |pause: &KeptPause| {
            pfc.lasts(admission, (pause.ingress, pause.number as u8), pause.bytes, shared)
        };
        pauses.iter().map(lasts).collect()
    }
}

#[cfg(test)]
#[path = "waiting_tests.rs"]
mod tests;
