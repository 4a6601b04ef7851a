//! Incast: many hosts send to one.

use serde_json::json;

use crate::fixture::{
    US, bfc, column, dctcp, hpcc, incast, leaf_spine, pfc, run_to_the_end, scenario, single_switch,
    with,
};

/// The ideal time at which the last of `degree` flows of `size` bytes to one host finishes [ns].
fn ideal_ns(degree: u32, size: u64, round_trip_ns: f64) -> f64 {
    let packets = size.div_ceil(1_000);
    f64::from(degree) * (size + 48 * packets) as f64 * 0.08 + round_trip_ns
}

fn last_ns(results: &penstock_sim::Results) -> f64 {
    column(results, "flows", "fct_ns").into_iter().fold(0.0, f64::max)
}

#[test]
fn pfc_drops_nothing_and_the_receivers_link_is_always_busy() {
    for degree in [2, 16, 100] {
        let topology = single_switch(degree + 1);
        let traffic = [incast(degree, 200_000, Some(0))];
        let results = run_to_the_end(&scenario(topology, pfc(), &traffic, US));
        let summary = &results.summary;
        assert_eq!((summary.drops, summary.retransmitted_packets, summary.timeouts), (0, 0, 0));
        // One flow alone would take 4 us and the time of its packets. ACKs and the first packet
        // come on top.
        let ratio = last_ns(&results) / ideal_ns(degree, 200_000, 4_100.0);
        assert!((0.999..1.01).contains(&ratio), "{degree} to one: {ratio}");
        // Of 100 ingresses each may hold 78 kB, of 16 each may hold 490 kB. So only 100 are paused.
        assert_eq!(summary.pfc_pauses > 0, degree == 100, "{}", summary.pfc_pauses);
        let peak = summary.buffer_peak_bytes[0];
        assert!(peak <= 12 << 20 && peak > u64::from(degree - 1) * 90_000, "{peak}");
    }
}

#[test]
fn pfc_drops_nothing_across_racks_either() {
    let traffic = [incast(24, 500_000, Some(0))];
    let results = run_to_the_end(&scenario(leaf_spine(4, 8, 2), pfc(), &traffic, US));
    assert_eq!(results.summary.drops, 0);
    assert!(results.summary.pfc_pauses > 0);
    let ratio = last_ns(&results) / ideal_ns(24, 500_000, 8_300.0);
    assert!((0.995..1.01).contains(&ratio), "{ratio}");
}

#[test]
fn bfc_needs_far_less_buffer_for_the_same_completion() {
    let traffic = [incast(16, 500_000, Some(0))];
    let peak_and_last = |scheme| {
        let results = run_to_the_end(&scenario(single_switch(17), scheme, &traffic, US));
        assert_eq!(results.summary.drops, 0);
        (results.summary.buffer_peak_bytes[0], last_ns(&results))
    };
    let (bfc_peak, bfc_last) = peak_and_last(bfc());
    let (pfc_peak, pfc_last) = peak_and_last(pfc());
    // Each of 16 NICs may send Th before the pause, and an HRTT of 25 kB before the pause takes
    // effect.
    assert!(bfc_peak < 16 * 60_000, "{bfc_peak}");
    assert!(pfc_peak > 4 * bfc_peak, "{pfc_peak} and {bfc_peak}");
    assert!(bfc_last < 1.05 * pfc_last, "{bfc_last} and {pfc_last}");
}

#[test]
fn nics_that_do_not_react_fill_the_buffer() {
    let traffic = [incast(16, 500_000, Some(0))];
    let deaf = with(bfc(), "/host/nic/reacts", false);
    let results = run_to_the_end(&scenario(single_switch(17), deaf, &traffic, US));
    assert!(results.summary.buffer_peak_bytes[0] > 6_000_000);
    assert!(results.summary.queue_pauses > 0, "they are told");
    assert!(column(&results, "links", "queue_pause_ns").iter().all(|&time| time == 0.0));
}

