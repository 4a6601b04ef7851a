//! Hosts and switches stand alone. Driven by hand, two hosts and a switch do the same as in the
//! simulator, to the picosecond, under every preset of the golden table.
//!
//! The scenario gives the facts (parameters, base round trip, frame sizes). `driver`, which knows
//! nothing of the simulator, decides who does what and when.

use penstock_engine::stream;
use penstock_fabric::{AssignmentConfig, SchedulingConfig};
use penstock_packet::PacketPool;
use penstock_sim::flow::FlowNames;
use penstock_sim::measure::table::Column;
use penstock_sim::network::Network;
use penstock_sim::routing::ideal_fct;
use penstock_sim::{RunOptions, Scenario};
use penstock_transport::{
    BaseRtt, FrameBytes, Host, HostDraws, HostFacts, Opening, PathFacts, SizeShare,
};
use penstock_units::random::Pcg32;
use penstock_units::{BitRate, Time};
use rand_core::RngCore;
use serde_json::{Value, json};

mod driver;

use driver::{Driver, Flow};

/// How many flows there are; four of five go from the fast host to the slow one.
const FLOWS: u64 = 100;

/// Links (rate, delay): one of a fast host, and one of a quarter of that rate, so that the switch
/// has to store, pause and drop.
const CABLES: [(u64, u64); 2] = [(100_000_000_000, 1_000_000), (25_000_000_000, 700_000)];

/// The presets whose digests are recorded, with their scenarios.
fn golden() -> Vec<Value> {
    serde_json::from_str(include_str!("../../../../tests/golden/builds.json")).unwrap()
}

/// Flow n: (source, destination, bytes, start).
fn listed(number: u64) -> (u32, u32, u64, u64) {
    let source = u32::from(number % 5 == 4);
    let size = 500 + (number * 7_919) % 61_000;
    (source, 1 - source, size, number * 400_000)
}

/// The scheme of a golden scenario on the network of this test.
fn scenario(golden: &Value) -> Scenario {
    let mut scenario = golden["scenario"].clone();
    let link = |(host, (rate, delay)): (usize, (u64, u64))| {
        json!({"a": host, "b": 2,
        "rate": rate, "delay": delay})
    };
    let links: Vec<Value> = CABLES.into_iter().enumerate().map(link).collect();
    scenario["topology"] = json!({"kind": "graph", "hosts": 2, "switches": 1, "links": links,
        "pipeline_delay": 0, "failed_links": []});
    let flows: Vec<_> = (0..FLOWS).map(listed).collect();
    scenario["traffic"] = json!([{"kind": "listed", "label": "listed", "class": 0, "flows": flows,
        "spread": 0, "lasts": [], "after": [], "lag": [], "delay": [], "needed": [],
        "places": [], "steps": [], "destination_ports": []}]);
    scenario["drain"] = json!(1_000_000_000_000_u64);
    scenario["measure"] = json!({"sample_interval": 0, "active_flows": false, "queue_delays": false,
        "series": [], "events": false, "trace": null});
    Scenario::from_json(&scenario.to_string()).unwrap()
}

fn random(seed: u64, name: &str) -> Pcg32 {
    let mut named = stream(seed, name);
    Pcg32::new(named.next_u64(), named.next_u64())
}

/// What the sender knows of the path from `source`.
fn path(scenario: &Scenario, network: &Network, source: u32) -> PathFacts {
    let longest = network.path;
    let ways = [[0, 3], [2, 1]];
    let (forward, back) = (&ways[source as usize], &ways[1 - source as usize]);
    let frames = &network.frames.ideal;
    let base_rtt = match scenario.scheme.host.base_rtt {
        BaseRtt::Longest => longest.base_rtt,
        BaseRtt::Own => ideal_fct(&network.topology, forward, back, frames.payload, frames),
    };
    let [line_rate, receiver_rate] =
        [source, 1 - source].map(|host| BitRate::from_bps(CABLES[host as usize].0));
    PathFacts { base_rtt, line_rate, receiver_rate, bdp: line_rate.bytes_in(base_rtt), ..longest }
}

