//! Controllers that set a rate: marks, notifications and feedback reach their sources and take
//! effect.

use serde_json::{Value, json};

use crate::bottleneck::{Bottleneck, Measured};
use crate::fixture::{
    GBPS, MS, US, column, dcqcn, dcqcn_mellanox, irn, listed, pcn, qcn, run, scenario,
    single_switch, timely, with,
};

/// `flows` flows that start together on links of `rate`.
fn crowd(scheme: Value, flows: usize, rate: u64, duration: u64) -> Measured {
    Bottleneck { rate, ..Bottleneck::new(scheme, flows, duration) }.measure()
}

#[test]
fn each_traffic_has_the_controller_that_is_named_for_it() {
    // Two flows that do not meet: half a bandwidth-delay product in flight, and line rate.
    let other = with(listed(&[(1, 3, 0, 0)]), "/label", "other");
    let window = json!({"kind": "window", "bdp_factor": 0.5});
    let others = json!([{"label": "other", "controller": {"kind": "line-rate"}}]);
    let scheme = with(irn(100_000_000), "/host/controller", window);
    let scheme = with(scheme, "/host/other_controllers", others);
    let flows = [listed(&[(0, 2, 0, 0)]), other];
    let scenario = scenario(single_switch(4), scheme, &flows, MS);
    let flows = run(&with(scenario, "/drain", 0)).summary.long_lived;
    let rate = |flow: usize| flows[flow].delivered_bytes as f64 * 8.0 * 1.048 / 1e-3 / 100e9;
    // The window may be exceeded by less than a packet, a 40th of it, and headers are not in it.
    assert!((0.5..0.56).contains(&rate(0)), "{}", rate(0));
    assert!(rate(1) > 0.99, "{}", rate(1));
}

#[test]
fn qcn_holds_the_queue_at_its_set_point() {
    // The run is at 10 Gb/s, the rate for which the standard's numbers are made.
    let measured = crowd(qcn(), 4, 10 * GBPS, 100 * MS);
    let queue = measured.mean_queue();
    assert!((queue / 26_000.0 - 1.0).abs() < 0.1, "{queue}");
    let total: f64 = measured.goodputs.iter().sum();
    assert!(total > 0.95 * 1e10 * 1_000.0 / 1_048.0, "{total}");
}

#[test]
fn dcqcn_shares_a_link_evenly_and_keeps_the_queue_near_kmin() {
    // The run is at 40 Gb/s, the rate for which the paper's numbers are made.
    let measured = crowd(dcqcn(), 2, 40 * GBPS, 40 * MS);
    let total: f64 = measured.goodputs.iter().sum();
    assert!(total > 0.98 * 4e10 * 1_000.0 / 1_048.0, "{total}");
    let flows = &measured.results.summary.long_lived;
    let ratio = flows[0].delivered_bytes as f64 / flows[1].delivered_bytes as f64;
    assert!((ratio - 1.0).abs() < 0.1, "{ratio}");
    let queue = measured.mean_queue();
    assert!((70_000.0..120_000.0).contains(&queue), "{queue}");
}

#[test]
fn a_receiver_notifies_each_source_at_most_once_an_interval() {
    let results = crowd(dcqcn(), 2, 40 * GBPS, 5 * MS).results;
    let sent = |name| column(&results, "links", name)[0]; // from the receiver to the switch
    // Acknowledgements have 60 B, notifications 64 B.
    let notifications = (sent("tx_bytes") - 60.0 * sent("tx_packets")) / 4.0;
    assert!((2.0..=2.0 * (5_000.0 / 50.0 + 1.0)).contains(&notifications), "{notifications}");
}

