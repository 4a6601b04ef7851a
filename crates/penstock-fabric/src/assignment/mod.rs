//! Assignment: which queue of the egress port?

pub mod class;
pub mod dynamic;
mod ingress;
pub mod per_flow;
pub mod priority;
pub mod rounds;
pub mod stochastic;

mod sketch;

use alloc::vec;
use alloc::vec::Vec;

use penstock_packet::Packet;
use penstock_units::Time;
use rand_pcg::Pcg32;
use serde::{Deserialize, Serialize};

use crate::port::Port;
use class::{ByClass, ByClassConfig};
use dynamic::{Dynamic, DynamicConfig};
use per_flow::PerFlow;
use priority::{ByPriority, ByPriorityConfig};
use rounds::{Rounds, RoundsConfig};
use stochastic::{Stochastic, StochasticConfig};

/// The assignment axis of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AssignmentConfig {
    /// A queue for each priority class.
    Class(ByClassConfig),
    /// By a hash of the flow (SFQ).
    Stochastic(StochasticConfig),
    /// An empty queue if there is one (BFC).
    Dynamic(DynamicConfig),
    /// A queue for each flow, without limit.
    PerFlow {},
    /// A queue for each port that packets come from.
    Ingress {},
    /// A queue for each of the next rounds (AFQ).
    Rounds(RoundsConfig),
    /// A queue for each priority that end hosts give their packets (Homa).
    Priority(ByPriorityConfig),
}

impl AssignmentConfig {
    /// Priority classes.
    pub fn classes(&self) -> u32 {
        match self {
            AssignmentConfig::Class(config) => config.classes,
            AssignmentConfig::Stochastic(config) => config.classes,
            AssignmentConfig::Dynamic(config) => config.classes,
            AssignmentConfig::PerFlow {}
            | AssignmentConfig::Ingress {}
            | AssignmentConfig::Rounds(_)
            | AssignmentConfig::Priority(_) => 1,
        }
    }

    /// The class of each data queue that a port of a switch with `ports` ports starts with.
    pub fn queue_classes(&self, ports: usize) -> Vec<u8> {
        match self {
            AssignmentConfig::Class(config) => (0..config.classes as u8).collect(),
            AssignmentConfig::Stochastic(config) => partition(config.queues, config.classes),
            AssignmentConfig::Dynamic(config) if config.classes_share => {
                let own_class = |queue| if queue < config.classes { queue as u8 } else { 0 };
                (0..config.queues - 1).map(own_class).collect()
            }
            AssignmentConfig::Dynamic(config) => partition(config.queues, config.classes),
            AssignmentConfig::PerFlow {} => vec![],
            AssignmentConfig::Ingress {} => vec![0; ports],
            AssignmentConfig::Rounds(config) => partition(config.queues, 1),
            AssignmentConfig::Priority(config) => vec![0; config.levels as usize],
        }
    }
}

/// The classes of the `queues - 1` data queues beside the control queue, in equal parts; queues
/// that do not divide go to the lowest class, whose ports are the most crowded (BFC App. A.3).
fn partition(queues: u32, classes: u32) -> Vec<u8> {
    let data = queues - 1;
    let each = data / classes;
    (0..data).map(|queue| (queue / each).min(classes - 1) as u8).collect()
}

/// The data queues of a class: numbers `from..to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClassRange {
    from: u16,
    to: u16,
}

fn class_ranges(queues: u32, classes: u32) -> Vec<ClassRange> {
    let of_queue = partition(queues, classes);
    (0..classes as u8)
        .map(|class| {
            let before = of_queue.iter().filter(|&&other| other < class).count() as u16;
            let size = of_queue.iter().filter(|&&other| other == class).count() as u16;
            ClassRange { from: 1 + before, to: 1 + before + size }
        })
        .collect()
}

/// What an assignment policy may look at.
pub(crate) struct Assigning<'a> {
    pub now: Time,
    pub egress: u16,
    pub port: &'a mut Port,
    pub packet: &'a mut Packet,
    pub random: &'a mut Pcg32,
}

