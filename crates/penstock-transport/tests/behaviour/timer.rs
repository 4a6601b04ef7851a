//! Controllers with timers, driven by a sender.

use penstock_transport::control::{
    CutBy, DcqcnConfig, DcqcnMellanoxConfig, NotifyAt, RateRecovery, RateWindow,
};
use penstock_transport::{
    Acknowledgement, ControllerConfig, Notification, Readiness, Receiver, Sender,
};
use penstock_units::{BitRate, Bytes, Time};

use crate::{acknowledgement, go_back_n, host, path};

/// Alpha stays 1. The first cut comes 4 us after the first mark, and an increase 300 us after a cut.
fn mellanox() -> ControllerConfig {
    ControllerConfig::DcqcnMellanox(DcqcnMellanoxConfig {
        gain: 1.0 / 256.0,
        alpha_interval: Time::from_ms(1),
        decrease_interval: Time::from_us(4),
        increase_interval: Time::from_us(300),
        fast_recovery_rounds: 1,
        additive_increase: BitRate::from_mbps(20),
        hyper_increase: BitRate::from_mbps(200),
        minimum_rate: BitRate::from_mbps(1_000),
        clamps_target: false,
        window: RateWindow::Scaled,
    })
}

fn dcqcn() -> ControllerConfig {
    ControllerConfig::Dcqcn(DcqcnConfig {
        gain: 1.0 / 256.0,
        first_estimate: 1.0,
        cut_by: CutBy::Estimate,
        recovery: RateRecovery::Paper,
        alpha_interval: Time::from_us(55),
        notification_interval: Time::from_us(50),
        notify_at: NotifyAt::Mark,
        increase_interval: Time::from_us(55),
        increase_bytes: Bytes::new(2_000),
        fast_recovery_rounds: 5,
        additive_increase: BitRate::from_mbps(40),
        hyper_increase: BitRate::from_mbps(200),
        minimum_rate: BitRate::from_mbps(100),
        window: RateWindow::None,
    })
}

fn sender(controller: ControllerConfig) -> Sender {
    Sender::new(0, &host(controller, go_back_n()), &path(), Time::ZERO)
}

fn mark(sender: &mut Sender, now: Time, cumulative: u64) {
    let marked = Acknowledgement { is_marked: true, ..acknowledgement(cumulative) };
    sender.on_acknowledgement(now, &marked);
}

const CUT: Time = Time::from_ns(12_001);

#[test]
fn the_earlier_of_two_timers_is_the_deadline_and_a_cut_is_no_timeout() {
    let mut sender = sender(mellanox());
    sender.send(Time::ZERO);
    sender.send(Time::ZERO);
    assert_eq!(sender.deadline(), Time::from_us(100));
    mark(&mut sender, Time::from_us(8), 1_000);
    assert_eq!(sender.deadline(), CUT);
    assert!(!sender.on_deadline(CUT));
    assert_eq!((sender.rate(), sender.window()), (Some(BitRate::from_gbps(50)), 50_000));
    assert_eq!((sender.deadline(), sender.timeouts()), (Time::from_us(108), 0));
    assert!(sender.on_deadline(Time::from_us(108)));
    assert_eq!((sender.deadline(), sender.timeouts()), (CUT + Time::from_us(300), 1));
}

#[test]
fn what_is_due_at_the_time_of_an_acknowledgement_or_of_a_packet_comes_first() {
    let mut acknowledged = sender(mellanox());
    acknowledged.send(Time::ZERO);
    mark(&mut acknowledged, Time::from_us(8), 1_000);
    acknowledged.on_acknowledgement(CUT, &acknowledgement(1_000));
    assert_eq!(acknowledged.rate(), Some(BitRate::from_gbps(50)));
    let mut sending = sender(mellanox());
    sending.send(Time::ZERO);
    mark(&mut sending, Time::from_us(8), 1_000);
    sending.send(CUT);
    let gap = Time::from_ps(167_680); // 1048 B at 50 Gb/s
    assert_eq!(sending.readiness(CUT), Readiness::At(CUT + gap));
}

#[test]
fn a_cut_moves_the_pending_gap_later_and_an_increase_moves_it_earlier() {
    let mut sender = sender(mellanox());
    sender.send(Time::ZERO);
    mark(&mut sender, Time::from_us(8), 1_000);
    sender.send(CUT - Time::from_ns(10));
    sender.on_deadline(CUT);
    let sent = CUT - Time::from_ns(10);
    assert_eq!(sender.readiness(CUT), Readiness::At(sent + Time::from_ps(167_680)));
    let increase = CUT + Time::from_us(300);
    sender.send(increase - Time::from_ns(100));
    sender.on_deadline(increase);
    let gap = Time::from_ps(111_787); // 1048 B at 75 Gb/s, rounded up
    let ready = increase - Time::from_ns(100) + gap;
    assert_eq!(sender.readiness(increase), Readiness::At(ready));
}

#[test]
fn a_notification_cuts_and_the_bytes_that_follow_recover() {
    let mut sender = sender(dcqcn());
    sender.send(Time::ZERO);
    let notification = Notification { is_congested: true, receiving_rate: 0 };
    sender.on_notification(Time::from_us(8), notification);
    assert_eq!(sender.rate(), Some(BitRate::from_gbps(50)));
    assert_eq!(sender.deadline(), Time::from_us(63));
    sender.send(Time::from_us(9));
    assert_eq!(sender.rate(), Some(BitRate::from_gbps(50)));
    sender.send(Time::from_us(10)); // 2,096 B: the byte counter
    assert_eq!(sender.rate(), Some(BitRate::from_gbps(75)));
    sender.on_feedback(Time::from_us(10), 63); // of a switch, to which it does not listen
    assert_eq!(sender.rate(), Some(BitRate::from_gbps(75)));
}

#[test]
fn only_the_receivers_of_a_controller_that_listens_notify() {
    let mut receiver = Receiver::new(&host(dcqcn(), go_back_n()), 0, &path(), 0.0);
    assert!(receiver.notification(Time::ZERO, 1_048, true).is_some());
    assert!(receiver.notification(Time::from_us(49), 1_048, true).is_none());
    assert_eq!(receiver.deadline(), Time::NEVER);
    let mut silent = Receiver::new(&host(mellanox(), go_back_n()), 0, &path(), 0.0);
    assert!(silent.notification(Time::ZERO, 1_048, true).is_none());
}
