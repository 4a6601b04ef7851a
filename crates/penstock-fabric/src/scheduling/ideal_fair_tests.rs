//! Bit-by-bit round robin: a vector of an independent script, late comers and returning flows.

use crate::fixture::refusal::{DYNAMIC, PER_FLOW, PFC, refused};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use penstock_packet::Signal;
use penstock_units::Time;

use crate::fixture::{Bench, flow, hosts, ideal_fair, per_flow, small_ports};
use crate::switch::Arrival;

const A: u32 = 10;
const B: u32 = 11;
const C: u32 = 12;

/// A switch of 100 Gb/s, where 1,000 B take 80 ns.
fn bench() -> Bench {
    Bench::new(&per_flow(ideal_fair()), &hosts(2))
}

fn admit(bench: &mut Bench, number: u32, packets: usize, bytes: u16) {
    for _ in 0..packets {
        bench.admit(flow(number), bytes);
    }
}

/// The flows of the next `count` packets. Each packet is sent whole before the next is chosen.
fn depart(bench: &mut Bench, count: usize) -> Vec<u32> {
    let next = |_| {
        let packet = bench.depart(0).unwrap().0;
        bench.now += Time::from_ps(80 * u64::from(packet.wire_bytes));
        packet.flow_hash
    };
    (0..count).map(next).collect()
}

#[test]
fn the_vector_holds() {
    // BASELINES 29: A has 3 x 1,000 B, B has 4 x 500 B: B1, {A1, B2}, B3, {A2, B4}, A3.
    let mut bench = bench();
    admit(&mut bench, A, 3, 1_000);
    admit(&mut bench, B, 4, 500);
    let order = bench.drain(0);
    assert_eq!(order.len(), 7);
    let mut ties = order.clone();
    ties[1..3].sort_unstable();
    ties[4..6].sort_unstable();
    assert_eq!(ties, [B, A, B, B, A, B, A], "{order:?}");
}

#[test]
fn backlogged_flows_take_turns() {
    let mut bench = bench();
    for number in [A, B, C] {
        admit(&mut bench, number, 30, 1_000);
    }
    for round in bench.drain(0).chunks(3) {
        assert!([A, B, C].iter().all(|flow| round.contains(flow)), "{round:?}");
    }
}

#[test]
fn a_late_comer_starts_at_the_round_of_the_others() {
    let mut bench = bench();
    admit(&mut bench, A, 40, 1_000);
    assert_eq!(depart(&mut bench, 20), vec![A; 20]);
    admit(&mut bench, B, 10, 1_000);
    // B does not make up for the past, and does not pay for A's past.
    let order = depart(&mut bench, 20);
    for pair in order.chunks(2) {
        assert!(pair.contains(&A) && pair.contains(&B), "{order:?}");
    }
}

#[test]
fn a_flow_that_returns_before_it_was_forgotten_gets_no_advantage() {
    let mut bench = bench();
    admit(&mut bench, A, 1, 1_000);
    admit(&mut bench, B, 10, 1_000);
    assert_eq!(depart(&mut bench, 1), [A]);
    // At 80 ns the round is 500 B. The fluid system still serves A until 1,000 B, so A's next packet
    // finishes at 2,000 B. The packet of C, a new flow, finishes at 1,500 B.
    admit(&mut bench, A, 1, 1_000);
    admit(&mut bench, C, 1, 1_000);
    assert_eq!(depart(&mut bench, 2), [B, C]);
    let mut rest = depart(&mut bench, 2);
    rest.sort_unstable();
    assert_eq!(rest, [A, B], "both finish at 2,000 B");
}

#[test]
fn a_flow_that_returns_again_and_again_has_its_share_and_no_more() {
    let mut bench = bench();
    admit(&mut bench, B, 200, 1_000);
    let mut sent = [0u32; 2];
    admit(&mut bench, A, 1, 1_000);
    for _ in 0..200 {
        let flow = depart(&mut bench, 1)[0];
        sent[usize::from(flow == B)] += 1;
        if flow == A {
            // A's queue is empty now. The next packet comes as soon as the last one has left.
            admit(&mut bench, A, 1, 1_000);
        }
    }
    assert!(sent[0].abs_diff(sent[1]) <= 2, "{sent:?}");
}

