//! HPCC, stepped by hand.

use penstock_units::Bytes;

use super::*;
use crate::fixture;

const JSON: &str = concat!(
    r#"{"kind":"hpcc","target_utilization":0.95,"maximum_stage":5,"#,
    r#""additive_increase":{"kind":"rate","rate":50000000},"minimum_rate":100000000,"#,
    r#""react":"per-ack","window":"scaled"}"#
);

fn hpcc(react: HpccReaction) -> Hpcc {
    let config = HpccConfig {
        target_utilization: 0.95,
        maximum_stage: 5,
        additive_increase: Increase::Window { size: Bytes::new(80) },
        minimum_rate: BitRate::from_mbps(100),
        react,
        window: RateWindow::Scaled,
    };
    Hpcc::new(&config, &fixture::flow(&fixture::path()))
}

fn hop(time: Time, sent_bytes: u64, queue_bytes: u64) -> HopTelemetry {
    HopTelemetry { time, sent_bytes, queue_bytes, rate: BitRate::from_gbps(100) }
}

/// The acknowledgement of the bytes up to `acknowledged` with 100 kB behind them.
fn acknowledge(hpcc: &mut Hpcc, telemetry: &[HopTelemetry], acknowledged: u64) {
    let next = acknowledged + 100_000;
    let view = FlowView { acknowledged, next, newly_acknowledged: 1_000 };
    let ack = Acknowledgement { telemetry, ..Acknowledgement::plain(acknowledged) };
    hpcc.on_acknowledgement(Time::ZERO, &ack, &view);
}

const START: Time = Time::from_us(10);

#[test]
fn the_first_acknowledgement_only_stores_its_telemetry() {
    let mut hpcc = hpcc(HpccReaction::PerAck);
    acknowledge(&mut hpcc, &[hop(START, 0, 900_000)], 1_000);
    assert_eq!((hpcc.window(), hpcc.rate(), hpcc.utilization), (100_000, None, 1.0));
}

#[test]
fn one_packet_at_line_rate_behind_half_a_window_of_queue() {
    let mut hpcc = hpcc(HpccReaction::PerAck);
    acknowledge(&mut hpcc, &[hop(START, 0, 60_000)], 1_000);
    let later = START + Time::from_ps(87_200);
    acknowledge(&mut hpcc, &[hop(later, 1_090, 50_000)], 2_000);
    assert!((hpcc.utilization - 1.005_45).abs() < 1e-9);
    assert_eq!(hpcc.window(), 94_565);
    assert_eq!(hpcc.reference, 100_000_000_000); // not committed before the round trip ends
}

#[test]
fn a_whole_round_trip_replaces_the_average() {
    let mut hpcc = hpcc(HpccReaction::PerAck);
    acknowledge(&mut hpcc, &[hop(START, 0, 60_000)], 1_000);
    let later = START + Time::from_us(8);
    acknowledge(&mut hpcc, &[hop(later, 100_000, 50_000)], 2_000);
    assert!((hpcc.utilization - 1.5).abs() < 1e-9);
    assert_eq!(hpcc.window(), 63_413);
}

#[test]
fn an_idle_path_is_probed_in_stages_and_then_taken_at_once() {
    for (stage, expected) in [(0, 50_080), (4, 50_080), (5, 100_000)] {
        let mut hpcc = hpcc(HpccReaction::PerAck);
        acknowledge(&mut hpcc, &[hop(START, 0, 0)], 1_000);
        (hpcc.reference, hpcc.utilization, hpcc.stage) = (50_000_000_000, 0.4, stage);
        let later = START + Time::from_us(8);
        acknowledge(&mut hpcc, &[hop(later, 40_000, 0)], 2_000);
        assert_eq!(hpcc.window(), expected);
    }
}

