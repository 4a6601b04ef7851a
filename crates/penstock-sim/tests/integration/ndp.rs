//! NDP as a whole: trimming, PULLs and spraying in small networks.

use penstock_sim::Results;
use serde_json::{Value, json};

use crate::fixture::{
    MS, US, column, incast, leaf_spine, listed, ndp, run, run_to_the_end, scenario, single_switch,
    with,
};

fn sprayed() -> Value {
    with(ndp(), "/routing", json!({"kind": "spray", "order": "round-robin"}))
}

fn completions(results: &Results) -> Vec<f64> {
    column(results, "flows", "fct_ns")
}

/// Time of `packets` full packets on a link of 100 Gb/s (ns).
fn serialized(packets: u64) -> f64 {
    packets as f64 * 1_048.0 * 0.08
}

#[test]
fn a_lone_flow_takes_the_ideal_time_whatever_its_size() {
    for scheme in [ndp(), sprayed()] {
        for size in [1, 1_000, 1_001, 100_000, 1_234_567] {
            let traffic = [listed(&[(0, 3, size, 0)])];
            let results =
                run_to_the_end(&scenario(leaf_spine(2, 2, 2), scheme.clone(), &traffic, MS));
            let slowdown = column(&results, "flows", "slowdown")[0];
            // A PULL waits for the acknowledgement ahead of it, 5 ns; and so each round trip.
            assert!((1.0..1.003).contains(&slowdown), "{size} B: {slowdown}");
        }
    }
}

#[test]
fn an_incast_keeps_the_link_busy_and_needs_no_timeout() {
    for senders in [4, 16, 64] {
        let traffic = [incast(senders, 1_000_000, Some(0))];
        let network = single_switch(senders + 1);
        let results = run_to_the_end(&scenario(network, ndp(), &traffic, MS));
        let summary = &results.summary;
        assert_eq!(summary.timeouts, 0);
        assert_eq!(summary.retransmitted_packets, summary.drops, "what is trimmed comes once more");
        let window = summary.bdp_bytes.div_ceil(1_000);
        let beyond = u64::from(senders - 1) * window;
        assert!(summary.drops < 2 * beyond, "PULLs bring no more than the link carries");
        // All packets, a header of 64 B for each that was trimmed, and the first round trip.
        let least = serialized(u64::from(senders) * 1_000) + summary.drops as f64 * 64.0 * 0.08;
        let (mut first, mut last) = (f64::MAX, 0.0f64);
        for time in completions(&results) {
            (first, last) = (first.min(time), last.max(time));
        }
        assert!((least..1.01 * least + 8_000.0).contains(&last), "{last} ns of {least} ns");
        assert!(first > 0.9 * last, "flows take turns: {first} and {last} ns");
        let queue = column(&results, "links", "queue_bytes_max").into_iter().fold(0.0, f64::max);
        assert!(queue <= 8.0 * 1_048.0, "{queue} B");
    }
}

#[test]
fn an_incast_under_way_does_not_hold_up_a_short_flow() {
    // Sixteen senders to host 0 under way; after 200 us one packet comes from host 1.
    let mut flows: Vec<_> = (1..17).map(|host| (host, 0, 2_000_000, 0)).collect();
    flows.push((17, 0, 1_000, 200 * US));
    let results = run_to_the_end(&scenario(single_switch(18), ndp(), &[listed(&flows)], MS));
    let of_size = column(&results, "flows", "size_bytes").into_iter().zip(completions(&results));
    let (_, short) = of_size.min_by(|one, other| one.0.total_cmp(&other.0)).unwrap();
    // At most eight full packets wait ahead of it, and it is trimmed at most a few times.
    assert!(short < 5.0 * 4_200.0, "{short} ns");
}

