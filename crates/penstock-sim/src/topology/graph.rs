//! Any network, given link by link, and the checks that only a hand-written network needs.

use std::collections::BTreeMap;

use penstock_units::source::LINKS_OF_BFC;
use penstock_units::{BitRate, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::{
    Cable, Line, MOST_DELAY, MOST_HOSTS, MOST_PORTS, MOST_SWITCHES, NOTHING_FAILS, PIPELINE, Plan,
    Role, neighbours,
};

/// A network that is given cable by cable.
///
/// Nodes `0..hosts` are hosts, the next `switches` are switches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// Hosts, numbered from 0.
    #[schemars(range(min = 2, max = MOST_HOSTS))]
    pub hosts: u32,
    /// Switches, numbered after the hosts.
    #[schemars(range(min = 1, max = MOST_SWITCHES))]
    pub switches: u32,
    /// The cables.
    ///
    /// Cable `k` is the directed links `2k` (a to b) and `2k + 1` (b to a).
    #[schemars(length(min = 1, max = MOST_LISTED))]
    pub links: Vec<GraphLink>,
    /// Time from a packet's last bit in to being ready for its egress queue, at every switch.
    #[schemars(range(max = MOST_DELAY), extend("default" = 0, "source" = PIPELINE))]
    pub pipeline_delay: Time,
    /// Links that have failed from the start, as [node, node].
    #[schemars(extend("default" = [], "source" = NOTHING_FAILS))]
    pub failed_links: Vec<(u32, u32)>,
}

/// A cable between two nodes of a graph: two directed links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphLink {
    /// One end.
    pub a: u32,
    /// The other end.
    pub b: u32,
    /// Rate in each direction.
    #[schemars(range(min = 1), extend("default" = "100 Gb/s", "source" = LINKS_OF_BFC))]
    pub rate: BitRate,
    /// Propagation delay.
    #[schemars(range(max = MOST_DELAY), extend("default" = "1 us", "source" = LINKS_OF_BFC))]
    pub delay: Time,
}

/// The most cables in a list (our choice: a fat tree of 16,000 hosts has 48,000, and a cable takes
/// two kilobytes in Python).
const MOST_LISTED: usize = 1 << 16;

impl Graph {
    pub(super) fn plan(&self, problems: &mut Problems) -> Option<Plan> {
        let is_counted = problems.is_sound("topology.hosts")
            && problems.is_sound("topology.switches")
            && problems.is_sound("topology.links");
        if !is_counted {
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

    /// Refuses a list of links that is empty or too long.
    pub(super) fn check_count(&self, problems: &mut Problems) {
        let (count, remedy) = (self.links.len(), format!("write 1 to {MOST_LISTED}"));
        let holds = (1..=MOST_LISTED).contains(&count);
        problems.unless(holds, "topology.links", format!("a list of {count}"), remedy);
    }

    /// Checks each link on its own, and against the links before it.
    fn check_links(&self, problems: &mut Problems) {
        let (mut seen, last) = (BTreeMap::new(), self.hosts + self.switches - 1);
        for (index, link) in self.links.iter().enumerate() {
            let &GraphLink { a, b, rate, delay } = link;
            let first = *seen.entry((a.min(b), a.max(b))).or_insert(index);
            let is_known = a != b && (self.hosts..=last).contains(&a.max(b));
            let is_line = rate > BitRate::default() && delay.as_ps() <= MOST_DELAY;
            // Only the few wrong links need the work of wording a message.
            if problems.is_full() {
                return;
            }
            if !is_known || !is_line || first != index {
                self.refuse_link(index, first, problems);
            }
        }
    }

    /// Adds the problems of link number `index`. A link must join two existing nodes, one of them a
    /// switch, and must have a rate and a delay. Number `first` is the first link between the same
    /// two nodes; it must be this link.
    fn refuse_link(&self, index: usize, first: usize, problems: &mut Problems) {
        let GraphLink { a, b, rate, delay } = self.links[index];
        let (path, ends) = (format!("topology.links[{index}]"), format!("[{a}, {b}]"));
        let last = self.hosts + self.switches - 1;
        let remedy = format!(
            "there is no such node; nodes are 0 to {last}, hosts first, then switches: write one of these, \
             or raise topology.switches"
        );
        for (end, node) in [("a", a), ("b", b)] {
            problems.unless(node <= last, &format!("{path}.{end}"), node, &remedy);
        }
        let remedy = if a == b {
            Some("it joins a node to itself; join two nodes".to_owned())
        } else if a.max(b) < self.hosts {
            Some(
                "it joins two hosts, and a host has one cable, to a switch; put one between"
                    .to_owned(),
            )
        } else {
            (first != index).then(|| {
                format!(
                    "topology.links[{first}] joins the same two nodes; keep one and raise its rate"
                )
            })
        };
        remedy.into_iter().for_each(|remedy| problems.unless(false, &path, &ends, remedy));
        let field = |name: &str| format!("{path}.{name}");
        problems.unless(rate > BitRate::default(), &field("rate"), rate, "write 1 b/s or more");
        let most = Time::from_ps(MOST_DELAY);
        problems.unless(delay <= most, &field("delay"), delay, format!("write at most {most}"));
    }

    /// Checks that every host has one link, that no switch has too many, and that every node reaches node 0.
    fn check_reach(&self, neighbours: &[Vec<u32>], problems: &mut Problems) {
        let hosts = (0..self.hosts).zip(neighbours);
        for (host, ends) in hosts.filter(|(_, ends)| ends.len() != 1) {
            if problems.is_full() {
                return;
            }
            let to = if ends.is_empty() { "nothing".to_owned() } else { format!("{ends:?}") };
            let value = format!("a list in which host {host} has cables to {to}");
            let remedy = "a host has exactly one cable, to a switch";
            problems.unless(false, "topology.links", value, remedy);
        }
        let switches = (self.hosts..).zip(&neighbours[self.hosts as usize..]);
        for (switch, ends) in switches.filter(|(_, ends)| ends.len() as u64 > MOST_PORTS) {
            let value = format!("a list in which switch {switch} has {} cables", ends.len());
            let remedy = format!("a switch has at most {MOST_PORTS} ports; take another switch");
            problems.unless(false, "topology.links", value, remedy);
        }
        let mut is_reached = vec![false; neighbours.len()];
        let mut waiting = vec![0u32];
        while let Some(node) = waiting.pop() {
            if !std::mem::replace(&mut is_reached[node as usize], true) {
                waiting.extend(&neighbours[node as usize]);
            }
        }
        let nodes = (0..).zip(is_reached);
        let lost = nodes.filter_map(|(node, reached): (u32, bool)| (!reached).then_some(node));
        let lost: Vec<u32> = lost.take(NAMED_NODES).collect();
        let value = format!("a list that leaves no path from node 0 to {lost:?}");
        let remedy = "the network is disconnected; add a cable to each, or lower topology.hosts or \
                      topology.switches";
        problems.unless(lost.is_empty(), "topology.links", value, remedy);
    }
}

/// How many unreachable nodes a message names.
const NAMED_NODES: usize = 8;
