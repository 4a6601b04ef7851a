//! The parts of a network, driven by one clock that is never late, do what the simulation does.

use std::collections::VecDeque;

use penstock_fabric::SwitchConfig;
use penstock_packet::{Packet, PacketKind, Unobserved};
use penstock_sim::live::{self, Leaving, LiveFlow, LiveRun, Part};
use penstock_sim::measure::flows::FlowRecord;
use penstock_sim::measure::summary::LongLived;
use penstock_sim::{Results, RunOptions, Scenario};
use penstock_units::{Bytes, HopTelemetry, Time};
use serde_json::{from_value, json};

use crate::dependent::after;
use crate::determinism::busy;
use crate::fixture::{
    MS, US, column, line_rate, listed, name, parse, pfc, rail, scenario, schemes, single_switch,
    with,
};
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
    assert!(refused(&failing, &[3]).unwrap().contains("faults.outages"), "one stranger is enough");
    let message = refused(&parse(&busy(crate::fixture::dctcp())), &[0, 1]).unwrap();
    assert!(message.contains("traffic[") && message.contains("hosts of a kind"), "{message}");
    let pair = parse(&scenario(single_switch(3), pfc(), &[listed(&[(0, 1, 1_000, 0)])], MS));
    for stranger in [0, 1] {
        let message = refused(&pair, &[stranger]).unwrap();
        assert!(message.contains("traffic[0] is a flow from host 0 to host 1"), "{message}");
    }
    assert_eq!(refused(&pair, &[2]), None);
    let flow_pauses =
        json!({"kind": "flow-pauses", "threshold": {"kind": "hop-rtts", "factor": 1.0}});
    let flow_pauses = with(crate::fixture::bfc(), "/switch/backpressure", flow_pauses);
    let message = refused(&parse(&busy(flow_pauses)), &every).unwrap();
    assert!(message.contains("scheme.switch.backpressure is flow-pauses"), "{message}");
    let waits = after(&[(0, 1, 1_000, 0), (1, 0, 1_000, 0)], &[(1, 0, "received")]);
    let waits = parse(&scenario(single_switch(2), pfc(), &[waits], MS));
    assert!(refused(&waits, &[]).unwrap().contains("traffic[0] is \"listed\"; in real time"));
    let connection = parse(&with(busy(crate::fixture::tcp(1 << 20)), "/traffic/0/connections", 1));
    let message = refused(&connection, &every).unwrap();
    assert!(message.contains("traffic[0].connections is 1; hosts with kernels"), "{message}");
    let shared = parse(&with(busy(crate::fixture::tcp(1 << 20)), "/traffic/0/connections", 2));
    assert_eq!(refused(&shared, &[]), None);
    let message = refused(&shared, &every).unwrap();
    assert!(message.contains("traffic[0].connections is 2; hosts with kernels"), "{message}");
    let stops = with(listed(&[(0, 1, 0, 0)]), "/lasts", json!([US]));
    let stops = parse(&scenario(single_switch(2), pfc(), &[stops], MS));
    assert_eq!(refused(&stops, &[]), None);
    let message = refused(&stops, &[0, 1]).unwrap();
    assert!(
        message.contains("traffic[0].lasts is the time of a flow; hosts with kernels"),
        "{message}"
    );
    for another in ["ns3-hpcc", "ns3-bfc"] {
        let of_another = with(busy(crate::fixture::hpcc()), "/fidelity", another);
        let message = refused(&parse(&of_another), &[]).unwrap();
        assert!(message.contains("fidelity is that of another simulator"), "{message}");
    }
    let servers = |inner| parse(&with(busy(crate::fixture::bfc()), "/topology", rail(4, 2, inner)));
    let message = refused(&servers(400), &[]).unwrap();
    assert!(message.contains("topology.inner_rate is 400 Gb/s; in real time"), "{message}");
    let message = refused(&servers(0), &[]).unwrap();
    assert!(!message.contains("inner_rate") && message.contains("loads H0->L0"), "{message}");
}

#[test]
fn a_flow_is_due_at_its_start_and_its_destination_hears_its_hash() {
    let flows = [listed(&[(0, 1, 2_000, 7 * US), (0, 1, 1_000, 500 * US)])];
    let mut driver = Driver::new(&parse(&scenario(single_switch(3), pfc(), &flows, MS)), &[]);
    let LiveFlow { number, arrival, hash, ideal } = driver.run.flows()[0];
    assert_eq!((number, arrival.source, arrival.destination), (0, 0, 1));
    assert_eq!(arrival.time, Time::from_us(7));
    // Two packets of 1,048 B and an acknowledgement of 60 B. Each way has two links of 100 Gb/s and 1 us.
    assert_eq!(ideal, Time::from_ps(4 * US + 80 * (3 * 1_048 + 2 * 60)));
    driver.step(Time::from_us(1));
    // The time that a part tells may be earlier by a few ns, but not later.
    let is_due_at = |driver: &Driver, part: usize, time: Time| {
        let due = driver.parts[part].due().unwrap();
        assert!(due <= time && time < due + Time::from_ns(10), "{due} for {time}");
    };
    is_due_at(&driver, 1, arrival.time);
    is_due_at(&driver, 2, arrival.time);
    driver.step(arrival.time);
    assert_eq!(driver.parts[1].flows_finished(), 0, "it has only begun");
    is_due_at(&driver, 1, arrival.time + Time::from_ps(80 * 1_048));
    driver.run_to(arrival.time + ideal - Time::from_ps(1));
    assert_eq!(driver.parts[1].flows_finished(), 0, "its last acknowledgement is on its way");
    driver.run_to(arrival.time + ideal);
    assert_eq!((driver.news[0].1, driver.news[0].2), (1, hash));
    let finished: Vec<u64> = driver.parts.iter().map(Part::flows_finished).collect();
    assert_eq!(finished, [0, 1, 0, 0]);
}

