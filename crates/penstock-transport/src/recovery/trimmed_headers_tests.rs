//! Recovery by trimmed headers, stepped by hand.

use alloc::vec::Vec;

use super::*;
use crate::fixture::{self, view};

const NOW: Time = Time::from_us(8);
const TIMEOUT: Time = Time::from_us(500);

fn config() -> TrimmedHeadersConfig {
    TrimmedHeadersConfig { timeout: TIMEOUT }
}

/// A flow of twenty packets of 1,000 B that has sent ten. Its receiver allows what it sends if `is_pulled`.
fn sending(is_pulled: bool) -> Sending {
    let path = fixture::path();
    let unscheduled = if is_pulled { 10_000 } else { u64::MAX };
    let flow = FlowFacts { unscheduled, size: 20_000, ..fixture::flow(&path) };
    let mut sending = Sending::new(&config(), &flow);
    for packet in 0..10 {
        assert!(!sending.on_send(Time::ZERO, packet * 1_000, (packet + 1) * 1_000));
    }
    sending
}

/// The receiver has the packets before number `cumulative` of ten, and packet `ahead`.
fn acknowledge(sending: &mut Sending, cumulative: u64, ahead: Option<u64>) -> u64 {
    let ack = Acknowledgement {
        is_negative: ahead.is_some(),
        received: ahead.unwrap_or(0) * 1_000,
        ..Acknowledgement::plain(cumulative * 1_000)
    };
    let newly = (cumulative * 1_000).saturating_sub(sending.acknowledged) / 1_000;
    let mut view = view(cumulative, 10, newly);
    assert_eq!(sending.on_acknowledgement(NOW, &ack, &mut view), None);
    view.newly_acknowledged
}

fn take_lost(sending: &mut Sending) -> Option<(u64, u32)> {
    sending.take_lost(1_000, &FlowView::default())
}

#[test]
fn only_what_was_trimmed_is_sent_again() {
    let mut sending = sending(false);
    assert_eq!(acknowledge(&mut sending, 0, Some(9)), 1_000, "a late packet is no loss");
    assert_eq!(sending.lost_bytes(10_000), 0);
    assert!(sending.on_switch_drop(NOW, 3_000, 1_000));
    assert!(!sending.on_switch_drop(NOW, 3_000, 1_000), "known already");
    assert!(!sending.on_switch_drop(NOW, 9_000, 1_000), "it has arrived after all");
    assert_eq!((sending.departed_bytes(), sending.lost_bytes(10_000)), (2_000, 1_000));
    assert_eq!(take_lost(&mut sending), Some((3_000, 1_000)));
    assert_eq!(take_lost(&mut sending), None);
}

#[test]
fn a_packet_is_newly_acknowledged_once() {
    let mut sending = sending(false);
    assert_eq!(acknowledge(&mut sending, 0, Some(1)), 1_000);
    assert_eq!(acknowledge(&mut sending, 2, None), 1_000);
    assert_eq!(sending.departed_bytes(), 0);
}

#[test]
fn a_pulled_flow_sends_so_many_bytes_in_all() {
    let mut sending = sending(true);
    acknowledge(&mut sending, 5, None);
    assert!(!sending.has_room(5_000, 10_000), "ten packets have left");
    sending.on_switch_drop(NOW, 7_000, 1_000);
    assert!(!sending.has_room(5_000, 10_000), "what was trimmed waits for a PULL, too");
    assert!(sending.has_room(5_000, 11_000));
    sending.on_send(NOW, 7_000, 8_000);
    assert!(!sending.has_room(5_000, 11_000));
}

#[test]
fn trimmed_bytes_are_not_in_flight_for_a_window() {
    let mut sending = sending(false);
    assert!(!sending.has_room(10_000, 10_000));
    sending.on_switch_drop(NOW, 7_000, 1_000);
    assert!(sending.has_room(10_000, 10_000));
}

