//! PowerTCP, stepped by hand through Algorithm 1 at 100 Gb/s (12.5 B/ns) and 8 us (100 kB).
//!
//! There are 1,000 expected flows, so that beta is 100 B.

use super::*;
use crate::fixture;

const JSON: &str = concat!(
    r#"{"kind":"powertcp","weight":0.9,"expected_flows":1000,"minimum_rate":100000000,"#,
    r#""window":"scaled"}"#
);

fn powertcp() -> PowerTcp {
    let config = PowerTcpConfig {
        weight: 0.9,
        expected_flows: 1_000,
        minimum_rate: BitRate::from_mbps(100),
        window: RateWindow::Scaled,
    };
    PowerTcp::new(&config, &fixture::flow(&fixture::path()))
}

fn hop(time: Time, sent_bytes: u64, queue_bytes: u64) -> HopTelemetry {
    HopTelemetry { time, sent_bytes, queue_bytes, rate: BitRate::from_gbps(100) }
}

/// The acknowledgement of the bytes up to `acknowledged` with 100 kB behind them.
fn acknowledge(flow: &mut PowerTcp, telemetry: &[HopTelemetry], acknowledged: u64) {
    let next = acknowledged + 100_000;
    let view = FlowView { acknowledged, next, newly_acknowledged: 1_000 };
    let ack = Acknowledgement { telemetry, ..Acknowledgement::plain(acknowledged) };
    flow.on_acknowledgement(Time::ZERO, &ack, &view);
}

const START: Time = Time::from_us(10);
const ROUND_TRIP_LATER: Time = Time::from_us(18);

#[test]
fn the_first_acknowledgement_only_stores_its_telemetry() {
    let mut flow = powertcp();
    acknowledge(&mut flow, &[hop(START, 0, 900_000)], 1_000);
    assert_eq!((flow.window(), flow.rate(), flow.power.average()), (100_000, None, 1.0));
}

#[test]
fn one_packet_at_line_rate_before_half_a_window_of_queue() {
    let mut flow = powertcp();
    acknowledge(&mut flow, &[hop(START, 0, 50_000)], 1_000);
    // 1,090 B take 87.2 ns: the current is that of the line, the voltage 150 kB, so the power is 1.5 and
    // weighs 87.2 of 8,000 ns.
    let later = START + Time::from_ps(87_200);
    acknowledge(&mut flow, &[hop(later, 1_090, 50_000)], 2_000);
    assert!((flow.power.average() - 1.005_45).abs() < 1e-9);
    // 0.9 (100,000 / 1.00545 + 100) + 0.1 x 100,000
    assert_eq!(flow.window(), 99_602);
    assert_eq!(flow.old, 100_000_000_000); // not before the round trip ends
}

#[test]
fn a_queue_that_grows_counts_twice() {
    let mut flow = powertcp();
    acknowledge(&mut flow, &[hop(START, 0, 0)], 1_000);
    // 150 kB came in the time of 100 kB, and 50 kB of them are the queue: 1.5 x 1.5.
    acknowledge(&mut flow, &[hop(ROUND_TRIP_LATER, 100_000, 50_000)], 2_000);
    assert!((flow.power.average() - 2.25).abs() < 1e-9);
    assert_eq!(flow.window(), 50_090); // 0.9 (100,000 / 2.25 + 100) + 0.1 x 100,000
}

#[test]
fn a_queue_that_drains_raises_the_window_at_once() {
    let mut flow = powertcp();
    acknowledge(&mut flow, &[hop(START, 0, 50_000)], 1_000);
    flow.rate.set(40_000_000_000);
    flow.old = 40_000_000_000;
    // 50 kB came in the time of 100 kB, and no queue is left: 0.5 x 1.
    acknowledge(&mut flow, &[hop(ROUND_TRIP_LATER, 100_000, 0)], 2_000);
    assert_eq!(flow.window(), 76_090); // 0.9 (40,000 / 0.5 + 100) + 0.1 x 40,000
}

#[test]
fn the_old_window_moves_once_per_round_trip() {
    let mut flow = powertcp();
    acknowledge(&mut flow, &[hop(START, 0, 100_000)], 1_000); // the round trip ends beyond 101 kB
    let mut time = START;
    // A queue of a BDP that stays: the power is 2.
    for (sent, acknowledged, window, old) in [
        (100_000, 50_000, 55_090, 100_000_000_000), // 0.9 (50,000 + 100) + 0.1 x 100,000
        (200_000, 101_000, 50_599, 100_000_000_000), // 0.9 (50,000 + 100) + 0.1 x 55,090
        (300_000, 102_000, 50_149, 50_149_900_000), // + 0.1 x 50,599
        (400_000, 103_000, 27_672, 50_149_900_000), // 0.9 (25,074.95 + 100) + 0.1 x 50,149.9
    ] {
        time += Time::from_us(8);
        acknowledge(&mut flow, &[hop(time, sent, 100_000)], acknowledged);
        assert_eq!((flow.window(), flow.old), (window, old));
    }
}

