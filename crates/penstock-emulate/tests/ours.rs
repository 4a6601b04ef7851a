//! A network of our hosts in real time, over pairs of sockets, beside its simulation.

use std::os::unix::net::UnixDatagram;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use penstock_emulate::assemble::{Assembly, assemble, build, in_order};
use penstock_emulate::clock::Clock;
use penstock_emulate::record::Recording;
use penstock_sim::flow::FlowNames;
use penstock_sim::measure::table::Column;
use penstock_sim::measure::trace::{PacketTrace, PortLinks};
use penstock_sim::scenario::TraceConfig;
use penstock_sim::topology::Topology;
use penstock_sim::{Results, RunOptions, Scenario};
use penstock_units::{Bytes, Time};
use serde_json::{Value, json};

/// A scenario of `tests/golden/builds.json`.
fn golden(name: &str) -> Value {
    let file = include_str!("../../../tests/golden/builds.json");
    let cases: Vec<Value> = serde_json::from_str(file).unwrap();
    let case = cases.into_iter().find(|case| case["name"] == name);
    case.unwrap_or_else(|| panic!("no {name}"))["scenario"].clone()
}

fn pair() -> (UnixDatagram, UnixDatagram) {
    let (one, other) = UnixDatagram::pair().unwrap();
    one.set_nonblocking(true).unwrap();
    other.set_nonblocking(true).unwrap();
    (one, other)
}

/// An observer that writes down every event of every packet at a switch.
fn trace(topology: &Topology) -> PacketTrace {
    let everything = TraceConfig { nodes: vec![], events: vec![] };
    PacketTrace::new(&everything, PortLinks::new(topology), FlowNames::new(1))
}

/// Runs `scenario` in real time, a second of the run in `scale` seconds. Answers the results of the run, and
/// those of switches that get the same packets again; and how many packets that were.
fn emulate(scenario: &Scenario, scale: u32) -> ([Results; 2], usize) {
    let hosts = 8;
    let (at_network, at_hosts): (Vec<_>, Vec<_>) = (0..hosts).map(|_| pair()).unzip();
    let mut at_hosts: Vec<_> = at_hosts.into_iter().map(Some).collect();
    let clock = Clock::starting_in(Time::from_ms(20), scale);
    let at_host = |host: u32| at_hosts[host as usize].take().unwrap();
    let memory = Bytes::new(1 << 20);
    let network = build(scenario, &[], memory, trace).unwrap();
    let Assembly { run, mut network, mut hosts, idle } =
        assemble(scenario, clock, network, at_network, at_host, Recording::default()).unwrap();
    let end = scenario.duration + scenario.drain;
    let stop = AtomicBool::new(false);
    let flows = run.flows().len() as u64;
    thread::scope(|scope| {
        let driven = scope.spawn(|| network.run(end, &stop));
        hosts.run_while(end, &stop, |hosts| finished(hosts.parts()) < flows).unwrap();
        stop.store(true, Ordering::Relaxed);
        driven.join().unwrap().unwrap();
    });
    let now = clock.now();
    let (switches, ports, lateness, recording) = network.into_parts();
    for port in &ports {
        assert_eq!(port.refusals.named().count(), 0, "{:?}", port.refusals);
    }
    eprintln!(
        "late by {} ns (p50), {} ns (p99)",
        lateness.percentile(0.5),
        lateness.percentile(0.99)
    );
    let (ours, ..) = hosts.into_parts();
    let hosts = (0..).zip(ours).chain(idle).collect();
    let until = switches[0].now();
    let (again, mut parts) = build(scenario, &[], memory, trace).unwrap();
    recording.replay(&again, &mut parts[0], until).unwrap();
    let results = run.finish(in_order(switches, hosts), &[], now);
    ([results, again.finish(parts, &[], now)], recording.0.len())
}

