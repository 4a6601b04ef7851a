//! The paths of BFC's queue assignment pseudo-code (BFC sec. 3.3.1), stepped by hand.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use penstock_packet::{EmptyQueue, Signal};

use super::*;
use crate::assignment::Assignment;
use crate::fixture::{Bench, Flow, bfc, dynamic, flow, hop_rtts, hosts};

/// HRTT is 2 us, so that assignments stick for 4 us.
fn bench(config: DynamicConfig) -> Bench {
    Bench::new(&bfc(config, hop_rtts(1.0)), &hosts(4))
}

fn state(bench: &Bench) -> &Dynamic {
    let Assignment::Dynamic(table) = bench.switch.assignment() else { unreachable!() };
    table
}

/// Two flows of one flow-table entry at port 0.
fn colliding(bench: &Bench) -> (Flow, Flow) {
    let index = |number| state(bench).table_index(0, &packet(number));
    let other = (2..).find(|&number| index(number) == index(1)).unwrap();
    (flow(1), flow(other))
}

fn packet(number: u32) -> Packet {
    Packet { flow_hash: number, ..Packet::default() }
}

#[test]
fn every_flow_gets_an_empty_queue_while_there_is_one() {
    let mut bench = bench(dynamic(32));
    let queues: BTreeSet<u16> = (1..=31).map(|number| bench.queue_of(flow(number))).collect();
    // The port has 31 data queues besides the control queue. Two of 31 flows rarely share an entry of
    // the table.
    assert_eq!(queues, (1..=31).collect());
    assert_eq!(bench.switch.port(0).counters.collisions, 0);
}

#[test]
fn only_when_no_queue_is_empty_it_is_a_random_one() {
    let mut config = dynamic(8);
    config.table_factor = 10_000;
    let mut bench = bench(config);
    for number in 1..=7 {
        bench.queue_of(flow(number));
    }
    let mut counts = [0u32; 8];
    for number in 8..7_008 {
        counts[usize::from(bench.queue_of(flow(number)))] += 1;
    }
    assert_eq!(counts[0], 0, "the control queue is never assigned");
    // Uniform: 1,000 each, four standard deviations are 117.
    assert!(counts[1..].iter().all(|&count| (880..=1_120).contains(&count)), "{counts:?}");
}

/// BFC's table for `queues` queues, with a grace of one HRTT.
fn grace(queues: u32) -> DynamicConfig {
    DynamicConfig { grace_hop_rtts: 1.0, ..dynamic(queues) }
}

/// A port of 100 Gb/s with three data queues. Queue 1 has a packet; queues 2 and 3 are empty and
/// paused.
fn with_empty_paused_queues(config: DynamicConfig) -> Bench {
    let mut bench = bench(config);
    assert_eq!(bench.queue_of(flow(1)), 1);
    bench.signal(0, Signal::PauseQueue(2));
    bench.signal(0, Signal::PauseQueue(3));
    bench
}

#[test]
fn a_pause_that_is_older_than_its_flow_holds_after_a_hop_bdp_at_the_queues_share() {
    // One HRTT of 2 us at 100 Gb/s are 25,000 B; no other queue is active.
    let mut bench = with_empty_paused_queues(grace(4));
    bench.signal(0, Signal::PauseQueue(1));
    for _ in 0..30 {
        assert_eq!(bench.queue_of(flow(2)), 2);
    }
    assert_eq!(bench.drain(0).len(), 25, "the 25th packet uses it up");
    bench.signal(0, Signal::ResumeQueue(2));
    assert_eq!(bench.drain(0).len(), 5);
    // A pause of the flow's own holds it at once. The flow gets no new grace while it keeps its queue.
    bench.signal(0, Signal::PauseQueue(2));
    bench.admit(flow(2), 1_000);
    assert_eq!(bench.drain(0).len(), 0);
}

