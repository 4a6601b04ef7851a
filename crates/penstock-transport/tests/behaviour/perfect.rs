//! Perfect retransmission: every byte reaches the receiver once, whatever the switches drop.

use std::collections::VecDeque;

use penstock_transport::{Readiness, Receiver, Reply, Sender};
use penstock_units::Time;
use proptest::prelude::*;

use crate::{acknowledgement, host, line_rate, path, perfect, window};

#[test]
fn a_dropped_packet_is_sent_again_once_before_new_ones() {
    let host = host(line_rate(), perfect());
    let mut sender = Sender::new(4_500, &host, &path(), Time::ZERO);
    for _ in 0..3 {
        sender.send(Time::ZERO);
    }
    sender.on_switch_drop(Time::ZERO, 1_000, 1_000);
    assert_eq!((sender.in_flight(), sender.remaining_unsent()), (2_000, 2_500));
    let expected =
        [(1_000, 1_000, 3_500, true), (3_000, 1_000, 1_500, false), (4_000, 500, 500, false)];
    for (offset, payload, remaining, is_retransmission) in expected {
        let segment = sender.send(Time::ZERO);
        assert_eq!((segment.offset, segment.payload), (offset, payload));
        assert_eq!((segment.remaining, segment.is_retransmission), (remaining, is_retransmission));
    }
    assert_eq!(sender.readiness(Time::ZERO), Readiness::Idle);
    sender.on_switch_drop(Time::ZERO, 4_000, 500); // the short last packet
    assert_eq!(sender.send(Time::ZERO).payload, 500);
    assert_eq!(sender.retransmitted_packets(), 2);
}

#[test]
fn a_drop_frees_its_share_of_the_window() {
    let host = host(window(2_000), perfect());
    let mut sender = Sender::new(10_000, &host, &path(), Time::ZERO);
    sender.send(Time::ZERO);
    sender.send(Time::ZERO);
    assert_eq!(sender.readiness(Time::ZERO), Readiness::Blocked);
    sender.on_switch_drop(Time::ZERO, 0, 1_000);
    assert_eq!(sender.readiness(Time::ZERO), Readiness::Ready);
    assert!(sender.send(Time::ZERO).is_retransmission);
    assert_eq!(sender.readiness(Time::ZERO), Readiness::Blocked);
}

proptest! {
    #[test]
    fn every_byte_arrives_once_and_every_drop_costs_one_packet(
        size in 1u64..80_000,
        window_bytes in 1u64..20_000,
        mut drops in prop::collection::vec(any::<bool>(), 0..300),
        mut takes_newest in prop::collection::vec(any::<bool>(), 0..300),
    ) {
        let host = host(window(window_bytes), perfect());
        let mut sender = Sender::new(size, &host, &path(), Time::ZERO);
        let mut receiver = Receiver::new(&host, 0, &path(), 0.0);
        let mut received = vec![0u8; size as usize];
        let mut flying = VecDeque::new();
        let mut dropped = 0;
        let mut is_complete = false;
        while !is_complete {
            while sender.readiness(Time::ZERO) == Readiness::Ready {
                flying.push_back(sender.send(Time::ZERO));
            }
            let newest = takes_newest.pop().unwrap_or(false);
            let segment = if newest { flying.pop_back() } else { flying.pop_front() };
            let segment = segment.expect("a flow that is not complete has packets in flight");
            if drops.pop().unwrap_or(false) {
                dropped += 1;
                sender.on_switch_drop(Time::ZERO, segment.offset, segment.payload);
                continue;
            }
            let start = segment.offset as usize;
            for byte in &mut received[start..start + segment.payload as usize] {
                *byte += 1;
            }
            let reply = receiver.on_data(Time::ZERO, segment.offset, segment.payload);
            let Reply::Acknowledge { cumulative } = reply else { panic!("{reply:?}") };
            is_complete = sender.on_acknowledgement(Time::ZERO, &acknowledgement(cumulative));
        }
        prop_assert!(received.iter().all(|&times| times == 1));
        prop_assert_eq!((receiver.delivered(), sender.retransmitted_packets()), (size, dropped));
        prop_assert!(flying.is_empty());
    }
}
