//! Links that fail and recover in the middle of a run. `tests/python/test_outages.py` runs outages
//! under all schemes.

use penstock_packet::PacketEvent;
use penstock_sim::Results;
use serde_json::{Value, json};

use crate::fixture::{
    US, bfc, column, hpcc, leaf_spine, listed, parse, perfect_retransmission, pfc, powertcp,
    run_to_the_end, scenario, with,
};

/// Two racks of two hosts (0 to 3), ToRs 4 and 5, spines 6 and 7.
fn rack_to_rack(scheme: Value, outages: Value) -> Value {
    let flows = listed(&[(0, 2, 2_000_000, 0), (1, 3, 2_000_000, 0)]);
    with(scenario(leaf_spine(2, 2, 2), scheme, &[flows], US), "/faults/outages", outages)
}

fn bytes_on(results: &Results, from: u32, to: u32) -> f64 {
    let ends = |name| column(results, "links", name);
    let place = ends("from").into_iter().zip(ends("to"));
    let row = place.into_iter().position(|(a, b)| (a, b) == (f64::from(from), f64::from(to)));
    column(results, "links", "data_bytes")[row.unwrap()]
}

#[test]
fn a_failed_link_loses_what_is_on_it_and_flows_go_around_it() {
    // Both flows need 160 us. One spine is out from 20 us on, so all data pass the other.
    for spine in [6, 7] {
        let outages = json!([{"link": [spine, 5], "start": 20 * US, "end": null}]);
        let results = run_to_the_end(&rack_to_rack(bfc(), outages));
        assert_eq!(results.summary.drops, 0);
        let (out, other) = (bytes_on(&results, spine, 5), bytes_on(&results, 13 - spine, 5));
        // 20 us at 100 Gb/s are 250 kB, less 3 us of propagation. The two flows bring 4 MB.
        assert!(out < 250_000.0 && other + out >= 4e6, "{out} and {other}");
        assert_eq!(results.summary.lost_packets > 0, out > 0.0);
    }
}

#[test]
fn a_failed_link_has_not_carried_what_waited_for_it() {
    // At 20 us the two flows have brought 500 kB for the link that fails, less 1 us of propagation.
    let failing = |spine: u32| {
        let outages = json!([{"link": [4, spine], "start": 20 * US, "end": null}]);
        let results = run_to_the_end(&rack_to_rack(pfc(), outages));
        (bytes_on(&results, 4, spine), results.summary.lost_packets)
    };
    for (carried, lost) in [6, 7].map(failing) {
        assert!(carried <= 250_000.0, "{carried} B in 20 us at 100 Gb/s");
        assert!(carried == 0.0 || lost > 100, "{lost} packets waited, and were lost");
    }
}

#[test]
fn a_trace_has_what_waited_for_a_failed_link_as_dropped() {
    let failing = |spine: u32| {
        let outages = json!([{"link": [4, spine], "start": 20 * US, "end": null}]);
        let scenario = rack_to_rack(pfc(), outages);
        run_to_the_end(&with(scenario, "/measure/trace", json!({"nodes": [4], "events": []})))
    };
    for results in [6, 7].map(failing) {
        let (times, events) =
            (column(&results, "packets", "time_ps"), column(&results, "packets", "event"));
        let at_failure = |event: PacketEvent| {
            let rows = times.iter().zip(&events);
            let is_one = |&(&time, &one): &(&f64, &f64)| {
                time == (20 * US) as f64 && one == f64::from(event as u32)
            };
            rows.filter(is_one).count() as u64
        };
        // Those that were on the wire have departed, and are lost, too.
        let (lost, dropped) = (results.summary.lost_packets, at_failure(PacketEvent::Drop));
        assert!(at_failure(PacketEvent::Depart) <= 2, "no burst departs");
        assert!(lost == 0 || dropped > 100 && dropped <= lost, "{dropped} of {lost}");
    }
}

#[test]
fn a_link_that_recovers_is_used_again() {
    let outages = json!([{"link": [5, 6], "start": 20 * US, "end": 60 * US},
                         {"link": [7, 5], "start": 60 * US, "end": 100 * US}]);
    let results = run_to_the_end(&rack_to_rack(bfc(), outages));
    assert!(results.summary.lost_packets > 0);
    let carried = [6, 7].map(|spine| bytes_on(&results, spine, 5));
    // For 40 us only one link works: 500 kB at 100 Gb/s, less the time of waiting for lost packets.
    assert!(carried.iter().all(|&bytes| bytes > 300_000.0), "{carried:?}");
}