#[test]
fn the_grace_is_divided_by_the_active_queues_and_spares_one_packet_at_least() {
    let mut bench = bench(grace(6));
    for number in 1..=3 {
        bench.queue_of(flow(number));
    }
    bench.signal(0, Signal::PauseQueue(4));
    bench.signal(0, Signal::PauseQueue(5));
    for _ in 0..20 {
        assert_eq!(bench.queue_of(flow(4)), 4);
    }
    let left = bench.drain(0).into_iter().filter(|&hash| hash == 4).count();
    assert_eq!(left, 9, "25,000 B by three active queues are 8,333 B");
    bench.signal(0, Signal::ResumeQueue(4));
    assert_eq!(bench.drain(0).len(), 11);
    let mut bench = with_empty_paused_queues(DynamicConfig { grace_hop_rtts: 1e-6, ..grace(4) });
    bench.signal(0, Signal::PauseQueue(1));
    bench.queue_of(flow(2));
    bench.queue_of(flow(2));
    assert_eq!(bench.drain(0).len(), 1);
}

#[test]
fn a_new_pause_ends_a_grace_and_a_bitmap_does_not() {
    let mut bench = with_empty_paused_queues(grace(4));
    bench.signal(0, Signal::PauseQueue(1));
    for _ in 0..3 {
        bench.queue_of(flow(2));
    }
    bench.signal(0, Signal::QueueBitmap { epoch: 0, queues: 0b1110 });
    assert!(bench.depart(0).is_some());
    bench.signal(0, Signal::PauseQueue(2)); // after a resume that was lost
    assert!(bench.depart(0).is_none());
}

#[test]
fn without_a_grace_a_new_flow_waits() {
    let mut bench = with_empty_paused_queues(dynamic(4));
    assert_eq!(bench.queue_of(flow(2)), 2);
    assert_eq!(bench.drain(0), [1]);
    bench.signal(0, Signal::ResumeQueue(2));
    assert_eq!(bench.drain(0), [2]);
}

#[test]
fn a_queue_that_ran_empty_is_given_before_any_is_shared() {
    let mut bench = bench(dynamic(4));
    for number in 1..=3 {
        bench.queue_of(flow(number));
    }
    let freed = bench.depart(0).unwrap().0.queue;
    assert_eq!(bench.queue_of(flow(4)), freed);
}

#[test]
fn empty_queues_are_taken_in_rotation() {
    let mut bench = bench(dynamic(4));
    let mut queues = vec![];
    for number in 1..=6 {
        queues.push(bench.queue_of(flow(number)));
        bench.drain(0);
        bench.after(Time::from_us(5));
    }
    assert_eq!(queues, [1, 2, 3, 1, 2, 3]);
}

#[test]
fn a_flow_with_packets_keeps_its_queue_for_ever() {
    let mut bench = bench(dynamic(8));
    let queue = bench.queue_of(flow(1));
    bench.after(Time::from_ms(1));
    assert_eq!(bench.queue_of(flow(1)), queue);
    bench.depart(0);
    bench.after(Time::from_ms(1));
    assert_eq!(bench.queue_of(flow(1)), queue, "one packet is still there");
}

#[test]
fn an_assignment_sticks_for_two_hop_rtts_after_the_last_packet_left() {
    for (idle, sticks) in [(3_999, true), (4_000, true), (4_001, false)] {
        let mut bench = bench(dynamic(8));
        let queue = bench.queue_of(flow(1));
        // The time counts from the dequeue, not from the enqueue.
        bench.after(Time::from_us(100));
        bench.drain(0);
        bench.after(Time::from_ns(idle));
        assert_eq!(bench.queue_of(flow(1)) == queue, sticks, "{idle} ns");
    }
}

#[test]
fn an_enqueue_renews_the_assignment_too() {
    let mut bench = bench(dynamic(8));
    let queue = bench.queue_of(flow(1));
    for _ in 0..5 {
        bench.drain(0);
        bench.after(Time::from_us(3));
        assert_eq!(bench.queue_of(flow(1)), queue);
    }
}

