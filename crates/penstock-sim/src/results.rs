//! The output of a run: tables and a summary.

use std::collections::HashMap;
use std::sync::Mutex;

use penstock_fabric::Switch;
use penstock_packet::{CreditQueue, Observer, PacketEvent};
use penstock_transport::{Host, HostCounters, Readiness};
use penstock_units::Time;
use serde::Serialize;

use crate::measure::backlog::Backlog;
use crate::measure::deadlock::Deadlock;
use crate::measure::flows::FlowRecord;
use crate::measure::histogram::LogHistogram;
use crate::measure::jobs;
use crate::measure::links::{self, Counted};
use crate::measure::queue_delays::QueueDelays;
use crate::measure::summary::{LongLived, Measurements};
use crate::measure::table::Table;
use crate::partition::Partition;
use crate::rows::{self, Record};
use crate::setting::Setting;
use crate::simulation::conductor::Conductor;
use crate::simulation::{Simulation, whole};

pub mod applications;

use applications::Applications;

/// How many unfinished flows the summary names.
const NAMED_UNFINISHED: usize = 20;

/// Tables and summary of a run.
#[derive(Clone, Debug)]
pub struct Results {
    /// The tables that the scenario asked for; some may be empty.
    pub tables: Vec<Table>,
    /// Counts, names, the digest.
    pub summary: Summary,
}

/// The summary of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// Digest of the flow records.
    pub digest: String,
    /// Events processed.
    pub events: u64,
    /// Packets put on a wire, data and control packets.
    pub packet_hops: u64,
    /// Simulated time at the end (ps).
    pub sim_end_ps: u64,
    /// Flows that arrived.
    pub flows_started: u64,
    /// Flows that finished.
    pub flows_finished: u64,
    /// Packets dropped for want of room.
    pub drops: u64,
    /// Packets lost with links that failed, control packets included.
    pub lost_packets: u64,
    /// Packets that were sent again.
    pub retransmitted_packets: u64,
    /// Retransmission timers that expired.
    pub timeouts: u64,
    /// Payload bytes that arrived at hosts.
    pub delivered_bytes: u64,
    /// Of these, bytes that stayed inside servers; none where no links are inside servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inner_bytes: Option<u64>,
    /// Names of the traffic entries.
    pub labels: Vec<String>,
    /// Names of the groups of links.
    pub layers: Vec<String>,
    /// Names of the events in the tables `events` and `packets`.
    pub event_names: Vec<&'static str>,
    /// Names of the nodes.
    pub node_names: Vec<String>,
    /// Largest amount of data stored in each switch (bytes).
    pub buffer_peak_bytes: Vec<u64>,
    /// By switch: the most that an ingress port and class held in its headroom (bytes).
    pub headroom_peak_bytes: Vec<u64>,
    /// Whether somebody stopped the run before its end.
    pub cancelled: bool,
    /// The largest share of XOFF that an ingress port held (PFC).
    pub ingress_peak_fraction_of_xoff: Option<f64>,
    /// Class pauses sent by switches (PFC).
    pub pfc_pauses: u64,
    /// Pauses of queues and flows sent by switches (BFC).
    pub queue_pauses: u64,
    /// Pauses of a given time sent by switches (FAFC).
    pub timed_pauses: u64,
    /// Credits that receivers sent, the dropped ones included (ExpressPass).
    pub credits_sent: u64,
    /// Credits that found no room in the credit queue of a host or switch.
    pub credits_dropped: u64,
    /// Credits that reached a sender without anything to send.
    pub credits_wasted: u64,
    /// The longest base round-trip time (ps).
    pub base_rtt_ps: u64,
    /// Bandwidth-delay product of a NIC and the longest base round-trip time (bytes).
    pub bdp_bytes: u64,
    /// The first flows among those that did not finish.
    pub unfinished: Vec<Unfinished>,
    /// Traffic that was not delivered, at equal times of the traffic.
    pub backlog: Backlog,
    /// Endless flows, when the traffic ended.
    pub long_lived: Vec<LongLived>,
    /// The deadlock that ended the run, if any.
    pub deadlock: Option<Deadlock>,
    /// Queueing delay of data packets, by traffic entry.
    pub queue_delay_ns: std::collections::BTreeMap<String, Delay>,
    /// Traffic in which flows depend on others; none where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applications: Option<Applications>,
}

