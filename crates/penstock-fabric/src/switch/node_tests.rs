//! What a switch asks its driver for, call by call.

use alloc::vec::Vec;

use penstock_packet::epochs::label;
use penstock_units::Bytes;

use super::*;
use crate::admission::AdmissionConfig;
use crate::admission::trimming::TrimmingConfig;
use crate::assignment::dynamic::{AcknowledgementQueue, DynamicConfig};
use crate::backpressure::bfc::BfcConfig;
use crate::fixture::{Bench, Flow, bfc, dynamic, flow, hop_rtts, hosts, plain};
use crate::marking::policy::MarkingPoint;
use crate::marking::qcn::QcnConfig;
use crate::{MarkingConfig, SwitchConfig};
use SwitchRequest::{Lapsed, Ready, Timer, Told};
use penstock_packet::PacketEvent;

/// A packet arrives by `ingress`. Answers what the switch asks for.
fn receive(bench: &mut Bench, ingress: u16, packet: Packet) -> Vec<SwitchRequest> {
    let id = bench.pool.insert(packet);
    bench.call(|switch, turn| switch.receive(turn, ingress, id)).1
}

/// The packet that leaves by `port`.
fn transmit(bench: &mut Bench, port: u16) -> Packet {
    let id = bench.call(|switch, turn| switch.transmit(turn, port)).0.expect("a packet waits");
    bench.pool[id]
}

fn on_timer(bench: &mut Bench, timer: SwitchTimer) -> Vec<SwitchRequest> {
    bench.call(|switch, turn| switch.on_timer(turn, timer)).1
}

fn on_link(bench: &mut Bench, port: u16, is_up: bool) -> Vec<SwitchRequest> {
    bench.call(|switch, turn| switch.on_link(turn, port, is_up)).1
}

#[test]
fn the_timer_of_a_port_comes_again_until_all_its_timed_pauses_have_ended() {
    let mut bench = Bench::new(&plain(), &hosts(2));
    let timer = SwitchTimer::Port(0);
    let class = Signal::PauseClassFor { class: 0, nanoseconds: 1_000 };
    let first = [Timer(timer, Time::from_us(1))];
    assert_eq!(receive(&mut bench, 0, class.frame(64)), first);
    assert_eq!(receive(&mut bench, 0, Signal::PauseTime(2_000).frame(64)), first);
    bench.now = Time::from_us(1);
    // The port may not send yet.
    let second = [Lapsed { port: 0, subject: 0 }, Timer(timer, Time::from_us(2))];
    assert_eq!(on_timer(&mut bench, timer), second);
    bench.now = Time::from_us(2);
    let last = [Lapsed { port: 0, subject: ALL_CLASSES }, Ready(0)];
    assert_eq!(on_timer(&mut bench, timer), last);
}

#[test]
fn frames_are_repeated_to_every_neighbour_once_in_an_interval() {
    let backpressure = BfcConfig { bitmap_interval: Time::from_us(5), ..hop_rtts(1.0) };
    let mut bench = Bench::new(&bfc(dynamic(2), backpressure), &hosts(2));
    let next = |interval: u64| Timer(SwitchTimer::Repeat, Time::from_us(5 * interval));
    assert_eq!(bench.call(|switch, turn| switch.start(turn)).1, [next(1)]);
    bench.admit(Flow { upstream_queue: 3, ..flow(1) }, 30_000);
    bench.now = Time::from_us(5);
    let bitmap = |port, queues| {
        Told(ControlFrame { port, signal: Signal::QueueBitmap { epoch: 0, queues } })
    };
    let told = on_timer(&mut bench, SwitchTimer::Repeat);
    assert_eq!(told, [bitmap(0, 0), bitmap(1, 1 << 3), next(2)]);
}

#[test]
fn a_link_that_works_again_is_told_the_pauses_that_should_be_in_place() {
    let mut bench = Bench::new(&bfc(dynamic(2), hop_rtts(1.0)), &hosts(2));
    bench.admit(Flow { upstream_queue: 3, ..flow(1) }, 30_000);
    let signal = Signal::QueueBitmap { epoch: 0, queues: 1 << 3 };
    assert_eq!(on_link(&mut bench, 1, true), [Told(ControlFrame { port: 1, signal })]);
    assert_eq!(Signal::of(&transmit(&mut bench, 1)), Some(signal));
}

#[test]
fn a_link_that_fails_takes_along_every_pause_of_its_far_end() {
    let assignment = DynamicConfig { epoch_bits: 1, ..dynamic(2) };
    let mut bench = Bench::new(&bfc(assignment, hop_rtts(1.0)), &hosts(2));
    bench.admit(flow(1), 1_000);
    // The queue is in the second of its two epochs.
    for queue in [label(1, 0), label(1, 1)] {
        bench.signal(0, Signal::PauseQueue(queue));
    }
    bench.signal(0, Signal::PauseClass(0));
    bench.signal(0, Signal::PauseTime(9_000));
    bench.now = Time::from_us(1);
    assert_eq!(on_link(&mut bench, 0, false), []);
    let port = bench.switch.port(0);
    assert!(!port.is_stopped(0) && port.paused_queues() == 0 && port.is_ready());
    assert_eq!(bench.drain(0), [1]);
    bench.admit(flow(2), 1_000);
    assert_eq!(bench.switch.port(0).label(1), label(1, 0), "the first epoch is paused no more");
}

