//! NewReno's recovery, stepped by hand through RFC 6582 Sec. 3.2 and RFC 6298 Sec. 2 and 5.

use super::*;
use crate::fixture::{self, view};

const JSON: &str = concat!(
    r#"{"kind":"fast-retransmit","duplicate_threshold":3,"initial_timeout":200000000,"#,
    r#""minimum_timeout":200000000,"maximum_timeout":100000000000}"#
);

const NOW: Time = Time::from_us(8);

fn config() -> FastRetransmitConfig {
    FastRetransmitConfig {
        duplicate_threshold: 3,
        initial_timeout: Time::from_us(100),
        minimum_timeout: Time::from_us(1),
        maximum_timeout: Time::from_us(300),
    }
}

/// A flow with `packets` packets in flight since the start.
fn sending(packets: u64) -> Sending {
    let mut sending = Sending::new(&config(), &fixture::flow(&fixture::path()));
    for packet in 0..packets {
        assert!(!sending.on_send(Time::ZERO, packet * 1_000, (packet + 1) * 1_000));
    }
    sending
}

fn acknowledge(sending: &mut Sending, mut view: FlowView) -> Option<LossSignal> {
    let ack = Acknowledgement {
        cumulative: view.acknowledged,
        is_negative: false,
        received: 0,
        is_marked: false,
        sent_at: Time::ZERO,
        pair_gap: Time::ZERO,
        path: 0,
        telemetry: &[],
    };
    sending.on_acknowledgement(NOW, &ack, &mut view)
}

/// The third of three duplicate acknowledgements.
fn three_duplicates(sending: &mut Sending, view: FlowView) -> Option<LossSignal> {
    assert_eq!(acknowledge(sending, view), None);
    assert_eq!(acknowledge(sending, view), None);
    acknowledge(sending, view)
}

#[test]
fn the_third_duplicate_sends_the_first_missing_packet_again_whatever_the_window() {
    let mut sending = sending(10);
    let in_flight = 10_000;
    let signal = three_duplicates(&mut sending, view(0, 10, 0));
    assert_eq!(signal, Some(LossSignal::FastRetransmit { in_flight }));
    assert!(sending.is_due);
    assert_eq!((sending.departed_bytes(), sending.lost_bytes(10_000)), (3_000, 1_000));
    assert_eq!(sending.take_lost(1_000, &view(0, 10, 0)), Some((0, 1_000)));
    assert!(sending.on_send(NOW, 0, 1_000));
    assert_eq!(sending.take_lost(1_000, &view(0, 10, 0)), None);
    acknowledge(&mut sending, view(0, 10, 0));
    assert_eq!(sending.departed_bytes(), 4_000); // inflation
}

/// RFC 5681 Sec. 2: a duplicate repeats the greatest acknowledgement, while data are outstanding.
#[test]
fn old_acknowledgements_and_those_of_an_idle_flow_are_no_duplicates() {
    let mut sending = sending(10);
    for _ in 0..3 {
        let (old, mut state) = (Acknowledgement::plain(2_000), view(3, 10, 0));
        assert_eq!(sending.on_acknowledgement(NOW, &old, &mut state), None);
        assert_eq!(acknowledge(&mut sending, view(10, 10, 0)), None);
    }
    assert_eq!((sending.duplicates, sending.departed_bytes()), (0, 0));
    let one_byte = FlowView { acknowledged: 9_999, next: 10_000, newly_acknowledged: 0 };
    let signal = three_duplicates(&mut sending, one_byte);
    assert_eq!(signal, Some(LossSignal::FastRetransmit { in_flight: 1 }));
}

#[test]
fn a_partial_acknowledgement_deflates_and_sends_the_next_gap_again() {
    let mut sending = sending(10);
    three_duplicates(&mut sending, view(0, 10, 0));
    for _ in 0..5 {
        acknowledge(&mut sending, view(0, 12, 0));
    }
    sending.take_lost(1_000, &view(0, 12, 0));
    assert_eq!(acknowledge(&mut sending, view(4, 12, 4)), None);
    // 8 packets had left; 4 are acknowledged and one is added back.
    assert_eq!(sending.departed_bytes(), 5_000);
    assert_eq!(sending.take_lost(1_000, &view(4, 12, 4)), Some((4_000, 1_000)));
    let exit = acknowledge(&mut sending, view(10, 12, 6));
    assert_eq!(exit, Some(LossSignal::RecoveryExit { in_flight: 2_000 }));
    assert_eq!((sending.departed_bytes(), sending.is_due), (0, false));
}

