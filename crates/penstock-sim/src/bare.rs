//! The yardstick of the benchmark: a bare event loop.
//!
//! What it is: the same topology, routes, traffic, timing wheel, packet slab and wires as a
//! [`crate::simulation::Simulation`], with one FIFO at each port. Hosts send the packets of their
//! flows in order of arrival and acknowledge every packet. What it is not: the bare loop has no
//! buffer limit, queue assignment, scheduler, mark, backpressure, congestion control, recovery or
//! measurement. The extra time of a simulation is the price of its policies.

use penstock_engine::stream::mix;
use penstock_engine::{SourceId, Wheel};
use penstock_packet::{Fifo, Packet, PacketId, PacketKind, PacketPool};
use penstock_units::Time;

use crate::error::ScenarioError;
use crate::network::Network;
use crate::partition::slot_width_log2;
use crate::scenario::Scenario;
use crate::wire::Wire;
use crate::workload::{FlowArrival, Workload};

/// A flow whose host still has bytes to send.
#[derive(Clone, Copy, Debug)]
struct Backlog {
    remaining: u64,
    route: u32,
}

/// The bare loop.
pub struct BareLoop {
    wheel: Wheel,
    pool: PacketPool,
    wires: Vec<Wire>,
    ports: Vec<Fifo>,
    backlog: Vec<std::collections::VecDeque<Backlog>>,
    routes: Vec<u32>,
    free_routes: Vec<u32>,
    network: Network,
    workload: Workload,
    pending: Option<FlowArrival>,
    flows: u64,
    packet_hops: u64,
    events: u64,
}

impl BareLoop {
    /// Prepares the traffic of `scenario` on its topology. The scheme of `scenario` is not used.
    ///
    /// # Errors
    /// When the scenario is refused.
    pub fn new(scenario: &Scenario) -> Result<Self, ScenarioError> {
        let network = Network::build(scenario)?;
        let workload = Workload::new(
            &scenario.traffic,
            &network.topology,
            &network.routing,
            scenario.seed,
            scenario.duration,
        )?;
        let links = network.topology.links.len();
        let mut bare = BareLoop {
            wheel: Wheel::new(2 * links + 1, slot_width_log2(links)),
            pool: PacketPool::new(false),
            wires: (0..links as u32).map(|link| network.wire(link)).collect(),
            ports: vec![Fifo::default(); links],
            backlog: vec![std::collections::VecDeque::new(); network.topology.hosts as usize],
            routes: vec![],
            free_routes: vec![],
            network,
            workload,
            pending: None,
            flows: 0,
            packet_hops: 0,
            events: 0,
        };
        bare.expect_flow();
        Ok(bare)
    }

    /// Runs until every packet has arrived; returns packet-hops and events.
    pub fn run(&mut self) -> (u64, u64) {
        let links = self.wires.len() as u32;
        while let Some((now, source)) = self.wheel.pop() {
            self.events += 1;
            if source < links {
                self.on_arrival(now, source);
            } else if source < 2 * links {
                self.wires[(source - links) as usize].is_end_scheduled = false;
                self.send_next(now, source - links);
            } else if let Some(arrival) = self.pending.take() {
                self.start_flow(now, &arrival);
                self.expect_flow();
            }
        }
        (self.packet_hops, self.events)
    }

    fn expect_flow(&mut self) {
        self.pending = self.workload.next();
        if let Some(arrival) = &self.pending {
            let traffic: SourceId = 2 * self.wires.len() as u32;
            self.wheel.schedule(traffic, arrival.time);
        }
    }

