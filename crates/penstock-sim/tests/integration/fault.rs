//! Lost control frames, corrupted frames, and buffers that are too small.

use serde_json::{Value, json};

use crate::fixture::{
    MS, US, bfc, column, incast, irn, leaf_spine, line_rate, listed, open_loop,
    perfect_retransmission, pfc, run, run_to_the_end, scenario, single_switch, with,
};

/// Background traffic and an incast on a small network.
fn busy(scheme: Value) -> Value {
    let sizes = json!({"kind": "pareto", "shape": 1.3, "mean": 20_000});
    let traffic = [open_loop(sizes, 0.6, 300 * US), incast(12, 300_000, Some(0))];
    scenario(leaf_spine(2, 8, 2), scheme, &traffic, 300 * US)
}

#[test]
fn bfc_survives_the_loss_of_every_fifth_control_frame() {
    let scheme = with(bfc(), "/switch/backpressure/bitmap_interval", 20 * US);
    for seed in 1..=3 {
        let scenario = with(busy(scheme.clone()), "/faults/control_loss", 0.2);
        let results = run_to_the_end(&with(scenario, "/seed", seed));
        assert!(results.summary.queue_pauses > 100);
        assert_eq!(results.summary.timeouts, 0, "no flow waited for its timer");
    }
}

#[test]
fn the_bitmap_repairs_lost_pauses_and_lost_resumes_alike() {
    // Two hosts send 4 MB each to a third, so without pauses 4 MB wait at the switch. Nine of ten
    // frames are lost, so on average only every tenth bitmap brings a pause: the pause is 50 us
    // late, or 0.6 MB.
    let scheme = with(bfc(), "/switch/backpressure/bitmap_interval", 5 * US);
    let flows = listed(&[(0, 2, 4_000_000, 0), (1, 2, 4_000_000, 0)]);
    for seed in 1..=3 {
        let scenario = scenario(single_switch(3), scheme.clone(), std::slice::from_ref(&flows), US);
        let lossy = with(with(scenario, "/faults/control_loss", 0.9), "/seed", seed);
        let peak = |scenario: &Value| run_to_the_end(scenario).summary.buffer_peak_bytes[0];
        let (lossy_peak, sound) = (peak(&lossy), peak(&with(lossy, "/faults/control_loss", 0.0)));
        assert!(sound < 200_000 && lossy_peak > sound && lossy_peak < 3_000_000, "{lossy_peak}");
    }
}

#[test]
fn without_the_bitmap_a_lost_resume_is_for_ever_and_the_summary_says_so() {
    let scheme = with(bfc(), "/switch/backpressure/bitmap_interval", 0);
    let scenario = with(busy(scheme), "/faults/control_loss", 0.5);
    let results = run(&with(scenario, "/drain", 2 * MS));
    let summary = &results.summary;
    assert!(summary.flows_finished < summary.flows_started);
    let waits = |text: &str| summary.unfinished.iter().any(|flow| flow.waits_for.contains(text));
    assert!(waits("a resume of NIC queue"), "{:?}", summary.unfinished);
}

/// `scenario` whose every cable corrupts this share of the frames.
fn corrupted(scenario: Value, probability: f64) -> Value {
    with(scenario, "/faults/corruption", json!([{"link": null, "probability": probability}]))
}

#[test]
fn every_hundredth_frame_is_corrupted_whatever_it_carries() {
    let flows = listed(&[(0, 1, 20_000_000, 0)]);
    let scenario = scenario(single_switch(2), irn(1 << 20), &[flows], US);
    for probability in [0.0, 0.01] {
        let results = run_to_the_end(&corrupted(scenario.clone(), probability));
        let summary = &results.summary;
        assert_eq!(column(&results, "flows", "delivered_bytes"), [20_000_000.0]);
        // Each of 20,000 data packets and their acknowledgements takes two links.
        let expected = probability * summary.packet_hops as f64;
        let error = (summary.lost_packets as f64 - expected).abs();
        assert!(error <= 4.0 * expected.sqrt(), "{} lost, not {expected}", summary.lost_packets);
        assert_eq!((summary.drops, summary.retransmitted_packets > 0), (0, probability > 0.0));
    }
}

