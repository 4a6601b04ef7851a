//! The way of every packet: each switch looks up the next link in its tables. A packet bears all that
//! the choice needs: its flow, and the flow's two hosts. So a switch need not know the flow.
//!
//! In a run with outages the tables change. Data packets that are sprayed take a path of their own.
//! Elsewhere the tables would answer the same for each packet of a flow. So a partition that has an end of a
//! flow looks up the flow's path once, when the flow starts: this took 7 and 11 % off a packet-hop of
//! ExpressPass with 128 and 1,024 hosts, 3 % of BFC, and added 1 to 2 % with 8,192 hosts. Packets of flows
//! that only pass bear no name here, and take the tables. Under fidelity ns3-hpcc and ns3-bfc, whose choice
//! of a path is another one, there is one partition, and all paths are fixed.

use std::sync::Arc;

use penstock_fabric::Routes;
use penstock_packet::{Packet, PacketKind};

use crate::routing::{Routing, RoutingConfig, Spray, path_key, reply_key, symmetric_port};
use crate::setting::Setting;

/// The most links of a path that is fixed: packets count them in a byte ([`Packet::hop`]).
pub(crate) const MOST_LINKS: usize = u8::MAX as usize;

/// The way of every packet through the switches of a partition.
#[derive(Debug)]
pub(crate) struct Router {
    /// The tables of the moment.
    routing: Arc<Routing>,
    /// The tables at the start of the run.
    first: Arc<Routing>,
    path_seed: u64,
    choice: Choice,
    /// Whether the paths of flows are fixed.
    is_fixed: bool,
    /// Chooses a path for each data packet, where packets are sprayed.
    spray: Option<Box<Spray>>,
    /// The paths of flows, where they are fixed.
    fixed: FixedPaths,
}

penstock_units::state! { Router {
    saved: spray;
    within: fixed;
    kept: routing, first, path_seed, choice, is_fixed;
} }

/// How a switch chooses among several ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// By the hash of the flow, for each direction alone.
    Hash,
    /// By the hash of the flow, and on the way back the same links.
    Symmetric,
    /// For each packet.
    Spray,
}

/// The ports on the paths of flows.
#[derive(Debug, Default)]
struct FixedPaths {
    /// By link: the port at which it begins.
    from_ports: Arc<[u16]>,
    /// For each name of a flow `stride` ports to the destination and `stride` ports back.
    ports: Vec<u16>,
    stride: usize,
}

penstock_units::state! { FixedPaths {
    saved: ports;
    within: ;
    kept: from_ports, stride;
} }

impl FixedPaths {
    fn new(setting: &Setting) -> Self {
        FixedPaths {
            from_ports: Arc::clone(&setting.from_ports),
            ports: vec![],
            stride: setting.path_links,
        }
    }

    /// Where the path of the flow starts in `ports`: to the destination, or with `is_reply` back.
    #[inline]
    fn start(&self, name: u32, is_reply: bool) -> usize {
        (2 * name as usize + usize::from(is_reply)) * self.stride
    }

    fn enter(&mut self, name: u32, forward: &[u32], back: &[u32]) {
        let end = self.start(name + 1, false);
        if self.ports.len() < end {
            self.ports.resize(end, 0);
        }
        for (is_reply, links) in [(false, forward), (true, back)] {
            let start = self.start(name, is_reply);
            for (port, &link) in self.ports[start..].iter_mut().zip(links) {
                *port = self.from_ports[link as usize];
            }
        }
    }

    #[inline]
    fn next_port(&self, packet: &Packet) -> u16 {
        let start = self.start(packet.flow, packet.kind.is_reply());
        self.ports[start + usize::from(packet.hop) - 1]
    }
}

impl Router {
    /// The router of a partition; at first the routes are those of `routing`. Without switches no packet asks
    /// for a path, and none is kept.
    pub(crate) fn new(setting: &Setting, routing: &Arc<Routing>, has_switches: bool) -> Self {
        let scenario = &setting.scenario;
        let topology = &setting.topology;
        let switches = topology.hosts..topology.hosts + topology.switches;
        let spray = match &scenario.scheme.routing {
            RoutingConfig::Spray(config) => {
                Some(Box::new(Spray::new(config, switches, scenario.seed)))
            }
            _ => None,
        };
        let keeps_paths = setting.route_changes.is_empty() && setting.path_links <= MOST_LINKS;
        let can_keep = spray.is_none() && keeps_paths || scenario.fidelity.is_ns3();
        let is_fixed = has_switches && can_keep;
        Router {
            routing: Arc::clone(routing),
            first: Arc::clone(routing),
            path_seed: setting.path_seed,
            choice: match &scenario.scheme.routing {
                RoutingConfig::Ecmp {} => Choice::Hash,
                RoutingConfig::SymmetricEcmp {} => Choice::Symmetric,
                RoutingConfig::Spray(_) => Choice::Spray,
            },
            is_fixed,
            spray,
            fixed: if is_fixed { FixedPaths::new(setting) } else { FixedPaths::default() },
        }
    }

    /// The tables of the moment.
    pub(crate) fn routing(&self) -> &Routing {
        &self.routing
    }

    /// The port where packets are sprayed.
    #[inline(never)] // few schemes come here
    fn sprayed_port(&mut self, node: u32, packet: &Packet) -> u16 {
        match &mut self.spray {
            Some(spray) if packet.kind == PacketKind::Data => {
                spray.port(&self.routing, node, packet.destination)
            }
            _ => self.hashed_port(node, packet),
        }
    }

    /// The port that the hash of the flow chooses, for each direction alone.
    #[inline(always)] // each packet comes here
    fn hashed_port(&self, node: u32, packet: &Packet) -> u16 {
        let key = path_key(self.path_seed, packet.flow_hash);
        let (to, key) = match packet.kind.goes_to_source() {
            false => (packet.destination, key),
            true => (packet.source, reply_key(key)),
        };
        self.routing.next_port(node, to, key)
    }

    /// The tables at the start of the run.
    pub(crate) fn first(&self) -> Arc<Routing> {
        Arc::clone(&self.first)
    }

    /// From now on, packets take the routes of `routing`. Answers the routes until now.
    pub(crate) fn change(&mut self, routing: &Arc<Routing>) -> Arc<Routing> {
        std::mem::replace(&mut self.routing, Arc::clone(routing))
    }

    /// A flow starts, named `name`, with these links to the destination and back.
    pub(crate) fn enter(&mut self, name: u32, forward: &[u32], back: &[u32]) {
        if self.is_fixed {
            self.fixed.enter(name, forward, back);
        }
    }
}

impl Routes for Router {
    #[inline(always)] // it has one caller
    fn egress(&mut self, node: u32, packet: &mut Packet) -> u16 {
        if self.is_fixed && !packet.kind.is_notice() {
            packet.hop += 1;
            if packet.flow > 0 {
                return self.fixed.next_port(packet);
            }
        }
        match self.choice {
            Choice::Hash => self.hashed_port(node, packet),
            Choice::Symmetric => {
                let ends = match packet.kind.goes_to_source() {
                    false => (packet.source, packet.destination),
                    true => (packet.destination, packet.source),
                };
                let key = path_key(self.path_seed, packet.flow_hash);
                symmetric_port(&self.routing, node, ends, key)
            }
            Choice::Spray => self.sprayed_port(node, packet),
        }
    }
}
