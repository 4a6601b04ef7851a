//! Which nodes belong to which partition, and how long a window is.
//!
//! A host belongs to the partition of its switch. Only links between switches are cut, and only links
//! that are not shorter than a window. Racks stay in the order of their hosts; each other switch goes
//! where most of its neighbours are, as long as no partition gets more than its share. In real time
//! ([`crate::live`]) each host has a partition of its own.

use penstock_units::Time;

use crate::topology::Topology;

/// The shortest window (our choice: partitions wait for each other once in a window, which takes up to
/// a microsecond; 100 ns of 16 hosts at 100 Gb/s are 20 packet-hops, about 2 us of work).
const SHORTEST: Time = Time::from_ns(100);

/// The longest window (our choice: signals, checkpoints and checks wait for its end, and in this time 128
/// hosts at 100 Gb/s cause 1.2 million packet-hops, a quarter of a second of work).
const LONGEST: Time = Time::from_us(100);

/// A network is cut into parts of at least so many hosts even for one thread: what a part needs stays in
/// the caches while its window lasts. With 8,192 hosts a run of BFC took 236 ns per packet-hop in one part,
/// 172 in eight and 169 in 32; with 4,096 hosts 190 and 158 in four. With 1,024 two parts took 6 % longer
/// than one.
const HOSTS_TOGETHER: u32 = 1_024;

/// So many parts are enough: a part also holds what crosses, and names for both ends of its flows. With
/// 65,536 hosts a run of BFC in 64 parts takes 0.80 of the time in 16 (median of three pairs) and 2.8 GB in
/// place of 2.5. In 128 parts it took 0.90 of the time in 64, once, and 3.1 GB.
const MOST_PARTS: usize = 64;

/// A partition may have this many hundredths of its even share (our choice).
const MOST_OF_SHARE: u64 = 105;

/// The partitions of a network.
#[derive(Clone, Debug)]
pub struct Placement {
    /// By partition: its nodes, ascending.
    pub nodes: Vec<Vec<u32>>,
    /// By partition: the links with an end in it, ascending.
    pub links: Vec<Vec<u32>>,
    /// By node: its partition, and its place there.
    places: Vec<(u16, u32)>,
    /// By link: its place in the partition of its sender and in that of its receiver.
    link_places: Vec<[u32; 2]>,
}

/// How long partitions run without hearing from each other: as long as the shortest link between two
/// switches, not counting links below [`SHORTEST`]. `otherwise` (> 0) where there is none; never longer than
/// [`LONGEST`].
///
/// A window is the same for every number of partitions, because some things take effect at its end.
pub fn window(topology: &Topology, otherwise: Time) -> Time {
    let delays = (0..topology.links.len() as u32)
        .filter(|&link| topology.is_core(link))
        .map(|link| flight(topology, link));
    let shortest = delays.filter(|&delay| delay >= SHORTEST).min();
    shortest.unwrap_or(otherwise.max(SHORTEST)).min(LONGEST)
}

/// From the end of a transmission on a link between switches to the packet's being ready.
fn flight(topology: &Topology, link: u32) -> Time {
    topology.links[link as usize].delay + topology.pipeline_delay
}

/// How many partitions suit a network and so many threads.
pub fn partitions(topology: &Topology, threads: usize) -> usize {
    threads.max(MOST_PARTS.min((topology.hosts / HOSTS_TOGETHER) as usize))
}

impl Placement {
    /// At most `wanted` partitions, 1 at least, of a network with windows of this length.
    pub fn new(topology: &Topology, window: Time, wanted: usize) -> Self {
        let units = units(topology, window);
        let wanted = wanted.clamp(1, units.len().min(usize::from(u16::MAX)));
        Self::of_owners(topology, &owners(topology, &units, wanted), wanted)
    }

    /// A partition for all switches, which is the first, and one for each host, in the order of the hosts.
    /// Every link of a host is cut, however short it is.
    ///
    /// # Panics
    /// With 65,535 hosts or more.
    pub fn apart(topology: &Topology) -> Self {
        assert!(topology.hosts < u32::from(u16::MAX), "a partition has a number below 65,536");
        let of_host = |host: u32| host as u16 + 1;
        let hosts = (0..topology.hosts).map(of_host);
        let owner: Vec<u16> = hosts.chain((0..topology.switches).map(|_| 0)).collect();
        Self::of_owners(topology, &owner, topology.hosts as usize + 1)
    }

