//! Both ends of DCQCN, stepped by hand.

use super::*;
use crate::fixture;
use crate::path::PathFacts;

const JSON: &str = concat!(
    r#"{"kind":"dcqcn","gain":0.00390625,"first_estimate":1.0,"cut_by":"estimate","#,
    r#""alpha_interval":55000000,"#,
    r#""notification_interval":50000000,"notify_at":"mark","recovery":"paper","increase_interval":55000000,"#,
    r#""increase_bytes":10000000,"fast_recovery_rounds":5,"additive_increase":40000000,"#,
    r#""hyper_increase":200000000,"minimum_rate":100000000,"window":"bdp"}"#
);

const MARKED: Notification = Notification { is_congested: true, receiving_rate: 0 };

/// The paper's numbers, without the byte counter.
fn config() -> DcqcnConfig {
    DcqcnConfig {
        gain: 1.0 / 256.0,
        first_estimate: 1.0,
        cut_by: CutBy::Estimate,
        recovery: RateRecovery::Paper,
        alpha_interval: Time::from_us(55),
        notification_interval: Time::from_us(50),
        notify_at: NotifyAt::Mark,
        increase_interval: Time::from_us(55),
        increase_bytes: Bytes::ZERO,
        fast_recovery_rounds: 5,
        additive_increase: BitRate::from_mbps(40),
        hyper_increase: BitRate::from_mbps(200),
        minimum_rate: BitRate::from_mbps(100),
        window: RateWindow::None,
    }
}

/// A flow at 40 Gb/s.
fn flow(config: &DcqcnConfig) -> Dcqcn {
    let path = PathFacts { line_rate: BitRate::from_gbps(40), ..fixture::path() };
    Dcqcn::new(config, &fixture::flow(&path))
}

const START: Time = Time::from_us(100);

/// Rate and target rate in kb/s, the precision of the test vectors.
fn kilobits(dcqcn: &Dcqcn) -> (u64, u64) {
    (dcqcn.climb.rate.get() / 1_000, dcqcn.climb.target / 1_000)
}

#[test]
fn a_flow_that_was_never_notified_has_no_timer() {
    let mut dcqcn = flow(&config());
    dcqcn.on_send(START, 1_048);
    assert_eq!((dcqcn.deadline(), dcqcn.rate(), dcqcn.window()), (Time::NEVER, None, u64::MAX));
}

#[test]
fn a_timed_pause_leaves_a_share_of_the_rate_which_recovers_on_the_timer() {
    let mut dcqcn = flow(&config());
    dcqcn.on_timed_pause(START, 0.25); // 750 of 1,000 ns
    assert_eq!((kilobits(&dcqcn), dcqcn.alpha.get()), ((10_000_000, 40_000_000), 1.0));
    let later = START + Time::from_us(55);
    assert_eq!(dcqcn.deadline(), later);
    // The timer is due at the time of the second pause, and comes first.
    dcqcn.on_timed_pause(later, 0.5);
    assert_eq!(kilobits(&dcqcn), (12_500_000, 25_000_000));
    dcqcn.on_timed_pause(later, 0.0);
    assert_eq!(kilobits(&dcqcn), (100_000, 12_500_000));
    assert_eq!(dcqcn.deadline(), later + Time::from_us(55));
}

#[test]
fn two_notifications_and_then_the_timer_alone() {
    let mut dcqcn = flow(&config());
    dcqcn.on_notification(START, MARKED);
    assert_eq!((kilobits(&dcqcn), dcqcn.alpha.get()), ((20_000_000, 40_000_000), 1.0));
    dcqcn.on_notification(START, MARKED);
    assert_eq!(kilobits(&dcqcn), (10_000_000, 20_000_000));
    let expected = [
        15_000_000, 17_500_000, 18_750_000, 19_375_000, 19_707_500, 19_893_750, 20_006_875,
        20_083_437,
    ];
    for (expiry, rate) in (1..).zip(expected) {
        assert_eq!(dcqcn.deadline(), START + Time::from_us(55) * expiry);
        dcqcn.on_deadline(dcqcn.deadline());
        assert_eq!(kilobits(&dcqcn).0, rate);
    }
    assert_eq!(dcqcn.climb.target, 20_160_000_000);
}