#[test]
fn the_reference_moves_once_per_round_trip() {
    let mut hpcc = hpcc(HpccReaction::PerAck);
    acknowledge(&mut hpcc, &[hop(START, 0, 0)], 1_000); // the round ends beyond 101 kB
    let mut time = START;
    for (sent, acknowledged) in [(100_000, 50_000), (200_000, 101_000)] {
        time += Time::from_us(8);
        acknowledge(&mut hpcc, &[hop(time, sent, 0)], acknowledged);
        assert_eq!((hpcc.window(), hpcc.reference), (95_080, 100_000_000_000));
    }
    time += Time::from_us(8);
    acknowledge(&mut hpcc, &[hop(time, 300_000, 0)], 102_000);
    assert_eq!((hpcc.window(), hpcc.reference), (95_080, 95_080_000_000));
}

#[test]
fn five_round_trips_add_and_the_sixth_divides_and_begins_anew() {
    let mut hpcc = hpcc(HpccReaction::PerAck);
    acknowledge(&mut hpcc, &[hop(START, 0, 0)], 1_000);
    hpcc.reference = 10_000_000_000;
    // Each acknowledgement ends a round trip in which the link was used to 38 %, 0.4 of the target. A step
    // of 80 B in 8 us is 80 Mb/s; the sixth round trip comes to 10.4 Gb/s / 0.4 + 80 Mb/s.
    let references = [1, 2, 3, 4, 5, 6, 7].map(|round| {
        let telemetry = [hop(START + Time::from_us(8) * round, 38_000 * round, 0)];
        acknowledge(&mut hpcc, &telemetry, 200_000 * round);
        hpcc.reference / 1_000_000
    });
    assert_eq!(references, [10_080, 10_160, 10_240, 10_320, 10_400, 26_080, 26_160]);
}

#[test]
fn a_queue_counts_by_its_shorter_end() {
    for (before, after) in [(20_000, 60_000), (60_000, 20_000)] {
        let mut hpcc = hpcc(HpccReaction::PerAck);
        acknowledge(&mut hpcc, &[hop(START, 0, before)], 1_000);
        acknowledge(&mut hpcc, &[hop(START + Time::from_us(8), 100_000, after)], 2_000);
        // The link was busy, and 20 kB are a fifth of the bandwidth-delay product.
        assert!((hpcc.utilization - 1.2).abs() < 1e-9);
    }
}

#[test]
fn telemetry_is_compared_with_the_last_and_a_long_pause_counts_as_a_round_trip() {
    let mut hpcc = hpcc(HpccReaction::PerAck);
    let mut measure = |after, sent_bytes| {
        acknowledge(&mut hpcc, &[hop(START + Time::from_us(after), sent_bytes, 0)], 1_000);
        hpcc.utilization
    };
    measure(0, 0);
    assert!((measure(8, 100_000) - 1.0).abs() < 1e-9);
    // 50 kB in two round trips are a quarter of what the link can send. They replace the average.
    assert!((measure(24, 150_000) - 0.25).abs() < 1e-9);
}

#[test]
fn per_rtt_ignores_the_acknowledgements_between() {
    let mut hpcc = hpcc(HpccReaction::PerRtt);
    acknowledge(&mut hpcc, &[hop(START, 0, 60_000)], 1_000);
    let later = START + Time::from_us(4);
    acknowledge(&mut hpcc, &[hop(later, 50_000, 90_000)], 50_000);
    assert_eq!((hpcc.window(), hpcc.utilization, hpcc.has_moved_gap()), (100_000, 1.0, false));
    let later = START + Time::from_us(8);
    acknowledge(&mut hpcc, &[hop(later, 100_000, 50_000)], 102_000);
    assert_eq!((hpcc.window(), hpcc.stage, hpcc.has_moved_gap()), (63_413, 0, true));
    acknowledge(&mut hpcc, &[hop(later, 100_000, 50_000)], 103_000);
    assert!(!hpcc.has_moved_gap());
}

#[test]
fn a_timed_pause_lowers_the_reference_too() {
    let mut hpcc = hpcc(HpccReaction::PerAck);
    let line = hpcc.rate.get();
    hpcc.on_timed_pause(START, 0.5);
    assert_eq!((hpcc.rate.get(), hpcc.reference), (line / 2, line / 2));
    // The rate is what the last acknowledgement made of the reference, which may be more or less.
    for rate in [line / 4, line] {
        hpcc.rate.set(rate);
        hpcc.reference = line / 2;
        hpcc.on_timed_pause(START, 0.75);
        assert_eq!((hpcc.rate.get(), hpcc.reference), (rate / 4 * 3, line / 8 * 3));
    }
    hpcc.on_timed_pause(START, 0.0);
    assert_eq!(hpcc.reference, 100_000_000, "the minimum rate");
}