#[test]
fn without_stickiness_a_flow_is_assigned_anew() {
    let mut config = dynamic(8);
    config.sticky_hop_rtts = 0.0;
    let mut bench = bench(config);
    let queue = bench.queue_of(flow(1));
    bench.drain(0);
    bench.after(Time::from_ps(1));
    assert_ne!(bench.queue_of(flow(1)), queue);
}

#[test]
fn a_sticky_queue_is_kept_even_if_another_flow_is_in_it_by_now() {
    let mut bench = bench(dynamic(2));
    let queue = bench.queue_of(flow(1));
    bench.drain(0);
    bench.queue_of(flow(2));
    assert_eq!(bench.queue_of(flow(1)), queue);
    assert_eq!(bench.switch.port(0).counters.collisions, 1);
}

#[test]
fn flows_of_one_table_entry_share_a_queue_though_others_are_empty() {
    let mut config = dynamic(8);
    config.table_factor = 1;
    let mut bench = bench(config);
    let (first, second) = colliding(&bench);
    let queue = bench.queue_of(first);
    assert_eq!(bench.queue_of(second), queue);
    assert_eq!(bench.switch.port(0).counters.collisions, 1);
    // The entry counts the packets of both flows. It is not free before both have left.
    bench.depart(0);
    bench.after(Time::from_ms(1));
    assert_eq!(bench.queue_of(first), queue);
    assert_eq!(bench.drain(0).len(), 2);
}

#[test]
fn an_entry_belongs_to_one_egress() {
    let mut bench = bench(dynamic(8));
    let elsewhere = Flow { egress: 2, ..flow(1) };
    assert_eq!(bench.queue_of(flow(1)), 1);
    bench.queue_of(flow(2));
    assert_eq!(bench.queue_of(elsewhere), 1, "a table of its own, a rotation of its own");
    let index = |egress| state(&bench).table_index(egress, &packet(1));
    assert_eq!(index(2) - index(0), 2 * 100 * 8, "the index includes the egress");
}

#[test]
fn the_table_has_its_size_for_each_port_and_spreads_flows_over_it() {
    let bench = bench(dynamic(32));
    let index = |number| state(&bench).table_index(3, &packet(number));
    let seen: BTreeSet<i64> = (0..100_000).map(index).collect();
    assert!(seen.iter().all(|index| (3 * 3_200..4 * 3_200).contains(index)));
    assert_eq!(seen.len(), 3_200, "each entry is used");
}

#[test]
fn labelled_flows_share_the_last_queue_which_no_other_flow_gets() {
    // Each class has an entry for labelled flows, and so few others that all flows but they share them.
    let config = DynamicConfig { incast_queue: true, table_factor: 1, ..dynamic(8) };
    let mut bench = bench(config);
    for number in 100..120 {
        assert_eq!(bench.queue_of(Flow { is_incast: true, ..flow(number) }), 7);
    }
    let mut queues = BTreeSet::new();
    for number in 1..=60 {
        queues.insert(bench.queue_of(flow(number)));
    }
    assert_eq!(queues, (1..=6).collect());
}

#[test]
fn without_the_option_the_label_means_nothing() {
    let mut bench = bench(dynamic(8));
    assert_eq!(bench.queue_of(Flow { is_incast: true, ..flow(1) }), 1);
    assert_eq!(bench.queue_of(Flow { is_incast: true, ..flow(2) }), 2);
}

#[test]
fn classes_have_queues_of_their_own() {
    for incast_queue in [false, true] {
        let config = DynamicConfig { classes: 2, incast_queue, table_factor: 1, ..dynamic(9) };
        let mut bench = bench(config);
        for class in 0..2 {
            let of_class = |number| Flow { class, ..flow(number + 100 * u32::from(class)) };
            let queues: BTreeSet<u16> = (1..=40).map(|n| bench.queue_of(of_class(n))).collect();
            let first = 1 + 4 * u16::from(class);
            let count = if incast_queue { 3 } else { 4 };
            assert_eq!(queues, (first..first + count).collect());
            if incast_queue {
                let labelled = Flow { is_incast: true, ..of_class(77) };
                assert_eq!(bench.queue_of(labelled), first + 3);
            }
        }
    }
}