    fn start_flow(&mut self, now: Time, arrival: &FlowArrival) {
        let (mut forward, mut back) = (vec![], vec![]);
        let hash = mix(self.flows);
        self.flows += 1;
        let (source, destination) = (arrival.source, arrival.destination);
        self.network.routing.path(source, destination, hash, &mut forward);
        self.network.routing.path(destination, source, mix(hash), &mut back);
        let stride = self.network.path_links;
        let route = self.free_routes.pop().unwrap_or_else(|| {
            let start = self.routes.len();
            self.routes.resize(start + 2 * stride, 0);
            start as u32
        });
        let start = route as usize;
        self.routes[start..start + forward.len()].copy_from_slice(&forward);
        self.routes[start + stride..start + stride + back.len()].copy_from_slice(&back);
        let backlog = Backlog { remaining: arrival.size, route };
        self.backlog[source as usize].push_back(backlog);
        self.offer(now, forward[0]);
    }

    #[inline]
    fn on_arrival(&mut self, now: Time, link: u32) {
        let wire = &mut self.wires[link as usize];
        let (id, next) = wire.take(&self.pool);
        let node = wire.to;
        if let Some(next) = next {
            self.wheel.schedule(link, next);
        }
        let packet = &mut self.pool[id];
        if node >= self.network.topology.hosts {
            let way = if packet.kind.is_reply() { self.network.path_links } else { 0 };
            let link = self.routes[packet.flow as usize + way + usize::from(packet.hop)];
            packet.hop += 1;
            return self.enqueue(now, link, id);
        }
        match packet.kind {
            PacketKind::Data => {
                packet.kind = PacketKind::Acknowledgement;
                packet.wire_bytes = self.network.frames.acknowledgement;
                packet.hop = 1;
                let link = self.routes[packet.flow as usize + self.network.path_links];
                self.enqueue(now, link, id);
            }
            _ => {
                if packet.remaining == 0 {
                    self.free_routes.push(packet.flow);
                }
                self.pool.remove(id);
            }
        }
    }

    #[inline]
    fn enqueue(&mut self, now: Time, link: u32, id: PacketId) {
        self.ports[link as usize].push(&mut self.pool, id);
        self.offer(now, link);
    }

    #[inline]
    fn offer(&mut self, now: Time, link: u32) {
        let wire = &mut self.wires[link as usize];
        if wire.is_end_scheduled {
            return;
        }
        if wire.free_at > now {
            wire.is_end_scheduled = true;
            self.wheel.schedule(self.wires.len() as u32 + link, self.wires[link as usize].free_at);
        } else {
            self.send_next(now, link);
        }
    }

    #[inline]
    fn send_next(&mut self, now: Time, link: u32) {
        let node = self.wires[link as usize].from as usize;
        let id = match self.ports[link as usize].pop(&self.pool) {
            Some(id) => id,
            None if node < self.backlog.len() => match self.next_packet(node) {
                Some(id) => id,
                None => return,
            },
            None => return,
        };
        self.packet_hops += 1;
        let wire = &mut self.wires[link as usize];
        let arrival = wire.occupy(now, self.pool[id].wire_bytes);
        let is_first = wire.append(&mut self.pool, id, arrival);
        let more = !self.ports[link as usize].is_empty()
            || self.backlog.get(node).is_some_and(|backlog| !backlog.is_empty());
        if more {
            wire.is_end_scheduled = true;
            self.wheel.schedule(self.wires.len() as u32 + link, self.wires[link as usize].free_at);
        }
        if is_first {
            self.wheel.schedule(link, arrival);
        }
    }

    fn next_packet(&mut self, host: usize) -> Option<PacketId> {
        let backlog = self.backlog[host].front_mut()?;
        let payload = backlog.remaining.min(self.network.path.payload.into());
        backlog.remaining -= payload;
        let (route, remaining) = (backlog.route, backlog.remaining);
        if remaining == 0 {
            self.backlog[host].pop_front();
        }
        Some(self.pool.insert(Packet {
            flow: route,
            remaining: u32::try_from(remaining).unwrap_or(u32::MAX),
            wire_bytes: payload as u16 + self.network.frames.data_overhead as u16,
            kind: PacketKind::Data,
            hop: 1,
            ..Packet::default()
        }))
    }
}
