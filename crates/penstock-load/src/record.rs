//! What became of each flow: what its client and its server saw, joined.

use std::collections::HashMap;
use std::fmt;
use std::io;

use penstock_units::{Bytes, Time};

use crate::flow::LoadFlow;
use crate::samples::Samples;
use crate::system::TcpFacts;

/// How a flow ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowEnd {
    /// The server has read all bytes.
    Completed,
    /// The flow reached its stop.
    Stopped,
    /// No server listens at the destination.
    Refused,
    /// The connection was reset, or closed by the server before its last byte.
    Reset,
    /// The kernel could not go on: no route, no answer, no descriptor.
    Failed {
        /// The kernel's error number (errno(3)).
        errno: i32,
    },
    /// Bytes were missing when the run ended: not sent yet, under way, or lost datagrams.
    Unfinished,
}

impl fmt::Display for FlowEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            FlowEnd::Completed => "completed",
            FlowEnd::Stopped => "stopped",
            FlowEnd::Refused => "refused",
            FlowEnd::Reset => "reset",
            FlowEnd::Unfinished => "unfinished",
            FlowEnd::Failed { errno } => {
                return write!(f, "failed: {}", io::Error::from_raw_os_error(*errno));
            }
        };
        f.pad(name)
    }
}

/// What a client knows of a flow. All times are from the origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentFlow {
    /// When the client called `connect`, or sent the first datagram; none when the flow never started.
    pub started: Option<Time>,
    /// When the client saw that its connection was established; none with UDP.
    pub established: Option<Time>,
    /// Bytes that the kernel took.
    pub sent: Bytes,
    /// How the flow ended here: completed means that all was sent and, with TCP, that the server closed the
    /// connection; none when the flow was open at the end.
    pub end: Option<FlowEnd>,
    /// What TCP knew at the end; none without a connection.
    pub tcp: Option<TcpFacts>,
    /// What a sender of datagrams did; none with TCP.
    pub datagrams: Option<DatagramFacts>,
}

/// What a sender of datagrams did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DatagramFacts {
    /// Datagrams that were due by the schedule of the flow: those sent and those not sent.
    pub scheduled: u64,
    /// Datagrams that were due and not sent: the kernel had no room for them, or the host's thread was
    /// more than 100 ms late.
    pub unsent: u64,
    /// The longest time between when a datagram was due and when it was sent.
    pub most_late: Time,
}

/// What a server knows of a flow. All times are from the origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedFlow {
    /// Number of the flow.
    pub number: u64,
    /// When the first bytes were read; none when nothing came.
    pub first: Option<Time>,
    /// When the last bytes were read.
    pub last: Option<Time>,
    /// Bytes that were read.
    pub delivered: Bytes,
    /// Whether all bytes were read.
    pub is_complete: bool,
    /// Samples of an endless flow, when the run takes samples.
    pub samples: Option<Samples>,
}

impl ReceivedFlow {
    /// Nothing came of the flow `number`.
    pub(crate) fn none(number: u64) -> Self {
        let delivered = Bytes::ZERO;
        ReceivedFlow {
            number,
            first: None,
            last: None,
            delivered,
            is_complete: false,
            samples: None,
        }
    }
}

/// What became of a flow. All moments are from the origin of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadRecord {
    /// Number of the flow.
    pub number: u64,
    /// When the flow should have started.
    pub due: Time,
    /// When it started: the call of `connect`, or the first datagram. None when the run ended before.
    pub started: Option<Time>,
    /// From the call of `connect` until the client saw the connection established. None with UDP, and
    /// without a connection.
    pub setup_time: Option<Time>,
    /// From the start until the server's program had read the last byte, set-up included. None unless
    /// the flow completed.
    pub completion_time: Option<Time>,
    /// When the server's program read the first bytes of the flow.
    pub first: Option<Time>,
    /// When the server's program read bytes of the flow for the last time.
    pub last: Option<Time>,
    /// Bytes that the kernel of the client took.
    pub sent: Bytes,
    /// Bytes that the server's program read.
    pub delivered: Bytes,
    /// How the flow ended.
    pub end: FlowEnd,
    /// What TCP knew at the end.
    pub tcp: Option<TcpFacts>,
    /// What the sender of datagrams did.
    pub datagrams: Option<DatagramFacts>,
    /// Samples of what an endless flow delivered.
    pub samples: Option<Samples>,
}

impl LoadRecord {
    /// How late the flow started; none when it never started.
    pub fn lateness(&self) -> Option<Time> {
        Some(self.started?.saturating_sub(self.due))
    }

    fn of(flow: &LoadFlow, sent: SentFlow, received: Option<ReceivedFlow>) -> Self {
        let nothing = ReceivedFlow::none(flow.number);
        let ReceivedFlow { first, last, delivered, is_complete, samples, .. } =
            received.unwrap_or(nothing);
        let end = match sent.end {
            _ if is_complete => FlowEnd::Completed,
            Some(FlowEnd::Completed) | None => FlowEnd::Unfinished,
            Some(end) => end,
        };
        let since_start = |moment: Time| Some(moment.saturating_sub(sent.started?));
        LoadRecord {
            number: flow.number,
            due: flow.start,
            started: sent.started,
            setup_time: sent.established.and_then(since_start),
            completion_time: last.filter(|_| is_complete).and_then(since_start),
            first,
            last,
            sent: sent.sent,
            delivered,
            end,
            tcp: sent.tcp,
            datagrams: sent.datagrams,
            samples,
        }
    }
}

/// What a server saw that belongs to no flow it expects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerFaults {
    /// Connections and datagrams with a damaged or cut header.
    pub damaged: u64,
    /// Connections and datagrams of flows that the server does not expect.
    pub unknown: u64,
    /// Second connections of a flow, datagrams of a flow that came as a connection, and the reverse.
    pub repeated: u64,
    /// Connections that were closed because too many were open.
    pub crowded: u64,
    /// How often the process had no descriptor for a connection; the connection waited in the backlog.
    pub out_of_descriptors: u64,
    /// Datagrams that the kernel dropped because the server read too slowly. The network is not to blame for
    /// these.
    pub datagrams_dropped: u64,
}

/// What a host saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostReport {
    /// Each flow that the host sent, with what its client knows of it.
    pub sent: Vec<(LoadFlow, SentFlow)>,
    /// Each flow that the host expected, with what its server knows of it.
    pub received: Vec<ReceivedFlow>,
    /// What came that belongs to no expected flow.
    pub faults: ServerFaults,
}

/// One record for each flow that the hosts of `reports` sent, in the order of their numbers.
pub fn join(reports: Vec<HostReport>) -> Vec<LoadRecord> {
    let (mut sent, mut received) = (Vec::new(), HashMap::new());
    for report in reports {
        sent.extend(report.sent);
        received.extend(report.received.into_iter().map(|flow| (flow.number, flow)));
    }
    let of = |(flow, sent): (LoadFlow, SentFlow)| {
        let received = received.remove(&flow.number);
        LoadRecord::of(&flow, sent, received)
    };
    let mut records: Vec<LoadRecord> = sent.into_iter().map(of).collect();
    records.sort_by_key(|record| record.number);
    records
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
