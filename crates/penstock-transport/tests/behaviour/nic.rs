//! Which flow of a NIC sends next, and what pauses do.

use penstock_packet::EmptyQueue;
use penstock_packet::epochs::epoch_of;
use penstock_transport::{
    Acknowledgement, ControllerConfig, HostConfig, Nic, NicConfig, NicScheduling, Sender,
};
use penstock_units::random::Pcg32;
use penstock_units::{Fidelity, Problems, Time};

use crate::{acknowledgement, dctcp, go_back_n, host, line_rate, path, window};

/// A NIC with its flows, stepped by hand.
struct Host {
    nic: Nic,
    flows: Vec<Sender>,
    rng: Pcg32,
    now: Time,
    config: HostConfig,
}

impl Host {
    fn new(nic: NicConfig, classes: u32) -> Self {
        let config = HostConfig { nic, ..host(line_rate(), go_back_n()) };
        Host {
            nic: Nic::new(&config.nic, classes, Fidelity::Exact),
            flows: Vec::new(),
            rng: Pcg32::new(1, 2),
            now: Time::ZERO,
            config,
        }
    }

    fn start(&mut self, size: u64, class: u8, controller: ControllerConfig) -> u32 {
        let slot = self.flows.len() as u32;
        self.config.controller = controller;
        self.flows.push(Sender::new(size, &self.config, &path(), self.now));
        self.nic.start(slot, (class, u64::from(slot)), &mut self.flows, &mut self.rng);
        slot
    }

    fn start_many(&mut self, count: usize) {
        for _ in 0..count {
            self.start(0, 0, line_rate());
        }
    }

    /// Sends `count` packets now, or as many as can be sent. Answers the flow of each packet.
    fn send(&mut self, count: usize) -> Vec<u32> {
        let mut sent = Vec::new();
        while sent.len() < count {
            let Some(slot) = self.nic.next(self.now, &mut self.flows) else {
                break;
            };
            self.flows[slot as usize].send(self.now);
            self.nic.after_send(slot, self.now, &mut self.flows);
            sent.push(slot);
        }
        sent
    }

    fn wake_at(&self) -> Option<Time> {
        self.nic.wake_at(self.now, &self.flows)
    }

    fn acknowledge(&mut self, slot: u32, ack: &Acknowledgement) {
        self.flows[slot as usize].on_acknowledgement(self.now, ack);
        self.nic.on_change(slot, self.now, &mut self.flows, &mut self.rng);
    }
}

fn nic(queues: u32, scheduling: NicScheduling) -> NicConfig {
    NicConfig { queues, reacts: true, empty_queue: EmptyQueue::Any, scheduling }
}

const ROUND_ROBIN: NicScheduling = NicScheduling::RoundRobin;

#[test]
fn flows_send_in_turn_a_packet_each() {
    let mut host = Host::new(nic(0, ROUND_ROBIN), 1);
    host.start_many(3);
    assert_eq!(host.send(4), [0, 1, 2, 0]);
    host.start_many(1);
    assert_eq!(host.send(5), [1, 2, 0, 3, 1]);
    host.nic.finish(2, &mut host.flows);
    assert_eq!(host.send(4), [0, 3, 1, 0]);
}

#[test]
fn next_answers_the_same_until_a_packet_is_sent() {
    let mut host = Host::new(nic(0, ROUND_ROBIN), 1);
    host.start_many(2);
    for _ in 0..3 {
        assert_eq!(host.nic.next(host.now, &mut host.flows), Some(0));
    }
}

#[test]
fn srf_serves_the_flow_with_the_fewest_bytes_left() {
    let mut host = Host::new(nic(0, NicScheduling::Srf), 1);
    for size in [5_000, 3_000, 0, 4_000] {
        host.start(size, 0, line_rate());
    }
    assert_eq!(host.send(1), [1]);
    host.start(1_500, 0, line_rate());
    assert_eq!(host.send(20)[..13], [4, 4, 1, 1, 3, 3, 3, 3, 0, 0, 0, 0, 0]);
    let nack = Acknowledgement { is_negative: true, ..acknowledgement(1_000) };
    host.acknowledge(3, &nack); // rewinds, so it has bytes to send again
    assert_eq!(host.send(4), [3, 3, 3, 2]);
}

#[test]
fn the_lowest_class_goes_first() {
    let mut host = Host::new(nic(0, ROUND_ROBIN), 2);
    host.start(0, 1, line_rate());
    host.start(2_000, 0, line_rate());
    assert_eq!(host.send(4), [1, 1, 0, 0]);
}

#[test]
fn a_blocked_flow_returns_with_its_acknowledgement() {
    let mut host = Host::new(nic(0, ROUND_ROBIN), 1);
    host.start(0, 0, window(2_000));
    host.start(0, 0, window(1_000));
    assert_eq!(host.send(9), [0, 1, 0]);
    assert!(!host.nic.has_ready());
    host.acknowledge(1, &acknowledgement(1_000));
    assert!(host.nic.has_ready());
    assert_eq!(host.send(9), [1]);
    host.acknowledge(0, &acknowledgement(1_000));
    host.acknowledge(0, &acknowledgement(2_000));
    assert_eq!(host.send(9), [0, 0]);
}

