//! The client of a host: starts each flow at its time, sends it, ends it.

mod datagrams;
mod stream;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;

use penstock_units::Time;

use crate::clock::Origin;
use crate::flow::{LoadFlow, Protocol};
use crate::poll::Poll;
use crate::record::{FlowEnd, SentFlow};
use datagrams::DatagramSender;
use stream::Stream;

/// How many actions are done before sockets have their turn (our choice: about 100 µs of work).
const TURN: usize = 64;

/// How much is handed to the kernel at a time: the largest datagram, and for TCP a segment of the size that
/// segmentation offload takes (64 KiB).
const CHUNK_BYTES: usize = 64 << 10;

/// What is due at a time, for the flow with this index. At one time, a start comes first and a stop last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Action {
    Start(usize),
    Datagram(usize),
    Stop(usize),
}

/// Where a flow stands.
#[derive(Debug)]
enum Stage {
    Waiting,
    Stream(Box<Stream>),
    Datagrams(Box<DatagramSender>),
    Over,
}

/// Whether a flow goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Open,
    Ended(FlowEnd),
}

/// The client of a host.
#[derive(Debug)]
pub(crate) struct Client {
    flows: Vec<LoadFlow>,
    sent: Vec<SentFlow>,
    stages: Vec<Stage>,
    due: BinaryHeap<Reverse<(Time, Action)>>,
    /// Flows that are not over.
    open: usize,
    /// What is sent: a header, then bytes that mean nothing.
    chunk: Vec<u8>,
}

impl Client {
    /// A client that sends `flows`.
    pub(crate) fn new(flows: Vec<LoadFlow>) -> Self {
        let starts = flows.iter().enumerate();
        let due = starts.map(|(index, flow)| Reverse((flow.start, Action::Start(index)))).collect();
        let open = flows.len();
        Client {
            sent: vec![SentFlow::default(); open],
            stages: flows.iter().map(|_| Stage::Waiting).collect(),
            due,
            open,
            flows,
            chunk: vec![0; CHUNK_BYTES],
        }
    }

    /// Whether all flows are over.
    pub(crate) fn is_done(&self) -> bool {
        self.open == 0
    }

    /// When the client has something to do without an event.
    pub(crate) fn next_due(&self) -> Option<Time> {
        self.due.peek().map(|Reverse((time, _))| *time)
    }

    /// Does what is due, but not all at once when much is due.
    pub(crate) fn on_timer(&mut self, origin: Origin, poll: &Poll) {
        for _ in 0..TURN {
            let now = origin.elapsed();
            match self.due.peek() {
                Some(Reverse((time, _))) if *time <= now => {}
                _ => return,
            }
            let Some(Reverse((_, action))) = self.due.pop() else { return };
            match action {
                Action::Start(index) => self.start(index, origin, poll),
                Action::Datagram(index) => self.send_datagrams(index, now),
                Action::Stop(index) => self.stop(index),
            }
        }
    }

    fn start(&mut self, index: usize, origin: Origin, poll: &Poll) {
        let flow = &self.flows[index];
        let sent = &mut self.sent[index];
        match flow.protocol {
            Protocol::Tcp { .. } => match Stream::start(flow, index, sent, origin, poll) {
                Ok(stream) => {
                    self.stages[index] = Stage::Stream(Box::new(stream));
                    if flow.stop != Time::NEVER {
                        self.due.push(Reverse((flow.stop, Action::Stop(index))));
                    }
                }
                Err(error) => self.end(index, end_of(&error)),
            },
            Protocol::Udp { rate, payload } => {
                match DatagramSender::start(flow, rate, payload, sent, origin) {
                    Ok(sender) => {
                        self.stages[index] = Stage::Datagrams(Box::new(sender));
                        self.send_datagrams(index, origin.elapsed());
                    }
                    Err(error) => self.end(index, end_of(&error)),
                }
            }
        }
    }

    fn send_datagrams(&mut self, index: usize, now: Time) {
        let Stage::Datagrams(sender) = &mut self.stages[index] else { return };
        match sender.send_due(now, &mut self.sent[index], &mut self.chunk) {
            Ok(next) => self.due.push(Reverse((next, Action::Datagram(index)))),
            Err(end) => self.end(index, end),
        }
    }

    fn stop(&mut self, index: usize) {
        let Stage::Stream(stream) = &mut self.stages[index] else { return };
        if let Progress::Ended(end) = stream.stop() {
            self.end(index, end);
        }
    }

    /// The connection of the flow `index` is ready. A server whose host is over resets its connections;
    /// so a reset is no reset of the flow when the run `is_over` by then.
    pub(crate) fn on_connection(
        &mut self,
        index: u32,
        is_readable: bool,
        origin: Origin,
        poll: &Poll,
        is_over: impl FnOnce() -> bool,
    ) {
        let index = index as usize;
        let Some(Stage::Stream(stream)) = self.stages.get_mut(index) else { return };
        let sent = &mut self.sent[index];
        match stream.on_ready(is_readable, sent, &mut self.chunk, origin, poll) {
            Progress::Open => {}
            Progress::Ended(FlowEnd::Reset) if is_over() => {}
            Progress::Ended(end) => self.end(index, end),
        }
    }

    fn end(&mut self, index: usize, end: FlowEnd) {
        let sent = &mut self.sent[index];
        sent.end = Some(end);
        let stage = std::mem::replace(&mut self.stages[index], Stage::Over);
        if let Stage::Stream(stream) = stage {
            sent.tcp = stream.facts();
        }
        self.open -= 1;
    }

    /// What became of the flows when the run ended. Connections that are open end at once.
    pub(crate) fn finish(self) -> Vec<(LoadFlow, SentFlow)> {
        let mut report = Vec::with_capacity(self.flows.len());
        for ((flow, mut sent), stage) in self.flows.into_iter().zip(self.sent).zip(self.stages) {
            if let Stage::Stream(stream) = stage {
                sent.tcp = stream.facts();
                sent.end = stream.abort();
            }
            report.push((flow, sent));
        }
        report
    }
}

/// How a flow ends whose system call failed with `error`.
fn end_of(error: &io::Error) -> FlowEnd {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => FlowEnd::Refused,
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe => FlowEnd::Reset,
        _ => FlowEnd::Failed { errno: error.raw_os_error().unwrap_or(0) },
    }
}
