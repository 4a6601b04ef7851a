//! A deadlock that the detector finds never moves again, and the detector runs only where a
//! deadlock is possible.

use penstock_packet::Unobserved;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::scenario::Scenario;
use crate::simulation::Simulation;

/// Five switches in a ring with two hosts each. Every host sends 20 MB to the switch after the
/// next.
fn ring(backpressure: &Value) -> Value {
    let link =
        |a: u32, b: u32| json!({"a": a, "b": b, "rate": 100_000_000_000u64, "delay": 1_000_000});
    let to_hosts = (0..10).map(|host| link(host, 10 + host / 2));
    let around = (0..5).map(|one| link(10 + one, 10 + (one + 1) % 5));
    let links: Vec<Value> = to_hosts.chain(around).collect();
    let flows: Vec<Value> =
        (0..10).map(|host| json!([host, (host + 4) % 10, 20_000_000, 0])).collect();
    let is_bfc = ["bfc", "flow-pauses"].contains(&backpressure["kind"].as_str().unwrap());
    let ingress = json!({"alpha": 0.125, "reserve": 4_096,
        "headroom": {"kind": "bdp", "factor": 3.0}});
    json!({
        "name": "ring", "seed": 1, "fidelity": "exact", "duration": 100_000_000,
        "drain": 20_000_000_000u64,
        "wire": {"payload": 1_000, "header": 48, "acknowledgement": 60, "telemetry": 42,
                 "timestamp": 8, "control_frame": 64},
        "topology": {"kind": "graph", "hosts": 10, "switches": 5, "links": links,
                     "pipeline_delay": 0, "failed_links": []},
        "scheme": {
            "name": "ring",
            "switch": {
                "admission": {"kind": "shared", "buffer": 12 << 20, "other_buffers": [],
                              "ingress": if is_bfc { Value::Null } else { ingress }},
                "assignment": {"kind": "class", "classes": 1},
                "scheduling": {"kind": "fifo"},
                "marking": {"kind": "none"}, "backpressure": backpressure,
            },
            "host": {
                "controller": {"kind": "line-rate"},
                "recovery": {"kind": "go-back-n", "timeout": 4_000_000_000u64,
                             "nack_interval": 500_000_000},
                "nic": {"queues": if is_bfc { 2 } else { 0 }, "reacts": true, "empty_queue": "any",
                        "scheduling": "round-robin"},
                "base_rtt": "longest", "other_controllers": [],
            },
            "routing": {"kind": "ecmp"},
        },
        "traffic": [{"kind": "listed", "label": "listed", "class": 0, "flows": flows,
                     "spread": 0, "lasts": [], "after": [], "lag": [], "delay": [], "needed": [],
        "places": [], "steps": [], "destination_ports": []}],
        "faults": {"control_loss": 0.0, "outages": [], "corruption": []},
        "measure": {"sample_interval": 0, "active_flows": false, "queue_delays": false,
                    "series": [], "events": false, "trace": null},
    })
}

fn pfc(xoff: Value) -> Value {
    json!({"kind": "pfc", "xon_offset": 3_072, "xoff": xoff, "pause": {"kind": "lasting"}})
}

fn simulation(scenario: &Value) -> Simulation<Unobserved> {
    let scenario = Scenario::from_json(&scenario.to_string()).unwrap();
    Simulation::new(&scenario, Network::build(&scenario).unwrap(), Unobserved).unwrap()
}

fn bfc() -> Value {
    json!({"kind": "bfc", "threshold": {"kind": "hop-rtts", "factor": 1.0}, "bitmap_interval": 0,
        "counts_last": true, "elide_down_up": false, "elide": []})
}

fn flow_pauses() -> Value {
    json!({"kind": "flow-pauses", "threshold": {"kind": "hop-rtts", "factor": 1.0}})
}

/// Whether the run of `scenario` meets a deadlock. The run then goes on without the detector until the
/// drain is over, and no link of the cycle carries another byte.
fn stays_still(scenario: &Value) -> bool {
    let mut simulation = simulation(scenario);
    while simulation.advance(1_000).unwrap() {}
    simulation.verify().unwrap();
    let Some(deadlock) = simulation.conductor.deadlock.take() else { return false };
    let carried = |simulation: &mut Simulation<Unobserved>| -> Vec<u64> {
        let partition = simulation.partitions[0].get_mut().unwrap();
        deadlock.cycle.iter().map(|pause| partition.carried(pause.link).payload).collect()
    };
    let before = carried(&mut simulation);
    simulation.conductor.deadlock_watch = None;
    simulation.conductor.is_done = false;
    while simulation.advance(1_000).unwrap() {}
    assert!(simulation.now() > Time::from_ms(20), "{scenario}: {:?}", simulation.now());
    assert_eq!(carried(&mut simulation), before, "{scenario}");
    true
}

