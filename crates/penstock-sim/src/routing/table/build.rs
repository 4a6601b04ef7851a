//! How the routes of a network are found: one search from each edge switch, and each distinct set of next
//! hops stored once.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::{Access, BLOCK, PortSet, Routing, SEVERAL};
use crate::routing::search::{Core, UNREACHED};
use crate::topology::{Link, Topology};

/// A switch has no set of next hops yet.
const NO_SET: u32 = u32::MAX;

/// What was found so far.
struct Known {
    /// The number of each distinct set of next hops.
    sets: HashMap<Vec<u16>, u32>,
    /// By switch: the set that it has towards the edge switch before, or [`NO_SET`].
    last: Vec<u32>,
    /// By switch: its choices in the block that is being filled.
    open: Vec<Vec<u32>>,
    /// Where each distinct block of choices starts.
    blocks: HashMap<Vec<u32>, u32>,
}

impl Known {
    fn new(switches: usize) -> Self {
        Known {
            sets: HashMap::new(),
            last: vec![NO_SET; switches],
            open: vec![Vec::new(); switches],
            blocks: HashMap::new(),
        }
    }
}

/// The most entries of `dense`: 1 MB, which a processor's second cache holds. With it a packet finds its
/// port by one look instead of three, each of which waits for the one before.
const DENSE_ENTRIES: usize = 1 << 19;

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
        let from_ports = topology.from_ports();
        let back_port = |link: &Link| from_ports[link.reverse as usize];
        let access = (0..topology.hosts).map(|host| {
            let switch = topology.edge_switch(host);
            let edge = edges.partition_point(|edge| *edge < switch) as u32;
            let (uplink, downlink) = (topology.uplink(host), topology.downlink(host));
            Access { uplink, downlink, edge, port: from_ports[downlink as usize] }
        });
        let switches = topology.hosts..topology.hosts + topology.switches;
        let mut routing = Routing {
            hosts: topology.hosts,
            switches: topology.switches as usize,
            access: access.collect(),
            blocks: Vec::new(),
            choices: Vec::new(),
            dense: Vec::new(),
            edges,
            sets: Vec::new(),
            ports: Vec::new(),
            first_port: Vec::with_capacity(topology.switches as usize + 1),
            links: Vec::new(),
            link_to: topology.links.iter().map(|link| link.to).collect(),
            back_port: topology.links.iter().map(back_port).collect(),
            nearest_first: Vec::new(),
            are_paths_alike: OnceLock::new(),
        };
        for switch in switches {
            routing.first_port.push(routing.links.len() as u32);
            routing.links.extend(topology.egress_links(switch));
        }
        routing.first_port.push(routing.links.len() as u32);
        routing.blocks.resize(routing.blocks_of_a_switch() * routing.switches, 0);
        routing.nearest_first.reserve_exact(routing.edges.len() * routing.switches);
        let core = Core::new(topology, is_down);
        let mut known = Known::new(routing.switches);
        let mut distances = vec![UNREACHED; routing.switches];
        for number in 0..routing.edges.len() {
            let edge = (routing.edges[number] - routing.hosts) as u16;
            core.search(edge, &mut distances, &mut routing.nearest_first);
            routing.choose(&core, &distances, &mut known);
            if (number + 1).is_multiple_of(BLOCK) || number + 1 == routing.edges.len() {
                routing.close(number / BLOCK, &mut known);
            }
        }
        routing.fill_dense();
        routing
    }

    /// Fills `dense`, where the network is small enough.
    fn fill_dense(&mut self) {
        let hosts = self.access.len();
        let fits = self.switches * hosts <= DENSE_ENTRIES
            && self.sets.len() < usize::from(SEVERAL)
            && self.first_port.windows(2).all(|ports| ports[1] - ports[0] < u32::from(SEVERAL));
        if !fits {
            return;
        }
        self.dense.reserve_exact(self.switches * hosts);
        for switch in 0..self.switches {
            for access in &self.access {
                let set = self.choice(switch, access.edge);
                self.dense.push(match self.sets[set as usize].count {
                    0 => access.port,
                    1 => self.sets[set as usize].first,
                    _ => SEVERAL | set as u16,
                });
            }
        }
    }

    /// Notes in the open block, for every switch, the ports that lead one step closer to the edge switch
    /// from which the distances are.
    fn choose(&mut self, core: &Core, distances: &[u16], known: &mut Known) {
        let mut closer = Vec::new();
        for (switch, (last, open)) in known.last.iter_mut().zip(&mut known.open).enumerate() {
            closer.clear();
            if let Some(wanted) = distances[switch].checked_sub(1) {
                let onward = core.onward(switch).iter();
                let leading = onward.filter(|step| distances[usize::from(step.to)] == wanted);
                closer.extend(leading.map(|step| step.port));
            }
            // Most often a switch has the set that it has towards the edge switch before.
            if *last == NO_SET || self.ports_of(*last) != closer {
                *last = known.sets.get(&closer).copied().unwrap_or_else(|| {
                    let (start, count) = (self.ports.len() as u32, closer.len() as u16);
                    let first = closer.first().copied().unwrap_or_default();
                    self.ports.extend(&closer);
                    self.sets.push(PortSet { start, count, first });
                    let set = self.sets.len() as u32 - 1;
                    known.sets.insert(closer.clone(), set);
                    set
                });
            }
            open.push(*last);
        }
    }

    /// Keeps the open block of every switch as block number `number`, and opens the next.
    fn close(&mut self, number: usize, known: &mut Known) {
        let blocks = self.blocks_of_a_switch();
        for (row, open) in self.blocks.chunks_exact_mut(blocks).zip(&mut known.open) {
            row[number] = known.blocks.get(open).copied().unwrap_or_else(|| {
                let start = self.choices.len() as u32;
                self.choices.extend(&*open);
                known.blocks.insert(open.clone(), start);
                start
            });
            open.clear();
        }
    }
}
