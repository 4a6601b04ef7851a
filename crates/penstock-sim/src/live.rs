//! A network in parts that somebody else drives: all switches are one part, and each host is one.
//!
//! What it is: the partitions of a simulation, without the conductor that moves them in step. A driver
//! has a clock for each part, moves the part to the time that the clock shows, takes the packets that
//! leave the part, and brings them to the part at the other end of their link. What it is not: this
//! module has no clock, and does not know how packets travel between parts (`penstock-emulate` sends
//! them as frames).
//! Invariant: with one clock for all parts, and packets that arrive exactly when they are due, the tables
//! are those of a simulation.
//!
//! A host may be a stranger: its packets come from elsewhere, its own part stays idle, and a NIC stands
//! between the stranger and its switch, because strangers do not obey pauses of queues. A NIC is a switch
//! with two ports, in the part of the switches.

use std::sync::Arc;

use penstock_fabric::{BackpressureConfig, SwitchConfig};
use penstock_packet::{Observer, Packet};
use penstock_units::{Fidelity, HopTelemetry, Problems, Time};
use serde::Serialize;

use crate::error::{ScenarioError, StandstillError};
use crate::measure::flows::FlowRecord;
use crate::measure::summary::LongLived;
use crate::network::Network;
use crate::partition::{Partition, Start};
use crate::placement::Placement;
use crate::results::Results;
use crate::rows::Record;
use crate::scenario::Scenario;
use crate::simulation::{Simulation, whole};
use crate::topology::{self, Topology};
use crate::workload::FlowArrival;

/// A flow of the scenario.
#[derive(Clone, Copy, Debug)]
pub struct LiveFlow {
    /// Number in order of arrival.
    pub number: u64,
    /// When it starts, between which hosts, and how large it is.
    pub arrival: FlowArrival,
    /// The hash by which switches know the flow, where its hosts are ours.
    pub hash: u32,
    /// Completion time of the flow alone on its path.
    pub ideal: Time,
}

/// What leaves a part.
#[derive(Clone, Copy, Debug)]
pub enum Leaving<'a> {
    /// A packet.
    Packet {
        /// The link by which it leaves.
        link: u32,
        /// When its last bit is due at the other end.
        arrival: Time,
        /// The packet.
        packet: &'a Packet,
        /// Its telemetry, the oldest hop first.
        telemetry: &'a [HopTelemetry],
    },
    /// The news for a destination that the flow with this hash has completed.
    Completed {
        /// The destination.
        host: u32,
        /// Hash of the flow.
        hash: u32,
    },
}

/// All switches, or one host.
pub struct Part<O> {
    partition: Partition<O>,
}

impl<O: Observer> Part<O> {
    /// Lets everything happen that is due until `now`, that instant included.
    ///
    /// # Errors
    /// When time stands still.
    pub fn advance_to(&mut self, now: Time) -> Result<(), StandstillError> {
        while self.partition.now() < now {
            self.partition.open_window(now);
            self.partition.advance(u64::MAX)?;
        }
        Ok(())
    }

    /// Nothing is due here before this time; none when nothing is to come unless a packet arrives.
    pub fn due(&self) -> Option<Time> {
        let start = self.partition.starts.front().map(|start| start.arrival.time);
        self.partition.earliest().into_iter().chain(start).min()
    }

    /// Packet `packet` arrives by `link` at `arrival`, which is not before the time to which the part has
    /// advanced, nor before another arrival by this link. Answers the packet's place among the packets of
    /// the part: no other packet has it while this one is here.
    pub fn receive(
        &mut self,
        link: u32,
        arrival: Time,
        packet: &Packet,
        telemetry: &[HopTelemetry],
    ) -> usize {
        let place = self.partition.setting.placement.of_link(link)[1];
        self.partition.receive_packet(place, arrival, packet, telemetry).index()
    }

    /// As [`Part::receive`], of a packet whose `offset` the hosts do not use: it gets the packet's place, so
    /// that it still has the place when it leaves.
    pub fn receive_stranger(&mut self, link: u32, arrival: Time, packet: &Packet) -> usize {
        let place = self.partition.setting.placement.of_link(link)[1];
        let id = self.partition.receive_packet(place, arrival, packet, &[]);
        self.partition.pool[id].offset = id.index() as u64;
        id.index()
    }

    /// The destination of the flow with `hash`, which is here, hears that the flow has completed.
    pub fn close(&mut self, hash: u32) {
        let name = self.partition.slots.name_of(hash);
        if name > 0 {
            self.partition.close_flow(name);
        }
    }