#[test]
fn a_timeout_sends_what_has_not_arrived_without_a_pull() {
    let mut sending = sending(true);
    acknowledge(&mut sending, 2, None);
    acknowledge(&mut sending, 2, Some(5));
    assert_eq!(sending.deadline(), NOW + TIMEOUT);
    let mut view = view(2, 10, 0);
    assert_eq!(sending.on_deadline(NOW, &mut view), None, "not yet");
    let signal = sending.on_deadline(NOW + TIMEOUT, &mut view);
    assert_eq!(signal, Some(LossSignal::Timeout { in_flight: 7_000, is_repeated: false }));
    for packet in [2, 3, 4, 6, 7, 8, 9] {
        assert!(sending.has_room(8_000, 10_000));
        assert_eq!(take_lost(&mut sending), Some((packet * 1_000, 1_000)));
        sending.on_send(NOW, packet * 1_000, (packet + 1) * 1_000);
    }
    assert!(!sending.has_room(8_000, 10_000));
    let signal = sending.on_deadline(NOW + TIMEOUT * 3, &mut view);
    assert_eq!(signal, Some(LossSignal::Timeout { in_flight: 7_000, is_repeated: true }));
}

#[test]
fn the_timer_runs_while_something_is_outstanding() {
    let mut sending = sending(true);
    assert_eq!(sending.deadline(), TIMEOUT);
    sending.on_switch_drop(NOW, 7_000, 1_000);
    assert_eq!(sending.deadline(), TIMEOUT, "nobody has reported the first packet");
    sending.on_switch_drop(NOW, 0, 1_000);
    assert_eq!(sending.deadline(), NOW + TIMEOUT, "the first packet waits for a PULL");
    acknowledge(&mut sending, 10, None);
    assert_eq!(sending.deadline(), NOW + TIMEOUT, "the flow waits for a PULL");
}

#[test]
fn the_timer_stops_when_nothing_is_left_to_wait_for() {
    let mut windowed = sending(false);
    acknowledge(&mut windowed, 10, None);
    assert_eq!(windowed.deadline(), Time::NEVER, "new bytes need no PULL");
    let mut pulled = sending(true);
    for packet in 10..20 {
        pulled.on_send(NOW, packet * 1_000, (packet + 1) * 1_000);
    }
    let mut complete = view(20, 20, 20);
    pulled.on_acknowledgement(NOW, &Acknowledgement::plain(20_000), &mut complete);
    assert_eq!(pulled.deadline(), Time::NEVER, "the flow is complete");
}

#[test]
fn a_packet_without_a_report_is_sent_again_while_others_are_reported() {
    let mut sending = sending(false);
    acknowledge(&mut sending, 3, None);
    acknowledge(&mut sending, 3, Some(4));
    // These two leave after the first report behind packet 3. One of them is trimmed.
    for packet in [10, 11] {
        sending.on_send(NOW, packet * 1_000, (packet + 1) * 1_000);
    }
    sending.on_switch_drop(NOW + TIMEOUT / 2, 11_000, 1_000);
    assert_eq!(sending.deadline(), NOW + TIMEOUT);
    let mut view = view(3, 12, 0);
    assert!(sending.on_deadline(NOW + TIMEOUT, &mut view).is_some());
    let mut again = Vec::new();
    while let Some((offset, 1_000)) = take_lost(&mut sending) {
        again.push(offset / 1_000);
    }
    assert_eq!(again, [3, 5, 6, 7, 8, 9, 11], "packet 10 is on its way");
}

#[test]
fn a_flow_whose_last_pulls_are_lost_goes_on_after_a_timeout() {
    let mut sending = sending(true);
    acknowledge(&mut sending, 10, None);
    assert!(!sending.has_room(0, 10_000));
    let mut view = view(10, 10, 0);
    let signal = sending.on_deadline(NOW + TIMEOUT, &mut view);
    assert_eq!(signal, Some(LossSignal::Timeout { in_flight: 0, is_repeated: false }));
    for packet in 10..20 {
        assert!(sending.has_room(0, 10_000), "a window of new bytes");
        sending.on_send(NOW, packet * 1_000, (packet + 1) * 1_000);
    }
    assert!(!sending.has_room(0, 10_000));
    assert!(!sending.has_room(0, 20_000), "what left unasked counts");
}

#[test]
fn late_reports_after_a_timeout_let_nothing_else_leave() {
    let mut sending = sending(true);
    sending.on_deadline(TIMEOUT, &mut view(0, 10, 0));
    assert!(sending.has_room(10_000, 10_000));
    acknowledge(&mut sending, 10, None);
    assert!(!sending.has_room(0, 10_000), "all has arrived after all");
}

#[test]
fn a_timeout_shorter_than_the_shortest_period_is_refused() {
    let json = r#"{"kind":"trimmed-headers","timeout":500000000}"#;
    fixture::check_recovery(json, &[(json.replace("500000000", "0"), "timeout")]);
}
