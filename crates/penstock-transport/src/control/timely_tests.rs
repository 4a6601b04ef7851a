//! TIMELY, stepped by hand.

use alloc::vec;

use super::*;
use crate::fixture;

const JSON: &str = concat!(
    r#"{"kind":"timely","ewma_weight":0.875,"decrease_factor":0.8,"#,
    r#""additive_increase":10000000,"hyper_increase":50000000,"hyper_after":5,"#,
    r#""hyper_below_low":false,"low_rtt":50000000,"high_rtt":500000000,"#,
    r#""minimum_rtt":20000000,"largest_cut":0.5,"weighs_interval":true,"#,
    r#""update":{"kind":"segment","size":64000},"#,
    r#""band":{"kind":"patched","reference_rtt":50000000},"#,
    r#""minimum_rate":1000000000,"window":"scaled"}"#
);

const NOW: Time = Time::from_ms(1);

/// The paper's values, at 10 Gb/s.
fn config() -> TimelyConfig {
    TimelyConfig {
        ewma_weight: 0.875,
        decrease_factor: 0.8,
        additive_increase: BitRate::from_mbps(10),
        hyper_increase: BitRate::from_mbps(50),
        hyper_after: 5,
        hyper_below_low: false,
        low_rtt: Time::from_us(50),
        high_rtt: Time::from_us(500),
        minimum_rtt: Time::from_us(20),
        largest_cut: 1.0,
        weighs_interval: false,
        update: TimelyUpdate::RoundTrip {},
        band: TimelyBand::Gradient {},
        minimum_rate: BitRate::from_mbps(1),
        window: RateWindow::None,
    }
}

/// A flow at 10 Gb/s on a 100 Gb/s path. The last round-trip time was `rtt` (us).
fn flow(config: &TimelyConfig, rtt: u64) -> Timely {
    let mut timely = Timely::new(config, &fixture::flow(&fixture::path()));
    acknowledge(&mut timely, NOW, rtt, &view(1));
    timely.rate.set(10_000_000_000);
    timely
}

/// An acknowledgement arrives at `now`, `rtt` (us) after its data packet left.
fn acknowledge(timely: &mut Timely, now: Time, rtt: u64, view: &FlowView) {
    let sent_at = now - Time::from_us(rtt);
    let ack = Acknowledgement { sent_at, ..Acknowledgement::plain(0) };
    timely.on_acknowledgement(now, &ack, view);
}

/// The acknowledgement of the first byte of round trip `round`. Each round trip has 1000 B.
fn view(round: u64) -> FlowView {
    let acknowledged = round * 1_000;
    FlowView { acknowledged, next: acknowledged + 999, newly_acknowledged: 1_000 }
}

/// The rates after round trips of these times (us), in kb/s.
fn rates<const N: usize>(timely: &mut Timely, rtts: [u64; N]) -> [u64; N] {
    let mut round = 1;
    rtts.map(|rtt| {
        round += 1;
        acknowledge(timely, NOW, rtt, &view(round));
        (timely.rate.get() + 500) / 1_000
    })
}

#[test]
fn the_snippet_takes_at_most_half_away_and_counts_a_short_interval_less() {
    let snippet = TimelyConfig { largest_cut: 0.5, weighs_interval: true, ..config() };
    let mut timely = flow(&snippet, 60);
    let mut update = |after: u64, round, rtt| {
        let now = timely.updated_at + Time::from_us(after);
        acknowledge(&mut timely, now, rtt, &view(round));
        timely.rate.get()
    };
    // By hand: the gradient is 0.875 · 90 / 20 = 3.9, so that all of the rate would be taken.
    assert_eq!(update(20, 2, 150), 5_000_000_000);
    // 1 - 0.8 · (1 - 500/1000) = 0.6. The interval was 10 of 20 us, so half of the cut counts: 0.8.
    assert_eq!(update(10, 3, 1_000), 4_000_000_000);
    assert_eq!(update(5, 4, 40), 4_002_500_000); // a quarter of 10 Mb/s
    assert_eq!(update(40, 5, 40), 4_012_500_000);
}

#[test]
fn the_bands_and_the_gradient_of_a_written_sequence() {
    let mut timely = flow(&config(), 60);
    let expected = [9_300_000, 6_614_625, 6_375_878, 6_385_878, 6_395_878, 6_405_878, 5_551_761];
    assert_eq!(rates(&mut timely, [62, 70, 70, 66, 66, 40, 600]), expected);
}

#[test]
fn a_round_trip_time_at_a_threshold_goes_by_the_gradient() {
    // From 30 to 50 us, the low threshold: 1 - 0.8 · 0.875 · 20 / 20 = 0.3.
    assert_eq!(rates(&mut flow(&config(), 30), [50]), [3_000_000]);
    // From 510 to 500 us, the high one: it falls, so 10 Mb/s are added.
    assert_eq!(rates(&mut flow(&config(), 510), [500]), [10_010_000]);
}