/// The rules and numbers of the authors' released simulator.
pub(crate) fn released() -> DcqcnConfig {
    DcqcnConfig {
        first_estimate: 0.5,
        cut_by: CutBy::RaisedEstimate,
        increase_interval: Time::from_us(60),
        increase_bytes: Bytes::new(300_000_000),
        recovery: RateRecovery::Released,
        ..config()
    }
}

#[test]
fn the_released_rules_cut_by_the_raised_estimate_which_starts_at_a_half() {
    let mut dcqcn = flow(&released());
    dcqcn.on_notification(START, MARKED);
    let first = 0.5 * 255.0 / 256.0 + 1.0 / 256.0;
    assert_eq!(dcqcn.alpha.get(), first);
    let cut = 40e9 * (1.0 - first / 2.0);
    assert_eq!((dcqcn.climb.rate.get(), dcqcn.climb.target), (cut as u64, 40_000_000_000));
    dcqcn.on_notification(START, MARKED);
    let second = first * 255.0 / 256.0 + 1.0 / 256.0;
    assert_eq!(dcqcn.climb.target, cut as u64);
    assert_eq!(dcqcn.climb.rate.get(), ((cut as u64) as f64 * (1.0 - second / 2.0)) as u64);
    assert_eq!(dcqcn.deadline(), START + Time::from_us(60));
}

#[test]
fn alpha_decays_only_while_nothing_is_notified() {
    let mut dcqcn = flow(&config());
    dcqcn.on_notification(START, MARKED);
    dcqcn.on_notification(START + Time::from_us(50), MARKED); // the clock starts again
    assert_eq!(dcqcn.alpha.get(), 1.0);
    let later = START + Time::from_us(50) + Time::from_us(55) * 10;
    dcqcn.on_deadline(later - Time::from_ps(1));
    let rate = dcqcn.climb.rate.get();
    let decayed = (255.0f64 / 256.0).powi(9);
    dcqcn.on_notification(later - Time::from_ps(1), MARKED);
    assert_eq!(dcqcn.climb.rate.get(), (rate as f64 * (1.0 - decayed / 2.0)) as u64);
    let raised = decayed * 255.0 / 256.0 + 1.0 / 256.0;
    assert!((dcqcn.alpha.get() - raised).abs() < 1e-12);
}

#[test]
fn the_byte_counter_increases_and_a_notification_restarts_it() {
    let config = DcqcnConfig { increase_bytes: Bytes::new(10_000), ..config() };
    let mut dcqcn = flow(&config);
    dcqcn.on_send(START, 9_999);
    dcqcn.on_notification(START, MARKED);
    dcqcn.on_send(START, 9_999);
    assert_eq!(kilobits(&dcqcn).0, 20_000_000);
    dcqcn.on_send(START, 2);
    assert_eq!((kilobits(&dcqcn).0, dcqcn.climb.stages.sent()), (30_000_000, 1));
    dcqcn.on_notification(START, MARKED);
    assert_eq!((dcqcn.climb.stages.sent(), dcqcn.climb.stages.counter()), (0, 0));
}

#[test]
fn both_beyond_fast_recovery_make_ever_larger_steps() {
    let config = DcqcnConfig { increase_bytes: Bytes::new(1_000), ..config() };
    let mut dcqcn = flow(&config);
    dcqcn.climb.rate.set(1_000_000_000);
    dcqcn.on_notification(START, MARKED);
    for _ in 0..6 {
        dcqcn.climb.stages.on_timer(|_| Time::from_us(55));
    }
    for (byte_stage, step) in [(1, 40), (2, 40), (3, 40), (4, 40), (5, 40), (6, 200), (7, 200)] {
        let target = dcqcn.climb.target;
        dcqcn.on_send(START, 1_000);
        assert_eq!(
            (dcqcn.climb.stages.counter(), dcqcn.climb.target),
            (byte_stage, target + step * 1_000_000)
        );
    }
    dcqcn.climb.stages.on_timer(|_| Time::from_us(55));
    let target = dcqcn.climb.target;
    dcqcn.on_send(START, 1_000);
    assert_eq!(dcqcn.climb.target, target + 400_000_000);
}

