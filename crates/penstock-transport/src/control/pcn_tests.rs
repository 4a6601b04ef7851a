//! Both ends of PCN, stepped by hand.

use super::*;
use crate::fixture;

const JSON: &str = concat!(
    r#"{"kind":"pcn","minimum_weight":0.0078125,"maximum_weight":0.5,"#,
    r#""notification_interval":50000000,"first_notification":"period","clock_error":0.0,"#,
    r#""marked_share":0.95,"minimum_rate":1000000}"#
);

const FASTER: Notification = Notification { is_congested: false, receiving_rate: 0 };

fn config() -> PcnConfig {
    PcnConfig {
        minimum_weight: 1.0 / 128.0,
        maximum_weight: 0.5,
        notification_interval: Time::from_us(50),
        first_notification: FirstNotification::Period,
        clock_error: 0.0,
        marked_share: 0.95,
        minimum_rate: BitRate::from_mbps(1),
    }
}

/// A flow on the path's 100 Gb/s.
fn flow() -> Pcn {
    Pcn::new(&config(), &fixture::flow(&fixture::path()))
}

fn cut(receiving_rate: u32) -> Notification {
    Notification { is_congested: true, receiving_rate }
}

#[test]
fn figure_10_a_tenth_after_five_notifications_and_95_percent_after_fifteen() {
    let mut pcn = flow();
    pcn.on_notification(Time::ZERO, cut(0));
    assert_eq!(pcn.rate.get(), 1_000_000);
    let rates: [f64; 20] = core::array::from_fn(|_| {
        pcn.on_notification(Time::ZERO, FASTER);
        pcn.rate.get() as f64 / 1e11
    });
    // By hand from 0: r = r (1 - w) + w, then w = w (1 - w) + w / 2, with w = 1/128 at first.
    for (after, expected) in [(1, 0.007812), (5, 0.096788), (10, 0.538122), (15, 0.958396)] {
        assert!((rates[after - 1] - expected).abs() < 2e-5, "{after}: {}", rates[after - 1]);
    }
    assert!(rates[4] <= 0.1 && rates[14] >= 0.95);
    assert!((pcn.weight - 0.499307).abs() < 1e-6, "{}", pcn.weight);
}

#[test]
fn a_cut_goes_to_the_discounted_receiving_rate_but_never_up() {
    let mut pcn = flow();
    pcn.on_notification(Time::ZERO, cut(12_800));
    assert_eq!(pcn.rate(), Some(BitRate::from_mbps(12_700))); // 127/128 of it
    pcn.on_notification(Time::ZERO, cut(25_600)); // the queue drains faster than the flow sends
    assert_eq!(pcn.rate(), Some(BitRate::from_mbps(12_700)));
    pcn.on_notification(Time::ZERO, cut(6_400));
    assert_eq!(pcn.rate(), Some(BitRate::from_mbps(6_350)));
}

#[test]
fn a_cut_makes_the_next_increase_gentle_again() {
    let mut pcn = flow();
    pcn.on_notification(Time::ZERO, cut(12_800));
    for _ in 0..9 {
        pcn.on_notification(Time::ZERO, FASTER);
    }
    assert!(pcn.weight > 0.2);
    pcn.on_notification(Time::ZERO, cut(12_800));
    pcn.on_notification(Time::ZERO, FASTER);
    // 12.7 Gb/s + (100 - 12.7) / 128.
    assert_eq!(pcn.rate.get(), 13_382_031_250);
}

#[test]
fn the_line_rate_is_reached_and_kept() {
    let mut pcn = flow();
    pcn.on_notification(Time::ZERO, FASTER);
    assert_eq!((pcn.rate(), pcn.window()), (None, u64::MAX));
    pcn.on_notification(Time::ZERO, cut(50_000));
    for _ in 0..60 {
        pcn.on_notification(Time::ZERO, FASTER);
    }
    assert_eq!(pcn.rate(), None);
    assert!((pcn.weight - 0.5).abs() < 1e-12, "{}", pcn.weight);
}

const PACKET: u32 = 1_000;

/// Notifications are `notification_interval` apart.
fn receiving_rate(notification_interval: Time) -> ReceivingRate {
    let config = PcnConfig { notification_interval, ..config() };
    ReceivingRate::new(&config, &fixture::flow(&fixture::path()))
}

fn point() -> ReceivingRate {
    receiving_rate(Time::from_us(50))
}