    /// The partitions, `count` of them, where `owner` has the partition of each node.
    fn of_owners(topology: &Topology, owner: &[u16], count: usize) -> Self {
        let mut nodes = vec![Vec::new(); count];
        let mut places = Vec::with_capacity(owner.len());
        for (node, &owner) in (0u32..).zip(owner) {
            let nodes = &mut nodes[usize::from(owner)];
            places.push((owner, nodes.len() as u32));
            nodes.push(node);
        }
        let mut links = vec![Vec::new(); count];
        let mut link_places = Vec::with_capacity(topology.links.len());
        for (number, link) in (0u32..).zip(&topology.links) {
            let ends = [link.from, link.to].map(|node| usize::from(owner[node as usize]));
            link_places.push(ends.map(|end| links[end].len() as u32));
            links[ends[0]].push(number);
            if ends[0] != ends[1] {
                links[ends[1]].push(number);
            }
        }
        Placement { nodes, links, places, link_places }
    }

    /// The number of partitions.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// The partition of `node`, and the place of `node` there.
    #[inline]
    pub fn of_node(&self, node: u32) -> (usize, usize) {
        let (partition, place) = self.places[node as usize];
        (usize::from(partition), place as usize)
    }

    /// The place of `link` in the partition of its sender and in that of its receiver.
    #[inline]
    pub fn of_link(&self, link: u32) -> [u32; 2] {
        self.link_places[link as usize]
    }
}

/// Sets of nodes that stay together, each ascending, in the order of their lowest nodes: a switch with
/// its hosts, and switches at both ends of a link that is too short to cut.
fn units(topology: &Topology, window: Time) -> Vec<Vec<u32>> {
    let mut unit_of = vec![u32::MAX; topology.nodes.len()];
    let mut units = Vec::new();
    for first in 0..topology.nodes.len() as u32 {
        if unit_of[first as usize] != u32::MAX {
            continue;
        }
        let number = units.len() as u32;
        unit_of[first as usize] = number;
        let mut unit = vec![first];
        let mut next = 0;
        while let Some(&node) = unit.get(next) {
            next += 1;
            for &link in topology.egress_links(node) {
                let other = topology.links[link as usize].to;
                let is_cut = topology.is_core(link) && flight(topology, link) >= window;
                if !is_cut && unit_of[other as usize] == u32::MAX {
                    unit_of[other as usize] = number;
                    unit.push(other);
                }
            }
        }
        unit.sort_unstable();
        units.push(unit);
    }
    units
}

/// The nodes that have been given to a partition.
struct Given {
    /// By node: its partition, if it has one yet.
    owners: Vec<Option<u16>>,
    /// By partition: the ends of links at its nodes, a measure of its work.
    loads: Vec<u64>,
}

impl Given {
    fn give(&mut self, topology: &Topology, unit: &[u32], partition: usize) {
        self.loads[partition] += weight(topology, unit);
        for &node in unit {
            self.owners[node as usize] = Some(partition as u16);
        }
    }

    /// By partition: how many links of `unit` lead there.
    fn neighbours(&self, topology: &Topology, unit: &[u32]) -> Vec<u32> {
        let mut neighbours = vec![0; self.loads.len()];
        for link in unit.iter().flat_map(|&node| topology.egress_links(node)) {
            if let Some(owner) = self.owners[topology.links[*link as usize].to as usize] {
                neighbours[usize::from(owner)] += 1;
            }
        }
        neighbours
    }
}

/// The ends of links at the nodes of `unit`.
fn weight(topology: &Topology, unit: &[u32]) -> u64 {
    unit.iter().map(|&node| topology.egress_links(node).len() as u64).sum()
}