#[test]
fn a_timer_at_the_time_of_a_notification_or_of_a_packet_comes_first() {
    let mut dcqcn = flow(&config());
    dcqcn.on_notification(START, MARKED);
    let expiry = dcqcn.deadline();
    dcqcn.on_send(expiry, 1_048);
    assert_eq!(kilobits(&dcqcn).0, 30_000_000);
    dcqcn.on_notification(dcqcn.deadline(), MARKED);
    assert_eq!(dcqcn.climb.target, 35_000_000_000);
}

#[test]
fn the_rate_stays_within_its_bounds_and_nothing_runs_at_line_rate() {
    let mut dcqcn = flow(&config());
    for _ in 0..20 {
        dcqcn.on_notification(START, MARKED);
    }
    assert_eq!(dcqcn.rate(), Some(BitRate::from_mbps(100)));
    dcqcn.climb.target = 40_000_000_000;
    dcqcn.on_deadline(START + Time::from_ms(10));
    assert_eq!((dcqcn.rate(), dcqcn.deadline()), (None, Time::NEVER));
}

/// Notifications are `notification_interval` apart.
fn point(notification_interval: Time) -> NotificationPoint {
    notifying(NotifyAt::Mark, notification_interval)
}

fn notifying(notify_at: NotifyAt, notification_interval: Time) -> NotificationPoint {
    let config = DcqcnConfig { notify_at, notification_interval, ..config() };
    NotificationPoint::new(&config, &fixture::flow(&fixture::path()))
}

#[test]
fn the_first_mark_is_told_at_once_and_the_next_after_the_interval() {
    let mut point = point(Time::from_us(50));
    let told = Some(MARKED);
    for (us, is_marked, expected) in [
        (1, false, None),
        (2, true, told),
        (51, true, None),
        (60, false, None),
        (60, true, told),
        (109, true, None),
        (110, true, told),
    ] {
        assert_eq!(point.on_data(Time::from_us(us), 1_048, is_marked), expected);
    }
    assert_eq!(point.deadline(), Time::NEVER);
}

#[test]
fn ticks_are_an_interval_apart_from_the_first_packet_on_and_tell_of_marks_since_the_last() {
    let mut point = notifying(NotifyAt::Tick, Time::from_us(50));
    let us = Time::from_us;
    assert_eq!(point.on_data(us(7), 1_048, false), None); // ticks at 57, 107, 157 ...
    assert_eq!((point.on_data(us(20), 1_048, true), point.deadline()), (None, us(57)));
    assert_eq!((point.on_data(us(21), 1_048, true), point.on_deadline(us(56))), (None, None));
    assert_eq!(point.on_deadline(us(57)), Some(MARKED));
    assert_eq!((point.deadline(), point.on_deadline(us(107))), (Time::NEVER, None));
    assert_eq!(point.on_data(us(110), 1_048, false), None);
    // The tick counts before a packet at the same time, whose mark the next tick tells.
    assert_eq!((point.on_data(us(140), 1_048, true), point.deadline()), (None, us(157)));
    assert_eq!((point.on_data(us(157), 1_048, true), point.deadline()), (Some(MARKED), us(207)));
    // Ticks without a mark pass unseen, and the clock stays in step.
    assert_eq!(point.on_deadline(us(207)), Some(MARKED));
    assert_eq!((point.on_data(us(933), 1_048, true), point.deadline()), (None, us(957)));
}

#[test]
fn a_first_packet_with_a_mark_is_told_at_once_and_not_again_at_the_tick() {
    let mut point = notifying(NotifyAt::Tick, Time::from_us(50));
    assert_eq!(point.on_data(Time::from_us(7), 1_048, true), Some(MARKED));
    assert_eq!(point.deadline(), Time::NEVER);
}

#[test]
fn without_an_interval_every_mark_is_told() {
    let mut point = point(Time::ZERO);
    let mut told = || point.on_data(Time::ZERO, 1_048, true).is_some();
    assert!(told() && told());
}

#[test]
fn parameters_are_read_and_written_and_refused_out_of_bounds() {
    fixture::check_controller(
        JSON,
        &[
            (JSON.replace("alpha_interval\":55000000", "alpha_interval\":0"), "alpha_interval"),
            (JSON.replace("first_estimate\":1.0", "first_estimate\":1.5"), "first_estimate"),
        ],
    );
    let ticking = JSON.replace("\"mark\"", "\"tick\"");
    let short =
        ticking.replace("notification_interval\":50000000", "notification_interval\":99999");
    fixture::check_controller(&ticking, &[(short, "notification_interval")]);
}