#[test]
fn only_the_cable_that_is_named_corrupts_frames_and_in_both_directions() {
    let flows = listed(&[(0, 1, 2_000_000, 0), (2, 3, 2_000_000, 0)]);
    let scenario = scenario(single_switch(4), irn(1 << 20), &[flows], US);
    let entries =
        json!([{"link": null, "probability": 0.0}, {"link": [4, 1], "probability": 0.05}]);
    let results = run_to_the_end(&with(scenario, "/faults/corruption", entries));
    let again = column(&results, "flows", "retransmitted_packets");
    let flows = column(&results, "flows", "flow");
    assert_eq!(flows, [1.0, 0.0], "the flow by the sound cables ends first");
    assert!(again[0] == 0.0 && again[1] > 50.0, "{again:?}");
    assert!(results.summary.lost_packets > 100, "acknowledgements leave by the same cable");
}

#[test]
fn a_corrupted_resume_holds_a_port_for_ever_but_not_beyond_the_time_of_a_pause() {
    // Every twentieth resume is lost, and nobody sends it again.
    let traffic = [incast(8, 1_000_000, Some(0))];
    let of = |pause: Value| {
        let scheme = with(pfc(), "/switch/backpressure/pause", pause);
        let scheme = with(scheme, "/switch/backpressure/xoff", 50_000);
        let scheme = with(scheme, "/switch/admission/buffer", 1 << 30);
        let recovery = irn(1 << 20)["host"]["recovery"].clone();
        let scheme = with(scheme, "/host/recovery", with(recovery, "/bdp_factor", 100.0));
        let lossy = corrupted(scenario(single_switch(9), scheme, &traffic, US), 0.05);
        run(&with(lossy, "/drain", 500 * MS)).summary
    };
    let lasting = of(json!({"kind": "lasting"}));
    assert!(lasting.flows_finished < lasting.flows_started);
    let timed =
        json!({"kind": "timed", "lifetime": 335 * US, "refresh": 160 * US, "at_arrivals": false});
    let timed = of(timed);
    assert_eq!(timed.flows_finished, timed.flows_started, "{:?}", timed.unfinished);
}

#[test]
fn go_back_n_finishes_every_flow_through_a_buffer_of_100_kb() {
    let scheme = with(line_rate(), "/switch/admission/buffer", 100_000);
    let traffic = [incast(12, 300_000, Some(0))];
    let mut results = run_to_the_end(&with(
        scenario(single_switch(13), scheme.clone(), &traffic, US),
        "/drain",
        500 * MS,
    ));
    for _ in 0..2 {
        let summary = &results.summary;
        assert!(summary.drops > 1_000, "{}", summary.drops);
        assert!(summary.retransmitted_packets >= summary.drops, "everything behind a gap is lost");
        assert!(summary.timeouts > 0);
        assert!(summary.buffer_peak_bytes.iter().all(|&peak| peak <= 100_000));
        let delivered = column(&results, "flows", "delivered_bytes");
        assert_eq!(delivered, column(&results, "flows", "size_bytes"));
        results = run_to_the_end(&with(busy(scheme.clone()), "/drain", 500 * MS));
    }
}

#[test]
fn a_gap_in_the_middle_is_reported_long_before_the_timer() {
    // A burst overflows 100 kB while a long flow is under way. The gap costs the long flow a round
    // trip, not a timeout of 4 ms.
    let scheme = with(line_rate(), "/switch/admission/buffer", 100_000);
    let flows = [(1, 0, 2_000_000, 0), (2, 0, 300_000, 30 * US)];
    let results = run_to_the_end(&scenario(single_switch(3), scheme, &[listed(&flows)], 50 * US));
    let of_long = |name| {
        let row = column(&results, "flows", "flow").iter().position(|&flow| flow == 0.0).unwrap();
        column(&results, "flows", name)[row]
    };
    assert!(of_long("retransmitted_packets") > 10.0);
    // Without losses 2.3 MB take 193 us.
    assert!(of_long("fct_ns") < 260e3, "{}", of_long("fct_ns"));
}

#[test]
fn perfect_retransmission_sends_exactly_the_dropped_packets_again() {
    let scheme = with(perfect_retransmission(), "/switch/admission/buffer", 100_000);
    let results = run_to_the_end(&busy(scheme));
    let summary = &results.summary;
    assert!(summary.drops > 100, "{}", summary.drops);
    assert_eq!(summary.retransmitted_packets, summary.drops);
    assert_eq!(summary.timeouts, 0);
    let sizes: f64 = column(&results, "flows", "size_bytes").iter().sum();
    assert_eq!(summary.delivered_bytes as f64, sizes, "nothing arrives twice");
}
