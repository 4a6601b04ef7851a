//! Credits, stepped by hand: 100 Gb/s links of 1 us, whose HRTT holds 25,000 B.

use crate::config::Surroundings;
use crate::fixture::refusal::{CREDITS, DRR, LOSSLESS, PER_FLOW, POOL, refused, refused_in};
use penstock_packet::{PacketEvent, SwitchFacts};
use penstock_units::Bytes;
use serde_json::json;

use super::*;
use crate::backpressure::policy::Parameters as _;
use crate::fixture::{Bench, Flow, bfc, dynamic, flow, hop_rtts, hosts};
use crate::{AdmissionConfig, BackpressureConfig, SwitchConfig};

/// Memory beyond what two ports with three upstream queues each set aside.
const SPARE: u64 = 4_000;
/// 25,000 B of a hop, a batch and three packets.
const WINDOW: u64 = 25_000 + 2_000 + 3_000;

fn config() -> CreditsConfig {
    CreditsConfig {
        pauses: hop_rtts(100.0),
        packet: Bytes::new(1_000),
        queue_reserve: Bytes::new(1_000),
        batch: Bytes::new(2_000),
    }
}

fn switch() -> SwitchConfig {
    let mut switch = bfc(dynamic(4), hop_rtts(1.0));
    switch.backpressure = BackpressureConfig::Credits(config());
    let buffer = config().set_aside(&hosts(2), 3) + SPARE;
    let admission =
        format!(r#"{{"kind":"shared","buffer":{buffer},"other_buffers":[],"ingress":null}}"#);
    switch.admission = serde_json::from_str::<AdmissionConfig>(&admission).unwrap();
    switch
}

fn bench() -> Bench {
    Bench::new(&switch(), &hosts(2))
}

fn grant(port: u16, account: u16, granted: u64) -> ControlFrame {
    ControlFrame { port, signal: Signal::Credit { account, granted } }
}

/// Sends packets of 1,000 B from an upstream's queue 1 as long as it has credit. Answers their number. Every
/// grant has news.
fn send_all(bench: &mut Bench, balance: &mut Balance) -> u64 {
    let (mut sent, mut told) = (0, None);
    while !balance.is_dry(1) {
        let mut packet = Packet { queue: 1, wire_bytes: 1_000, ..Packet::default() };
        balance.pay(&mut packet);
        let arrival = bench.arrive_with(flow(1), 1_000, packet.flags);
        assert_ne!(arrival, crate::switch::Arrival::Dropped, "credit is a place in the memory");
        sent += 1;
        assert!(bench.frame.is_none() || bench.frame != told, "{told:?} twice");
        told = bench.frame.or(told);
        take(balance, bench.frame);
    }
    sent
}

fn take(balance: &mut Balance, frame: Option<ControlFrame>) {
    if let Some(Signal::Credit { account, granted }) = frame.map(|frame| frame.signal) {
        balance.on_credit(account, granted);
    }
}

#[test]
fn what_is_set_aside_is_a_window_for_each_link_and_a_reserve_for_each_queue() {
    assert_eq!(config().set_aside(&hosts(2), 3), 2 * (WINDOW + 3 * 1_000));
}

#[test]
fn a_link_is_granted_anew_when_a_batch_has_arrived() {
    let mut bench = bench();
    assert_eq!(bench.admit(flow(1), 1_000), None);
    assert_eq!(bench.admit(flow(1), 1_000), Some(grant(1, 0, WINDOW + 2_000)));
    assert_eq!(bench.admit(flow(1), 1_000), None);
    let pauses = bench.recorder.0.iter().filter(|seen| seen.event == PacketEvent::PauseSent);
    assert_eq!(pauses.count(), 0, "a grant is no pause");
}

#[test]
fn credit_is_granted_from_the_memory_of_the_switch_itself() {
    let mut switch = switch();
    let AdmissionConfig::Shared(memories) = &mut switch.admission else { unreachable!() };
    memories.other_buffers = alloc::vec![(9, memories.buffer + Bytes::new(5_000))];
    let sent = [9, 8].map(|node| {
        let mut bench = Bench::new(&switch, &SwitchFacts { node, ..hosts(2) });
        let mut balance = bench.switch.opening_balance(1).unwrap();
        send_all(&mut bench, &mut balance)
    });
    let spare = (WINDOW + SPARE + 1_000) / 1_000;
    assert_eq!(sent, [spare + 5, spare]);
}

#[test]
fn the_last_packet_that_finds_room_is_the_last_that_may_be_sent() {
    let mut bench = bench();
    let mut balance = bench.switch.opening_balance(1).unwrap();
    // The upstream uses the link's window, all spare memory, and the reserve of the one queue. One byte
    // more would take memory that is set aside for others.
    let expected = (WINDOW + SPARE + 1_000) / 1_000;
    assert_eq!(send_all(&mut bench, &mut balance), expected);
    // The other link has lost nothing.
    let mut other = bench.switch.opening_balance(0).unwrap();
    let mut packet = Packet { queue: 1, wire_bytes: 1_000, ..Packet::default() };
    for _ in 0..WINDOW / 1_000 {
        other.pay(&mut packet);
        assert!(!packet.flags.contains(PacketFlags::OWN_CREDIT));
        let from = Flow { ingress: 0, egress: 1, ..flow(2) };
        assert_ne!(bench.arrive_with(from, 1_000, packet.flags), crate::switch::Arrival::Dropped);
    }
}

#[test]
fn what_has_come_and_gone_leaves_the_room_that_was_there_before() {
    let mut bench = bench();
    let mut balance = bench.switch.opening_balance(1).unwrap();
    for _ in 0..101 {
        let mut packet = Packet { queue: 1, wire_bytes: 1_000, ..Packet::default() };
        balance.pay(&mut packet);
        bench.arrive_with(flow(1), 1_000, packet.flags);
        take(&mut balance, bench.frame);
        let (_, frame) = bench.depart(0).unwrap();
        take(&mut balance, frame);
    }
    let expected = (WINDOW + SPARE + 1_000) / 1_000;
    assert_eq!(send_all(&mut bench, &mut balance), expected);
}

#[test]
fn what_leaves_is_granted_to_its_own_link_first() {
    let mut bench = bench();
    let mut balance = bench.switch.opening_balance(1).unwrap();
    send_all(&mut bench, &mut balance);
    let (_, frame) = bench.depart(0).unwrap();
    // One packet frees less than a batch, but the upstream has no credit left.
    assert_eq!(frame, Some(grant(1, 0, WINDOW + SPARE + 1_000)));
    take(&mut balance, frame);
    assert!(!balance.is_dry(1) && !balance.is_dry(2));
    assert_eq!(send_all(&mut bench, &mut balance), 1);
}

#[test]
fn a_queue_pays_itself_when_its_link_cannot_and_is_repaid_when_its_packet_leaves() {
    let mut bench = bench();
    let mut balance = bench.switch.opening_balance(1).unwrap();
    send_all(&mut bench, &mut balance);
    assert!(balance.is_dry(1) && !balance.is_dry(2));
    let mut packet = Packet { queue: 2, wire_bytes: 600, ..Packet::default() };
    balance.pay(&mut packet);
    assert!(packet.flags.contains(PacketFlags::OWN_CREDIT));
    assert!(balance.is_dry(2), "400 B are not enough for a packet");
    let from = Flow { upstream_queue: 2, ingress: 1, egress: 1, ..flow(7) };
    bench.arrive_with(from, 600, packet.flags);
    let (_, frame) = bench.depart(1).unwrap();
    assert_eq!(frame, Some(grant(1, 2, 1_600)));
    take(&mut balance, frame);
    assert!(!balance.is_dry(2) && balance.is_dry(1));
}

#[test]
fn a_resume_goes_before_the_grant_of_the_same_departure() {
    let mut config = switch();
    if let BackpressureConfig::Credits(credits) = &mut config.backpressure {
        credits.pauses = hop_rtts(0.1);
    }
    let mut bench = Bench::new(&config, &hosts(2));
    // Th is 2,500 B. The third packet causes a pause, so its grant waits.
    let told: Vec<_> = (0..3).map(|_| bench.admit(flow(1), 1_000)).collect();
    assert_eq!(told[1], Some(grant(1, 0, WINDOW + 2_000)));
    let pause = ControlFrame { port: 1, signal: Signal::PauseQueue(1) };
    assert_eq!(told[2], Some(pause));
    bench.admit(flow(1), 900);
    for _ in 0..3 {
        assert_eq!(bench.depart(0).unwrap().1, None);
    }
    let resume = ControlFrame { port: 1, signal: Signal::ResumeQueue(1) };
    assert_eq!(bench.depart(0).unwrap().1, Some(resume));
    assert_eq!(bench.switch.take_frame(), None);
    // A pause displaces the grant that 2,600 B cause. Their departure brings both the resume and the grant.
    let mut bench = Bench::new(&config, &hosts(2));
    assert_eq!(bench.admit(flow(1), 2_600), Some(pause));
    assert_eq!(bench.depart(0).unwrap().1, Some(resume));
    assert_eq!(bench.switch.take_frame(), Some(grant(1, 0, WINDOW + 2_600)));
    assert_eq!(bench.switch.take_frame(), None);
}

#[test]
fn a_switch_stops_its_dry_queues_and_goes_on_with_the_grant() {
    let mut bench = bench();
    bench.switch.connect(0, Balance::new(3, 1_000, 1_500, 1_000));
    for number in [1, 2] {
        for _ in 0..3 {
            bench.admit(Flow { upstream_queue: number as u16, ..flow(number) }, 1_000);
        }
    }
    // The link's account pays for one packet, and each queue's account for one.
    assert_eq!(bench.drain(0), [1, 2, 1]);
    bench.signal(0, Signal::Credit { account: 0, granted: 2_500 });
    assert_eq!(bench.drain(0), [2]);
    // Credit signals are idempotent, and a queue's own credit serves no other queue.
    bench.signal(0, Signal::Credit { account: 0, granted: 2_500 });
    assert_eq!(bench.drain(0), [0u32; 0]);
    bench.signal(0, Signal::Credit { account: 1, granted: 2_000 });
    assert_eq!(bench.drain(0), [1]);
    bench.signal(0, Signal::Credit { account: 9, granted: 9_000 });
    assert_eq!(bench.drain(0), [0u32; 0]);
}

#[test]
fn a_lost_grant_is_told_again() {
    let mut bench = bench();
    bench.admit(flow(1), 1_000);
    let lost = bench.admit(flow(1), 1_000).unwrap();
    let told = |bench: &mut Bench| -> Vec<ControlFrame> {
        (1..).map_while(|number| bench.switch.repeated_frame(1, number)).collect() // behind the bitmap
    };
    assert_eq!(told(&mut bench), [lost, grant(1, 1, 1_000)]);
    assert_eq!(told(&mut bench)[1], grant(1, 2, 1_000));
    assert_eq!(told(&mut bench)[1], grant(1, 3, 1_000));
    assert_eq!(told(&mut bench)[1], grant(1, 1, 1_000));
}

#[test]
fn a_queue_can_pay_for_a_packet() {
    let surroundings = Surroundings { packet: Some(Bytes::new(1_048)), ..Surroundings::default() };
    let refused = |field: &str, bytes| {
        let at = format!("/backpressure/{field}");
        refused_in(&surroundings, &[POOL, CREDITS], &[(&at, json!(bytes))])
    };
    assert!(refused("queue_reserve", 2_000).is_empty());
    let expected =
        "backpressure.packet is 1 kB; a packet on the wire has 1.048 kB; write at least 1.048 kB";
    assert_eq!(refused("packet", 1_000), [expected]);
    let expected = "backpressure.queue_reserve is 1 kB; it does not hold a packet of 1.048 kB; make it at \
                    least as large as packet";
    assert_eq!(refused("queue_reserve", 1_000), [expected]);
    let expected = "backpressure.packet is 0 B; write 1 B to 1 MiB";
    assert_eq!(refused("packet", 0), [expected]);
    let expected = "backpressure.batch is 2 MB; write at most 1 MiB";
    assert_eq!(refused("batch", 2_000_000), [expected.replace("write at most", "write 0 B to")]);
}

#[test]
fn credits_are_granted_from_one_memory_for_links_that_stay() {
    let expected = "admission.kind is shared; credits are granted from one memory, without thresholds of an \
                    ingress; use admission \"shared\" without an ingress table";
    assert_eq!(refused(&[LOSSLESS, CREDITS], &[]), [expected]);
    assert_eq!(refused(&[CREDITS], &[]), [expected.replace("shared;", "infinite;")]);
    let outages = Surroundings { has_outages: true, ..Surroundings::default() };
    let expected = "backpressure.kind is credits; credit for packets that a failed link loses is not \
                    recovered; use \"bfc\", or leave out faults.outages";
    assert_eq!(refused_in(&outages, &[POOL, CREDITS], &[]), [expected]);
    let corruption = Surroundings { corrupts_frames: true, ..Surroundings::default() };
    let expected = "backpressure.kind is credits; credit for packets that arrive corrupted is not \
                    recovered; use \"bfc\", or leave out faults.corruption";
    assert_eq!(refused_in(&corruption, &[POOL, CREDITS], &[]), [expected]);
    let unnumbered = refused(&[POOL, PER_FLOW, DRR, CREDITS], &[]);
    assert!(unnumbered[0].starts_with("assignment.kind is per-flow"));
}

#[test]
fn the_pauses_have_their_bounds() {
    let refused =
        refused(&[POOL, CREDITS], &[("/backpressure/pauses/threshold/factor", json!(0.0))]);
    assert_eq!(refused, ["backpressure.pauses.threshold.factor is 0.0; write above 0"]);
}