#[test]
fn a_paced_flow_returns_when_its_gap_is_over() {
    let mut host = Host::new(nic(0, ROUND_ROBIN), 1);
    host.start(0, 0, dctcp());
    host.send(2);
    let marked = Acknowledgement { is_marked: true, ..acknowledgement(1_000) };
    host.acknowledge(0, &marked); // 50 Gb/s: 167.68 ns per packet
    let gap = Time::from_ps(167_680);
    assert_eq!((host.send(1), host.wake_at()), (vec![], Some(gap)));
    host.now = gap;
    assert_eq!(host.send(2), [0]);
    let marked = Acknowledgement { is_marked: true, ..acknowledgement(3_000) };
    host.acknowledge(0, &marked); // 25 Gb/s: the gap that is pending doubles
    assert_eq!(host.wake_at(), Some(gap * 3));
    host.nic.finish(0, &mut host.flows);
    assert_eq!(host.wake_at(), None);
}

#[test]
fn flows_of_a_paused_queue_wait_and_return_in_their_order() {
    let mut host = Host::new(nic(3, ROUND_ROBIN), 1);
    host.start_many(6); // more flows than the two data queues
    let queues: Vec<u16> = host.flows.iter().map(Sender::queue).collect();
    assert_eq!(queues[..2], [1, 2]);
    let of = |queue| (0..6).filter(|&slot| queues[slot as usize] == queue).collect::<Vec<u32>>();
    assert!(of(1).len() + of(2).len() == 6);
    host.nic.pause_queue(1);
    assert!(host.nic.is_queue_paused(1));
    let sent = host.send(of(2).len());
    assert_eq!(sent, of(2));
    host.nic.pause_queue(2);
    assert_eq!(host.send(9), [0u32; 0]);
    host.nic.resume_queue(1, &mut host.flows);
    assert_eq!(host.send(of(1).len()), of(1));
    host.nic.resume_queue(2, &mut host.flows);
    let mut sent = host.send(6);
    sent.sort_unstable();
    assert_eq!(sent, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_bitmap_pauses_and_resumes_many_queues_but_never_the_control_queue() {
    let mut host = Host::new(nic(5, ROUND_ROBIN), 1);
    host.start_many(4);
    host.nic.set_paused_queues((0, 0b01011), &mut host.flows);
    assert!(!host.nic.is_queue_paused(0));
    assert_eq!(host.send(4), [1, 3, 1, 3]);
    host.nic.set_paused_queues((0, 0b10100), &mut host.flows);
    assert_eq!(host.send(4), [0, 2, 0, 2]);
    host.nic.pause_queue(0);
    host.nic.set_paused_queues((0, 0), &mut host.flows);
    let mut sent = host.send(4);
    sent.sort_unstable();
    assert_eq!(sent, [0, 1, 2, 3]);
}

#[test]
fn a_parked_flow_can_finish_and_its_queue_is_free_again() {
    let mut host = Host::new(nic(3, ROUND_ROBIN), 1);
    host.start_many(2);
    host.nic.pause_queue(1);
    assert_eq!(host.send(2), [1, 1]);
    host.acknowledge(0, &acknowledgement(0));
    host.nic.finish(0, &mut host.flows);
    host.nic.resume_queue(1, &mut host.flows);
    assert_eq!(host.send(2), [1, 1]);
    let slot = host.start(0, 0, line_rate());
    assert_eq!(host.flows[slot as usize].queue(), 1);
}

#[test]
fn a_flow_without_anything_to_send_has_no_queue_and_takes_one_to_send_again() {
    let mut host = Host::new(nic(4, ROUND_ROBIN), 1);
    let queue = |host: &Host, slot: u32| host.flows[slot as usize].queue();
    let short = host.start(1_000, 0, line_rate());
    assert_eq!(queue(&host, short), 1);
    host.send(1);
    host.acknowledge(short, &acknowledgement(0)); // nothing to send: the flow takes no queue
    let others = [2, 3, 1].map(|expected| {
        let slot = host.start(0, 0, line_rate());
        assert_eq!(queue(&host, slot), expected);
        slot
    });
    host.nic.finish(others[0], &mut host.flows);
    assert!(host.flows[short as usize].on_deadline(Time::from_us(100)));
    host.nic.on_change(short, host.now, &mut host.flows, &mut host.rng);
    assert_eq!(queue(&host, short), 2, "the only queue without a flow");
    host.nic.finish(short, &mut host.flows); // the packet had arrived after all
    let last = host.start(0, 0, line_rate());
    assert_eq!(queue(&host, last), 2);
}

#[test]
fn a_queue_without_credit_waits_also_at_a_nic_that_does_not_react() {
    for reacts in [true, false] {
        let mut host = Host::new(NicConfig { reacts, ..nic(3, ROUND_ROBIN) }, 1);
        host.start_many(2); // in queues 1 and 2
        let Host { nic, flows, .. } = &mut host;
        nic.set_queue_dry(1, true, flows);
        nic.set_queue_dry(3, true, flows); // there is none
        nic.set_queue_dry(u16::MAX, true, flows);
        assert_eq!(host.send(2), [1, 1]);
        host.nic.pause_queue(1);
        host.nic.set_queue_dry(1, false, &mut host.flows);
        assert_eq!(host.send(2).contains(&0), !reacts, "credit is no resume");
        host.nic.set_queue_dry(1, true, &mut host.flows);
        host.nic.resume_queue(1, &mut host.flows);
        assert_eq!(host.send(2), [1, 1], "a resume is no credit");
        host.nic.set_queue_dry(1, false, &mut host.flows);
        let mut sent = host.send(2);
        sent.sort_unstable();
        assert_eq!(sent, [0, 1]);
    }
}

#[test]
fn with_epochs_a_pause_holds_the_flow_for_which_it_was_sent() {
    // One data queue.
    let mut host = Host::new(nic(2, ROUND_ROBIN), 1);
    host.nic = host.nic.clone().with_epochs(2);
    host.start(1_000, 0, line_rate());
    let first = host.nic.label(1);
    assert_eq!(host.send(2), [0], "the flow has sent everything and has left its queue");
    host.nic.pause_queue(first);
    assert!(host.nic.is_queue_paused(1), "the pause is of the queue's present epoch");
    host.start_many(1);
    let second = host.nic.label(1);
    assert_ne!(first, second);
    assert!(!host.nic.is_queue_paused(1));
    assert_eq!(host.send(1), [1]);
    host.nic.set_paused_queues((epoch_of(first), 0b10), &mut host.flows);
    assert_eq!(host.send(1), [1], "a bitmap of another epoch");
    host.nic.pause_queue(second);
    assert_eq!(host.send(1), [0u32; 0]);
    host.nic.resume_queue(first, &mut host.flows);
    assert_eq!(host.send(1), [0u32; 0]);
    host.nic.set_paused_queues((epoch_of(second), 0), &mut host.flows);
    assert_eq!(host.send(1), [1]);
    // A flow that joins the queue does not begin an epoch.
    host.start_many(1);
    assert_eq!(host.nic.label(1), second);
}

#[test]
fn a_paused_class_waits_and_the_others_go_on() {
    let mut host = Host::new(nic(32, ROUND_ROBIN), 2);
    host.start(0, 0, line_rate());
    host.start(0, 1, line_rate());
    let queues: Vec<u16> = host.flows.iter().map(Sender::queue).collect();
    assert_eq!(queues, [1, 16]); // 31 data queues: 15 for class 0, 16 for class 1
    host.nic.pause_class(0);
    assert_eq!(host.send(2), [1, 1]);
    host.nic.pause_class(1);
    assert!(!host.nic.has_ready());
    assert_eq!(host.send(2), [0u32; 0]);
    host.nic.resume_class(0);
    assert_eq!(host.send(2), [0, 0]);
}

#[test]
fn a_nic_that_does_not_react_ignores_queue_pauses_but_obeys_pfc() {
    let config = NicConfig {
        queues: 32,
        reacts: false,
        empty_queue: EmptyQueue::Any,
        scheduling: ROUND_ROBIN,
    };
    let mut host = Host::new(config, 1);
    host.start_many(1);
    host.nic.pause_queue(1);
    host.nic.set_paused_queues((0, u128::MAX), &mut host.flows);
    assert_eq!(host.send(2), [0, 0]);
    host.nic.pause_class(0);
    assert_eq!(host.send(2), [0u32; 0]);
}

#[test]
fn without_queues_there_is_nothing_to_pause() {
    let mut host = Host::new(nic(0, ROUND_ROBIN), 1);
    host.start_many(40);
    assert!(host.flows.iter().all(|flow| flow.queue() == 0));
    for queue in [0, 1, 127, 128, u16::MAX] {
        host.nic.pause_queue(queue);
        host.nic.resume_queue(queue, &mut host.flows);
    }
    host.nic.set_paused_queues((0, u128::MAX), &mut host.flows);
    assert_eq!(host.send(40).len(), 40);
}

#[test]
fn more_classes_than_data_queues_are_refused() {
    let refused = |queues, classes| {
        let mut problems = Problems::default();
        nic(queues, ROUND_ROBIN).check_classes(classes, &mut problems);
        problems.found().first().map(|problem| (problem.path.clone(), problem.value.clone()))
    };
    assert_eq!(refused(4, 3), None);
    assert_eq!(refused(4, 4), Some(("queues".to_owned(), "4".to_owned())));
    assert_eq!(refused(0, 8), None);
}
