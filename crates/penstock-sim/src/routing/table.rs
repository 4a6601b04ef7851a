//! Next hops towards every edge switch, and the choice among them by a hash of the flow.
//!
//! A route is kept per destination *edge switch* (a switch with hosts), not per host, and equal
//! sets of next hops are kept once. So 8,192 hosts under 256 ToRs and 64 spines need less than 1
//! MB.

use std::sync::OnceLock;

use penstock_engine::stream::mix;

mod build;

/// Shortest-path routes of one network.
///
/// A switch with several next hops on shortest paths takes one of them by a hash of the flow and the
/// switch, in ascending link order. Each switch has a hash of its own. With one hash for all switches,
/// the second tier would get only the flows that the first tier's hash sends there, and would use only
/// a part of its links (polarization).
///
/// A next hop is stored as a port of its switch. Switches in equal places then share their sets of
/// next hops, and the sets of a large network stay in a processor's nearest cache.
#[derive(Clone, Debug)]
pub struct Routing {
    /// Node number of the first switch = number of hosts.
    hosts: u32,
    switches: usize,
    /// By host: how it is reached.
    access: Vec<Access>,
    /// The edge switches' node numbers, ascending.
    edges: Vec<u32>,
    /// `[switch, block of edges]`: where the choices towards these edge switches start in `choices`.
    blocks: Vec<u32>,
    /// For each distinct block, by edge switch of the block: index into `sets`.
    choices: Vec<u32>,
    /// `[switch, host]`: the port of the only next hop, or [`SEVERAL`] and the index into `sets`. Empty in
    /// a large network (`build`).
    dense: Vec<u16>,
    /// Each distinct set of next hops, as a part of `ports`.
    sets: Vec<PortSet>,
    ports: Vec<u16>,
    /// By switch: where its links start in `links`.
    first_port: Vec<u32>,
    /// The links that leave each switch, by port.
    links: Vec<u32>,
    /// By link: the node to which the link leads.
    link_to: Vec<u32>,
    /// By link to a switch: the port there of the cable's other direction.
    back_port: Vec<u16>,
    /// `[edge, rank]`: switches, numbered from the first one, by ascending distance from the edge switch.
    nearest_first: Vec<u16>,
    /// See [`Routing::are_paths_alike`].
    are_paths_alike: OnceLock<bool>,
}

/// Edge switches of a block. Most blocks of a network are equal, as a switch reaches most edge switches by
/// the same ports, and switches in equal places share their sets. So the choices of 65,536 hosts take
/// 0.3 MB, and not 20, and a processor's second cache holds them. This took 2 to 4 % off a packet-hop of BFC,
/// Homa and ExpressPass with 8,192 hosts (our choice: `blocks` of fewer edge switches would take more).
const BLOCK: usize = 64;

/// The bit of an entry of `dense` that stands for several next hops.
const SEVERAL: u16 = 1 << 15;

#[derive(Clone, Copy, Debug)]
struct Access {
    uplink: u32,
    downlink: u32,
    /// The index of the host's switch in `edges`.
    edge: u32,
    /// The port of the host's switch that leads to the host.
    port: u16,
}

/// Ports that lead one step closer; empty at the edge switch itself.
#[derive(Clone, Copy, Debug)]
struct PortSet {
    start: u32,
    count: u16,
    /// The first port, kept here because most sets have one: it saves a look at `ports`.
    first: u16,
}

/// Where a packet may leave a switch.
pub(super) enum Onward<'a> {
    /// By this port alone.
    By(u16),
    /// By any of these ports, several, ascending.
    ByOneOf(&'a [u16]),
}

/// The next hops of one switch towards one edge switch.
#[derive(Clone, Copy, Debug)]
pub struct NextHops<'a> {
    ports: &'a [u16],
    /// The links at all ports of the switch.
    links: &'a [u32],
    /// By link: the node to which the link leads.
    link_to: &'a [u32],
}

impl<'a> NextHops<'a> {
    /// How many there are.
    #[inline]
    pub fn len(self) -> usize {
        self.ports.len()
    }

    /// Whether there is none: the switch is the edge switch.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.ports.is_empty()
    }

    /// The links, ascending.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = u32> + use<'a> {
        self.ports.iter().map(move |&port| self.links[usize::from(port)])
    }

    /// The links, ascending, each with the switch to which it leads.
    #[inline]
    pub fn with_ends(self) -> impl Iterator<Item = (u32, u32)> + use<'a> {
        self.iter().map(move |link| (link, self.link_to[link as usize]))
    }
}

/// The key by which switches choose the path of the flow with `hash`, in the direction of its data.
/// `path_seed` is a number of the run.
#[inline]
pub fn path_key(path_seed: u64, hash: u32) -> u64 {
    path_seed ^ u64::from(hash)
}

/// The key of the way back of a flow whose data have `key`: switches choose another path.
#[inline]
pub fn reply_key(key: u64) -> u64 {
    key ^ 1 << 63
}

/// Which of `count` next hops `switch` takes for a flow with `key`.
#[inline]
pub(super) fn pick(switch: u32, key: u64, count: usize) -> usize {
    let hash = mix(key ^ u64::from(switch) << 32) >> 32;
    ((hash * count as u64) >> 32) as usize
}

impl Routing {
    /// The ports of set number `set`.
    #[inline]
    fn ports_of(&self, set: u32) -> &[u16] {
        let PortSet { start, count, .. } = self.sets[set as usize];
        &self.ports[start as usize..start as usize + usize::from(count)]
    }

