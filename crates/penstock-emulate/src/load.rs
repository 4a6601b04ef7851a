//! The flows between hosts with kernels, over real sockets.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;

use penstock_load::{
    FlowEnd, HostReport, HostSetup, LoadError, LoadFlow, LoadHost, LoadRecord, LoadRun, Origin,
    Protocol, RunOptions, descriptors_at_most, join, raise_descriptor_limit,
};
use penstock_sim::Scenario;
use penstock_sim::live::LiveFlow;
use penstock_sim::measure::flows::FlowRecord;
use penstock_units::{BitRate, Bytes, Time};
use penstock_wire::ipv4::Ipv4;
use penstock_wire::mac_control::priority_of;
use penstock_wire::udp::Udp;
use penstock_wire::{Ethernet, address};

use crate::clock::Clock;
use crate::config::{EmulationConfig, SenderConfig};
use crate::controls::Controls;
use crate::error::EmulationError;
use crate::hosts::packet_bytes;
use crate::namespace::HostNamespace;

/// The port at which servers listen (our choice; RFC 6335 leaves ports from 49152 on to whoever wants them).
const PORT: u16 = 51_000;

/// Headers of Ethernet, IPv4 and UDP (bytes).
pub(crate) const UDP_FRAME_HEADERS: usize = Ethernet::LENGTH + Ipv4::LENGTH + Udp::LENGTH;

/// What they and our own header add to the payload of a datagram (bytes).
const DATAGRAM_HEADERS: u64 = (UDP_FRAME_HEADERS + penstock_load::header::HEADER_BYTES) as u64;

/// The flows between hosts with kernels, and the threads that send and receive them.
pub(crate) struct Load {
    flows: HashMap<u64, LiveFlow>,
    run: Arc<LoadRun>,
    hosts: Vec<JoinHandle<Result<HostReport, LoadError>>>,
}

