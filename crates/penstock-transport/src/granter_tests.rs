//! Grants stepped by hand: RTTbytes of 100 kB, packets of 1 kB, scheduled levels 2 to 3 (K = 2).

use alloc::vec::Vec;

use super::*;

const RTT: u64 = 100_000;

fn granter(overcommitment: u32) -> Granter {
    Granter::new(RTT, 1_000, overcommitment, 2)
}

/// Message `number` from host `source`. The slot of the message is its number.
fn message(number: u64, source: u32, size: u64) -> Message {
    Message { slot: number as u32, source, number, size }
}

/// The next packet of `message` arrives at host 0, which already has `before` bytes of the message.
/// Answers the grants that follow.
fn arrive(granter: &mut Granter, message: Message, before: u64) -> Vec<(u32, u64, u8)> {
    let after = (before + 1_000).min(message.size);
    granter.on_data(message, before, after);
    core::iter::from_fn(|| granter.take_grant())
        .map(|grant| (grant.slot, grant.offset, grant.level))
        .collect()
}

#[test]
fn a_message_of_rtt_bytes_is_not_granted() {
    let mut granter = granter(2);
    for packet in 0..100 {
        assert_eq!(arrive(&mut granter, message(0, 1, RTT), packet * 1_000), []);
    }
}

#[test]
fn a_message_of_rtt_bytes_or_less_takes_no_place_of_another() {
    for size in [RTT, RTT - 1, 1] {
        let mut granter = granter(1);
        arrive(&mut granter, message(0, 1, size), 0);
        assert_eq!(arrive(&mut granter, message(1, 2, 300_000), 0), [(1, 101_000, 2)]);
    }
}

#[test]
fn a_grant_ends_with_a_packet_or_with_the_message() {
    let mut granter = granter(1);
    let (odd, long) = (message(0, 1, 150_500), message(1, 2, 300_000));
    arrive(&mut granter, odd, 0);
    for packet in 0..100 {
        assert_eq!(arrive(&mut granter, long, packet * 1_000), []);
    }
    for packet in 1..50 {
        arrive(&mut granter, odd, packet * 1_000);
    }
    // The last 500 bytes of the first message make place for the other. 50,500 bytes of the first are on
    // their way, so 49,500 are free: 49 packets.
    assert_eq!(arrive(&mut granter, odd, 50_000), [(0, 150_500, 2), (1, 149_000, 2)]);
}

#[test]
fn every_packet_of_a_lone_message_brings_a_grant_of_one_at_the_lowest_level() {
    let mut granter = granter(2);
    let lone = message(0, 1, 150_500);
    for packet in 0..50 {
        let offset = RTT + (packet + 1) * 1_000;
        assert_eq!(arrive(&mut granter, lone, packet * 1_000), [(0, offset, 3)]);
    }
    assert_eq!(arrive(&mut granter, lone, 50_000), [(0, 150_500, 3)]);
    assert_eq!(arrive(&mut granter, lone, 51_000), []);
}

#[test]
fn the_shorter_of_two_gets_the_higher_level() {
    let mut granter = granter(2);
    let (long, short) = (message(0, 1, 500_000), message(1, 2, 300_000));
    assert_eq!(arrive(&mut granter, long, 0), [(0, 101_000, 3)]);
    assert_eq!(arrive(&mut granter, short, 0), [(1, 101_000, 2)]);
    assert_eq!(arrive(&mut granter, long, 1_000), [(0, 102_000, 3)]);
}

#[test]
fn a_third_waits_until_it_is_among_the_first_two() {
    let mut granter = granter(2);
    let (a, b, c) = (message(0, 1, 300_000), message(1, 2, 400_000), message(2, 3, 500_000));
    arrive(&mut granter, a, 0);
    arrive(&mut granter, b, 0);
    assert_eq!(arrive(&mut granter, c, 0), []);
    // A is granted to its end when 200 kB have arrived. Until then each packet of A brings one grant.
    for packet in 1..199 {
        assert_eq!(arrive(&mut granter, a, packet * 1_000).len(), 1);
    }
    // The last grant of A makes place for C. C gets the rest of two RTTbytes of scheduled bytes: 100 kB
    // of A and 1 kB of B are on their way.
    let grants = arrive(&mut granter, a, 199_000);
    assert_eq!(grants, [(0, 300_000, 2), (2, 101_000, 3)]);
}

#[test]
fn a_sender_has_one_active_message() {
    let mut granter = granter(2);
    let (first, second) = (message(0, 1, 300_000), message(1, 1, 350_000));
    assert_eq!(arrive(&mut granter, first, 0), [(0, 101_000, 3)]);
    assert_eq!(arrive(&mut granter, second, 0), []);
    assert_eq!(arrive(&mut granter, message(2, 2, 500_000), 0), [(2, 101_000, 3)]);
    // A message takes the place of another from the same sender once it has fewer bytes left.
    granter.on_data(second, 1_000, 100_000);
    assert_eq!(granter.take_grant(), Some(Grant { slot: 1, offset: 200_000, level: 2 }));
}

#[test]
fn senders_whose_numbers_are_equal_modulo_64_are_two() {
    let mut granter = granter(2);
    assert_eq!(arrive(&mut granter, message(0, 1, 300_000), 0), [(0, 101_000, 3)]);
    assert_eq!(arrive(&mut granter, message(1, 65, 350_000), 0), [(1, 101_000, 3)]);
}

#[test]
fn what_is_granted_to_a_host_is_bounded_by_overcommitment() {
    // 20 messages of 200 kB from 7 hosts; nothing scheduled arrives.
    let mut granter = granter(2);
    let mut granted = 0;
    for number in 0..20 {
        let message = message(number, 1 + (number % 7) as u32, 200_000);
        for packet in 0..100 {
            granter.on_data(message, packet * 1_000, (packet + 1) * 1_000);
            while let Some(grant) = granter.take_grant() {
                assert!(grant.offset <= (packet + 1) * 1_000 + RTT);
                granted += 1;
            }
        }
    }
    // The two shortest messages have all their 100 packets granted. No other message has a grant.
    assert_eq!(granted, 200);
    assert_eq!(granter.incoming, 2 * RTT);
}

#[test]
fn equal_messages_are_granted_in_the_order_of_their_numbers() {
    let mut granter = granter(1);
    arrive(&mut granter, message(7, 1, 300_000), 0);
    assert_eq!(arrive(&mut granter, message(3, 2, 300_000), 0), [(3, 101_000, 2)]);
}
