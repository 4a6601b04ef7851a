//! CoDel by hand, with the numbers of RFC 8289, and what a switch makes of its drops.

use alloc::vec::Vec;

use penstock_packet::epochs::label;
use penstock_packet::{Packet, PacketEvent, PacketFlags, PacketKind, Signal, SwitchFacts};
use serde_json::json;

use super::*;
use crate::assignment::dynamic::DynamicConfig;
use crate::fixture::refusal::{CREDITS, DYNAMIC, POOL, config, refused};
use crate::fixture::{Bench, FRAMES, bfc, dynamic, flow, hop_rtts, hosts, per_flow, plain};
use crate::{DroppedPacket, MarkingConfig, Received, SchedulingConfig, SwitchRequest};

const DRR: &str = r#"{"kind": "drr", "quantum": 1000}"#;

fn codel(action: CodelAction) -> CodelConfig {
    let (target, interval) = (Time::from_ms(5), Time::from_ms(100));
    CodelConfig { target, interval, mtu: Bytes::new(1_500), action }
}

/// A queue from which packets leave at given milliseconds.
struct Stepped {
    config: CodelConfig,
    state: QueueState,
}

impl Stepped {
    fn new(action: CodelAction) -> Self {
        Stepped { config: codel(action), state: QueueState::default() }
    }

    /// A packet that has waited for `sojourn` ms leaves at `now` ms, and `left` bytes stay.
    fn leaves(&mut self, now: u64, sojourn: u64, left: u64) -> bool {
        let (now, sojourn) = (Time::from_ms(now), Time::from_ms(sojourn));
        self.state.is_hit(&self.config, now, sojourn, left)
    }

    /// A packet of a long queue is to be sent at `now` ms: how many are dropped before it, all of which have
    /// waited for 10 ms.
    fn drops(&mut self, now: u64) -> u32 {
        (0..).find(|_| !self.leaves(now, 10, 90_000)).unwrap()
    }

    /// The milliseconds from `first` to `last` at which packets are dropped, with a packet to send in each.
    fn drop_times(&mut self, first: u64, last: u64) -> Vec<u64> {
        let times = (first..=last).flat_map(|now| (0..self.drops(now)).map(move |_| now));
        times.collect()
    }
}

#[test]
fn drops_begin_after_an_interval_and_come_faster_with_the_root_of_their_number() {
    let mut queue = Stepped::new(CodelAction::Drop);
    // 100, + 100/1, + 100/√2 = 270.71, + 100/√3 = 328.45, + 50 = 378.45, + 100/√5 = 423.17,
    // + 100/√6 = 463.99; each at the next whole millisecond.
    assert_eq!(queue.drop_times(0, 470), [100, 200, 271, 329, 379, 424, 464]);
    assert_eq!((queue.state.count, queue.state.last_count), (7, 1));
    // The schedule does not drift: 100/√2 = 70.710678118654 and so on, cut off.
    assert_eq!(queue.state.drop_next.as_ps() / 1_000_000_000, 501); // 463.99 + 100/√7
}

#[test]
fn the_control_law_is_the_interval_over_the_root_of_the_count() {
    let config = codel(CodelAction::Drop);
    let span = |count| config.next(Time::from_ms(7), count) - Time::from_ms(7);
    assert_eq!([span(1), span(4), span(100)], [100, 50, 10].map(Time::from_ms));
    assert_eq!(span(2), Time::from_ps(70_710_678_118));
    assert_eq!(span(3), Time::from_ps(57_735_026_918));
}

#[test]
fn one_short_wait_in_an_interval_prevents_drops() {
    let mut queue = Stepped::new(CodelAction::Drop);
    assert!(queue.drop_times(0, 99).is_empty());
    assert!(!queue.leaves(100, 4, 90_000));
    assert!(queue.drop_times(101, 200).is_empty());
    // The target itself is too long.
    assert!(queue.leaves(201, 5, 90_000));
}

#[test]
fn a_queue_of_one_full_packet_is_left_alone() {
    let mut queue = Stepped::new(CodelAction::Drop);
    assert!((0..1_000).all(|now| !queue.leaves(now, 900, 1_500)));
    assert!((1_000..1_100).all(|now| !queue.leaves(now, 900, 1_501)));
    assert!(queue.leaves(1_100, 900, 1_501));
    assert!(!queue.leaves(1_100, 900, 1_500));
    assert_eq!(queue.state.ripe_at, None);
}

