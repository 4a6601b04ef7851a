//! The credit queue and its token bucket, stepped by hand at 100 Gb/s: a byte takes 80 ps, a credit
//! and its data packet of 1,622 B together 129.76 ns.

use crate::config::Surroundings;
use crate::fixture::refusal::{PFC, SFQ, refused, refused_in};
use alloc::vec::Vec;
use serde_json::json;

use penstock_packet::{Packet, PacketKind};
use penstock_units::{Bytes, Time};

use super::*;
use crate::fixture::{Bench, flow, hosts, plain};
use crate::{SchedulingConfig, SwitchConfig};

/// Capacity of the link, in time, for each credit of 84 B: 1,622 x 80 ps.
const PAIR_TIME: u64 = 129_760;

fn config() -> CreditShapingConfig {
    CreditShapingConfig { queue: 16, burst: 2, credit: Bytes::new(84), frame: Bytes::new(1_538) }
}

fn bench() -> Bench {
    let scheduling = SchedulingConfig::CreditShaping(config());
    Bench::new(&SwitchConfig { scheduling, ..plain() }, &hosts(2))
}

/// Queues a credit of `bytes` at port 0. Answers whether there was room.
fn credit(bench: &mut Bench, bytes: u16) -> bool {
    let credit = Packet { kind: PacketKind::Credit, wire_bytes: bytes, ..Packet::default() };
    let id = bench.pool.insert(credit);
    let is_stored = bench.switch.enqueue_credit(&mut bench.pool, id, 0);
    if !is_stored {
        bench.pool.remove(id);
    }
    is_stored
}

/// The kind of packet that leaves port 0 at `ps`.
fn depart(bench: &mut Bench, ps: u64) -> Option<PacketKind> {
    bench.now = Time::from_ps(ps);
    bench.depart(0).map(|(packet, _)| packet.kind)
}

fn due(bench: &Bench) -> Option<Time> {
    bench.switch.port(0).credits().unwrap().due()
}

#[test]
fn two_credits_leave_at_once_and_the_next_when_its_tokens_are_earned() {
    let mut bench = bench();
    for _ in 0..4 {
        assert!(credit(&mut bench, 84));
    }
    assert_eq!(depart(&mut bench, 0), Some(PacketKind::Credit));
    assert_eq!(depart(&mut bench, 6_720), Some(PacketKind::Credit));
    // The bucket earned tokens while the first credit was sent. It would be full 2 pairs after time 0.
    assert_eq!(due(&bench), Some(Time::from_ps(PAIR_TIME)));
    assert_eq!(depart(&mut bench, PAIR_TIME - 1), None);
    assert!(bench.switch.port(0).is_ready());
    assert_eq!(depart(&mut bench, PAIR_TIME), Some(PacketKind::Credit));
    assert_eq!(due(&bench), Some(Time::from_ps(2 * PAIR_TIME)));
    assert_eq!(depart(&mut bench, 2 * PAIR_TIME), Some(PacketKind::Credit));
    assert!(!bench.switch.port(0).is_ready());
    assert_eq!(due(&bench), None);
}

#[test]
fn a_credit_leaves_ahead_of_data_while_tokens_suffice_and_acknowledgements_before_both() {
    let mut bench = bench();
    bench.admit(flow(1), 1_538);
    for _ in 0..3 {
        assert!(credit(&mut bench, 84));
    }
    bench.acknowledge(0);
    let order: Vec<_> = (0..4).map(|_| depart(&mut bench, 0).unwrap()).collect();
    let credit = PacketKind::Credit;
    assert_eq!(order, [PacketKind::Acknowledgement, credit, credit, PacketKind::Data]);
    assert_eq!(depart(&mut bench, 0), None);
}

