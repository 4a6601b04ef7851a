//! Selective repeat, stepped by hand through IRN's Sec. 3.

use super::*;
use crate::fixture::{self, view};

const JSON: &str = concat!(
    r#"{"kind":"selective-repeat","bdp_factor":1.0,"timeout_low":100000000,"#,
    r#""timeout_high":320000000,"low_packets":3}"#
);

const NOW: Time = Time::from_us(8);

fn config() -> SelectiveRepeatConfig {
    SelectiveRepeatConfig {
        bdp_factor: 1.0,
        timeout_low: Time::from_us(100),
        timeout_high: Time::from_us(320),
        low_packets: 3,
    }
}

/// A flow whose first packet left at the start.
fn sending() -> Sending {
    let mut sending = Sending::new(&config(), &fixture::flow(&fixture::path()));
    sending.on_send(Time::ZERO, 0, 1_000);
    sending
}

fn take_lost(sending: &mut Sending) -> Option<(u64, u32)> {
    sending.take_lost(1_000, &FlowView::default())
}

/// Takes an acknowledgement into account. A negative one names packet `received`. Answers the signal
/// and the number of bytes newly acknowledged.
fn acknowledge(
    sending: &mut Sending,
    mut view: FlowView,
    received: Option<u64>,
) -> (Option<LossSignal>, u64) {
    let ack = Acknowledgement {
        cumulative: view.acknowledged,
        is_negative: received.is_some(),
        received: received.unwrap_or(0) * 1_000,
        is_marked: false,
        sent_at: Time::ZERO,
        pair_gap: Time::ZERO,
        path: 0,
        telemetry: &[],
    };
    let signal = sending.on_acknowledgement(NOW, &ack, &mut view);
    (signal, view.newly_acknowledged)
}

#[test]
fn the_gap_below_a_received_packet_is_sent_again_once() {
    let mut sending = sending();
    let start = Some(LossSignal::FastRetransmit { in_flight: 10_000 });
    assert_eq!(acknowledge(&mut sending, view(0, 10, 0), Some(2)), (start, 1_000));
    assert_eq!((sending.board.lost_bytes(), sending.departed_bytes()), (2_000, 3_000));
    assert_eq!(take_lost(&mut sending), Some((0, 1_000)));
    assert_eq!(acknowledge(&mut sending, view(0, 10, 0), Some(4)), (None, 1_000));
    assert_eq!(sending.board.lost_bytes(), 2_000);
    assert_eq!(take_lost(&mut sending), Some((1_000, 1_000)));
    assert_eq!(take_lost(&mut sending), Some((3_000, 1_000)));
    assert_eq!((take_lost(&mut sending), sending.board.lost_bytes()), (None, 0));
    assert_eq!(sending.departed_bytes(), 2_000);
    assert_eq!(acknowledge(&mut sending, view(0, 10, 0), Some(4)), (None, 0)); // nothing new
}

#[test]
fn bytes_count_as_newly_acknowledged_once_and_the_recovery_ends_with_its_last_packet() {
    let mut sending = sending();
    acknowledge(&mut sending, view(0, 5, 0), Some(1));
    acknowledge(&mut sending, view(0, 5, 0), Some(2));
    take_lost(&mut sending);
    assert_eq!(acknowledge(&mut sending, view(3, 6, 3), None), (None, 1_000));
    assert_eq!(sending.departed_bytes(), 0);
    assert_eq!(acknowledge(&mut sending, view(4, 6, 1), None), (None, 1_000));
    let exit = Some(LossSignal::RecoveryExit { in_flight: 1_000 });
    assert_eq!(acknowledge(&mut sending, view(5, 6, 1), None), (exit, 1_000));
}

#[test]
fn a_second_recovery_does_not_repeat_what_the_first_one_sent_again() {
    let mut sending = sending();
    acknowledge(&mut sending, view(0, 4, 0), Some(1));
    take_lost(&mut sending);
    acknowledge(&mut sending, view(0, 8, 0), Some(5)); // 2, 3 and 4 too
    while take_lost(&mut sending).is_some() {}
    let exit = LossSignal::RecoveryExit { in_flight: 4_000 };
    assert_eq!(acknowledge(&mut sending, view(4, 8, 4), None).0, Some(exit)); // 4 is on its way
    let start = LossSignal::FastRetransmit { in_flight: 4_000 };
    assert_eq!(acknowledge(&mut sending, view(4, 8, 0), Some(6)).0, Some(start));
    assert_eq!(take_lost(&mut sending), None);
}

