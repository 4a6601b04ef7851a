//! The paths of BFC's pause pseudo-code (BFC sec. 3.3.2), stepped by hand.

use crate::fixture::refusal::{BFC, BY_INGRESS, DRR, PER_FLOW, SFQ, refused};
use alloc::vec;
use alloc::vec::Vec;
use serde_json::json;

use penstock_packet::PortFacts;
use penstock_units::BitRate;

use super::*;
use crate::backpressure::Backpressure;
use crate::fixture::{Bench, Flow, bfc, dynamic, flow, hop_rtts, host_port, hosts, switch_with};
use crate::switch::Arrival;

fn pause(port: u16, queue: u16) -> Option<ControlFrame> {
    Some(ControlFrame { port, signal: Signal::PauseQueue(queue) })
}

fn resume(port: u16, queue: u16) -> Option<ControlFrame> {
    Some(ControlFrame { port, signal: Signal::ResumeQueue(queue) })
}

/// A switch with eight queues, the paper's threshold and four 100 Gb/s hosts: Th is 25,000 B.
fn bench() -> Bench {
    Bench::new(&bfc(dynamic(8), hop_rtts(1.0)), &hosts(4))
}

/// The frames that `packets` of 1,000 B from `flow` cause.
fn frames(bench: &mut Bench, flow: Flow, packets: usize) -> Vec<Option<ControlFrame>> {
    (0..packets).map(|_| bench.admit(flow, 1_000)).collect()
}

fn state(bench: &Bench) -> &Bfc {
    let Backpressure::Bfc(bfc) = bench.switch.backpressure() else { unreachable!() };
    bfc
}

fn threshold(bench: &Bench, egress: u16) -> u64 {
    state(bench).limit((0, egress), bench.switch.port(egress))
}

/// The bitmap for the neighbour behind `port`.
fn told(bench: &mut Bench, port: u16) -> ControlFrame {
    let bitmap = bench.switch.repeated_frame(port, 0).unwrap();
    assert_eq!(bench.switch.repeated_frame(port, 1), None);
    bitmap
}

#[test]
fn a_pause_is_sent_on_0_to_1_and_a_resume_on_1_to_0_only() {
    let mut bench = bench();
    let sent = frames(&mut bench, flow(1), 28);
    // 25 packets reach the threshold but do not exceed it. The 26th exceeds it, because it is part of
    // the queue.
    assert!(sent[..25].iter().all(Option::is_none));
    assert_eq!(sent[25..], [pause(1, 1), None, None]);
    assert_eq!(state(&bench).counter(1, 1), 3);
    let sent: Vec<_> = (0..28).map(|_| bench.depart(0).unwrap().1).collect();
    assert!(sent[..27].iter().all(Option::is_none));
    assert_eq!(sent[27], resume(1, 1));
    assert_eq!(state(&bench).counter(1, 1), 0);
}

#[test]
fn a_queue_is_above_the_threshold_exactly_when_it_is_longer() {
    let mut bench = Bench::new(&bfc(dynamic(8), hop_rtts(0.77)), &hosts(4));
    for active in 1..=7 {
        bench.admit(flow(active), 1_000);
        let (bfc, port) = (state(&bench), bench.switch.port(0));
        assert_eq!(port.active(), active);
        let limit = bfc.limit((1, 0), port);
        for bytes in limit - 3..limit + 4 {
            assert_eq!(bfc.is_above(bytes, (1, 0), port), bytes > limit, "{bytes} and {limit}");
        }
    }
}

#[test]
fn packets_that_joined_below_the_threshold_hold_no_counter() {
    let mut bench = bench();
    frames(&mut bench, flow(1), 26);
    for _ in 0..10 {
        assert_eq!(bench.depart(0).unwrap().1, None);
    }
    // 16 packets are left. The new packets join below the threshold although the upstream is paused.
    assert_eq!(frames(&mut bench, flow(1), 9), [None; 9]);
    assert_eq!(state(&bench).counter(1, 1), 1);
    let sent: Vec<_> = (0..16).map(|_| bench.depart(0).unwrap().1).collect();
    assert_eq!(sent[15], resume(1, 1), "the one counted packet leaves, others stay");
    assert_eq!(bench.queues(0)[1].packets.bytes(), 9_000);
}