#[test]
fn pcn_shares_a_link_and_keeps_the_queue_within_its_oscillation() {
    let measured = crowd(pcn(), 4, 40 * GBPS, 40 * MS);
    let (goodputs, queue) = (&measured.goodputs, measured.mean_queue());
    let total: f64 = goodputs.iter().sum();
    assert!(total > 0.98 * 4e10 * 1_000.0 / 1_048.0, "{goodputs:?}");
    // A period brings 48 packets of a flow. One packet more or less is 2 % of the flow's rate, and
    // so is a first gain: the rates wander by several per cent. If each were off by a tenth, the
    // index would be 0.99.
    assert!(measured.jain() > 0.99, "{goodputs:?}");
    // dQ of equation 1, (N - 2 + w) w C T, is 3.9 kB. N packets that come at once are 4.2 kB.
    assert!(queue < 8_100.0, "{queue}");
}

#[test]
fn a_receiver_of_pcn_notifies_in_every_period_that_brings_packets() {
    let results = crowd(pcn(), 2, 40 * GBPS, 5 * MS).results;
    let sent = |name| column(&results, "links", name)[0]; // from the receiver to the switch
    let notifications = (sent("tx_bytes") - 60.0 * sent("tx_packets")) / 4.0;
    // The last period of each flow has not ended, so its notification is missing.
    assert_eq!(notifications, 2.0 * (5_000.0 / 50.0 - 1.0));
}

#[test]
fn a_flow_alone_keeps_the_line_rate() {
    for (scheme, packet) in [
        (dcqcn(), 1_048),
        (pcn(), 1_048),
        (dcqcn_mellanox(), 1_048),
        (qcn(), 1_048),
        (timely(), 1_056),
    ] {
        let expected = 1e11 * 1_000.0 / f64::from(packet);
        let goodput = crowd(scheme, 1, 100 * GBPS, MS).goodputs[0];
        assert!((goodput / expected - 1.0).abs() < 0.001, "{goodput} of {expected}");
    }
}

#[test]
fn every_flow_of_a_crowd_is_slowed_down_and_none_starves() {
    for scheme in [dcqcn_mellanox(), timely()] {
        let goodputs = crowd(scheme, 4, 100 * GBPS, 10 * MS).goodputs;
        let total: f64 = goodputs.iter().sum();
        assert!(total > 0.75e11, "{goodputs:?}");
        assert!(
            goodputs.iter().all(|goodput| (goodput / total - 0.25).abs() < 0.05),
            "{goodputs:?}"
        );
    }
}

/// Sec. 7.3: alpha starts at 1, so the first notification halves the rate; n expiries of the timer
/// recover R_C = R_T - (R_T - R_0)/2^n, for n < F = 5. A burst of another host makes a queue that
/// marks for less than 50 us, the time between notifications. The rate is measured at the uplink
/// over 40 us of each period of 55 us. It is right to 2.5 %, the packet with which the 40 us begin
/// or end.
#[test]
fn the_first_notification_halves_the_rate_and_each_period_recovers_half_of_the_rest() {
    let step = with(dcqcn(), "/switch/marking/kmin", 20_000);
    let step = with(step, "/switch/marking/kmax", 20_000);
    let flows = listed(&[(0, 2, 0, 0), (1, 2, 60_000, 0)]);
    let scenario = scenario(single_switch(3), step, &[flows], MS);
    let scenario = with(with(scenario, "/drain", 0), "/measure/sample_interval", US);
    let results = run(&with(scenario, "/measure/series", json!([[0, 3]])));
    let sent = column(&results, "series", "tx_bytes");
    let rate = |from: usize, to: usize| (sent[to] - sent[from]) / (to - from) as f64 / 12_500.0;
    let cut = (1..).find(|&at| rate(at, at + 4) < 0.9).unwrap() + 3;
    assert!((5..15).contains(&cut), "after a round trip and what the queue takes: {cut} us");
    for (period, expected) in [0.5, 0.75, 0.875, 0.9375, 0.96875].into_iter().enumerate() {
        let from = cut + 5 + 55 * period;
        let measured = rate(from, from + 40);
        assert!((measured / expected - 1.0).abs() < 0.025, "{period}: {measured}, not {expected}");
    }
}
