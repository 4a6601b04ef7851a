//! QCN's congestion point alone, and seen through the switch.

use super::*;
use crate::fixture::{Bench, Flow, flow, hosts, plain};
use crate::switch::Arrival;
use crate::{MarkingConfig, SwitchConfig};

/// The standard's numbers, without jitter.
fn config() -> QcnConfig {
    QcnConfig {
        set_point: Bytes::new(26_000),
        weight: 2.0,
        sample_base: Bytes::new(150_000),
        sooner_when_congested: true,
        jitter: 0.0,
        at: MarkingPoint::Enqueue,
    }
}

#[test]
fn feedback_and_distances_of_written_queues() {
    let mut random = Pcg32::new(1, 1);
    let written = [
        ((26_000, 26_000), (0, 150_000)),
        ((39_000, 26_000), (18, 50_000)),
        ((100_000, 60_000), (63, 18_500)),
        ((20_000, 30_000), (0, 150_000)),
    ];
    for ((queue, last), (feedback, distance)) in written {
        assert_eq!(config().feedback(queue, last), feedback);
        assert_eq!(config().distance(feedback, &mut random), distance);
    }
}

#[test]
fn a_distance_that_stays_is_the_same_with_any_feedback() {
    let config = QcnConfig { sooner_when_congested: false, ..config() };
    let mut random = Pcg32::new(1, 1);
    for feedback in 0..=63 {
        assert_eq!(config.distance(feedback, &mut random), 150_000);
    }
}

#[test]
fn jitter_spreads_the_distance_evenly_to_both_sides() {
    let config = QcnConfig { jitter: 0.15, ..config() };
    let mut random = Pcg32::new(1, 1);
    let distances: Vec<u64> = (0..10_000).map(|_| config.distance(0, &mut random)).collect();
    let (low, high) = (*distances.iter().min().unwrap(), *distances.iter().max().unwrap());
    assert!((127_500..127_700).contains(&low) && (172_300..=172_500).contains(&high));
    // The standard deviation is 0.15 · 150 kB / √3. Four standard deviations of the mean are 520 B.
    let mean = distances.iter().sum::<u64>() / 10_000;
    assert!(mean.abs_diff(150_000) < 520, "{mean}");
}

/// A switch that samples every packet of at least 1,000 B.
fn bench() -> Bench {
    let marking =
        MarkingConfig::Qcn(QcnConfig { sample_base: Bytes::new(1_000), weight: 0.0, ..config() });
    Bench::new(&SwitchConfig { marking, ..plain() }, &hosts(3))
}

fn feedback(bench: &mut Bench, flow: Flow) -> Option<u8> {
    match bench.arrive(flow, 1_000) {
        Arrival::Queued { feedback, .. } => feedback,
        Arrival::Dropped => panic!("there is room"),
    }
}

#[test]
fn a_queue_above_the_set_point_is_told_to_the_source_of_the_packet() {
    let mut bench = bench();
    for _ in 0..26 {
        assert_eq!(feedback(&mut bench, flow(1)), None);
    }
    // Each kilobyte above the set point is 63/26 of a unit, cut off.
    let told: Vec<_> = (0..5).map(|_| feedback(&mut bench, flow(1)).unwrap()).collect();
    assert_eq!(told, [2, 4, 7, 9, 12]);
}

#[test]
fn queues_of_different_ports_are_different_points() {
    let mut bench = bench();
    for _ in 0..40 {
        bench.admit(flow(1), 1_000);
    }
    assert_eq!(feedback(&mut bench, Flow { egress: 2, ..flow(2) }), None);
    assert!(feedback(&mut bench, flow(1)).is_some());
}

#[test]
fn the_next_sample_comes_after_the_distance() {
    let mut qcn = Qcn::new(&config(), &hosts(1));
    let mut random = Pcg32::new(1, 1);
    let mut sampled = vec![];
    for packet in 1..=400 {
        if qcn.on_packet(MarkingPoint::Enqueue, (0, 1), 39_000, 1_000, &mut random).is_some() {
            sampled.push(packet);
        }
    }
    // The first feedback is 43, because the queue grew from nothing. The others are 6, without any
    // growth.
    assert_eq!(sampled, [150, 175, 325]);
}

#[test]
fn sampled_at_departure_a_packet_is_told_of_the_queue_that_it_leaves() {
    let at = MarkingPoint::Dequeue;
    let sampled = QcnConfig { sample_base: Bytes::new(1_000), weight: 0.0, at, ..config() };
    let marking = MarkingConfig::Qcn(sampled);
    let mut bench = Bench::new(&SwitchConfig { marking, ..plain() }, &hosts(3));
    for _ in 0..31 {
        assert_eq!(feedback(&mut bench, flow(1)), None);
    }
    // 30 kB are left. The 4 kB above the set point are 9.7 units, cut off.
    let told: Vec<_> = (0..6).map(|_| bench.departure(0).unwrap().feedback).collect();
    assert_eq!(told, [Some(9), Some(7), Some(4), Some(2), None, None]);
}
