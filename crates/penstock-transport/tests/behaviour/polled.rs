//! The NIC of the ns-3 HPCC simulator, which scans its flows.

use penstock_packet::EmptyQueue;
use penstock_transport::{
    Acknowledgement, ControllerConfig, Nic, NicConfig, NicScheduling, Sender,
};
use penstock_units::random::Pcg32;
use penstock_units::{Fidelity, Time};

use crate::{acknowledgement, dctcp, go_back_n, host, line_rate, path, window};

struct Host {
    nic: Nic,
    flows: Vec<Sender>,
}

impl Host {
    fn new() -> Self {
        Host::with(0, Fidelity::Ns3Hpcc)
    }

    fn with(queues: u32, fidelity: Fidelity) -> Self {
        let config = NicConfig {
            queues,
            reacts: true,
            empty_queue: EmptyQueue::Any,
            scheduling: NicScheduling::RoundRobin,
        };
        Host { nic: Nic::new(&config, 1, fidelity), flows: vec![] }
    }

    fn start(&mut self, size: u64, controller: ControllerConfig) {
        let slot = self.flows.len() as u32;
        self.flows.push(Sender::new(size, &host(controller, go_back_n()), &path(), Time::ZERO));
        self.nic.start(slot, (0, u64::from(slot)), &mut self.flows, &mut Pcg32::new(1, 1));
    }

    /// Who sends the next `count` packets at time zero.
    fn send(&mut self, count: usize) -> Vec<u32> {
        let mut sent = vec![];
        while sent.len() < count
            && let Some(slot) = self.nic.next(Time::ZERO, &mut self.flows)
        {
            self.flows[slot as usize].send(Time::ZERO);
            sent.push(slot);
        }
        sent
    }

    /// All bytes of the flow in `slot` are acknowledged, and the flow leaves.
    fn finish(&mut self, slot: u32) {
        let flow = &mut self.flows[slot as usize];
        assert!(flow.on_acknowledgement(Time::ZERO, &acknowledgement(flow.size())));
        self.nic.finish(slot, &mut self.flows);
    }
}

#[test]
fn flows_take_turns_in_the_order_of_their_start_after_the_second() {
    let mut host = Host::new();
    for _ in 0..3 {
        host.start(0, line_rate());
    }
    // The place that sent last is 0 at the beginning, so the second flow comes first.
    assert_eq!(host.send(5), [1, 2, 0, 1, 2]);
    host.start(0, line_rate());
    assert_eq!(host.send(4), [3, 0, 1, 2]);
}

#[test]
fn blocked_flows_are_passed_over() {
    let mut host = Host::new();
    host.start(0, window(2_000));
    host.start(0, window(1_000));
    assert_eq!(host.send(9), [1, 0, 0]);
}

#[test]
fn a_flow_with_nothing_left_takes_part_again_when_its_packets_are_lost() {
    let mut host = Host::new();
    host.start(2_000, line_rate());
    host.start(0, window(1_000));
    assert_eq!(host.send(9), [1, 0, 0]);
    // The receiver has the first packet and asks for the second one again.
    let lost = Acknowledgement { is_negative: true, ..acknowledgement(1_000) };
    host.flows[0].on_acknowledgement(Time::ZERO, &lost);
    let random = &mut Pcg32::new(1, 1);
    host.nic.on_change(0, Time::ZERO, &mut host.flows, random);
    assert_eq!(host.nic.wake_at(Time::ZERO, &host.flows), None, "its gap is over");
    assert_eq!(host.send(9), [0]);
}

#[test]
fn those_that_have_ended_move_the_others_up_when_they_are_passed() {
    let mut host = Host::new();
    for size in [1_000, 0, 1_000, 0] {
        host.start(size, line_rate());
    }
    assert_eq!(host.send(4), [1, 2, 3, 0]);
    host.finish(0);
    host.finish(2);
    assert_eq!(host.send(1), [1]); // place 1; no ended flow was passed
    // The third was passed: the first goes as well only if it stands behind it, which it does not.
    assert_eq!(host.send(1), [3]); // it moves from place 3 to place 2
    // From place 2 the first is passed; the second moves to place 0, the fourth to place 1.
    assert_eq!(host.send(4), [1, 3, 1, 3]);
}

#[test]
fn the_alarm_is_for_the_earliest_gap_and_not_set_when_that_is_over() {
    let mut host = Host::new();
    host.start(0, dctcp());
    assert_eq!(host.send(1), [0]);
    let marked = Acknowledgement { is_marked: true, ..acknowledgement(1_000) };
    host.flows[0].on_acknowledgement(Time::ZERO, &marked); // 50 Gb/s: the gap doubles
    assert_eq!(host.send(1), [0u32; 0]);
    assert_eq!(host.nic.wake_at(Time::ZERO, &host.flows), Some(Time::from_ps(167_680)));
    // A blocked flow whose gap is over keeps the alarm from being set.
    host.start(0, window(1_000));
    assert_eq!(host.send(1), [1]);
    assert_eq!(host.nic.wake_at(Time::from_ns(1), &host.flows), None);
}

#[test]
fn a_paused_class_sends_nothing() {
    let mut host = Host::new();
    host.start(0, line_rate());
    host.nic.pause_class(0);
    assert_eq!(host.send(1), [0u32; 0]);
    host.nic.resume_class(0);
    assert_eq!(host.send(1), [0]);
}

#[test]
fn in_pyrrha_a_pause_names_a_flow_and_ended_flows_keep_their_places() {
    let mut host = Host::with(0, Fidelity::Ns3Bfc);
    for size in [1_000, 0, 1_000, 0] {
        host.start(size, line_rate());
    }
    host.nic.pause_queue(2); // the number of a flow, counted from 1
    assert_eq!(host.nic.paused_queues().count_ones(), 1);
    assert_eq!(host.send(3), [2, 3, 0]);
    host.finish(0);
    host.finish(2);
    assert_eq!(host.send(1), [3]);
    host.nic.resume_queue(2, &mut host.flows);
    assert_eq!(host.send(3), [1, 3, 1]);
    host.nic.pause_queue(0);
    assert_eq!(host.nic.paused_queues(), 0, "nobody has number 0");
}

#[test]
fn in_pyrrha_a_flow_gets_the_lowest_queue_and_keeps_it_to_its_last_acknowledgement() {
    let mut host = Host::with(4, Fidelity::Ns3Bfc);
    for size in [1_000, 1_000, 0] {
        host.start(size, line_rate());
    }
    assert_eq!([0, 1, 2].map(|slot: usize| host.flows[slot].queue()), [1, 2, 3]);
    assert_eq!(host.send(3), [1, 2, 0]);
    host.finish(1);
    host.nic.pause_queue(2);
    host.start(0, line_rate());
    assert_eq!(host.flows[3].queue(), 2, "paused or not");
    assert_eq!(host.send(2), [2, 2]);
    host.nic.resume_queue(2, &mut host.flows);
    assert_eq!(host.send(2), [3, 2]);
}
