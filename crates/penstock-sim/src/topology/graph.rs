//! Any network, link by link, and the checks that only a hand-written network needs.

use std::collections::BTreeMap;

use penstock_units::{BitRate, Problem, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::{
    Cable, Extent, Line, Plan, Role, check_count, check_delay, check_extent, check_line, neighbours,
};

/// A network given by its links. Nodes `0..hosts` are hosts, the next `switches` are switches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    pub(super) fn plan(&self, problems: &mut Problems) -> Option<Plan> {
        check_count("hosts", self.hosts, 2, problems);
        check_count("switches", self.switches, 1, problems);
        let has_counts = problems.is_sound("topology");
        check_delay("pipeline_delay", self.pipeline_delay, problems);
        if has_counts {
            let extent = Extent {
                hosts: u64::from(self.hosts),
                switches: u64::from(self.switches),
                cables: self.links.len() as u64,
            };
            check_extent(extent, ("hosts", self.hosts), ("hosts", self.hosts), problems);
        }
        if !has_counts || !problems.is_sound("topology.hosts") {
            return None;
        }
        self.check_links(problems);
        if !problems.is_sound("topology.links") {
            return None;
        }
        let cable = |link: &GraphLink| {
            let line = Line { rate: link.rate, delay: link.delay };
            Cable { a: link.a, b: link.b, line }
        };
        let cables: Vec<Cable> = self.links.iter().map(cable).collect();
        let neighbours = neighbours(&cables, (self.hosts + self.switches) as usize);
        self.check_reach(&neighbours, problems);
        if !problems.is_sound("topology") {
            return None;
        }
        Some(Plan {
            roles: vec![(Role::Host, self.hosts), (Role::Switch, self.switches)],
            cables,
            pipeline_delay: self.pipeline_delay,
            failed_links: self.failed_links.clone(),
        })
    }

    /// Each link on its own, and against those before it.
    fn check_links(&self, problems: &mut Problems) {
        let mut seen = BTreeMap::new();
        for (link, &GraphLink { a, b, rate, delay }) in self.links.iter().enumerate() {
            if problems.value_of(self.check_ends(link)).is_some() {
                let first = *seen.entry((a.min(b), a.max(b))).or_insert(link);
                if first != link {
                    problems.add(duplicate(link, first, (a, b)));
                }
            }
            check_line(&format!("links[{link}]."), Line { rate, delay }, problems);
        }
    }

    /// A link joins two nodes that there are, one of them a switch.
    fn check_ends(&self, link: usize) -> Result<(), Problem> {
        let GraphLink { a, b, .. } = self.links[link];
        let (field, last) = (|| format!("topology.links[{link}]"), self.hosts + self.switches - 1);
        for (end, node) in [("a", a), ("b", b)] {
            if node > last {
                let remedy = format!(
                    "nodes are numbered 0 to {last} (hosts first, then switches), so write one of \
                     these or raise topology.switches"
                );
                return Err(Problem::new(
                    format!("{}.{end}", field()),
                    format!("node {node}"),
                    remedy,
                ));
            }
        }
        let ends = || format!("[{a}, {b}]");
        if a == b {
            let remedy = "it joins a node to itself; give it two different ends";
            return Err(Problem::new(field(), ends(), remedy));
        }
        if a.max(b) < self.hosts {
            let remedy = "it joins two hosts; put a switch between them";
            return Err(Problem::new(field(), ends(), remedy));
        }
        Ok(())
    }

    /// Every host has one link, and every node reaches node 0.
    fn check_reach(&self, neighbours: &[Vec<u32>], problems: &mut Problems) {
        for (host, links) in (0..self.hosts).zip(neighbours) {
            let count = links.len();
            let value = format_args!("a list that gives host {host} {count} links");
            problems.unless(count == 1, "topology.links", value, "give every host exactly one");
        }
        let mut is_reached = vec![false; neighbours.len()];
        let mut waiting = vec![0u32];
        while let Some(node) = waiting.pop() {
            if !std::mem::replace(&mut is_reached[node as usize], true) {
                waiting.extend(&neighbours[node as usize]);
            }
        }
        let apart = is_reached.iter().position(|reached| !reached);
        if let Some(node) = apart.filter(|_| problems.is_sound("topology.links")) {
            let value = format!("a list that does not connect node {node} to node 0");
            let remedy = "add a link between their parts of the network";
            problems.unless(false, "topology.links", value, remedy);
        }
    }
}

/// The refusal of a link that joins the nodes of an earlier one.
fn duplicate(link: usize, first: usize, (a, b): (u32, u32)) -> Problem {
    let remedy = format!(
        "topology.links[{first}] joins these nodes as well; remove one of them, or give one link the \
         sum of their rates"
    );
    Problem::new(format!("topology.links[{link}]"), format!("[{a}, {b}]"), remedy)
}
