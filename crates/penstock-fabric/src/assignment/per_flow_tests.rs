//! A queue for each flow: who gets a queue, and when another flow may get it.

use alloc::vec::Vec;

use penstock_units::Time;

use super::*;
use crate::fixture::{Bench, Flow, drr, flow, hosts, ideal_fair, per_flow};

#[test]
fn every_flow_has_a_queue_of_its_own_without_limit() {
    let mut bench = Bench::new(&per_flow(drr(1_000)), &hosts(2));
    let queues: Vec<u16> = (0..600).map(|number| bench.queue_of(flow(number))).collect();
    assert_eq!(queues, (1..=600).collect::<Vec<u16>>());
    assert_eq!(bench.queue_of(flow(250)), 251);
    assert_eq!(bench.switch.port(0).counters.collisions, 0);
    assert!(bench.switch.port(1).queues().is_empty(), "other ports have none");
}

#[test]
fn queues_that_ran_empty_are_used_again_oldest_first() {
    let mut bench = Bench::new(&per_flow(drr(1_000)), &hosts(2));
    for number in 1..=3 {
        bench.queue_of(flow(number));
    }
    bench.drain(0);
    // Flow 2 returns to its queue. The new flows get the queues of flows 1 and 3.
    assert_eq!(bench.queue_of(flow(2)), 2);
    assert_eq!([4, 5, 6].map(|number| bench.queue_of(flow(number))), [1, 3, 4]);
    assert_eq!(bench.drain(0).len(), 4);
    assert_eq!(bench.switch.port(0).queues().len(), 5);
}

#[test]
fn a_flow_that_lost_its_empty_queue_gets_another() {
    let mut bench = Bench::new(&per_flow(drr(1_000)), &hosts(2));
    bench.queue_of(flow(1));
    bench.drain(0);
    assert_eq!(bench.queue_of(flow(2)), 1);
    assert_eq!(bench.queue_of(flow(1)), 2);
    assert_eq!(bench.queue_of(flow(2)), 1);
}

#[test]
fn ideal_fair_queues_are_kept_until_the_fluid_system_has_served_them() {
    let mut bench = Bench::new(&per_flow(ideal_fair()), &hosts(2));
    // All of flow 1 is sent at once. The fluid system has then served only 500 B of flow 1, because it
    // serves flow 2 too. After two more packets, which flows 1 to 4 share, it has served all 1,000 B of
    // flow 1.
    for (number, packets) in [(1, 1), (2, 10)] {
        for _ in 0..packets {
            bench.queue_of(flow(number));
        }
    }
    assert_eq!(bench.depart(0).unwrap().0.flow_hash, 1);
    assert_eq!(bench.queue_of(flow(3)), 3);
    bench.depart(0);
    assert_eq!(bench.queue_of(flow(4)), 4);
    bench.depart(0);
    assert_eq!(bench.queue_of(flow(5)), 1);
}

#[test]
fn more_flows_than_queue_numbers_share() {
    let mut bench = Bench::new(&per_flow(drr(1_000)), &hosts(2));
    let mut arrive = |hash| {
        let packet = Packet { flow_hash: hash, wire_bytes: 100, ..Packet::default() };
        let id = bench.pool.insert(packet);
        let (pool, observer) = (&mut bench.pool, &mut bench.recorder);
        let mut moment = penstock_packet::Moment { now: Time::ZERO, pool, observer };
        bench.switch.on_arrival(&mut moment, id, 1, 0);
        bench.pool[id].queue
    };
    for number in 0..65_535u32 {
        assert_eq!(u32::from(arrive(number)), number + 1);
    }
    let shared = [70_000, 1 << 31, u32::MAX].map(&mut arrive);
    assert!(shared.iter().all(|&queue| queue > 0), "never the control queue");
    assert_eq!(arrive(70_000), shared[0]);
    bench.switch.verify(&bench.pool).unwrap();
    assert_eq!(bench.switch.port(0).counters.collisions, 3);
}

#[test]
fn flows_of_several_ports_do_not_meet() {
    let mut bench = Bench::new(&per_flow(drr(1_000)), &hosts(3));
    for egress in [0, 2] {
        let queues = [8, 9].map(|number| bench.queue_of(Flow { egress, ..flow(number) }));
        assert_eq!(queues, [1, 2]);
    }
}