/// By node: its partition, one of `count`.
fn owners(topology: &Topology, units: &[Vec<u32>], count: usize) -> Vec<u16> {
    let mut given = Given { owners: vec![None; topology.nodes.len()], loads: vec![0; count] };
    let (with_hosts, others): (Vec<_>, Vec<_>) =
        units.iter().partition(|unit| topology.is_host(unit[0]));
    // Hosts are cut into parts of equal weight. A unit goes where its middle lies, and no partition
    // stays empty.
    let weights: Vec<u64> = with_hosts.iter().map(|unit| weight(topology, unit)).collect();
    let whole: u64 = weights.iter().sum();
    let (mut before, mut last) = (0, None);
    for (number, (unit, weight)) in with_hosts.iter().zip(&weights).enumerate() {
        let middle = ((2 * before + weight) * count as u64 / (2 * whole.max(1))) as usize;
        before += weight;
        let left = with_hosts.len() - number;
        let lowest = (count.saturating_sub(left)).max(last.unwrap_or(0));
        let highest = last.map_or(0, |last| last + 1).min(count - 1);
        let partition = middle.clamp(lowest.min(highest), highest);
        last = Some(partition);
        given.give(topology, unit, partition);
    }
    let total: u64 = units.iter().map(|unit| weight(topology, unit)).sum();
    let most = total * MOST_OF_SHARE / (100 * count as u64);
    for unit in others {
        let neighbours = given.neighbours(topology, unit);
        let rank = |&partition: &usize| {
            let load = given.loads[partition];
            let excess = (load + weight(topology, unit)).saturating_sub(most);
            (excess, u32::MAX - neighbours[partition], load)
        };
        let partition = (0..count).min_by_key(rank).unwrap_or_default();
        given.give(topology, unit, partition);
    }
    given.owners.into_iter().map(|owner| owner.expect("every node is in a unit")).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::topology::build;
    use crate::topology::tests::{bfc, graph, leaf_spine};

    fn placement(topology: &Topology, wanted: usize) -> Placement {
        Placement::new(topology, window(topology, Time::from_us(1)), wanted)
    }

    #[test]
    fn two_halves_of_a_leaf_spine_have_half_of_each_tier() {
        let network = build(&bfc()).unwrap();
        let halves = placement(&network, 2);
        let count = |nodes: &[u32], is_in: fn(&Topology, u32) -> bool| {
            nodes.iter().filter(|&&node| is_in(&network, node)).count()
        };
        for nodes in &halves.nodes {
            assert_eq!(count(nodes, |network, node| network.is_host(node)), 64);
            assert_eq!(count(nodes, |network, node| !network.is_host(node)), 8);
        }
        assert!(halves.nodes[0][..64].iter().copied().eq(0..64), "racks stay in order");
        // Half of the 256 links between racks and spines join the halves; each half knows all of them.
        assert_eq!(halves.links.iter().map(Vec::len).sum::<usize>(), network.links.len() + 64);
    }

    #[test]
    fn a_short_link_is_not_cut() {
        // 0 - 2 - 3 - 1, where the switches are 1 us apart, and then 5 ns.
        let ends = [(0, 2), (2, 3), (3, 1)];
        let mut network = build(&graph(2, 2, &ends)).unwrap();
        assert_eq!(placement(&network, 2).count(), 2);
        for link in &mut network.links {
            link.delay = Time::from_ns(5);
        }
        network.pipeline_delay = Time::ZERO;
        assert_eq!(window(&network, Time::from_us(3)), Time::from_us(3));
        assert_eq!(placement(&network, 2).count(), 1);
    }

    proptest! {
        #[test]
        fn every_node_has_one_place_and_every_end_of_a_link(
            racks in 1u32..9, hosts in 2u32..5, spines in 1u32..5, wanted in 1usize..12,
        ) {
            let network = build(&leaf_spine(racks, hosts, spines)).unwrap();
            let placement = placement(&network, wanted);
            for node in 0..network.nodes.len() as u32 {
                let (partition, place) = placement.of_node(node);
                prop_assert_eq!(placement.nodes[partition][place], node);
                if network.is_host(node) {
                    let switch = network.edge_switch(node);
                    prop_assert_eq!(placement.of_node(switch).0, partition);
                }
            }
            for (number, link) in (0u32..).zip(&network.links) {
                for (node, place) in [link.from, link.to].into_iter().zip(placement.of_link(number)) {
                    let (partition, _) = placement.of_node(node);
                    prop_assert_eq!(placement.links[partition][place as usize], number);
                }
            }
            prop_assert!(placement.nodes.iter().all(|nodes| !nodes.is_empty()));
        }
    }
}
