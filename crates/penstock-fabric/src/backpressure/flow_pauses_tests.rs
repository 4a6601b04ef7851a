//! Pauses by flow, stepped by hand and compared with BFC's pauses of queues.

use crate::config::Surroundings;
use crate::fixture::refusal::{DRR, FLOW_PAUSES, PER_FLOW, refused, refused_in};
use alloc::vec;
use alloc::vec::Vec;

use penstock_packet::PortFacts;

use super::*;
use crate::fixture::{Bench, Flow, bfc, dynamic, flow, hop_rtts, host_port, hosts, switch_with};
use crate::waiting::Stopped;
use crate::{BackpressureConfig, SwitchConfig};

/// A port with `queues` queues, and the paper's threshold.
fn config(queues: u32) -> SwitchConfig {
    let threshold = ThresholdConfig::HopRtts { factor: 1.0 };
    SwitchConfig {
        backpressure: BackpressureConfig::FlowPauses(FlowPausesConfig { threshold }),
        ..bfc(dynamic(queues), hop_rtts(1.0))
    }
}

/// A switch with four 100 Gb/s racks: Th is 25,000 B.
fn bench(queues: u32) -> Bench {
    let rack = PortFacts { neighbour_tier: 1, ..host_port() };
    Bench::new(&config(queues), &switch_with(vec![rack; 4]))
}

fn frame(port: u16, signal: Signal) -> Option<ControlFrame> {
    Some(ControlFrame { port, signal })
}

#[test]
fn a_flow_is_paused_on_0_to_1_and_resumed_on_1_to_0() {
    let mut bench = bench(8);
    let sent: Vec<_> = (0..28).map(|_| bench.admit(flow(1), 1_000)).collect();
    assert!(sent[..25].iter().all(Option::is_none), "25 packets are the threshold");
    assert_eq!(sent[25..], [frame(1, Signal::PauseFlow(1)), None, None]);
    let sent: Vec<_> = (0..28).map(|_| bench.depart(0).unwrap().1).collect();
    assert!(sent[..27].iter().all(Option::is_none));
    assert_eq!(sent[27], frame(1, Signal::ResumeFlow(1)));
}

#[test]
fn a_pause_is_kept_by_packets_behind_the_paused_head() {
    let mut bench = bench(2); // one data queue
    for number in [7, 1] {
        for _ in 0..20 {
            bench.admit(flow(number), 1_000);
        }
    }
    assert_eq!(bench.switch.stopped(&bench.pool, 0), []);
    bench.signal(0, Signal::PauseFlow(7));
    // The threshold is 25,000 B, so that all of flow 7 and five packets of flow 1 do not count.
    let stopped = Stopped { pause: 7, ingress: 1, keeps: 1, bytes: 1_000 };
    assert_eq!(bench.switch.stopped(&bench.pool, 0), vec![stopped; 15]);
    let kept = |bytes| KeptPause { ingress: 1, number: 1, bytes };
    assert_eq!(bench.switch.lasting(&[kept(15_000), kept(0)]), [true, false]);
}

#[test]
fn flows_of_one_upstream_queue_are_paused_apart() {
    let mut bench = bench(8);
    for number in [1, 2] {
        let sent: Vec<_> = (0..26).filter_map(|_| bench.admit(flow(number), 1_000)).collect();
        assert_eq!(sent, Vec::from_iter(frame(1, Signal::PauseFlow(number))));
    }
}

#[test]
fn a_pause_holds_its_flow_and_nobody_who_gets_the_queue_after_it() {
    let mut bench = bench(2); // one data queue
    bench.signal(0, Signal::PauseFlow(1));
    assert_eq!(bench.queue_of(flow(2)), 1);
    assert_eq!(bench.drain(0), [2], "the paused flow is not here");
    bench.admit(flow(1), 1_000);
    bench.admit(flow(2), 1_000);
    assert!(bench.drain(0).is_empty(), "the head of the queue is paused");
    bench.signal(0, Signal::ResumeFlow(1));
    assert_eq!(bench.drain(0), [1, 2]);
}

#[test]
fn a_flow_on_two_paths_is_paused_at_each_port_for_itself() {
    let mut bench = bench(2);
    for ingress in [1, 2] {
        let flow = Flow { ingress, ..flow(1) };
        let sent: Vec<_> = (0..26).filter_map(|_| bench.admit(flow, 1_000)).collect();
        assert_eq!(sent, Vec::from_iter(frame(ingress, Signal::PauseFlow(1))));
    }
    bench.signal(3, Signal::PauseFlow(1));
    assert_eq!(bench.drain(0).len(), 52, "the flow is paused at port 3 only");
}

#[test]
fn a_queue_stops_when_a_paused_flow_comes_to_its_head() {
    let mut bench = bench(2);
    for number in [2, 1, 2] {
        bench.admit(flow(number), 1_000);
    }
    bench.signal(0, Signal::PauseFlow(1));
    assert_eq!(bench.drain(0), [2]);
    bench.signal(0, Signal::PauseFlow(2));
    bench.signal(0, Signal::ResumeFlow(1));
    assert_eq!(bench.drain(0), [1]);
    bench.signal(0, Signal::ResumeFlow(2));
    assert_eq!(bench.drain(0), [2]);
}

#[test]
fn a_pause_follows_its_flow_into_another_queue() {
    let mut bench = bench(8);
    assert_eq!(bench.queue_of(flow(1)), 1);
    assert_eq!(bench.drain(0), [1]);
    bench.signal(0, Signal::PauseFlow(1));
    bench.after(Time::from_ms(1)); // beyond the sticky threshold
    assert_eq!(bench.queue_of(flow(1)), 2);
    assert!(bench.drain(0).is_empty());
}

#[test]
fn hosts_are_told_of_queues() {
    let mut bench = Bench::new(&config(8), &hosts(4));
    let of_host = Flow { egress: 2, ..flow(1) };
    let sent: Vec<_> = (0..26).filter_map(|_| bench.admit(of_host, 1_000)).collect();
    assert_eq!(sent, [ControlFrame { port: 1, signal: Signal::PauseQueue(1) }]);
    let sent: Vec<_> = (0..26).filter_map(|_| bench.depart(2).unwrap().1).collect();
    assert_eq!(sent, [ControlFrame { port: 1, signal: Signal::ResumeQueue(1) }]);
}

#[test]
fn a_pause_that_is_lost_is_not_told_again() {
    assert!(refused(&[FLOW_PAUSES], &[]).is_empty());
    let outages = Surroundings { has_outages: true, ..Surroundings::default() };
    let losses = Surroundings { loses_control: true, ..Surroundings::default() };
    let corruption = Surroundings { corrupts_frames: true, ..Surroundings::default() };
    for surroundings in [outages, losses, corruption] {
        let expected = "backpressure.kind is flow-pauses; pauses of flows that are lost are not told again; \
                        use \"bfc\", or leave out faults";
        assert_eq!(refused_in(&surroundings, &[FLOW_PAUSES], &[]), [expected]);
    }
}

#[test]
fn hosts_are_paused_by_the_numbers_of_their_queues() {
    let found = refused(&[PER_FLOW, DRR, FLOW_PAUSES], &[]);
    assert!(found[0].starts_with("assignment.kind is per-flow; BFC pauses numbered queues"));
}