#[test]
fn a_flow_that_changes_its_path_compares_no_counters_of_different_ports() {
    // The flow from 0 to 2 is alone from 1 ms on. The port to one spine has sent 10 MB more than the other
    // one by then, and the flow changes to it and away from it.
    let flows = listed(&[(1, 3, 10_000_000, 0), (0, 2, 4_000_000, 1_000 * US)]);
    let [first, second] = [6, 7].map(|spine| {
        let start = if spine == 6 { 1_100 * US } else { 1_200 * US };
        json!({"link": [4, spine], "start": start, "end": start + 50 * US})
    });
    for scheme in [hpcc(), powertcp(100)] {
        let scenario =
            scenario(leaf_spine(2, 2, 2), scheme, std::slice::from_ref(&flows), 2_000 * US);
        let outages = json!([first, second]);
        let results = run_to_the_end(&with(scenario, "/faults/outages", outages));
        let slowdowns = column(&results, "flows", "slowdown");
        assert!(slowdowns[1] < 1.2, "{slowdowns:?}");
    }
}

#[test]
fn pauses_are_asked_for_again_when_a_link_recovers() {
    // Host 2 is the bottleneck of three flows. ToR 5 pauses the spines before, during and after an
    // outage.
    let flows = listed(&[(0, 2, 4_000_000, 0), (1, 2, 4_000_000, 0), (3, 2, 4_000_000, 0)]);
    let outages = json!([{"link": [5, 6], "start": 50 * US, "end": 52 * US},
                         {"link": [5, 7], "start": 70 * US, "end": 72 * US}]);
    for scheme in [with(bfc(), "/switch/backpressure/bitmap_interval", 0), pfc()] {
        let scenario = scenario(leaf_spine(2, 2, 2), scheme, std::slice::from_ref(&flows), US);
        let scenario = with(scenario, "/measure/events", true);
        let results = run_to_the_end(&with(scenario, "/faults/outages", outages.clone()));
        assert_eq!(results.summary.drops, 0);
        // Pauses that are sent again count as sent.
        let events = column(&results, "events", "event");
        let sent = events.iter().filter(|&&event| event == 6.0).count() as u64;
        let summary = &results.summary;
        assert_eq!(summary.event_names[6], "pause_sent");
        assert!(sent > 0 && summary.pfc_pauses + summary.queue_pauses == sent, "{sent}");
    }
}

#[test]
fn outages_that_cannot_be_are_refused_by_name() {
    let refusal = |scheme, outages: Value| {
        penstock_sim::validate(&parse(&rack_to_rack(scheme, outages))).unwrap_err()
    };
    let one =
        |link: [u32; 2], start: u64, end: u64| json!({"link": link, "start": start, "end": end});
    let (early, late) = (one([4, 6], US, 3 * US), one([6, 4], 2 * US, 4 * US));
    for (outages, expected) in [
        (
            json!([one([0, 4], US, 2 * US)]),
            "faults.outages[0].link is [0, 4]; no link joins two switches",
        ),
        (
            json!([one([4, 5], US, 2 * US)]),
            "faults.outages[0].link is [4, 5]; no link joins two switches",
        ),
        (json!([one([4, 6], 0, 2 * US)]), "faults.outages[0].start is 0"),
        (
            json!([one([4, 6], US, US)]),
            "faults.outages[0].end is 1 us; it is not after the start, 1 us",
        ),
        (json!([early, late]), "faults.outages is a list whose outages of [4, 6] overlap or touch"),
        (
            json!([one([4, 6], US, 3 * US), one([4, 7], 2 * US, 4 * US)]),
            "faults.outages is at 2 us; they leave some nodes without a path",
        ),
    ] {
        let message = refusal(bfc(), outages).to_string();
        assert!(message.starts_with(expected), "{message:?} is not {expected:?}");
    }
    let message = refusal(perfect_retransmission(), json!([early])).to_string();
    assert!(message.starts_with("scheme.host.recovery.kind is perfect"), "{message}");
}
