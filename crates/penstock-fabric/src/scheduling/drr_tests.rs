//! Deficit round robin: a vector of an independent script, pauses, classes, the fairness bound.

use crate::fixture::refusal::{DRR, refused};
use alloc::vec;
use alloc::vec::Vec;
use serde_json::json;

use penstock_packet::{Packet, Signal};
use penstock_units::BitRate;

use super::*;
use crate::SwitchConfig;
use crate::fixture::{Bench, Flow, bfc, drr, dynamic, flow, hop_rtts, hosts, per_flow};

const A: u32 = 10;
const B: u32 = 11;
const C: u32 = 12;

fn bench(quantum: u32) -> Bench {
    Bench::new(&per_flow(drr(quantum.into())), &hosts(2))
}

fn admit(bench: &mut Bench, number: u32, packets: usize, bytes: u16) {
    for _ in 0..packets {
        bench.admit(flow(number), bytes);
    }
}

#[test]
fn the_vector_holds() {
    // BASELINES 29: quantum 1,000; A has 3 x 1,000 B, B has 4 x 600 B.
    let mut bench = bench(1_000);
    admit(&mut bench, A, 3, 1_000);
    admit(&mut bench, B, 4, 600);
    assert_eq!(bench.drain(0), [A, B, A, B, B, A, B]);
}

#[test]
fn a_packet_larger_than_the_quantum_waits_for_enough_turns() {
    let mut bench = bench(400);
    admit(&mut bench, A, 2, 1_000);
    admit(&mut bench, B, 5, 400);
    // A earns 400 a turn: it sends in its third turn, and keeps 200 for the next.
    assert_eq!(bench.drain(0), [B, B, A, B, B, A, B]);
}

#[test]
fn a_queue_that_empties_forgets_its_deficit() {
    let mut bench = bench(1_000);
    admit(&mut bench, A, 1, 100);
    admit(&mut bench, B, 20, 1_000);
    assert_eq!(bench.depart(0).unwrap().0.flow_hash, A);
    // If A kept the 900 left over from its first packet, it would send two packets in its first turn.
    admit(&mut bench, A, 4, 950);
    let order: Vec<u32> = (0..8).map(|_| bench.depart(0).unwrap().0.flow_hash).collect();
    assert_eq!(order, [B, A, B, A, B, A, B, A]);
}

#[test]
fn a_paused_queue_earns_no_deficit() {
    let mut bench = Bench::new(&bfc(dynamic(8), hop_rtts(100.0)), &hosts(2));
    admit(&mut bench, A, 20, 1_000);
    admit(&mut bench, B, 40, 1_000);
    let paused = bench.queues(0).iter().position(|queue| queue.packets.bytes() == 20_000).unwrap();
    bench.signal(0, Signal::PauseQueue(paused as u16));
    let order: Vec<u32> = (0..20).map(|_| bench.depart(0).unwrap().0.flow_hash).collect();
    assert_eq!(order, vec![B; 20], "the paused queue sends nothing");
    bench.signal(0, Signal::ResumeQueue(paused as u16));
    let order: Vec<u32> = (0..40).map(|_| bench.depart(0).unwrap().0.flow_hash).collect();
    let turns = order.chunks(2).all(|pair| pair.contains(&A) && pair.contains(&B));
    assert!(turns, "one packet each a round, no burst of what was missed: {order:?}");
}

#[test]
fn pausing_the_queue_in_turn_passes_the_turn_on() {
    let mut bench = bench(1_000);
    for number in [A, B, C] {
        admit(&mut bench, number, 2, 1_000);
    }
    bench.signal(0, Signal::PauseQueue(1));
    assert_eq!(bench.drain(0), [B, C, B, C]);
    bench.signal(0, Signal::ResumeQueue(1));
    assert_eq!(bench.drain(0), [A, A]);
}

#[test]
fn a_new_queue_waits_for_its_turn_at_the_end_of_the_round() {
    let mut bench = bench(1_000);
    admit(&mut bench, A, 4, 1_000);
    admit(&mut bench, B, 4, 1_000);
    assert_eq!(bench.depart(0).unwrap().0.flow_hash, A);
    assert_eq!(bench.depart(0).unwrap().0.flow_hash, B);
    admit(&mut bench, C, 2, 1_000);
    // B's turn has not ended when C comes. So C joins behind A, before B's next turn.
    assert_eq!(bench.drain(0), [A, C, B, A, C, B, A, B]);
}

