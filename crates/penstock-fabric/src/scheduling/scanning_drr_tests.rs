//! Scanning deficit round robin by the queues' numbers, over queues that a test fills by hand.

use crate::fixture::refusal::{SCANNING, SFQ, refused};
use alloc::vec;
use alloc::vec::Vec;

use penstock_packet::Packet;
use penstock_units::BitRate;

use super::*;

/// Four data queues with a scheduler of some quantum.
struct Bench {
    scheduler: ScanningDrr,
    queues: Vec<DataQueue>,
    pool: PacketPool,
}

impl Bench {
    fn new(quantum: u32) -> Self {
        let mut queues = vec![];
        queues.resize_with(5, DataQueue::default);
        let config = ScanningDrrConfig { quantum: Bytes::new(quantum.into()) };
        let scheduler = ScanningDrr::new(
            &config,
            &Egress { node: 0, port: 0, rate: BitRate::from_gbps(100), packet: 1_048 },
        );
        Bench { scheduler, queues, pool: PacketPool::new(false) }
    }

    fn join(&mut self, number: usize, bytes: u16) {
        let id = self.pool.insert(Packet { wire_bytes: bytes, ..Packet::default() });
        let was_empty = self.queues[number].packets.is_empty();
        self.queues[number].packets.push(&mut self.pool, id);
        if was_empty {
            self.queues[number].is_active = true;
            self.scheduler.activate(&mut self.queues, number as u32, &self.pool);
        }
    }

    /// The queue that sends next.
    fn send(&mut self) -> u32 {
        let number = self.scheduler.select(Time::ZERO, &mut self.queues, &self.pool);
        let queue = &mut self.queues[number as usize];
        let id = queue.packets.pop(&self.pool).unwrap();
        self.scheduler.charge(queue, u32::from(self.pool[id].wire_bytes));
        self.pool.remove(id);
        if queue.packets.is_empty() {
            queue.is_active = false;
            self.scheduler.deactivate(&mut self.queues, number);
        }
        number
    }
}

#[test]
fn with_a_huge_quantum_queues_are_drained_one_after_the_other() {
    let mut bench = Bench::new(1 << 20);
    for number in [3, 2, 2, 4] {
        bench.join(number, 1_000);
    }
    assert_eq!(bench.send(), 2);
    bench.join(1, 1_000); // it has been passed: the last
    bench.join(3, 1_000);
    assert_eq!([(); 4].map(|()| bench.send()), [2, 3, 3, 4]);
    assert_eq!(bench.send(), 1);
}

#[test]
fn a_queue_that_has_emptied_waits_for_all_others() {
    let mut bench = Bench::new(1 << 20);
    for number in [1, 2, 3] {
        bench.join(number, 1_000);
    }
    assert_eq!(bench.send(), 1);
    bench.join(1, 1_000); // before the next packet is chosen, but too late
    assert_eq!([(); 3].map(|()| bench.send()), [2, 3, 1]);
}

#[test]
fn a_pause_does_not_end_a_turn() {
    let mut bench = Bench::new(1 << 20);
    for number in [1, 1, 2] {
        bench.join(number, 1_000);
    }
    assert_eq!(bench.send(), 1);
    for number in [1, 2] {
        bench.queues[number].is_active = false;
        bench.scheduler.deactivate(&mut bench.queues, number as u32);
    }
    for number in [1, 2] {
        bench.queues[number].is_active = true;
        bench.scheduler.activate(&mut bench.queues, number as u32, &bench.pool);
    }
    assert_eq!([(); 2].map(|()| bench.send()), [1, 2]);
}

#[test]
fn a_small_quantum_gives_turns_and_deficits_carry_over() {
    let mut bench = Bench::new(600);
    for number in [1, 1, 2, 2] {
        bench.join(number, 1_000);
    }
    // Turns: 1 has 600; 2 has 600; 1 has 1,200 and sends; 2 has 1,200 and sends; 1 has 800; 2 has 800;
    // 1 has 1,400 and sends, so does 2.
    assert_eq!([(); 4].map(|()| bench.send()), [1, 2, 1, 2]);
    assert!(bench.queues.iter().all(|queue| queue.deficit == 0));
    // A deficit that just covers a packet is enough.
    bench.join(1, 600);
    bench.join(2, 100);
    assert_eq!([(); 2].map(|()| bench.send()), [1, 2]);
}

#[test]
fn a_paused_queue_earns_nothing_while_others_have_turns() {
    let mut bench = Bench::new(1_000);
    for number in [1, 2, 3, 1, 3] {
        bench.join(number, 1_000);
    }
    bench.queues[2].is_active = false;
    bench.scheduler.deactivate(&mut bench.queues, 2);
    assert_eq!([(); 4].map(|()| bench.send()), [1, 3, 1, 3]);
    assert_eq!(bench.queues[2].deficit, 0);
}

#[test]
fn it_serves_rounds() {
    let expected = "scheduling.kind is scanning-drr; the stochastic assignment knows no rounds; use \
                    assignment \"rounds\"";
    assert_eq!(refused(&[SFQ, SCANNING], &[]), [expected]);
}