/// `packets` arrive a microsecond apart from `start` (us) on; the first `marked` have marks.
fn arrive(point: &mut ReceivingRate, start: u64, packets: u64, marked: u64) {
    for packet in 0..packets {
        let now = Time::from_us(start + packet);
        assert_eq!(point.on_data(now, PACKET, packet < marked), None);
    }
}

fn congested(receiving_rate: u32) -> Option<Notification> {
    Some(cut(receiving_rate))
}

#[test]
fn a_marked_flow_is_told_its_rate_at_the_end_of_the_period() {
    let mut point = point();
    assert_eq!(point.deadline(), Time::NEVER);
    arrive(&mut point, 10, 40, 40);
    assert_eq!(point.deadline(), Time::from_us(60));
    assert_eq!(point.on_deadline(Time::from_us(59)), None);
    // 40,000 B in 50 us.
    assert_eq!(point.on_deadline(Time::from_us(60)), congested(6_400));
    assert_eq!(point.deadline(), Time::NEVER);
}

#[test]
fn a_flow_is_congested_with_more_than_95_percent_of_its_packets_marked() {
    for (packets, marked, expected) in [
        (40, 38, Some(FASTER)), // 95 %
        (40, 39, congested(6_400)),
        (20, 19, Some(FASTER)),
        (20, 20, congested(3_200)),
        (40, 0, Some(FASTER)),
    ] {
        let mut point = point();
        arrive(&mut point, 0, packets, marked);
        assert_eq!(point.on_deadline(Time::from_us(50)), expected, "{marked} of {packets}");
    }
}

#[test]
fn one_packet_counts_for_the_time_since_the_one_before_if_that_is_longer() {
    let mut point = point();
    arrive(&mut point, 0, 1, 1);
    assert_eq!(point.on_deadline(Time::from_us(50)), congested(160)); // 8,000 bits in 50 us
    arrive(&mut point, 200, 1, 1);
    assert_eq!(point.deadline(), Time::from_us(250));
    assert_eq!(point.on_deadline(Time::from_us(250)), congested(40)); // 200 us
    arrive(&mut point, 290, 1, 1);
    assert_eq!(point.on_deadline(Time::from_us(300)), congested(89)); // 90 us
    arrive(&mut point, 301, 1, 1);
    assert_eq!(point.on_deadline(Time::from_us(350)), congested(160)); // 11 us apart: T
}

#[test]
fn a_period_without_packets_tells_nothing_and_the_next_ones_keep_their_ends() {
    let mut point = point();
    arrive(&mut point, 0, 2, 0);
    assert_eq!(point.on_deadline(Time::from_us(50)), Some(FASTER));
    arrive(&mut point, 155, 2, 0);
    assert_eq!(point.deadline(), Time::from_us(200));
}

#[test]
fn a_packet_at_the_end_of_a_period_belongs_to_the_next_and_does_not_wait_for_the_timer() {
    let mut point = point();
    arrive(&mut point, 0, 50, 50);
    assert_eq!(point.on_data(Time::from_us(50), PACKET, true), congested(8_000));
    assert_eq!(point.on_deadline(Time::from_us(50)), None);
    assert_eq!(point.deadline(), Time::from_us(100));
    assert_eq!(point.on_deadline(Time::from_us(100)), congested(160));
}

#[test]
fn a_rate_below_half_a_unit_is_zero_and_the_largest_is_that_of_32_bits() {
    let mut slow = receiving_rate(Time::from_ms(100));
    slow.on_data(Time::ZERO, PACKET, true);
    assert_eq!(slow.on_deadline(Time::from_ms(100)), congested(0));
    let mut fast = receiving_rate(Time::from_ps(1));
    fast.on_data(Time::ZERO, PACKET, true);
    assert_eq!(fast.on_deadline(Time::from_ps(1)), congested(u32::MAX));
}

#[test]
fn a_clock_that_is_wrong_has_longer_or_shorter_periods_and_does_not_know_it() {
    let config = PcnConfig { clock_error: 100.0, ..config() };
    for (clock, end) in [(1.0, 50_005_000), (-0.5, 49_997_500), (0.0, 50_000_000)] {
        let path = fixture::path();
        let mut point = ReceivingRate::new(&config, &FlowFacts { clock, ..fixture::flow(&path) });
        arrive(&mut point, 0, 5, 5);
        assert_eq!(point.deadline(), Time::from_ps(end));
        assert_eq!(point.on_deadline(Time::from_ps(end - 1)), None);
        // 5,000 B in what the clock takes for 50 us.
        assert_eq!(point.on_deadline(Time::from_ps(end)), congested(800));
        point.on_data(Time::from_us(60), PACKET, false);
        assert_eq!(point.deadline(), Time::from_ps(2 * end));
    }
}