#[test]
fn the_hop_with_the_most_power_counts_with_its_own_rate() {
    let slow = |time, sent_bytes, queue_bytes| HopTelemetry {
        rate: BitRate::from_gbps(25),
        ..hop(time, sent_bytes, queue_bytes)
    };
    let now = ROUND_TRIP_LATER;
    // 1 on the fast hop; on the slow one a BDP of 25 kB waits: 2.
    let before = [hop(START, 0, 0), slow(START, 0, 25_000)];
    let after = [hop(now, 100_000, 0), slow(now, 25_000, 25_000)];
    for [first, second] in [[0, 1], [1, 0]] {
        let mut flow = powertcp();
        acknowledge(&mut flow, &[before[first], before[second]], 1_000);
        acknowledge(&mut flow, &[after[first], after[second]], 2_000);
        assert!((flow.power.average() - 2.0).abs() < 1e-9);
    }
}

#[test]
fn the_current_is_what_came_since_the_acknowledgement_before() {
    let mut flow = powertcp();
    // 100 kB in the first 8 us and 50 kB in the next: the whole of the line, and then half of it.
    for (round, sent, power) in [(0, 0, 1.0), (1, 100_000, 1.0), (2, 150_000, 0.5)] {
        acknowledge(&mut flow, &[hop(START + Time::from_us(8) * round, sent, 0)], 1_000);
        assert!((flow.power.average() - power).abs() < 1e-9, "round trip {round}");
    }
}

#[test]
fn the_rate_stays_between_the_minimum_and_the_line_rate() {
    let mut flow = powertcp();
    acknowledge(&mut flow, &[hop(START, 0, 0)], 1_000);
    acknowledge(&mut flow, &[hop(ROUND_TRIP_LATER, 10_000, 0)], 2_000);
    assert_eq!((flow.window(), flow.rate()), (100_000, None));
    flow.old = 1;
    flow.rate.set_minimum();
    let now = ROUND_TRIP_LATER + Time::from_us(8);
    acknowledge(&mut flow, &[hop(now, 110_000, 90_000_000)], 3_000);
    assert_eq!(flow.rate(), Some(BitRate::from_mbps(100)));
}

#[test]
fn a_stopped_clock_is_skipped_and_another_route_starts_over() {
    let mut flow = powertcp();
    acknowledge(&mut flow, &[hop(START, 0, 0)], 1_000);
    acknowledge(&mut flow, &[hop(START, 5_000, 9_000)], 2_000);
    assert_eq!(flow.power.average(), 1.0);
    let window = flow.window();
    acknowledge(&mut flow, &[hop(START, 0, 0); 3], 3_000);
    assert_eq!((flow.window(), flow.history.len()), (window, 3));
    acknowledge(&mut flow, &[], 4_000);
    acknowledge(&mut flow, &[], 5_000);
    assert_eq!((flow.window(), flow.history.len()), (window, 0));
}

#[test]
fn another_path_of_as_many_hops_only_stores_its_telemetry() {
    let mut flow = powertcp();
    let mut acknowledge = |path, time, sent_bytes, acknowledged| {
        let view = fixture::view(acknowledged, acknowledged + 100, 1);
        let telemetry = [hop(time, sent_bytes, 0)];
        let ack = Acknowledgement { path, telemetry: &telemetry, ..Acknowledgement::plain(0) };
        flow.on_acknowledgement(Time::ZERO, &ack, &view);
        flow.power.average()
    };
    acknowledge(6, START, 0, 1);
    // The port of the other path has sent a gigabyte.
    assert_eq!(acknowledge(5, START + Time::from_us(4), 1_000_000_000, 2), 1.0);
    assert_eq!(acknowledge(5, START + Time::from_us(12), 1_000_050_000, 3), 0.5);
}

#[test]
fn parameters_are_read_and_written_and_refused_out_of_bounds() {
    let config = fixture::check_controller(
        JSON,
        &[
            (JSON.replace("0.9", "0"), "weight"),
            (JSON.replace("0.9", "1.1"), "weight"),
            (JSON.replace(":1000,", ":0,"), "expected_flows"),
        ],
    );
    assert!(config.uses_telemetry() && !config.uses_timestamp());
}
