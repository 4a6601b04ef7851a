//! Counters and clocks of a port.

use penstock_packet::epochs::label;
use penstock_packet::{Carried, Packet, PacketEvent, PacketPool, Signal};
use penstock_units::{BitRate, Time};

use super::Port;
use crate::assignment::dynamic::DynamicConfig;
use crate::fixture::{Bench, Flow, bfc, dynamic, flow, hop_rtts, hosts, plain};
use crate::scheduling::policy::Egress;
use crate::scheduling::{Scheduler, fifo, strict};
use crate::{SchedulingConfig, SwitchConfig};

#[test]
fn class_pause_time_is_summed_and_repeated_pauses_do_not_count() {
    let text = r#"{"kind":"class","classes":2}"#;
    let assignment = serde_json::from_str(text).unwrap();
    let config = SwitchConfig {
        assignment,
        scheduling: SchedulingConfig::Strict(strict::StrictConfig {}),
        ..plain()
    };
    let mut bench = Bench::new(&config, &hosts(2));
    bench.admit(Flow { class: 1, ..flow(1) }, 1_000);
    for signal in [Signal::PauseClass(0), Signal::PauseClass(1), Signal::PauseClass(1)] {
        bench.signal(0, signal);
        bench.after(Time::from_us(1));
    }
    assert!(bench.switch.port(0).is_class_paused(1));
    assert!(bench.depart(0).is_none());
    bench.signal(0, Signal::ResumeClass(1));
    bench.after(Time::from_us(1));
    bench.signal(0, Signal::ResumeClass(0));
    bench.after(Time::from_us(9));
    // Class 0 is paused for 4 us, class 1 for 2 us.
    let port = bench.switch.port(0);
    assert_eq!(port.class_pause_time(bench.now), Time::from_us(6));
    assert_eq!(port.counters.class_pauses, 2);
    assert_eq!(bench.drain(0), [1]);
}

#[test]
fn a_queue_sends_only_when_neither_it_nor_its_class_is_paused() {
    let mut bench = Bench::new(&plain(), &hosts(2));
    bench.admit(flow(1), 1_000);
    bench.signal(0, Signal::PauseQueue(1));
    bench.signal(0, Signal::PauseClass(0));
    bench.signal(0, Signal::ResumeQueue(1));
    assert!(bench.depart(0).is_none());
    bench.signal(0, Signal::PauseQueue(1));
    bench.signal(0, Signal::ResumeClass(0));
    assert!(bench.depart(0).is_none());
    bench.signal(0, Signal::ResumeQueue(1));
    assert!(bench.depart(0).is_some());
}

#[test]
fn pauses_of_queues_that_do_not_exist_and_of_the_control_queue_are_ignored() {
    let mut bench = Bench::new(&plain(), &hosts(2));
    for queue in [0, 2, 128, u16::MAX] {
        bench.signal(0, Signal::PauseQueue(queue));
    }
    bench.signal(0, Signal::QueueBitmap { epoch: 0, queues: !0b10 });
    bench.acknowledge(0);
    bench.admit(flow(1), 1_000);
    assert_eq!(bench.drain(0).len(), 2);
    assert_eq!(bench.switch.port(0).paused_queues(), 0);
}

#[test]
fn a_port_may_have_more_queues_than_a_bitmap_names() {
    let mut bench = Bench::new(&bfc(dynamic(300), hop_rtts(1.0)), &hosts(2));
    bench.signal(0, Signal::PauseQueue(257));
    bench.signal(0, Signal::QueueBitmap { epoch: 0, queues: u128::MAX });
    let paused = bench.queues(0).iter().zip(0..).filter(|(queue, _)| queue.is_paused);
    assert!(paused.map(|(_, number)| number).eq((1..128).chain([257])));
}

#[test]
fn only_a_new_pause_of_its_own_epoch_ends_the_grace_of_a_flow() {
    let assignment = DynamicConfig { grace_hop_rtts: 1.0, epoch_bits: 1, ..dynamic(2) };
    let mut bench = Bench::new(&bfc(assignment, hop_rtts(1.0)), &hosts(2));
    // Both epochs of the only queue are paused, so the flow stays in the first and gets a grace.
    let (first, second) = (label(1, 0), label(1, 1));
    for queue in [first, second] {
        bench.signal(0, Signal::PauseQueue(queue));
    }
    (0..3).for_each(|_| assert_eq!(bench.admit(flow(1), 1_000), None));
    bench.signal(0, Signal::PauseQueue(second));
    assert!(bench.depart(0).is_some());
    bench.signal(0, Signal::PauseQueue(first));
    assert!(bench.depart(0).is_none());
}