#[test]
fn only_the_first_partial_acknowledgement_restarts_the_timer() {
    let mut sending = sending(10);
    three_duplicates(&mut sending, view(0, 10, 0));
    assert_eq!(sending.deadline(), Time::from_us(100));
    acknowledge(&mut sending, view(2, 10, 2));
    let restarted = sending.deadline();
    assert_ne!(restarted, Time::from_us(100));
    sending.timer.timeout = Time::from_us(50); // so that another start would show
    acknowledge(&mut sending, view(4, 10, 2));
    assert_eq!(sending.deadline(), restarted);
    acknowledge(&mut sending, view(10, 11, 6));
    assert_eq!(sending.deadline(), NOW + Time::from_us(50));
    acknowledge(&mut sending, view(11, 11, 1));
    assert_eq!(sending.deadline(), Time::NEVER);
}

#[test]
fn a_loss_after_a_recovery_begins_another_one_with_a_restart_of_its_own() {
    let mut sending = sending(10);
    three_duplicates(&mut sending, view(0, 10, 0));
    acknowledge(&mut sending, view(2, 10, 2)); // the restart of the first recovery
    acknowledge(&mut sending, view(10, 10, 8));
    for packet in 10..15 {
        sending.on_send(NOW, packet * 1_000, (packet + 1) * 1_000);
    }
    acknowledge(&mut sending, view(11, 15, 1));
    let signal = three_duplicates(&mut sending, view(11, 15, 0));
    assert_eq!(signal, Some(LossSignal::FastRetransmit { in_flight: 4_000 }));
    sending.timer.timeout = Time::from_us(50); // so that another start shows
    acknowledge(&mut sending, view(13, 15, 2));
    assert_eq!(sending.deadline(), NOW + Time::from_us(50));
}

#[test]
fn the_short_last_packet_is_sent_again_as_it_was() {
    let mut sending = Sending::new(&config(), &fixture::flow(&fixture::path()));
    sending.on_send(Time::ZERO, 0, 1);
    let view = FlowView { acknowledged: 0, next: 1, newly_acknowledged: 0 };
    three_duplicates(&mut sending, view);
    assert_eq!(sending.take_lost(1_000, &view), Some((0, 1)));
}

#[test]
fn a_timeout_rewinds_and_ends_the_recovery() {
    let mut sending = sending(10);
    three_duplicates(&mut sending, view(0, 10, 0));
    let mut state = view(0, 10, 0);
    assert_eq!(sending.on_deadline(Time::from_us(99), &mut state), None);
    // The duplicates say that three of the ten packets have arrived.
    let timeout = LossSignal::Timeout { in_flight: 7_000, is_repeated: false };
    assert_eq!(sending.on_deadline(Time::from_us(100), &mut state), Some(timeout));
    assert_eq!((state.next, sending.departed_bytes(), sending.is_due), (0, 0, false));
    assert_eq!(sending.deadline(), Time::NEVER);
    assert!(sending.on_send(Time::from_us(110), 0, 1_000));
    assert_eq!(sending.deadline(), Time::from_us(310)); // twice 100 us
    state = view(0, 1, 0);
    let repeated = LossSignal::Timeout { in_flight: 1_000, is_repeated: true };
    assert_eq!(sending.on_deadline(Time::from_us(310), &mut state), Some(repeated));
    sending.on_send(Time::from_us(400), 0, 1_000);
    assert_eq!(sending.deadline(), Time::from_us(700)); // 300 us at most
    acknowledge(&mut sending, view(1, 1, 1)); // progress, so that the next timeout is a first one
    sending.on_send(Time::from_us(400), 1_000, 2_000);
    sending.on_send(Time::from_us(500), 2_000, 3_000); // the timer runs already
    assert_eq!(sending.deadline(), Time::from_us(700));
    let first = LossSignal::Timeout { in_flight: 2_000, is_repeated: false };
    assert_eq!(sending.on_deadline(Time::from_us(700), &mut view(1, 3, 0)), Some(first));
}

