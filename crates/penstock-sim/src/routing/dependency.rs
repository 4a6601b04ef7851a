//! Which egress ports may wait for which: the buffer dependencies of the routes in use.
//!
//! The nodes of the graph are the egress ports of switches, each written as its directed link. A
//! packet that waits for link `a` and will next wait for link `b` makes `a` depend on `b`:
//! congestion at `b` pushes back to `a`. That is an edge `b -> a` of the backpressure graph of P.
//! Goyal et al. (BFC, NSDI 2022), App. B, after S. Hu et al. (Tagger, CoNEXT 2017). Without a cycle
//! no packet can wait for itself, and no deadlock is possible (BFC Theorem 1). Links to and from
//! hosts are left out: hosts always take every packet that arrives, and no packet waits for a
//! host's own queue.
//!
//! Routes in use lead from some host to some host. A switch that no traffic passes adds no
//! dependencies.
//!
//! Elision: BFC skips the backpressure for packets from one link to another (App. B). The paper
//! leaves the choice of the links to existing work. Our choice starts with the packets that come
//! from a higher tier and return to one, which is the paper's own answer for Clos networks. Further
//! elisions break the cycles that are left. Then each elision that is not needed is taken back, so
//! that no elided dependency can be restored without a cycle. The set is not always the smallest:
//! that problem (minimum feedback arc set) is NP-hard.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::table::Routing;
use crate::topology::Topology;

/// A pair of links: a packet that waits for the first link will wait for the second one next.
pub type Dependency = (u32, u32);

/// How many dependencies a short list may have twice before it is looked through (our choice).
const SLACK: usize = 16;

/// The buffer dependencies of a network and its routes.
#[derive(Clone, Debug)]
pub struct Dependencies {
    /// By link: the links for which its packets wait next, ascending.
    next: Vec<Vec<u32>>,
    /// Sets of links that depend on each other, each set ascending and with at least two links.
    cycles: Vec<Vec<u32>>,
}

impl Dependencies {
    /// The dependencies of all shortest paths between edge switches. When several routings follow
    /// one another, a packet may have taken one link under one routing and take the next link under
    /// another.
    pub fn new(topology: &Topology, routings: &[&Routing]) -> Self {
        let mut next: Vec<Vec<u32>> = vec![Vec::new(); topology.links.len()];
        let mut known = vec![0; next.len()];
        for edge in 0..routings[0].edge_switches().len() as u32 {
            follow(topology, routings, edge, &mut next);
            // Most destinations have dependencies that others have, too. A list that has doubled loses them.
            for (links, known) in next.iter_mut().zip(&mut known) {
                if links.len() > 2 * *known + SLACK {
                    drop_repeats(links);
                    *known = links.len();
                }
            }
        }
        Self::of_next(next)
    }

    /// The dependencies of all possible routes: any way from a link through a switch to a link, the
    /// way back included. Without these dependencies no failure and no routing error can lead to a
    /// deadlock (BFC App. B).
    pub fn of_any_route(topology: &Topology) -> Self {
        let next = (0..topology.links.len() as u32).map(|link| {
            let onward = topology.egress_links(topology.links[link as usize].to).iter().copied();
            onward.filter(|&to| topology.is_core(link) && topology.is_core(to)).collect()
        });
        Self::of_next(next.collect())
    }

    fn of_next(mut next: Vec<Vec<u32>>) -> Self {
        next.iter_mut().for_each(drop_repeats);
        let cycles = strongly_connected(&next);
        Dependencies { next, cycles }
    }

    /// All dependencies, by first link.
    pub fn all(&self) -> impl Iterator<Item = Dependency> {
        (0u32..).zip(&self.next).flat_map(|(link, next)| next.iter().map(move |&to| (link, to)))
    }

    /// The sets of links that depend on each other; none when no deadlock is possible.
    pub fn cycles(&self) -> &[Vec<u32>] {
        &self.cycles
    }

