//! A recovery that knows timeouts only, stepped by hand on a path of 8 us.

use alloc::vec::Vec;

use super::*;
use crate::fixture::{self, view};

const JSON: &str = r#"{"kind":"timeout-only","timeout_rtts":3.0}"#;

/// A flow that sent ten packets at the start.
fn sending() -> Sending {
    let config = TimeoutOnlyConfig { timeout_rtts: 3.0 };
    let mut sending = Sending::new(&config, &fixture::flow(&fixture::path()));
    for packet in 0..10 {
        sending.on_send(Time::ZERO, packet * 1_000, (packet + 1) * 1_000);
    }
    sending
}

/// The packets up to `acknowledged` have arrived, of which `newly` were not known, and packet `received`
/// ahead of a gap. Answers the bytes that are newly acknowledged.
fn acknowledge(
    sending: &mut Sending,
    now: Time,
    (acknowledged, newly): (u64, u64),
    received: Option<u64>,
) -> u64 {
    let ack = Acknowledgement {
        is_negative: received.is_some(),
        received: received.unwrap_or(0) * 1_000,
        ..Acknowledgement::plain(acknowledged * 1_000)
    };
    let mut view = view(acknowledged, 10, newly);
    assert_eq!(sending.on_acknowledgement(now, &ack, &mut view), None);
    view.newly_acknowledged
}

/// Takes all that is to be sent again, in packets.
fn resent(sending: &mut Sending) -> Vec<u64> {
    core::iter::from_fn(|| sending.take_lost(1_000, &FlowView::default()))
        .map(|(offset, length)| {
            assert_eq!(length, 1_000);
            offset / 1_000
        })
        .collect()
}

#[test]
fn a_gap_is_no_loss_and_what_has_arrived_ahead_of_it_is_not_in_flight() {
    let mut sending = sending();
    assert_eq!(acknowledge(&mut sending, Time::from_us(8), (0, 0), Some(5)), 1_000);
    assert_eq!(acknowledge(&mut sending, Time::from_us(8), (0, 0), Some(5)), 0, "told twice");
    assert_eq!((sending.lost_bytes(10_000), sending.departed_bytes()), (0, 1_000));
    assert_eq!(acknowledge(&mut sending, Time::from_us(9), (6, 6), None), 5_000);
    assert_eq!(sending.departed_bytes(), 0);
}

#[test]
fn after_three_round_trips_without_progress_all_that_is_missing_is_sent_again() {
    let mut sending = sending();
    assert_eq!(sending.deadline(), Time::from_us(24));
    sending.on_send(Time::from_us(5), 9_000, 10_000);
    assert_eq!(sending.deadline(), Time::from_us(24), "a packet that leaves is no progress");
    acknowledge(&mut sending, Time::from_us(8), (2, 2), None);
    assert_eq!(sending.deadline(), Time::from_us(32), "progress");
    for packet in [3, 7] {
        acknowledge(&mut sending, Time::from_us(10), (2, 0), Some(packet));
    }
    assert_eq!(sending.deadline(), Time::from_us(32), "the first missing byte is the same");
    let mut state = view(2, 10, 0);
    assert_eq!(sending.on_deadline(Time::from_us(31), &mut state), None);
    let timeout = |is_repeated| Some(LossSignal::Timeout { in_flight: 8_000, is_repeated });
    assert_eq!(sending.on_deadline(Time::from_us(32), &mut state), timeout(false));
    assert_eq!((sending.lost_bytes(8_000), sending.departed_bytes()), (6_000, 8_000));
    assert_eq!(sending.deadline(), Time::NEVER, "until a packet leaves");
    assert_eq!(sending.take_lost(1_000, &state), Some((2_000, 1_000)));
    sending.on_send(Time::from_us(33), 2_000, 3_000);
    assert_eq!(sending.deadline(), Time::from_us(57), "no back-off");
    assert_eq!(sending.on_deadline(Time::from_us(57), &mut state), timeout(true));
    assert_eq!(resent(&mut sending), [2, 4, 5, 6, 8, 9]);
}

#[test]
fn what_arrives_after_its_timeout_is_not_sent_again() {
    let mut sending = sending();
    sending.on_deadline(Time::from_us(24), &mut view(0, 10, 0));
    acknowledge(&mut sending, Time::from_us(25), (3, 3), None);
    assert_eq!((sending.lost_bytes(7_000), sending.departed_bytes()), (7_000, 7_000));
    acknowledge(&mut sending, Time::from_us(25), (3, 0), Some(8));
    assert_eq!((sending.lost_bytes(7_000), sending.departed_bytes()), (6_000, 7_000));
    assert_eq!(resent(&mut sending), [3, 4, 5, 6, 7, 9]);
    acknowledge(&mut sending, Time::from_us(30), (10, 7), None);
    assert_eq!((sending.deadline(), sending.departed_bytes()), (Time::NEVER, 0));
    // A timeout after progress is a first one again.
    sending.on_send(Time::from_us(40), 9_000, 10_000);
    let first = Some(LossSignal::Timeout { in_flight: 1_000, is_repeated: false });
    assert_eq!(sending.on_deadline(Time::from_us(64), &mut view(9, 10, 0)), first);
}

#[test]
fn a_last_packet_of_one_byte_is_progress() {
    let mut sending = sending();
    sending.on_send(Time::ZERO, 10_000, 10_001);
    let mut view = FlowView { acknowledged: 10_001, next: 10_001, newly_acknowledged: 1 };
    sending.on_acknowledgement(Time::from_us(9), &Acknowledgement::plain(10_001), &mut view);
    assert_eq!(sending.deadline(), Time::NEVER);
}

#[test]
fn parameters_are_read_and_written_and_refused_out_of_bounds() {
    fixture::check_recovery(JSON, &[(JSON.replace("3.0", "0.5"), "timeout_rtts")]);
}