#[test]
fn an_upstream_queue_resumes_when_none_of_its_packets_at_any_egress_is_counted() {
    let mut bench = bench();
    let (first, second) = (flow(1), Flow { egress: 2, ..flow(2) });
    assert_eq!(frames(&mut bench, first, 26).pop().unwrap(), pause(1, 1));
    assert_eq!(frames(&mut bench, second, 26).pop().unwrap(), None, "it is paused already");
    assert_eq!(state(&bench).counter(1, 1), 2);
    for _ in 0..26 {
        assert_eq!(bench.depart(0).unwrap().1, None);
    }
    let sent: Vec<_> = (0..26).map(|_| bench.depart(2).unwrap().1).collect();
    assert_eq!(sent[25], resume(1, 1));
}

#[test]
fn a_packet_that_ends_its_flow_holds_a_counter_only_where_last_packets_count() {
    for counts_last in [true, false] {
        let config = BfcConfig { counts_last, ..hop_rtts(1.0) };
        let mut bench = Bench::new(&bfc(dynamic(8), config), &hosts(4));
        let (last, other) = (flow(1), Flow { remaining: 9_000, ..flow(1) });
        // 25 packets are the threshold.
        frames(&mut bench, other, 25);
        let expected = if counts_last { pause(1, 1) } else { None };
        assert_eq!(bench.admit(last, 1_000), expected);
        assert_eq!(state(&bench).counter(1, 1), u32::from(counts_last));
        // A packet that others of its flow follow counts in any case.
        let expected = if counts_last { None } else { pause(1, 1) };
        assert_eq!(bench.admit(other, 1_000), expected);
        let sent: Vec<_> = (0..27).filter_map(|_| bench.depart(0).unwrap().1).collect();
        assert_eq!(sent, [resume(1, 1).unwrap()]);
    }
}

#[test]
fn counters_are_kept_by_ingress_and_upstream_queue() {
    let mut bench = bench();
    let ends = [(1, 1), (1, 2), (2, 1)];
    for (number, (ingress, upstream_queue)) in (1..).zip(ends) {
        // One flow is in one queue with three upstream queues. Each upstream queue is paused on its
        // own.
        let flow = Flow { ingress, upstream_queue, ..flow(1) };
        let packets = if number == 1 { 26 } else { 1 };
        assert_eq!(
            frames(&mut bench, flow, packets).pop().unwrap(),
            pause(ingress, upstream_queue)
        );
    }
    let bfc = state(&bench);
    assert_eq!(ends.map(|(port, queue)| bfc.counter(port, queue)), [1; 3]);
    let bitmap = |port| bfc.bitmap_frame(port, 0).signal;
    let expected = [0, 0b110, 0b10].map(|queues| Signal::QueueBitmap { epoch: 0, queues });
    assert_eq!([bitmap(0), bitmap(1), bitmap(2)], expected);
    let sent: Vec<_> = (0..28).map(|_| bench.depart(0).unwrap().1).collect();
    assert_eq!(sent[25..], [resume(1, 1), resume(1, 2), resume(2, 1)]);
}

#[test]
fn the_threshold_is_divided_by_the_active_queues_with_the_arriving_packets() {
    let mut bench = bench();
    assert_eq!(threshold(&bench, 0), 25_000, "none is active: N is 1");
    let expected = [25_000, 12_500, 8_333, 6_250];
    for (number, expected) in (1..).zip(expected) {
        bench.admit(flow(number), 1_000);
        assert_eq!(threshold(&bench, 0), expected);
    }
    // With four active queues the limit is 6,250 B. The 7th packet of a queue is the first beyond it.
    assert!(frames(&mut bench, flow(1), 5).iter().all(Option::is_none));
    assert_eq!(bench.admit(flow(1), 1_000), pause(1, 1));
}

#[test]
fn a_new_queue_counts_itself_before_it_is_tested() {
    let mut bench = bench();
    assert!(frames(&mut bench, flow(1), 20).iter().all(Option::is_none));
    // 12,600 B are below the limit of 25,000 B for one queue. With the other queue active the limit is
    // 12,500 B.
    assert_eq!(bench.admit(flow(2), 12_600), pause(1, 1));
}