#[test]
fn after_a_timeout_old_duplicates_mean_nothing() {
    let mut sending = sending(10);
    sending.on_deadline(Time::from_us(100), &mut view(0, 10, 0));
    sending.on_send(NOW, 0, 1_000);
    acknowledge(&mut sending, view(9, 9, 9)); // only the tenth was missing beside the first
    for acknowledged in [9, 10] {
        sending.on_send(NOW, acknowledged * 1_000, acknowledged * 1_000 + 1_000);
        assert_eq!(three_duplicates(&mut sending, view(acknowledged, acknowledged + 1, 0)), None);
        acknowledge(&mut sending, view(acknowledged + 1, acknowledged + 1, 1));
    }
    sending.on_send(NOW, 11_000, 12_000);
    let signal = three_duplicates(&mut sending, view(11, 12, 0));
    assert_eq!(signal, Some(LossSignal::FastRetransmit { in_flight: 1_000 }));
}

#[test]
fn the_timeout_follows_the_round_trips() {
    let mut timer = Timer::new(&config());
    timer.on_send(Time::ZERO, 1_000, false);
    timer.on_send(Time::from_us(3), 2_000, false); // one packet is measured at a time
    timer.measure(Time::from_us(8), 1_000);
    assert_eq!(timer.timeout, Time::from_us(24)); // 8 + 4 * 4
    timer.on_send(Time::from_us(10), 3_000, false);
    timer.measure(Time::from_us(20), 2_000);
    assert_eq!(timer.timeout, Time::from_us(24));
    timer.measure(Time::from_us(26), 3_000);
    assert_eq!(timer.timeout, Time::from_us(29)); // 9 + 4 * (3/4 * 4 + 1/4 * 8)
}

#[test]
fn a_retransmission_is_not_measured_and_the_back_off_stays_until_one_is() {
    let mut timer = Timer::new(&config());
    timer.on_send(Time::ZERO, 1_000, false);
    timer.on_send(Time::from_us(3), 1_000, true); // a fast retransmit
    timer.measure(Time::from_us(8), 1_000);
    assert_eq!((timer.timeout, timer.round_trip), (Time::from_us(100), None));
    timer.on_send(Time::ZERO, 1_000, false);
    assert!(!timer.back_off());
    timer.on_send(Time::from_us(100), 1_000, true);
    timer.measure(Time::from_us(101), 1_000);
    assert_eq!((timer.timeout, timer.round_trip), (Time::from_us(200), None));
    timer.on_send(Time::from_us(110), 2_000, false);
    timer.measure(Time::from_us(118), 2_000);
    assert_eq!(timer.timeout, Time::from_us(24));
    let minimum = FastRetransmitConfig { minimum_timeout: Time::from_us(200), ..config() };
    let mut timer = Timer::new(&minimum);
    timer.on_send(Time::ZERO, 1_000, false);
    timer.measure(Time::from_us(8), 1_000);
    assert_eq!(timer.timeout, Time::from_us(200));
    let mut timer = Timer::new(&config());
    timer.on_send(Time::ZERO, 1_000, false);
    timer.measure(Time::from_us(101), 1_000);
    assert_eq!(timer.timeout, Time::from_us(300)); // at most, and not 101 + 4 * 50.5
}

#[test]
fn an_acknowledgement_measures_the_round_trip() {
    let mut sending = sending(2);
    acknowledge(&mut sending, view(1, 2, 1));
    // 8 us give a timeout of 8 + 4 * 4. RFC 5681 Sec. 4.1: an idle time that exceeds it is long.
    assert_eq!(sending.deadline(), NOW + Time::from_us(24));
    assert!(!sending.is_long(Time::from_us(24)));
    assert!(sending.is_long(Time::from_us(24) + Time::from_ps(1)));
}

#[test]
fn the_receiver_keeps_what_is_ahead_and_acknowledges_every_packet() {
    let mut receiving = Receiving::default();
    let expected = [(0, 1_000), (2_000, 1_000), (3_000, 1_000), (2_000, 1_000), (1_000, 4_000)];
    for (offset, cumulative) in expected {
        assert_eq!(receiving.on_data(NOW, offset, 1_000), Reply::Acknowledge { cumulative });
    }
    assert_eq!(receiving.on_data(NOW, 1_000, 1_000), Reply::Acknowledge { cumulative: 4_000 });
    assert_eq!(receiving.delivered(), 4_000);
}

#[test]
fn parameters_are_read_and_written_and_refused_out_of_bounds() {
    let config = fixture::check_recovery(
        JSON,
        &[
            (JSON.replace(":3,", ":0,"), "duplicate_threshold"),
            (JSON.replace("100000000000", "100000000"), "initial_timeout"),
            (JSON.replace("minimum_timeout\":200000000", "minimum_timeout\":0"), "minimum_timeout"),
        ],
    );
    assert!(config.reports_losses() && config.keeps_connections());
}
