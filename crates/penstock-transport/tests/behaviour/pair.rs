//! A sender and a receiver over a network that loses and reorders packets as a test asks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use penstock_transport::{
    Acknowledgement, ControllerConfig, Readiness, Receiver, RecoveryConfig, Reply, Sender,
};
use penstock_units::Time;

use crate::{acknowledgement, host, path};

/// An arrival, or a timer. The order of the variants breaks ties in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Arrival {
    Data { offset: u64, payload: u32, sent_at: Time },
    Answer { cumulative: u64, received: Option<u64>, sent_at: Time },
    Timer,
}

/// The fate of one packet: lost, or delivered after so many microseconds.
pub type Fate = Option<u64>;

/// Both ends of a flow. Packets take 4 us each way unless their fates say otherwise.
pub struct Pair {
    pub sender: Sender,
    pub receiver: Receiver,
    /// Fates of the packets to come; the last entry is for the next packet. When no entry is left,
    /// nothing is lost.
    pub fates: Vec<Fate>,
    /// Offsets of data packets that are lost, once for each time that they are listed.
    pub losses: Vec<u64>,
    /// When the sender learnt that all bytes have arrived.
    pub completed_at: Option<Time>,
    arrivals: BinaryHeap<Reverse<(Time, Arrival)>>,
    /// Whether each byte has reached the receiver.
    has_arrived: Vec<bool>,
    /// The earliest timer among the arrivals.
    wake: Time,
}

impl Pair {
    pub fn new(size: u64, controller: ControllerConfig, recovery: RecoveryConfig) -> Self {
        let host = host(controller, recovery);
        Pair {
            sender: Sender::new(size, &host, &path(), Time::ZERO),
            receiver: Receiver::new(&host, size, &path(), 0.0),
            fates: Vec::new(),
            losses: Vec::new(),
            completed_at: None,
            arrivals: BinaryHeap::new(),
            has_arrived: vec![false; size as usize],
            wake: Time::NEVER,
        }
    }

    /// Runs until nothing arrives any more. The receiver has then delivered at most the bytes that
    /// arrived in order.
    pub fn run(&mut self) {
        self.pump(Time::ZERO);
        let mut steps = 0;
        while let Some(Reverse((now, arrival))) = self.arrivals.pop() {
            steps += 1;
            assert!(steps < 1_000_000, "the pair does not terminate");
            match arrival {
                Arrival::Data { offset, payload, sent_at } => {
                    self.receive(now, offset, payload, sent_at);
                }
                Arrival::Answer { cumulative, received, sent_at } => {
                    let ack = Acknowledgement {
                        is_negative: received.is_some(),
                        received: received.unwrap_or(0),
                        sent_at,
                        ..acknowledgement(cumulative)
                    };
                    if self.sender.on_acknowledgement(now, &ack) {
                        self.completed_at.get_or_insert(now);
                    }
                }
                Arrival::Timer => {
                    self.wake = Time::NEVER;
                    self.sender.on_deadline(now);
                }
            }
            self.pump(now);
        }
    }

    fn transmit(&mut self, now: Time, arrival: Arrival) {
        if let Some(delay) = self.fates.pop().unwrap_or(Some(4)) {
            self.arrivals.push(Reverse((now + Time::from_us(delay), arrival)));
        }
    }

    /// Sends what can be sent, and sets an arrival that wakes the sender later.
    fn pump(&mut self, now: Time) {
        while self.sender.readiness(now) == Readiness::Ready {
            let before = self.sender.in_flight();
            let segment = self.sender.send(now);
            assert!(before < self.sender.window() || segment.is_retransmission);
            let (offset, payload) = (segment.offset, segment.payload);
            if let Some(place) = self.losses.iter().position(|&loss| loss == offset) {
                self.losses.remove(place);
            } else {
                self.transmit(now, Arrival::Data { offset, payload, sent_at: now });
            }
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

    fn receive(&mut self, now: Time, offset: u64, payload: u32, sent_at: Time) {
        let before = self.receiver.delivered();
        let reply = self.receiver.on_data(now, offset, payload);
        self.has_arrived[offset as usize..][..payload as usize].fill(true);
        let delivered = self.receiver.delivered();
        assert!(delivered >= before);
        assert!(self.has_arrived[..delivered as usize].iter().all(|&arrived| arrived));
        let (cumulative, received) = match reply {
            Reply::Acknowledge { cumulative } => (cumulative, None),
            Reply::Negative { expected, received } => (expected, Some(received)),
            Reply::Nothing => return,
        };
        self.transmit(now, Arrival::Answer { cumulative, received, sent_at });
    }
}
