//! The cost of losses under TCP and IRN, against closed forms.

use serde_json::{Value, json};

use crate::fixture::{
    GBPS, MS, US, column, dumbbell, incast, irn, line_rate, listed, run, run_to_the_end, scenario,
    single_switch, tcp, with,
};

/// Time of a full packet at 100 Gb/s (ns).
const PACKET_NS: f64 = 83.84;

fn completion_ns(scheme: &Value, size: u64) -> f64 {
    let flow = listed(&[(0, 1, size, 0)]);
    let results = run_to_the_end(&scenario(single_switch(2), scheme.clone(), &[flow], US));
    assert_eq!(results.summary.retransmitted_packets + results.summary.timeouts, 0);
    column(&results, "flows", "fct_ns")[0]
}

#[test]
fn a_short_tcp_flow_takes_the_rounds_of_its_slow_start() {
    // Rounds have 10, 20 and 40 packets. The first acknowledgement of a round starts the next
    // round, and each acknowledgement lets two packets leave, which the link spreads.
    let scheme = tcp(500_000);
    let round_trip = completion_ns(&scheme, 1_000);
    for (packets, rounds, last_round) in [(10, 1.0, 10.0), (30, 2.0, 20.0), (70, 3.0, 40.0)] {
        let expected = rounds * round_trip + (last_round - 1.0) * PACKET_NS;
        let time = completion_ns(&scheme, packets * 1_000);
        assert!((time - expected).abs() < 0.01, "{packets}: {time} {expected}");
    }
}

/// One endless TCP flow for 40 ms through a core with a buffer of `factor` bandwidth-delay
/// products.
fn saw_tooth(factor: f64) -> penstock_sim::Results {
    let buffer = (factor * 100e9 / 8.0 * CORE_ROUND_TRIP) as u64;
    let topology = with(dumbbell(1, 1, 400 * GBPS), "/core_delay", 8 * US);
    let flow = listed(&[(0, 1, 0, 0)]);
    let scenario = with(scenario(topology, tcp(buffer), &[flow], 40 * MS), "/drain", 0);
    let scenario =
        with(with(scenario, "/measure/sample_interval", 10 * MS), "/measure/events", true);
    run(&with(scenario, "/measure/series", json!([[2, 3]])))
}

/// Round trip of that flow (s): in each direction two edges of 1 us and a core of 8 us; and a
/// packet on three links.
const CORE_ROUND_TRIP: f64 = 20e-6 + (2.0 * 1_048.0 / 400e9 + 1_048.0 / 100e9) * 8.0;

/// The share of the core's rate that the flow uses from 10 ms to 40 ms.
fn utilization(factor: f64) -> f64 {
    let results = saw_tooth(factor);
    assert!(results.summary.drops > 0);
    let sent = column(&results, "series", "tx_bytes");
    (sent[4] - sent[1]) * 8.0 / (30e-3 * 100e9)
}

#[test]
fn the_saw_tooth_of_a_tcp_flow_uses_what_its_buffer_allows() {
    // The closed form is 3/4 x^2 / (x^2 - x + 1), with x = 1 + buffer / BDP.
    for (factor, expected) in [(0.25, 0.893), (0.5, 0.964), (1.0, 1.0)] {
        let used = utilization(factor);
        assert!((used - expected).abs() < 0.01, "{factor}: {used} instead of {expected}");
    }
}

/// The window grows by a packet in a round trip, from W/2 to W = C·T + buffer. A round trip is T
/// until the link is full, and W/C from then on. Within 3 %: of 170 round trips, fast recovery
/// takes one.
#[test]
fn the_saw_tooth_of_a_tcp_flow_has_a_tooth_in_half_a_window_of_round_trips() {
    for factor in [0.25, 0.5, 1.0] {
        let results = saw_tooth(factor);
        let drop = results.summary.event_names.iter().position(|name| *name == "drop").unwrap();
        let (times, events) =
            (column(&results, "events", "time_ps"), column(&results, "events", "event"));
        // The first tooth does not count: it follows the slow start, which drops many packets.
        let late = (0..times.len()).filter(|&row| events[row] == drop as f64 && times[row] > 14e9);
        let drops: Vec<f64> = late.map(|row| times[row] / 1e12).collect();
        let gaps: Vec<f64> = drops.windows(2).map(|two| two[1] - two[0]).collect();
        let teeth: Vec<f64> = gaps.into_iter().filter(|&gap| gap > 1e-3).collect();
        assert!(teeth.len() >= 2, "{teeth:?}");
        let largest = (1.0 + factor) * 100e9 / 8.0 * CORE_ROUND_TRIP / 1_048.0; // packets
        let round_trips = (largest / 2.0) as u64..largest as u64;
        let expected: f64 =
            round_trips.map(|window| CORE_ROUND_TRIP.max(window as f64 * PACKET_NS / 1e9)).sum();
        for tooth in teeth {
            assert!((tooth / expected - 1.0).abs() < 0.03, "{factor}: {tooth} s, not {expected}");
        }
    }
}

#[test]
fn selective_repeat_sends_again_what_was_dropped_and_nothing_else() {
    let burst = [incast(7, 200_000, Some(0))];
    let go_back_n =
        with(line_rate(), "/switch/admission", irn(50_000)["switch"]["admission"].clone());
    let results =
        |scheme| run_to_the_end(&scenario(single_switch(8), scheme, &burst, 100 * US)).summary;
    let (selective, rewinding) = (results(irn(50_000)), results(go_back_n));
    assert!(selective.drops > 100, "{}", selective.drops);
    assert_eq!(selective.retransmitted_packets, selective.drops);
    assert!(rewinding.retransmitted_packets > 3 * selective.retransmitted_packets);
}

#[test]
fn dctcp_and_a_constant_window_recover_like_tcp() {
    let burst = [incast(7, 200_000, Some(0))];
    let window = json!({"kind": "window", "bdp_factor": 1.0});
    let dctcp = json!({"kind": "dctcp", "gain": 0.0625, "start": "slow-start",
        "initial_window_packets": 10, "increase": {"kind": "window", "size": 1_000},
        "minimum_rate": GBPS / 10, "window": "scaled"});
    let step = json!({"kind": "ecn", "kmin": 20_000, "kmax": 20_000, "pmax": 1.0, "at": "enqueue",
        "of": "queue", "per_rate": []});
    for (controller, marking) in [(window, json!({"kind": "none"})), (dctcp, step)] {
        for recovery in [tcp(50_000), irn(50_000)] {
            let scheme = with(recovery, "/host/controller", controller.clone());
            let scheme = with(scheme, "/switch/marking", marking.clone());
            let scenario = scenario(single_switch(8), scheme, &burst, 100 * US);
            assert!(run_to_the_end(&scenario).summary.drops > 0);
        }
    }
}