#[test]
fn paused_queues_do_not_count_and_none_active_counts_as_one() {
    let mut bench = bench();
    for number in 1..=3 {
        bench.admit(flow(number), 1_000);
    }
    bench.signal(0, Signal::PauseQueue(1));
    assert_eq!(threshold(&bench, 0), 12_500);
    bench.signal(0, Signal::PauseQueue(2));
    bench.signal(0, Signal::PauseQueue(3));
    assert_eq!(bench.switch.port(0).active(), 0);
    assert_eq!(threshold(&bench, 0), 25_000);
    assert!(frames(&mut bench, flow(1), 24).iter().all(Option::is_none));
    assert_eq!(bench.admit(flow(1), 1_000), pause(1, 1), "a paused queue is held to it too");
    bench.signal(0, Signal::ResumeQueue(2));
    bench.signal(0, Signal::ResumeQueue(3));
    assert_eq!(threshold(&bench, 0), 12_500);
}

#[test]
fn each_egress_has_the_threshold_of_its_speed_and_of_the_longest_ingress() {
    let fast = PortFacts { rate: BitRate::from_gbps(400), ..host_port() };
    let far = PortFacts { delay: Time::from_us(5), ..host_port() };
    let facts = switch_with(vec![host_port(), fast, far]);
    let bench = Bench::new(&bfc(dynamic(8), hop_rtts(1.0)), &facts);
    // HRTT is 10 us at every egress, because of the third port.
    for (egress, limit) in [(0, 125_000), (1, 500_000), (2, 125_000)] {
        assert_eq!(threshold(&bench, egress), limit);
        let is_above =
            |bytes| state(&bench).is_above(bytes, (0, egress), bench.switch.port(egress));
        assert!(!is_above(limit) && is_above(limit + 1));
    }
}

#[test]
fn the_hop_rtt_includes_the_pipelines_at_both_ends() {
    let switch = PortFacts { neighbour_pipeline: Time::from_ns(300), ..host_port() };
    let mut facts = switch_with(vec![host_port(), switch]);
    facts.pipeline_delay = Time::from_ns(500);
    let bench = Bench::new(&bfc(dynamic(8), hop_rtts(2.0)), &facts);
    assert_eq!(facts.hop_rtt(), Time::from_ns(2_800));
    assert_eq!(threshold(&bench, 0), 2 * 35_000);
}

#[test]
fn a_threshold_in_time_is_that_of_the_port_whatever_the_hop_rtt_and_the_active_queues() {
    let time = Time::from_us(4);
    let config = BfcConfig { threshold: ThresholdConfig::Time { time }, ..hop_rtts(1.0) };
    let fast = PortFacts { rate: BitRate::from_gbps(400), ..host_port() };
    let facts = switch_with(vec![host_port(), fast]);
    let mut bench = Bench::new(&bfc(dynamic(8), config), &facts);
    for number in 0..3 {
        assert_eq!([0, 1].map(|egress| threshold(&bench, egress)), [50_000, 200_000]);
        bench.admit(flow(number), 1_000);
    }
}

#[test]
fn in_the_arithmetic_of_its_simulator_the_threshold_has_the_delay_of_the_packets_ingress() {
    let [near, far, at_once] =
        [1, 5, 0].map(|us| PortFacts { delay: Time::from_us(us), ..host_port() });
    let mut facts = switch_with(vec![near, far, at_once]);
    facts.fidelity = Fidelity::Ns3Bfc;
    let mut bench = Bench::new(&bfc(dynamic(8), hop_rtts(1.0)), &facts);
    // 12.5 GB/s in twice the delay, over the active queues; a byte at least. A microsecond of ns-3 is a
    // binary fraction that is a little short.
    for (active, limits) in
        [(0, [24_999, 124_999, 1]), (1, [24_999, 124_999, 1]), (2, [12_499, 62_499, 1])]
    {
        let (bfc, port) = (state(&bench), bench.switch.port(0));
        assert_eq!(port.active(), active);
        for (ingress, limit) in (0..).zip(limits) {
            assert_eq!(bfc.limit((ingress, 0), port), limit);
            assert!(!bfc.is_above(limit, (ingress, 0), port));
            assert!(bfc.is_above(limit + 1, (ingress, 0), port));
        }
        bench.admit(flow(1 + active), 1_000);
    }
}

