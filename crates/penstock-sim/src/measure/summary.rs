//! Everything that a run measures while it goes on.

use penstock_transport::{Flows, Host};
use penstock_units::Time;
use serde::Serialize;

use super::active_flows::ActiveFlows;
use super::backlog::Backlog;
use super::deadlock::Deadlock;
use super::events::EventTable;
use super::flows::{FlowRecord, FlowTable};
use super::histogram::LogHistogram;
use super::pauses::SentPauses;
use super::queue_delays::QueueDelays;
use super::samples::{BufferSamples, LinkSamples, allowed_rate};
use crate::flow::FlowSlots;
use crate::network::Network;
use crate::scenario::Scenario;
use crate::wire::WireCounters;
use crate::workload::TrafficConfig;

/// Everything that is measured while a simulation runs.
pub struct Measurements {
    /// Flow records.
    pub flows: FlowTable,
    /// Buffers of the switches.
    pub buffers: BufferSamples,
    /// Series of the links that the scenario names.
    pub series: LinkSamples,
    /// Payload that is not delivered yet.
    pub backlog: Backlog,
    /// Active flows, when asked for.
    pub active_flows: Option<ActiveFlows>,
    /// Time that data packets wait at switches, when asked for.
    pub queue_delays: Option<Box<QueueDelays>>,
    /// Pauses and drops, when asked for.
    pub event_table: Option<EventTable>,
    /// Queueing delay of every data packet that arrived, by traffic entry (ps).
    pub delays: Vec<LogHistogram>,
    /// Pauses that switches sent.
    pub pauses: SentPauses,
    /// Events processed.
    pub events: u64,
    /// Flows that arrived.
    pub flows_started: u64,
    /// Flows that finished.
    pub flows_finished: u64,
    /// Endless flows that arrived.
    pub endless: u64,
    /// Flows with an end that have not finished.
    pub live_finite: u64,
    /// Packets dropped for want of room.
    pub drops: u64,
    /// Packets lost with links that failed, control packets included.
    pub lost_packets: u64,
    /// Payload bytes that arrived at hosts.
    pub arrived_payload: u64,
    /// Payload bytes dropped, or lost with links that failed.
    pub dropped_payload: u64,
    /// The counters of each link when the traffic ended.
    pub duration_counters: Vec<WireCounters>,
    /// Endless flows, when the traffic ended.
    pub long_lived: Vec<LongLived>,
    /// The deadlock that ended the run, if any.
    pub deadlock: Option<Deadlock>,
    series_links: Vec<u32>,
    incast: Vec<bool>,
    labels: Vec<String>,
}

/// An endless flow when the traffic ended.
#[derive(Clone, Debug, Serialize)]
pub struct LongLived {
    /// Number in order of arrival.
    pub flow: u64,
    /// Sending host.
    pub src: u32,
    /// Receiving host.
    pub dst: u32,
    /// When the flow started (ns).
    pub start_ns: f64,
    /// Payload bytes delivered by the end of the traffic.
    pub delivered_bytes: u64,
}

impl Measurements {
    /// Nothing is measured yet.
    pub fn new(scenario: &Scenario, network: &Network, labels: Vec<String>) -> Self {
        let measure = &scenario.measure;
        let link = |&(from, to): &(u32, u32)| network.topology.link_between(from, to);
        let is_incast = |entry: &TrafficConfig| matches!(entry, TrafficConfig::Incast(_));
        Measurements {
            flows: FlowTable::default(),
            buffers: BufferSamples::default(),
            series: LinkSamples::default(),
            backlog: Backlog::default(),
            active_flows: measure.active_flows.then(|| ActiveFlows::new(network.wires.len())),
            queue_delays: measure
                .queue_delays
                .then(|| Box::new(QueueDelays::new(scenario, network))),
            event_table: measure.events.then(EventTable::default),
            delays: vec![LogHistogram::default(); labels.len()],
            pauses: SentPauses::new(network.wires.len()),
            events: 0,
            flows_started: 0,
            flows_finished: 0,
            endless: 0,
            live_finite: 0,
            drops: 0,
            lost_packets: 0,
            arrived_payload: 0,
            dropped_payload: 0,
            duration_counters: vec![],
            long_lived: vec![],
            deadlock: None,
            series_links: measure.series.iter().filter_map(link).collect(),
            incast: scenario.traffic.iter().map(is_incast).collect(),
            labels,
        }
    }

    /// Names of the traffic entries.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Whether flows of a traffic entry carry the incast label.
    pub fn is_incast(&self, label: u16) -> bool {
        self.incast[usize::from(label)]
    }

    /// A flow of `size` bytes arrives; `size` is 0 for an endless flow.
    pub fn on_flow_start(&mut self, size: u64) {
        self.flows_started += 1;
        if size == 0 {
            self.endless += 1;
        } else {
            self.live_finite += 1;
            self.backlog.on_flow_start(size);
        }
    }

    /// A flow has finished.
    pub fn on_flow_end(&mut self, record: &FlowRecord) {
        self.flows_finished += 1;
        self.live_finite -= 1;
        self.flows.push(record);
    }

    /// Samples the buffers of all switches and the series.
    pub fn sample(
        &mut self,
        now: Time,
        network: &Network,
        counters: &[WireCounters],
        (hosts, ends): (&[Host], &Flows),
    ) {
        if let Some(active) = &mut self.active_flows {
            active.sample();
        }
        for (index, switch) in network.switches.iter().enumerate() {
            self.buffers.time.push(now.as_ns_f64());
            self.buffers.node.push(network.topology.hosts + index as u32);
            self.buffers.bytes.push(switch.accounts().total);
        }
        for &link in &self.series_links {
            let wire = &network.wires[link as usize];
            let samples = &mut self.series;
            let port = (wire.from >= network.topology.hosts).then(|| {
                network.switches[(wire.from - network.topology.hosts) as usize].port(wire.from_port)
            });
            samples.time.push(now.as_ns_f64());
            samples.link.push(link);
            samples.queue_bytes.push(port.map_or(0, |port| port.bytes()));
            samples.active_queues.push(port.map_or(0, |port| port.active()));
            let active = self.active_flows.as_ref();
            samples.active_flows.push(active.map_or(0, |active| active.active(link)));
            samples.paused_queues.push(port.map_or(0, |port| port.paused_queues()));
            samples.tx_bytes.push(counters[link as usize].bytes);
            samples.data_bytes.push(counters[link as usize].payload);
            let line_rate = network.topology.links[link as usize].rate.as_bps();
            samples.allowed_bps.push(match port {
                None => allowed_rate(&hosts[wire.from as usize], ends, line_rate),
                Some(_) => 0,
            });
        }
    }

    /// The traffic ends: keeps the counters of links and the state of endless flows.
    pub fn on_duration(&mut self, slots: &FlowSlots, ends: &Flows, counters: &[WireCounters]) {
        self.duration_counters = counters.to_vec();
        for slot in slots.live() {
            let flow = &slots.flows[slot as usize];
            if flow.size == 0 {
                self.long_lived.push(LongLived {
                    flow: flow.number,
                    src: flow.source,
                    dst: flow.destination,
                    start_ns: flow.start.as_ns_f64(),
                    delivered_bytes: ends.receiver(slot).delivered(),
                });
            }
        }
    }
}