#[test]
fn a_forgotten_flow_starts_afresh() {
    let mut bench = bench();
    admit(&mut bench, A, 5, 1_000);
    depart(&mut bench, 5);
    bench.after(Time::from_us(1));
    admit(&mut bench, B, 2, 1_000);
    admit(&mut bench, A, 2, 1_000);
    let order = depart(&mut bench, 4);
    assert_eq!(order[..2].iter().filter(|&&flow| flow == A).count(), 1, "{order:?}");
}

#[test]
fn the_round_is_that_of_the_fluid_system_packet_by_packet() {
    // Three flows of 1,000, 2,000 and 3,000 B: after k packets the fluid system has shared out
    // 1,000 k bytes among three, then two, then one of them.
    let rounds = [0.0, 1_000.0 / 3.0, 2_000.0 / 3.0, 1_000.0, 1_500.0, 2_000.0, 3_000.0];
    for (sent, round) in rounds.into_iter().enumerate() {
        let mut bench = bench();
        for (number, packets) in [(A, 1), (B, 2), (C, 3)] {
            admit(&mut bench, number, packets, 1_000);
        }
        depart(&mut bench, sent);
        admit(&mut bench, 99, 1, 1_000);
        let finish = bench.recorder.0.last().unwrap().packet.time as f64 / 65_536.0;
        assert!((finish - round - 1_000.0).abs() < 0.01, "{sent} packets: {finish}");
    }
}

#[test]
fn time_in_which_no_data_is_sent_changes_nothing() {
    // Control packets and pauses take link time that no flow is served in.
    let order = |pause: Time| {
        let mut bench = bench();
        admit(&mut bench, A, 1, 1_000);
        admit(&mut bench, B, 30, 1_000);
        let mut order = vec![];
        for _ in 0..20 {
            bench.after(pause);
            bench.acknowledge(0);
            assert_eq!(bench.depart(0).unwrap().0.wire_bytes, 60);
            let flow = depart(&mut bench, 1)[0];
            if flow == A {
                admit(&mut bench, A, 1, 1_000);
            }
            order.push(flow);
        }
        order
    };
    assert_eq!(order(Time::from_us(50)), order(Time::ZERO));
    let turns = order(Time::from_us(50)).iter().filter(|&&flow| flow == A).count();
    assert!((9..=11).contains(&turns), "{turns} of 20");
}

#[test]
fn a_paused_flow_is_passed_over_and_resumes_in_its_place() {
    let mut bench = bench();
    admit(&mut bench, A, 3, 1_000);
    admit(&mut bench, B, 3, 1_000);
    bench.signal(0, Signal::PauseQueue(1));
    assert_eq!(depart(&mut bench, 2), [B, B]);
    bench.signal(0, Signal::ResumeQueue(1));
    assert_eq!(depart(&mut bench, 2), [A, A]);
}

