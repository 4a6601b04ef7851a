//! BFC with credits drops nothing under any traffic, and costs little throughput.

use penstock_sim::Results;
use serde_json::{Value, json};

use crate::fixture::{
    US, bfc, column, credits, incast, leaf_spine, listed, parse, run_to_the_end, scenario,
    single_switch, with,
};

/// 96 hosts of 8 racks send 300 kB each to one host, so a spine port gets twelve flows.
fn crowd(scheme: Value) -> Results {
    let traffic = [incast(96, 300_000, Some(0))];
    run_to_the_end(&scenario(leaf_spine(8, 14, 4), scheme, &traffic, US))
}

fn last_ns(results: &Results) -> f64 {
    column(results, "flows", "fct_ns").into_iter().fold(0.0, f64::max)
}

#[test]
fn credits_drop_nothing_where_pauses_alone_do() {
    // A ToR has 18 ports. Their windows of 36,528 B and 31 reserves each are 1,242,288 B.
    let buffer = 1_300_000;
    let plain = crowd(with(bfc(), "/switch/admission/buffer", buffer));
    assert!(plain.summary.drops > 0);
    let credited = crowd(credits(32, buffer));
    let summary = &credited.summary;
    assert_eq!((summary.drops, summary.retransmitted_packets, summary.timeouts), (0, 0, 0));
    assert!(summary.buffer_peak_bytes.iter().all(|&peak| peak <= buffer));
    // The receiver's link is always busy, so the time is that of all bytes and a round trip.
    let ideal = 96.0 * 300.0 * 1_048.0 * 0.08 + 8_400.0;
    let ratio = last_ns(&credited) / ideal;
    assert!((0.999..1.01).contains(&ratio), "{ratio}");
}

#[test]
fn with_memory_enough_credits_change_nothing() {
    let (plain, credited) = (crowd(bfc()), crowd(credits(32, 12 << 20)));
    assert_eq!(plain.summary.drops + credited.summary.drops, 0);
    // Credits cost a grant of 64 B for eight packets, and change the draws of random queues.
    let ratio = last_ns(&credited) / last_ns(&plain);
    assert!((ratio - 1.0).abs() < 0.005, "{ratio}");
}

#[test]
fn a_flow_alone_has_the_whole_link() {
    // The switch sets aside all of its memory but a byte. The window covers a hop, so the number of
    // hops does not matter.
    for destination in [1, 20] {
        let traffic = [listed(&[(0, destination, 2_000_000, 0)])];
        let times = [bfc(), credits(32, 1_242_289)].map(|scheme| {
            last_ns(&run_to_the_end(&scenario(leaf_spine(8, 14, 4), scheme, &traffic, US)))
        });
        // The last acknowledgement may wait for a grant of 64 B at every hop.
        let delay = times[1] - times[0];
        assert!((0.0..=4.0 * 64.0 * 0.08).contains(&delay), "{times:?}");
    }
}

#[test]
fn lost_grants_are_told_again() {
    let scheme = with(credits(8, 700_000), "/switch/backpressure/pauses/bitmap_interval", 10 * US);
    let traffic = [incast(12, 300_000, Some(0))];
    let scenario = scenario(leaf_spine(2, 8, 2), scheme, &traffic, US);
    for seed in 1..=3 {
        let scenario = with(with(scenario.clone(), "/faults/control_loss", 0.2), "/seed", seed);
        let results = run_to_the_end(&scenario);
        assert_eq!((results.summary.drops, results.summary.timeouts), (0, 0));
    }
}

#[test]
fn a_memory_that_cannot_be_shared_out_is_refused() {
    let refused = |scheme: Value| {
        let traffic = [incast(4, 1_000, Some(0))];
        let scenario = parse(&scenario(single_switch(5), scheme, &traffic, US));
        penstock_sim::network::Network::build(&scenario).unwrap_err().to_string()
    };
    // A switch with five ports, whose windows are 36,528 B and whose seven reserves are 1,048 B
    // each.
    let least = 5 * (36_528 + 7 * 1_048);
    let words = refused(credits(8, least - 1));
    assert!(words.contains("buffer") && words.contains("alone take"), "{words}");
    let words = refused(with(credits(8, least), "/switch/backpressure/packet", 1_000));
    assert!(words.contains("packet"), "{words}");
    let words = refused(with(credits(8, least), "/host/nic/queues", 9));
    assert!(words.contains("nic.queues"), "{words}");
    let words = refused(with(credits(8, least), "/switch/backpressure/queue_reserve", 1_000));
    assert!(words.contains("queue_reserve"), "{words}");
    let infinite = with(credits(8, least), "/switch/admission", json!({"kind": "infinite"}));
    assert!(refused(infinite).contains("admission"));
}
