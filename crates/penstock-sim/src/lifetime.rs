//! The beginning and the end of a flow: its paths, its slot, its facts, its record.

use penstock_engine::stream::mix;
use penstock_packet::Observer;
use penstock_transport::{BaseRtt, Opening, PathFacts};
use penstock_units::{Bytes, Fidelity, Time};

use crate::flow::Flow;
use crate::host::BYTE_TIME_BITS;
use crate::measure::flows::FlowRecord;
use crate::ns3;
use crate::routing::{RoutingConfig, ideal_fct, sprayed_ideal_fct, symmetric_paths};
use crate::simulation::Simulation;
use crate::workload::FlowArrival;

impl<O: Observer> Simulation<O> {
    pub(crate) fn start_flow(&mut self, now: Time, arrival: &FlowArrival) {
        let number = self.measured.flows_started;
        let mut forward = Vec::with_capacity(self.network.path_links);
        let mut back = Vec::with_capacity(self.network.path_links);
        let (topology, routing) = (&self.network.topology, &self.network.routing);
        if let Some(ns3) = &mut self.ns3 {
            ns3.paths(topology, routing, arrival, [&mut forward, &mut back]);
        } else {
            let hash = mix(self.path_seed ^ number);
            let ends = (arrival.source, arrival.destination);
            match self.scenario.scheme.routing {
                RoutingConfig::Ecmp {} | RoutingConfig::Spray(_) => {
                    routing.path(ends.0, ends.1, hash, &mut forward);
                    routing.path(ends.1, ends.0, mix(hash), &mut back);
                }
                RoutingConfig::SymmetricEcmp {} => {
                    symmetric_paths(topology, routing, ends, hash, [&mut forward, &mut back]);
                }
            }
        }
        let flow = self.describe(now, number, arrival, (&forward, &back));
        let name = self.pool.name_flow();
        let opening = Opening {
            flow: name,
            number,
            hash: flow.hash,
            source: arrival.source,
            size: arrival.size,
            class: arrival.class,
            is_incast: self.measured.is_incast(arrival.label),
            path: self.path_facts(&forward, &back),
        };
        self.router.slots.insert(name, flow, &forward, &back);
        self.wheel.grow(self.sources.sender(name) as usize + 1);
        self.measured.on_flow_start(arrival.size);
        let (host, mut turn) = self.lend(now, arrival.destination);
        host.expect(&mut turn, &opening);
        let (host, mut turn) = self.lend(now, arrival.source);
        host.open(&mut turn, &opening);
        self.serve(now, arrival.source);
    }

    /// The facts that the controller of a flow on these two paths may know.
    fn path_facts(&self, forward: &[u32], back: &[u32]) -> PathFacts {
        let longest = self.network.path;
        if self.scenario.scheme.host.base_rtt == BaseRtt::Longest {
            return longest;
        }
        let frames = &self.network.frames.ideal;
        let base_rtt = ideal_fct(&self.network.topology, forward, back, frames.payload, frames);
        PathFacts { base_rtt, bdp: longest.line_rate.bytes_in(base_rtt), ..longest }
    }

    fn describe(
        &self,
        now: Time,
        number: u64,
        arrival: &FlowArrival,
        (forward, back): (&[u32], &[u32]),
    ) -> Flow {
        let topology = &self.network.topology;
        let size = Bytes::new(arrival.size);
        let frames = &self.network.frames.ideal;
        let ideal = match (self.scenario.fidelity, &self.scenario.scheme.routing) {
            (Fidelity::Ns3Hpcc, _) => ns3::ideal_fct(topology, forward, size, frames),
            (Fidelity::Exact, RoutingConfig::Spray(_)) => {
                sprayed_ideal_fct(topology, &self.network.routing, (forward, back), size, frames)
            }
            (Fidelity::Exact, _) => ideal_fct(topology, forward, back, size, frames),
        };
        let wires = forward.iter().map(|&link| &self.network.wires[link as usize]);
        let kilobyte = |rate: penstock_units::BitRate| {
            rate.transmission_time(Bytes::new(1 << BYTE_TIME_BITS)).as_ps()
        };
        Flow {
            hash: self.names.hash(number),
            source: arrival.source,
            destination: arrival.destination,
            label: arrival.label,
            class: arrival.class,
            is_live: true,
            number,
            size: arrival.size,
            start: now,
            ideal,
            latency: wires.clone().fold(Time::ZERO, |sum, wire| sum + wire.delay),
            byte_time: wires.map(|wire| kilobyte(wire.transmission.rate())).sum(),
        }
    }

    /// The flow named `name` has completed: its last byte is acknowledged.
    pub(crate) fn end_flow(&mut self, now: Time, name: u32) {
        let flow = &self.router.slots.flows[name as usize];
        let (completion, destination) = (now - flow.start, flow.destination);
        self.measured.on_flow_end(&self.record(name, Some(completion)));
        let (host, mut turn) = self.lend(now, destination);
        host.close(&mut turn, name);
        self.wheel.cancel(self.sources.receiver(name));
        self.wheel.cancel(self.sources.sender(name));
        self.router.slots.end(name);
        self.pool.give_back(name);
        self.stop_if_finished();
    }

    pub(crate) fn record(&self, slot: u32, completion: Option<Time>) -> FlowRecord {
        let flow = &self.router.slots.flows[slot as usize];
        FlowRecord {
            flow: flow.number,
            source: flow.source,
            destination: flow.destination,
            size: flow.size,
            start: flow.start,
            completion,
            ideal: flow.ideal,
            label: flow.label,
            class: flow.class,
            delivered: self.flows.receiver(slot).delivered(),
            retransmitted_packets: self.flows.sender(slot).retransmitted_packets(),
        }
    }
}
