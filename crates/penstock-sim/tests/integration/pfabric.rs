//! pFabric as a whole: priority drops, timeouts and spraying in small networks.

use penstock_sim::Results;
use serde_json::{Value, json};

use crate::fixture::{
    MS, US, column, incast, leaf_spine, listed, pfabric, run_to_the_end, scenario, single_switch,
    with,
};

fn sprayed() -> Value {
    with(pfabric(), "/routing", json!({"kind": "spray", "order": "random"}))
}

/// The completion time of the flow of `size` bytes (ns).
fn time_of(results: &Results, size: u64) -> f64 {
    let sizes = column(results, "flows", "size_bytes");
    let place = sizes.iter().position(|&other| other == size as f64).unwrap();
    column(results, "flows", "fct_ns")[place]
}

/// Time of a full packet on a link of 100 Gb/s (ns).
const PACKET: f64 = 1_048.0 * 0.08;

#[test]
fn a_lone_flow_takes_the_ideal_time_whatever_its_size() {
    for scheme in [pfabric(), sprayed()] {
        for size in [1, 1_000, 1_001, 100_000, 1_234_567] {
            let traffic = [listed(&[(0, 3, size, 0)])];
            let results =
                run_to_the_end(&scenario(leaf_spine(2, 2, 2), scheme.clone(), &traffic, MS));
            assert_eq!(column(&results, "flows", "slowdown"), [1.0], "{size} B");
        }
    }
}

#[test]
fn the_shorter_of_two_flows_finishes_as_if_alone_and_the_longer_after_both() {
    let (long, short) = (1_000_000, 100_000);
    let flows = listed(&[(1, 0, long, 0), (2, 0, short, 40 * US)]);
    let results = run_to_the_end(&scenario(single_switch(3), pfabric(), &[flows], MS));
    let alone = listed(&[(2, 0, short, 0)]);
    let alone = run_to_the_end(&scenario(single_switch(3), pfabric(), &[alone], MS));
    let within = |time: f64, other: f64| (time - other).abs() < 2.0 * PACKET;
    assert!(within(time_of(&results, short), time_of(&alone, short)));
    let base = time_of(&alone, short) - 100.0 * PACKET;
    assert!(within(time_of(&results, long), 1_100.0 * PACKET + base));
}

#[test]
fn a_packet_of_a_short_flow_passes_an_incast_that_fills_the_memory() {
    let mut flows: Vec<_> = (1..17).map(|host| (host, 0, 2_000_000, 0)).collect();
    flows.push((17, 0, 1_000, 200 * US));
    let results = run_to_the_end(&scenario(single_switch(18), pfabric(), &[listed(&flows)], MS));
    assert!(results.summary.drops > 1_000);
    let alone = [listed(&[(17, 0, 1_000, 200 * US)])];
    let alone = run_to_the_end(&scenario(single_switch(18), pfabric(), &alone, MS));
    let late = time_of(&results, 1_000) - time_of(&alone, 1_000);
    assert!((0.0..=PACKET).contains(&late), "{late} ns behind what was on the wire");
}

#[test]
fn an_incast_larger_than_the_memory_is_repaired_by_timeouts() {
    for senders in [4, 16, 64] {
        let traffic = [incast(senders, 300_000, Some(0))];
        let network = single_switch(senders + 1);
        let results = run_to_the_end(&scenario(network, pfabric(), &traffic, MS));
        let summary = &results.summary;
        assert!(summary.drops > 0 && summary.timeouts > 0);
        assert!(summary.retransmitted_packets >= summary.drops);
        let delivered = column(&results, "flows", "delivered_bytes");
        assert_eq!(delivered, vec![300_000.0; senders as usize]);
        let queue = column(&results, "links", "queue_bytes_max").into_iter().fold(0.0, f64::max);
        assert!(queue <= 100_000.0, "{queue} B");
        // A flow that waits for its turn times out, and begins its turn with a window of one packet.
        let least = f64::from(senders) * 300.0 * PACKET;
        let last = column(&results, "flows", "fct_ns").into_iter().fold(0.0, f64::max);
        assert!((least..1.5 * least).contains(&last), "{senders}: {last} ns of {least} ns");
    }
}

#[test]
fn lost_frames_cost_timeouts_and_nothing_else() {
    let traffic = [incast(8, 300_000, Some(0))];
    let lossy = scenario(leaf_spine(3, 4, 2), sprayed(), &traffic, MS);
    let entries = json!([{"link": null, "probability": 0.01}]);
    let results = run_to_the_end(&with(lossy, "/faults/corruption", entries));
    assert!(results.summary.lost_packets > 10);
    assert_eq!(column(&results, "flows", "delivered_bytes"), [300_000.0; 8]);
}