#[test]
fn a_paused_queue_that_runs_empty_in_its_grace_stays_paused_for_the_next_flow() {
    let assignment = DynamicConfig { grace_hop_rtts: 1.0, ..dynamic(2) };
    let mut bench = Bench::new(&bfc(assignment, hop_rtts(1.0)), &hosts(2));
    bench.signal(0, Signal::PauseQueue(1));
    bench.admit(flow(1), 1_000);
    assert_eq!(bench.drain(0), [1]);
    let port = bench.switch.port(0);
    assert!(port.empty_queues().contains(1) && !port.open_queues().contains(1));
}

#[test]
fn what_a_flow_leaves_of_its_grace_does_not_end_in_the_next_epoch() {
    let assignment = DynamicConfig { grace_hop_rtts: 1.0, epoch_bits: 1, ..dynamic(2) };
    let mut bench = Bench::new(&bfc(assignment, hop_rtts(1.0)), &hosts(2));
    for epoch in [0, 1] {
        bench.signal(0, Signal::PauseQueue(label(1, epoch)));
    }
    bench.admit(flow(1), 1_000); // in epoch 0, with a grace of 25,000 B: 2 us at 100 Gb/s
    assert_eq!(bench.drain(0), [1]);
    bench.signal(0, Signal::ResumeQueue(label(1, 1)));
    let before = bench.recorder.0.len();
    for _ in 0..30 {
        bench.admit(flow(2), 1_000); // in epoch 1, which is not paused
    }
    assert_eq!(bench.drain(0), [2; 30]);
    let later = &bench.recorder.0[before..];
    assert!(later.iter().all(|seen| seen.event != PacketEvent::PauseReceived));
}

#[test]
fn a_timed_pause_of_all_classes_counts_as_one_class_however_many_others_are_paused() {
    let mut bench = Bench::new(&plain(), &hosts(2));
    bench.signal(0, Signal::PauseTime(3_000));
    bench.after(Time::from_us(1));
    bench.signal(0, Signal::PauseClass(0));
    bench.after(Time::from_us(2));
    bench.switch.release(bench.now, 0);
    bench.after(Time::from_us(4));
    let port = bench.switch.port(0);
    assert_eq!(port.class_pause_time(bench.now), Time::from_us(7));
    assert_eq!(port.counters.class_pauses, 2);
}

#[test]
fn a_collision_is_a_packet_that_joins_behind_another_flow() {
    let mut bench = Bench::new(&plain(), &hosts(2));
    for number in [1, 1, 2, 2, 2, 1] {
        bench.admit(flow(number), 1_000);
    }
    let counters = bench.switch.port(0).counters;
    assert_eq!((counters.enqueued, counters.collisions, counters.bytes_max), (6, 2, 6_000));
    bench.drain(0);
    bench.admit(flow(3), 1_000);
    let counters = bench.switch.port(0).counters;
    assert_eq!(counters.collisions, 2, "an empty queue has nobody in it");
    assert_eq!(counters.bytes_max, 6_000, "the most that was ever queued");
}

#[test]
fn a_packet_that_is_dropped_when_it_was_taken_was_not_sent() {
    let rate = BitRate::from_gbps(100);
    let scheduling = SchedulingConfig::Fifo(fifo::FifoConfig {});
    let mut port = Port::new(
        rate,
        Scheduler::new(&scheduling, &Egress { node: 0, port: 0, rate, packet: 1_048 }),
        0,
    );
    port.prepare(&[0]);
    let mut pool = PacketPool::new(false);
    for wire_bytes in [700, 300] {
        let payload = wire_bytes - 48;
        let id = pool.insert(Packet { queue: 1, wire_bytes, payload, ..Packet::default() });
        port.enqueue(&mut pool, id);
    }
    let taken = port.dequeue(Time::ZERO, &pool).unwrap();
    port.drop_taken(&pool[taken]);
    assert_eq!((port.carried(), port.counters.drops, port.bytes()), (Carried::default(), 1, 300));
    port.dequeue(Time::ZERO, &pool).unwrap();
    let carried = Carried { bytes: 300, packets: 1, payload: 252 };
    assert_eq!((port.carried(), port.counters.drops, port.bytes()), (carried, 1, 0));
}