    /// A shortest cycle of dependencies within `cycle`, a set of [`Dependencies::cycles`]. The
    /// cycle begins with the smallest link of the set.
    pub fn example(&self, cycle: &[u32]) -> Vec<u32> {
        let first = cycle[0];
        let mut paths = vec![vec![first]];
        let mut is_seen = vec![false; self.next.len()];
        loop {
            let mut longer = Vec::new();
            for path in paths {
                for &link in &self.next[path[path.len() - 1] as usize] {
                    if link == first {
                        return path;
                    }
                    if cycle.contains(&link)
                        && !std::mem::replace(&mut is_seen[link as usize], true)
                    {
                        longer.push([path.as_slice(), &[link]].concat());
                    }
                }
            }
            paths = longer;
        }
    }

    /// The dependencies on cycles whose packets come from a higher tier and return to a higher
    /// tier.
    pub fn down_up(&self, topology: &Topology) -> Vec<Dependency> {
        let tier = |node: u32| topology.nodes[node as usize].tier;
        let turns = |&(a, b): &Dependency| {
            let (a, b) = (&topology.links[a as usize], &topology.links[b as usize]);
            tier(a.from) > tier(a.to) && tier(b.to) > tier(b.from)
        };
        self.in_cycles().into_iter().filter(turns).collect()
    }

    /// Dependencies to elide so that no cycle is left. The module's head says how they are chosen.
    pub fn elision(&self, topology: &Topology) -> Vec<Dependency> {
        let mut left = vec![Vec::new(); self.next.len()];
        let down_up: BTreeSet<_> = self.down_up(topology).into_iter().collect();
        for (a, b) in self.in_cycles() {
            if !down_up.contains(&(a, b)) {
                left[a as usize].push(b);
            }
        }
        let mut elided: Vec<_> = down_up.into_iter().collect();
        elided.extend(remove_back_edges(&mut left));
        elided.retain(|&(a, b)| {
            let is_needed = reaches(&left, b, a);
            if !is_needed {
                left[a as usize].push(b);
            }
            is_needed
        });
        elided.sort_unstable();
        elided
    }

    /// Whether no cycle is left when `elided` is elided.
    pub fn is_acyclic_without(&self, elided: &[Dependency]) -> bool {
        let mut left = self.next.clone();
        for &(a, b) in elided {
            left[a as usize].retain(|&link| link != b);
        }
        strongly_connected(&left).is_empty()
    }

    /// The dependencies between links of the same cycle.
    fn in_cycles(&self) -> Vec<Dependency> {
        let mut cycle_of = vec![None; self.next.len()];
        for (number, cycle) in self.cycles.iter().enumerate() {
            for &link in cycle {
                cycle_of[link as usize] = Some(number);
            }
        }
        let is_within = |&(a, b): &Dependency| {
            cycle_of[a as usize].is_some() && cycle_of[a as usize] == cycle_of[b as usize]
        };
        self.all().filter(is_within).collect()
    }
}

/// Whether all packets go up to higher tiers first and then only down, as they do in a Clos network. Then
/// no cycle of dependencies is possible (BFC App. B).
///
/// The answer takes no memory; [`Dependencies`] of 65,536 hosts take gigabytes.
pub fn go_up_then_down(topology: &Topology, routings: &[&Routing]) -> bool {
    let mut seen = vec![[false; 2]; topology.switches as usize];
    let mut waiting = Vec::new();
    (0..routings[0].edge_switches().len() as u32).all(|edge| {
        seen.fill([false; 2]);
        waiting.extend(routings[0].edge_switches().iter().map(|&switch| (switch, false)));
        while let Some((switch, has_gone_down)) = waiting.pop() {
            let is_seen = &mut seen[(switch - topology.hosts) as usize][usize::from(has_gone_down)];
            if std::mem::replace(is_seen, true) {
                continue;
            }
            let tier = topology.nodes[switch as usize].tier;
            for (_, next) in routings.iter().flat_map(|one| one.next_hops(switch, edge).with_ends())
            {
                let goes_down = match topology.nodes[next as usize].tier.cmp(&tier) {
                    Ordering::Less => true,
                    Ordering::Greater if !has_gone_down => false,
                    Ordering::Equal | Ordering::Greater => return false,
                };
                if !seen[(next - topology.hosts) as usize][usize::from(goes_down)] {
                    waiting.push((next, goes_down));
                }
            }
        }
        true
    })
}