#[test]
fn the_sixth_increase_in_a_row_is_a_large_one() {
    let mut timely = flow(&config(), 60);
    let steps = [10_010_000, 10_020_000, 10_030_000, 10_040_000, 10_050_000, 10_100_000];
    assert_eq!(rates(&mut timely, [60; 6]), steps);
}

#[test]
fn increases_below_the_low_threshold_become_large_only_where_that_is_chosen() {
    for (hyper_below_low, last) in [(false, 10_060_000), (true, 10_100_000)] {
        let mut timely = flow(&TimelyConfig { hyper_below_low, ..config() }, 40);
        assert_eq!(rates(&mut timely, [40; 6])[5], last);
    }
}

#[test]
fn the_patched_band_weighs_by_the_gradient() {
    let band = TimelyBand::Patched { reference_rtt: Time::from_us(50) };
    let config = TimelyConfig { decrease_factor: 0.008, band, ..config() };
    // An update takes w · 0.008 · (150 - 50) / 50 of 10 Gb/s and adds 1 - w of 10 Mb/s.
    for (gradient, expected) in [
        (-0.25, 10_010_000),
        (-0.125, 9_967_500),
        (0.0, 9_925_000),
        (0.125, 9_882_500),
        (0.3, 9_840_000),
    ] {
        let mut timely = flow(&config, 100);
        timely.stage = 3;
        timely.update(150_000.0, gradient);
        assert_eq!((timely.rate.get() + 500) / 1_000, expected);
        assert_eq!(timely.stage, 0);
    }
    // At 100 us, by hand from the patched rule: 10.01, 9.965 and 9.92 Gb/s.
    for (gradient, expected) in [(-0.3, 10_010_000), (0.0, 9_965_000), (0.3, 9_920_000)] {
        let mut timely = flow(&config, 100);
        timely.update(100_000.0, gradient);
        assert_eq!((timely.rate.get() + 500) / 1_000, expected);
    }
    // Half an interval counts half: half of 75 Mb/s less.
    let mut timely = flow(&config, 100);
    timely.share = 0.5;
    timely.update(150_000.0, 0.0);
    assert_eq!(timely.rate(), Some(BitRate::from_bps(9_962_500_000)));
}

#[test]
fn the_first_acknowledgement_of_a_round_trip_counts_and_the_others_do_not() {
    let mut timely = Timely::new(&config(), &fixture::flow(&fixture::path()));
    let mut measure = |rtt, acknowledged, next| {
        let view = FlowView { acknowledged, next, newly_acknowledged: 1_000 };
        acknowledge(&mut timely, NOW, rtt, &view);
        (timely.last_rtt, timely.rate())
    };
    assert_eq!(measure(60, 1_000, 100_000), (Some(60_000.0), None));
    assert_eq!(measure(90, 100_000, 200_000), (Some(60_000.0), None));
    assert_eq!(measure(70, 101_000, 201_000).0, Some(70_000.0));
    assert_eq!(timely.rate.get().div_ceil(1_000), 65_000_000); // the gradient is 0.4375
}

#[test]
fn a_segment_ends_with_its_last_byte() {
    let update = TimelyUpdate::Segment { size: Bytes::new(16_000) };
    let mut timely =
        Timely::new(&TimelyConfig { update, ..config() }, &fixture::flow(&fixture::path()));
    let mut updates = vec![];
    for packet in 1..=50 {
        let view = FlowView { acknowledged: packet * 1_000, next: 99_000, ..view(0) };
        timely.last_rtt = None;
        acknowledge(&mut timely, NOW, 60, &view);
        if timely.last_rtt.is_some() {
            updates.push(packet);
        }
    }
    assert_eq!(updates, [16, 32, 48]);
}

#[test]
fn a_steep_gradient_falls_to_the_minimum_rate_and_a_row_of_increases_ends() {
    let mut timely = flow(&config(), 60);
    timely.stage = 4;
    assert_eq!(rates(&mut timely, [400]), [1_000]);
    assert_eq!((timely.stage, timely.window()), (0, u64::MAX));
}

#[test]
fn a_timed_pause_leaves_a_share_of_the_rate_and_ends_a_row_of_increases() {
    let mut timely = flow(&config(), 20);
    timely.stage = 9;
    timely.on_timed_pause(Time::ZERO, 0.25);
    assert_eq!((timely.rate.get(), timely.stage), (2_500_000_000, 0));
}

#[test]
fn a_scaled_window_follows_the_rate() {
    let timely = flow(&TimelyConfig { window: RateWindow::Scaled, ..config() }, 60);
    assert_eq!(timely.window(), 10_000);
}

#[test]
fn parameters_are_read_and_written_and_refused_out_of_bounds() {
    let config = fixture::check_controller(
        JSON,
        &[
            (JSON.replace(":50000000,", ":600000000,"), "low_rtt"),
            (JSON.replace("64000", "0"), "update.size"),
            (JSON.replace(":50000000}", ":0}"), "band.reference_rtt"),
        ],
    );
    assert!(config.uses_timestamp());
}
