//! Assignment: which queue of the egress port?

mod classes;
pub(crate) mod policy;
mod sketch;

use alloc::vec::Vec;

use penstock_packet::{SwitchFacts, axis};
use penstock_units::{Fidelity, Problems};

use policy::Parameters as _;

use crate::config::{Surroundings, SwitchConfig};

axis! { $
    /// The assignment axis of a scenario.
    config AssignmentConfig, each by configured;
    /// The assignment policy of a switch, stored by value.
    state Assignment, built in SwitchFacts, each by dispatch;
    /// One queue per traffic class.
    class: Class(ByClassConfig => ByClass),
    /// A queue by a hash of the flow (SFQ).
    stochastic: Stochastic(StochasticConfig => Stochastic),
    /// BFC's flow table: an empty queue for a new flow, a random one when none is empty.
    dynamic: Dynamic(DynamicConfig => Dynamic),
    /// A queue for every flow, however many (ideal fair queueing).
    per_flow: PerFlow(PerFlowConfig => PerFlow),
    /// A queue for each port that packets come from (FAFC's fair queueing).
    ingress: Ingress(ByIngressConfig => ByIngress),
    /// AFQ: a queue for each of the next rounds; a flow that has used them up loses its packet.
    rounds: Rounds(RoundsConfig => Rounds),
    /// One queue per priority level that hosts give their packets (Homa).
    priority: Priority(ByPriorityConfig => ByPriority),
}

impl AssignmentConfig {
    /// Whether the simulator of this fidelity has the policy.
    pub fn is_in(&self, simulator: Fidelity) -> bool {
        configured!(self, parameters => parameters.is_in(simulator))
    }

    /// Number of priority classes.
    pub fn classes(&self) -> u32 {
        configured!(self, parameters => parameters.classes())
    }

    /// The class of each data queue that a port of a switch with `ports` ports starts with.
    pub fn queue_classes(&self, ports: usize) -> Vec<u8> {
        configured!(self, parameters => parameters.queue_classes(ports))
    }

    /// Queues of a port, the control queue included; `None` where their number follows the flows or
    /// ports.
    pub fn queues(&self) -> Option<u32> {
        configured!(self, parameters => parameters.queues())
    }

    /// Whether a port has a single data queue.
    pub(crate) fn is_one_queue(&self) -> bool {
        configured!(self, parameters => parameters.is_one_queue())
    }

    /// Whether every flow has a queue of its own.
    pub(crate) fn is_per_flow(&self) -> bool {
        configured!(self, parameters => parameters.is_per_flow())
    }

    /// Whether a flow has a queue of its own, at least while there are enough queues.
    pub(crate) fn parts_flows(&self) -> bool {
        configured!(self, parameters => parameters.parts_flows())
    }

    /// Whether queues change their class, so that their numbers are not ranks.
    pub(crate) fn classes_share(&self) -> bool {
        configured!(self, parameters => parameters.classes_share())
    }

    /// Whether acknowledgements wait in data queues, as packets of a flow of their own.
    pub fn queues_acknowledgements(&self) -> bool {
        configured!(self, parameters => parameters.queues_acknowledgements())
    }

    /// Bits of the epochs of queues; 0 where queues have no epochs.
    pub fn epoch_bits(&self) -> u32 {
        configured!(self, parameters => parameters.epoch_bits())
    }

    /// Whether a queue stands for a round.
    pub(crate) fn keeps_rounds(&self) -> bool {
        configured!(self, parameters => parameters.keeps_rounds())
    }

    /// Number of priority levels that hosts give their packets, where packets have levels.
    pub fn levels(&self) -> Option<u32> {
        configured!(self, parameters => parameters.levels())
    }

    /// Checks that the assignment goes together with the other policies of `switch`.
    pub(crate) fn fits(
        &self,
        switch: &SwitchConfig,
        around: &Surroundings,
        problems: &mut Problems,
    ) {
        configured!(self, parameters => parameters.fits(switch, around, problems));
    }
}
