//! From a list of cables to a network: what all kinds of topology share.

use std::collections::VecDeque;
use std::fmt;

use penstock_units::{BitRate, Problems, Time};

use super::network::{Frame, Link, Node, Topology};

/// The largest network that is accepted (our choice: above the 8,192 hosts that Penstock is meant
/// for, and the routes, a table of edge switches by switches, still fit 128 MiB).
const MOST: Extent = Extent { hosts: MOST_HOSTS, switches: MOST_SWITCHES, cables: 1 << 22 };
/// The most hosts.
pub(super) const MOST_HOSTS: u64 = 1 << 20;
/// The most switches.
pub(super) const MOST_SWITCHES: u64 = 1 << 12;
/// The longest delay of a link or a switch, 1 s (ps) (our choice: light goes round the Earth in 0.13 s; the
/// bound keeps sums over a path within [`Time`]).
pub(super) const MOST_DELAY: u64 = 1_000_000_000_000;

/// The network of BFC's evaluation.
pub(super) const BFC_FABRIC: &str = "BFC 6.2.1";
/// Where the default delay of a switch comes from.
pub(super) const PIPELINE: &str = "our choice: BFC 6.2.1 counts only links in its 8 us round trip";
/// Why no link has failed.
pub(super) const NOTHING_FAILS: &str = "our choice: nothing fails unless a scenario says so";

/// How large a network is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// Number of hosts.
    pub(super) hosts: u64,
    /// Number of switches.
    pub(super) switches: u64,
    /// Number of links, both directions being one.
    pub(super) cables: u64,
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Extent { hosts, switches, cables } = self;
        write!(f, "{hosts} hosts, {switches} switches and {cables} links")
    }
}

/// What a node is; gives its name and the names of the layers of its links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Host,
    TopOfRack,
    Leaf,
    Spine,
    Switch,
}

impl Role {
    fn initial(self) -> char {
        match self {
            Role::Host => 'H',
            Role::TopOfRack => 'T',
            Role::Leaf => 'L',
            Role::Spine | Role::Switch => 'S',
        }
    }

    fn layer_end(self) -> &'static str {
        match self {
            Role::Host => "host",
            Role::TopOfRack => "ToR",
            Role::Leaf => "leaf",
            Role::Spine => "spine",
            Role::Switch => "switch",
        }
    }
}

/// Two directed links of the same rate and delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cable {
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) line: Line,
}

/// What a cable is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) rate: BitRate,
    pub(super) delay: Time,
}

/// A checked network before its links are numbered and indexed.
pub(super) struct Plan {
    /// `(role, how many)`, hosts first, in node order.
    pub(super) roles: Vec<(Role, u32)>,
    pub(super) cables: Vec<Cable>,
    pub(super) pipeline_delay: Time,
    /// Cables that are left out, as the two nodes that each joins.
    pub(super) failed_links: Vec<(u32, u32)>,
}

/// Refuses a network of one host, and one that is too large for dense tables.
///
/// Of the `counts`, by field, the first is the one to reduce then, the last the one to raise for a second host.
/// Nothing is said about counts that were refused.
pub(super) fn check_extent(extent: Extent, counts: &[(&str, u32)], problems: &mut Problems) {
    let path = |field: &str| format!("topology.{field}");
    let is_sound = counts.iter().all(|(field, _)| problems.is_sound(&path(field)));
    let (&[fewer, ..], &[.., more]) = (counts, counts) else { return };
    if !is_sound {
        return;
    }
    let remedy = "it leaves a network of one host; write enough for at least 2 hosts";
    problems.unless(extent.hosts >= 2, &path(more.0), more.1, remedy);
    let fits = extent.hosts <= MOST.hosts
        && extent.switches <= MOST.switches
        && extent.cables <= MOST.cables;
    let remedy = format!("this asks for {extent}; write counts that give at most {MOST}");
    problems.unless(fits, &path(fewer.0), fewer.1, remedy);
}

impl Plan {
    /// Number of hosts.
    pub(super) fn hosts(&self) -> u32 {
        self.roles.iter().filter(|(role, _)| *role == Role::Host).map(|(_, count)| count).sum()
    }