#[test]
fn a_timed_pause_after_an_outage_begins_when_it_comes() {
    let mut bench = Bench::new(&plain(), &hosts(2));
    bench.signal(0, Signal::PauseTime(9_000));
    bench.now = Time::from_us(1);
    on_link(&mut bench, 0, false);
    bench.now = Time::from_us(2);
    on_link(&mut bench, 0, true);
    let requests = receive(&mut bench, 0, Signal::PauseTime(1_000).frame(64));
    assert_eq!(requests, [Timer(SwitchTimer::Port(0), Time::from_us(3))]);
}

#[test]
fn feedback_is_a_small_packet_to_the_source_with_nothing_of_the_data_but_its_flow() {
    for at in [MarkingPoint::Enqueue, MarkingPoint::Dequeue] {
        let set_point = Bytes::new(2_000);
        let sample_base = Bytes::new(1_000);
        let marking = MarkingConfig::Qcn(QcnConfig {
            set_point,
            weight: 2.0,
            sample_base,
            sooner_when_congested: true,
            jitter: 0.0,
            at,
        });
        let mut bench = Bench::new(&SwitchConfig { marking, ..plain() }, &hosts(2));
        let flags = PacketFlags::TRACKED;
        let data =
            Packet { flow_hash: 5, wire_bytes: 1_048, payload: 1_000, flags, ..Packet::default() };
        let mut requests = Vec::new();
        for _ in 0..9 {
            requests.extend(receive(&mut bench, 1, data));
        }
        if at == MarkingPoint::Dequeue {
            assert_eq!(requests, []);
            requests.extend(bench.call(|switch, turn| switch.transmit(turn, 0)).1);
        }
        assert_eq!(requests.first(), Some(&Ready(1)), "{at:?}");
        let Packet { kind, flow_hash, wire_bytes, payload, flags, .. } = transmit(&mut bench, 1);
        assert_eq!((kind, flow_hash), (PacketKind::CongestionFeedback, 5));
        assert_eq!((wire_bytes, payload, flags), (64, 0, PacketFlags::default()));
    }
}

#[test]
fn a_header_that_is_left_of_a_packet_waits_at_the_port_of_its_data() {
    let trimming = TrimmingConfig { packets: 1, control_weight: 10 };
    let admission = AdmissionConfig::Trimming(trimming);
    let mut bench = Bench::new(&SwitchConfig { admission, ..plain() }, &hosts(2));
    let data = Packet { wire_bytes: 1_048, ..Packet::default() };
    assert_eq!(receive(&mut bench, 1, data), []);
    for _ in 0..9 {
        assert_eq!(receive(&mut bench, 1, data).last(), Some(&Ready(0)));
    }
}

#[test]
fn only_data_wait_in_queues_and_acknowledgements_where_the_assignment_says_so() {
    for (acknowledgements, has_queue) in
        [(AcknowledgementQueue::Control, false), (AcknowledgementQueue::Data, true)]
    {
        let assignment = DynamicConfig { acknowledgements, ..dynamic(4) };
        let mut bench = Bench::new(&bfc(assignment, hop_rtts(1.0)), &hosts(2));
        let kinds = [PacketKind::Acknowledgement, PacketKind::CongestionFeedback];
        for (kind, is_queued) in kinds.into_iter().zip([has_queue, false]) {
            let id = bench.pool.insert(Packet { kind, wire_bytes: 60, ..Packet::default() });
            let (received, _) = bench.call(|switch, turn| switch.receive(turn, 0, id));
            let expected = if is_queued { Received::Queued(1) } else { Received::Waits(1) };
            assert_eq!(received, expected, "{acknowledgements:?}, {kind:?}");
        }
    }
}

#[test]
fn packets_that_bypass_the_axes_are_seen_to_come_and_to_go() {
    use PacketEvent::{ControlArrive, ControlDepart};
    let mut bench = Bench::new(&plain(), &hosts(2));
    let kind = PacketKind::Acknowledgement;
    receive(&mut bench, 0, Packet { kind, wire_bytes: 60, ..Packet::default() });
    transmit(&mut bench, 1);
    receive(&mut bench, 1, Signal::ResumeClass(0).frame(64));
    let seen =
        bench.recorder.0.iter().filter(|seen| [ControlArrive, ControlDepart].contains(&seen.event));
    let seen: Vec<_> = seen.map(|seen| (seen.event, seen.ingress, seen.egress)).collect();
    assert_eq!(seen, [(ControlArrive, 0, 1), (ControlDepart, 0, 1), (ControlArrive, 1, 1)]);
}
