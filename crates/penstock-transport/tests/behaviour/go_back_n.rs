//! Go-Back-N: what a loss costs.

use crate::pair::{Fate, Pair};
use crate::{go_back_n, line_rate, window};

/// A flow at line rate after a run. Its packets have `fates`; the last entry is for the first packet.
fn run(size: u64, fates: Vec<Fate>) -> Pair {
    let mut pair = Pair::new(size, line_rate(), go_back_n());
    pair.fates = fates;
    pair.run();
    assert!(pair.completed_at.is_some());
    pair
}

#[test]
fn nothing_is_sent_twice_when_nothing_is_lost() {
    let mut pair = Pair::new(50_500, window(10_000), go_back_n());
    pair.run();
    assert!(pair.completed_at.is_some());
    assert_eq!((pair.sender.retransmitted_packets(), pair.sender.timeouts()), (0, 0));
}

#[test]
fn the_loss_of_the_last_packet_costs_one_timeout() {
    let pair = run(1_000, vec![None]);
    assert_eq!((pair.sender.retransmitted_packets(), pair.sender.timeouts()), (1, 1));
}

#[test]
fn the_loss_of_the_last_acknowledgement_costs_one_duplicate() {
    let pair = run(1_000, vec![None, Some(4)]);
    assert_eq!((pair.receiver.delivered(), pair.sender.retransmitted_packets()), (1_000, 1));
}

#[test]
fn a_loss_in_the_middle_is_repaired_without_a_timeout() {
    let pair = run(5_000, vec![None, Some(4)]);
    assert_eq!((pair.sender.retransmitted_packets(), pair.sender.timeouts()), (4, 0));
}