#[test]
fn several_packets_are_dropped_at_once_when_several_drops_are_due() {
    let mut queue = Stepped::new(CodelAction::Drop);
    assert_eq!(queue.drop_times(0, 100), [100]);
    // Due at 200, 270.7 and 328.4.
    assert_eq!([queue.drops(300), queue.drops(328), queue.drops(329)], [2, 0, 1]);
}

#[test]
fn a_short_wait_ends_the_drop_state_and_the_next_drop_takes_an_interval_again() {
    let mut queue = Stepped::new(CodelAction::Drop);
    queue.drop_times(0, 250);
    assert!(!queue.leaves(251, 4, 90_000) && !queue.state.is_dropping);
    // Two drops make a difference of 1, which is no rate to go on with.
    assert_eq!(queue.drop_times(252, 460), [352, 452]);
}

#[test]
fn a_drop_state_that_ends_behind_a_dropped_packet_sets_no_further_drop() {
    let mut queue = Stepped::new(CodelAction::Drop);
    queue.drop_times(0, 199);
    assert!(queue.leaves(200, 10, 90_000) && !queue.leaves(200, 4, 90_000));
    assert_eq!((queue.state.drop_next, queue.state.count), (Time::from_ms(200), 2));
    assert!(!queue.state.is_dropping && !queue.state.has_dropped);
}

/// A queue whose last cycle made 7 drops, the eighth being due at 501.79 ms, and which gets long
/// again at `again` ms: the count with which it goes on after another interval.
fn count_after(again: u64) -> u32 {
    let mut queue = Stepped::new(CodelAction::Drop);
    queue.drop_times(0, 470);
    assert!(!queue.leaves(471, 4, 90_000));
    assert_eq!(queue.drop_times(again, again + 100), [again + 100]);
    assert_eq!(queue.state.count, queue.state.last_count);
    queue.state.count
}

#[test]
fn a_queue_goes_on_with_its_rate_within_sixteen_intervals() {
    // 501.79 + 1,600 = 2,101.79.
    assert_eq!([count_after(480), count_after(2_001)], [6, 6]);
    assert_eq!(count_after(2_002), 1);
}

#[test]
fn the_rate_to_go_on_with_is_that_of_the_last_cycle_alone() {
    let mut queue = Stepped::new(CodelAction::Drop);
    queue.drop_times(0, 470);
    queue.leaves(471, 4, 90_000);
    // 580, with a count of 6; + 100/√6 = 620.82, + 100/√7 = 658.62: the count is 8.
    assert_eq!(queue.drop_times(480, 670), [580, 621, 659]);
    queue.leaves(671, 4, 90_000);
    // 8 - 6 = 2: 780, + 100/√2 = 850.71.
    assert_eq!(queue.drop_times(680, 860), [780, 851]);
}

#[test]
fn marks_follow_the_same_law_one_for_a_packet_that_leaves() {
    let mut queue = Stepped::new(CodelAction::Mark);
    let marked = |queue: &mut Stepped, first, last| {
        (first..=last).filter(|&now| queue.leaves(now, 10, 90_000)).collect::<Vec<_>>()
    };
    assert_eq!(marked(&mut queue, 0, 470), [100, 200, 271, 329, 379, 424, 464]);
    // Due at 501.8, 537.1 and 570.5.
    assert_eq!(marked(&mut queue, 550, 553), [550, 551]);
    assert!(!queue.leaves(554, 4, 90_000) && !queue.state.is_dropping);
}

/// A marking with a target of 5 us, an interval of 100 us and packets of 1,000 B.
fn marking(action: &str) -> MarkingConfig {
    let text = json!({"kind": "codel", "target": 5_000_000, "interval": 100_000_000, "mtu": 1_000,
                      "action": action});
    serde_json::from_value(text).unwrap()
}

