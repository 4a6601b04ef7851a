//! CoDel in a network: waits near its target, and drops that happen as packets leave their queues.
//! Every run checks its invariants.

use penstock_sim::Results;
use serde_json::{Value, json};

use crate::fixture::{
    GBPS, MS, US, bfc, column, dctcp, dumbbell, incast, leaf_spine, listed, open_loop,
    perfect_retransmission, pfc, run, run_to_the_end, scenario, tcp, with,
};

/// `scheme` with CoDel's target and interval for data centers, as in CAKE.
fn codel(scheme: Value, action: &str) -> Value {
    let marking = json!({"kind": "codel", "target": 5 * US, "interval": 100 * US, "mtu": 1_500,
                         "action": action});
    with(scheme, "/switch/marking", marking)
}

/// Four endless flows for 20 ms through a core of 100 Gb/s; the round trip is 20 us.
fn endless(scheme: Value) -> Results {
    let topology = with(dumbbell(4, 4, 100 * GBPS), "/core_delay", 8 * US);
    let flows: Vec<_> = (0..4).map(|host| (host, 4 + host, 0, 0)).collect();
    let scenario = scenario(topology, scheme, &[listed(&flows)], 20 * MS);
    let scenario = with(with(scenario, "/drain", 0), "/measure/queue_delays", true);
    run(&with(with(scenario, "/measure/active_flows", true), "/measure/events", true))
}

/// The longest median wait of a group of links (us), and the share of the core that was used.
fn waits_and_use(results: &Results) -> (f64, f64) {
    let wait = column(results, "queue_delays", "p50_ns").into_iter().fold(0.0, f64::max) / 1e3;
    let sent = column(results, "links", "tx_bytes").into_iter().fold(0.0, f64::max);
    (wait, sent * 8.0 / (100e9 * 20e-3))
}

/// How many drops are listed one by one.
fn listed_drops(results: &Results) -> u64 {
    let number =
        results.summary.event_names.iter().position(|name| *name == "drop").unwrap() as f64;
    column(results, "events", "event").iter().filter(|&&event| event == number).count() as u64
}

#[test]
fn tcp_behind_a_large_buffer_waits_for_about_the_target() {
    let (filled, _) = waits_and_use(&endless(tcp(2_000_000)));
    let results = endless(codel(tcp(2_000_000), "drop"));
    let (wait, used) = waits_and_use(&results);
    let drops = results.summary.drops;
    assert!(filled > 80.0, "{filled}");
    assert!(wait < 15.0 && used > 0.9, "{wait} us, {used}, {drops} drops");
    assert!(drops > 20, "{drops}");
    assert_eq!(column(&results, "links", "drops").iter().sum::<f64>(), drops as f64);
    assert_eq!(listed_drops(&results), drops);
}

#[test]
fn senders_that_hear_of_marks_need_no_drops() {
    let results = endless(codel(dctcp(), "mark"));
    let (wait, used) = waits_and_use(&results);
    assert_eq!((results.summary.drops, results.summary.timeouts), (0, 0));
    assert!(wait < 50.0 && used > 0.9, "{wait} us, {used}");
}

/// Background traffic and an incast on a small network.
fn busy(scheme: Value) -> Value {
    let sizes = json!({"kind": "pareto", "shape": 1.3, "mean": 20_000});
    let traffic = [open_loop(sizes, 0.6, 300 * US), incast(12, 300_000, Some(0))];
    let scenario = scenario(leaf_spine(2, 8, 2), scheme, &traffic, 300 * US);
    let measured = with(scenario, "/measure/queue_delays", true);
    with(with(measured, "/measure/active_flows", true), "/drain", 500 * MS)
}

#[test]
fn a_source_that_hears_of_drops_sends_exactly_these_again() {
    let scheme = with(perfect_retransmission(), "/host/controller", json!({"kind": "line-rate"}));
    let results = run_to_the_end(&busy(codel(scheme, "drop")));
    let summary = &results.summary;
    assert!(summary.drops > 5, "{}", summary.drops);
    assert_eq!((summary.retransmitted_packets, summary.timeouts), (summary.drops, 0));
    let sizes: f64 = column(&results, "flows", "size_bytes").iter().sum();
    assert_eq!(summary.delivered_bytes as f64, sizes, "nothing arrives twice");
}

#[test]
fn pauses_end_although_the_packets_that_hold_them_are_dropped() {
    for scheme in [bfc(), pfc()] {
        // BFC's queues are too short for the other values.
        let hasty = with(codel(scheme, "drop"), "/switch/marking/target", US);
        let results = run_to_the_end(&busy(with(hasty, "/switch/marking/interval", 5 * US)));
        let summary = &results.summary;
        assert!(summary.drops > 5, "{}", summary.drops);
        assert!(summary.queue_pauses + summary.pfc_pauses > 5);
        let delivered = column(&results, "flows", "delivered_bytes");
        assert_eq!(delivered, column(&results, "flows", "size_bytes"));
    }
}