#[test]
fn headers_that_go_strictly_first_fill_a_link_for_good() {
    // Without PULLs 32 senders repeat what was trimmed at once: 1,600 headers of 64 B in a round trip of 4 us
    // are 200 Gb/s. The data would take 0.8 ms.
    let finished = |weight: u32| {
        let window = json!({"kind": "window", "bdp_factor": 1.0});
        let scheme = with(ndp(), "/host/controller", window);
        let scheme = with(scheme, "/switch/admission/control_weight", weight);
        let crowded = scenario(single_switch(33), scheme, &[incast(32, 300_000, Some(0))], MS);
        run(&with(crowded, "/drain", 2 * MS)).summary.flows_finished
    };
    assert_eq!(finished(10), 32);
    assert_eq!(finished(65_536), 0);
}

#[test]
fn a_window_goes_with_trimming_as_well() {
    let window = json!({"kind": "window", "bdp_factor": 1.0});
    let scheme = with(ndp(), "/host/controller", window);
    let traffic = [incast(16, 300_000, Some(0))];
    let results = run_to_the_end(&scenario(single_switch(17), scheme, &traffic, MS));
    assert!(results.summary.drops > 1_000);
    assert_eq!(results.summary.timeouts, 0);
    assert_eq!(column(&results, "flows", "delivered_bytes"), [300_000.0; 16]);
}

#[test]
fn corrupted_headers_and_pulls_cost_a_timeout() {
    let traffic = [incast(8, 300_000, Some(0))];
    let lossy = scenario(leaf_spine(3, 4, 2), sprayed(), &traffic, MS);
    let entries = json!([{"link": null, "probability": 0.01}]);
    let results = run_to_the_end(&with(lossy, "/faults/corruption", entries));
    assert!(results.summary.timeouts > 0);
    assert_eq!(column(&results, "flows", "delivered_bytes"), [300_000.0; 8]);
}

/// Every frame on any cable is lost with this probability.
fn corrupted(scenario: Value, probability: f64) -> Value {
    let entries = json!([{"link": null, "probability": probability}]);
    with(scenario, "/faults/corruption", entries)
}

#[test]
fn a_flow_whose_last_pull_is_lost_finishes() {
    // 300 flows of 300 kB, three windows or more; of each some frames are lost, the last PULL, too.
    let flows: Vec<_> =
        (0..300).map(|flow| (1 + flow % 4, 0, 300_000, u64::from(flow) * 100 * US)).collect();
    let network = scenario(single_switch(5), ndp(), &[listed(&flows)], 30 * MS);
    let results = run_to_the_end(&corrupted(network, 0.01));
    assert!(results.summary.timeouts > 0);
    assert_eq!(column(&results, "flows", "delivered_bytes"), [300_000.0; 300]);
}

#[test]
fn an_endless_flow_repairs_its_holes_under_way() {
    let traffic = [listed(&[(1, 0, 0, 0)])];
    let lossy = corrupted(scenario(single_switch(2), ndp(), &traffic, 20 * MS), 1e-4);
    let results = run(&lossy);
    assert!(results.summary.timeouts > 0);
    // 100 Gb/s for 20 ms are 250 MB. What was lost in the last milliseconds is not repaired yet.
    let delivered = results.summary.long_lived[0].delivered_bytes;
    assert!(delivered > 150_000_000, "{delivered} B");
    let duplicates = results.summary.retransmitted_packets;
    assert!(duplicates <= results.summary.lost_packets + 1, "{duplicates} packets were sent again");
}

#[test]
fn an_unfinished_flow_waits_for_a_pull() {
    let flows: Vec<_> = (1..17).map(|host| (host, 0, 2_000_000, 0)).collect();
    let network = scenario(single_switch(17), ndp(), &[listed(&flows)], 100 * US);
    let results = run(&with(network, "/drain", json!(0)));
    let unfinished = &results.summary.unfinished;
    assert!(
        unfinished.iter().any(|flow| flow.waits_for == "a PULL of its receiver"),
        "{unfinished:?}"
    );
}