#[test]
fn credits_and_full_data_packets_share_a_saturated_link_as_their_sizes() {
    let mut bench = bench();
    let (mut now, mut bytes) = (0, [0u64; 2]);
    for _ in 0..200_000 {
        while bench.switch.port(0).bytes() < 2 * 1_538 {
            bench.admit(flow(1), 1_538);
        }
        credit(&mut bench, 84);
        bench.now = Time::from_ps(now);
        let (packet, _) = bench.depart(0).unwrap();
        bytes[usize::from(packet.kind == PacketKind::Credit)] += u64::from(packet.wire_bytes);
        now += u64::from(packet.wire_bytes) * 80;
    }
    let share = bytes[1] as f64 / (bytes[0] + bytes[1]) as f64;
    // The share is 84 / 1,622 = 5.18 %, plus the two credits that the bucket held at the start.
    assert!((share - 84.0 / 1_622.0).abs() < 1e-6, "{share}");
}

#[test]
fn the_queue_holds_sixteen_credits_by_their_bytes() {
    // 16 x 84 = 1,344 B; 14 x 92 = 1,288 B.
    for (bytes, room) in [(84, 16), (92, 14)] {
        let mut bench = bench();
        let stored = (0..20).filter(|_| credit(&mut bench, bytes)).count();
        let dropped = bench.switch.port(0).credits().unwrap().dropped();
        assert_eq!((stored, dropped), (room, 20 - room as u64));
    }
}

#[test]
fn a_credit_costs_tokens_by_its_size() {
    let mut bench = bench();
    for bytes in [92, 76, 84] {
        assert!(credit(&mut bench, bytes));
    }
    assert_eq!(depart(&mut bench, 0), Some(PacketKind::Credit));
    // 92 and 76 B are two credits of mean size: 142,118.1 and 117,401.9 ps, each rounded up.
    assert_eq!(due(&bench), Some(Time::from_ps(1)));
    assert_eq!(depart(&mut bench, 1), Some(PacketKind::Credit));
    assert_eq!(due(&bench), Some(Time::from_ps(142_119 + 117_402 - PAIR_TIME)));
}

#[test]
fn a_port_without_a_credit_queue_takes_no_credits() {
    let mut bench = Bench::new(&plain(), &hosts(2));
    assert!(!credit(&mut bench, 84));
}

const SHAPING: (&str, &str) = (
    "scheduling",
    r#"{"kind": "credit-shaping", "queue": 16, "burst": 2, "credit": 84, "frame": 1538}"#,
);

#[test]
fn it_serves_one_queue_of_data_that_is_never_paused() {
    assert!(refused(&[SHAPING], &[]).is_empty());
    assert!(refused(&[SHAPING, SFQ], &[])[0].starts_with("scheduling.kind is credit-shaping"));
    let expected = "backpressure.kind is pfc; data that credits have paid for are not paused; use \
                    backpressure \"none\"";
    assert_eq!(refused(&[SHAPING, PFC], &[]), [expected]);
}

#[test]
fn a_credit_stands_for_a_full_packet() {
    let surroundings = Surroundings { packet: Some(Bytes::new(1_078)), ..Surroundings::default() };
    let refused =
        |frame| refused_in(&surroundings, &[SHAPING], &[("/scheduling/frame", json!(frame))]);
    assert!(refused(1_078).is_empty());
    let expected = "scheduling.frame is 1.538 kB; a full data packet weighs 1.078 kB on the wire; \
                    write 1.078 kB";
    assert_eq!(refused(1_538), [expected]);
    assert_eq!(refused(0), ["scheduling.frame is 0 B; write 1 B to 16 KiB"]);
}

#[test]
fn some_credits_may_wait_and_be_saved() {
    let fields = [("/scheduling/queue", json!(0)), ("/scheduling/burst", json!(1_000_001))];
    let expected = [
        "scheduling.queue is 0; write 1 to 1000000",
        "scheduling.burst is 1000001; write 1 to 1000000",
    ];
    assert_eq!(refused(&[SHAPING], &fields), expected);
}
