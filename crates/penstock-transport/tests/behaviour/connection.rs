//! Flows that follow each other on an open connection.

use penstock_transport::recovery::FastRetransmitConfig;
use penstock_transport::{Acknowledgement, ControllerConfig, Readiness, RecoveryConfig, Sender};
use penstock_units::Time;

use crate::{acknowledgement, cubic, dctcp, fast_retransmit, host, new_reno, path};

/// A flow of so many packets on a connection.
fn sender(packets: u64, controller: &ControllerConfig) -> Sender {
    let host = host(controller.clone(), fast_retransmit());
    let mut sender = Sender::new(packets * 1_000, &host, &path(), Time::ZERO);
    sender.join_connection();
    sender
}

/// Sends all that may leave, and acknowledges it 8 us later, until the flow is complete. Answers when that
/// is.
fn complete(sender: &mut Sender, mut now: Time) -> Time {
    while !sender.is_complete() {
        let first = sender.acknowledged();
        while sender.readiness(now) == Readiness::Ready {
            sender.send(now);
        }
        now += Time::from_us(8);
        for packet in first / 1_000 + 1..=sender.next() / 1_000 {
            let ack = Acknowledgement {
                sent_at: now - Time::from_us(8),
                ..acknowledgement(packet * 1_000)
            };
            sender.on_acknowledgement(now, &ack);
        }
    }
    now
}

#[test]
fn a_flow_goes_on_with_the_window_of_the_one_before_and_counts_its_own_bytes() {
    for controller in [new_reno(10), cubic(10)] {
        let mut first = sender(30, &controller);
        let end = complete(&mut first, Time::ZERO);
        // 10 packets and 20 in two round trips; each acknowledgement in slow start adds a packet.
        assert_eq!((first.window(), end), (40_000, Time::from_us(16)));
        let mut second = sender(50, &controller);
        second.follow(&mut first, end);
        assert_eq!(
            (second.window(), second.size(), second.remaining_unsent()),
            (40_000, 50_000, 50_000)
        );
        assert_eq!((second.next(), second.acknowledged(), second.in_flight()), (0, 0, 0));
        let segment = second.send(end);
        assert_eq!((segment.offset, segment.payload, segment.remaining), (0, 1_000, 50_000));
        assert!(!segment.is_retransmission);
        let end = complete(&mut second, end);
        assert_eq!((second.size(), second.next(), second.acknowledged()), (50_000, 50_000, 50_000));
        let mut third = sender(1, &controller);
        third.follow(&mut second, end);
        assert!(third.window() > 60_000, "{}", third.window());
        complete(&mut third, end);
        assert_eq!(third.size(), 1_000);
    }
}

#[test]
fn a_loss_in_a_later_flow_is_found_and_sent_again() {
    let mut first = sender(20, &new_reno(10));
    let end = complete(&mut first, Time::ZERO);
    let mut second = sender(10, &new_reno(10));
    second.follow(&mut first, end);
    for _ in 0..10 {
        second.send(end);
    }
    let later = end + Time::from_us(8);
    second.on_acknowledgement(later, &acknowledgement(2_000));
    for _ in 0..3 {
        second.on_acknowledgement(later, &acknowledgement(2_000));
    }
    assert_eq!(second.readiness(later), Readiness::Ready);
    let segment = second.send(later);
    assert_eq!((segment.offset, segment.is_retransmission), (2_000, true));
    // The loss cuts the window of the connection to half of the 8 packets in flight.
    assert_eq!(second.window(), 4_000);
    assert!(second.on_acknowledgement(later, &acknowledgement(10_000)));
    assert_eq!(second.retransmitted_packets(), 1);
}

#[test]
fn the_timeout_of_a_connection_is_the_one_that_it_has_measured() {
    let recovery = RecoveryConfig::FastRetransmit(FastRetransmitConfig {
        duplicate_threshold: 3,
        initial_timeout: Time::from_ms(1),
        minimum_timeout: Time::from_us(1),
        maximum_timeout: Time::from_ms(1),
    });
    // Two round trips of 8 us give 8 + 4 * 3 us, and the last packet leaves after 8 us.
    let timeout = Time::from_us(20);
    let longest = Time::from_us(8) + timeout;
    for (start, window) in [(longest, 40_000), (longest + Time::from_ps(1), 10_000)] {
        let host = host(new_reno(10), recovery.clone());
        let mut flows = [30_000, 5_000].map(|size| {
            let mut sender = Sender::new(size, &host, &path(), Time::ZERO);
            sender.join_connection();
            sender
        });
        let [first, second] = &mut flows;
        complete(first, Time::ZERO);
        second.follow(first, start);
        assert_eq!(second.window(), window);
        second.send(start);
        assert_eq!(second.deadline(), start + timeout);
    }
}

#[test]
fn a_flow_waits_for_the_gap_behind_the_last_packet_of_the_connection() {
    let now = Time::from_us(9);
    let mut first = sender(2, &dctcp());
    first.send(Time::from_us(1));
    let marked = Acknowledgement { is_marked: true, ..acknowledgement(1_000) };
    first.on_acknowledgement(now, &marked); // half of 100 Gb/s
    first.send(now);
    first.on_acknowledgement(now, &acknowledgement(2_000));
    let mut second = sender(2, &dctcp());
    second.follow(&mut first, now);
    // 1048 B take 167.68 ns at half of the rate, and a little less after the last acknowledgement.
    assert_eq!(second.readiness(now), Readiness::At(first.next_available()));
    assert!(first.next_available() > now + Time::from_ns(160));
    let mut third = sender(2, &dctcp());
    let later = Time::from_us(20);
    second.send(later);
    second.send(later + Time::from_us(1));
    second.on_acknowledgement(later + Time::from_us(1), &acknowledgement(2_000));
    third.follow(&mut second, later + Time::from_us(9));
    assert_eq!(third.readiness(later + Time::from_us(9)), Readiness::Ready);
}

#[test]
fn after_a_timeout_without_packets_a_flow_begins_with_the_initial_window() {
    for controller in [new_reno(10), cubic(10)] {
        let mut first = sender(30, &controller);
        let end = complete(&mut first, Time::ZERO);
        let mut second = sender(1, &controller);
        second.follow(&mut first, end + Time::from_us(150));
        assert_eq!(second.window(), 40_000, "not longer than a timeout");
        let end = complete(&mut second, end + Time::from_us(150));
        let mut third = sender(1, &controller);
        third.follow(&mut second, end + Time::from_ms(2));
        assert_eq!(third.window(), 10_000); // RFC 5681 Sec. 4.1
    }
}
