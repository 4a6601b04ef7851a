//! Two groups of queues in strict priority. With them AFQ emulates rotating strict priority where only
//! the control processor of a switch can change priorities (N. K. Sharma et al., "Approximating Fair
//! Queueing on Reconfigurable Switches", NSDI 2018, sec. 4, "Emulating RSP using strict priority
//! queues").
//!
//! The first half of the data queues is one group, the second half the other. Of the upper group the
//! lowest queue with packets is served. When the period is over or the upper group is empty, the groups
//! change places. From then on the queues of the new lower group serve the rounds behind those of the
//! new upper group. Packets left in these queues are served with the later rounds, so a flow's packets
//! may arrive out of order.
//!
//! The paper does not say which round a flow that returns gets. Here the current round is that of the
//! last queue served, as with rotating strict priority, but at least the first round of the upper
//! group. The period counts from the last change. As with rounds, the scheduler looks at the period
//! when the port chooses a packet.

use alloc::format;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::PacketPool;
use penstock_units::{Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Egress, Parameters, Policy, RoundSource, fits_rounds};
use crate::config::{Surroundings, SwitchConfig};
use crate::parts::Bitmap;
use crate::queue::DataQueue;

/// Parameters of priority groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriorityGroupsConfig {
    /// Longest time that a half goes first (tau).
    #[schemars(range(min = 1), extend("default" = "10 us", "source" = "AFQ 4"))]
    pub period: Time,
}

impl Parameters for PriorityGroupsConfig {
    fn fits(&self, switch: &SwitchConfig, _: &Surroundings, problems: &mut Problems) {
        fits_rounds(switch, problems);
        let assignment = &switch.assignment;
        if !problems.has_sound("assignment") || !assignment.keeps_rounds() {
            return;
        }
        if let Some(queues) = assignment.queues() {
            let remedy = format!(
                "{} data queues do not make two groups of one size; use an odd number: one is the control \
                 queue",
                queues - 1
            );
            problems.unless(!queues.is_multiple_of(2), "assignment.queues", queues, remedy);
        }
    }

    fn round_source(&self) -> Option<RoundSource> {
        Some(RoundSource::Scheduler)
    }
}

/// The two priority groups of a port.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct PriorityGroups {
    period: Time,
    /// When the groups last changed places.
    since: Time,
    /// The first round of the upper group, a multiple of the number of queues in a group.
    base: u64,
    /// The current round, which belongs to the upper group.
    round: u64,
    active: Bitmap,
}

impl PriorityGroups {
    pub(crate) fn new(config: &PriorityGroupsConfig, _: &Egress) -> Self {
        let (since, active) = (Time::ZERO, Bitmap::new(0));
        PriorityGroups { period: config.period, since, base: 0, round: 0, active }
    }

    fn change_places(&mut self, now: Time, size: usize) {
        self.base += size as u64;
        self.round = self.base;
        self.since = now;
    }
}

impl Policy for PriorityGroups {
    #[inline]
    fn activate(&mut self, _: &mut [DataQueue], number: u32, _: &PacketPool) {
        self.active.grow(number as usize + 1);
        self.active.insert(number as usize);
    }

    #[inline]
    fn deactivate(&mut self, _: &mut [DataQueue], number: u32) {
        self.active.remove(number as usize);
    }

    #[inline]
    fn select(&mut self, now: Time, queues: &mut [DataQueue], _: &PacketPool) -> u32 {
        let queues = queues.len() - 1;
        let size = queues / 2;
        if now - self.since >= self.period {
            self.change_places(now, size);
        }
        loop {
            let first = 1 + (self.base % queues as u64) as usize;
            if let Some(number) = self.active.first_in(first, first + size) {
                self.round = self.round.max(self.base + (number - first) as u64);
                return number as u32;
            }
            self.change_places(now, size);
        }
    }

    #[inline]
    fn round(&self) -> u64 {
        self.round
    }

    #[inline]
    fn rounds_end(&self, queues: u64) -> u64 {
        self.base + queues
    }
}

#[cfg(test)]
#[path = "priority_groups_tests.rs"]
mod tests;