#[test]
fn it_serves_flows() {
    let fair = ("scheduling", r#"{"kind": "ideal-fair", "full_memory": "drop-arriving"}"#);
    assert!(refused(&[PER_FLOW, fair], &[]).is_empty());
    let expected = "scheduling.kind is ideal-fair; it serves flows, and the dynamic assignment mixes them in \
                    a queue; use assignment \"per-flow\", or scheduling \"drr\"";
    assert_eq!(refused(&[DYNAMIC, fair], &[]), [expected]);
}

const FURTHEST: (&str, &str) =
    ("scheduling", r#"{"kind": "ideal-fair", "full_memory": "drop-furthest"}"#);

/// A switch whose ports store `memory` bytes and drop the packet of the largest round.
fn full_port(memory: u64) -> Bench {
    small_ports(serde_json::from_str(FURTHEST.1).unwrap(), memory)
}

fn is_queued(arrival: Arrival) -> bool {
    matches!(arrival, Arrival::Queued { .. })
}

#[test]
fn the_packet_with_the_largest_round_is_dropped_on_overflow() {
    // AFQ 5. A holds rounds 1,000 to 4,000 of a port for four packets. Packets of B finish in rounds 1,000
    // and 2,000: each takes the place of A's last one. B's third one would finish as late as A's last one.
    let mut bench = full_port(4_000);
    admit(&mut bench, A, 4, 1_000);
    assert!(is_queued(bench.arrive(flow(B), 1_000)));
    assert!(is_queued(bench.arrive(flow(B), 1_000)));
    assert_eq!(bench.arrive(flow(B), 1_000), Arrival::Dropped);
    assert_eq!(bench.arrive(flow(A), 1_000), Arrival::Dropped);
    assert_eq!(bench.switch.port(0).counters.drops, 4);
    let mut order = bench.drain(0);
    order[..2].sort_unstable();
    order[2..].sort_unstable();
    assert_eq!(order, [A, B, A, B]);
}

#[test]
fn as_many_packets_are_dropped_as_make_room() {
    let mut bench = full_port(3_000);
    admit(&mut bench, A, 6, 500);
    assert!(is_queued(bench.arrive(flow(B), 1_200))); // A's rounds 3,000, 2,500 and 2,000 go
    assert_eq!((bench.switch.port(0).counters.drops, bench.switch.port(0).bytes()), (3, 2_700));
    assert_eq!(bench.drain(0), [A, A, B, A]);
}

#[test]
fn a_flow_goes_on_where_its_dropped_packet_would_have_begun() {
    let mut bench = full_port(3_000);
    admit(&mut bench, A, 2, 1_500);
    admit(&mut bench, B, 1, 1_500); // in place of A's second packet
    assert_eq!(depart(&mut bench, 2).len(), 2);
    // The fluid system has served 1,500 B of each flow. With the dropped packet in its account, A's next
    // one would finish in round 4,500 and leave behind B's.
    admit(&mut bench, A, 1, 1_000);
    admit(&mut bench, B, 1, 1_400);
    assert_eq!(bench.drain(0), [A, B]);
}

#[test]
fn a_flow_may_lose_its_only_packet_and_its_queue_serves_another() {
    let mut bench = full_port(2_000);
    admit(&mut bench, A, 1, 1_500);
    assert!(is_queued(bench.arrive(flow(B), 1_000)), "A's packet of round 1,500 goes");
    assert_eq!(bench.arrive(flow(C), 1_500), Arrival::Dropped);
    assert_eq!((bench.switch.port(0).active(), bench.switch.port(0).bytes()), (1, 1_000));
    assert_eq!(bench.drain(0), [B]);
    (20..30).for_each(|number| admit(&mut bench, number, 1, 1_000 - number as u16));
    assert_eq!(
        bench.queues(0).len(),
        4,
        "three flows' queues and the control queue serve them all"
    );
}

#[test]
fn a_paused_flow_may_lose_packets_too() {
    let mut bench = full_port(2_000);
    admit(&mut bench, A, 2, 1_000);
    bench.signal(0, Signal::PauseQueue(1));
    admit(&mut bench, B, 1, 1_000);
    assert_eq!(bench.drain(0), [B]);
    bench.signal(0, Signal::ResumeQueue(1));
    assert_eq!(bench.drain(0), [A]);
}

#[test]
fn queued_packets_are_dropped_only_where_nobody_has_counted_them() {
    let memory = ("admission", r#"{"kind": "static", "per_port": 9000, "other_tiers": []}"#);
    let telemetry = ("marking", r#"{"kind": "telemetry", "multiplier": 0}"#);
    let at = "scheduling.full_memory is drop-furthest; ";
    for (tables, expected) in [
        (vec![PER_FLOW, FURTHEST, memory], ""),
        (
            vec![PER_FLOW, FURTHEST],
            "it makes room in the memory of a port; use admission \"static\"",
        ),
        (
            vec![PER_FLOW, FURTHEST, memory, telemetry],
            "a packet that marking has counted may be dropped; use marking \"none\" or \"ecn\"",
        ),
        (
            vec![PER_FLOW, FURTHEST, memory, PFC],
            "a packet that backpressure has counted may be dropped; use backpressure \"none\"",
        ),
    ] {
        let expected = if expected.is_empty() { vec![] } else { vec![format!("{at}{expected}")] };
        assert_eq!(refused(&tables, &[]), expected);
    }
}
