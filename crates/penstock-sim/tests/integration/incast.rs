//! Many to one.

use crate::fixture::{
    US, bfc, column, incast, leaf_spine, pfc, run_to_the_end, scenario, single_switch, with,
};

/// When the last of `degree` flows of `size` bytes to one host finishes [ns], ideally.
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
        // Each flow alone would take 4 us and its packets; ACKs and the first packet come on top.
        let ratio = last_ns(&results) / ideal_ns(degree, 200_000, 4_100.0);
        assert!((0.999..1.01).contains(&ratio), "{degree} to one: {ratio}");
        // 100 ingresses may hold 78 kB each, 16 of them 490 kB: only the former are paused.
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
    // 16 NICs may send an HRTT of 25 kB each before the pause takes effect, and Th before.
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