/// A switch with CoDel whose queue 1 has 9 packets that have waited for an interval.
fn ripe(switch: SwitchConfig, action: &str, facts: &SwitchFacts) -> Bench {
    let mut bench = Bench::new(&SwitchConfig { marking: marking(action), ..switch }, facts);
    for _ in 0..10 {
        bench.admit(flow(1), 1_000);
    }
    bench.after(Time::from_us(5));
    assert!(!bench.departure(0).unwrap().is_dropped);
    bench.after(Time::from_us(100));
    bench
}

#[test]
fn a_drop_is_counted_observed_and_gives_its_memory_back() {
    let mut bench = ripe(plain(), "drop", &hosts(2));
    let dropped = bench.departure(0).unwrap();
    assert!(dropped.is_dropped);
    bench.switch.verify(&bench.pool).unwrap();
    let port = bench.switch.port(0);
    assert_eq!((port.counters.drops, port.counters.enqueued), (1, 10));
    assert_eq!((port.bytes(), port.sent_bytes()), (8_000, 1_000));
    assert_eq!(bench.switch.accounts().total, 8_000);
    assert!(!bench.departure(0).unwrap().is_dropped);
    let events = bench.recorder.0.iter().map(|seen| seen.event);
    let ends = events.filter(|event| !matches!(event, PacketEvent::Arrive | PacketEvent::Assign));
    let ends: Vec<_> = ends.skip(10).collect();
    assert_eq!(ends, [PacketEvent::Depart, PacketEvent::Drop, PacketEvent::Depart]);
}

#[test]
fn a_mark_is_set_and_observed_and_nothing_is_dropped() {
    let mut bench = ripe(plain(), "mark", &hosts(2));
    let packets: Vec<_> = (0..9).map(|_| bench.depart(0).unwrap().0).collect();
    let marked = packets.iter().map(|packet| packet.flags.contains(PacketFlags::MARKED));
    assert!(marked.eq((0..9).map(|number| number == 0)));
    let marks = bench.recorder.0.iter().filter(|seen| seen.event == PacketEvent::Mark).count();
    assert_eq!((marks, bench.switch.port(0).counters.drops), (1, 0));
}

#[test]
fn a_drop_resumes_the_upstream_like_any_departure() {
    // A pause from 2,500 B on; each packet that holds it is counted until it leaves.
    let config = bfc(dynamic(8), hop_rtts(0.1));
    let mut bench = ripe(config, "drop", &hosts(2));
    let frames: Vec<_> = core::iter::from_fn(|| bench.depart(0)).map(|(_, frame)| frame).collect();
    let resumes = frames.iter().flatten().filter(|frame| frame.signal == Signal::ResumeQueue(1));
    assert_eq!((resumes.count(), frames.len()), (1, 9));
    assert_eq!(bench.switch.accounts().total, 0);
}

#[test]
fn every_queue_has_a_state_of_its_own() {
    let scheduling: SchedulingConfig = serde_json::from_str(DRR).unwrap();
    let mut bench = ripe(per_flow(scheduling), "drop", &hosts(2));
    bench.admit(flow(2), 1_000);
    bench.admit(flow(2), 1_000);
    bench.admit(flow(2), 1_000);
    bench.admit(flow(1), 1_000); // the packets of queue 2 keep their times
    bench.after(Time::from_us(50));
    // Queue 2 has just become too long.
    let mut dropped = Vec::new();
    while let Some(departure) = bench.departure(0) {
        if departure.is_dropped {
            dropped.push(bench.pool[departure.id].flow_hash);
        }
    }
    assert_eq!(dropped, [1]);
}

#[test]
fn a_packet_waits_from_its_arrival_to_its_departure() {
    let mut bench = Bench::new(&SwitchConfig { marking: marking("drop"), ..plain() }, &hosts(2));
    bench.after(Time::from_ms(1));
    // A queue of ten packets, each of which waits for 4 us: the target is 5 us.
    for _ in 0..100 {
        for _ in 0..10 {
            bench.admit(flow(1), 1_000);
        }
        bench.after(Time::from_us(4));
        assert!((0..10).all(|_| !bench.departure(0).unwrap().is_dropped));
    }
}

/// What the switch sends next by `port`, and what it asks for.
fn transmit(bench: &mut Bench, port: u16) -> (Option<Packet>, Vec<SwitchRequest>) {
    let (sent, asked) = bench.call(|switch, turn| switch.transmit(turn, port));
    (sent.map(|id| bench.pool[id]), asked)
}