    /// Appends to `links` the directed links from `source`'s uplink to `destination`'s downlink.
    ///
    /// Flows with different keys take independent paths ([`path_key`], [`reply_key`]).
    ///
    /// # Panics
    /// When one of the nodes is not a host.
    pub fn path(&self, source: u32, destination: u32, key: u64, links: &mut Vec<u32>) {
        let link = self.access[source as usize].uplink;
        links.push(link);
        let mut node = self.link_to[link as usize];
        while node != destination {
            let link = self.next_link(node, destination, key);
            links.push(link);
            node = self.link_to[link as usize];
        }
    }

    /// The link by which a packet leaves `switch`: that at [`Routing::next_port`].
    #[inline]
    fn next_link(&self, switch: u32, destination: u32, key: u64) -> u32 {
        let port = self.next_port(switch, destination, key);
        let first = self.first_port[(switch - self.hosts) as usize];
        self.links[first as usize + usize::from(port)]
    }

    /// The port of [`Routing::path`] by which a packet leaves `switch`, wherever the packet has come
    /// from.
    ///
    /// # Panics
    /// When `switch` is not a switch or `destination` not a host.
    #[inline(always)] // on the way of every packet
    pub fn next_port(&self, switch: u32, destination: u32, key: u64) -> u16 {
        self.next_port_by(switch, destination, |count| pick(switch, key, count))
    }

    /// A port by which a packet to `destination` leaves `switch`. Of several, `choose` takes one, by
    /// its place in ascending order.
    ///
    /// # Panics
    /// When `switch` is not a switch or `destination` not a host.
    #[inline(always)] // as `next_port`, which calls it
    pub fn next_port_by(
        &self,
        switch: u32,
        destination: u32,
        choose: impl FnOnce(usize) -> usize,
    ) -> u16 {
        match self.onward(switch, destination) {
            Onward::By(port) => port,
            Onward::ByOneOf(ports) => ports[choose(ports.len())],
        }
    }

    /// The ports by which a packet to `destination` may leave `switch`.
    ///
    /// # Panics
    /// When `switch` is not a switch or `destination` not a host.
    #[inline(always)] // as `next_port_by`, which calls it
    pub(super) fn onward(&self, switch: u32, destination: u32) -> Onward<'_> {
        let index = (switch - self.hosts) as usize;
        let Some(&entry) = self.dense.get(index * self.access.len() + destination as usize) else {
            return self.onward_by_edge(index, destination);
        };
        match entry & SEVERAL {
            0 => Onward::By(entry),
            _ => Onward::ByOneOf(self.ports_of(u32::from(entry & !SEVERAL))),
        }
    }

    /// As [`Routing::onward`], for the switch with this index.
    fn onward_by_edge(&self, index: usize, destination: u32) -> Onward<'_> {
        let end = &self.access[destination as usize];
        let number = self.choice(index, end.edge);
        let set = self.sets[number as usize];
        match set.count {
            0 => Onward::By(end.port),
            1 => Onward::By(set.first),
            _ => Onward::ByOneOf(self.ports_of(number)),
        }
    }

    /// The set of next hops of the switch with this index towards edge switch number `edge`.
    #[inline]
    fn choice(&self, index: usize, edge: u32) -> u32 {
        let (block, place) = (edge as usize / BLOCK, edge as usize % BLOCK);
        let start = self.blocks[index * self.blocks_of_a_switch() + block];
        self.choices[start as usize + place]
    }

    /// How many blocks of edge switches there are; the last one may be short.
    #[inline]
    fn blocks_of_a_switch(&self) -> usize {
        self.edges.len().div_ceil(BLOCK)
    }

    /// The port of `switch` that leads back where [`Routing::path`] from `source` to `destination` comes
    /// from; none when the path does not pass `switch`.
    pub(super) fn port_back(
        &self,
        switch: u32,
        (source, destination): (u32, u32),
        key: u64,
    ) -> Option<u16> {
        let mut link = self.access[source as usize].uplink;
        let mut node = self.link_to[link as usize];
        while node != switch {
            if node == destination {
                return None;
            }
            link = self.next_link(node, destination, key);
            node = self.link_to[link as usize];
        }
        Some(self.back_port[link as usize])
    }

    /// Whether every switch reaches every edge switch.
    pub fn is_whole(&self) -> bool {
        self.nearest_first.len() == self.edges.len() * self.switches
    }

    /// Whether all shortest paths between two switches take the same time, which `find` finds out at the
    /// first question.
    #[inline]
    pub(super) fn are_paths_alike(&self, find: impl FnOnce(&Routing) -> bool) -> bool {
        *self.are_paths_alike.get_or_init(|| find(self))
    }

    /// The same path as [`Routing::path`], but `choose` takes one of the next hops of a switch, a link.
    ///
    /// # Panics
    /// When one of the nodes is not a host.
    pub fn path_by(
        &self,
        source: u32,
        destination: u32,
        links: &mut Vec<u32>,
        choose: impl Fn(u32, NextHops<'_>) -> u32,
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
    #[inline]
    pub fn next_hops(&self, switch: u32, edge: u32) -> NextHops<'_> {
        let index = (switch - self.hosts) as usize;
        let set = self.sets[self.choice(index, edge) as usize];
        let links = self.first_port[index] as usize..self.first_port[index + 1] as usize;
        NextHops {
            ports: &self.ports[set.start as usize..set.start as usize + usize::from(set.count)],
            links: &self.links[links],
            link_to: &self.link_to,
        }
    }

    /// All switches by ascending distance from edge switch number `edge`, which comes first.
    ///
    /// # Panics
    /// When there is no such edge switch.
    #[inline]
    pub fn nearest_first(&self, edge: u32) -> impl DoubleEndedIterator<Item = u32> + use<'_> {
        let row = edge as usize * self.switches;
        let switches = self.nearest_first[row..row + self.switches].iter();
        switches.map(|&switch| self.hosts + u32::from(switch))
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
