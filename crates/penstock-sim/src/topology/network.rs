//! A built network: nodes, directed links, and the links that leave each node.

use penstock_units::{BitRate, Time};

use super::inner::InnerLinks;

/// A host or a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Short name: `H3` (host), `T0` (top-of-rack switch), `S2` (spine or plain switch).
    pub name: String,
    /// Links between this node and the nearest host: 0 for a host, 1 for a switch with hosts
    /// (top of rack), 2 for a spine, and so on.
    pub tier: u8,
}

/// One direction of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The node that sends.
    pub from: u32,
    /// The node that receives.
    pub to: u32,
    /// Rate (bit/s), > 0.
    pub rate: BitRate,
    /// Propagation delay (ps).
    pub delay: Time,
    /// Index into [`Topology::layers`].
    pub layer: u16,
    /// The link of the same cable in the other direction.
    pub reverse: u32,
}

/// A built network; the head of the module `topology` has its invariants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Number of hosts, >= 2. Hosts are the nodes `0..hosts`.
    pub hosts: u32,
    /// Number of switches, >= 1. Switches are the nodes `hosts..hosts + switches`.
    pub switches: u32,
    /// The nodes, by node number.
    pub nodes: Vec<Node>,
    /// The directed links, by link number.
    pub links: Vec<Link>,
    /// Names of the groups of links, such as `host-ToR`, from the hosts upwards and back down.
    pub layers: Vec<String>,
    /// Time from the last bit of a packet entering a switch to the packet's being ready for its
    /// egress queue (ps).
    pub pipeline_delay: Time,
    /// Links inside servers; none where all hosts reach each other by the network.
    pub inner: Option<InnerLinks>,
    egress_start: Vec<u32>,
    egress: Vec<u32>,
}

/// The parts that [`Topology::new`] needs besides the links.
pub(super) struct Frame {
    pub(super) hosts: u32,
    pub(super) nodes: Vec<Node>,
    pub(super) layers: Vec<String>,
    pub(super) pipeline_delay: Time,
}

impl Topology {
    /// Builds the network, and indexes `links` by the node that each link leaves.
    pub(super) fn new(frame: Frame, links: Vec<Link>) -> Self {
        let mut egress_start = vec![0u32; frame.nodes.len() + 1];
        for link in &links {
            egress_start[link.from as usize + 1] += 1;
        }
        for node in 0..frame.nodes.len() {
            egress_start[node + 1] += egress_start[node];
        }
        let mut next = egress_start.clone();
        let mut egress = vec![0; links.len()];
        for (id, link) in (0..).zip(&links) {
            let slot = &mut next[link.from as usize];
            egress[*slot as usize] = id;
            *slot += 1;
        }
        Topology {
            hosts: frame.hosts,
            switches: frame.nodes.len() as u32 - frame.hosts,
            nodes: frame.nodes,
            links,
            layers: frame.layers,
            pipeline_delay: frame.pipeline_delay,
            inner: None,
            egress_start,
            egress,
        }
    }

    /// The links inside servers, where they join these two hosts.
    #[inline]
    pub fn inner_links(&self, source: u32, destination: u32) -> Option<InnerLinks> {
        self.inner.filter(|links| links.join(source, destination))
    }

    /// Whether `node` is a host.
    pub fn is_host(&self, node: u32) -> bool {
        node < self.hosts
    }

    /// The links that leave `node`, in ascending order.
    ///
    /// # Panics
    /// When there is no node `node`.
    pub fn egress_links(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.egress[self.egress_start[node] as usize..self.egress_start[node + 1] as usize]
    }

    /// By link: the port of its sender at which it begins.
    pub fn from_ports(&self) -> Vec<u16> {
        let mut ports = vec![0; self.links.len()];
        for node in 0..self.nodes.len() as u32 {
            for (port, &link) in (0..=u16::MAX).zip(self.egress_links(node)) {
                ports[link as usize] = port;
            }
        }
        ports
    }

    /// The link from `host` to its switch.
    ///
    /// # Panics
    /// When `host` is not a host.
    pub fn uplink(&self, host: u32) -> u32 {
        assert!(self.is_host(host), "node {host} is not a host");
        self.egress_links(host)[0]
    }

    /// The link to `host` from its switch.
    ///
    /// # Panics
    /// When `host` is not a host.
    pub fn downlink(&self, host: u32) -> u32 {
        self.links[self.uplink(host) as usize].reverse
    }

    /// The switch that `host` is linked to: its edge switch.
    ///
    /// # Panics
    /// When `host` is not a host.
    pub fn edge_switch(&self, host: u32) -> u32 {
        self.links[self.uplink(host) as usize].to
    }

    /// The link from node `from` to node `to`, if a cable joins them.
    pub fn link_between(&self, from: u32, to: u32) -> Option<u32> {
        let known = (from as usize) < self.nodes.len();
        let mut leaving = if known { self.egress_links(from) } else { &[] }.iter();
        leaving.find(|link| self.links[**link as usize].to == to).copied()
    }

    /// Whether `link` joins two switches: a link of the core.
    pub fn is_core(&self, link: u32) -> bool {
        let link = &self.links[link as usize];
        !self.is_host(link.from) && !self.is_host(link.to)
    }

    /// The name of `link` in messages: `T0->S3`.
    pub fn link_name(&self, link: u32) -> String {
        let link = &self.links[link as usize];
        let name = |node: u32| &self.nodes[node as usize].name;
        format!("{}->{}", name(link.from), name(link.to))
    }
}