#[test]
fn a_paused_queue_with_packets_is_not_given_to_a_new_flow() {
    let mut bench = bench(dynamic(4));
    let queue = bench.queue_of(flow(1));
    bench.signal(0, Signal::PauseQueue(queue));
    assert_ne!(bench.queue_of(flow(2)), queue);
    assert_ne!(bench.queue_of(flow(3)), queue);
}

#[test]
fn sampling_leaves_the_sizes_of_other_packets_alone() {
    let config = DynamicConfig { sampling: 0.5, ..dynamic(8) };
    let mut bench = bench(config);
    for _ in 0..1_000 {
        bench.queue_of(flow(1));
    }
    let table = state(&bench);
    let size = table.sizes(0);
    // Four standard deviations of a fair coin are 63.
    assert!((437..=563).contains(&size), "{size}");
    bench.drain(0);
    let table = state(&bench);
    assert_eq!(table.sizes(0), 0);
}

#[test]
fn a_packet_that_was_not_sampled_renews_the_assignment() {
    // App. A.8 samples the recirculation of departures. Every arrival is seen.
    let config = DynamicConfig { sampling: 1e-12, ..dynamic(8) };
    let mut bench = bench(config);
    let queues: Vec<u16> = (0..4)
        .map(|_| {
            bench.after(Time::from_us(3));
            let queue = bench.queue_of(flow(1));
            bench.drain(0);
            queue
        })
        .collect();
    assert_eq!(queues, [1; 4]);
}

#[test]
fn by_the_letter_a_pause_does_not_keep_a_queue_from_a_new_flow() {
    let mut bench = bench(dynamic(4));
    bench.signal(0, Signal::PauseQueue(1));
    assert_eq!([1, 2, 3].map(|number| bench.queue_of(flow(number))), [1, 2, 3]);
    assert_eq!(bench.drain(0), [2, 3], "flow 1 waits for packets of another flow");
    bench.signal(0, Signal::ResumeQueue(1));
    assert_eq!(bench.drain(0), [1]);
}

#[test]
fn an_unpaused_empty_queue_is_preferred_where_that_is_asked_for() {
    let mut bench = bench(DynamicConfig { empty_queue: EmptyQueue::Unpaused, ..dynamic(4) });
    bench.signal(0, Signal::PauseQueue(1));
    assert_eq!([1, 2, 3].map(|number| bench.queue_of(flow(number))), [2, 3, 1]);
    // A resume makes the queue open again.
    bench.signal(0, Signal::ResumeQueue(1));
    bench.drain(0);
    bench.signal(0, Signal::PauseQueue(2));
    bench.after(Time::from_us(9));
    assert_eq!([4, 5, 6].map(|number| bench.queue_of(flow(number))), [3, 1, 2]);
}

#[test]
fn an_empty_queue_that_is_paused_can_count_as_taken() {
    let mut bench = bench(DynamicConfig { empty_queue: EmptyQueue::UnpausedOnly, ..dynamic(3) });
    bench.signal(0, Signal::PauseQueue(1));
    assert_eq!(bench.queue_of(flow(1)), 2);
    // Queue 1 is empty, but no flow gets it alone: the next flows share a random queue.
    let shared: Vec<u16> = (2..40).map(|number| bench.queue_of(flow(number))).collect();
    assert!(shared.contains(&1) && shared.contains(&2), "{shared:?}");
    bench.signal(0, Signal::ResumeQueue(1));
    bench.drain(0);
    bench.after(Time::from_us(9));
    assert_eq!([50, 51].map(|number| bench.queue_of(flow(number))), [1, 2]);
}

#[test]
fn a_search_from_the_lowest_number_gives_the_first_queues_again() {
    for (search, expected) in [(QueueSearch::Rotating, 2), (QueueSearch::Lowest, 1)] {
        let mut bench = bench(DynamicConfig { search, ..dynamic(8) });
        assert_eq!(bench.queue_of(flow(1)), 1);
        bench.drain(0);
        assert_eq!(bench.queue_of(flow(2)), expected);
    }
}