#[test]
fn a_deadlock_never_moves_again() {
    let pfc = [json!(30_000), json!(100_000), Value::Null].map(pfc);
    for backpressure in pfc.into_iter().chain([bfc(), flow_pauses()]) {
        assert!(stays_still(&ring(&backpressure)), "{backpressure}: no deadlock");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Near the load at which a ring deadlocks, or does not.
    #[test]
    fn no_deadlock_is_found_that_dissolves(
        drawn in prop::collection::vec((2u64..6, 10_000u64..200_000, 0u64..60_000_000), 40),
    ) {
        let flows: Vec<Value> = (0..)
            .zip(&drawn)
            .map(|(number, (away, size, start))| {
                let source = number % 10;
                json!([source, (source + away) % 10, size, start])
            })
            .collect();
        for backpressure in [pfc(json!(60_000)), bfc(), flow_pauses()] {
            let mut scenario = ring(&backpressure);
            scenario["traffic"][0]["flows"] = json!(flows);
            stays_still(&scenario);
        }
    }
}

#[test]
fn there_is_no_detector_without_a_cycle_or_without_pauses() {
    let cyclic = ring(&pfc(json!(30_000)));
    let watch = simulation(&cyclic).conductor.deadlock_watch.expect("the ring has cycles");
    // Links of both directions are watched, but not the links of hosts.
    assert_eq!(watch.links, (20..30).collect::<Vec<_>>());
    let mut line = cyclic;
    line["topology"]["failed_links"] = json!([[10, 14]]);
    assert!(simulation(&line).conductor.deadlock_watch.is_none());
    let mut lossy = ring(&json!({"kind": "none"}));
    lossy["scheme"]["switch"]["admission"]["ingress"] = Value::Null;
    assert!(simulation(&lossy).conductor.deadlock_watch.is_none());
}

#[test]
fn an_outage_that_makes_a_cycle_is_reason_to_look() {
    // One pod of PCN's Clos network (PCN app. B.5), whose two links fail in the middle of the run.
    let mut pod = ring(&pfc(json!(30_000)));
    pod["topology"] = json!({"kind": "leaf-spine", "racks": 4, "hosts_per_rack": 2, "spines": 2,
        "host_rate": 100_000_000_000u64, "spine_rate": 100_000_000_000u64, "host_delay": 1_000_000,
        "spine_delay": 1_000_000, "pipeline_delay": 0, "failed_links": []});
    pod["traffic"][0]["flows"] = json!([[0, 7, 1_000, 0]]);
    assert!(simulation(&pod).conductor.deadlock_watch.is_none());
    let fails = |link: [u32; 2]| json!({"link": link, "start": 50_000_000, "end": null});
    pod["faults"]["outages"] = json!([fails([12, 11]), fails([13, 8])]);
    assert!(simulation(&pod).conductor.deadlock_watch.is_some());
}

#[test]
fn the_detector_looks_ten_round_trips_after_the_start_and_after_each_look() {
    // Every flow goes to the next switch, so there is no deadlock.
    let mut scenario = ring(&pfc(json!(30_000)));
    let flows = (0..10).map(|host| json!([host, (host + 2) % 10, 20_000_000, 0]));
    scenario["traffic"][0]["flows"] = flows.collect();
    let mut simulation = simulation(&scenario);
    let mut looks = vec![];
    while looks.len() < 4 {
        let due = simulation.conductor.deadlock_watch.as_ref().unwrap().due();
        looks.extend((looks.last() != Some(&due)).then_some(due));
        assert!(simulation.advance(1).unwrap());
    }
    // The longest path has four links of 1 us, for a packet of 1,048 B and its acknowledgement of 60 B. A
    // window has 1 us, so the detector looks at 84, 168 and 252 us.
    let interval = 10 * (8_000_000 + 4 * 80 * (1_048 + 60));
    let expected = [0, 84_000_000, 168_000_000, 252_000_000].map(|look| look + interval);
    assert_eq!(looks, expected.map(Time::from_ps));
}
