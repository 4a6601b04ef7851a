//! The parts of a network, driven by one clock that is never late, do what the simulation does.

use std::collections::VecDeque;

use penstock_fabric::SwitchConfig;
use penstock_packet::{Packet, PacketKind, Unobserved};
use penstock_sim::live::{self, Leaving, LiveRun, Part};
use penstock_sim::measure::flows::FlowRecord;
use penstock_sim::{Results, RunOptions, Scenario};
use penstock_units::{Bytes, HopTelemetry, Time};
use serde_json::{from_value, json};

use crate::determinism::busy;
use crate::fixture::{name, parse, rail, schemes, with};
use crate::threads::{lines, measured};

/// A packet on its way between two parts.
struct Flight {
    arrival: Time,
    packet: Packet,
    telemetry: Vec<HopTelemetry>,
}

/// Drives all parts by one clock, and brings each packet to the other end of its link when it is due.
struct Driver {
    run: LiveRun<Unobserved>,
    parts: Vec<Part<Unobserved>>,
    /// By link.
    flights: Vec<VecDeque<Flight>>,
    /// When destinations hear of flows that have completed, the destinations and the flows.
    news: VecDeque<(Time, u32, u32)>,
}

impl Driver {
    fn new(scenario: &Scenario, strangers: &[u32]) -> Self {
        let nic = json!({
            "admission": {"kind": "infinite"},
            "assignment": {"kind": "class", "classes": 1},
            "scheduling": {"kind": "fifo"},
            "marking": {"kind": "none"},
            "backpressure": {"kind": "none"},
        });
        let nic = from_value(nic).unwrap();
        let (run, parts) = live::build(scenario, strangers, &nic, |_| Unobserved).unwrap();
        let flights = run.topology().links.iter().map(|_| VecDeque::new()).collect();
        Driver { run, parts, flights, news: VecDeque::new() }
    }

    fn part_of(&self, node: u32) -> usize {
        if self.run.topology().is_host(node) { node as usize + 1 } else { 0 }
    }

    /// The next instant at which something may happen.
    fn next(&self) -> Option<Time> {
        let due = self.parts.iter().filter_map(Part::due);
        let arrivals = self.flights.iter().filter_map(|flights| Some(flights.front()?.arrival));
        due.chain(arrivals).min()
    }

    /// Everything that is due until `now` happens.
    fn step(&mut self, now: Time) {
        for link in 0..self.flights.len() {
            let to = self.part_of(self.run.topology().links[link].to);
            while self.flights[link].front().is_some_and(|flight| flight.arrival <= now) {
                let Flight { arrival, packet, telemetry } = self.flights[link].pop_front().unwrap();
                self.parts[to].receive(link as u32, arrival, &packet, &telemetry);
            }
        }
        let window = self.run.window();
        while self.news.front().is_some_and(|news| news.0 < now) {
            let (end, host, hash) = self.news.pop_front().unwrap();
            self.parts[host as usize + 1].advance_to(end).unwrap();
            self.parts[host as usize + 1].close(hash);
        }
        for part in 0..self.parts.len() {
            self.parts[part].advance_to(now).unwrap();
            let (flights, news) = (&mut self.flights, &mut self.news);
            self.parts[part].take_leaving(|leaving| match leaving {
                Leaving::Packet { link, arrival, packet, telemetry } => {
                    let telemetry = telemetry.to_vec();
                    let flight = Flight { arrival, packet: *packet, telemetry };
                    flights[link as usize].push_back(flight);
                }
                Leaving::Completed { host, hash } => {
                    let end = window * now.as_ps().div_ceil(window.as_ps());
                    news.push_back((end, host, hash));
                }
            });
        }
    }

    /// Runs until `end`. What leaves a part arrives later than the shortest link is long, so all parts may
    /// run so far at once, but not beyond the end of a window, at which destinations hear of completed flows.
    fn run_to(&mut self, end: Time) {
        let delays = self.run.topology().links.iter().map(|link| link.delay);
        let ahead = delays.min().unwrap();
        assert!(ahead > Time::ZERO);
        while let Some(next) = self.next().filter(|&next| next < end) {
            let window = self.run.window();
            let in_window = window * (next + Time::from_ps(1)).as_ps().div_ceil(window.as_ps());
            self.step((next + ahead).min(in_window).min(end));
        }
        self.step(end);
    }

