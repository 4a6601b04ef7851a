//! NewReno's recovery: what a loss costs.

use penstock_transport::ControllerConfig;

use crate::pair::Pair;
use crate::{fast_retransmit, new_reno, window};

/// The cost of losses in a flow of `packets` packets within a window of twenty. Packets at `losses` are
/// lost, once for each time that they are listed. Answers when the flow was complete (us), the packets
/// sent again, and the timeouts.
fn cost(packets: u64, controller: ControllerConfig, losses: &[u64]) -> (u64, u32, u32) {
    let mut pair = Pair::new(packets * 1_000, controller, fast_retransmit());
    pair.losses = losses.iter().map(|packet| packet * 1_000).collect();
    pair.run();
    let completed_at = pair.completed_at.unwrap().as_ps() / 1_000_000;
    (completed_at, pair.sender.retransmitted_packets(), pair.sender.timeouts())
}

#[test]
fn nothing_is_sent_twice_when_nothing_is_lost() {
    assert_eq!(cost(20, window(20_000), &[]), (8, 0, 0));
}

#[test]
fn so_many_losses_in_a_window_cost_so_many_round_trips() {
    let losses = [2, 5, 6, 11];
    for count in 0..=losses.len() {
        let round_trips = count as u64;
        let expected = (8 + 8 * round_trips, count as u32, 0);
        assert_eq!(cost(20, window(20_000), &losses[..count]), expected);
        // The result is the same with NewReno's own window: the duplicates of a window let new packets
        // out.
        assert_eq!(cost(20, new_reno(20), &losses[..count]), expected);
    }
}

#[test]
fn the_loss_of_the_last_packet_or_of_a_retransmission_costs_a_timeout() {
    // Progress at 8 us starts the timer. The flow completes 200 us and a round trip later.
    assert_eq!(cost(20, window(20_000), &[19]), (8 + 200 + 8, 1, 1));
    let (time, _, timeouts) = cost(20, window(20_000), &[5, 5]);
    assert_eq!((time, timeouts), (8 + 200 + 8, 1));
}

#[test]
fn too_few_duplicates_mean_a_timeout() {
    assert_eq!(cost(20, window(20_000), &[16]), (16, 1, 0)); // three packets behind it
    let (time, _, timeouts) = cost(20, window(20_000), &[17]);
    assert_eq!((time, timeouts), (8 + 200 + 8, 1));
}

#[test]
fn slow_start_takes_as_many_rounds_as_its_doubling_says() {
    // m packets from a window of w take ceil(log2(1 + m / w)) rounds (sec. 4.5).
    for (packets, rounds) in [(1, 1), (10, 1), (11, 2), (30, 2), (31, 3), (70, 3), (71, 4)] {
        assert_eq!(cost(packets, new_reno(10), &[]), (8 * rounds, 0, 0), "{packets} packets");
    }
}
