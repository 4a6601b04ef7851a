//! BFC App. C: E_f(x, Th), the share of time for which a paused flow runs out of packets at its
//! bottleneck.

use serde_json::{Value, json};

use crate::fixture::{MS, US, bfc, column, graph, listed, run, scenario, with};

/// The share of 20 ms for which the 100 Gb/s link to host 1 is idle. One endless flow comes from a
/// link `ratio` times as fast. HRTT is 20 us, or 240 packets, so that packets are small against
/// HRTT.
fn empty_share(ratio: u64, threshold_factor: f64) -> f64 {
    let links = [(0, 2, 100 * ratio, 10 * US), (1, 2, 100, 10 * US)];
    let scheme = with(bfc(), "/switch/backpressure/threshold/factor", threshold_factor);
    idle_share(scheme, graph(2, 1, &links), 20)
}

/// The share of 20 ms for which link 3, the link to host 1, is idle after the first packet came at
/// `first_us`.
fn idle_share(scheme: Value, topology: Value, first_us: u64) -> f64 {
    let scheme = with(scheme, "/switch/backpressure/bitmap_interval", 0);
    let flow = listed(&[(0, 1, 0, 0)]);
    let results = run(&with(scenario(topology, scheme, &[flow], 20 * MS), "/drain", 0));
    assert!(results.summary.queue_pauses > 50, "{}", results.summary.queue_pauses);
    1.0 - column(&results, "links", "busy_ns")[3] / (20e6 - 1e3 * first_us as f64)
}

/// Eq. 4, with a threshold of `factor` times HRTT and the drain rate.
fn closed_form(ratio: f64, factor: f64) -> f64 {
    (ratio - 1.0) / (factor * ratio + ratio * ratio - 1.0)
}

#[test]
fn at_twice_the_rate_and_the_papers_threshold_it_is_a_fifth() {
    assert!((closed_form(2.0, 1.0) - 0.2).abs() < 1e-12);
    let share = empty_share(2, 1.0);
    assert!((share - 0.2).abs() < 0.01, "{share}");
}

#[test]
fn it_follows_the_closed_form_for_other_rates_and_thresholds() {
    for (ratio, factor) in [(2, 0.5), (2, 2.0), (2, 4.0), (4, 1.0), (8, 1.0)] {
        let share = empty_share(ratio, factor);
        let expected = closed_form(ratio as f64, factor);
        assert!((share - expected).abs() < 0.015, "{ratio}, {factor}: {share}, not {expected}");
    }
}

#[test]
fn it_is_the_same_when_a_switch_is_paused_instead_of_a_nic() {
    // The NIC does not react, so the first switch always has packets to send.
    let links = [(0, 2, 200, 10 * US), (1, 3, 100, 10 * US), (2, 3, 200, 10 * US)];
    let scheme = with(bfc(), "/host/nic/reacts", false);
    let scheme = with(scheme, "/switch/admission", json!({"kind": "infinite"}));
    let share = idle_share(scheme, graph(2, 2, &links), 30);
    assert!((share - 0.2).abs() < 0.01, "{share}");
}
