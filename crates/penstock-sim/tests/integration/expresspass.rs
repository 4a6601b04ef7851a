//! ExpressPass: the part of a link that credits leave to data, the shares of flows, waiting data,
//! and wasted credits. Frames have the sizes of Ethernet on the wire: 1,538 B of data for a credit of 84 B.

use penstock_sim::Results;
use serde_json::{Value, json};

use crate::fixture::{
    MS, US, column, expresspass, graph, leaf_spine, listed, run, run_to_the_end, scenario,
    single_switch, with,
};

/// Wire bytes of a full data packet and its credit together.
const PAIR: f64 = 1_538.0 + 84.0;

/// A scenario with the frames of ExpressPass.
fn with_frames(topology: Value, scheme: Value, flows: &[(u32, u32, u64, u64)], end: u64) -> Value {
    let wire = json!({"payload": 1_460, "header": 78, "acknowledgement": 84, "telemetry": 42,
        "timestamp": 8, "control_frame": 84});
    with(scenario(topology, scheme, &[listed(flows)], end), "/wire", wire)
}

/// Wire bytes and payload that a link carries from `from` to `end`, in samples of every
/// microsecond.
fn carried(results: &Results, from: u64, end: u64) -> (f64, f64) {
    let between = |name| {
        let samples = column(results, "series", name);
        samples[(end / US) as usize] - samples[(from / US) as usize]
    };
    (between("tx_bytes"), between("data_bytes"))
}

fn sampled(scenario: Value, link: (u32, u32)) -> Value {
    with(
        with(with(scenario, "/measure/sample_interval", US), "/measure/series", json!([link])),
        "/drain",
        0,
    )
}

/// With a flow in each direction, data and credits share both links: 94.82 % and 5.18 %.
#[test]
fn credits_take_their_share_of_a_saturated_link_and_data_the_rest() {
    let flows = [(0, 1, 0, 0), (1, 0, 0, 0)];
    let scenario = with_frames(single_switch(2), expresspass(1_538), &flows, 4 * MS);
    let results = run(&sampled(scenario, (2, 0)));
    let (bytes, payload) = carried(&results, MS, 4 * MS);
    let link = 100e9 / 8.0 * 3e-3;
    let data = payload / 1_460.0 * 1_538.0;
    let (data_share, credit_share) = (data / link, (bytes - data) / link);
    assert!((credit_share / (84.0 / PAIR) - 1.0).abs() < 0.01, "{credit_share}");
    assert!((data_share / (1_538.0 / PAIR) - 1.0).abs() < 0.01, "{data_share}");
}

/// One flow alone gets the same share.
#[test]
fn a_flow_alone_gets_94_8_percent_of_the_link() {
    let scenario = with_frames(single_switch(2), expresspass(1_538), &[(0, 1, 0, 0)], 2 * MS);
    let results = run(&sampled(scenario, (2, 1)));
    let (_, payload) = carried(&results, MS, 2 * MS);
    let share = payload / 1_460.0 * 1_538.0 / (100e9 / 8.0 * 1e-3);
    assert!((share / (1_538.0 / PAIR) - 1.0).abs() < 0.01, "{share}");
}

/// A request and a credit come before the data. So the data reach the receiver after one and a half
/// round trips instead of a half, and the acknowledgement reaches the sender after two instead of
/// one.
#[test]
fn one_packet_takes_a_round_trip_more_than_at_line_rate() {
    let flows = [(0, 3, 1_460, 0)];
    let fixed =
        ["credit_minimum", "credit_maximum"].iter().fold(expresspass(1_538), |scheme, field| {
            with(scheme, &format!("/host/controller/{field}"), 84)
        });
    let fixed = with_frames(leaf_spine(2, 2, 2), fixed, &flows, 10 * US);
    let results = run_to_the_end(&fixed);
    let (time, ideal) =
        (column(&results, "flows", "fct_ns")[0], column(&results, "flows", "ideal_fct_ns")[0]);
    // The request and the credit each take two links of 1 us and 84 B: four links together.
    let flight = 4.0 * (1_000.0 + 84.0 * 0.08);
    assert!((time - ideal - 2.0 * flight).abs() < 0.01, "{time} {ideal}");
    let data = 4.0 * (1_000.0 + 1_538.0 * 0.08);
    assert!((time - flight - (2.0 * flight + data)).abs() < 0.01, "at the receiver");
}

/// Flows that start `gap` apart, each from a host of its own to host 0.
fn crowd(flows: u32, gap: u64, end: u64) -> Results {
    let list: Vec<_> = (0..flows).map(|flow| (flow + 1, 0, 0, u64::from(flow) * gap)).collect();
    let scenario = with_frames(single_switch(flows + 1), expresspass(1_538), &list, end);
    run(&sampled(scenario, (flows + 1, 0)))
}

/// Jain's index of what each flow has delivered.
fn jain(delivered: &[f64]) -> f64 {
    let (sum, squares) = delivered
        .iter()
        .fold((0.0, 0.0), |(sum, squares), bytes| (sum + bytes, squares + bytes * bytes));
    sum * sum / (squares * delivered.len() as f64)
}