#[test]
fn only_packets_from_above_to_above_are_elided_and_only_when_asked() {
    let spine = PortFacts { neighbour_tier: 2, ..host_port() };
    let facts = switch_with(vec![host_port(), host_port(), spine, spine]);
    let paths = [(2, 3, true), (2, 0, false), (1, 3, false), (1, 0, false)];
    for elide_down_up in [false, true] {
        for (ingress, egress, is_down_up) in paths {
            let config = BfcConfig { elide_down_up, ..hop_rtts(1.0) };
            let mut bench = Bench::new(&bfc(dynamic(8), config), &facts);
            let flow = Flow { ingress, egress, ..flow(1) };
            let sent = frames(&mut bench, flow, 40).into_iter().flatten().count();
            assert_eq!(sent == 0, elide_down_up && is_down_up, "{ingress} to {egress}");
            assert_eq!(bench.drain(egress).len(), 40);
        }
    }
}

#[test]
fn only_the_ways_of_the_match_table_are_elided() {
    let port = |neighbour| PortFacts { neighbour, neighbour_tier: 2, ..host_port() };
    let facts = switch_with([20, 21, 22].map(port).to_vec());
    let elide = vec![(20, facts.node, 21), (21, facts.node + 1, 20)];
    for (ingress, egress) in [(0, 1), (1, 0), (0, 2), (2, 1)] {
        let config = BfcConfig { elide: elide.clone(), ..hop_rtts(1.0) };
        let mut bench = Bench::new(&bfc(dynamic(8), config), &facts);
        let flow = Flow { ingress, egress, ..flow(1) };
        let sent = frames(&mut bench, flow, 40).into_iter().flatten().count();
        assert_eq!(sent == 0, (ingress, egress) == (0, 1), "{ingress} to {egress}");
        assert_eq!(bench.drain(egress).len(), 40);
    }
}

#[test]
fn packets_that_were_not_sampled_leave_the_counters_alone() {
    let mut config = dynamic(8);
    config.sampling = 1e-12;
    let mut bench = Bench::new(&bfc(config, hop_rtts(1.0)), &hosts(2));
    assert!(frames(&mut bench, flow(1), 60).iter().all(Option::is_none));
    let none = Signal::QueueBitmap { epoch: 0, queues: 0 };
    assert_eq!(state(&bench).bitmap_frame(1, 0).signal, none);
    assert_eq!(bench.drain(0).len(), 60);
}

#[test]
fn with_sampling_only_sampled_packets_beyond_the_threshold_are_counted() {
    let mut config = dynamic(8);
    config.sampling = 0.5;
    let mut bench = Bench::new(&bfc(config, hop_rtts(1.0)), &hosts(2));
    frames(&mut bench, flow(1), 425);
    let counted = state(&bench).counter(1, 1);
    // 400 packets join beyond the threshold. Four standard deviations are 40.
    assert!((160..=240).contains(&counted), "{counted}");
    bench.drain(0);
    assert_eq!(state(&bench).counter(1, 1), 0);
}

#[test]
fn the_mark_of_the_switch_before_is_not_taken_for_ones_own() {
    let mut bench = bench();
    bench.arrive_with(flow(1), 1_000, PacketFlags::COUNTED);
    assert_eq!(state(&bench).counter(1, 1), 0);
    assert_eq!(bench.depart(0).unwrap().1, None);
}

#[test]
fn the_bitmap_says_what_the_pauses_said() {
    let mut bench = bench();
    assert_eq!(told(&mut bench, 1).signal, Signal::QueueBitmap { epoch: 0, queues: 0 });
    for upstream_queue in [1, 5, 127] {
        frames(&mut bench, Flow { upstream_queue, ..flow(u32::from(upstream_queue)) }, 26);
    }
    let expected = (1 << 1) | (1 << 5) | (1 << 127);
    let frame =
        ControlFrame { port: 1, signal: Signal::QueueBitmap { epoch: 0, queues: expected } };
    assert_eq!(told(&mut bench, 1), frame);
    assert_eq!(told(&mut bench, 0).signal, Signal::QueueBitmap { epoch: 0, queues: 0 });
    bench.drain(0);
    assert_eq!(told(&mut bench, 1).signal, Signal::QueueBitmap { epoch: 0, queues: 0 });
}

