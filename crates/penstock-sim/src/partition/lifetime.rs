//! The beginning and the end of a flow: its paths, its name, its facts, its record. A flow has a half
//! at each of its two hosts, and a partition knows the halves whose hosts it has.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::Observer;
use penstock_transport::{BaseRtt, Opening, PathFacts};
use penstock_units::{BitRate, Bytes, Fidelity, Time};

use super::Partition;
use crate::flow::Flow;
use crate::measure::flows::FlowRecord;
use crate::ns3;
use crate::routing::{RoutingConfig, flow_paths, ideal_fct, path_key, sprayed_ideal_fct};
use crate::workload::FlowArrival;

/// Fractional bits of [`crate::flow::Flow::byte_time`].
pub(super) const BYTE_TIME_BITS: u32 = 10;

/// A flow that starts soon.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Start {
    /// Number in the whole run.
    pub number: u64,
    pub arrival: FlowArrival,
}

/// The links to the destination and back.
#[derive(Clone, Debug, Default)]
pub(super) struct Paths {
    forward: Vec<u32>,
    back: Vec<u32>,
}

impl<O: Observer> Partition<O> {
    pub(super) fn start_flow(&mut self, now: Time, start: &Start) {
        let Start { number, arrival } = start;
        let topology = &self.setting.topology;
        if let Some(links) = topology.inner_links(arrival.source, arrival.destination) {
            return self.start_transfer(now, start, links);
        }
        // Every flow uses the same two lists, so that a flow allocates nothing.
        let mut paths = std::mem::take(&mut self.paths);
        self.find_paths(start, &mut paths);
        let flow = self.describe(now, start, &paths);
        let name = self.pool.name_flow();
        let opening = Opening {
            flow: name,
            number: *number,
            hash: self.setting.names.hash(*number),
            source: arrival.source,
            destination: arrival.destination,
            size: arrival.size,
            stop: arrival.stop(),
            controller: self.setting.controllers[usize::from(arrival.label)],
            class: arrival.class,
            is_incast: self.setting.is_incast[usize::from(arrival.label)],
            connections: self.setting.connections[usize::from(arrival.label)],
            path: self.path_facts(arrival, &paths),
        };
        self.slots.insert(name, flow);
        self.router.enter(name, &paths.forward, &paths.back);
        self.paths = paths;
        self.add_timers(name, *number);
        if flow.is_receiving {
            let (host, mut turn) = self.lend(now, self.host_place(arrival.destination));
            host.expect(&mut turn, &opening);
        }
        if flow.is_sending {
            self.measured.on_flow_start(arrival);
            let source = self.host_place(arrival.source);
            let (host, mut turn) = self.lend(now, source);
            host.open(&mut turn, &opening);
            self.serve(now, source);
        }
    }

    /// The hash of a flow, and its completion time alone on its path.
    pub(crate) fn alone(&mut self, start: &Start) -> (u32, Time) {
        let mut paths = std::mem::take(&mut self.paths);
        self.find_paths(start, &mut paths);
        let Flow { ideal, .. } = self.describe(start.arrival.time, start, &paths);
        self.paths = paths;
        (self.setting.names.hash(start.number), ideal)
    }

    /// Makes room for the timers of the flow named `name`, whose number breaks ties among flows.
    fn add_timers(&mut self, name: u32, number: u64) {
        let (receiver, sender) = (self.sources.receiver(name), self.sources.sender(name));
        self.wheel.grow(sender as usize + 1);
        self.wheel.set_rank(receiver, 2 * number + 1);
        self.wheel.set_rank(sender, 2 * number + 2);
    }

    /// Writes the paths of a new flow into `paths`.
    fn find_paths(&mut self, Start { number, arrival }: &Start, paths: &mut Paths) {
        let Paths { forward, back } = paths;
        forward.clear();
        back.clear();
        let (topology, routing) = (&self.setting.topology, self.router.routing());
        let flow_hash = self.setting.names.hash(*number);
        if let Some(ns3) = &mut self.ns3 {
            return ns3.paths((topology, routing), arrival, flow_hash, [forward, back]);
        }
        let key = path_key(self.setting.path_seed, flow_hash);
        let ends = (arrival.source, arrival.destination);
        let config = &self.setting.scenario.scheme.routing;
        flow_paths(config, (topology, routing), ends, key, [forward, back]);
    }

    /// The facts that the controller of a flow on these two paths may know.
    fn path_facts(&self, arrival: &FlowArrival, paths: &Paths) -> PathFacts {
        let (setting, Paths { forward, back }) = (&self.setting, paths);
        let (topology, frames, longest) = (&*setting.topology, &setting.frames.ideal, setting.path);
        let [line_rate, receiver_rate] =
            [arrival.source, arrival.destination].map(|host| setting.nic_rates[host as usize]);
        let base_rtt = match setting.scenario.scheme.host.base_rtt {
            BaseRtt::Longest => longest.base_rtt,
            BaseRtt::Own => ideal_fct(topology, forward, back, frames.payload, frames),
        };
        // The simulators in ns-3 have one window for all hosts, whatever their NICs (maxBdp).
        let is_exact = setting.scenario.fidelity == Fidelity::Exact;
        let bdp = if is_exact { line_rate } else { longest.line_rate }.bytes_in(base_rtt);
        PathFacts { base_rtt, line_rate, receiver_rate, bdp, ..longest }
    }