/// The same scenario, driven by hand: the flows, packets dropped, pauses sent.
fn by_hand(scenario: &Scenario) -> (Vec<Flow>, u64, u64) {
    let mut network = Network::build(scenario).unwrap();
    let mut config = scenario.scheme.host.clone();
    if let AssignmentConfig::Priority(priority) = &scenario.scheme.switch.assignment {
        let sizes: Vec<SizeShare> =
            (0..FLOWS).map(|number| SizeShare { size: listed(number).2, flows: 1.0 }).collect();
        config.controller.follow_sizes(&sizes, &network.path, priority.levels);
    }
    let configs = config.of_controllers();
    let shaping = match &scenario.scheme.switch.scheduling {
        SchedulingConfig::CreditShaping(shaping) => Some(shaping),
        _ => None,
    };
    let frames = &network.frames;
    let cables = CABLES.map(|(rate, delay)| (BitRate::from_bps(rate), Time::from_ps(delay)));
    let host = |number: usize| {
        let mut host = Host::new(&HostFacts {
            configs: &configs,
            classes: scenario.scheme.switch.assignment.classes(),
            epoch_bits: scenario.scheme.switch.assignment.epoch_bits(),
            rate: cables[number].0,
            hop_delay: cables[number].1,
            frames: FrameBytes {
                data_overhead: frames.data_overhead,
                acknowledgement: frames.acknowledgement,
                control: frames.control,
            },
            path: network.path,
            shaping,
            draws: HostDraws {
                nic: random(scenario.seed, &format!("nic/{number}")),
                credits: random(scenario.seed, &format!("credits/{number}")),
            },
            clock: 0.0,
        });
        if let Some(balance) = network.switches[0].opening_balance(number as u16) {
            host.connect(balance);
        }
        host
    };
    let hosts = [host(0), host(1)];
    let names = FlowNames::new(scenario.seed);
    let flow = |number: u64| {
        let (source, destination, size, start) = listed(number);
        let opening = Opening {
            flow: 0,
            number,
            hash: names.hash(number),
            source,
            destination,
            size,
            stop: Time::NEVER,
            controller: 0,
            class: 0,
            is_incast: false,
            connections: None,
            path: path(scenario, &network, source),
        };
        Flow { opening, start: Time::from_ps(start), completion: None }
    };
    let flows = (0..FLOWS).map(flow).collect();
    let switch = network.switches.remove(0);
    let pool = PacketPool::new(scenario.has_telemetry());
    let end = scenario.duration + scenario.drain;
    // Without links between switches, a window lasts for a round trip.
    let window = network.path.base_rtt;
    Driver::new(hosts, switch, cables, pool, flows, window).run(end)
}

/// Completion times of all flows in the simulator (ns), and the number of packets that it dropped.
fn simulated(scenario: &Scenario) -> (Vec<f64>, u64) {
    let results =
        penstock_sim::run(scenario, RunOptions { check: true, ..RunOptions::default() }, |_| true)
            .unwrap();
    assert_eq!(results.summary.flows_finished, FLOWS, "{:?}", results.summary.unfinished);
    let flows = results.tables.iter().find(|table| table.name == "flows").unwrap();
    let column =
        |name| flows.columns.iter().find(|column| column.0 == name).map(|column| &column.1);
    let (Some(Column::U64(numbers)), Some(Column::F64(times))) = (column("flow"), column("fct_ns"))
    else {
        panic!("{:?}", flows.columns.iter().map(|column| column.0).collect::<Vec<_>>())
    };
    let mut by_number: Vec<(u64, f64)> =
        numbers.iter().copied().zip(times.iter().copied()).collect();
    by_number.sort_by_key(|entry| entry.0);
    (by_number.into_iter().map(|entry| entry.1).collect(), results.summary.drops)
}

#[test]
fn two_hosts_and_a_switch_do_by_hand_what_they_do_in_the_simulator() {
    let (mut drops, mut pauses) = (0, 0);
    for golden in golden() {
        let scenario = scenario(&golden);
        let (flows, dropped, paused) = by_hand(&scenario);
        let completions: Vec<f64> = flows
            .iter()
            .map(|flow| flow.completion.map_or(f64::NAN, |time| time.as_ns_f64()))
            .collect();
        assert_eq!((completions, dropped), simulated(&scenario), "{}", golden["name"]);
        drops += dropped;
        pauses += paused;
    }
    assert!(drops > 100 && pauses > 100, "{drops} packets dropped, {pauses} pauses sent");
}
