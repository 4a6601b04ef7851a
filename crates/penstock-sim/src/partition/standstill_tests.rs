use std::sync::Arc;

use penstock_packet::Unobserved;
use penstock_units::{BitRate, Fidelity, Transmission};
use serde_json::{Value, json};

use super::*;
use crate::error::RunError;
use crate::network::Network;
use crate::partition::Partition;
use crate::partition::clock::Clock;
use crate::scenario::Scenario;
use crate::simulation::Simulation;
use crate::watch::RunOptions;

/// Host 0 sends to host 1 without end; the hosts are 100 Gb/s and 1 us apart.
fn scenario() -> Value {
    json!({
        "name": "still", "seed": 1, "fidelity": "exact", "duration": 100_000_000, "drain": 0,
        "wire": {"payload": 1_000, "header": 48, "acknowledgement": 60, "telemetry": 42,
                 "timestamp": 8, "control_frame": 64},
        "topology": {"kind": "single-switch", "hosts": 2, "rate": 100_000_000_000_u64,
                     "delay": 1_000_000, "pipeline_delay": 0, "failed_links": []},
        "scheme": {
            "name": "line-rate",
            "switch": {
                "admission": {"kind": "infinite"}, "assignment": {"kind": "class", "classes": 1},
                "scheduling": {"kind": "fifo"}, "marking": {"kind": "none"},
                "backpressure": {"kind": "none"},
            },
            "host": {
                "controller": {"kind": "line-rate"},
                "recovery": {"kind": "go-back-n", "timeout": 4_000_000_000_u64,
                             "nack_interval": 500_000_000},
                "nic": {"queues": 0, "reacts": true, "empty_queue": "any", "scheduling": "round-robin"},
                "base_rtt": "longest", "other_controllers": [],
            },
            "routing": {"kind": "ecmp"},
        },
        "traffic": [{"kind": "listed", "label": "listed", "class": 0, "flows": [[0, 1, 0, 0]],
                     "spread": 0, "lasts": [], "after": [], "lag": [], "delay": [], "needed": [],
        "places": [], "steps": [], "destination_ports": []}],
        "faults": {"control_loss": 0.0, "outages": [], "corruption": []},
        "measure": {"sample_interval": 1_000_000, "active_flows": false, "queue_delays": false,
                    "series": [], "events": false, "trace": null},
    })
}

/// The only partition of `simulation`.
fn only(simulation: &mut Simulation<Unobserved>) -> &mut Partition<Unobserved> {
    simulation.partitions[0].get_mut().unwrap()
}

/// The simulation of [`scenario`].
fn simulation() -> Simulation<Unobserved> {
    let scenario = Scenario::from_json(&scenario().to_string()).unwrap();
    let network = Network::build(&scenario).unwrap();
    Simulation::new(&scenario, network, Unobserved).unwrap()
}

#[test]
fn a_source_that_fires_for_ever_at_one_time_is_named() {
    for batch in [1, 1_000, 1 << 20, u64::MAX] {
        let mut simulation = simulation();
        assert_eq!(simulation.advance(1_000), Ok(true));
        let partition = only(&mut simulation);
        let next = partition.wheel.due(partition.sources.clock(Clock::Sample));
        let setting = Arc::make_mut(&mut partition.setting);
        setting.scenario.measure.sample_interval = Time::ZERO;
        let error = std::iter::repeat_with(|| simulation.advance(batch)).find_map(Result::err);
        let error = error.unwrap();
        assert_eq!(error.sources, "the clock of samples", "{batch}");
        assert_eq!((error.time, simulation.now()), (next, next));
        // The sources are 23: of 4 links, 2 hosts, a switch, the clocks and a flow.
        assert!((23_000..23_000 + 2 * LOOK_EVENTS).contains(&error.events), "{error}");
        let text = error.to_string();
        assert!(text.starts_with(&format!("time stands still at {next}: after ")), "{text}");
    }
}

#[test]
fn several_that_wake_each_other_are_all_named() {
    let mut simulation = simulation();
    let instant = Transmission::new(BitRate::from_gbps(10_000), Fidelity::Ns3Hpcc);
    assert_eq!(instant.time(1_048), Time::ZERO);
    for wire in &mut only(&mut simulation).wires {
        (wire.transmission, wire.delay) = (instant, Time::ZERO);
    }
    let error = simulation.advance(u64::MAX).unwrap_err();
    for source in ["arrivals on link H0->S0", "transmissions on link H0->S0", "link S0->H1"] {
        assert!(error.sources.contains(source), "{error}");
    }
    assert!(!error.sources.contains("clock"), "{error}");
}

#[test]
fn a_crowd_at_one_instant_is_no_standstill() {
    // The traffic's clock alone makes 40,000 events at time 0.
    let flows: Vec<[u64; 4]> =
        (0..40_000).map(|number| [number % 2, 1 - number % 2, 1, 0]).collect();
    let mut crowd = scenario();
    crowd["traffic"][0]["flows"] = json!(flows);
    crowd["drain"] = json!(10_000_000_000_u64);
    let scenario = Scenario::from_json(&crowd.to_string()).unwrap();
    let results = crate::run::run(&scenario, RunOptions::default(), |_| true).unwrap();
    assert_eq!(results.summary.flows_finished, 40_000);
}

#[test]
fn every_source_has_a_name() {
    let mut simulation = simulation();
    assert_eq!(simulation.advance(1_000), Ok(true));
    let partition = only(&mut simulation);
    let names: Vec<_> =
        (0..partition.sources.receiver(2)).map(|source| partition.source_name(source)).collect();
    let expected = [
        (0, "arrivals on link H0->S0"),
        (4, "transmissions on link H0->S0"),
        (8, "the timer of host H0"),
        (11, "ends of pauses of link S0->H0"),
        (14, "the clock of switch S0"),
        (15, "the clock of links that fail or recover"),
        (21, "the clock of the end of the window"),
        (22, "the timer of flow 0 from H0 to H1"),
    ];
    for (source, name) in expected {
        assert_eq!(names[source], name);
    }
    let error = StandstillError { time: Time::ZERO, events: 1, sources: names[0].clone() };
    assert!(RunError::from(error).to_string().contains("arrivals on link H0->S0 keep firing"));
}