#[test]
fn the_timeout_is_short_for_three_packets_and_long_for_more() {
    let mut few = sending();
    let timeout = |in_flight| Some(LossSignal::Timeout { in_flight, is_repeated: false });
    assert_eq!(few.deadline(), Time::from_us(100));
    assert_eq!(few.on_deadline(Time::from_us(99), &mut view(0, 3, 0)), None);
    assert_eq!(few.on_deadline(Time::from_us(100), &mut view(0, 3, 0)), timeout(3_000));
    let mut many = sending();
    assert_eq!(many.on_deadline(Time::from_us(100), &mut view(0, 4, 0)), None);
    assert_eq!(many.deadline(), Time::from_us(320));
    assert_eq!(many.on_deadline(Time::from_us(320), &mut view(0, 4, 0)), timeout(4_000));
    assert_eq!(many.deadline(), Time::NEVER);
    many.on_send(Time::from_us(330), 0, 1_000);
    many.on_send(Time::from_us(340), 1_000, 2_000); // the timer runs already
    let again = Some(LossSignal::Timeout { in_flight: 2_000, is_repeated: true });
    assert_eq!(many.on_deadline(Time::from_us(430), &mut view(2, 4, 0)), again);
    acknowledge(&mut many, view(3, 4, 1), None); // progress: the next timeout is a first one
    let first = timeout(1_000);
    assert_eq!(many.on_deadline(Time::from_us(108), &mut view(3, 4, 0)), first);
}

#[test]
fn what_is_new_restarts_the_timer_and_the_last_acknowledgement_stops_it() {
    let mut sending = sending();
    sending.on_deadline(Time::from_us(100), &mut view(0, 9, 0));
    assert_eq!(acknowledge(&mut sending, view(0, 9, 0), None), (None, 0)); // nothing new
    assert_eq!((sending.deadline(), sending.departed_bytes()), (Time::from_us(320), 0));
    acknowledge(&mut sending, view(0, 9, 0), Some(1));
    assert_eq!(sending.deadline(), Time::from_us(108));
    sending.on_deadline(Time::from_us(108), &mut view(0, 9, 0));
    assert_eq!(acknowledge(&mut sending, view(0, 9, 0), Some(1)), (None, 0)); // known
    assert_eq!(sending.deadline(), Time::from_us(328));
    acknowledge(&mut sending, view(9, 9, 9), None);
    assert_eq!(sending.deadline(), Time::NEVER);
}

#[test]
fn after_a_timeout_all_that_is_not_known_to_have_arrived_is_sent_again() {
    let mut sending = sending();
    acknowledge(&mut sending, view(0, 5, 0), Some(2));
    while take_lost(&mut sending).is_some() {}
    sending.on_deadline(Time::from_us(328), &mut view(0, 5, 0));
    assert_eq!((sending.board.lost_bytes(), sending.departed_bytes()), (4_000, 5_000));
    for packet in [0, 1, 3] {
        assert_eq!(take_lost(&mut sending), Some((packet * 1_000, 1_000)));
    }
    // Packet 4 was only late: it is not lost any more.
    acknowledge(&mut sending, view(0, 5, 0), Some(4));
    assert_eq!((take_lost(&mut sending), sending.board.lost_bytes()), (None, 0));
}

#[test]
fn a_timeout_begins_a_recovery() {
    let mut sending = sending();
    sending.on_deadline(Time::from_us(100), &mut view(0, 3, 0));
    assert_eq!(acknowledge(&mut sending, view(0, 3, 0), Some(1)), (None, 1_000)); // no second cut
    let exit = Some(LossSignal::RecoveryExit { in_flight: 0 });
    assert_eq!(acknowledge(&mut sending, view(3, 3, 3), None), (exit, 2_000));
}

#[test]
fn new_packets_wait_for_the_cap_and_lost_ones_do_not() {
    let mut sending = sending();
    assert!(sending.has_room(99_999, u64::MAX));
    assert!(!sending.has_room(100_000, u64::MAX));
    acknowledge(&mut sending, view(0, 100, 0), Some(1));
    assert!(sending.has_room(100_000, u64::MAX));
    let half = SelectiveRepeatConfig { bdp_factor: 0.5, ..config() };
    assert_eq!(Sending::new(&half, &fixture::flow(&fixture::path())).cap, 50_000);
    let least = SelectiveRepeatConfig { bdp_factor: 1e-9, ..config() };
    assert!(Sending::new(&least, &fixture::flow(&fixture::path())).has_room(0, u64::MAX));
}

#[test]
fn parameters_are_read_and_written_and_refused_out_of_bounds() {
    let config = fixture::check_recovery(
        JSON,
        &[
            (JSON.replace("1.0", "0"), "bdp_factor"),
            (JSON.replace("100000000", "0"), "timeout_low"),
            (JSON.replace("320000000", "90000000"), "timeout_high"),
        ],
    );
    assert!(config.reports_losses() && !config.keeps_connections() && config.acknowledges_each());
}