    fn finish(self, flows: &[FlowRecord], end: Time) -> Results {
        self.run.finish(self.parts, flows, end)
    }
}

/// Tables of a run, without the lines on what is only counted by whoever drives.
fn comparable(results: &Results) -> Vec<String> {
    let mut results = results.clone();
    results.summary.events = 0;
    lines(&results)
}

#[test]
fn with_a_perfect_clock_the_tables_are_those_of_the_simulation() {
    for scheme in schemes() {
        let name = name(&scheme).to_owned();
        let is_tcp = scheme["host"]["recovery"]["kind"] == "fast-retransmit";
        let scenario = with(measured(busy(scheme)), "/measure/trace", json!(null));
        let connections = u32::from(is_tcp);
        let scenario = parse(&with(scenario, "/traffic/0/connections", connections));
        let simulated = penstock_sim::run(&scenario, RunOptions::default(), |_| true).unwrap();
        let end = Time::from_ps(simulated.summary.sim_end_ps);
        let mut driver = Driver::new(&scenario, &[]);
        driver.run_to(end);
        let driven = driver.finish(&[], end);
        let pairs = comparable(&simulated).into_iter().zip(comparable(&driven));
        for (simulated, driven) in pairs {
            assert!(simulated == driven, "{name}:\n{simulated:.3000}\n{driven:.3000}");
        }
    }
}

/// A packet of 1,000 B, as a stranger's frame becomes one.
fn foreign(source: u32, destination: u32) -> Packet {
    let (wire_bytes, payload) = (1_000, 950);
    let (flow_hash, remaining) = (77, u32::MAX);
    Packet { source, destination, flow_hash, remaining, wire_bytes, payload, ..Packet::default() }
}

#[test]
fn strangers_send_through_nics_of_their_own_and_packets_keep_their_places() {
    let scenario = parse(&busy(crate::fixture::bfc()));
    let mut driver = Driver::new(&scenario, &[0, 1, 2, 3, 4, 5, 6, 7]);
    let uplink = driver.run.topology().uplink(0);
    let start = Time::from_us(1);
    let inside = |count: u64| {
        let link = &driver.run.topology().links[uplink as usize];
        link.rate.transmission_time(Bytes::new(1_000 * count))
    };
    let arrivals: Vec<Time> = (1..=20).map(|count| start + inside(count)).collect();
    driver.parts[0].advance_to(start).unwrap();
    let places: Vec<usize> = arrivals
        .iter()
        .map(|&arrival| driver.parts[0].receive_stranger(uplink, arrival, &foreign(0, 5)))
        .collect();
    driver.parts[0].advance_to(Time::from_us(100)).unwrap();
    let mut left = Vec::new();
    driver.parts[0].take_leaving(|leaving| match leaving {
        Leaving::Packet { link, arrival, packet, .. } if packet.flow_hash == 77 => {
            left.push((link, arrival, packet.offset as usize));
        }
        _ => {}
    });
    let network = driver.run.topology();
    assert!(left.iter().map(|&(_, _, place)| place).eq(places), "in their order");
    assert!(left.iter().all(|&(link, ..)| link == network.downlink(5)));
    // The cable of the sender is the bottleneck: what follows the first packet comes at its rate.
    let cable = network.egress_links(network.edge_switch(0))[0];
    let each = network.links[cable as usize].rate.transmission_time(Bytes::new(1_000));
    let gaps: Vec<Time> = left.windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
    assert_eq!(gaps, vec![each; 19]);
}

