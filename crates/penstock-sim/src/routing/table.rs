//! Next hops towards every edge switch, and the choice among them by a hash of the flow.
//!
//! A route is kept per destination *edge switch* (a switch with hosts), not per host, and equal
//! sets of next hops are kept once. So 8,192 hosts under 256 ToRs and 64 spines need less than 1
//! MB.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use penstock_engine::stream::mix;

use crate::topology::Topology;

/// Distance of a switch that the search has not reached.
const UNREACHED: u32 = u32::MAX;

/// Shortest-path routes of one network.
///
/// A switch with several next hops on shortest paths takes number `mix(hash, salt) mod n` of them,
/// in ascending link order. Each switch has a salt of its own. With one hash for all switches, the
/// second tier would get only the flows that the first tier's hash sends there, and would use only
/// a part of its links (polarization).
#[derive(Clone, Debug)]
pub struct Routing {
    /// Node number of the first switch = number of hosts.
    hosts: u32,
    switches: usize,
    /// By host: the link to its switch, the link from its switch, the index of the switch in
    /// `edges`.
    access: Vec<Access>,
    /// The edge switches' node numbers, ascending.
    edges: Vec<u32>,
    /// By link: the node to which the link leads.
    link_to: Vec<u32>,
    /// `[edge, switch]`: index into `ranges`, whose entry has the next hops.
    choices: Vec<u32>,
    /// Each distinct set of next hops as a range of `hops`.
    ranges: Vec<Range<u32>>,
    hops: Vec<u32>,
    /// `[edge, rank]`: switch node numbers by ascending distance from the edge switch.
    nearest_first: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Access {
    uplink: u32,
    downlink: u32,
    edge: u32,
}

impl Routing {
    /// Finds all shortest paths of `topology`.
    pub fn new(topology: &Topology) -> Self {
        Self::avoiding(topology, &vec![false; topology.links.len()])
    }

    /// Finds all shortest paths without the links that are down.
    pub fn avoiding(topology: &Topology, is_down: &[bool]) -> Self {
        let mut edges: Vec<u32> = (0..topology.hosts).map(|h| topology.edge_switch(h)).collect();
        edges.sort_unstable();
        edges.dedup();
        let access = (0..topology.hosts).map(|host| {
            let switch = topology.edge_switch(host);
            let edge = edges.partition_point(|edge| *edge < switch) as u32;
            Access { uplink: topology.uplink(host), downlink: topology.downlink(host), edge }
        });
        let mut routing = Routing {
            hosts: topology.hosts,
            switches: topology.switches as usize,
            access: access.collect(),
            edges: Vec::new(),
            link_to: topology.links.iter().map(|link| link.to).collect(),
            choices: Vec::with_capacity(edges.len() * topology.switches as usize),
            ranges: Vec::new(),
            hops: Vec::new(),
            nearest_first: Vec::with_capacity(edges.len() * topology.switches as usize),
        };
        let mut known = BTreeMap::new();
        let mut distances = vec![UNREACHED; topology.nodes.len()];
        for &edge in &edges {
            routing.search(topology, is_down, edge, &mut distances);
            routing.choose(topology, is_down, &distances, &mut known);
        }
        routing.edges = edges;
        routing
    }

    /// Searches breadth first from `edge` over the switches; appends them in the order of the
    /// search.
    fn search(&mut self, topology: &Topology, is_down: &[bool], edge: u32, distances: &mut [u32]) {
        distances.fill(UNREACHED);
        distances[edge as usize] = 0;
        let mut waiting = VecDeque::from([edge]);
        while let Some(switch) = waiting.pop_front() {
            self.nearest_first.push(switch);
            for &link in topology.egress_links(switch) {
                let next = topology.links[link as usize].to;
                if !is_down[link as usize]
                    && !topology.is_host(next)
                    && distances[next as usize] == UNREACHED
                {
                    distances[next as usize] = distances[switch as usize] + 1;
                    waiting.push_back(next);
                }
            }
        }
    }