#[test]
fn the_busiest_hop_counts_with_its_own_rate_wherever_it_is() {
    let slow = |time, sent_bytes| HopTelemetry {
        rate: BitRate::from_gbps(25),
        ..hop(time, sent_bytes, 0)
    };
    let later = START + Time::from_us(8);
    let mut before = [hop(START, 0, 0), slow(START, 0)];
    let mut after = [hop(later, 50_000, 0), slow(later, 25_000)];
    for _ in 0..2 {
        let mut hpcc = hpcc(HpccReaction::PerAck);
        acknowledge(&mut hpcc, &before, 1_000);
        acknowledge(&mut hpcc, &after, 2_000);
        assert!((hpcc.utilization - 1.0).abs() < 1e-9);
        before.reverse();
        after.reverse();
    }
}

#[test]
fn a_stopped_clock_is_skipped_and_another_route_starts_over() {
    let mut hpcc = hpcc(HpccReaction::PerAck);
    acknowledge(&mut hpcc, &[hop(START, 0, 0)], 1_000);
    acknowledge(&mut hpcc, &[hop(START, 5_000, 9_000)], 2_000);
    assert_eq!(hpcc.utilization, 1.0);
    let window = hpcc.window();
    acknowledge(&mut hpcc, &[hop(START, 0, 0); 3], 3_000);
    assert_eq!((hpcc.window(), hpcc.history.len()), (window, 3));
    acknowledge(&mut hpcc, &[], 4_000);
    acknowledge(&mut hpcc, &[], 5_000);
    acknowledge(&mut hpcc, &[hop(START, 0, 0); 12], 6_000);
    assert_eq!((hpcc.window(), hpcc.history.len()), (window, 12));
}

#[test]
fn another_path_of_as_many_hops_only_stores_its_telemetry() {
    let mut hpcc = hpcc(HpccReaction::PerAck);
    let mut acknowledge = |path, time, sent_bytes, acknowledged| {
        let view = fixture::view(acknowledged, acknowledged + 100, 1);
        let telemetry = [hop(time, sent_bytes, 0)];
        let ack = Acknowledgement { path, telemetry: &telemetry, ..Acknowledgement::plain(0) };
        hpcc.on_acknowledgement(Time::ZERO, &ack, &view);
        hpcc.utilization
    };
    acknowledge(6, START, 0, 1);
    let later = START + Time::from_us(4);
    // The port of the other path has sent a gigabyte.
    assert_eq!(acknowledge(5, later, 1_000_000_000, 2), 1.0);
    let last = later + Time::from_us(8);
    assert!((acknowledge(5, last, 1_000_050_000, 102) - 0.5).abs() < 1e-9);
    assert_eq!(hpcc.round_end, 202_000, "the round of the first acknowledgement has ended");
}

#[test]
fn a_switch_drop_holds_the_minimum_rate_until_the_next_acknowledgement() {
    let mut hpcc = hpcc(HpccReaction::PerAck);
    acknowledge(&mut hpcc, &[hop(START, 0, 0)], 1_000);
    hpcc.on_switch_drop(Time::ZERO);
    assert_eq!(hpcc.rate(), Some(BitRate::from_mbps(100)));
    let later = START + Time::from_us(8);
    acknowledge(&mut hpcc, &[hop(later, 95_000, 0)], 2_000);
    assert_eq!((hpcc.window(), hpcc.rate()), (100_000, None));
}

#[test]
fn parameters_are_read_and_written_and_refused_out_of_bounds() {
    let config = fixture::check_controller(
        JSON,
        &[
            (JSON.replace("0.95", "0"), "target_utilization"),
            (JSON.replace(":50000000}", ":0}"), "additive_increase.rate"),
        ],
    );
    assert!(config.uses_telemetry());
}
