//! Deficit round robin (M. Shreedhar, G. Varghese, "Efficient Fair Queuing Using Deficit Round
//! Robin", SIGCOMM 1995), the scheduler of BFC's switches (BFC sec. 3.3.1).
//!
//! Active queues of a class form a ring. When the turn of a queue starts, the queue earns the quantum.
//! The queue sends while its deficit covers its head packet, and keeps the rest for its next turn. A
//! queue that empties or is paused leaves the ring and forgets its deficit, so a paused queue earns
//! nothing. Between classes the lowest number goes first (BFC App. A.3). BFC does not give the quantum.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::PacketPool;
use penstock_units::{Bytes, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{
    Egress, LARGEST_QUANTUM, Parameters, Policy, QUANTUM_SOURCE, fits_quantum, quantum_of,
};
use crate::config::{Surroundings, SwitchConfig};
use crate::queue::DataQueue;

const NONE: u32 = u32::MAX;

/// Parameters of deficit round robin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DrrConfig {
    /// Bytes that a queue may send per round.
    ///
    /// 0: a full packet. With at least a full packet the work for a packet is constant.
    #[schemars(
        range(max = LARGEST_QUANTUM),
        extend("default" = "0 B", "source" = QUANTUM_SOURCE)
    )]
    pub quantum: Bytes,
}

impl Parameters for DrrConfig {
    fn fits(&self, _: &SwitchConfig, around: &Surroundings, problems: &mut Problems) {
        fits_quantum(self.quantum, around, problems);
    }
}

/// The deficit round robin scheduler of a port.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Drr {
    quantum: u32,
    /// The queue whose turn it is, for each of the eight classes.
    current: [u32; 8],
    /// The classes with an active queue, one bit each.
    classes: u8,
}

impl Drr {
    pub(crate) fn new(config: &DrrConfig, egress: &Egress) -> Self {
        Drr { quantum: quantum_of(config.quantum, egress), current: [NONE; 8], classes: 0 }
    }

    /// The classes with an active queue, one bit each.
    #[inline]
    pub(super) fn classes(&self) -> u8 {
        self.classes
    }

    /// The queue of `class` that sends next. The class must have an active queue.
    #[inline]
    pub(super) fn select_in(
        &mut self,
        class: usize,
        queues: &mut [DataQueue],
        pool: &PacketPool,
    ) -> u32 {
        loop {
            let number = self.current[class];
            let queue = &queues[number as usize];
            let head = u32::from(pool[queue.packets.head()].wire_bytes);
            if queue.deficit >= head {
                return number;
            }
            let next = queue.next;
            self.start_turn(queues, class, next);
        }
    }

    #[inline]
    fn start_turn(&mut self, queues: &mut [DataQueue], class: usize, number: u32) {
        self.current[class] = number;
        queues[number as usize].deficit += self.quantum;
    }
}

impl Policy for Drr {
    #[inline]
    fn activate(&mut self, queues: &mut [DataQueue], number: u32, _: &PacketPool) {
        let class = usize::from(queues[number as usize].class);
        let current = self.current[class];
        if current == NONE {
            self.current[class] = number;
            self.classes |= 1 << class;
            let queue = &mut queues[number as usize];
            (queue.next, queue.previous, queue.deficit) = (number, number, self.quantum);
            return;
        }
        let previous = queues[current as usize].previous;
        let queue = &mut queues[number as usize];
        (queue.next, queue.previous, queue.deficit) = (current, previous, 0);
        queues[previous as usize].next = number;
        queues[current as usize].previous = number;
    }

    #[inline]
    fn deactivate(&mut self, queues: &mut [DataQueue], number: u32) {
        let DataQueue { next, previous, class, .. } = queues[number as usize];
        let class = usize::from(class);
        if next == number {
            self.current[class] = NONE;
            self.classes &= !(1 << class);
            return;
        }
        queues[previous as usize].next = next;
        queues[next as usize].previous = previous;
        if self.current[class] == number {
            self.start_turn(queues, class, next);
        }
    }

    #[inline]
    fn select(&mut self, _: Time, queues: &mut [DataQueue], pool: &PacketPool) -> u32 {
        self.select_in(self.classes().trailing_zeros() as usize, queues, pool)
    }

    #[inline]
    fn charge(&mut self, queue: &mut DataQueue, bytes: u32) {
        queue.deficit -= bytes;
    }
}

#[cfg(test)]
#[path = "drr_tests.rs"]
mod tests;