/// The most that a switch stores (sec. 23, item 3), for hosts that start at line rate with a window
/// of W = `factor` BDP. Either the switch stores all windows less the bytes on the wires, N·W -
/// C·T, about (N - 1)·BDP. Or the switch stores what PFC lets in: for each ingress its reserve,
/// XOFF = alpha·S/(1 + alpha·N) (sec. 1.4), and in the headroom 2·d·C/8, less the share that leaves
/// meanwhile, and two packets (sec. 1.6).
fn stored_at_most(degree: u32, factor: f64, buffer: f64, bdp: f64) -> (f64, f64) {
    let count = f64::from(degree);
    let windows = count * (bdp * factor / 1_000.0).ceil() * 1_048.0 - bdp;
    let pool = buffer - (count + 1.0) * (4_096.0 + 37_500.0);
    let threshold = pool / 8.0 / (1.0 + count / 8.0);
    let headroom = 25_000.0 * (1.0 - 1.0 / count) + 2.0 * 1_048.0;
    (windows, count * (4_096.0 + threshold + headroom))
}

fn window_incast(degree: u32, factor: f64, buffer: u64) -> penstock_sim::Results {
    let window = json!({"kind": "window", "bdp_factor": factor});
    let scheme = with(pfc(), "/host/controller", window);
    let scheme = with(scheme, "/switch/admission/buffer", buffer);
    let traffic = [incast(degree, 500_000, Some(0))];
    run_to_the_end(&scenario(single_switch(degree + 1), scheme, &traffic, US))
}

/// Completion takes N·S/C and a round trip, to a thousandth: a packet of the pipeline.
#[test]
fn windows_fill_the_buffer_with_all_that_is_not_on_the_wires() {
    for degree in [2, 16, 100] {
        let results = window_incast(degree, 1.0, 12 << 20);
        let summary = &results.summary;
        assert_eq!((summary.drops, summary.pfc_pauses), (0, 0));
        let peak = summary.buffer_peak_bytes[0] as f64;
        let bdp = summary.bdp_bytes as f64;
        let (windows, limit) = stored_at_most(degree, 1.0, f64::from(12 << 20), bdp);
        assert!(windows < limit);
        // Right to one packet, because packets are whole.
        assert!((peak - windows).abs() <= 1_048.0, "{degree}: {peak} B, not {windows}");
        let ratio = last_ns(&results) / ideal_ns(degree, 500_000, 4_100.0);
        assert!((ratio - 1.0).abs() < 1e-3, "{degree} to one: {ratio}");
    }
}

#[test]
fn pfc_limits_what_larger_windows_fill_the_buffer_with() {
    for (degree, buffer) in [(16, 4 << 20), (100, 12 << 20)] {
        let results = window_incast(degree, 4.0, buffer);
        let summary = &results.summary;
        assert_eq!(summary.drops, 0);
        assert!(summary.pfc_pauses >= u64::from(degree));
        let peak = summary.buffer_peak_bytes[0] as f64;
        let (windows, limit) = stored_at_most(degree, 4.0, buffer as f64, summary.bdp_bytes as f64);
        assert!(windows > limit);
        // Within 2 %: when an ingress is a packet ahead, the thresholds move by a packet.
        assert!((peak / limit - 1.0).abs() < 0.02, "{degree}: {peak} B, not {limit}");
        let ratio = last_ns(&results) / ideal_ns(degree, 500_000, 4_100.0);
        assert!((ratio - 1.0).abs() < 1e-3, "{degree} to one: {ratio}");
    }
}

/// Every controller that starts at line rate with a BDP fills the buffer in this way, because its
/// first cut comes after a round trip (BASELINES 5.4: N·BDP before any reaction; 9.4: (N - 1)·BDP
/// with HPCC). Right to four packets, which the first cuts hold back.
#[test]
fn a_start_at_line_rate_fills_the_buffer_before_any_controller_reacts() {
    for (scheme, packet) in [(dctcp(), 1_048.0), (hpcc(), 1_090.0)] {
        for degree in [16, 100] {
            let traffic = [incast(degree, 500_000, Some(0))];
            let topology = single_switch(degree + 1);
            let results = run_to_the_end(&scenario(topology, scheme.clone(), &traffic, US));
            let summary = &results.summary;
            let bdp = summary.bdp_bytes as f64;
            let windows = f64::from(degree) * (bdp / 1_000.0).ceil() * packet - bdp;
            let peak = summary.buffer_peak_bytes[0] as f64;
            assert!((peak - windows).abs() <= 4.0 * packet, "{degree}: {peak} B, not {windows}");
            assert_eq!(summary.drops, 0);
        }
    }
}
