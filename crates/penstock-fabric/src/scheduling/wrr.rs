//! Weighted round robin: the classes of a port share it by weight, in bytes. Switches offer this
//! scheduler as WRR or DWRR, and under Enhanced Transmission Selection (IEEE 802.1Qaz).
//!
//! The scheduler is deficit round robin with a quantum for each flow (M. Shreedhar, G. Varghese,
//! "Efficient Fair Queuing Using Deficit Round Robin", SIGCOMM 1995), where a flow is a class. Active
//! classes form a ring. When the turn of a class starts, the class earns its weight times the quantum.
//! The class sends while its deficit covers its next packet, and keeps the rest for its next turn. A
//! class that becomes active joins behind all others. A class whose queues are all empty or paused
//! leaves the ring and forgets its deficit. It earns nothing, and the others share its part. While a
//! class stays active, `m` turns send what they earn to within the largest packet (the paper's fairness
//! lemma).
//!
//! IEEE 802.1Qaz asks that classes get shares and that unused shares go to others. It leaves the
//! algorithm open. The paper has one queue for each flow. Our choice for a class with several queues:
//! plain [deficit round robin](super::drr) between the queues picks the next packet of the class. A
//! queue's turn goes on in the next turn of its class. Left out: ETS's classes without a share, which
//! go first.

use alloc::format;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::{CLASSES, PacketPool};
use penstock_units::{Bytes, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::drr::{Drr, DrrConfig};
use super::policy::{
    Egress, LARGEST_QUANTUM, Parameters, Policy, QUANTUM_SOURCE, fits_quantum, quantum_of,
};
use crate::config::{Surroundings, SwitchConfig};
use crate::queue::DataQueue;

/// The largest weight; our choice: ten times finer than the whole percentages of ETS (IEEE 802.1Qaz).
const LARGEST_WEIGHT: u32 = 1_000;

/// Parameters of weighted round robin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrrConfig {
    /// Weights of the classes, class 0 first, each 1 to 1,000.
    ///
    /// Weights beyond the last class are ignored.
    #[schemars(
        length(min = 1, max = CLASSES),
        inner(range(min = 1, max = LARGEST_WEIGHT)),
        extend(
            "default" = [1, 1, 1, 1, 1, 1, 1, 1],
            "source" = "our choice: equal shares (IEEE 802.1Qaz leaves them to the operator)"
        )
    )]
    pub weights: Vec<u32>,
    /// Bytes that a class may send per turn for each unit of its weight, and a queue within its class.
    ///
    /// 0: a full packet. With at least a full packet the work for a packet is constant.
    #[schemars(
        range(max = LARGEST_QUANTUM),
        extend("default" = "0 B", "source" = QUANTUM_SOURCE)
    )]
    pub quantum: Bytes,
}

impl Parameters for WrrConfig {
    fn fits(&self, switch: &SwitchConfig, around: &Surroundings, problems: &mut Problems) {
        fits_quantum(self.quantum, around, problems);
        if problems.has_sound("assignment") && problems.has_sound("scheduling.weights") {
            let (weights, classes) = (self.weights.len(), switch.assignment.classes());
            let remedy = format!(
                "the {} assignment has {classes} classes; write a weight for each",
                switch.assignment.kind()
            );
            let (field, given) = ("scheduling.weights", format!("a list of {weights}"));
            problems.unless(weights >= classes as usize, field, given, remedy);
        }
    }
}

/// The weighted round robin scheduler of a port.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Wrr {
    /// The queues of each class, and which classes are active.
    queues: Drr,
    /// Bytes that each class earns per turn (bytes).
    earnings: [u32; CLASSES],
    /// Bytes that each class has left of its earnings (bytes).
    deficits: [u32; CLASSES],
    /// The ring: the successor of each active class.
    next: [u8; CLASSES],
    /// The active class whose turn comes last. Its successor has the turn now.
    last: u8,
}

impl Wrr {
    pub(crate) fn new(config: &WrrConfig, egress: &Egress) -> Self {
        let quantum = quantum_of(config.quantum, egress);
        let weight = |class| config.weights.get(class).copied().unwrap_or(1);
        Wrr {
            queues: Drr::new(&DrrConfig { quantum: config.quantum }, egress),
            earnings: core::array::from_fn(|class| weight(class) * quantum),
            deficits: [0; CLASSES],
            next: [0; CLASSES],
            last: 0,
        }
    }

    /// The class whose turn it is.
    #[inline]
    fn current(&self) -> usize {
        usize::from(self.next[usize::from(self.last)])
    }

    #[inline]
    fn start_turn(&mut self) {
        let class = self.current();
        self.deficits[class] += self.earnings[class];
    }

    /// `class` has become active. It joins last, or has its turn at once when no other class is active.
    fn join(&mut self, class: u8, is_alone: bool) {
        let follower = if is_alone { class } else { self.next[usize::from(self.last)] };
        self.next[usize::from(self.last)] = class;
        self.next[usize::from(class)] = follower;
        self.last = class;
        self.deficits[usize::from(class)] = 0;
        if is_alone {
            self.start_turn();
        }
    }

    /// `class` is not active any more. Other classes are in the ring.
    fn leave(&mut self, class: u8) {
        let mut before = self.last;
        while self.next[usize::from(before)] != class {
            before = self.next[usize::from(before)];
        }
        self.next[usize::from(before)] = self.next[usize::from(class)];
        if before == self.last {
            self.start_turn();
        } else if class == self.last {
            self.last = before;
        }
    }
}

impl Policy for Wrr {
    #[inline]
    fn activate(&mut self, queues: &mut [DataQueue], number: u32, pool: &PacketPool) {
        let (class, before) = (queues[number as usize].class, self.queues.classes());
        self.queues.activate(queues, number, pool);
        if self.queues.classes() != before {
            self.join(class, before == 0);
        }
    }

    #[inline]
    fn deactivate(&mut self, queues: &mut [DataQueue], number: u32) {
        let (class, before) = (queues[number as usize].class, self.queues.classes());
        self.queues.deactivate(queues, number);
        let active = self.queues.classes();
        if active != before && active != 0 {
            self.leave(class);
        }
    }

    #[inline]
    fn select(&mut self, _: Time, queues: &mut [DataQueue], pool: &PacketPool) -> u32 {
        loop {
            let class = self.current();
            let number = self.queues.select_in(class, queues, pool);
            let head = u32::from(pool[queues[number as usize].packets.head()].wire_bytes);
            if self.deficits[class] >= head {
                return number;
            }
            self.last = class as u8;
            self.start_turn();
        }
    }

    #[inline]
    fn charge(&mut self, queue: &mut DataQueue, bytes: u32) {
        self.deficits[usize::from(queue.class)] -= bytes;
        self.queues.charge(queue, bytes);
    }
}

#[cfg(test)]
#[path = "wrr_tests.rs"]
mod tests;
