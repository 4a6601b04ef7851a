//! A Go-Back-N pair over a network that loses and reorders whatever it likes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use penstock_transport::{Acknowledgement, ControllerConfig, Readiness, Receiver, Reply, Sender};
use penstock_units::Time;
use proptest::prelude::*;

use crate::{acknowledgement, dctcp, go_back_n, host, path, window};

/// What arrives where; the order breaks ties in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Arrival {
    Data { offset: u64, payload: u32 },
    Answer { cumulative: u64, is_negative: bool },
    Timer,
}

/// The fate of one packet: lost, or delivered after so many microseconds.
type Fate = Option<u64>;

struct Pair {
    sender: Sender,
    receiver: Receiver,
    arrivals: BinaryHeap<Reverse<(Time, Arrival)>>,
    /// Fates of the packets to come, the next one last; when there are no more, nothing is lost.
    fates: Vec<Fate>,
    /// The earliest timer among the arrivals.
    wake: Time,
    is_complete: bool,
}

impl Pair {
    fn new(size: u64, controller: ControllerConfig, fates: Vec<Fate>) -> Self {
        let host = host(controller, go_back_n());
        Pair {
            sender: Sender::new(size, &host, &path(), Time::ZERO),
            receiver: Receiver::new(&host),
            arrivals: BinaryHeap::new(),
            fates,
            wake: Time::NEVER,
            is_complete: false,
        }
    }

    fn transmit(&mut self, now: Time, arrival: Arrival) {
        if let Some(delay) = self.fates.pop().unwrap_or(Some(4)) {
            self.arrivals.push(Reverse((now + Time::from_us(delay), arrival)));
        }
    }

    /// Sends what can be sent, and sees to it that something wakes the sender later.
    fn pump(&mut self, now: Time) {
        while self.sender.readiness(now) == Readiness::Ready {
            let segment = self.sender.send(now);
            let (offset, payload) = (segment.offset, segment.payload);
            self.transmit(now, Arrival::Data { offset, payload });
        }
        let mut wake = self.sender.deadline();
        if let Readiness::At(time) = self.sender.readiness(now) {
            wake = wake.min(time);
        }
        if wake < self.wake {
            self.wake = wake;
            self.arrivals.push(Reverse((wake, Arrival::Timer)));
        }
    }

    fn receive(&mut self, now: Time, offset: u64, payload: u32) {
        let before = self.receiver.delivered();
        let reply = self.receiver.on_data(now, offset, payload);
        let accepted = self.receiver.delivered() - before;
        assert!(accepted == 0 || (offset == before && accepted == u64::from(payload)));
        let (cumulative, is_negative) = match reply {
            Reply::Acknowledge { cumulative } => (cumulative, false),
            Reply::Negative { expected } => (expected, true),
            Reply::Nothing => return,
        };
        self.transmit(now, Arrival::Answer { cumulative, is_negative });
    }

    /// Runs until nothing arrives any more; answers how many steps that took.
    fn run(&mut self) -> usize {
        self.pump(Time::ZERO);
        let mut steps = 0;
        while let Some(Reverse((now, arrival))) = self.arrivals.pop() {
            steps += 1;
            assert!(steps < 1_000_000, "the pair does not terminate");
            match arrival {
                Arrival::Data { offset, payload } => self.receive(now, offset, payload),
                Arrival::Answer { cumulative, is_negative } => {
                    let ack = Acknowledgement { is_negative, ..acknowledgement(cumulative) };
                    self.is_complete |= self.sender.on_acknowledgement(now, &ack);
                }
                Arrival::Timer => {
                    self.wake = Time::NEVER;
                    self.sender.on_deadline(now);
                }
            }
            self.pump(now);
        }
        steps
    }
}

#[test]
fn nothing_is_sent_twice_when_nothing_is_lost() {
    let mut pair = Pair::new(50_500, window(10_000), Vec::new());
    pair.run();
    assert!(pair.is_complete);
    assert_eq!((pair.sender.retransmitted_packets(), pair.sender.timeouts()), (0, 0));
}

#[test]
fn the_loss_of_the_last_packet_costs_one_timeout() {
    let mut pair = Pair::new(1_000, ControllerConfig::LineRate {}, vec![None]);
    pair.run();
    assert!(pair.is_complete);
    assert_eq!((pair.sender.retransmitted_packets(), pair.sender.timeouts()), (1, 1));
}

#[test]
fn the_loss_of_the_last_acknowledgement_costs_one_duplicate() {
    let mut pair = Pair::new(1_000, ControllerConfig::LineRate {}, vec![None, Some(4)]);
    pair.run();
    assert!(pair.is_complete);
    assert_eq!((pair.receiver.delivered(), pair.sender.retransmitted_packets()), (1_000, 1));
}

#[test]
fn a_loss_in_the_middle_is_repaired_without_a_timeout() {
    let mut pair = Pair::new(5_000, ControllerConfig::LineRate {}, vec![None, Some(4)]);
    pair.run();
    assert!(pair.is_complete);
    assert_eq!((pair.sender.retransmitted_packets(), pair.sender.timeouts()), (4, 0));
}

proptest! {
    #[test]
    fn all_bytes_arrive_in_order_once_whatever_is_lost_or_reordered(
        size in 1u64..60_000,
        fates in prop::collection::vec(prop::option::weighted(0.7, 1u64..40), 0..400),
        controller in prop_oneof![
            Just(ControllerConfig::LineRate {}),
            Just(window(1)),
            Just(window(7_500)),
            Just(dctcp()),
        ],
    ) {
        let mut pair = Pair::new(size, controller, fates);
        pair.run();
        prop_assert!(pair.is_complete);
        prop_assert_eq!(pair.receiver.delivered(), size);
        prop_assert_eq!(pair.sender.acknowledged(), size);
        prop_assert_eq!(pair.sender.readiness(Time::NEVER), Readiness::Idle);
        prop_assert_eq!(pair.sender.deadline(), Time::NEVER);
    }
}
