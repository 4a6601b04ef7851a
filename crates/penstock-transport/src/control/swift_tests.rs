//! Swift, stepped by hand.

use super::*;
use crate::fixture;

const JSON: &str = concat!(
    r#"{"kind":"swift","additive_increase":1.0,"beta":0.8,"maximum_decrease":0.5,"#,
    r#""base_target":null,"hop_target":1200000,"range":8000000,"minimum_flow_window":0.1,"#,
    r#""maximum_flow_window":100.0,"minimum_window":0.001,"maximum_window":1000.0,"#,
    r#""initial_window_packets":100,"reset_after":5}"#
);

fn config() -> SwiftConfig {
    SwiftConfig {
        additive_increase: 1.0,
        beta: 0.8,
        maximum_decrease: 0.5,
        base_target: Some(Time::from_us(20)),
        hop_target: Time::from_ns(3_050),
        range: Time::from_us(100),
        minimum_flow_window: 0.1,
        maximum_flow_window: 100.0,
        minimum_window: 0.001,
        maximum_window: 1_000.0,
        initial_window_packets: 16,
        reset_after: 5,
    }
}

fn swift(window: f64) -> Swift {
    Swift { window, ..Swift::new(&config(), &fixture::flow(&fixture::path())) }
}

/// An acknowledgement of one packet at `now` (us) after `delay` (us).
fn acknowledge(swift: &mut Swift, now: u64, delay: u64) {
    acknowledge_several(swift, now, delay, 1);
}

/// The same of as many packets.
fn acknowledge_several(swift: &mut Swift, now: u64, delay: u64, packets: u64) {
    let view = fixture::view(0, 0, packets);
    let sent_at = Time::from_us(now - delay);
    let ack = Acknowledgement { sent_at, ..Acknowledgement::plain(0) };
    swift.on_acknowledgement(Time::from_us(now), &ack, &view);
}

#[test]
fn the_target_falls_with_the_window() {
    let mut swift = swift(1.0);
    assert!((swift.scale / 1e6 - 32.6554).abs() < 1e-4);
    assert!((swift.offset / 1e6 + 3.26554).abs() < 1e-5);
    let expected =
        [(0.01, 129.15), (0.1, 129.15), (1.0, 58.54), (4.0, 42.21), (16.0, 34.05), (64.0, 29.97)];
    for (window, target) in expected.into_iter().chain([(100.0, 29.15), (900.0, 29.15)]) {
        swift.window = window;
        assert!((swift.target() / 1e6 - target).abs() < 0.005, "{window}: {}", swift.target());
    }
}

#[test]
fn below_the_target_a_round_trip_adds_a_packet_and_a_packet_of_a_small_window_too() {
    let mut large = swift(10.0);
    for _ in 0..10 {
        acknowledge(&mut large, 1_000, 10);
    }
    assert!((large.window - 10.95).abs() < 0.02, "{}", large.window);
    let mut at_once = swift(10.0);
    acknowledge_several(&mut at_once, 1_000, 10, 5);
    assert_eq!(at_once.window, 10.5);
    let mut small = swift(0.25);
    acknowledge(&mut small, 1_000, 10);
    assert_eq!(small.window, 1.25);
    let mut full = swift(999.9999);
    acknowledge(&mut full, 1_000, 10);
    assert_eq!(full.window, 1_000.0);
}

#[test]
fn above_the_target_the_excess_is_taken_off_at_most_once_per_round_trip() {
    let mut swift = swift(100.0);
    swift.path_target = 40e6; // fs adds nothing to a window of 100
    acknowledge(&mut swift, 1_000, 60);
    assert!((swift.window - 73.33).abs() < 0.005, "{}", swift.window);
    let window = swift.window;
    acknowledge(&mut swift, 1_059, 60);
    assert_eq!(swift.window, window);
    swift.window = 200.0;
    acknowledge(&mut swift, 1_399, 400); // still within 400 us of the last decrease
    assert_eq!(swift.window, 200.0);
    acknowledge(&mut swift, 1_400, 400);
    assert_eq!(swift.window, 100.0); // max_mdf
}

#[test]
fn a_delay_that_is_just_the_target_is_no_decrease() {
    let mut swift = swift(100.0);
    swift.path_target = 40e6;
    acknowledge(&mut swift, 1_000, 40);
    assert_eq!((swift.window, swift.last_decrease), (100.0, None));
}

#[test]
fn windows_stay_within_their_bounds_and_the_first_one_too() {
    let small = SwiftConfig { maximum_window: 10.0, ..config() };
    assert_eq!(Swift::new(&small, &fixture::flow(&fixture::path())).window, 10.0);
    let mut swift = swift(0.0015);
    swift.on_loss(Time::from_us(100), LossSignal::FastRetransmit { in_flight: 0 });
    assert_eq!(swift.window, 0.001);
}

#[test]
fn a_window_below_one_packet_is_paced() {
    let mut swift = swift(1.0);
    assert_eq!((swift.window(), swift.rate()), (1_000, None));
    swift.window = 2.9;
    assert_eq!((swift.window(), swift.rate()), (2_000, None));
    swift.window = 0.5;
    swift.rtt = Time::from_us(10);
    // One packet of 1048 B in 20 us.
    assert_eq!((swift.window(), swift.rate()), (1, Some(BitRate::from_bps(419_200_000))));
}

#[test]
fn losses_take_the_largest_share_and_timeouts_in_a_row_everything() {
    let mut swift = swift(64.0);
    let timeout = LossSignal::Timeout { in_flight: 0, is_repeated: false };
    swift.on_loss(Time::from_us(100), LossSignal::FastRetransmit { in_flight: 0 });
    assert_eq!(swift.window, 32.0);
    swift.on_loss(Time::from_us(101), timeout); // within 8 us: counted only
    assert_eq!((swift.window, swift.timeouts), (32.0, 1));
    for count in 2..5 {
        swift.on_loss(Time::from_us(count * 100), timeout);
    }
    assert_eq!(swift.window, 4.0);
    swift.on_loss(Time::from_us(501), timeout);
    assert_eq!((swift.window, swift.window()), (0.001, 1));
    acknowledge(&mut swift, 600, 10);
    assert_eq!((swift.window, swift.timeouts), (1.001, 0));
    swift.rtt = Time::from_us(200);
    swift.on_loss(Time::from_us(650), timeout); // within 200 us of the reset, which was a decrease
    assert_eq!((swift.window, swift.timeouts), (1.001, 1));
    swift.on_loss(Time::from_us(660), LossSignal::FastRetransmit { in_flight: 0 });
    assert_eq!((swift.window, swift.timeouts), (1.001, 0)); // no timeouts in a row
    swift.on_loss(Time::from_us(700), LossSignal::RecoveryExit { in_flight: 0 });
    assert_eq!(swift.window, 1.001);
}

#[test]
fn parameters_are_read_and_written_and_refused_out_of_bounds() {
    let config = fixture::check_controller(
        JSON,
        &[
            (JSON.replace("0.5", "1.0"), "maximum_decrease"),
            (JSON.replace("0.8", "0"), "beta"),
            (JSON.replace("null", "0"), "base_target"),
            (JSON.replace(":0.1", ":100.0"), "maximum_flow_window"),
            (JSON.replace("0.001", "1.5"), "minimum_window"),
            (JSON.replace("1000.0", "0.5"), "maximum_window"),
            (JSON.replace(":5}", ":0}"), "reset_after"),
        ],
    );
    assert!(config.uses_timestamp());
}