    /// Hands over what has left the part since the last call, by link in the order in which it left.
    pub fn take_leaving(&mut self, mut each: impl FnMut(Leaving<'_>)) {
        let setting = &self.partition.setting;
        for (to, mail) in self.partition.outbox.iter_mut().enumerate() {
            if mail.is_empty() {
                continue;
            }
            mail.take(|crossing, packet, telemetry| {
                each(Leaving::Packet {
                    link: setting.placement.links[to][crossing.link as usize],
                    arrival: crossing.arrival,
                    packet,
                    telemetry,
                });
            });
            // A part with a host is behind the first one.
            if let Some(host) = to.checked_sub(1) {
                mail.completed
                    .drain(..)
                    .for_each(|hash| each(Leaving::Completed { host: host as u32, hash }));
            }
        }
    }

    /// The time of the last event here.
    pub fn now(&self) -> Time {
        self.partition.now()
    }

    /// How many flows have finished whose source is here.
    pub fn flows_finished(&self) -> u64 {
        self.partition.measured.flows_finished
    }

    /// Whether a switch here stores data.
    pub fn stores_data(&self) -> bool {
        self.partition.switches.iter().any(|switch| switch.accounts().total > 0)
    }

    /// The state of the part now, in a few numbers.
    pub fn glance(&self) -> PartGlance {
        let measured = &self.partition.measured;
        PartGlance {
            stored: self.partition.switches.iter().map(|switch| switch.accounts().total).collect(),
            drops: measured.drops,
            pfc_pauses: measured.pauses.classes,
            queue_pauses: measured.pauses.queues + measured.pauses.flows,
            timed_pauses: measured.pauses.timed,
        }
    }
}

/// The state of a part, in a few numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PartGlance {
    /// By switch: the data that it stores (bytes). NICs of strangers come last.
    pub stored: Vec<u64>,
    /// Packets dropped for want of room so far.
    pub drops: u64,
    /// Pauses of classes so far.
    pub pfc_pauses: u64,
    /// Pauses of queues and flows so far.
    pub queue_pauses: u64,
    /// Pauses for a given time so far.
    pub timed_pauses: u64,
}

/// What of a run is in no part.
pub struct LiveRun<O> {
    simulation: Simulation<O>,
    flows: Vec<LiveFlow>,
    strangers: Vec<u32>,
}

/// Prepares a run of `scenario`, in which `strangers` (ascending) are the hosts that are not ours; their NICs
/// make the choices of `nic`. The first part has all switches, part h + 1 host h. Each part has an observer
/// of the network, NICs included.
///
/// # Errors
/// When the scenario is refused.
pub fn build<O: Observer>(
    scenario: &Scenario,
    strangers: &[u32],
    nic: &SwitchConfig,
    mut observer: impl FnMut(&Topology) -> O,
) -> Result<(LiveRun<O>, Vec<Part<O>>), ScenarioError> {
    check(scenario, !strangers.is_empty())?;
    check_topology(&topology::build(&scenario.topology)?)?;
    let (network, workload) = Network::with_nics(scenario, strangers, nic)?;
    let topology = Arc::clone(&network.topology);
    let apart = |topology: &Topology, _| Placement::apart(topology);
    let mut simulation =
        Simulation::placed(scenario, workload, network, apart, || observer(&topology))?;
    let partitions = std::mem::take(&mut simulation.partitions);
    let mut partitions: Vec<Partition<O>> =
        partitions.into_iter().map(|one| whole(one.into_inner())).collect();
    let starts = simulation.conductor.take_flows();
    check_ends(&starts, strangers)?;
    let flows = starts.iter().map(|start| {
        let (hash, ideal) = partitions[0].alone(start);
        LiveFlow { number: start.number, arrival: start.arrival, hash, ideal }
    });
    let flows = flows.collect();
    for start in starts {
        let Start { arrival: FlowArrival { source, destination, .. }, .. } = start;
        if !strangers.contains(&source) && !strangers.contains(&destination) {
            partitions[source as usize + 1].starts.push_back(start);
            partitions[destination as usize + 1].starts.push_back(start);
        }
    }
    let parts = partitions.into_iter().map(|partition| Part { partition }).collect();
    Ok((LiveRun { simulation, flows, strangers: strangers.to_vec() }, parts))
}

/// Refuses links inside servers, because in real time every host is reached by the network, and more hosts
/// than parts can be numbered.
fn check_topology(topology: &Topology) -> Result<(), ScenarioError> {
    let mut problems = Problems::default();
    let remedy = "in real time a network has fewer than 65,535 hosts; take a smaller one";
    let holds = topology.hosts < u32::from(u16::MAX);
    problems.unless(holds, "topology", format!("{} hosts", topology.hosts), remedy);
    if let Some(links) = topology.inner {
        let remedy = "in real time no links are inside servers yet; write 0, so that hosts of a server reach \
                      each other by the network";
        problems.unless(false, "topology.inner_rate", links.rate, remedy);
    }
    ScenarioError::unless_none(problems)
}

/// Refuses a flow between a stranger and a host of ours: they speak no common transport.
fn check_ends(starts: &[Start], strangers: &[u32]) -> Result<(), ScenarioError> {
    let mut problems = Problems::default();
    let is_mixed = |FlowArrival { source, destination, .. }: &FlowArrival| {
        strangers.contains(source) != strangers.contains(destination)
    };
    if let Some(start) = starts.iter().find(|start| is_mixed(&start.arrival)) {
        let FlowArrival { source, destination, label, .. } = start.arrival;
        let value = format!("a flow from host {source} to host {destination}");
        let remedy =
            "one of these has a kernel and the other is ours; let flows go between hosts of a kind";
        problems.unless(false, &format!("traffic[{label}]"), value, remedy);
    }
    ScenarioError::unless_none(problems)
}

