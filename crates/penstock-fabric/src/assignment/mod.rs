//! Assignment: which queue of the egress port?

mod classes;
pub(crate) mod policy;
mod sketch;

use alloc::vec::Vec;

use penstock_packet::{SwitchFacts, axis};

use policy::Parameters as _;

axis! { $
    /// The assignment axis of a scenario.
    config AssignmentConfig, each by configured;
    /// The assignment policy of a switch, stored by value.
    state Assignment, built in SwitchFacts, each by dispatch;
    /// A queue for each priority class.
    class: Class(ByClassConfig => ByClass),
    /// By a hash of the flow (SFQ).
    stochastic: Stochastic(StochasticConfig => Stochastic),
    /// An empty queue if there is one (BFC).
    dynamic: Dynamic(DynamicConfig => Dynamic),
    /// A queue for each flow, without limit.
    per_flow: PerFlow(PerFlowConfig => PerFlow),
    /// A queue for each port that packets come from.
    ingress: Ingress(ByIngressConfig => ByIngress),
    /// A queue for each of the next rounds (AFQ).
    rounds: Rounds(RoundsConfig => Rounds),
    /// A queue for each priority that end hosts give their packets (Homa).
    priority: Priority(ByPriorityConfig => ByPriority),
}

impl AssignmentConfig {
    /// Priority classes.
    pub fn classes(&self) -> u32 {
        configured!(self, parameters => parameters.classes())
    }

    /// The class of each data queue that a port of a switch with `ports` ports starts with.
    pub fn queue_classes(&self, ports: usize) -> Vec<u8> {
        configured!(self, parameters => parameters.queue_classes(ports))
    }
}
