//! A flow that is alone finishes exactly when store-and-forward arithmetic says so.

use serde_json::{Value, json};

use crate::fixture::{
    US, bfc, column, dumbbell, graph, ideal_fq, leaf_spine, line_rate, listed, pfc, run_to_the_end,
    scenario, sfq, single_switch, with,
};

/// One byte, around a packet, a product of bandwidth and delay, a hundred of them.
const SIZES: [u64; 8] = [1, 999, 1_000, 1_001, 2_000, 100_000, 123_456, 10_000_000];

/// Networks, with two hosts that are far from each other.
fn networks() -> Vec<(Value, u32, u32)> {
    let odd = [(0, 3, 100, 700), (1, 4, 33, 1_300), (2, 3, 40, 5), (3, 4, 7, 2 * US)];
    let parking_lot = json!({"kind": "chain", "switches": 5, "hosts_per_switch": 2,
        "edge_rate": 25_000_000_000u64, "edge_delay": US, "core_rate": 100_000_000_000u64,
        "core_delay": 3 * US, "pipeline_delay": 450_000});
    vec![
        (leaf_spine(2, 2, 2), 0, 3),
        (leaf_spine(2, 2, 2), 1, 0),
        (single_switch(2), 1, 0),
        (dumbbell(1, 1, 400_000_000_000), 0, 1),
        (dumbbell(1, 1, 10_000_000_000), 0, 1),
        (parking_lot, 0, 9),
        (graph(3, 2, &odd), 0, 1),
        (graph(3, 2, &odd), 1, 2),
    ]
}

fn times(topology: &Value, scheme: Value, flow: (u32, u32, u64, u64)) -> (f64, f64, f64) {
    let results = run_to_the_end(&scenario(topology.clone(), scheme, &[listed(&[flow])], 10 * US));
    let first = |name| column(&results, "flows", name)[0];
    assert_eq!(column(&results, "flows", "delivered_bytes"), [flow.2 as f64]);
    assert_eq!(results.summary.retransmitted_packets + results.summary.drops, 0);
    (first("fct_ns"), first("ideal_fct_ns"), first("slowdown"))
}

#[test]
fn its_slowdown_is_exactly_1_at_line_rate() {
    for (topology, source, destination) in networks() {
        for size in SIZES {
            let flow = (source, destination, size, 7);
            let (time, ideal, slowdown) = times(&topology, line_rate(), flow);
            assert_eq!((time, slowdown), (ideal, 1.0), "{size} B in {topology}");
        }
    }
}

#[test]
fn queues_and_pauses_that_are_not_needed_cost_nothing() {
    let silent = with(bfc(), "/switch/backpressure/bitmap_interval", 0);
    let line = json!({"kind": "line-rate"});
    let schemes = [
        silent,
        pfc(),
        with(sfq(), "/host/controller", line.clone()),
        with(ideal_fq(), "/host/controller", line),
    ];
    for scheme in schemes {
        for (topology, source, destination) in
            [(leaf_spine(2, 2, 2), 0, 3), (single_switch(3), 2, 0)]
        {
            for size in SIZES {
                let flow = (source, destination, size, 0);
                let (time, ideal, _) = times(&topology, scheme.clone(), flow);
                assert_eq!(time, ideal, "{size} B with {}", scheme["name"]);
            }
        }
    }
}

#[test]
fn pfc_at_a_slow_core_keeps_the_bottleneck_busy() {
    // 10 MB at 400 Gb/s into 100 Gb/s: the source is paused, but the core never runs dry.
    let topology = dumbbell(1, 1, 400_000_000_000);
    let (time, ideal, _) = times(&topology, pfc(), (0, 1, 10_000_000, 0));
    assert_eq!(time, ideal);
}

#[test]
fn the_vectors_of_bfcs_network_hold() {
    // BASELINES 29, sender side, across racks: 8,355 / 16,655 / 92,111 ns.
    for (packets, expected) in [(1, 8_355.0), (100, 16_655.0), (1_000, 92_111.0)] {
        let flow = (0, 3, packets * 1_000, 0);
        let (time, _, _) = times(&leaf_spine(2, 2, 2), line_rate(), flow);
        assert_eq!(time.round(), expected);
    }
}

#[test]
fn telemetry_costs_its_bytes() {
    // 42 B more in each of 1,000 packets at 80 ps a byte, on the bottleneck.
    let marking = json!({"kind": "telemetry", "multiplier": 0});
    let scheme = with(line_rate(), "/switch/marking", marking);
    let flow = (0, 1, 1_000_000, 0);
    let (time, ideal, _) = times(&single_switch(2), scheme, flow);
    let acknowledgement = 2.0 * 28.0 * 0.08;
    let expected = 1_001.0 * 42.0 * 0.08 + acknowledgement;
    assert!((time - ideal - expected).abs() < 0.01, "{}", time - ideal);
}