/// A flow that did not finish.
#[derive(Clone, Debug, Serialize)]
pub struct Unfinished {
    /// Number in order of arrival.
    pub flow: u64,
    /// Sending host.
    pub src: u32,
    /// Receiving host.
    pub dst: u32,
    /// Bytes to send.
    pub size_bytes: u64,
    /// Bytes that the receiver has.
    pub delivered_bytes: u64,
    /// What the flow waits for, in words.
    pub waits_for: String,
}

/// Queueing delay of packets: time beyond the time on an unloaded path (ns).
#[derive(Clone, Debug, Serialize)]
pub struct Delay {
    /// Packets.
    pub count: u64,
    /// Mean.
    pub mean: f64,
    /// Median, to 1.6 %.
    pub p50: f64,
    /// 99th percentile, to 1.6 %.
    pub p99: f64,
}

impl Delay {
    fn of(histogram: &LogHistogram) -> Self {
        Delay {
            count: histogram.count(),
            mean: histogram.mean() / 1e3,
            p50: histogram.percentile(0.5) as f64 / 1e3,
            p99: histogram.percentile(0.99) as f64 / 1e3,
        }
    }
}

impl<O: Record> Simulation<O> {
    /// Ends the run: records the flows that did not finish, and returns the summary and all tables, without
    /// the rows that were taken out before.
    pub fn finish(mut self, cancelled: bool) -> Results {
        let now = self.now();
        let Simulation { setting, partitions, mut conductor, .. } = self;
        let mut partitions: Vec<Partition<O>> =
            partitions.into_iter().map(Mutex::into_inner).map(whole).collect();
        conductor.collect_flows(&mut partitions.iter_mut().collect::<Vec<_>>());
        let Conductor { mut flows, deadlock, .. } = conductor;
        let unfinished = unfinished(now, &partitions);
        unfinished.iter().for_each(|one| flows.push(&one.record));
        let unfinished = unfinished.iter().filter(|one| one.record.size > 0).take(NAMED_UNFINISHED);
        let mut summary = Summary {
            digest: flows.digest(),
            retransmitted_packets: flows.retransmitted_packets(),
            unfinished: unfinished.map(|one| one.named(now)).collect(),
            cancelled,
            deadlock,
            ..summary(now, &setting, &partitions)
        };
        let mut every: Vec<&mut Partition<O>> = partitions.iter_mut().collect();
        let mut tables = rows::take(&setting, &mut flows, &mut every);
        let ended = partitions.into_iter().map(|partition| partition.into_counted(now));
        let (counted, measured): (Vec<Counted>, Vec<Measurements>) = ended.unzip();
        tables.push(links_table(now, &setting, &counted));
        drop(counted);
        summary.node_names = setting.topology.nodes.iter().map(|node| node.name.clone()).collect();
        tables.extend(add_counts(&mut summary, (&setting, now), &measured));
        tables.extend(tables_of(now, &setting, measured));
        Results { tables, summary }
    }
}

/// A flow that did not finish, at its source.
struct UnfinishedFlow<'a, O> {
    /// Its name; none inside a server.
    name: Option<u32>,
    record: FlowRecord,
    partition: &'a Partition<O>,
}

/// The flows that did not finish until `now`, by number.
fn unfinished<O: Observer>(now: Time, partitions: &[Partition<O>]) -> Vec<UnfinishedFlow<'_, O>> {
    let mut delivered = HashMap::new();
    for partition in partitions {
        for (name, flow) in partition.slots.listening() {
            delivered.insert(flow.number, partition.flows.receiver(name).delivered());
        }
    }
    let mut flows: Vec<_> = partitions
        .iter()
        .flat_map(|partition| {
            let sending = partition.slots.sending().into_iter();
            sending.map(move |(name, flow)| (partition, name, flow.number))
        })
        .map(|(partition, name, number)| {
            let delivered = delivered.get(&number).copied().unwrap_or(0);
            let record = partition.record(name, None, delivered);
            UnfinishedFlow { name: Some(name), record, partition }
        })
        .collect();
    flows.extend(partitions.iter().flat_map(|partition| {
        let inside = partition.inner.sending().map(|transfer| transfer.record(now, false));
        inside.map(move |record| UnfinishedFlow { name: None, record, partition })
    }));
    flows.sort_unstable_by_key(|one| one.record.flow);
    flows
}