    /// The name of every node, in node order.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        self.roles.iter().flat_map(|&(role, count)| {
            (0..count).map(move |index| format!("{}{index}", role.initial()))
        })
    }

    /// Numbers the links and names nodes and layers.
    pub(super) fn assemble(self) -> Topology {
        let roles: Vec<Role> = self
            .roles
            .iter()
            .flat_map(|&(role, count)| std::iter::repeat_n(role, count as usize))
            .collect();
        let hosts = self.hosts();
        let nodes = self
            .names()
            .zip(tiers(hosts, &self.cables, roles.len()))
            .map(|(name, tier)| Node { name, tier })
            .collect();
        let (layers, layer_of) = layers(&roles, &self.cables);
        let mut links = Vec::with_capacity(2 * self.cables.len());
        for cable in &self.cables {
            for (from, to) in [(cable.a, cable.b), (cable.b, cable.a)] {
                let layer = layer_of(roles[from as usize], roles[to as usize]);
                let reverse = links.len() as u32 ^ 1;
                let Line { rate, delay } = cable.line;
                links.push(Link { from, to, rate, delay, layer, reverse });
            }
        }
        let pipeline_delay = self.pipeline_delay;
        Topology::new(Frame { hosts, nodes, layers, pipeline_delay }, links)
    }
}

/// The names of the layers that occur, from the hosts upwards and back down, and the lookup.
fn layers(roles: &[Role], cables: &[Cable]) -> (Vec<String>, impl Fn(Role, Role) -> u16) {
    // Upwards first: a link from a host, a link towards a higher tier, the way back, to a host.
    const ORDER: [(Role, Role); 11] = [
        (Role::Host, Role::TopOfRack),
        (Role::Host, Role::Switch),
        (Role::TopOfRack, Role::Leaf),
        (Role::TopOfRack, Role::Spine),
        (Role::Leaf, Role::Spine),
        (Role::Switch, Role::Switch),
        (Role::Spine, Role::Leaf),
        (Role::Spine, Role::TopOfRack),
        (Role::Leaf, Role::TopOfRack),
        (Role::TopOfRack, Role::Host),
        (Role::Switch, Role::Host),
    ];
    let mut occurs = [false; ORDER.len()];
    for cable in cables {
        let ends = (roles[cable.a as usize], roles[cable.b as usize]);
        for (occurs, order) in occurs.iter_mut().zip(ORDER) {
            *occurs |= order == ends || order == (ends.1, ends.0);
        }
    }
    let present: Vec<(Role, Role)> =
        ORDER.into_iter().zip(occurs).filter_map(|(ends, occurs)| occurs.then_some(ends)).collect();
    let names = present
        .iter()
        .map(|(from, to)| format!("{}-{}", from.layer_end(), to.layer_end()))
        .collect();
    let position = move |from, to| {
        present.iter().position(|ends| *ends == (from, to)).map_or(0, |index| index as u16)
    };
    (names, position)
}

/// Per node, the number of links to the nearest host (breadth first from all hosts).
fn tiers(hosts: u32, cables: &[Cable], nodes: usize) -> Vec<u8> {
    let mut tiers: Vec<Option<u8>> = vec![None; nodes];
    tiers[..hosts as usize].fill(Some(0));
    let neighbours = neighbours(cables, nodes);
    let mut waiting: VecDeque<u32> = (0..hosts).collect();
    while let Some(node) = waiting.pop_front() {
        let above = tiers[node as usize].map(|tier| tier.saturating_add(1));
        for &neighbour in &neighbours[node as usize] {
            if tiers[neighbour as usize].is_none() {
                tiers[neighbour as usize] = above;
                waiting.push_back(neighbour);
            }
        }
    }
    tiers.into_iter().map(|tier| tier.unwrap_or(u8::MAX)).collect()
}

/// Per node, the nodes that a cable joins it to.
pub(super) fn neighbours(cables: &[Cable], nodes: usize) -> Vec<Vec<u32>> {
    let mut neighbours = vec![Vec::new(); nodes];
    for cable in cables {
        neighbours[cable.a as usize].push(cable.b);
        neighbours[cable.b as usize].push(cable.a);
    }
    neighbours
}
