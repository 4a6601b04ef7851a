//! pFabric: which flow sends, and which packet makes room.

use crate::fixture::refusal::{PER_FLOW, PFC, SFQ, refused};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use penstock_packet::Signal;

use super::PfabricConfig;
use crate::SchedulingConfig;
use crate::fixture::{Bench, Flow, flow, small_ports};
use crate::switch::Arrival;

const PFABRIC: (&str, &str) = ("scheduling", r#"{"kind": "pfabric"}"#);

/// A switch whose ports have room for so many bytes.
fn bench(memory: u64) -> Bench {
    small_ports(SchedulingConfig::Pfabric(PfabricConfig {}), memory)
}

/// A packet of 1,000 B of flow `number` arrives, which has `remaining` bytes to go from this packet on.
/// Answers whether it was queued.
fn arrive(bench: &mut Bench, number: u32, remaining: u32) -> bool {
    let arrival = bench.arrive(Flow { remaining, ..flow(number) }, 1_000);
    matches!(arrival, Arrival::Queued { .. })
}

/// What leaves: flows, and the bytes that they have to go.
fn drain(bench: &mut Bench) -> Vec<(u32, u32)> {
    core::iter::from_fn(|| bench.depart(0))
        .map(|(packet, _)| (packet.flow_hash, packet.remaining))
        .collect()
}

#[test]
fn the_flow_with_the_fewest_bytes_to_go_sends_its_earliest_packet() {
    let mut bench = bench(10_000);
    for (number, remaining) in [(1, 9_000), (2, 5_000), (1, 3_000), (2, 4_000)] {
        assert!(arrive(&mut bench, number, remaining));
    }
    assert_eq!(drain(&mut bench), [(1, 9_000), (1, 3_000), (2, 5_000), (2, 4_000)]);
}

#[test]
fn a_packet_that_is_sent_again_does_not_hold_up_its_flow() {
    let mut bench = bench(10_000);
    for (number, remaining) in [(1, 2_000), (1, 8_000), (2, 4_000)] {
        assert!(arrive(&mut bench, number, remaining));
    }
    assert_eq!(drain(&mut bench), [(1, 2_000), (1, 8_000), (2, 4_000)]);
    // The queue was empty: what it had before counts no more.
    for (number, remaining) in [(1, 7_000), (2, 4_000)] {
        assert!(arrive(&mut bench, number, remaining));
    }
    assert_eq!(drain(&mut bench), [(2, 4_000), (1, 7_000)]);
}

#[test]
fn the_packet_with_the_most_bytes_to_go_is_dropped() {
    let mut bench = bench(3_000);
    for (number, remaining) in [(1, 9_000), (1, 8_000), (2, 5_000)] {
        assert!(arrive(&mut bench, number, remaining));
    }
    assert!(!arrive(&mut bench, 3, 9_000), "as many as any");
    assert!(arrive(&mut bench, 3, 8_500), "flow 1 loses its first packet");
    assert!(!arrive(&mut bench, 4, 8_600), "the most are 8,500 now");
    assert!(arrive(&mut bench, 2, 4_000), "flow 3 loses its only packet");
    assert!(arrive(&mut bench, 2, 3_000), "flow 1 loses its last packet");
    assert!(arrive(&mut bench, 2, 2_000), "flow 2 loses its own first packet");
    let port = bench.switch.port(0);
    assert_eq!((port.counters.drops, port.bytes(), port.active()), (6, 3_000, 1));
    assert_eq!(drain(&mut bench), [(2, 4_000), (2, 3_000), (2, 2_000)]);
    assert!(arrive(&mut bench, 1, 7_000), "all is forgotten");
    assert_eq!(drain(&mut bench), [(1, 7_000)]);
}

#[test]
fn what_has_left_is_not_in_the_way() {
    let mut bench = bench(2_000);
    assert!(arrive(&mut bench, 1, 9_000));
    assert!(arrive(&mut bench, 1, 5_000));
    assert_eq!(bench.depart(0).unwrap().0.remaining, 9_000);
    assert!(arrive(&mut bench, 2, 4_000));
    assert!(!arrive(&mut bench, 3, 6_000), "the most are 5,000");
    assert!(arrive(&mut bench, 3, 4_500));
    assert_eq!(drain(&mut bench), [(2, 4_000), (3, 4_500)]);
}

#[test]
fn a_flow_that_has_left_loses_nothing() {
    let mut bench = bench(2_000);
    assert!(arrive(&mut bench, 1, 5_000));
    assert!(arrive(&mut bench, 2, 6_000));
    assert_eq!(drain(&mut bench), [(1, 5_000), (2, 6_000)]);
    // Flow 3 has the queue that flow 1 had, and the queue of flow 2 is empty.
    assert!(arrive(&mut bench, 3, 4_000));
    assert!(arrive(&mut bench, 3, 3_000));
    assert!(arrive(&mut bench, 3, 2_000), "flow 3 loses its first packet");
    assert_eq!(drain(&mut bench), [(3, 3_000), (3, 2_000)]);
}

#[test]
fn of_flows_with_equally_many_bytes_to_go_the_one_with_the_first_queue_sends_and_loses() {
    let mut bench = bench(3_000);
    for (number, remaining) in [(1, 5_000), (2, 5_000), (2, 4_000)] {
        assert!(arrive(&mut bench, number, remaining));
    }
    assert!(arrive(&mut bench, 1, 4_000), "flow 1 loses its packet, and has a packet again");
    assert_eq!(drain(&mut bench), [(1, 4_000), (2, 5_000), (2, 4_000)]);
}

#[test]
fn a_flow_that_may_not_send_is_not_chosen_for_what_arrives() {
    let mut bench = bench(9_000);
    assert!(arrive(&mut bench, 1, 9_000));
    bench.signal(0, Signal::PauseQueue(1));
    assert!(arrive(&mut bench, 1, 1_000));
    assert!(arrive(&mut bench, 2, 4_000));
    assert_eq!(drain(&mut bench), [(2, 4_000)]);
    bench.signal(0, Signal::ResumeQueue(1));
    assert!(arrive(&mut bench, 2, 3_000));
    assert_eq!(drain(&mut bench), [(1, 9_000), (1, 1_000), (2, 3_000)]);
}

#[test]
fn a_flow_that_may_not_send_loses_its_only_packet_once() {
    let mut bench = bench(2_000);
    assert!(arrive(&mut bench, 1, 9_000));
    bench.signal(0, Signal::PauseQueue(1));
    assert!(arrive(&mut bench, 2, 5_000));
    assert!(arrive(&mut bench, 3, 4_000), "flow 1 loses its packet");
    assert!(arrive(&mut bench, 3, 3_000), "flow 2 loses its packet");
    assert_eq!(drain(&mut bench), [(3, 4_000), (3, 3_000)]);
}

#[test]
fn a_flow_that_may_not_send_loses_packets_too() {
    let mut bench = bench(2_000);
    assert!(arrive(&mut bench, 1, 9_000));
    bench.signal(0, Signal::PauseQueue(1));
    assert!(arrive(&mut bench, 1, 8_000));
    assert!(arrive(&mut bench, 2, 4_000));
    assert_eq!(drain(&mut bench), [(2, 4_000)]);
    bench.signal(0, Signal::ResumeQueue(1));
    assert_eq!(drain(&mut bench), [(1, 8_000)]);
}

#[test]
fn it_ranks_flows_and_drops_what_nobody_has_counted() {
    let memory = ("admission", r#"{"kind": "static", "per_port": 9000, "other_tiers": []}"#);
    for (tables, expected) in [
        (vec![PER_FLOW, PFABRIC, memory], ""),
        (
            vec![PER_FLOW, PFABRIC],
            "it makes room in the memory of a port; use admission \"static\"",
        ),
        (
            vec![SFQ, PFABRIC, memory],
            "it ranks flows, and the stochastic assignment mixes them in a queue; use assignment \
             \"per-flow\"",
        ),
        (
            vec![PER_FLOW, PFABRIC, memory, PFC],
            "a packet that backpressure has counted may be dropped; use backpressure \"none\"",
        ),
    ] {
        let at = "scheduling.kind is pfabric; ";
        let expected = if expected.is_empty() { vec![] } else { vec![format!("{at}{expected}")] };
        assert_eq!(refused(&tables, &[]), expected);
    }
}
