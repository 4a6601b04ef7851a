//! Selective repeat: what a loss costs.

use penstock_transport::Readiness;
use penstock_units::Time;

use crate::pair::Pair;
use crate::{line_rate, path, selective_repeat, window};

/// The cost of losses among twenty packets in one window. Packets at `losses` are lost, once for each
/// time that they are listed. Answers when the flow was complete (us), the packets sent again, and the
/// timeouts.
fn cost(losses: &[u64]) -> (u64, u32, u32) {
    let mut pair = Pair::new(20_000, window(20_000), selective_repeat());
    pair.losses = losses.iter().map(|packet| packet * 1_000).collect();
    pair.run();
    let completed_at = pair.completed_at.unwrap().as_ps() / 1_000_000;
    (completed_at, pair.sender.retransmitted_packets(), pair.sender.timeouts())
}

#[test]
fn nothing_is_sent_twice_when_nothing_is_lost() {
    assert_eq!(cost(&[]), (8, 0, 0));
}

#[test]
fn any_losses_before_the_last_packet_cost_a_round_trip_and_a_packet_each() {
    assert_eq!(cost(&[5]), (16, 1, 0));
    assert_eq!(cost(&[0, 1, 5, 9, 18]), (16, 5, 0));
}

#[test]
fn the_loss_of_the_last_packets_costs_the_low_timeout() {
    // Progress at 8 us starts the timer. The flow completes 100 us and a round trip later.
    assert_eq!(cost(&[19]), (8 + 100 + 8, 1, 1));
    assert_eq!(cost(&[17, 18, 19]), (8 + 100 + 8, 3, 1));
}

#[test]
fn the_loss_of_a_long_tail_or_of_a_retransmission_costs_the_high_timeout() {
    assert_eq!(cost(&[16, 17, 18, 19]), (8 + 320 + 8, 4, 1));
    assert_eq!(cost(&[5, 5]), (8 + 320 + 8, 2, 1));
}

#[test]
fn a_flow_at_line_rate_has_one_bandwidth_delay_product_outstanding() {
    let mut pair = Pair::new(1_000_000, line_rate(), selective_repeat());
    let packets = path().bdp.get() / 1_000;
    for _ in 0..packets {
        pair.sender.send(Time::ZERO);
    }
    assert_eq!(pair.sender.readiness(Time::ZERO), Readiness::Blocked);
}
