//! Weighted round robin by the numbers: the paper's arithmetic, pauses, shares, and what a packet costs.

use crate::fixture::refusal::{PER_FLOW, SFQ, refused};
use alloc::vec;
use alloc::vec::Vec;
use serde_json::json;

use penstock_packet::{Packet, Signal};
use penstock_units::BitRate;
use proptest::prelude::*;

use super::*;
use crate::fixture::{Bench, Flow, flow, hosts, plain};
use crate::{AssignmentConfig, SchedulingConfig};

/// A switch with `assignment`, whose classes have `weights`.
fn bench_of(assignment: &str, weights: &[u32], quantum: u64) -> Bench {
    let assignment: AssignmentConfig = serde_json::from_str(assignment).unwrap();
    let scheduling =
        SchedulingConfig::Wrr(WrrConfig { weights: weights.into(), quantum: Bytes::new(quantum) });
    Bench::new(&SwitchConfig { assignment, scheduling, ..plain() }, &hosts(2))
}

/// A switch with one queue per class. The flow of a class has the number of the class.
fn bench(weights: &[u32], quantum: u64) -> Bench {
    bench_of(&format!(r#"{{"kind": "class", "classes": {}}}"#, weights.len()), weights, quantum)
}

fn admit(bench: &mut Bench, class: u8, packets: usize, bytes: u16) {
    for _ in 0..packets {
        bench.admit(Flow { class, ..flow(class.into()) }, bytes);
    }
}

/// The flows of the next packets.
fn sent(bench: &mut Bench, packets: usize) -> Vec<u32> {
    (0..packets).map(|_| bench.depart(0).unwrap().0.flow_hash).collect()
}

/// The number of packets of each flow among the next `packets`.
fn count<const FLOWS: usize>(bench: &mut Bench, packets: usize) -> [usize; FLOWS] {
    let sent = sent(bench, packets);
    core::array::from_fn(|number| sent.iter().filter(|&&flow| flow == number as u32).count())
}

#[test]
fn three_packets_of_one_class_go_with_one_of_the_other() {
    let mut bench = bench(&[3, 1], 1_000);
    admit(&mut bench, 0, 7, 1_000);
    admit(&mut bench, 1, 3, 1_000);
    // Class 0 earns 3,000 a turn, class 1 earns 1,000.
    assert_eq!(bench.drain(0), [0, 0, 0, 1, 0, 0, 0, 1, 0, 1]);
}

#[test]
fn deficits_carry_over_where_packets_do_not_fill_a_turn() {
    let mut bench = bench(&[3, 1], 500);
    admit(&mut bench, 0, 20, 1_000);
    admit(&mut bench, 1, 40, 200);
    // Class 0 earns 1,500: it has 1,500 and sends 1 (500 left), has 2,000 and sends 2 (none left).
    // Class 1 earns 500: it has 500 and sends 2 (100 left), has 600 and sends 3 (none left).
    let two_turns = [0, 1, 1, 0, 0, 1, 1, 1];
    assert_eq!(sent(&mut bench, 16), [two_turns, two_turns].concat());
}

#[test]
fn packets_larger_than_what_a_turn_earns_wait_for_enough_turns() {
    let mut bench = bench(&[1, 3], 400);
    admit(&mut bench, 0, 2, 1_000);
    admit(&mut bench, 1, 20, 600);
    // Class 0: 400, 800, 1,200 and sends (200 left), 600, 1,000 and sends. Class 1 earns 1,200: 2 packets.
    assert_eq!(sent(&mut bench, 10), [1, 1, 1, 1, 0, 1, 1, 1, 1, 0]);
}

#[test]
fn queues_of_a_class_take_turns_in_its_share() {
    let (mut wrr, mut port) = (wrr(&[2, 1], 1_000), Queues::new(&[0, 0, 1, 1]));
    for number in 1..=4 {
        for _ in 0..6 {
            port.join(&mut wrr, number, 1_000);
        }
    }
    assert_eq!(port.sent(&mut wrr, 12), [1, 2, 3, 1, 2, 4, 1, 2, 3, 1, 2, 4]);
    // A class has its share, whatever the number of its active queues.
    port.pause(&mut wrr, 1);
    assert_eq!(port.sent(&mut wrr, 3), [2, 2, 3]);
}

#[test]
fn the_turn_of_a_queue_goes_on_in_the_next_turn_of_its_class() {
    let (mut wrr, mut port) = (wrr(&[1, 1], 1_000), Queues::new(&[0, 0, 1]));
    for (number, bytes) in [(1, 600), (2, 600), (3, 1_000)] {
        for _ in 0..6 {
            port.join(&mut wrr, number, bytes);
        }
    }
    // Class 0 has 1,000: queue 1 sends, has 400 left, and it is the turn of queue 2; the class has 400.
    // 1,400: queue 2 sends, has 400 left; queue 1 has 1,400, sends, has 800 left; the class has 200.
    // 1,200: queue 1 is not at its end and sends, has 200 left; queue 2 has 1,400 and sends.
    assert_eq!(port.sent(&mut wrr, 8), [1, 3, 2, 1, 3, 1, 2, 3]);
}

#[test]
fn a_class_that_has_nothing_to_send_leaves_its_share_to_the_others() {
    let mut bench = bench(&[3, 1, 2], 1_000);
    for (class, packets) in [(0, 100), (2, 100)] {
        admit(&mut bench, class, packets, 1_000);
    }
    assert_eq!(count(&mut bench, 50), [30, 0, 20]);
    admit(&mut bench, 1, 100, 1_000);
    assert_eq!(count(&mut bench, 60), [30, 10, 20]);
    // One alone has all of the port: when the 40 and 60 of the others are sent, 30 of its own are.
    let rest = bench.drain(0);
    assert_eq!(rest.len(), 190);
    assert!(rest[130..].iter().all(|&class| class == 1));
}

#[test]
fn a_paused_class_earns_nothing() {
    let mut bench = bench(&[3, 1, 2], 1_000);
    for class in 0..3 {
        admit(&mut bench, class, 100, 1_000);
    }
    bench.signal(0, Signal::PauseClass(0));
    assert_eq!(count(&mut bench, 30), [0, 10, 20]);
    bench.signal(0, Signal::ResumeClass(0));
    // The class joins behind the others, without the turns that it has missed.
    assert_eq!(count(&mut bench, 60), [30, 10, 20]);
    bench.signal(0, Signal::PauseClass(1));
    bench.signal(0, Signal::PauseClass(2));
    assert_eq!(count(&mut bench, 10), [10, 0, 0]);
    bench.signal(0, Signal::PauseClass(0));
    assert!(bench.depart(0).is_none());
    bench.signal(0, Signal::ResumeClass(2));
    assert_eq!(count(&mut bench, 5), [0, 0, 5]);
}

#[test]
fn pausing_the_class_in_turn_passes_the_turn_on() {
    let mut bench = bench(&[3, 2, 1], 1_000);
    for class in 0..3 {
        admit(&mut bench, class, 6, 1_000);
    }
    assert_eq!(sent(&mut bench, 1), [0]);
    bench.signal(0, Signal::PauseClass(0));
    assert_eq!(sent(&mut bench, 1), [1]);
    // It has lost the 2,000 that were left of its turn, and is behind class 2.
    bench.signal(0, Signal::ResumeClass(0));
    assert_eq!(sent(&mut bench, 6), [1, 2, 0, 0, 0, 1]);
}

#[test]
fn pausing_a_class_that_waits_changes_nothing_for_the_others() {
    for paused in [1, 2] {
        let mut bench = bench(&[2, 1, 1], 1_000);
        for class in 0..3 {
            admit(&mut bench, class, 6, 1_000);
        }
        assert_eq!(sent(&mut bench, 1), [0]);
        bench.signal(0, Signal::PauseClass(paused));
        let other = 3 - u32::from(paused);
        assert_eq!(sent(&mut bench, 5), [0, other, 0, 0, other]);
    }
}

#[test]
fn a_class_that_becomes_active_comes_last_and_has_forgotten_its_deficit() {
    let mut bench = bench(&[1, 1, 1], 1_000);
    admit(&mut bench, 1, 1, 100);
    admit(&mut bench, 2, 4, 1_000);
    assert_eq!(sent(&mut bench, 1), [1]);
    // With the 900 that were left class 1 would send two of these in its turn; and it is behind class 2.
    admit(&mut bench, 0, 4, 1_000);
    admit(&mut bench, 1, 4, 950);
    assert_eq!(sent(&mut bench, 9), [2, 0, 1, 2, 0, 1, 2, 0, 1]);
}

#[test]
fn with_one_class_it_is_deficit_round_robin() {
    let mut bench = bench_of(r#"{"kind": "per-flow"}"#, &[5], 1_000);
    for (number, packets, bytes) in [(10, 3, 1_000), (11, 4, 600)] {
        for _ in 0..packets {
            bench.admit(flow(number), bytes);
        }
    }
    // An independent script computed this vector.
    assert_eq!(bench.drain(0), [10, 11, 10, 11, 11, 10, 11]);
}

#[test]
fn the_largest_shares_do_not_overflow() {
    let mut bench = bench(&[LARGEST_WEIGHT; 2], LARGEST_QUANTUM);
    admit(&mut bench, 0, 2, u16::MAX);
    admit(&mut bench, 1, 2, u16::MAX);
    assert_eq!(bench.drain(0), [0, 0, 1, 1]);
    const { assert!(LARGEST_WEIGHT as u64 * LARGEST_QUANTUM + u16::MAX as u64 <= u32::MAX as u64) };
}

/// A scheduler by itself.
fn wrr(weights: &[u32], quantum: u64) -> Wrr {
    let config = WrrConfig { weights: weights.into(), quantum: Bytes::new(quantum) };
    Wrr::new(&config, &Egress { node: 0, port: 0, rate: BitRate::from_gbps(100), packet: 1_048 })
}

/// The data queues of a port and their packets, without a port.
struct Queues {
    queues: Vec<DataQueue>,
    pool: PacketPool,
}

impl Queues {
    /// Queue `1 + i` serves class `classes[i]`.
    fn new(classes: &[u8]) -> Self {
        let of = |class: &u8| DataQueue { class: *class, ..DataQueue::default() };
        let queues = [&0].into_iter().chain(classes).map(of).collect();
        Queues { queues, pool: PacketPool::new(false) }
    }

    fn join(&mut self, wrr: &mut Wrr, number: u32, bytes: u16) {
        let id = self.pool.insert(Packet { wire_bytes: bytes, ..Packet::default() });
        let queue = &mut self.queues[number as usize];
        queue.packets.push(&mut self.pool, id);
        if !queue.is_active {
            queue.is_active = true;
            wrr.activate(&mut self.queues, number, &self.pool);
        }
    }

    /// The queue that sends, and the bytes that it sends.
    fn send(&mut self, wrr: &mut Wrr) -> (u32, u32) {
        let number = wrr.select(Time::ZERO, &mut self.queues, &self.pool);
        let queue = &mut self.queues[number as usize];
        let id = queue.packets.pop(&self.pool).unwrap();
        let bytes = u32::from(self.pool[id].wire_bytes);
        self.pool.remove(id);
        wrr.charge(queue, bytes);
        if queue.packets.is_empty() {
            self.pause(wrr, number);
        }
        (number, bytes)
    }

    /// The queues that send the next packets.
    fn sent(&mut self, wrr: &mut Wrr, packets: usize) -> Vec<u32> {
        (0..packets).map(|_| self.send(wrr).0).collect()
    }

    fn pause(&mut self, wrr: &mut Wrr, number: u32) {
        self.queues[number as usize].is_active = false;
        wrr.deactivate(&mut self.queues, number);
    }
}

/// The largest packet of the random sequences.
const MOST: i64 = 1_500;

proptest! {
    /// Classes that stay active have sent what they earned to within a packet whenever one of their
    /// turns is over. At any time they differ by at most two packets and the least earning, each
    /// divided by its weight relative to the least (Shreedhar and Varghese).
    #[test]
    fn shares_are_those_of_the_weights_to_within_a_packet(
        weights in proptest::collection::vec(1u32..10, 2..9),
        quantum in prop_oneof![Just(40), 500u32..3_000],
        sizes in proptest::collection::vec(64u16..=MOST as u16, 400),
    ) {
        let classes: Vec<u8> = (0..weights.len() as u8).flat_map(|class| [class, class]).collect();
        let (mut wrr, mut port) = (wrr(&weights, quantum.into()), Queues::new(&classes));
        let mut sizes = sizes.into_iter().cycle();
        let numbers = 1..=classes.len() as u32;
        for number in numbers.clone().chain(numbers) {
            port.join(&mut wrr, number, sizes.next().unwrap());
        }
        let least = *weights.iter().min().unwrap();
        let mut sent = vec![0i64; weights.len()];
        for _ in 0..400 {
            let (number, bytes) = port.send(&mut wrr);
            let class = usize::from(classes[number as usize - 1]);
            sent[class] += i64::from(bytes);
            port.join(&mut wrr, number, sizes.next().unwrap());
            let relative = |class: usize| sent[class] * i64::from(least) / i64::from(weights[class]);
            let shares = (0..weights.len()).map(relative);
            let spread = shares.clone().max().unwrap() - shares.min().unwrap();
            prop_assert!(spread <= 2 * MOST + i64::from(quantum * least) + 1, "{sent:?}");
            for class in (0..weights.len()).filter(|&class| class != wrr.current()) {
                let left = i64::from(wrr.deficits[class]);
                let turns = (sent[class] + left) / i64::from(wrr.earnings[class]);
                let earned = turns * i64::from(wrr.earnings[class]);
                prop_assert_eq!(sent[class] + left, earned, "nothing earned is lost");
                prop_assert!((0..MOST).contains(&left));
            }
        }
    }

    /// With a quantum of a full packet, at most one class gets its turn for a packet, and one queue in
    /// each of two classes.
    #[test]
    fn the_work_for_a_packet_is_constant(
        weights in proptest::collection::vec(1u32..10, 1..9),
        packets in proptest::collection::vec((0u32..16, 64u16..=MOST as u16), 1..100),
    ) {
        let classes: Vec<u8> = (0..16).map(|queue| (queue % weights.len()) as u8).collect();
        let (mut wrr, mut port) = (wrr(&weights, MOST as u64), Queues::new(&classes));
        for &(queue, bytes) in &packets {
            port.join(&mut wrr, 1 + queue, bytes);
        }
        for _ in packets {
            let held = |wrr: &Wrr, port: &Queues| {
                let of_queues = port.queues.iter().map(|queue| queue.deficit).sum::<u32>();
                (wrr.deficits.iter().sum::<u32>(), of_queues)
            };
            let before = held(&wrr, &port);
            let number = wrr.select(Time::ZERO, &mut port.queues, &port.pool);
            let class = usize::from(port.queues[number as usize].class);
            let after = held(&wrr, &port);
            prop_assert!([0, wrr.earnings[class]].contains(&(after.0 - before.0)));
            // A queue of the class whose turn is over may have got its turn, too.
            prop_assert!(after.1 - before.1 <= 2 * MOST as u32);
            port.send(&mut wrr);
        }
        prop_assert_eq!(port.pool.live(), 0);
    }
}

#[test]
fn every_class_has_a_weight() {
    let classes = |weights: &[u32], classes: u32| {
        let wrr = ("scheduling", r#"{"kind": "wrr", "weights": [1], "quantum": 1048}"#);
        let fields =
            [("/scheduling/weights", json!(weights)), ("/assignment/classes", json!(classes))];
        refused(&[SFQ, wrr], &fields)
    };
    assert!(classes(&[3, 1], 2).is_empty() && classes(&[3, 1, 1], 2).is_empty());
    let expected = "scheduling.weights is a list of 2; the stochastic assignment has 3 classes; write a \
                    weight for each";
    assert_eq!(classes(&[3, 1], 3), [expected]);
    assert_eq!(classes(&[], 3), ["scheduling.weights is a list of 0; write 1 to 8"]);
    assert_eq!(classes(&[1; 9], 8), ["scheduling.weights is a list of 9; write 1 to 8"]);
    assert_eq!(classes(&[1, 0], 2), ["scheduling.weights[1] is 0; write 1 to 1000"]);
    assert_eq!(classes(&[1_001], 2), ["scheduling.weights[0] is 1001; write 1 to 1000"]);
    assert!(classes(&[1, 1_000], 2).is_empty());
    let wrr = ("scheduling", r#"{"kind": "wrr", "weights": [1], "quantum": 1048}"#);
    assert!(refused(&[PER_FLOW, wrr], &[]).is_empty());
    let quantum = |quantum| refused(&[wrr], &[("/scheduling/quantum", json!(quantum))]);
    assert!(quantum(0).is_empty() && quantum(1 << 20).is_empty());
    assert_eq!(quantum(2_000_000), ["scheduling.quantum is 2 MB; write 0 B to 1 MiB"]);
}