    fn describe(&self, now: Time, start: &Start, Paths { forward, back }: &Paths) -> Flow {
        let Start { number, arrival } = start;
        let setting = &self.setting;
        let topology = &setting.topology;
        let size = Bytes::new(arrival.size);
        let frames = &setting.frames.ideal;
        let ideal = match (setting.scenario.fidelity, &setting.scenario.scheme.routing) {
            (Fidelity::Ns3Hpcc | Fidelity::Ns3Bfc, _) => {
                ns3::ideal_fct(topology, forward, size, frames)
            }
            (Fidelity::Exact, RoutingConfig::Spray(_)) => {
                sprayed_ideal_fct(topology, self.router.routing(), (forward, back), size, frames)
            }
            (Fidelity::Exact, _) => ideal_fct(topology, forward, back, size, frames),
        };
        let links = forward.iter().map(|&link| &topology.links[link as usize]);
        // The links of a path mostly have one rate, and then one division serves all of them.
        let mut known = (BitRate::default(), 0);
        let mut kilobyte = |rate: BitRate| {
            if rate != known.0 {
                let time = rate.transmission_time(Bytes::new(1 << BYTE_TIME_BITS));
                known = (rate, time.as_ps());
            }
            known.1
        };
        let is_here = |host: u32| setting.placement.of_node(host).0 == self.number;
        let pipelines = topology.pipeline_delay * (forward.len() as u64 - 1);
        Flow {
            source: arrival.source,
            destination: arrival.destination,
            label: arrival.label,
            class: arrival.class,
            is_sending: is_here(arrival.source),
            is_receiving: is_here(arrival.destination),
            is_receipt_awaited: setting.plan.is_receipt_awaited(*number),
            number: *number,
            size: arrival.size,
            is_endless: arrival.is_endless(),
            start: now,
            ideal,
            latency: links.clone().fold(pipelines, |sum, link| sum + link.delay),
            byte_time: links.map(|link| kilobyte(link.rate)).sum(),
        }
    }

    /// The flow named `name` has completed: its last byte is acknowledged.
    #[inline(never)] // as `on_timer`
    pub(super) fn end_flow(&mut self, now: Time, name: u32) {
        self.settle_size(name);
        let flow = self.slots.flows[name as usize];
        let record = self.record(name, Some(now - flow.start), flow.size);
        self.measured.on_flow_end(record);
        self.wheel.cancel(self.sources.sender(name));
        self.end_windows(now);
        self.post_completion(flow.destination, self.setting.names.hash(flow.number), name);
        self.on_acknowledged(now, flow.number, flow.source);
        if self.slots.end_sending(name) {
            self.pool.give_back(name);
        }
    }

    /// The size and the ideal time of a flow that has stopped are those of what it has sent, by the routes at
    /// its start.
    fn settle_size(&mut self, name: u32) {
        let size = self.flows.sender(name).size();
        let flow = self.slots.flows[name as usize];
        if size == flow.size {
            return;
        }
        if flow.size > 0 && !flow.is_receiving {
            self.measured.backlog.on_stop(flow.size - size);
        }
        let Flow { source, destination, label, class, .. } = flow;
        let (time, destination_port, lasts) = (flow.start, 0, Time::ZERO);
        let arrival =
            FlowArrival { time, source, destination, size, label, class, destination_port, lasts };
        let start = Start { number: flow.number, arrival };
        let at_start = self.setting.changed_routing(time).unwrap_or_else(|| self.router.first());
        let of_now = self.router.change(&at_start);
        let (_, ideal) = self.alone(&start);
        self.router.change(&of_now);
        self.slots.flows[name as usize] = Flow { size, ideal, ..flow };
    }

    /// The destination of the flow named `name` hears that the flow has completed.
    pub(crate) fn close_flow(&mut self, name: u32) {
        let destination = self.slots.flows[name as usize].destination;
        let (host, mut turn) = self.lend(self.now(), self.host_place(destination));
        host.close(&mut turn, name);
        self.wheel.cancel(self.sources.receiver(name));
        if self.slots.end_receiving(name) {
            self.pool.give_back(name);
        }
    }

    /// The facts about a flow whose source is here. Its receiver has `delivered` bytes.
    pub(crate) fn record(&self, name: u32, completion: Option<Time>, delivered: u64) -> FlowRecord {
        let flow = &self.slots.flows[name as usize];
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
            delivered,
            retransmitted_packets: self.flows.sender(name).retransmitted_packets(),
        }
    }
}