#[test]
fn a_nic_obeys_the_pause_of_a_queue() {
    let scenario = parse(&busy(crate::fixture::bfc()));
    let strangers: Vec<u32> = (0..8).collect();
    let nic = &scenario.scheme.switch;
    let nic = SwitchConfig {
        admission: from_value(json!({"kind": "infinite"})).unwrap(),
        backpressure: from_value(json!({"kind": "none"})).unwrap(),
        ..nic.clone()
    };
    let (run, mut parts) = live::build(&scenario, &strangers, &nic, |_| Unobserved).unwrap();
    // Seven hosts send two megabytes each to host 0, all at once.
    for source in 1..8 {
        let uplink = run.topology().uplink(source);
        let link = &run.topology().links[uplink as usize];
        let mut packet = foreign(source, 0);
        packet.flow_hash = source;
        for count in 1..=2_000 {
            let arrival = link.rate.transmission_time(Bytes::new(1_000 * count));
            parts[0].receive_stranger(uplink, arrival, &packet);
        }
    }
    parts[0].advance_to(Time::from_ms(5)).unwrap();
    let mut arrived = 0;
    parts[0].take_leaving(|leaving| {
        let Leaving::Packet { packet, .. } = leaving else { return };
        arrived += u64::from(packet.kind == PacketKind::Data);
    });
    let results = run.finish(parts, &[], Time::from_ms(5));
    assert_eq!((arrived, results.summary.drops), (14_000, 0));
    assert!(results.summary.queue_pauses > 100, "{}", results.summary.queue_pauses);
    // The switches hold far less than the 14 MB that the NICs had to hold.
    let peaks = &results.summary.buffer_peak_bytes;
    let (switches, nics) = peaks.split_at(peaks.len() - 8);
    assert!(switches.iter().max() < Some(&1_000_000), "{switches:?}");
    assert!(nics.iter().max() > Some(&1_000_000), "{nics:?}");
}

#[test]
fn what_strangers_cannot_do_is_refused() {
    let nic = parse(&busy(crate::fixture::bfc())).scheme.switch;
    let refused = |scenario: &Scenario, strangers: &[u32]| {
        live::build(scenario, strangers, &nic, |_| Unobserved).err().map(|error| error.to_string())
    };
    let credits = parse(&busy(crate::fixture::credits(32, 1_000_000)));
    assert_eq!(refused(&credits, &[]), None);
    let every: Vec<u32> = (0..8).collect();
    let message = refused(&credits, &every).unwrap();
    assert!(message.contains("scheme.switch.backpressure"), "{message}");
    let outage = json!([{"link": [8, 10], "start": 1_000_000, "end": 2_000_000}]);
    let failing = parse(&with(busy(crate::fixture::dctcp()), "/faults/outages", outage));
    assert_eq!(refused(&failing, &[]), None);
    let message = refused(&failing, &every).unwrap();
    assert!(message.contains("faults.outages"), "{message}");
    let entries = json!([{"link": null, "probability": 0.01}]);
    let corrupted = parse(&with(busy(crate::fixture::dctcp()), "/faults/corruption", entries));
    assert!(refused(&corrupted, &[]).unwrap().contains("faults.corruption is a list of 1"));
    let message = refused(&parse(&busy(crate::fixture::dctcp())), &[0, 1]).unwrap();
    assert!(message.contains("traffic[") && message.contains("hosts of a kind"), "{message}");
    let shared = parse(&with(busy(crate::fixture::tcp(1 << 20)), "/traffic/0/connections", 2));
    assert_eq!(refused(&shared, &[]), None);
    let message = refused(&shared, &every).unwrap();
    assert!(message.contains("traffic[0].connections is 2; hosts with kernels"), "{message}");
    let of_another = with(busy(crate::fixture::hpcc()), "/fidelity", "ns3-hpcc");
    let message = refused(&parse(&of_another), &[]).unwrap();
    assert!(message.contains("fidelity"), "{message}");
    let servers = |inner| parse(&with(busy(crate::fixture::bfc()), "/topology", rail(4, 2, inner)));
    let message = refused(&servers(400), &[]).unwrap();
    assert!(message.contains("topology.inner_rate is 400 Gb/s; in real time"), "{message}");
    let message = refused(&servers(0), &[]).unwrap();
    assert!(!message.contains("inner_rate") && message.contains("loads H0->L0"), "{message}");
}