/// Refuses what no driver with clocks can do, and what strangers cannot do.
fn check(scenario: &Scenario, has_strangers: bool) -> Result<(), ScenarioError> {
    let mut problems = Problems::default();
    let remedy = "in real time nobody shares random numbers with another simulator; write exact";
    let is_exact = scenario.fidelity == Fidelity::Exact;
    problems.unless(is_exact, "fidelity", "that of another simulator", remedy);
    for (index, entry) in scenario.traffic.iter().enumerate() {
        let remedy =
            "in real time flows cannot wait for others yet; list flows, or simulate the scenario";
        let (holds, field) = (!entry.is_dependent(), format!("traffic[{index}]"));
        problems.unless(holds, &field, format!("\"{}\"", entry.label()), remedy);
    }
    let corrupted = &scenario.faults.corruption;
    let remedy =
        "in real time frames arrive as they were sent; leave it out, or simulate the scenario";
    let listed = format!("a list of {}", corrupted.len());
    problems.unless(corrupted.is_empty(), "faults.corruption", listed, remedy);
    if has_strangers {
        let outages = &scenario.faults.outages;
        let remedy = "routes to kernels' hosts cannot change; leave the outages out";
        let listed = format!("a list of {}", outages.len());
        problems.unless(outages.is_empty(), "faults.outages", listed, remedy);
        for (index, entry) in scenario.traffic.iter().enumerate() {
            let remedy = "hosts with kernels open a connection for each flow; write 0, or take hosts \
                          of ours";
            let (holds, field) =
                (entry.connections() == 0, format!("traffic[{index}].connections"));
            problems.unless(holds, &field, entry.connections(), remedy);
            let remedy = "hosts with kernels send a flow to its last byte, or to the end of the traffic; \
                          leave it out, or take hosts of ours";
            let field = format!("traffic[{index}].lasts");
            problems.unless(!entry.stops(), &field, "the time of a flow", remedy);
        }
        let backpressure = &scenario.scheme.switch.backpressure;
        let remedy = "the NIC of a kernel's host obeys pauses of classes, queues and links only; take \
                      another scheme, or hosts of ours";
        let is_obeyed = !matches!(
            backpressure,
            BackpressureConfig::Credits(_) | BackpressureConfig::FlowPauses(_)
        );
        problems.unless(is_obeyed, "scheme.switch.backpressure", backpressure.kind(), remedy);
    }
    ScenarioError::unless_none(problems)
}

impl<O: Record> LiveRun<O> {
    /// The flows of the scenario, in the order in which they start.
    pub fn flows(&self) -> &[LiveFlow] {
        &self.flows
    }

    /// The network, with the NICs of the strangers.
    pub fn topology(&self) -> &Topology {
        &self.simulation.setting.topology
    }

    /// In a simulation, destinations hear of completed flows at the end of a window of this length.
    pub fn window(&self) -> Time {
        self.simulation.setting.window
    }

    /// The hosts that are not ours, ascending.
    pub fn strangers(&self) -> &[u32] {
        &self.strangers
    }

    /// Ends the run at `now` and returns the summary and all tables. `parts` are all parts, and `flows` are
    /// those of strangers, with what strangers have counted.
    pub fn finish(mut self, parts: Vec<Part<O>>, flows: &[FlowRecord], now: Time) -> Results {
        let mut partitions: Vec<Partition<O>> =
            parts.into_iter().map(|part| part.partition).collect();
        let (finished, unfinished): (Vec<_>, Vec<_>) =
            flows.iter().partition(|flow| flow.completion.is_some());
        let is_over = now >= self.simulation.setting.scenario.duration;
        // A driver that ends with the traffic may not have come to the clock of its end.
        for partition in &mut partitions {
            if is_over && partition.measured.duration_carried.is_none() {
                partition.on_duration();
            }
        }
        let measured = &mut partitions[0].measured;
        let endless = flows.iter().filter(|flow| is_over && flow.size == 0);
        measured.long_lived.extend(endless.map(LongLived::from));
        measured.flows_started += flows.len() as u64;
        measured.flows_finished += finished.len() as u64;
        measured.arrived_payload += flows.iter().map(|flow| flow.delivered).sum::<u64>();
        measured.finished.extend(finished);
        let conductor = &mut self.simulation.conductor;
        conductor.collect_flows(&mut partitions.iter_mut().collect::<Vec<_>>());
        unfinished.into_iter().for_each(|flow| conductor.flows.push(flow));
        conductor.now = now;
        self.simulation.partitions = partitions.into_iter().map(std::sync::Mutex::new).collect();
        self.simulation.finish(false)
    }
}