#[test]
fn the_lowest_class_goes_first_and_shares_within() {
    let text = r#"{"kind":"stochastic","queues":65,"classes":2}"#;
    let assignment = serde_json::from_str(text).unwrap();
    let config = SwitchConfig { assignment, ..per_flow(drr(1_000)) };
    let mut bench = Bench::new(&config, &hosts(2));
    for (number, class) in [(1, 1), (2, 1), (3, 0), (4, 0)] {
        for _ in 0..3 {
            bench.admit(Flow { class, ..flow(number) }, 1_000);
        }
    }
    assert_eq!(bench.switch.port(0).active(), 4, "no two flows share a queue");
    assert_eq!(bench.drain(0), [3, 4, 3, 4, 3, 4, 1, 2, 1, 2, 1, 2]);
}

#[test]
fn a_class_has_its_own_round_whatever_the_others_do() {
    let mut queues = vec![];
    queues.resize_with(4, DataQueue::default);
    let config = DrrConfig { quantum: Bytes::new(1_000) };
    let mut drr = Drr::new(
        &config,
        &Egress { node: 0, port: 0, rate: BitRate::from_gbps(100), packet: 1_048 },
    );
    let mut pool = PacketPool::new(false);
    for (number, class) in [(1, 0), (2, 3), (3, 3)] {
        let id = pool.insert(Packet { wire_bytes: 1_000, ..Packet::default() });
        queues[number].class = class;
        queues[number].packets.push(&mut pool, id);
        drr.activate(&mut queues, number as u32, &pool);
    }
    assert_eq!(drr.classes(), 0b1001);
    let mut turn = |drr: &mut Drr, class| {
        let number = drr.select_in(class, &mut queues, &pool);
        drr.charge(&mut queues[number as usize], 1_000);
        number
    };
    assert_eq!([3, 3, 0, 3].map(|class| turn(&mut drr, class)), [2, 3, 1, 2]);
    for (number, classes) in [(1, 0b1000), (2, 0b1000), (3, 0)] {
        drr.deactivate(&mut queues, number);
        assert_eq!(drr.classes(), classes);
    }
}

#[test]
fn backlogged_queues_differ_by_two_packets_and_a_quantum_at_most() {
    // Shreedhar and Varghese's bound (BASELINES 18.1), with packets of 100 to 1,500 B.
    for quantum in [500, 1_500, 9_000] {
        let mut bench = bench(quantum);
        for packet in 0..400u32 {
            admit(&mut bench, A, 1, 100 + (packet * 389 % 1_400) as u16);
            admit(&mut bench, B, 1, 1_500 - (packet * 211 % 1_400) as u16);
        }
        let mut sent = [0i64; 2];
        for _ in 0..400 {
            let packet = bench.depart(0).unwrap().0;
            sent[usize::from(packet.flow_hash == B)] += i64::from(packet.wire_bytes);
            let difference = (sent[0] - sent[1]).unsigned_abs();
            assert!(difference <= 2 * 1_500 + u64::from(quantum), "{quantum}: {sent:?}");
        }
    }
}

#[test]
fn a_queue_may_send_in_its_turn_and_not_without_end() {
    let quantum = |quantum| refused(&[DRR], &[("/scheduling/quantum", json!(quantum))]);
    assert!(quantum(0).is_empty() && quantum(1 << 20).is_empty());
    assert_eq!(quantum(2_000_000), ["scheduling.quantum is 2 MB; write 0 B to 1 MiB"]);
}

#[test]
fn a_quantum_covers_a_full_packet_and_0_stands_for_one() {
    let egress = Egress { node: 0, port: 0, rate: BitRate::from_gbps(100), packet: 1_128 };
    for (quantum, expected) in [(0, 1_128), (1_128, 1_128), (9_000, 9_000)] {
        let drr = Drr::new(&DrrConfig { quantum: Bytes::new(quantum) }, &egress);
        assert_eq!(drr.quantum, expected);
    }
    let around = Surroundings { packet: Some(Bytes::new(1_128)), ..Surroundings::default() };
    let is_refused = |quantum| {
        let mut problems = Problems::default();
        fits_quantum(Bytes::new(quantum), &around, &mut problems);
        !problems.is_empty()
    };
    assert_eq!([0, 1_047, 1_127, 1_128].map(is_refused), [false, true, true, false]);
}