impl<O: Observer> UnfinishedFlow<'_, O> {
    fn named(&self, now: Time) -> Unfinished {
        let FlowRecord { flow, source, destination, size, delivered, .. } = self.record;
        Unfinished {
            flow,
            src: source,
            dst: destination,
            size_bytes: size,
            delivered_bytes: delivered,
            waits_for: self.waits_for(now),
        }
    }

    fn waits_for(&self, now: Time) -> String {
        let Partition { flows, setting, hosts, .. } = self.partition;
        let Some(name) = self.name else {
            return "its last byte, on the link inside its server".to_owned();
        };
        let sender = flows.sender(name);
        let host = &hosts[setting.placement.of_node(self.record.source).1];
        let class = self.record.class;
        let nic = host.nic();
        let in_flight = sender.in_flight();
        match sender.readiness(now) {
            Readiness::Idle => format!("acknowledgement of its last {in_flight} B"),
            Readiness::Blocked if host.has_credits() => "a credit of its receiver".to_owned(),
            Readiness::Blocked if host.has_pulls() => "a PULL of its receiver".to_owned(),
            Readiness::Blocked => {
                format!("its window of {} B, {in_flight} B being in flight", sender.window())
            }
            Readiness::At(time) => format!("its pace: the next packet leaves at {time}"),
            Readiness::Ready if nic.is_queue_paused(sender.queue()) => {
                format!("a resume of NIC queue {}, which its switch has paused", sender.queue())
            }
            Readiness::Ready if host.balance().is_some_and(|c| c.is_dry(sender.queue())) => {
                format!("credit for NIC queue {}, whose switch has no memory", sender.queue())
            }
            Readiness::Ready if nic.paused_classes() & (1 << class) != 0 => {
                format!("a resume of class {class}, which its switch has paused")
            }
            Readiness::Ready => "its turn at the NIC".to_owned(),
        }
    }
}

/// What hosts and switches have counted. What is measured beside them is added by [`add_counts`].
fn summary<O: Observer>(now: Time, setting: &Setting, partitions: &[Partition<O>]) -> Summary {
    let of_hosts = |count: fn(HostCounters) -> u64| -> u64 {
        partitions.iter().flat_map(|one| &one.hosts).map(|host| count(host.counters())).sum()
    };
    let nodes = setting.topology.hosts..setting.topology.hosts + setting.topology.switches;
    let switches: Vec<&Switch> = nodes
        .map(|node| {
            let (partition, place) = setting.placement.of_node(node);
            let partition = &partitions[partition];
            &partition.switches[place - partition.hosts.len()]
        })
        .collect();
    let peaks = switches.iter().filter_map(|switch| switch.peak_fraction());
    let carried = |one: &Partition<O>| -> u64 {
        (0..one.wires.len() as u32).map(|link| one.carried(link).packets).sum()
    };
    Summary {
        packet_hops: partitions.iter().map(carried).sum(),
        sim_end_ps: now.as_ps(),
        timeouts: of_hosts(|counters| counters.timeouts),
        labels: setting.scenario.traffic.iter().map(|entry| entry.label().to_owned()).collect(),
        layers: setting.topology.layers.clone(),
        event_names: PacketEvent::NAMES.to_vec(),
        buffer_peak_bytes: switches.iter().map(|switch| switch.accounts().peak()).collect(),
        headroom_peak_bytes: switches
            .iter()
            .map(|switch| switch.accounts().headroom_peak)
            .collect(),
        ingress_peak_fraction_of_xoff: peaks.reduce(f64::max),
        credits_sent: of_hosts(|counters| counters.credits_sent),
        credits_dropped: partitions.iter().map(dropped_credits).sum(),
        credits_wasted: of_hosts(|counters| counters.credits_wasted),
        inner_bytes: setting
            .topology
            .inner
            .map(|_| partitions.iter().map(|one| one.inner.received).sum()),
        base_rtt_ps: setting.path.base_rtt.as_ps(),
        bdp_bytes: setting.path.bdp.get(),
        applications: applications::applications(now, setting, partitions),
        ..Summary::default()
    }
}

