//! Assignment: which queue of the egress port?

pub(crate) mod assigning;
pub mod class;
mod classes;
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
use serde::{Deserialize, Serialize};

use crate::port::Port;
use assigning::Assigning;
use class::{ByClass, ByClassConfig};
use classes::partition;
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
