//! From a list of cables to a network: the steps that all kinds of topology share.

use std::collections::VecDeque;
use std::fmt;

use penstock_units::{BitRate, Problems, Time};

use super::network::{Frame, Link, Node, Topology};

/// The largest network (our choice: larger than the 8,192 hosts for which Penstock is meant; the
/// routes, a table of edge switches by switches, still fit 128 MiB).
const MOST: Extent =
    Extent { hosts: MOST_HOSTS, switches: MOST_SWITCHES, cables: 1 << 22, ports: MOST_PORTS };
/// The most hosts.
pub(super) const MOST_HOSTS: u64 = 1 << 20;
/// The most switches.
pub(super) const MOST_SWITCHES: u64 = 1 << 12;
/// The most ports of a switch: their number fits the 16 bits in which ports are counted and numbered.
pub(super) const MOST_PORTS: u64 = u16::MAX as u64;
/// The longest delay of a link or a switch, 1 s (ps) (our choice: light goes round the Earth in
/// 0.13 s, and sums over a path stay within [`Time`]).
pub(super) const MOST_DELAY: u64 = 1_000_000_000_000;

/// The source of the defaults of BFC's network.
pub(super) const BFC_FABRIC: &str = "BFC 6.2.1";
/// The source of the default delay of a switch.
pub(super) const PIPELINE: &str = "our choice: BFC 6.2.1 counts only links in its 8 us round trip";
/// The source of the default that no link has failed.
pub(super) const NOTHING_FAILS: &str = "our choice: nothing fails unless a scenario says so";

/// The size of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// Number of hosts.
    pub(super) hosts: u64,
    /// Number of switches.
    pub(super) switches: u64,
    /// Number of cables; a cable counts once for both directions.
    pub(super) cables: u64,
    /// Number of ports of the switch that has most.
    pub(super) ports: u64,
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Extent { hosts, switches, cables, ports } = self;
        write!(
            f,
            "{hosts} hosts, {switches} switches, {cables} links and {ports} ports of a switch"
        )
    }
}

/// The kind of a node. The kind gives the node's name and the names of the layers of its links.
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

/// The properties of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) rate: BitRate,
    pub(super) delay: Time,
}

/// A checked network before its links are numbered and indexed.
pub(super) struct Plan {
    /// The kinds of nodes, `(role, how many)`, in node order, hosts first.
    pub(super) roles: Vec<(Role, u32)>,
    pub(super) cables: Vec<Cable>,
    pub(super) pipeline_delay: Time,
    /// Cables to leave out, each given by the two nodes that it joins.
    pub(super) failed_links: Vec<(u32, u32)>,
}

/// Refuses a network of one host, and a network that is too large for dense tables.
///
/// `counts` are fields with their values. For a network that is too large, the first field of the largest
/// value is to be reduced; for a network of one host, the last is to be raised. Nothing is checked when a
/// count was refused before.
pub(super) fn check_extent(extent: Extent, counts: &[(&str, u32)], problems: &mut Problems) {
    let path = |field: &str| format!("topology.{field}");
    let is_sound = counts.iter().all(|(field, _)| problems.is_sound(&path(field)));
    let largest = counts.iter().rev().max_by_key(|(_, count)| count);
    let (Some(fewer), Some(more)) = (largest, counts.last()) else { return };
    if !is_sound {
        return;
    }
    let remedy = "it leaves a network of one host; write enough for at least 2 hosts";
    problems.unless(extent.hosts >= 2, &path(more.0), more.1, remedy);
    let fits = extent.hosts <= MOST.hosts
        && extent.switches <= MOST.switches
        && extent.cables <= MOST.cables
        && extent.ports <= MOST.ports;
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

    /// Numbers the links, and names the nodes and layers.
    pub(super) fn assemble(self) -> Topology {
        let roles: Vec<Role> = self
            .roles
            .iter()
            .flat_map(|&(role, count)| std::iter::repeat_n(role, count as usize))
            .collect();
        let hosts = self.hosts();
        let mut nodes = Vec::with_capacity(roles.len());
        let tiers = tiers(hosts, &self.cables, roles.len());
        nodes.extend(self.names().zip(tiers).map(|(name, tier)| Node { name, tier }));
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

/// The names of the layers that occur, from the hosts upwards and back down; and the function from
/// two roles to the number of their layer.
fn layers(roles: &[Role], cables: &[Cable]) -> (Vec<String>, impl Fn(Role, Role) -> u16) {
    // Upwards: first a link from a host, then links towards a higher tier. Then the way back, down
    // to a host.
    const ORDER: [(Role, Role); 13] = [
        (Role::Host, Role::TopOfRack),
        (Role::Host, Role::Leaf),
        (Role::Host, Role::Switch),
        (Role::TopOfRack, Role::Leaf),
        (Role::TopOfRack, Role::Spine),
        (Role::Leaf, Role::Spine),
        (Role::Switch, Role::Switch),
        (Role::Spine, Role::Leaf),
        (Role::Spine, Role::TopOfRack),
        (Role::Leaf, Role::TopOfRack),
        (Role::TopOfRack, Role::Host),
        (Role::Leaf, Role::Host),
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

/// By node, the number of links to the nearest host (breadth first from all hosts).
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

/// By node, the nodes that a cable joins to the node.
pub(super) fn neighbours(cables: &[Cable], nodes: usize) -> Vec<Vec<u32>> {
    let mut neighbours = vec![Vec::new(); nodes];
    for cable in cables {
        neighbours[cable.a as usize].push(cable.b);
        neighbours[cable.b as usize].push(cable.a);
    }
    neighbours
}