#[test]
fn a_bitmap_is_idempotent_and_mends_lost_frames() {
    let mut bench = bench();
    for number in 1..=3 {
        bench.admit(flow(number), 1_000);
    }
    bench.signal(0, Signal::PauseQueue(1));
    for _ in 0..3 {
        bench.signal(0, Signal::QueueBitmap { epoch: 0, queues: 0b1100 });
        let paused: Vec<_> = bench.queues(0).iter().map(|queue| queue.is_paused).collect();
        assert_eq!(paused[..5], [false, false, true, true, false]);
    }
    let port = bench.switch.port(0);
    assert_eq!((port.active(), port.paused_queues(), port.counters.queue_pauses), (1, 2, 3));
    // Bits of the control queue and of queues that do not exist do nothing.
    bench.signal(0, Signal::QueueBitmap { epoch: 0, queues: 1 | (1 << 100) });
    assert_eq!(bench.switch.port(0).active(), 3);
    assert_eq!(bench.drain(0).len(), 3);
}

#[test]
fn a_repeated_pause_or_resume_changes_nothing() {
    let mut bench = bench();
    bench.admit(flow(1), 1_000);
    bench.signal(0, Signal::PauseQueue(1));
    bench.after(Time::from_us(1));
    bench.signal(0, Signal::PauseQueue(1));
    bench.after(Time::from_us(1));
    assert!(bench.depart(0).is_none());
    bench.signal(0, Signal::ResumeQueue(1));
    bench.signal(0, Signal::ResumeQueue(1));
    assert_eq!(bench.switch.port(0).queue_pause_time(bench.now), Time::from_us(2));
    assert_eq!(bench.switch.port(0).counters.queue_pauses, 1);
    assert!(bench.depart(0).is_some());
}

#[test]
fn a_dropped_packet_pauses_nobody() {
    let mut config = bfc(dynamic(8), hop_rtts(1.0));
    config.admission =
        serde_json::from_str(r#"{"kind":"static","per_port":26000,"other_tiers":[]}"#).unwrap();
    let mut bench = Bench::new(&config, &hosts(2));
    frames(&mut bench, flow(1), 26);
    assert_eq!(bench.arrive(Flow { upstream_queue: 2, ..flow(1) }, 1_000), Arrival::Dropped);
    let one = Signal::QueueBitmap { epoch: 0, queues: 0b10 };
    assert_eq!(state(&bench).bitmap_frame(1, 0).signal, one);
}

#[test]
fn every_queue_has_a_number_that_a_pause_can_name() {
    let queues = |queues| refused(&[SFQ, DRR, BFC], &[("/assignment/queues", json!(queues))]);
    assert!(queues(128).is_empty());
    let expected = "assignment.queues is 129; BFC pauses at most 128 queues of a port; use at most 128 (BFC: \
                    32)";
    assert_eq!(queues(129), [expected]);
    assert_eq!(queues(0), ["assignment.queues is 0; write 2 to 4096"]);
    for (unnumbered, kind) in [(PER_FLOW, "per-flow"), (BY_INGRESS, "ingress")] {
        let expected = format!(
            "assignment.kind is {kind}; BFC pauses numbered queues, and {kind} queues have no fixed number; \
             use \"dynamic\", \"stochastic\" or \"class\""
        );
        assert_eq!(refused(&[unnumbered, DRR, BFC], &[]), [expected]);
    }
}

#[test]
fn a_threshold_is_above_nothing() {
    let refused = |threshold| refused(&[BFC], &[("/backpressure/threshold", threshold)]);
    let expected = "backpressure.threshold.factor is 0.0; write above 0";
    assert_eq!(refused(json!({"kind": "hop-rtts", "factor": 0.0})), [expected]);
    let expected = "backpressure.threshold.time is 0 ps; write 1 ps or more";
    assert_eq!(refused(json!({"kind": "time", "time": 0})), [expected]);
}