/// A table, as text.
fn table(results: &Results, name: &str) -> Vec<String> {
    let table = results.tables.iter().find(|table| table.name == name).unwrap();
    table.columns.iter().map(|(column, rows)| format!("{column}: {rows:?}")).collect()
}

fn finished(parts: &[penstock_sim::live::Part<PacketTrace>]) -> u64 {
    parts.iter().map(penstock_sim::live::Part::flows_finished).sum()
}

fn column(results: &Results, name: &str) -> Vec<f64> {
    let table = results.tables.iter().find(|table| table.name == "flows").unwrap();
    match &table.columns.iter().find(|column| column.0 == name).unwrap().1 {
        Column::F64(values) => values.clone(),
        _ => panic!("{name} is of another type"),
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The golden scenario of scheme `name` whose traffic lasts `times` as long. However slow the machine is,
/// all flows finish; the run ends with the last.
fn longer(name: &str, times: u64) -> Scenario {
    let mut scenario = golden(name);
    *scenario.pointer_mut("/measure").unwrap() = json!({
        "sample_interval": 0, "active_flows": false, "queue_delays": false,
        "series": [], "events": false, "trace": null,
    });
    let duration = scenario.pointer_mut("/duration").unwrap();
    *duration = json!(duration.as_u64().unwrap() * times);
    *scenario.pointer_mut("/drain").unwrap() = json!(50_000_000_000u64);
    let mut text = scenario.to_string();
    // Open-loop entries and incasts last as long as the traffic.
    for field in ["stop", "end"] {
        text = text.replace(
            &format!("\"{field}\":200000000"),
            &format!("\"{field}\":{}", 200_000_000 * times),
        );
    }
    Scenario::from_json(&text).unwrap()
}

/// Every assignment, mark, pause, drop and departure of [`emulate`] is that of the switches that get the same
/// packets again. Answers the results, and how many packets entered.
fn decided_twice(name: &str, scenario: &Scenario) -> (Results, usize) {
    let ([emulated, again], entered) = emulate(scenario, 1_000);
    let [seen, seen_again] = [&emulated, &again].map(|results| table(results, "packets"));
    assert!(seen[0].len() > entered, "{name}: the switches have done something");
    assert!(seen == seen_again, "{name}: switches decide the same");
    (emulated, entered)
}

#[test]
fn our_hosts_finish_their_flows_over_real_frames() {
    for name in ["bfc", "hpcc", "afq"] {
        let scenario = longer(name, 1);
        let simulated = penstock_sim::run(&scenario, RunOptions::default(), |_| true).unwrap();
        let (emulated, _) = decided_twice(name, &scenario);
        let count = |results: &Results| results.summary.flows_finished;
        assert_eq!(count(&emulated), count(&simulated), "{name}");
        let [one, other] = [&simulated, &emulated].map(|one| median(column(one, "slowdown")));
        let flows = count(&emulated);
        eprintln!("{name}: {flows} flows, median slowdown {one:.3} simulated, {other:.3} emulated");
    }
}

/// A run ends while frames are on their way.
#[test]
fn switches_decide_the_same_in_a_run_that_is_cut_off() {
    let mut scenario = longer("bfc", 1);
    scenario.drain = Time::ZERO;
    let (results, _) = decided_twice("bfc", &scenario);
    assert!(results.summary.flows_finished < results.summary.flows_started);
}

#[test]
#[ignore = "takes minutes"]
fn a_million_frames_are_decided_the_same() {
    let mut frames = 0;
    for name in ["bfc", "afq", "pfc", "pcn", "fafc"] {
        let (results, entered) = decided_twice(name, &longer(name, 16));
        let summary = &results.summary;
        let pauses = summary.queue_pauses + summary.pfc_pauses + summary.timed_pauses;
        eprintln!("{name}: {entered} frames, {pauses} pauses, {} drops", summary.drops);
        frames += entered;
    }
    assert!(frames >= 1_000_000, "{frames} frames");
}
