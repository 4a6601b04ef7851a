//! The output of a run: tables and a summary.

use penstock_packet::{CreditQueue, Observer, PacketEvent};
use penstock_transport::{Host, HostCounters, Readiness};
use penstock_units::Time;
use serde::Serialize;

use crate::measure::backlog::Backlog;
use crate::measure::deadlock::Deadlock;
use crate::measure::histogram::LogHistogram;
use crate::measure::links;
use crate::measure::summary::LongLived;
use crate::measure::table::Table;
use crate::simulation::Simulation;

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
#[derive(Clone, Debug, Serialize)]
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

impl<O: Observer> Simulation<O> {
    /// Ends the run: records the flows that did not finish, and returns all tables and the summary.
    pub fn finish(mut self, cancelled: bool) -> (Results, O) {
        let now = self.now();
        let unfinished = self.unfinished(now);
        for slot in self.router.slots.live() {
            let record = self.record(slot, None);
            self.measured.flows.push(&record);
        }
        let retransmitted = self.measured.flows.retransmitted_packets();
        let summary = self.summary(cancelled, unfinished, retransmitted);
        let links = links::table(now, (&self.network, &self.hosts), &self.counters, &self.measured);
        let measured = self.measured;
        let mut tables = vec![
            measured.flows.into_table(),
            links,
            measured.buffers.into_table(),
            measured.series.into_table(),
        ];
        if let Some(active) = measured.active_flows {
            tables.push(active.packets_table());
            tables.push(active.into_table(now));
        }
        tables.extend(measured.queue_delays.map(|delays| delays.into_table()));
        tables.extend(measured.event_table.map(|events| events.into_table()));
        (Results { tables, summary }, self.observer)
    }

    fn summary(
        &self,
        cancelled: bool,
        unfinished: Vec<Unfinished>,
        retransmitted_packets: u64,
    ) -> Summary {
        let switches = &self.network.switches;
        let measured = &self.measured;
        let of_hosts = |count: fn(HostCounters) -> u64| -> u64 {
            self.hosts.iter().map(|host| count(host.counters())).sum()
        };
        let peaks = switches.iter().filter_map(|switch| switch.peak_fraction());
        let peak = peaks.reduce(f64::max);
        let delays = measured.labels().iter().cloned().zip(measured.delays.iter().map(Delay::of));
        Summary {
            digest: measured.flows.digest(),
            events: measured.events,
            packet_hops: self.counters.iter().map(|wire| wire.packets).sum(),
            sim_end_ps: self.now().as_ps(),
            flows_started: measured.flows_started,
            flows_finished: measured.flows_finished,
            drops: measured.drops,
            lost_packets: measured.lost_packets,
            retransmitted_packets,
            timeouts: of_hosts(|counters| counters.timeouts),
            delivered_bytes: measured.arrived_payload,
            labels: measured.labels().to_vec(),
            layers: self.network.topology.layers.clone(),
            event_names: PacketEvent::NAMES.to_vec(),
            node_names: self.network.node_names(),
            buffer_peak_bytes: switches.iter().map(|switch| switch.accounts().peak).collect(),
            headroom_peak_bytes: switches
                .iter()
                .map(|switch| switch.accounts().headroom_peak)
                .collect(),
            cancelled,
            ingress_peak_fraction_of_xoff: peak,
            pfc_pauses: measured.pauses.classes,
            queue_pauses: measured.pauses.queues + measured.pauses.flows,
            timed_pauses: measured.pauses.timed,
            credits_sent: of_hosts(|counters| counters.credits_sent),
            credits_dropped: self.dropped_credits(),
            credits_wasted: of_hosts(|counters| counters.credits_wasted),
            base_rtt_ps: self.network.path.base_rtt.as_ps(),
            bdp_bytes: self.network.path.bdp.get(),
            unfinished,
            backlog: measured.backlog.clone(),
            long_lived: measured.long_lived.clone(),
            deadlock: measured.deadlock.clone(),
            queue_delay_ns: delays.collect(),
        }
    }

    /// Credits that were dropped at hosts and switches (ExpressPass).
    fn dropped_credits(&self) -> u64 {
        let ports = self.network.switches.iter().flat_map(|switch| switch.ports());
        let at_ports = ports.filter_map(|port| port.credits()).map(CreditQueue::dropped);
        at_ports.chain(self.hosts.iter().map(Host::dropped_credits)).sum()
    }

    fn unfinished(&self, now: Time) -> Vec<Unfinished> {
        let slots = self.router.slots.live().into_iter();
        let finite = slots.filter(|&slot| self.router.slots.flows[slot as usize].size > 0);
        let describe = |slot: u32| {
            let flow = &self.router.slots.flows[slot as usize];
            Unfinished {
                flow: flow.number,
                src: flow.source,
                dst: flow.destination,
                size_bytes: flow.size,
                delivered_bytes: self.flows.receiver(slot).delivered(),
                waits_for: self.waits_for(now, slot),
            }
        };
        finite.take(NAMED_UNFINISHED).map(describe).collect()
    }

    fn waits_for(&self, now: Time, slot: u32) -> String {
        let sender = self.flows.sender(slot);
        let flow = &self.router.slots.flows[slot as usize];
        let host = &self.hosts[flow.source as usize];
        let nic = host.nic();
        let in_flight = sender.in_flight();
        match sender.readiness(now) {
            Readiness::Idle => format!("acknowledgement of its last {in_flight} B"),
            Readiness::Blocked if host.has_credits() => "a credit of its receiver".to_owned(),
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
            Readiness::Ready if nic.paused_classes() & (1 << flow.class) != 0 => {
                format!("a resume of class {}, which its switch has paused", flow.class)
            }
            Readiness::Ready => "its turn at the NIC".to_owned(),
        }
    }
}