    /// Appends, for every switch, the set of links that lead one step closer to the edge switch.
    fn choose(
        &mut self,
        topology: &Topology,
        is_down: &[bool],
        distances: &[u32],
        known: &mut BTreeMap<Vec<u32>, u32>,
    ) {
        let mut closer = Vec::new();
        for switch in topology.hosts..topology.hosts + topology.switches {
            let distance = distances[switch as usize];
            closer.clear();
            closer.extend(topology.egress_links(switch).iter().filter(|link| {
                let next = distances[topology.links[**link as usize].to as usize];
                !is_down[**link as usize] && next != UNREACHED && next + 1 == distance
            }));
            let set = known.get(&closer).copied().unwrap_or_else(|| {
                let start = self.hops.len() as u32;
                self.hops.extend(&closer);
                self.ranges.push(start..self.hops.len() as u32);
                let set = self.ranges.len() as u32 - 1;
                known.insert(closer.clone(), set);
                set
            });
            self.choices.push(set);
        }
    }

    /// Appends to `links` the directed links from `source`'s uplink to `destination`'s downlink.
    ///
    /// `flow_hash` should be uniform over 64 bits. A flow's data and its ACKs take independent
    /// paths when the caller gives them different hashes.
    ///
    /// # Panics
    /// When one of the nodes is not a host.
    pub fn path(&self, source: u32, destination: u32, flow_hash: u64, links: &mut Vec<u32>) {
        self.path_by(source, destination, links, |switch, hops| pick(switch, hops, flow_hash));
    }

    /// The link of [`Routing::path`] by which a packet leaves `switch`, wherever the packet has
    /// come from.
    ///
    /// # Panics
    /// When `switch` is not a switch or `destination` not a host.
    pub fn next_link(&self, switch: u32, destination: u32, flow_hash: u64) -> u32 {
        let end = self.access[destination as usize];
        if self.edges[end.edge as usize] == switch {
            return end.downlink;
        }
        pick(switch, self.next_hops(switch, end.edge), flow_hash)
    }

    /// Whether every switch reaches every edge switch.
    pub fn is_whole(&self) -> bool {
        self.nearest_first.len() == self.edges.len() * self.switches
    }

    /// The same path as [`Routing::path`], but `choose` takes one of the next hops of a switch.
    ///
    /// # Panics
    /// When one of the nodes is not a host.
    pub fn path_by(
        &self,
        source: u32,
        destination: u32,
        links: &mut Vec<u32>,
        choose: impl Fn(u32, &[u32]) -> u32,
    ) {
        let (start, end) = (self.access[source as usize], self.access[destination as usize]);
        links.push(start.uplink);
        let last = self.edges[end.edge as usize];
        let mut switch = self.edges[start.edge as usize];
        while switch != last {
            let link = choose(switch, self.next_hops(switch, end.edge));
            links.push(link);
            switch = self.link_to[link as usize];
        }
        links.push(end.downlink);
    }

    /// The node numbers of the switches that have hosts, ascending.
    pub fn edge_switches(&self) -> &[u32] {
        &self.edges
    }

    /// Index into [`Routing::edge_switches`] of the switch of `host`.
    ///
    /// # Panics
    /// When `host` is not a host.
    pub fn edge_of(&self, host: u32) -> u32 {
        self.access[host as usize].edge
    }

    /// The links from `switch` on shortest paths to edge switch number `edge`, ascending. None when
    /// `switch` is that edge switch.
    ///
    /// # Panics
    /// When `switch` is not a switch or there is no such edge switch.
    pub fn next_hops(&self, switch: u32, edge: u32) -> &[u32] {
        let row = edge as usize * self.switches;
        let set = self.choices[row + (switch - self.hosts) as usize];
        let range = &self.ranges[set as usize];
        &self.hops[range.start as usize..range.end as usize]
    }

    /// The links that a packet to `host` may take from the switch with index `switch`: the link to
    /// the host, or the links to the next switches of shortest paths.
    ///
    /// # Panics
    /// When there is no such switch or host.
    #[inline]
    pub fn next_links(&self, switch: usize, host: u32) -> &[u32] {
        let access = &self.access[host as usize];
        let set = self.choices[access.edge as usize * self.switches + switch];
        let range = &self.ranges[set as usize];
        match &self.hops[range.start as usize..range.end as usize] {
            [] => core::slice::from_ref(&access.downlink),
            hops => hops,
        }
    }

