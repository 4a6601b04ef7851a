//! Deficit round robin that scans its queues in the order of their numbers.
//!
//! AFQ emulates rotating strict priority on switches with such a scheduler (N. K. Sharma et al.,
//! "Approximating Fair Queueing on Reconfigurable Switches", NSDI 2018, sec. 4). The quantum is larger
//! than everything that can be queued for a round. So a queue is served until it is empty, and then not
//! again before all others.
//!
//! The differences from [`super::drr`] are these. A queue that gets its first packet is served in its
//! place among the numbers, not behind all other queues. There is one priority class. A queue that
//! empties loses its turn and its deficit, even when a packet joins it before the next packet is sent.
//! So the round is over when the queue is empty, where rotating strict priority waits for the next
//! packet. A paused queue keeps its turn and its deficit.
//!
//! If a queue holds more than the quantum, the scheduler leaves the queue before it is empty, and flows
//! may be reordered. The quantum must therefore exceed the bytes that all flows together send in a
//! round.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::PacketPool;
use penstock_units::{Bytes, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Egress, LARGEST_QUANTUM, Parameters, Policy, RoundSource, fits_rounds};
use crate::config::{Surroundings, SwitchConfig};
use crate::parts::Bitmap;
use crate::queue::DataQueue;

/// Parameters of scanning deficit round robin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScanningDrrConfig {
    /// Bytes that a queue may send per turn.
    #[schemars(
        range(min = 1, max = LARGEST_QUANTUM),
        extend(
            "default" = "1 MiB",
            "source" = "AFQ 4: more than flows send in a round; our choice: more than AFQ's ports store"
        )
    )]
    pub quantum: Bytes,
}

impl Parameters for ScanningDrrConfig {
    fn fits(&self, switch: &SwitchConfig, _: &Surroundings, problems: &mut Problems) {
        fits_rounds(switch, problems);
    }

    /// The scheduler leaves an empty queue at once, and tells nobody.
    fn round_source(&self) -> Option<RoundSource> {
        Some(RoundSource::Occupancy)
    }
}

/// The scanning deficit round robin scheduler of a port.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct ScanningDrr {
    quantum: u32,
    /// The queue whose turn it is; 0 before the first turn.
    current: u32,
    active: Bitmap,
}

impl ScanningDrr {
    pub(crate) fn new(config: &ScanningDrrConfig, _: &Egress) -> Self {
        ScanningDrr { quantum: config.quantum.get() as u32, current: 0, active: Bitmap::new(0) }
    }
}

impl Policy for ScanningDrr {
    #[inline]
    fn activate(&mut self, _: &mut [DataQueue], number: u32, _: &PacketPool) {
        self.active.grow(number as usize + 1);
        self.active.insert(number as usize);
    }

    #[inline]
    fn deactivate(&mut self, queues: &mut [DataQueue], number: u32) {
        self.active.remove(number as usize);
        let queue = &mut queues[number as usize];
        if queue.packets.is_empty() {
            queue.deficit = 0;
        }
    }

    /// The queue whose turn it is, while its deficit covers its head packet; else the next active
    /// queue.
    #[inline]
    fn select(&mut self, _: Time, queues: &mut [DataQueue], pool: &PacketPool) -> u32 {
        loop {
            let queue = &queues[self.current as usize];
            if queue.is_active && queue.deficit >= u32::from(pool[queue.packets.head()].wire_bytes)
            {
                return self.current;
            }
            let next = self.active.first_from(self.current as usize + 1, 1, queues.len());
            self.current = next.expect("a scheduler is asked when a queue is active") as u32;
            queues[self.current as usize].deficit += self.quantum;
        }
    }

    #[inline]
    fn charge(&mut self, queue: &mut DataQueue, bytes: u32) {
        queue.deficit -= bytes;
    }
}

#[cfg(test)]
#[path = "scanning_drr_tests.rs"]
mod tests;
