//! Everything that a partition measures while it runs.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::Carried;
use penstock_transport::Flows;
use serde::Serialize;

use super::active_flows::ActiveFlows;
use super::backlog::GrowingBacklog;
use super::dependents::DependentTable;
use super::events::EventTable;
use super::flows::FlowRecord;
use super::histogram::LogHistogram;
use super::jobs::JobTimes;
use super::pauses::SentPauses;
use super::queue_delays::QueueDelays;
use super::requests::RequestTable;
use super::samples::{BufferSamples, LinkSamples};
use crate::flow::FlowSlots;
use crate::setting::Setting;
use crate::workload::FlowArrival;

/// Everything that a partition measures while it runs.
#[derive(BorshSerialize, BorshDeserialize)]
pub struct Measurements {
    /// Flows that have finished since the window began.
    pub finished: Vec<FlowRecord>,
    /// Buffers of the switches.
    pub buffers: BufferSamples,
    /// Series of the links that the scenario names.
    pub series: LinkSamples,
    /// Payload that is not delivered yet.
    pub backlog: GrowingBacklog,
    /// Active flows, when asked for.
    pub active_flows: Option<ActiveFlows>,
    /// Time that data packets wait at switches, when asked for.
    pub queue_delays: Option<Box<QueueDelays>>,
    /// Pauses and drops, when asked for.
    pub event_table: Option<EventTable>,
    /// Dependent flows that have started.
    pub dependents: DependentTable,
    /// Requests that were answered.
    pub requests: RequestTable,
    /// Iterations of collectives.
    pub jobs: JobTimes,
    /// Queueing delay of every data packet that arrived, by traffic entry (ps).
    pub delays: Vec<LogHistogram>,
    /// Pauses that switches sent.
    pub pauses: SentPauses,
    /// Everything that the clock has called for.
    pub steps: u64,
    /// Of these, what is not an event of a node or a link: it depends on the number of partitions.
    pub clock_steps: u64,
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
    /// When the traffic has ended: what links had carried by then, each with the number of its link here,
    /// ascending. Links that had carried nothing are left out.
    pub duration_carried: Option<Vec<(u32, Carried)>>,
    /// Endless flows to hosts of the partition, when the traffic ended.
    pub long_lived: Vec<LongLived>,
}

/// An endless flow when the traffic ended.
#[derive(Clone, Debug, Serialize, BorshSerialize, BorshDeserialize)]
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

impl From<&FlowRecord> for LongLived {
    fn from(flow: &FlowRecord) -> Self {
        LongLived {
            flow: flow.flow,
            src: flow.source,
            dst: flow.destination,
            start_ns: flow.start.as_ns_f64(),
            delivered_bytes: flow.delivered,
        }
    }
}

impl Measurements {
    /// Nothing is measured yet in partition `number`.
    pub(crate) fn new(setting: &Setting, number: usize) -> Self {
        let measure = &setting.scenario.measure;
        let links = setting.placement.links[number].len();
        Measurements {
            finished: vec![],
            buffers: BufferSamples::default(),
            series: LinkSamples::default(),
            backlog: GrowingBacklog::default(),
            active_flows: measure.active_flows.then(|| ActiveFlows::new(links)),
            queue_delays: measure.queue_delays.then(|| Box::new(QueueDelays::new(setting, number))),
            event_table: measure.events.then(EventTable::default),
            dependents: DependentTable::default(),
            requests: RequestTable::new(setting.scenario.traffic.len()),
            jobs: JobTimes::default(),
            delays: vec![LogHistogram::default(); setting.scenario.traffic.len()],
            pauses: SentPauses::new(links),
            steps: 0,
            clock_steps: 0,
            flows_started: 0,
            flows_finished: 0,
            endless: 0,
            live_finite: 0,
            drops: 0,
            lost_packets: 0,
            arrived_payload: 0,
            dropped_payload: 0,
            duration_carried: None,
            long_lived: vec![],
        }
    }

    /// A flow starts at a host of the partition.
    pub fn on_flow_start(&mut self, arrival: &FlowArrival) {
        self.flows_started += 1;
        if arrival.is_endless() {
            self.endless += 1;
            return;
        }
        self.live_finite += 1;
        if arrival.size > 0 {
            self.backlog.on_flow_start(arrival.size);
        }
    }

    /// A flow has finished.
    pub fn on_flow_end(&mut self, record: FlowRecord) {
        self.flows_finished += 1;
        self.live_finite -= 1;
        self.finished.push(record);
    }

    /// The traffic ends: keeps what links have `carried` and the state of endless flows.
    pub fn on_duration(&mut self, slots: &FlowSlots, ends: &Flows, carried: Vec<(u32, Carried)>) {
        self.duration_carried = Some(carried);
        for (name, flow) in slots.listening().into_iter().filter(|(_, flow)| flow.is_endless) {
            self.long_lived.push(LongLived {
                flow: flow.number,
                src: flow.source,
                dst: flow.destination,
                start_ns: flow.start.as_ns_f64(),
                delivered_bytes: ends.receiver(name).delivered(),
            });
        }
    }

    /// Adds the counts of another partition. The backlog and rows of tables are merged elsewhere.
    pub(crate) fn add_counts(&mut self, other: &Measurements) {
        self.pauses.add(&other.pauses);
        for (own, other) in self.delays.iter_mut().zip(&other.delays) {
            own.add(other);
        }
        self.jobs.add(&other.jobs);
        for (own, other) in self.requests.latencies.iter_mut().zip(&other.requests.latencies) {
            own.add(other);
        }
        self.steps += other.steps;
        self.clock_steps += other.clock_steps;
        self.flows_started += other.flows_started;
        self.flows_finished += other.flows_finished;
        self.endless += other.endless;
        self.live_finite += other.live_finite;
        self.drops += other.drops;
        self.lost_packets += other.lost_packets;
        self.arrived_payload += other.arrived_payload;
        self.dropped_payload += other.dropped_payload;
    }
}
