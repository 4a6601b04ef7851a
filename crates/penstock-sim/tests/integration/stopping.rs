//! Flows that stop before their last bytes, against the time that a link takes for what they have sent.

use penstock_sim::forecast;
use serde_json::json;

use crate::fixture::{
    MS, US, column, graph, incast, irn, listed, parse, run, run_to_the_end, scenario,
    single_switch, with,
};

/// Bytes on the wire of a packet with 1,000 B of payload.
const PACKET: f64 = 1_048.0;

#[test]
fn a_flow_leaves_its_share_to_the_others_when_it_stops() {
    // Two endless flows to one host; the first one sends for 500 us, the second one for 1 ms.
    let flows = listed(&[(0, 2, 0, 0), (1, 2, 0, 0)]);
    let flows = with(flows, "/lasts", json!([500 * US, MS]));
    let results = run_to_the_end(&scenario(single_switch(3), irn(100_000_000), &[flows], 2 * MS));
    assert_eq!((results.summary.flows_started, results.summary.flows_finished), (2, 2));
    let sizes = column(&results, "flows", "size_bytes");
    let delivered = column(&results, "flows", "delivered_bytes");
    assert_eq!(sizes, delivered);
    let payload = 100e9 / 8e9 * 1_000.0 / PACKET; // of the link, bytes a nanosecond
    let total = sizes[0] + sizes[1];
    assert!((total / (payload * 1e6) - 1.0).abs() < 0.01, "the link is full for 1 ms: {total}");
    let first = payload * 500e3 / 2.0; // half of the link
    assert!((sizes[0] / first - 1.0).abs() < 0.05, "{} of {first}", sizes[0]);
    let completion = column(&results, "flows", "fct_ns");
    assert!(completion[0] > 500e3 && completion[0] < 530e3, "{completion:?}");
    assert!(completion[1] > 1e6 && completion[1] < 1.03e6, "{completion:?}");
    // The ideal time is that of the bytes sent.
    let ideal = column(&results, "flows", "ideal_fct_ns");
    for (size, ideal) in sizes.iter().zip(ideal) {
        let alone = size / payload;
        assert!(ideal > alone && ideal < alone + 5e3, "{ideal} {alone}");
    }
}

#[test]
fn the_ideal_time_of_a_flow_that_stops_is_that_of_the_routes_at_its_start() {
    // From 50 us on the way leads over a third switch, 100 us further on.
    let detour = [(2, 4, 100, 100 * US), (4, 3, 100, 100 * US)];
    let links = [(0, 2, 100, US), (1, 3, 100, US), (2, 3, 100, US), detour[0], detour[1]];
    let flows = with(listed(&[(0, 1, 0, 0)]), "/lasts", json!([400 * US]));
    let scenario = scenario(graph(2, 3, &links), irn(100_000_000), &[flows], MS);
    let outages = json!([{"link": [2, 3], "start": 50 * US, "end": null}]);
    let results = run_to_the_end(&with(scenario, "/faults/outages", outages));
    let [size, ideal] =
        ["size_bytes", "ideal_fct_ns"].map(|name| column(&results, "flows", name)[0]);
    let alone = size * PACKET / 1_000.0 * 8.0 / 100.0;
    assert!(ideal > alone && ideal < alone + 10e3, "{ideal} {alone}");
}

/// Flows one behind the other are foreseen as one flow at a time, which has the link for itself.
#[test]
fn flows_that_stop_are_foreseen_for_their_time() {
    let rows: Vec<_> = (0..100).map(|row| (0, 1, 0, row * 10 * US)).collect();
    let flows = with(listed(&rows), "/lasts", json!(vec![10 * US; 100]));
    let foreseen =
        forecast(&parse(&scenario(single_switch(2), irn(100_000_000), &[flows], MS))).unwrap();
    assert_eq!(foreseen.flows, 100.0);
    assert!((foreseen.open_flows - 1.0).abs() < 1e-6, "{}", foreseen.open_flows);
    let full = 100e9 / 8.0 * 1e-3 / PACKET;
    assert!((foreseen.data_packets / full - 1.0).abs() < 1e-3, "{}", foreseen.data_packets);
}

#[test]
fn senders_of_an_incast_go_on_and_off() {
    let senders = with(incast(3, 1 << 40, Some(3)), "/lasts", json!(40 * US));
    let senders = with(senders, "/period", json!(100 * US));
    let senders = with(senders, "/stop", json!(300 * US));
    let scenario = scenario(single_switch(4), irn(100_000_000), &[senders], 300 * US);
    let results = run_to_the_end(&scenario);
    let starts = column(&results, "flows", "start_ns");
    let expected = [0.0, 0.0, 0.0, 100e3, 100e3, 100e3, 200e3, 200e3, 200e3];
    assert_eq!(starts, expected);
    let completion = column(&results, "flows", "fct_ns");
    assert!(completion.iter().all(|&time| time > 40e3 && time < 60e3), "{completion:?}");
}

#[test]
fn a_flow_that_stops_is_not_endless() {
    // Only the second flow is in the table of endless flows, though the first one goes on too.
    let flows = with(listed(&[(0, 2, 0, 0), (1, 2, 0, 0)]), "/lasts", json!([MS, 0]));
    let scenario = scenario(single_switch(3), irn(100_000_000), &[flows], 500 * US);
    let results = run(&with(scenario, "/drain", json!(0)));
    let endless: Vec<u64> = results.summary.long_lived.iter().map(|flow| flow.flow).collect();
    assert_eq!(endless, [1]);
}
