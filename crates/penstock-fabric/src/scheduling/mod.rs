//! Scheduling: which queue next?
//!
//! A scheduler sees only *active* queues: those with packets that are not paused. [`crate::Port`]
//! says when a queue becomes active or stops being so, and asks for one when the link is free.

pub(crate) mod policy;

use penstock_packet::axis;
use penstock_units::BitRate;

use policy::Parameters;

axis! { $
    /// The scheduling axis of a scenario.
    config SchedulingConfig, each by configured;
    /// The scheduler of a port, stored by value.
    state Scheduler, built in BitRate, each by dispatch;
    /// First in, first out.
    fifo: Fifo(FifoConfig => Fifo),
    /// Lowest queue number first.
    strict: Strict(StrictConfig => Strict),
    /// Deficit round robin.
    drr: Drr(DrrConfig => Drr),
    /// Bit-by-bit round robin.
    ideal_fair: IdealFair(IdealFairConfig => IdealFair),
    /// Shortest remaining flow first.
    srf: Srf(SrfConfig => Srf),
    /// The queue of the current round, then those of the next ones (AFQ).
    rotating_strict: RotatingStrict(RotatingStrictConfig => RotatingStrict),
    /// Deficit round robin in the order of the queues' numbers (AFQ's emulation).
    scanning_drr: ScanningDrr(ScanningDrrConfig => Box ScanningDrr),
    /// Two groups of queues that take turns at being served first (AFQ's emulation).
    priority_groups: PriorityGroups(PriorityGroupsConfig => Box PriorityGroups),
    /// First in, first out, and credits at a rate of their own (ExpressPass); boxed, so that other ports
    /// stay small.
    credit_shaping: CreditShaping(CreditShapingConfig => Box CreditShaping),
}