/// The payload that `flows` flows delivered between `from` and `to`, as the difference of two runs.
fn delivered(flows: u32, from: u64, to: u64) -> Vec<f64> {
    let until = |end| column(&crowd(flows, 0, end), "flows", "delivered_bytes");
    until(to).iter().zip(until(from)).map(|(late, early)| late - early).collect()
}

/// The round trip of a flow through one switch.
const ROUND_TRIP: u64 = 4_300_000;

/// Flows that start together are at about their fair shares after ten round trips and stay there,
/// and the link is always full. With credits of several sizes the link carries a little more than
/// 94.8 %, because a full credit queue has room for a small credit more often than for a large one.
#[test]
fn flows_share_a_link_evenly_after_a_few_round_trips() {
    for flows in [2, 4, 8, 16] {
        for (first, last, least) in [(10, 60, 0.9), (60, 660, 0.95)] {
            let shares = delivered(flows, first * ROUND_TRIP, last * ROUND_TRIP);
            let total: f64 = shares.iter().sum::<f64>() * 1_538.0 / 1_460.0;
            let span = (last - first) as f64 * ROUND_TRIP as f64 * 1e-12;
            let (jain, utilization) = (jain(&shares), total * 8.0 / (100e9 * span));
            assert!(jain >= least, "{flows} flows: {shares:?}");
            assert!((utilization - 1_538.0 / PAIR).abs() < 0.01, "{flows} flows: {utilization}");
        }
    }
}

/// Data wait only for data whose credits took a different time to their senders. So nothing is
/// dropped and the queue holds a few packets, however many flows there are.
#[test]
fn the_data_queue_is_short_and_credits_are_dropped_instead() {
    for flows in [2, 16, 64] {
        let results = crowd(flows, 0, 2 * MS);
        let queue = column(&results, "links", "queue_bytes_max").into_iter().fold(0.0, f64::max);
        assert_eq!((results.summary.drops, results.summary.timeouts), (0, 0));
        assert!(queue <= 10.0 * 1_538.0, "{flows} flows: {queue} B");
        assert!(results.summary.credits_dropped > 0);
    }
}

/// Credits that leave the receiver before the stop arrives are wasted: at most those of a round
/// trip at the largest rate.
#[test]
fn a_flow_wastes_the_credits_of_a_round_trip_at_most() {
    for packets in [1, 40, 400, 4_000] {
        // The second flow gives the last credits of the first one time to arrive.
        let flows = [(0, 3, packets * 1_460, 0), (1, 2, 1_460, 9 * MS)];
        let scenario = with_frames(leaf_spine(2, 2, 2), expresspass(1_538), &flows, 10 * MS);
        for early_stop in [false, true] {
            let scenario = with(scenario.clone(), "/scheme/host/controller/early_stop", early_stop);
            let summary = run_to_the_end(&scenario).summary;
            let round_trip = 8.0 * (1_000.0 + 84.0 * 0.08) + 4.0 * 1_538.0 * 0.08; // ns
            let most = round_trip / (PAIR * 0.08) / 0.9;
            assert!(summary.credits_wasted as f64 <= 2.0 * most + 1.0, "{packets} packets");
            assert_eq!(summary.credits_sent, summary.credits_wasted + packets + 1);
        }
    }
}

/// Senders at different distances send through a core of 10 Gb/s with room for one packet. Some
/// data are lost, the last packet of a flow among them, and all data arrive in the end.
#[test]
fn lost_data_are_sent_again() {
    let uplink = |host| (host, 9, 100, US + u64::from(host) * 170_000);
    let mut links: Vec<_> = (0..8).map(uplink).collect();
    links.extend([(9, 10, 10, US), (8, 10, 100, US)]);
    let flows: Vec<_> = (0..8).map(|host| (host, 8, 100_000, 0)).collect();
    let tiny = json!({"kind": "static", "per_port": 1_600, "other_tiers": []});
    let scheme = with(expresspass(1_538), "/switch/admission", tiny);
    let summary = run_to_the_end(&with_frames(graph(9, 2, &links), scheme, &flows, MS)).summary;
    assert!(summary.drops > 0 && summary.retransmitted_packets >= summary.drops);
}

/// With one flow the paper's loop fills the link; a tenth of the credits is lost, as the loop aims
/// at. Four flows get even shares, but leave a part of the link unused: two updates see the loss of
/// one round trip, and cut twice what the released loop cuts to the delivered rate.
#[test]
fn the_loop_of_the_paper_is_fair_and_cuts_twice() {
    let paper = json!({"kind": "paper", "target_loss": 0.1});
    let scheme = with(expresspass(1_538), "/host/controller/feedback", paper);
    let topology = with(single_switch(5), "/delay", 12 * US);
    for (senders, least, most) in [(1, 0.945, 0.953), (4, 0.75, 0.9)] {
        let flows: Vec<_> = (1..=senders).map(|host| (host, 0, 0, 0)).collect();
        let scenario = with_frames(topology.clone(), scheme.clone(), &flows, 8 * MS);
        let results = run(&sampled(scenario, (5, 0)));
        let (_, payload) = carried(&results, 2 * MS, 8 * MS);
        let share = payload / 1_460.0 * 1_538.0 / (100e9 / 8.0 * 6e-3);
        assert!(share > least && share < most, "{senders} flows: {share}");
        let delivered = column(&results, "flows", "delivered_bytes");
        assert!(jain(&delivered) > 0.98, "{delivered:?}");
    }
}