#[test]
fn the_packet_behind_a_dropped_one_is_sent_at_once() {
    let mut bench = ripe(plain(), "drop", &hosts(2));
    let (sent, asked) = transmit(&mut bench, 0);
    assert_eq!(sent.unwrap().offset, 2);
    let dropped = DroppedPacket { port: 0, queue: 1, flow_hash: 1, wire_bytes: 1_000, payload: 0 };
    assert_eq!(asked, [SwitchRequest::Dropped(dropped)]);
    // Two that were sent are still in the pool.
    assert_eq!(bench.pool.live(), 2 + 7);
}

#[test]
fn a_drop_is_told_to_the_source_where_switches_tell_of_drops() {
    let frames = penstock_packet::SwitchFrames { notice: Some(60), ..FRAMES };
    let mut bench = ripe(plain(), "drop", &SwitchFacts { frames, ..hosts(2) });
    let (sent, asked) = transmit(&mut bench, 0);
    assert_eq!(sent.unwrap().offset, 2);
    assert!(matches!(asked[..], [SwitchRequest::Dropped(_), SwitchRequest::Ready(1)]));
    let notice = transmit(&mut bench, 1).0.unwrap();
    assert_eq!((notice.kind, notice.offset), (PacketKind::DropNotice, 1));
    assert_eq!(notice.wire_bytes, 60);
}

#[test]
fn a_drop_is_told_by_the_number_of_its_queue_in_each_epoch() {
    let assignment = DynamicConfig { epoch_bits: 1, ..dynamic(8) };
    let mut bench = ripe(bfc(assignment, hop_rtts(1.0)), "drop", &hosts(2));
    let (sent, asked) = transmit(&mut bench, 0);
    assert_eq!(sent.unwrap().queue, label(1, 1), "the flow began epoch 1 of queue 1");
    let dropped = DroppedPacket { port: 0, queue: 1, flow_hash: 1, wire_bytes: 1_000, payload: 0 };
    assert_eq!(asked, [SwitchRequest::Dropped(dropped)]);
}

#[test]
fn an_arrival_is_never_dropped() {
    let mut bench = ripe(plain(), "drop", &hosts(2));
    let id = bench.pool.insert(Packet { wire_bytes: 1_000, ..Packet::default() });
    let (received, asked) = bench.call(|switch, turn| switch.receive(turn, 1, id));
    assert_eq!((received, asked), (Received::Queued(0), Vec::new()));
}

#[test]
fn an_audit_misses_the_times_of_packets() {
    let bench = ripe(plain(), "drop", &hosts(2));
    bench.switch.verify(&bench.pool).unwrap();
    let stored = Stored { ports: bench.switch.ports(), pool: &bench.pool };
    let error = Codel::new(&codel(CodelAction::Drop), &hosts(2)).audit(&stored).unwrap_err();
    let expected = "port 0, queue 1: 9 packets queued, but 0 have a time of arrival";
    assert_eq!(error, expected);
}

#[test]
fn the_target_is_within_the_interval_and_credits_bear_no_drops() {
    let text = r#"{"kind": "codel", "target": 5000000, "interval": 100000000, "mtu": 1500,
        "action": "drop"}"#;
    let codel = ("marking", text);
    let refused_at = |at, value| refused(&[codel], &[(at, value)]);
    assert!(refused_at("/marking/target", json!(100_000_000)).is_empty());
    let expected =
        "marking.target is 101 us; it is above the interval, 100 us; make it 5 to 10 % of that";
    assert_eq!(refused_at("/marking/target", json!(101_000_000)), [expected]);
    let tables = [DYNAMIC, crate::fixture::refusal::DRR, POOL, CREDITS, codel];
    let credited = refused(&tables, &[]);
    assert!(credited.iter().any(|line| line.starts_with("marking.action is drop")), "{credited:?}");
    let marks = refused(&tables, &[("/marking/action", json!("mark"))]);
    assert!(!marks.iter().any(|line| line.starts_with("marking")), "{marks:?}");
    let has_marks =
        |action| config(&[codel], &[("/marking/action", json!(action))]).marking.has_marks();
    assert!(has_marks("mark") && !has_marks("drop"));
}
