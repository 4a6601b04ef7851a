//! A flow that is alone finishes exactly when store-and-forward arithmetic says.

use serde_json::{Value, json};

use crate::fixture::{
    US, bfc, column, dcqcn, dcqcn_mellanox, dctcp, dumbbell, graph, hpcc, ideal_fq, irn,
    leaf_spine, line_rate, listed, pfc, powertcp, qcn, run_to_the_end, scenario, sfq,
    single_switch, swift, theta_powertcp, timely, with,
};

/// Sizes of one byte, around a packet, a product of bandwidth and delay, and a hundred of these
/// products.
const SIZES: [u64; 8] = [1, 999, 1_000, 1_001, 2_000, 100_000, 123_456, 10_000_000];

/// Networks, each with two hosts that are far from each other.
fn networks() -> Vec<(Value, u32, u32)> {
    let odd = [(0, 3, 100, 700), (1, 4, 33, 1_300), (2, 3, 40, 5), (3, 4, 7, 2 * US)];
    let parking_lot = json!({"kind": "chain", "switches": 5, "hosts_per_switch": 2,
        "edge_rate": 25_000_000_000u64, "edge_delay": US, "core_rate": 100_000_000_000u64,
        "core_delay": 3 * US, "pipeline_delay": 450_000, "failed_links": []});
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
    times_of(&scenario(topology.clone(), scheme, &[listed(&[flow])], 10 * US), flow)
}

fn times_of(scenario: &Value, flow: (u32, u32, u64, u64)) -> (f64, f64, f64) {
    let results = run_to_the_end(scenario);
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
    // 10 MB go from 400 Gb/s into 100 Gb/s: the source is paused, but the core never runs dry.
    let topology = dumbbell(1, 1, 400_000_000_000);
    let (time, ideal, _) = times(&topology, pfc(), (0, 1, 10_000_000, 0));
    assert_eq!(time, ideal);
}

#[test]
fn the_vectors_of_bfcs_network_hold() {
    // BASELINES 29, sender side, across racks: 8,355 / 16,655 / 92,111 ns for 1 / 100 / 1,000
    // packets.
    for (packets, expected) in [(1, 8_355.0), (100, 16_655.0), (1_000, 92_111.0)] {
        let flow = (0, 3, packets * 1_000, 0);
        let (time, _, _) = times(&leaf_spine(2, 2, 2), line_rate(), flow);
        assert_eq!(time.round(), expected);
    }
}

#[test]
fn telemetry_costs_its_bytes() {
    // Each of 1,000 packets has 42 B more, at 80 ps a byte on the bottleneck.
    let marking = json!({"kind": "telemetry", "multiplier": 0});
    let scheme = with(line_rate(), "/switch/marking", marking);
    let flow = (0, 1, 1_000_000, 0);
    let (time, ideal, _) = times(&single_switch(2), scheme, flow);
    let acknowledgement = 2.0 * 28.0 * 0.08;
    let expected = 1_001.0 * 42.0 * 0.08 + acknowledgement;
    assert!((time - ideal - expected).abs() < 0.01, "{}", time - ideal);
}

/// BASELINES 23, item 1: a controller that starts at line rate and hears of no congestion does not
/// slow a flow down, to the picosecond.
#[test]
fn controllers_without_congestion_cost_nothing() {
    let delay = json!({"kind": "delay", "target_factor": 2.5});
    let schemes = [
        sfq(),
        ideal_fq(),
        with(bfc(), "/host/controller", delay),
        with(pfc(), "/host/controller", json!({"kind": "window", "bdp_factor": 1.0})),
        dctcp(),
        dcqcn(),
        dcqcn_mellanox(),
        qcn(),
        irn(500_000),
    ];
    for scheme in schemes {
        let scheme = match scheme.pointer("/switch/backpressure/bitmap_interval") {
            Some(_) => with(scheme, "/switch/backpressure/bitmap_interval", 0),
            None => scheme,
        };
        for topology in [leaf_spine(2, 2, 2), single_switch(4)] {
            for size in SIZES {
                let (time, ideal, _) = times(&topology, scheme.clone(), (0, 3, size, 0));
                assert_eq!(time, ideal, "{size} B with {}", scheme["name"]);
            }
        }
    }
}

