//! The way of every packet: the route that its flow was given at the start, or the tables of the
//! moment.
//!
//! A flow's route is looked up once, when the flow starts. There are two exceptions. In a run with
//! outages packets are forwarded switch by switch, with the tables of the moment, as real switches
//! do. Data packets that are sprayed take a path of their own.

use penstock_engine::stream::mix;
use penstock_fabric::Routes;
use penstock_packet::{Packet, PacketKind};

use crate::flow::FlowSlots;
use crate::network::Network;
use crate::routing::{Routing, RoutingConfig, Spray};
use crate::scenario::Scenario;

/// The way of every packet of a simulation.
#[derive(Debug)]
pub(crate) struct Router {
    pub slots: FlowSlots,
    /// The egress link that was looked up last.
    pub link: u32,
    /// By link: the port at which it begins.
    from_port: Vec<u16>,
    /// By link: the other direction of its cable.
    reverse: Vec<u32>,
    hosts: u32,
    path_seed: u64,
    /// Chooses a path for each data packet, where packets are sprayed.
    spray: Option<Box<Spray>>,
    /// The tables of the moment; none where every packet keeps the route of its flow.
    tables: Option<Box<Routing>>,
    /// Whether routes change during the run.
    has_outages: bool,
}

impl Router {
    /// The router of `scenario` on `network`; `path_seed` seeds the hashes of paths.
    pub(crate) fn new(scenario: &Scenario, network: &Network, path_seed: u64) -> Self {
        let spray = match &scenario.scheme.routing {
            RoutingConfig::Spray(config) => {
                Some(Box::new(Spray::new(config, network.switches.len(), scenario.seed)))
            }
            _ => None,
        };
        let has_outages = !network.route_changes.is_empty();
        let needs_tables = has_outages || spray.is_some();
        let links = &network.topology.links;
        Router {
            slots: FlowSlots::new(network.path_links),
            link: 0,
            from_port: network.wires.iter().map(|wire| wire.from_port).collect(),
            reverse: links.iter().map(|link| link.reverse).collect(),
            hosts: network.topology.hosts,
            path_seed,
            spray,
            tables: needs_tables.then(|| Box::new(network.routing.clone())),
            has_outages,
        }
    }

    /// From now on, packets take the routes of `routing`.
    pub(crate) fn change(&mut self, routing: &Routing) {
        self.tables = Some(Box::new(routing.clone()));
    }

    /// The next link of the route that the flow of `packet` was given at its start.
    #[inline]
    fn next_link(&self, packet: &mut Packet) -> u32 {
        let is_reply = packet.kind.is_reply();
        if packet.kind.goes_to_source() && !is_reply {
            // The way of the data, backwards.
            packet.hop -= 1;
            let route = self.slots.route(packet.flow, false);
            let forward = self.slots.routes[route + usize::from(packet.hop)];
            return self.reverse[forward as usize];
        }
        packet.hop += 1;
        let route = self.slots.route(packet.flow, is_reply);
        self.slots.routes[route + usize::from(packet.hop) - 1]
    }

    /// The link by which `packet` leaves switch `node` according to the tables of the moment.
    fn link_of_table(&self, tables: &Routing, node: u32, packet: &Packet) -> u32 {
        let flow = &self.slots.flows[packet.flow as usize];
        let hash = mix(self.path_seed ^ flow.number);
        let (towards, hash) = match packet.kind.goes_to_source() {
            false => (flow.destination, hash),
            true => (flow.source, mix(hash)),
        };
        tables.next_link(node, towards, hash)
    }

    #[inline]
    fn way(&mut self, node: u32, packet: &mut Packet) -> u32 {
        match &self.tables {
            Some(tables) if self.has_outages => self.link_of_table(tables, node, packet),
            _ => self.next_link(packet),
        }
    }
}

impl Routes for Router {
    #[inline]
    fn egress(&mut self, node: u32, packet: &mut Packet) -> u16 {
        self.link = self.way(node, packet);
        if packet.kind == PacketKind::Data
            && let (Some(spray), Some(tables)) = (&mut self.spray, &self.tables)
        {
            let destination = self.slots.flows[packet.flow as usize].destination;
            self.link = spray.link(tables, (node - self.hosts) as usize, destination);
        }
        self.from_port[self.link as usize]
    }

    fn back(&mut self, node: u32, message: &mut Packet) -> u16 {
        if !self.has_outages {
            message.hop -= 1; // to the link by which it came, and `way` goes to the one before
        }
        let link = self.way(node, message);
        self.from_port[link as usize]
    }
}
