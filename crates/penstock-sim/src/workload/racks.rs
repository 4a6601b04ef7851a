//! The hosts below each edge switch, which are a rack.

use std::ops::Range;

use borsh::{BorshDeserialize, BorshSerialize};
use rand_core::RngCore;

use super::draw;
use crate::routing::Routing;

/// The hosts grouped by edge switch.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct Racks {
    /// All hosts, rack after rack, ascending within a rack.
    members: Vec<u32>,
    /// Where each rack starts in `members`, and the end.
    starts: Vec<usize>,
    /// By host: the number of its rack.
    rack_of: Vec<u32>,
}

impl Racks {
    pub(super) fn new(routing: &Routing, hosts: u32) -> Self {
        let rack_of: Vec<u32> = (0..hosts).map(|host| routing.edge_of(host)).collect();
        let mut members: Vec<u32> = (0..hosts).collect();
        members.sort_by_key(|host| rack_of[*host as usize]);
        let racks = 0..=routing.edge_switches().len() as u32;
        let start = |rack| members.partition_point(|host| rack_of[*host as usize] < rack);
        let starts = racks.map(start).collect();
        Racks { members, starts, rack_of }
    }

    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn rack(&self, rack: usize) -> &[u32] {
        &self.members[self.starts[rack]..self.starts[rack + 1]]
    }

    /// All hosts outside `rack`, rack by rack.
    pub(super) fn outside(&self, rack: usize) -> Vec<u32> {
        [&self.members[..self.starts[rack]], &self.members[self.starts[rack + 1]..]].concat()
    }

    /// Where the hosts of a node are in [`Racks::members`]: a host itself, or the hosts below an edge switch;
    /// none where no host is below it.
    pub(super) fn hosts_of(&self, node: u32, routing: &Routing) -> Option<Range<usize>> {
        if let Some(&rack) = self.rack_of.get(node as usize) {
            let rack = rack as usize;
            let place = self.starts[rack] + self.rack(rack).partition_point(|host| *host < node);
            return Some(place..place + 1);
        }
        let rack = routing.edge_switches().binary_search(&node).ok()?;
        Some(self.starts[rack]..self.starts[rack + 1])
    }

    /// All hosts, rack after rack, ascending within a rack.
    pub(super) fn members(&self) -> &[u32] {
        &self.members
    }

    /// A uniform host in the rack of `source`, other than `source`.
    pub(super) fn draw_inside(&self, source: u32, random: &mut impl RngCore) -> u32 {
        let rack = self.rack(self.rack_of[source as usize] as usize);
        let own = rack.partition_point(|host| *host < source);
        let pick = draw::index(random, rack.len() - 1);
        rack[pick + usize::from(pick >= own)]
    }

    /// A uniform host outside the rack of `source`.
    pub(super) fn draw_outside(&self, source: u32, random: &mut impl RngCore) -> u32 {
        let rack = self.rack_of[source as usize] as usize;
        let (start, end) = (self.starts[rack], self.starts[rack + 1]);
        let pick = draw::index(random, self.members.len() - (end - start));
        self.members[if pick < start { pick } else { pick + (end - start) }]
    }
}