/// A notification point whose first notification may leave at a marked packet.
fn early() -> ReceivingRate {
    let config = PcnConfig { first_notification: FirstNotification::Mark, ..config() };
    ReceivingRate::new(&config, &fixture::flow(&fixture::path()))
}

#[test]
fn a_first_period_may_end_at_its_second_packet_and_the_next_ends_t_later() {
    let mut point = early();
    // Fifteen senders at line rate share 10 Gb/s: a packet of 8,000 bits every 12 us.
    assert_eq!(point.on_data(Time::from_us(10), PACKET, true), None);
    assert_eq!(point.on_data(Time::from_us(22), PACKET, true), congested(667)); // 8,000 bits in 12 us
    assert_eq!(point.deadline(), Time::from_us(72));
    for now in [34, 46, 58, 70] {
        assert_eq!(point.on_data(Time::from_us(now), PACKET, true), None);
    }
    // The five packets from 22 us on: 40,000 bits in 50 us.
    assert_eq!(point.on_deadline(Time::from_us(72)), congested(800));
    arrive(&mut point, 80, 40, 40);
    assert_eq!(point.deadline(), Time::from_us(122));
}

#[test]
fn packets_without_a_mark_do_not_end_the_first_period_and_count_for_its_rate() {
    let mut point = early();
    arrive(&mut point, 0, 10, 0);
    assert_eq!(point.on_data(Time::from_us(16), PACKET, true), congested(5_000)); // 10,000 B in 16 us
    // From then on as in the paper: 1 of 41 packets is marked.
    arrive(&mut point, 17, 40, 0);
    assert_eq!(point.on_deadline(Time::from_us(66)), Some(FASTER));
}

#[test]
fn a_mark_on_the_first_packet_waits_for_the_next_one_or_for_the_end_of_the_period() {
    let mut point = early();
    arrive(&mut point, 0, 2, 1);
    assert_eq!(point.on_data(Time::from_us(2), PACKET, true), congested(8_000)); // 2,000 B in 2 us
    let mut point = early();
    arrive(&mut point, 0, 1, 1);
    assert_eq!(point.on_deadline(Time::from_us(50)), congested(160)); // 8,000 bits in 50 us
}

#[test]
fn after_a_first_period_that_ran_out_no_mark_ends_another() {
    let mut point = early();
    arrive(&mut point, 0, 10, 0);
    assert_eq!(point.on_data(Time::from_us(50), PACKET, true), Some(FASTER));
    arrive(&mut point, 51, 9, 9);
    assert_eq!(point.on_deadline(Time::from_us(100)), congested(1_600));
    let mut point = early();
    arrive(&mut point, 0, 1, 0);
    assert_eq!(point.on_deadline(Time::from_us(50)), Some(FASTER));
    arrive(&mut point, 60, 2, 2);
    assert_eq!(point.on_deadline(Time::from_us(100)), congested(320));
}

#[test]
fn packets_of_one_moment_tell_no_rate() {
    let mut point = early();
    assert_eq!(point.on_data(Time::ZERO, PACKET, true), None);
    assert_eq!(point.on_data(Time::ZERO, PACKET, true), None);
    assert_eq!(point.on_data(Time::from_us(4), PACKET, true), congested(4_000));
}

#[test]
fn parameters_are_read_and_written_and_refused_out_of_bounds() {
    fixture::check_controller(
        JSON,
        &[
            (JSON.replace("0.0078125", "0"), "minimum_weight"),
            (JSON.replace("0.0078125", "1.0"), "minimum_weight"),
            (JSON.replace("0.5", "0.001"), "maximum_weight"),
            (JSON.replace("0.5", "1.5"), "maximum_weight"),
            (JSON.replace("50000000", "0"), "notification_interval"),
            (JSON.replace("error\":0.0", "error\":-0.1"), "clock_error"),
            (JSON.replace("error\":0.0", "error\":1000.5"), "clock_error"),
            (JSON.replace("0.95", "1.0"), "marked_share"),
            (JSON.replace(":1000000}", ":0}"), "minimum_rate"),
        ],
    );
}