/// Timestamps and telemetry cost their bytes and no more. A flow of TIMELY, Swift or theta-PowerTCP takes
/// as long as a flow at line rate with 8 B more of header. A flow of HPCC or PowerTCP without feedback
/// takes as long as a flow with 42 B more, and 28 B more of ACK. Feedback comes after a round trip, so
/// half a product of bandwidth and delay has none.
#[test]
fn timestamps_and_telemetry_cost_their_bytes_and_no_more() {
    let topology = leaf_spine(2, 2, 2);
    let line = |size: u64, header: u32, acknowledgement: u32| {
        let flow = (0, 3, size, 0);
        let scenario = scenario(topology.clone(), line_rate(), &[listed(&[flow])], 10 * US);
        let scenario = with(scenario, "/wire/header", header);
        times_of(&with(scenario, "/wire/acknowledgement", acknowledgement), flow).0
    };
    for size in SIZES {
        let (time, _, _) = times(&topology, timely(), (0, 3, size, 0));
        assert_eq!(time, line(size, 56, 60), "{size} B with TIMELY");
        let (time, _, _) = times(&topology, swift(1_000), (0, 3, size, 0));
        assert_eq!(time, line(size, 56, 60), "{size} B with Swift");
        let (time, _, _) = times(&topology, theta_powertcp(167), (0, 3, size, 0));
        assert_eq!(time, line(size, 56, 60), "{size} B with theta-PowerTCP");
    }
    for size in [1, 999, 1_000, 1_001, 2_000, 52_000] {
        let (time, _, _) = times(&topology, hpcc(), (0, 3, size, 0));
        assert_eq!(time, line(size, 90, 88), "{size} B with HPCC");
        let (time, _, _) = times(&topology, powertcp(167), (0, 3, size, 0));
        assert_eq!(time, line(size, 90, 88), "{size} B with PowerTCP");
    }
}

/// BASELINES 9.4: HPCC keeps eta = 0.95 of the link busy, with 1,000 B of payload in 1,090 B: 87.2
/// Gb/s at 100 Gb/s. Measured in the second half of a flow of 100 BDP, so that the round trip does
/// not count. The rate may exceed eta by up to two steps of W_AI: one that reaches eta, and one
/// before the first is felt.
#[test]
fn a_long_hpcc_flow_gets_its_target_of_the_link() {
    let (size, bdp) = (5_200_000u64, 52_216.0);
    let time = |size| times(&single_switch(2), hpcc(), (0, 1, size, 0)).0;
    let goodput = size as f64 / 2.0 * 8.0 / (time(size) - time(size / 2)); // Gb/s
    let utilization = goodput / 100.0 * 1_090.0 / 1_000.0;
    assert!((0.9495..0.95 + 2.0 * 80.0 / bdp).contains(&utilization), "{utilization}");
}

/// When the last of `packets` of a paced slow start from 10 packets arrives, in round trips.
///
/// BASELINES 5.3: the rate is W/T, and W is 10 packets and everything acknowledged so far. In units
/// of first windows and round trips, the amount sent is thus y with y' = a·(1 + y(t - 1)). The
/// factor a = 1000/1048 is there because W is payload and the rate is on the wire. The solution is
/// the sum over k of a^k·(t - k + 1)^k/k! while t > k - 1.
fn round_trips_of_slow_start(packets: f64) -> f64 {
    let ratio: f64 = 1_000.0 / 1_048.0;
    let sent = |time: f64| {
        let terms = (1..40).map(f64::from).take_while(|order| time > order - 1.0);
        let mut scale = 1.0;
        terms
            .map(|order| {
                scale *= ratio / order;
                scale * (time - order + 1.0).powf(order)
            })
            .sum::<f64>()
    };
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if sent(middle) < (packets - 1.0) / 10.0 { low = middle } else { high = middle }
    }
    low + 1.0
}

/// Within 2 %: windows grow by whole packets, a little ahead of the fluid. A paced slow start grows
/// 1.7-fold in a round trip. So it takes more round trips than a slow start that sends its window
/// at once, which takes ceil(log2(1 + m/10)) (BASELINES 4.5) and is the lower bound.
#[test]
fn a_dctcp_slow_start_takes_the_round_trips_of_its_growth() {
    let scheme = with(dctcp(), "/host/controller/start", "slow-start");
    let topology = with(single_switch(2), "/delay", 10 * US);
    let round_trip = 40_000.0 + 2.0 * (1_048.0 + 60.0) * 0.08; // ns
    for packets in [1, 10, 11, 20, 50, 100, 300] {
        let flow = (0, 1, packets * 1_000, 0);
        let (time, _, _) = times(&topology, scheme.clone(), flow);
        let expected = round_trips_of_slow_start(packets as f64) * round_trip;
        assert!((time / expected - 1.0).abs() < 0.02, "{packets}: {time} ns, not {expected}");
        let unpaced = (1.0 + packets as f64 / 10.0).log2().floor();
        assert!(time > unpaced * round_trip);
    }
}
