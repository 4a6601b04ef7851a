//! Scheduling: which queue next?
//!
//! A scheduler sees only *active* queues: those with packets that are not paused. [`crate::Port`]
//! says when a queue becomes active or stops being so, and asks for one when the link is free.

pub mod credit_shaping;
pub mod drr;
pub mod fifo;
pub mod ideal_fair;
pub mod priority_groups;
pub mod rotating_strict;
pub mod scanning_drr;
pub mod srf;
pub mod strict;

use alloc::boxed::Box;

use penstock_packet::{CreditQueue, CreditShapingConfig, Packet, PacketId, PacketPool};
use penstock_units::{BitRate, Time};
use serde::{Deserialize, Serialize};

use crate::queue::DataQueue;
use credit_shaping::CreditShaping;
use drr::{Drr, DrrConfig};
use fifo::Fifo;
use ideal_fair::IdealFair;
use priority_groups::{PriorityGroups, PriorityGroupsConfig};
use rotating_strict::RotatingStrict;
use scanning_drr::{ScanningDrr, ScanningDrrConfig};
use srf::Srf;
use strict::Strict;

/// The scheduling axis of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SchedulingConfig {
    /// First in, first out.
    Fifo {},
    /// Lowest queue number first.
    Strict {},
    /// Deficit round robin.
    Drr(DrrConfig),
    /// Bit-by-bit round robin.
    IdealFair {},
    /// Shortest remaining flow first.
    Srf {},
    /// The queue of the current round, then those of the next ones (AFQ).
    RotatingStrict {},
    /// Deficit round robin in the order of the queues' numbers (AFQ's emulation).
    ScanningDrr(ScanningDrrConfig),
    /// Two groups of queues that take turns at being served first (AFQ's emulation).
    PriorityGroups(PriorityGroupsConfig),
    /// First in, first out, and credits at a rate of their own (ExpressPass).
    CreditShaping(CreditShapingConfig),
}

/// The scheduler of a port, stored by value and dispatched by `match`.
#[derive(Debug)]
pub enum Scheduler {
    /// See [`fifo`].
    Fifo(Fifo),
    /// See [`strict`].
    Strict(Strict),
    /// See [`drr`].
    Drr(Drr),
    /// See [`ideal_fair`].
    IdealFair(IdealFair),
    /// See [`srf`].
    Srf(Srf),
    /// See [`rotating_strict`].
    RotatingStrict(RotatingStrict),
    /// See [`scanning_drr`].
    ScanningDrr(Box<ScanningDrr>),
    /// See [`priority_groups`].
    PriorityGroups(Box<PriorityGroups>),
    /// See [`credit_shaping`]; boxed, so that other ports stay small.
    CreditShaping(Box<CreditShaping>),
}

impl Scheduler {
    /// The scheduler that `config` describes, for a port of `rate`.
    pub fn new(config: &SchedulingConfig, rate: BitRate) -> Self {
        match config {
            SchedulingConfig::Fifo {} => Scheduler::Fifo(Fifo::default()),
            SchedulingConfig::Strict {} => Scheduler::Strict(Strict::default()),
            SchedulingConfig::Drr(config) => Scheduler::Drr(Drr::new(config)),
            SchedulingConfig::IdealFair {} => Scheduler::IdealFair(IdealFair::default()),
            SchedulingConfig::Srf {} => Scheduler::Srf(Srf::default()),
            SchedulingConfig::RotatingStrict {} => {
                Scheduler::RotatingStrict(RotatingStrict::default())
            }
            SchedulingConfig::ScanningDrr(config) => {
                Scheduler::ScanningDrr(Box::new(ScanningDrr::new(config)))
            }
            SchedulingConfig::PriorityGroups(config) => {
                Scheduler::PriorityGroups(Box::new(PriorityGroups::new(config)))
            }
            SchedulingConfig::CreditShaping(config) => {
                Scheduler::CreditShaping(Box::new(CreditShaping::new(config, rate)))
            }
        }
    }

    /// Tags an arriving packet before it joins `queue`.
    #[inline]
    pub(crate) fn tag(&mut self, queue: &mut DataQueue, number: u32, packet: &mut Packet) {
        if let Scheduler::IdealFair(fair) = self {
            fair.tag(queue, number, packet);
        }
    }

