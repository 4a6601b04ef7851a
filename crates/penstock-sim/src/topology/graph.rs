//! Any network, link by link, and the checks that only a hand-written network needs.

use std::collections::BTreeMap;

use penstock_units::{BitRate, Time};
use serde::{Deserialize, Serialize};

use super::error::{Extent, TopologyError};
use super::plan::{
    Cable, Line, Plan, Role, check_count, check_delay, check_extent, check_line, neighbours,
};

/// A network given by its links. Nodes `0..hosts` are hosts, the next `switches` are switches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// Hosts, >= 2; each must have exactly one link, to a switch.
    pub hosts: u32,
    /// Switches, >= 1.
    pub switches: u32,
    /// The links; link `k` is the directed links `2k` (a to b) and `2k + 1` (b to a).
    pub links: Vec<GraphLink>,
    /// Time that a switch needs before a packet is ready for its egress queue (ps), at most 1 s.
    pub pipeline_delay: Time,
    /// Links that have failed from the start, as the two nodes that they join.
    pub failed_links: Vec<(u32, u32)>,
}

/// One link of a [`Graph`], in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphLink {
    /// One end: a node number.
    pub a: u32,
    /// The other end: a node number.
    pub b: u32,
    /// Rate in each direction (bit/s), > 0.
    pub rate: BitRate,
    /// Propagation delay (ps), at most 1 s.
    pub delay: Time,
}

impl Graph {
    pub(super) fn plan(&self) -> Result<Plan, TopologyError> {
        match self.hosts {
            0 => {
                return Err(TopologyError::TooFew { field: "hosts", least: 2 });
            }
            1 => return Err(TopologyError::LonelyHost { field: "hosts" }),
            _ => check_count("switches", self.switches)?,
        }
        check_delay("pipeline_delay", self.pipeline_delay)?;
        let extent = Extent {
            hosts: u64::from(self.hosts),
            switches: u64::from(self.switches),
            cables: self.links.len() as u64,
        };
        check_extent("hosts", extent)?;
        self.check_links()?;
        let cable = |link: &GraphLink| {
            let line = Line { rate: link.rate, delay: link.delay };
            Cable { a: link.a, b: link.b, line }
        };
        let cables: Vec<Cable> = self.links.iter().map(cable).collect();
        self.check_reach(&neighbours(&cables, (self.hosts + self.switches) as usize))?;
        Ok(Plan {
            roles: vec![(Role::Host, self.hosts), (Role::Switch, self.switches)],
            cables,
            pipeline_delay: self.pipeline_delay,
            failed_links: self.failed_links.clone(),
        })
    }

    /// Each link on its own, and against those before it.
    fn check_links(&self) -> Result<(), TopologyError> {
        let last = self.hosts + self.switches - 1;
        let mut seen = BTreeMap::new();
        for (link, &GraphLink { a, b, rate, delay }) in self.links.iter().enumerate() {
            for (end, node) in [("a", a), ("b", b)] {
                if node > last {
                    return Err(TopologyError::UnknownNode { link, end, node, last });
                }
            }
            if a == b {
                return Err(TopologyError::SelfLink { link, node: a });
            }
            if a.max(b) < self.hosts {
                return Err(TopologyError::HostToHost { link, a, b });
            }
            if let Some(first) = seen.insert((a.min(b), a.max(b)), link) {
                return Err(TopologyError::DuplicateLink { link, first, a, b });
            }
            check_line(&format!("links[{link}]."), Line { rate, delay })?;
        }
        Ok(())
    }

    /// Every host has one link, and every node reaches node 0.
    fn check_reach(&self, neighbours: &[Vec<u32>]) -> Result<(), TopologyError> {
        for (host, links) in (0..self.hosts).zip(neighbours) {
            if links.len() != 1 {
                return Err(TopologyError::HostLinks { host, count: links.len() });
            }
        }
        let mut is_reached = vec![false; neighbours.len()];
        let mut waiting = vec![0u32];
        while let Some(node) = waiting.pop() {
            if !std::mem::replace(&mut is_reached[node as usize], true) {
                waiting.extend(&neighbours[node as usize]);
            }
        }
        match is_reached.iter().position(|reached| !reached) {
            Some(node) => Err(TopologyError::Disconnected { node: node as u32 }),
            None => Ok(()),
        }
    }
}
