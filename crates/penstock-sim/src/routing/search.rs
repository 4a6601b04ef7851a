//! The search for shortest paths: breadth first from a switch, over the links between switches.
//!
//! In this file switches are numbered from the first one. A network has at most 4,096 switches, so their
//! numbers and distances have 16 bits, and the links of a network of 65,536 hosts stay in a processor's
//! second cache.

use crate::topology::Topology;

/// Distance of a switch that the search has not reached. It is longer than any path.
pub(super) const UNREACHED: u16 = u16::MAX;

/// The links between switches that are not down, by the switch that they leave.
pub(super) struct Core {
    /// By switch: where its links start in `steps`.
    starts: Vec<u32>,
    steps: Vec<Step>,
}

/// A link from a switch to another one.
#[derive(Clone, Copy)]
pub(super) struct Step {
    /// The switch to which the link leads.
    pub(super) to: u16,
    /// The port by which the link leaves.
    pub(super) port: u16,
}

impl Core {
    pub(super) fn new(topology: &Topology, is_down: &[bool]) -> Self {
        let mut core = Core { starts: vec![0], steps: Vec::new() };
        for switch in topology.hosts..topology.hosts + topology.switches {
            for (port, &link) in (0..=u16::MAX).zip(topology.egress_links(switch)) {
                if topology.is_core(link) && !is_down[link as usize] {
                    let to = (topology.links[link as usize].to - topology.hosts) as u16;
                    core.steps.push(Step { to, port });
                }
            }
            core.starts.push(core.steps.len() as u32);
        }
        core
    }

    /// The links that leave `switch`, by ascending port.
    pub(super) fn onward(&self, switch: usize) -> &[Step] {
        &self.steps[self.starts[switch] as usize..self.starts[switch + 1] as usize]
    }

    /// Searches from `edge`. Writes the distance of every switch, and appends the switches that it reaches
    /// to `found`, nearest first.
    pub(super) fn search(&self, edge: u16, distances: &mut [u16], found: &mut Vec<u16>) {
        distances.fill(UNREACHED);
        distances[usize::from(edge)] = 0;
        let mut next = found.len();
        found.push(edge);
        while let Some(&switch) = found.get(next) {
            next += 1;
            let beyond = distances[usize::from(switch)] + 1;
            for step in self.onward(usize::from(switch)) {
                let distance = &mut distances[usize::from(step.to)];
                if *distance == UNREACHED {
                    *distance = beyond;
                    found.push(step.to);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use crate::routing::Routing;
    use crate::topology::tests::graph;
    use crate::topology::{Topology, build};

    /// By node, its distance from `edge` over switches; and the switches in the order of the search.
    fn plain(topology: &Topology, is_down: &[bool], edge: u32) -> (Vec<Option<u32>>, Vec<u32>) {
        let mut distances = vec![None; topology.nodes.len()];
        let (mut waiting, mut found) = (VecDeque::from([(edge, 0)]), vec![]);
        distances[edge as usize] = Some(0);
        while let Some((switch, distance)) = waiting.pop_front() {
            found.push(switch);
            for &link in topology.egress_links(switch) {
                let next = topology.links[link as usize].to;
                let is_new = !topology.is_host(next) && distances[next as usize].is_none();
                if is_new && !is_down[link as usize] {
                    distances[next as usize] = Some(distance + 1);
                    waiting.push_back((next, distance + 1));
                }
            }
        }
        (distances, found)
    }

    proptest! {
        #[test]
        fn next_hops_lead_one_step_closer(
            hosts in prop::collection::vec(0u32..9, 2..6),
            tree in prop::collection::vec(any::<prop::sample::Index>(), 8),
            more in prop::collection::btree_set((0u32..9, 0u32..9), 0..14),
            down in prop::collection::vec(prop::bool::weighted(0.1), 64),
        ) {
            // Nine switches in a tree, and more links between them.
            let first = hosts.len() as u32;
            let mut ends: std::collections::BTreeSet<(u32, u32)> =
                (1u32..).zip(&tree).map(|(one, above)| (above.index(one as usize) as u32, one)).collect();
            ends.extend(more.into_iter().filter(|(a, b)| a < b));
            let core = ends.into_iter().map(|(a, b)| (first + a, first + b));
            let access = (0u32..).zip(&hosts).map(|(host, switch)| (host, first + switch));
            let links: Vec<_> = access.chain(core).collect();
            let topology = build(&graph(first, 9, &links)).unwrap();
            let has_failed = |link: u32| topology.is_core(link) && down[link as usize / 2 % 64];
            let is_down: Vec<bool> = (0..topology.links.len() as u32).map(has_failed).collect();
            let routing = Routing::avoiding(&topology, &is_down);
            let edges = routing.edge_switches().to_vec();
            let searched: Vec<_> = edges.iter().map(|&edge| plain(&topology, &is_down, edge)).collect();
            let is_whole = searched.iter().all(|(_, found)| found.len() == 9);
            prop_assert_eq!(routing.is_whole(), is_whole);
            for (number, (distances, found)) in (0u32..).zip(&searched) {
                if is_whole {
                    prop_assert!(routing.nearest_first(number).eq(found.iter().copied()));
                }
                for switch in first..first + 9 {
                    let closer = distances[switch as usize].and_then(|distance| distance.checked_sub(1));
                    let leads = |&&link: &&u32| {
                        let next = distances[topology.links[link as usize].to as usize];
                        !is_down[link as usize] && closer.is_some() && next == closer
                    };
                    let links = topology.egress_links(switch).iter();
                    let expected: Vec<u32> = links.filter(leads).copied().collect();
                    let hops = routing.next_hops(switch, number);
                    prop_assert_eq!(hops.iter().collect::<Vec<_>>(), expected);
                    prop_assert!(hops.with_ends().all(|(link, to)| topology.links[link as usize].to == to));
                }
            }
        }
    }
}
