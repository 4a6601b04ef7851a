//! A flow over TCP.
//!
//! The client connects, sends a header and the bytes of the flow, and waits until the server closes the
//! connection: then the server has read all. So no port of the client lingers in TIME-WAIT (RFC 9293
//! sec. 3.6.1), and thousands of flows may follow each other.

use std::io::{self, Read};
use std::net::Shutdown;

use penstock_units::Bytes;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use socket2::Socket;

use super::{CHUNK_BYTES, Progress, end_of};
use crate::clock::Origin;
use crate::flow::LoadFlow;
use crate::header::{HEADER_BYTES, Header};
use crate::poll::{Poll, Source};
use crate::record::{FlowEnd, SentFlow};
use crate::socket;
use crate::system::{TcpFacts, tcp_facts};

/// How many writes one event may cause (our choice: half a megabyte, then others have their turn).
const TURN: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Waits for the connection.
    Connecting,
    /// Sends.
    Sending,
    /// Has sent all, or was stopped; waits until the server closes.
    Closing,
}

/// A flow over TCP.
#[derive(Debug)]
pub(super) struct Stream {
    socket: Socket,
    source: Source,
    state: State,
    header: [u8; HEADER_BYTES],
    /// Bytes of the header that are not sent.
    header_left: usize,
    /// Bytes of the flow that are not sent; unlimited for an endless flow.
    left: Bytes,
    is_stopped: bool,
}

impl Stream {
    /// Starts to connect the flow with this index.
    pub(super) fn start(
        flow: &LoadFlow,
        index: usize,
        sent: &mut SentFlow,
        origin: Origin,
        poll: &Poll,
    ) -> io::Result<Self> {
        let key = u32::try_from(index).map_err(|_| io::ErrorKind::InvalidInput)?;
        let source = Source::Outgoing(key);
        let socket = socket::of_flow(flow)?;
        sent.started = Some(origin.elapsed());
        match socket.connect(&flow.destination.into()) {
            Ok(()) => {}
            Err(error) if Errno::from_io_error(&error) == Some(Errno::INPROGRESS) => {}
            Err(error) => return Err(error),
        }
        poll.watch(&socket, source, EventFlags::IN | EventFlags::OUT)?;
        let header = Header { number: flow.number, size: flow.size, class: flow.class };
        Ok(Stream {
            socket,
            source,
            state: State::Connecting,
            header: header.encode(),
            header_left: HEADER_BYTES,
            left: flow.size.unwrap_or(Bytes::UNLIMITED),
            is_stopped: false,
        })
    }

    /// The kernel says that the connection is ready.
    pub(super) fn on_ready(
        &mut self,
        is_readable: bool,
        sent: &mut SentFlow,
        chunk: &mut [u8],
        origin: Origin,
        poll: &Poll,
    ) -> Progress {
        let outcome = self.go_on(is_readable, sent, chunk, origin, poll);
        match outcome {
            Ok(progress) => progress,
            Err(_) if self.is_stopped => Progress::Ended(FlowEnd::Stopped),
            Err(error) => Progress::Ended(end_of(&error)),
        }
    }

    fn go_on(
        &mut self,
        is_readable: bool,
        sent: &mut SentFlow,
        chunk: &mut [u8],
        origin: Origin,
        poll: &Poll,
    ) -> io::Result<Progress> {
        if self.state == State::Connecting {
            if let Some(error) = self.socket.take_error()? {
                return Err(error);
            }
            sent.established = Some(origin.elapsed());
            self.state = State::Sending;
        }
        if is_readable && self.has_peer_ended()? {
            let end = match self.state {
                _ if self.is_stopped => FlowEnd::Stopped,
                State::Closing => FlowEnd::Completed,
                State::Connecting | State::Sending => FlowEnd::Reset,
            };
            return Ok(Progress::Ended(end));
        }
        if self.state == State::Sending {
            self.send(sent, chunk)?;
        }
        if self.state == State::Closing {
            poll.change(&self.socket, self.source, EventFlags::IN)?;
        }
        Ok(Progress::Open)
    }

    /// Whether the server closed the connection. A server of ours never sends a byte.
    fn has_peer_ended(&self) -> io::Result<bool> {
        let mut byte = [0];
        match (&self.socket).read(&mut byte) {
            Ok(0) => Ok(true),
            Ok(_) => Err(io::ErrorKind::ConnectionReset.into()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Hands bytes to the kernel while it takes them.
    fn send(&mut self, sent: &mut SentFlow, chunk: &mut [u8]) -> io::Result<()> {
        for _ in 0..TURN {
            if self.header_left == 0 && self.left == Bytes::ZERO {
                self.state = State::Closing;
                return Ok(());
            }
            let header = self.header_left;
            chunk[..header].copy_from_slice(&self.header[HEADER_BYTES - header..]);
            let room = CHUNK_BYTES - header;
            let most = usize::try_from(self.left.get()).map_or(room, |left| left.min(room));
            let count =
                match self.socket.send_with_flags(&chunk[..header + most], libc::MSG_NOSIGNAL) {
                    Ok(count) => count,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                    Err(error) => return Err(error),
                };
            self.header_left -= count.min(header);
            let bytes = socket::bytes(count.saturating_sub(header));
            sent.sent += bytes;
            if self.left != Bytes::UNLIMITED {
                self.left -= bytes;
            }
        }
        Ok(())
    }

    /// Sends no more. The bytes that the kernel has taken are still sent, at most 128 KiB and what is
    /// under way.
    pub(super) fn stop(&mut self) -> Progress {
        if self.state == State::Connecting || self.socket.shutdown(Shutdown::Write).is_err() {
            return Progress::Ended(FlowEnd::Stopped);
        }
        self.is_stopped = true;
        self.state = State::Closing;
        Progress::Open
    }

    /// What TCP knows of the connection; none before it is established.
    pub(super) fn facts(&self) -> Option<TcpFacts> {
        tcp_facts(&self.socket).filter(|_| self.state != State::Connecting)
    }

    /// Ends the connection at once; the result is how the flow had ended before, if it had.
    pub(super) fn abort(self) -> Option<FlowEnd> {
        socket::abort_on_close(&self.socket);
        self.is_stopped.then_some(FlowEnd::Stopped)
    }
}