/// Two classes at a port with three data queues. Queue 1 belongs to class 0 and queue 2 to class 1;
/// both may take queue 3.
fn sharing() -> DynamicConfig {
    DynamicConfig { classes: 2, classes_share: true, table_factor: 10_000, ..dynamic(4) }
}

fn of_class(number: u32, class: u8) -> Flow {
    Flow { class, ..flow(number) }
}

#[test]
fn classes_that_share_keep_a_queue_each_and_take_any_other() {
    let mut bench = bench(sharing());
    assert_eq!(bench.queue_of(of_class(1, 1)), 2);
    assert_eq!(bench.queue_of(of_class(2, 1)), 3, "the queue that nobody needs");
    assert_eq!(bench.queue_of(of_class(3, 0)), 1, "class 0 still has its own");
    assert_eq!(bench.queues(0)[3].class, 1);
    // Class 0 leaves first, whatever arrived first.
    assert_eq!(bench.drain(0)[0], 3);
}

#[test]
fn at_a_full_port_a_flow_joins_its_own_class_only() {
    let mut bench = bench(sharing());
    for (number, class) in [(1, 1), (2, 1), (3, 0)] {
        bench.queue_of(of_class(number, class));
    }
    let low: BTreeSet<u16> = (10..60).map(|number| bench.queue_of(of_class(number, 1))).collect();
    assert_eq!(low, [2, 3].into());
    let high: BTreeSet<u16> = (60..90).map(|number| bench.queue_of(of_class(number, 0))).collect();
    assert_eq!(high, [1].into());
}

#[test]
fn a_shared_queue_changes_its_class_when_it_is_empty() {
    let mut bench = bench(sharing());
    bench.queue_of(of_class(1, 1));
    assert_eq!(bench.queue_of(of_class(2, 1)), 3);
    bench.drain(0);
    bench.queue_of(of_class(3, 0));
    assert_eq!(bench.queue_of(of_class(4, 0)), 3);
    // Flow 2 returns before its assignment is stale, and does not join another class.
    assert_eq!(bench.queue_of(of_class(2, 1)), 2);
}

#[test]
fn a_flow_that_returns_keeps_a_queue_that_its_class_still_has() {
    let mut bench = bench(sharing());
    for number in [1, 2] {
        bench.queue_of(of_class(number, 1)); // in queues 2 and 3
    }
    bench.drain(0);
    // Flow 2 returns before its assignment is stale.
    assert_eq!(bench.queue_of(of_class(2, 1)), 3);
}

fn closest() -> DynamicConfig {
    let full_port = FullPort::ClosestRemaining;
    DynamicConfig { full_port, table_factor: 10_000, ..dynamic(4) }
}

#[test]
fn a_full_port_can_assign_by_the_nearest_remaining_size() {
    let mut bench = bench(closest());
    let sized = |number, remaining| Flow { remaining, ..flow(number) };
    for (number, remaining) in [(1, 5_000), (2, 200_000), (3, 9_000_000)] {
        bench.queue_of(sized(number, remaining));
    }
    assert_eq!(bench.queue_of(sized(4, 1_000)), 1);
    assert_eq!(bench.queue_of(sized(5, 4_000_000)), 2, "3.8 MB away, and 5 MB from the third");
    assert_eq!(bench.queue_of(sized(6, 5_000_000)), 2, "its last packet has 4 MB to go");
    assert_eq!(bench.queue_of(sized(7, 8_000_000)), 3);
    assert_eq!(bench.queue_of(sized(8, 900)), 1);
}

#[test]
fn the_nearest_size_counts_only_when_no_queue_is_empty() {
    let mut bench = bench(closest());
    let queues: Vec<u16> =
        (1..=3).map(|number| bench.queue_of(Flow { remaining: 7_000, ..flow(number) })).collect();
    assert_eq!(queues, [1, 2, 3]);
}