#[test]
fn a_glance_has_the_counters_of_the_summary() {
    let drops = line_rate();
    let classes = with(pfc(), "/switch/backpressure/xoff", 30_000);
    let queues = crate::fixture::bfc();
    let timed = crate::fixture::fafc(60_000);
    for (kind, scheme) in [drops, classes, queues, timed].into_iter().enumerate() {
        let scenario = with(busy(scheme), "/scheme/switch/admission/buffer", 300_000);
        let mut driver = Driver::new(&parse(&scenario), &[]);
        let end = Time::from_us(100);
        driver.run_to(end);
        let glance = driver.parts[0].glance();
        let found = [glance.drops, glance.pfc_pauses, glance.queue_pauses, glance.timed_pauses];
        let summary = driver.finish(&[], end).summary;
        let expected =
            [summary.drops, summary.pfc_pauses, summary.queue_pauses, summary.timed_pauses];
        assert_eq!(found, expected);
        assert!(found[kind] > 0, "{kind}: {found:?}");
    }
}

#[test]
fn a_glance_has_the_bytes_of_each_switch_and_then_of_each_nic() {
    let flows = [listed(&[(0, 2, 1_000, 0)])];
    let scenario = parse(&scenario(single_switch(3), pfc(), &flows, MS));
    let mut driver = Driver::new(&scenario, &[0, 1, 2]);
    let uplink = driver.run.topology().uplink(0);
    let start = Time::from_us(1);
    for _ in 0..4 {
        driver.parts[0].receive_stranger(uplink, start, &foreign(0, 2));
    }
    driver.parts[0].advance_to(start).unwrap();
    // One of the four packets of 1,000 B is on the cable to the switch.
    assert_eq!(driver.parts[0].glance().stored, [0, 3_000, 0, 0]);
}

#[test]
fn what_strangers_have_counted_is_in_the_summary_and_in_the_tables() {
    let flows = [listed(&[(0, 2, 5_000, 0), (1, 2, 9_000, US), (2, 0, 0, 2 * US)])];
    let scenario = parse(&scenario(single_switch(3), pfc(), &flows, MS));
    let record = |flow, source, destination, size, start, completion: Option<u64>, delivered| {
        let start = Time::from_us(start);
        let (completion, ideal) = (completion.map(Time::from_us), Time::from_us(4));
        let (label, class, retransmitted_packets) = (0, 0, 0);
        FlowRecord {
            flow,
            source,
            destination,
            size,
            start,
            completion,
            ideal,
            label,
            class,
            delivered,
            retransmitted_packets,
        }
    };
    let records = [
        record(2, 2, 0, 0, 2, None, 70_000),
        record(1, 1, 2, 9_000, 1, None, 9_000), // all bytes are there, and the last one is not acknowledged
        record(0, 0, 2, 5_000, 0, Some(8), 5_000),
    ];
    // The endless flow is one of those that last for the whole run only once the duration is over.
    for (end, endless) in [(MS - 1, vec![]), (MS, vec![(2, 70_000)])] {
        let mut driver = Driver::new(&scenario, &[0, 1, 2]);
        let end = Time::from_ps(end);
        driver.parts.iter_mut().for_each(|part| part.advance_to(end).unwrap());
        let results = driver.finish(&records, end);
        let summary = &results.summary;
        assert_eq!((summary.flows_started, summary.flows_finished), (3, 1));
        assert_eq!((summary.delivered_bytes, summary.sim_end_ps), (84_000, end.as_ps()));
        let of = |flow: &LongLived| (flow.flow, flow.delivered_bytes);
        assert_eq!(summary.long_lived.iter().map(of).collect::<Vec<_>>(), endless);
        // Flows that have finished come first.
        assert_eq!(column(&results, "flows", "flow"), [0.0, 2.0, 1.0]);
        assert_eq!(column(&results, "flows", "delivered_bytes"), [5e3, 70e3, 9e3]);
        assert_eq!(column(&results, "flows", "fct_ns")[0], 8_000.0);
    }
}