/// The assignment policy of a switch, stored by value and dispatched by `match`.
#[derive(Debug)]
pub(crate) enum Assignment {
    Class(ByClass),
    Stochastic(Stochastic),
    Dynamic(Dynamic),
    PerFlow(PerFlow),
    Ingress,
    Rounds(Rounds),
    Priority(ByPriority),
}

impl Assignment {
    pub(crate) fn new(config: &AssignmentConfig, ports: usize, hop_rtt: Time, salt: u32) -> Self {
        match config {
            AssignmentConfig::Class(config) => Assignment::Class(ByClass::new(config)),
            AssignmentConfig::Stochastic(config) => {
                Assignment::Stochastic(Stochastic::new(config, salt))
            }
            AssignmentConfig::Dynamic(config) => {
                Assignment::Dynamic(Dynamic::new(config, ports, hop_rtt, salt))
            }
            AssignmentConfig::PerFlow {} => Assignment::PerFlow(PerFlow::new(ports)),
            AssignmentConfig::Ingress {} => Assignment::Ingress,
            AssignmentConfig::Rounds(config) => {
                Assignment::Rounds(Rounds::new(config, ports, salt))
            }
            AssignmentConfig::Priority(config) => Assignment::Priority(ByPriority::new(config)),
        }
    }

    /// Chooses the data queue for a packet that was admitted; `None` refuses it.
    #[inline]
    pub(crate) fn assign(&mut self, arrival: Assigning<'_>) -> Option<u16> {
        match self {
            Assignment::Class(policy) => Some(policy.assign(arrival.packet)),
            Assignment::Stochastic(policy) => Some(policy.assign(arrival.packet)),
            Assignment::Dynamic(policy) => Some(policy.assign(arrival)),
            Assignment::PerFlow(policy) => Some(policy.assign(arrival)),
            Assignment::Rounds(policy) => policy.assign(arrival),
            Assignment::Ingress => Some(ingress::queue_of(arrival.packet)),
            Assignment::Priority(policy) => Some(policy.assign(arrival.packet)),
        }
    }

    /// A data packet leaves.
    #[inline]
    pub(crate) fn on_dequeue(&mut self, now: Time, egress: u16, packet: &Packet, port: &Port) {
        match self {
            Assignment::Dynamic(policy) => policy.on_dequeue(now, egress, packet),
            Assignment::PerFlow(policy) => policy.on_dequeue(egress, packet, port),
            _ => {}
        }
    }

    /// The flow-table entry of a packet, or -1 where there is no table.
    pub(crate) fn table_index(&self, egress: u16, packet: &Packet) -> i64 {
        match self {
            Assignment::Dynamic(policy) => policy.index(egress, packet.flow_hash) as i64,
            _ => -1,
        }
    }
}

/// A 32-bit hash of a flow that differs from switch to switch: the finalizer of MurmurHash3
/// (A. Appleby) over the flow's hash and the switch's salt.
#[inline]
fn salted(flow_hash: u32, salt: u32) -> u32 {
    let mut mixed = flow_hash ^ salt;
    mixed = (mixed ^ (mixed >> 16)).wrapping_mul(0x85eb_ca6b);
    mixed = (mixed ^ (mixed >> 13)).wrapping_mul(0xc2b2_ae35);
    mixed ^ (mixed >> 16)
}

/// Maps a 32-bit hash evenly onto `0..bound` without a division.
#[inline]
fn reduce(hash: u32, bound: u32) -> u32 {
    ((u64::from(hash) * u64::from(bound)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_share_the_data_queues_evenly() {
        assert_eq!(class_ranges(32, 1), [ClassRange { from: 1, to: 32 }]);
        let ranges = class_ranges(33, 4);
        assert_eq!(ranges[0], ClassRange { from: 1, to: 9 });
        assert_eq!(ranges[3], ClassRange { from: 25, to: 33 });
        assert_eq!(class_ranges(32, 4)[3], ClassRange { from: 22, to: 32 });
    }
}