    /// All switches by ascending distance from edge switch number `edge`, which comes first.
    ///
    /// # Panics
    /// When there is no such edge switch.
    pub fn nearest_first(&self, edge: u32) -> &[u32] {
        let row = edge as usize * self.switches;
        &self.nearest_first[row..row + self.switches]
    }
}

/// The next hop that `switch` takes for the flow with `flow_hash`.
#[inline]
fn pick(switch: u32, hops: &[u32], flow_hash: u64) -> u32 {
    hops[(mix(flow_hash ^ mix(u64::from(switch))) % hops.len() as u64) as usize]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::topology::build;
    use crate::topology::tests::{bfc, dumbbell, graph, leaf_spine};

    fn path(routing: &Routing, source: u32, destination: u32, hash: u64) -> Vec<u32> {
        let mut links = Vec::new();
        routing.path(source, destination, mix(hash), &mut links);
        links
    }

    #[test]
    fn a_path_stays_in_the_rack_when_it_can() {
        let network = build(&bfc()).unwrap();
        let routing = Routing::new(&network);
        assert_eq!(path(&routing, 0, 15, 7), [0, 31]);
        assert_eq!(path(&routing, 0, 16, 7).len(), 4);
    }

    #[test]
    fn hashes_spread_evenly_over_the_spines() {
        let network = build(&bfc()).unwrap();
        let routing = Routing::new(&network);
        let mut counts = BTreeMap::new();
        for hash in 0..80_000 {
            *counts.entry(path(&routing, 3, 100, hash)[1]).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 8);
        // Binomial: mean 10,000, standard deviation 93.5; five of them.
        assert!(counts.values().all(|count| count.abs_diff(10_000) < 468), "{counts:?}");
    }

    #[test]
    fn the_second_choice_does_not_follow_the_first() {
        // 0 - 2 <(3, 4)> 5 <(6, 7)> 8 - 1: two choices of two.
        let ends = [(0, 2), (2, 3), (2, 4), (3, 5), (4, 5), (5, 6), (5, 7), (6, 8), (7, 8), (8, 1)];
        let network = build(&graph(2, 7, &ends)).unwrap();
        let routing = Routing::new(&network);
        let mut counts = BTreeMap::new();
        for hash in 0..40_000 {
            let links = path(&routing, 0, 1, hash);
            *counts.entry((links[1], links[3])).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 4);
        // Binomial: mean 10,000, standard deviation 86.6; five of them.
        assert!(counts.values().all(|count| count.abs_diff(10_000) < 433), "{counts:?}");
    }

    #[test]
    fn equal_sets_are_kept_once() {
        let network = build(&leaf_spine(256, 32, 64)).unwrap();
        let routing = Routing::new(&network);
        // One set for the uplinks of each ToR, one for each single spine-to-ToR link, and the empty
        // set.
        assert_eq!(routing.ranges.len(), 256 + 64 * 256 + 1);
        assert_eq!(routing.next_hops(8_192, 1).len(), 64);
        assert!(routing.next_hops(8_192, 0).is_empty());
    }

    #[test]
    fn the_nearest_switch_is_the_edge_switch() {
        let network = build(&dumbbell(2, 2)).unwrap();
        let routing = Routing::new(&network);
        assert_eq!(routing.edge_switches(), [4, 5]);
        assert_eq!(routing.nearest_first(1), [5, 4]);
    }

    proptest! {
        #[test]
        fn paths_are_connected_and_shortest(source in 0u32..24, other in 1u32..24, hash: u64) {
            let network = build(&leaf_spine(6, 4, 3)).unwrap();
            let routing = Routing::new(&network);
            let destination = (source + other) % 24;
            let links = path(&routing, source, destination, hash);
            let mut node = source;
            for link in &links {
                prop_assert_eq!(network.links[*link as usize].from, node);
                node = network.links[*link as usize].to;
            }
            prop_assert_eq!(node, destination);
            let expected = if source / 4 == destination / 4 { 2 } else { 4 };
            prop_assert_eq!(links.len(), expected);
        }
    }
}
