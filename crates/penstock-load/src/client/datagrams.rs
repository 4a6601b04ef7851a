//! A flow over UDP: an unresponsive sender at a constant rate.
//!
//! The schedule alone decides how many datagrams there are. A datagram that is sent late is sent all the
//! same, unless it is very late or the kernel has no room for it; then it is counted as not sent.

use std::io;

use penstock_units::{BitRate, Bytes, Time};
use socket2::Socket;

use crate::clock::Origin;
use crate::flow::LoadFlow;
use crate::header::{HEADER_BYTES, Header};
use crate::pace::Pace;
use crate::record::{DatagramFacts, FlowEnd, SentFlow};
use crate::socket;

/// How many datagrams are sent before others have their turn (our choice: about 100 µs of work).
const TURN: usize = 32;

/// How late a datagram may be sent. Our choice: longer than a scheduler keeps a thread waiting on a busy
/// machine; a sender that cannot keep up does not pile up more than this.
const MOST_LATE: Time = Time::from_ms(100);

/// A flow over UDP.
#[derive(Debug)]
pub(super) struct DatagramSender {
    socket: Socket,
    pace: Pace,
    start: Time,
    header: [u8; HEADER_BYTES],
    payload: Bytes,
    size: Option<Bytes>,
    /// Index of the next datagram.
    next: u64,
    /// How many datagrams the flow has.
    total: u64,
    /// How the flow ends when all of them are sent.
    end: FlowEnd,
}

impl DatagramSender {
    /// Starts `flow`; nothing is sent yet.
    pub(super) fn start(
        flow: &LoadFlow,
        rate: BitRate,
        payload: Bytes,
        sent: &mut SentFlow,
        origin: Origin,
    ) -> io::Result<Self> {
        let socket = socket::of_flow(flow)?;
        socket.connect(&flow.destination.into())?;
        sent.started = Some(origin.elapsed());
        sent.datagrams = Some(DatagramFacts::default());
        let pace = Pace::new(rate, payload);
        // A flow of no bytes is one header.
        let of_size = flow.size.map(|size| size.get().div_ceil(payload.get()).max(1));
        let until_stop = match flow.stop {
            Time::NEVER => u64::MAX,
            stop => pace.due_before(stop.saturating_sub(flow.start)),
        };
        let is_whole = of_size.is_some_and(|count| count <= until_stop);
        let header = Header { number: flow.number, size: flow.size, class: flow.class };
        Ok(DatagramSender {
            socket,
            pace,
            start: flow.start,
            header: header.encode(),
            payload,
            size: flow.size,
            next: 0,
            total: of_size.map_or(until_stop, |count| count.min(until_stop)),
            end: if is_whole { FlowEnd::Completed } else { FlowEnd::Stopped },
        })
    }

    /// Sends what is due at `now`; the result is when the next datagram is due.
    ///
    /// # Errors
    /// How the flow ended, when it has no datagram left.
    pub(super) fn send_due(
        &mut self,
        now: Time,
        sent: &mut SentFlow,
        chunk: &mut [u8],
    ) -> Result<Time, FlowEnd> {
        let mut facts = sent.datagrams.unwrap_or_default();
        let elapsed = now.saturating_sub(self.start);
        let too_late = self.pace.due_before(elapsed.saturating_sub(MOST_LATE)).min(self.total);
        if too_late > self.next {
            facts.unsent += too_late - self.next;
            self.next = too_late;
        }
        for _ in 0..TURN {
            let due = self.pace.due(self.next);
            if self.next == self.total || due > elapsed {
                break;
            }
            match self.send(chunk) {
                Some(bytes) => sent.sent += bytes,
                None => facts.unsent += 1,
            }
            facts.most_late = facts.most_late.max(elapsed.saturating_sub(due));
            self.next += 1;
        }
        facts.scheduled = self.next;
        sent.datagrams = Some(facts);
        if self.next == self.total {
            return Err(self.end);
        }
        Ok(self.start.saturating_add(self.pace.due(self.next)))
    }

    /// Sends the next datagram; the result is its bytes, or none when the kernel did not take it.
    fn send(&self, chunk: &mut [u8]) -> Option<Bytes> {
        let before = self.payload.get().saturating_mul(self.next);
        let left = self.size.map_or(self.payload.get(), |size| size.get().saturating_sub(before));
        let bytes = left.min(self.payload.get());
        let length = HEADER_BYTES + usize::try_from(bytes).ok()?;
        chunk[..HEADER_BYTES].copy_from_slice(&self.header);
        let datagram = chunk.get(..length)?;
        let send = || self.socket.send_with_flags(datagram, libc::MSG_NOSIGNAL);
        // A refusal tells of an earlier datagram (an ICMP message came back), and this one was not sent.
        let outcome = send().or_else(|error| match error.kind() {
            io::ErrorKind::ConnectionRefused => send(),
            _ => Err(error),
        });
        outcome.is_ok().then_some(Bytes::new(bytes))
    }
}

#[cfg(test)]
#[path = "datagrams_tests.rs"]
mod tests;