/// Adds the dependencies of packets to edge switch number `edge`, starting at all edge switches.
fn follow(topology: &Topology, routings: &[&Routing], edge: u32, next: &mut [Vec<u32>]) {
    let mut is_used = vec![false; topology.switches as usize];
    let mut waiting = routings[0].edge_switches().to_vec();
    let hops =
        |switch| routings.iter().flat_map(move |routing| routing.next_hops(switch, edge).iter());
    while let Some(switch) = waiting.pop() {
        if std::mem::replace(&mut is_used[(switch - topology.hosts) as usize], true) {
            continue;
        }
        for link in hops(switch) {
            let to = topology.links[link as usize].to;
            next[link as usize].extend(hops(to));
            waiting.push(to);
        }
    }
}

/// Keeps each link once, ascending.
fn drop_repeats(links: &mut Vec<u32>) {
    links.sort_unstable();
    links.dedup();
}

/// The strongly connected components of more than one node (S. R. Kosaraju; M. Sharir, 1981).
fn strongly_connected(next: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut previous = vec![Vec::new(); next.len()];
    for (node, links) in (0u32..).zip(next) {
        for &to in links {
            previous[to as usize].push(node);
        }
    }
    let mut is_seen = vec![false; next.len()];
    let mut finished = Vec::with_capacity(next.len());
    for root in 0..next.len() as u32 {
        depth_first(next, root, &mut is_seen, |node| finished.push(node), |_| {});
    }
    let mut is_taken = vec![false; next.len()];
    let mut components = Vec::new();
    for &root in finished.iter().rev() {
        let mut component = Vec::new();
        depth_first(&previous, root, &mut is_taken, |node| component.push(node), |_| {});
        if component.len() > 1 {
            component.sort_unstable();
            components.push(component);
        }
    }
    components.sort_unstable();
    components
}

/// Visits every node that `root` reaches and no earlier search has visited. `finish` is called for
/// a node after all nodes that it reaches, `back` for an edge to a node that is still open.
fn depth_first(
    next: &[Vec<u32>],
    root: u32,
    is_seen: &mut [bool],
    mut finish: impl FnMut(u32),
    mut back: impl FnMut(Dependency),
) {
    if std::mem::replace(&mut is_seen[root as usize], true) {
        return;
    }
    let mut open = vec![(root, 0)];
    let mut is_open = vec![false; next.len()];
    is_open[root as usize] = true;
    while let Some((node, position)) = open.last_mut() {
        let node = *node;
        let Some(&to) = next[node as usize].get(*position) else {
            is_open[node as usize] = false;
            open.pop();
            finish(node);
            continue;
        };
        *position += 1;
        if is_open[to as usize] {
            back((node, to));
        } else if !std::mem::replace(&mut is_seen[to as usize], true) {
            is_open[to as usize] = true;
            open.push((to, 0));
        }
    }
}

/// Removes the edges that close a cycle in a depth-first search, and returns them.
fn remove_back_edges(next: &mut [Vec<u32>]) -> Vec<Dependency> {
    let mut is_seen = vec![false; next.len()];
    let mut removed = Vec::new();
    for root in 0..next.len() as u32 {
        depth_first(next, root, &mut is_seen, |_| {}, |edge| removed.push(edge));
    }
    for &(a, b) in &removed {
        next[a as usize].retain(|&link| link != b);
    }
    removed
}

/// Whether there is a path from `from` to `to`.
fn reaches(next: &[Vec<u32>], from: u32, to: u32) -> bool {
    let mut is_seen = vec![false; next.len()];
    depth_first(next, from, &mut is_seen, |_| {}, |_| {});
    is_seen[to as usize]
}

#[cfg(test)]
#[path = "dependency_tests.rs"]
mod tests;