impl Load {
    /// Starts a thread on each host with a kernel. They wait for the origin of `clock`.
    pub fn prepare(
        scenario: &Scenario,
        (config, controls): (&EmulationConfig, &Controls),
        places: &[HostNamespace],
        flows: &[LiveFlow],
        clock: Clock,
    ) -> Result<Self, EmulationError> {
        let is_kernel = |host: u32| config.kernels.binary_search(&host).is_ok();
        let of_kernels = flows.iter().filter(|flow| is_kernel(flow.arrival.source)).copied();
        let flows: HashMap<u64, LiveFlow> = of_kernels.map(|flow| (flow.number, flow)).collect();
        let mut setups: HashMap<u32, HostSetup> = HashMap::new();
        for &host in &config.kernels {
            let listen = Some(address_of(host));
            setups.insert(host, HostSetup { listen, ..HostSetup::default() });
        }
        let mut numbers: Vec<u64> = flows.keys().copied().collect();
        numbers.sort_unstable();
        for number in numbers {
            let flow = &flows[&number];
            let sent = load_flow(scenario, (config, controls), clock, flow);
            setups.entry(flow.arrival.source).or_default().flows.push(sent);
            setups.entry(flow.arrival.destination).or_default().expected.push(number);
        }
        let all: Vec<LoadFlow> =
            setups.values().flat_map(|setup| setup.flows.iter().cloned()).collect();
        // The bound counts all flows as open at once. Where the system allows less, the limit is as high as
        // it gets, and a flow without a descriptor counts as failed.
        match raise_descriptor_limit(descriptors_at_most(setups.len(), &all)) {
            Ok(()) | Err(LoadError::TooFewDescriptors { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        // The first sample has what endless flows delivered while the traffic lasted. Who drives the network
        // knows when nothing is under way any more; no server has to guess.
        let options = RunOptions {
            end: clock.in_real(scenario.duration + scenario.drain),
            drain: Time::NEVER,
            sample_interval: flows
                .values()
                .any(|flow| flow.arrival.is_endless())
                .then(|| clock.in_real(scenario.duration)),
        };
        let run = LoadRun::new(setups.len(), options)?;
        let origin = Origin::from_monotonic_ns(clock.origin());
        let mut hosts = Vec::new();
        for (host, setup) in setups {
            let shared = Arc::clone(&run);
            let place = &places[host as usize];
            let made = place.run(move || LoadHost::new(shared, setup));
            let made = made.inspect_err(|_| run.stop())?;
            hosts.push(place.thread(&format!("load of host {host}"), move || made.run(origin))?);
        }
        Ok(Load { flows, run, hosts })
    }

    /// Whether nobody has anything left to send. Datagrams may still be under way.
    pub fn has_sent_all(&self) -> bool {
        self.run.has_sent_all()
    }

    /// Whether all flows have ended, and everything that was sent has come.
    pub fn is_over(&self) -> bool {
        self.hosts.iter().all(JoinHandle::is_finished)
    }

    /// Stops what still runs. Answers what became of each flow, at its program, and of each that has started
    /// for the table of flows.
    pub fn finish(
        self,
        clock: Clock,
    ) -> Result<(Vec<LoadRecord>, Vec<FlowRecord>), EmulationError> {
        self.run.stop();
        let mut reports = Vec::new();
        for host in self.hosts {
            let report = host.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            reports.push(report?);
        }
        let connections = join(reports);
        let of = |record: &LoadRecord| flow_record(&self.flows[&record.number], record, clock);
        let flows = connections.iter().filter(|record| has_started(record)).map(of).collect();
        Ok((connections, flows))
    }
}

/// Where the server of `host` listens.
fn address_of(host: u32) -> SocketAddr {
    let address = address::ipv4_of(host).unwrap_or(std::net::Ipv4Addr::UNSPECIFIED);
    SocketAddr::new(IpAddr::V4(address), PORT)
}

/// `flow` as the load generator sends it, in the machine's time.
fn load_flow(
    scenario: &Scenario,
    (config, controls): (&EmulationConfig, &Controls),
    clock: Clock,
    flow: &LiveFlow,
) -> LoadFlow {
    let arrival = &flow.arrival;
    let real = |time: Time| if time == Time::NEVER { time } else { clock.in_real(time) };
    // An endless flow lasts as long as the traffic.
    let stop = if arrival.is_endless() { scenario.duration } else { Time::NEVER };
    let packet = u64::from(packet_bytes(scenario));
    let protocol = match &config.senders[usize::from(arrival.label)] {
        SenderConfig::Tcp { congestion } => {
            let congestion = congestion.clone();
            let is_default = controls.only(arrival.source).is_some();
            Protocol::Tcp { congestion: congestion.filter(|_| !is_default) }
        }
        SenderConfig::Udp { rate } => Protocol::Udp {
            rate: BitRate::from_bps(rate.as_bps() / u64::from(config.scale_time)),
            payload: Bytes::new(packet.saturating_sub(DATAGRAM_HEADERS)),
        },
    };
    // Without classes nothing is said of them, as programs do.
    let has_classes = scenario.scheme.switch.assignment.classes() > 1;
    LoadFlow {
        number: flow.number,
        destination: address_of(arrival.destination),
        start: real(arrival.time),
        stop: real(stop),
        size: Some(arrival.size).filter(|&size| size > 0).map(Bytes::new),
        class: if has_classes { priority_of(arrival.class) } else { 0 },
        protocol,
    }
}

/// Whether the client came to a flow before the run ended, also where the kernel had no descriptor for it.
fn has_started(record: &LoadRecord) -> bool {
    record.started.is_some() || record.end != FlowEnd::Unfinished
}

/// The row of a flow.
fn flow_record(flow: &LiveFlow, record: &LoadRecord, clock: Clock) -> FlowRecord {
    let arrival = &flow.arrival;
    let in_traffic = record.samples.as_ref().and_then(|samples| samples.delivered().first());
    FlowRecord {
        flow: flow.number,
        source: arrival.source,
        destination: arrival.destination,
        size: arrival.size,
        start: arrival.time,
        completion: record.completion_time.map(|time| clock.in_run(time)),
        ideal: flow.ideal,
        label: arrival.label,
        class: arrival.class,
        delivered: in_traffic.unwrap_or(&record.delivered).get(),
        retransmitted_packets: record.tcp.map_or(0, |tcp| tcp.retransmissions),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(started: Option<Time>, end: FlowEnd) -> LoadRecord {
        LoadRecord {
            number: 7,
            due: Time::from_ms(1),
            started,
            setup_time: None,
            completion_time: None,
            first: None,
            last: None,
            sent: Bytes::ZERO,
            delivered: Bytes::ZERO,
            end,
            tcp: None,
            datagrams: None,
            samples: None,
        }
    }

    #[test]
    fn a_flow_of_which_the_end_came_before_its_start_has_no_row() {
        assert!(!has_started(&record(None, FlowEnd::Unfinished)));
        assert!(has_started(&record(Some(Time::from_ms(2)), FlowEnd::Unfinished)));
        let no_descriptor = FlowEnd::Failed { errno: libc::EMFILE };
        assert!(has_started(&record(None, no_descriptor)));
    }
}