/// Credits that were dropped at hosts and switches (ExpressPass).
fn dropped_credits<O: Observer>(partition: &Partition<O>) -> u64 {
    let ports = partition.switches.iter().flat_map(|switch| switch.ports().iter());
    let at_ports = ports.filter_map(|port| port.credits()).map(CreditQueue::dropped);
    at_ports.chain(partition.hosts.iter().map(Host::dropped_credits)).sum()
}

/// Adds what the partitions have measured until `now`. Answers the tables of jobs and of their steps, where
/// there are any.
fn add_counts(
    summary: &mut Summary,
    (setting, now): (&Setting, Time),
    measured: &[Measurements],
) -> Vec<Table> {
    let mut all = Measurements::new(setting, 0);
    measured.iter().for_each(|measured| all.add_counts(measured));
    let mut backlog = measured[0].backlog.series.clone();
    measured[1..].iter().for_each(|measured| backlog.add(&measured.backlog.series));
    let mut long_lived: Vec<LongLived> =
        measured.iter().flat_map(|one| one.long_lived.iter().cloned()).collect();
    long_lived.sort_unstable_by_key(|flow| flow.flow);
    let delays = summary.labels.iter().cloned().zip(all.delays.iter().map(Delay::of));
    summary.queue_delay_ns = delays.collect();
    summary.events = all.steps - all.clock_steps;
    summary.flows_started = all.flows_started;
    summary.flows_finished = all.flows_finished;
    summary.drops = all.drops;
    summary.lost_packets = all.lost_packets;
    summary.delivered_bytes = all.arrived_payload;
    summary.pfc_pauses = all.pauses.classes;
    summary.queue_pauses = all.pauses.queues + all.pauses.flows;
    summary.timed_pauses = all.pauses.timed;
    summary.backlog = backlog;
    summary.long_lived = long_lived;
    let Some(applications) = summary.applications.as_mut() else { return vec![] };
    let iterations = all.jobs.iterations(&setting.plan);
    applications::add_measured(applications, (setting, now), &all, &iterations);
    let has_jobs = setting.plan.jobs().next().is_some();
    let jobs = has_jobs.then(|| jobs::table(&iterations));
    let steps = setting.plan.has_steps().then(|| all.jobs.steps(&setting.plan));
    jobs.into_iter().chain(steps).collect()
}

fn links_table(now: Time, setting: &Setting, counted: &[Counted]) -> Table {
    links::table(&setting.topology, |number| {
        let from = setting.topology.links[number as usize].from;
        let (partition, node) = setting.placement.of_node(from);
        let end = (node, setting.from_ports[number as usize]);
        counted[partition].at(now, setting.placement.of_link(number)[0], end)
    })
}

/// The tables of counts that were measured in partitions, each merged into one.
fn tables_of(now: Time, setting: &Setting, measured: Vec<Measurements>) -> Vec<Table> {
    let (mut active, mut packets) = (vec![], vec![]);
    let mut delays: Option<Box<QueueDelays>> = None;
    for (measured, links) in measured.into_iter().zip(&setting.placement.links) {
        if let Some(flows) = measured.active_flows {
            packets.push(flows.packets_table(links));
            active.push(flows.into_table(now, links));
        }
        match (&mut delays, measured.queue_delays) {
            (Some(all), Some(some)) => all.add(&some),
            (all, some) => *all = some.or(all.take()),
        }
    }
    let tables = [
        Table::merged(packets, ["link", "packets"], |key| key),
        Table::merged(active, ["link", "flows"], |key| key),
        delays.map(|delays| delays.into_table()),
    ];
    tables.into_iter().flatten().collect()
}