    /// Queue `number` has packets and may send.
    #[inline]
    pub(crate) fn activate(&mut self, queues: &mut [DataQueue], number: u32, pool: &PacketPool) {
        let queue = &queues[number as usize];
        match self {
            Scheduler::RotatingStrict(_) => {}
            Scheduler::Fifo(fifo) => fifo.activate(number),
            Scheduler::CreditShaping(shaping) => shaping.data.activate(number),
            Scheduler::Strict(strict) => strict.activate(number),
            Scheduler::Drr(drr) => drr.activate(queues, number),
            Scheduler::ScanningDrr(drr) => drr.activate(number),
            Scheduler::PriorityGroups(groups) => groups.activate(number),
            Scheduler::IdealFair(fair) => fair.set_head(number, &pool[queue.packets.head()]),
            Scheduler::Srf(srf) => srf.set_head(number, queue.class, &pool[queue.packets.head()]),
        }
    }

    /// Queue `number` is empty or paused.
    #[inline]
    pub(crate) fn deactivate(&mut self, queues: &mut [DataQueue], number: u32) {
        match self {
            Scheduler::Fifo(_) | Scheduler::RotatingStrict(_) | Scheduler::CreditShaping(_) => {}
            Scheduler::Strict(strict) => strict.deactivate(number),
            Scheduler::Drr(drr) => drr.deactivate(queues, number),
            Scheduler::ScanningDrr(drr) => drr.deactivate(queues, number),
            Scheduler::PriorityGroups(groups) => groups.deactivate(number),
            Scheduler::IdealFair(fair) => fair.deactivate(number),
            Scheduler::Srf(srf) => srf.deactivate(number),
        }
    }

    /// The active queue that sends next at `now`; called only when there is one.
    #[inline]
    pub(crate) fn select(&mut self, now: Time, queues: &mut [DataQueue], pool: &PacketPool) -> u32 {
        match self {
            Scheduler::Fifo(fifo) => fifo.select(),
            Scheduler::CreditShaping(shaping) => shaping.data.select(),
            Scheduler::Strict(strict) => strict.select(),
            Scheduler::Drr(drr) => drr.select(queues, pool),
            Scheduler::IdealFair(fair) => fair.select(),
            Scheduler::Srf(srf) => srf.select(),
            Scheduler::RotatingStrict(rotating) => rotating.select(queues),
            Scheduler::ScanningDrr(drr) => drr.select(queues, pool),
            Scheduler::PriorityGroups(groups) => groups.select(now, queues.len() - 1),
        }
    }

    /// `bytes` of `queue` were sent.
    #[inline]
    pub(crate) fn charge(&mut self, queue: &mut DataQueue, bytes: u32) {
        match self {
            Scheduler::Drr(_) | Scheduler::ScanningDrr(_) => queue.deficit -= bytes,
            Scheduler::IdealFair(fair) => fair.serve(bytes),
            _ => {}
        }
    }

    /// The active queue `number` has another packet at its head.
    #[inline]
    pub(crate) fn head_changed(&mut self, number: u32, class: u8, head: &Packet) {
        match self {
            Scheduler::IdealFair(fair) => fair.set_head(number, head),
            Scheduler::Srf(srf) => srf.set_head(number, class, head),
            _ => {}
        }
    }

    /// The queue of the credits, where they have one.
    #[inline]
    pub(crate) fn credits(&self) -> Option<&CreditQueue> {
        match self {
            Scheduler::CreditShaping(shaping) => Some(&shaping.credits),
            _ => None,
        }
    }

    /// Appends a credit; false where there is no room for it.
    pub(crate) fn push_credit(&mut self, pool: &mut PacketPool, id: PacketId) -> bool {
        match self {
            Scheduler::CreditShaping(shaping) => shaping.credits.push(pool, id),
            _ => false,
        }
    }

    /// The credit that leaves ahead of data at `now`, if one may.
    #[inline]
    pub(crate) fn pop_credit(&mut self, now: Time, pool: &PacketPool) -> Option<PacketId> {
        match self {
            Scheduler::CreditShaping(shaping) => shaping.credits.pop(now, pool),
            _ => None,
        }
    }

    /// The round: the fluid one of an ideal fair scheduler, the current one of rotating strict
    /// priority and of priority groups; zero for the others.
    #[inline]
    pub(crate) fn round(&self) -> u64 {
        match self {
            Scheduler::IdealFair(fair) => fair.round(),
            Scheduler::RotatingStrict(rotating) => rotating.round(),
            Scheduler::PriorityGroups(groups) => groups.round(),
            _ => 0,
        }
    }

    /// The first round that has none of `queues` data queues yet.
    #[inline]
    pub(crate) fn rounds_end(&self, queues: u64) -> u64 {
        match self {
            Scheduler::PriorityGroups(groups) => groups.end(queues),
            _ => self.round() + queues,
        }
    }
}
