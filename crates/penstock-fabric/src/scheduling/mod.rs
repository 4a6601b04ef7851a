//! Scheduling: which queue next?
//!
//! A scheduler sees only *active* queues: those with packets that are not paused. [`crate::Port`] tells
//! the scheduler when a queue becomes active or stops being active. It asks for a queue when the link
//! is free.

pub(crate) mod policy;

use penstock_packet::axis;
use penstock_units::{Fidelity, Problems};

use credit_shaping::CreditShapingConfig;
use policy::{Egress, Parameters, RoundSource};

use crate::config::{Surroundings, SwitchConfig};

axis! { $
    /// The scheduling axis of a scenario.
    config SchedulingConfig, each by configured;
    /// The scheduler of a port. The large ones are in a box, so that ports stay small.
    state Scheduler, built in Egress, each by dispatch;
    /// First in, first out.
    fifo: Fifo(FifoConfig => Fifo),
    /// The lowest-numbered queue with data first.
    strict: Strict(StrictConfig => Strict),
    /// Deficit round robin over the queues.
    drr: Drr(DrrConfig => Drr),
    /// A packet of each queue in turn, in the order of the queues' numbers.
    round_robin: RoundRobin(RoundRobinConfig => Box RoundRobin),
    /// Classes share the port by weight, queues of a class in turn (ETS).
    wrr: Wrr(WrrConfig => Box Wrr),
    /// Bit-by-bit round robin between flows.
    ideal_fair: IdealFair(IdealFairConfig => Box IdealFair),
    /// The queue whose head packet's flow has the fewest bytes left (BFC A.2).
    srf: Srf(SrfConfig => Box Srf),
    /// The flow with the fewest bytes to go sends; the packet with the most is dropped (pFabric).
    pfabric: Pfabric(PfabricConfig => Box Pfabric),
    /// AFQ: the queue of the current round until it is empty, then that of the next round.
    rotating_strict: RotatingStrict(RotatingStrictConfig => RotatingStrict),
    /// Deficit round robin in the order of the queues' numbers, by which AFQ emulates its rounds.
    scanning_drr: ScanningDrr(ScanningDrrConfig => Box ScanningDrr),
    /// Two halves of the queues that take turns at going first, by which AFQ emulates its rounds.
    priority_groups: PriorityGroups(PriorityGroupsConfig => Box PriorityGroups),
    /// FIFO for data; credits have a short queue, a rate of their own, and go first (ExpressPass).
    credit_shaping: CreditShaping(CreditShapingConfig => Box CreditShaping),
    /// A class in Python, which `penstock run` supplies.
    external: Python(ExternalSchedulingConfig => ExternalScheduler),
}

impl SchedulingConfig {
    /// Whether the simulator of this fidelity has the policy.
    pub fn is_in(&self, simulator: Fidelity) -> bool {
        configured!(self, parameters => parameters.is_in(simulator))
    }

    /// Whether queues are served in the order of their numbers.
    pub fn is_in_order(&self) -> bool {
        configured!(self, parameters => parameters.is_in_order())
    }

    /// Whether a packet that is queued may be dropped for one that finds no room.
    pub(crate) fn makes_room(&self) -> bool {
        configured!(self, parameters => parameters.makes_room())
    }

    /// The parameters of the credit queue, where credits have a queue of their own.
    pub fn credit_shaping(&self) -> Option<&CreditShapingConfig> {
        configured!(self, parameters => parameters.credit_shaping())
    }

    /// Who can tell the round, where rounds are served in their order.
    pub(crate) fn round_source(&self) -> Option<RoundSource> {
        configured!(self, parameters => parameters.round_source())
    }

    /// Checks that the scheduler goes together with the other policies of `switch`.
    pub(crate) fn fits(
        &self,
        switch: &SwitchConfig,
        around: &Surroundings,
        problems: &mut Problems,
    ) {
        configured!(self, parameters => parameters.fits(switch, around, problems));
    }
}
