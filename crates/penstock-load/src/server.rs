//! The server of a host: accepts connections and datagrams at one port, reads and discards what they carry.

mod connection;
mod inbox;

use std::io::{self, Read};
use std::net::SocketAddr;

use penstock_units::Time;
use rustix::event::epoll::EventFlags;
use slab::Slab;
use socket2::Socket;

use crate::clock::Origin;
use crate::error::LoadError;
use crate::header::{HEADER_BYTES, Header};
use crate::poll::{Poll, Source};
use crate::record::{ReceivedFlow, ServerFaults};
use crate::socket;
use crate::system::socket_drops;
use connection::{Connection, Progress, Sink};
use inbox::{Inbox, Refusal};

/// Connections above those that are expected (our choice: room for strangers without harm to expected flows).
const SPARE_CONNECTIONS: usize = 64;

/// How many connections are accepted, or datagrams read, before other sockets and timers have their turn. Our
/// choice: about 100 µs of work.
const TURN: usize = 64;

/// How long a server without a descriptor waits before it accepts again (our choice: shorter than the first
/// retransmission of a SYN, 1 s, RFC 6298 sec. 2.1).
const ACCEPT_AGAIN: Time = Time::from_ms(10);

/// The largest datagram (B): the length field of UDP has 16 bits (RFC 768).
const LARGEST_DATAGRAM: usize = 65_535;

impl ServerFaults {
    fn count(&mut self, refusal: Refusal) {
        match refusal {
            Refusal::Unknown => self.unknown += 1,
            Refusal::Repeated => self.repeated += 1,
        }
    }
}

/// The server of a host.
#[derive(Debug)]
pub(crate) struct Server {
    listener: Socket,
    datagrams: Socket,
    address: SocketAddr,
    connections: Slab<Connection>,
    most_connections: usize,
    /// When to accept again, while the process has no descriptor; the listener is not watched until then.
    accept_again_at: Option<Time>,
    inbox: Inbox,
    sink: Sink,
    datagram: Vec<u8>,
    faults: ServerFaults,
}

impl Server {
    /// A server at `address` for the flows of the numbers `expected`.
    pub(crate) fn new(
        address: SocketAddr,
        expected: &[u64],
        sample_interval: Option<Time>,
        poll: &Poll,
    ) -> Result<Self, LoadError> {
        let (listener, datagrams, address) = socket::of_server(address)?;
        poll.watch(&listener, Source::Listener, EventFlags::IN)
            .and_then(|()| poll.watch(&datagrams, Source::Datagrams, EventFlags::IN))
            .map_err(LoadError::system("epoll_ctl"))?;
        Ok(Server {
            listener,
            datagrams,
            address,
            connections: Slab::new(),
            most_connections: expected.len() + SPARE_CONNECTIONS,
            accept_again_at: None,
            inbox: Inbox::new(expected, sample_interval),
            sink: Sink::new(),
            datagram: vec![0; LARGEST_DATAGRAM],
            faults: ServerFaults::default(),
        })
    }

    /// Where the server listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether all expected flows have ended here.
    pub(crate) fn has_all(&self) -> bool {
        self.inbox.open() == 0
    }

    /// When the server wants to be called without an event.
    pub(crate) fn next_due(&self) -> Option<Time> {
        self.accept_again_at
    }

    /// Does what is due at `now`.
    pub(crate) fn on_timer(&mut self, now: Time, poll: &Poll) -> Result<(), LoadError> {
        if self.accept_again_at.is_some_and(|due| due <= now) {
            self.accept_again_at = None;
            poll.watch(&self.listener, Source::Listener, EventFlags::IN)
                .map_err(LoadError::system("epoll_ctl"))?;
        }
        Ok(())
    }

    /// Accepts connections.
    pub(crate) fn on_listener(&mut self, origin: Origin, poll: &Poll) -> Result<(), LoadError> {
        if self.accept_again_at.is_some() {
            return Ok(());
        }
        for _ in 0..TURN {
            match self.listener.accept() {
                Ok((socket, _)) => self.keep(socket, poll),
                Err(error) if is_shortage(&error) => {
                    self.faults.out_of_descriptors += 1;
                    self.accept_again_at = Some(origin.elapsed().saturating_add(ACCEPT_AGAIN));
                    return poll.forget(&self.listener).map_err(LoadError::system("epoll_ctl"));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                // The connection was gone before it was accepted (accept(2), "Error handling").
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Keeps a connection, unless too many are open or the kernel cannot watch it.
    fn keep(&mut self, socket: Socket, poll: &Poll) {
        if self.connections.len() >= self.most_connections {
            self.faults.crowded += 1;
            return;
        }
        let entry = self.connections.vacant_entry();
        let Ok(key) = u32::try_from(entry.key()) else { return };
        let is_watched = socket
            .set_nonblocking(true)
            .and_then(|()| poll.watch(&socket, Source::Incoming(key), EventFlags::IN));
        match is_watched {
            Ok(()) => _ = entry.insert(Connection::new(socket)),
            Err(_) => self.faults.out_of_descriptors += 1,
        }
    }

    /// Reads the connection `key`; closes it at its end.
    pub(crate) fn on_connection(&mut self, key: u32, origin: Origin) {
        let key = key as usize;
        // The connection may have been closed by an earlier event of the same wait.
        let Some(connection) = self.connections.get_mut(key) else { return };
        match connection.read(&mut self.inbox, &mut self.sink, origin, self.address.is_ipv4()) {
            Progress::Open => return,
            Progress::Ended => {}
            Progress::Damaged => self.faults.damaged += 1,
            Progress::Refused(refusal) => self.faults.count(refusal),
        }
        self.connections.remove(key);
    }

    /// Reads datagrams.
    pub(crate) fn on_datagrams(&mut self, origin: Origin) {
        for _ in 0..TURN {
            let length = match (&self.datagrams).read(&mut self.datagram) {
                Ok(length) => length,
                // No datagram is left, or an error of an earlier one is reported; both are over with
                // this call.
                Err(_) => return,
            };
            let read = &self.datagram[..length];
            let header =
                read.first_chunk::<HEADER_BYTES>().and_then(|bytes| Header::decode(bytes).ok());
            let Some(header) = header else {
                self.faults.damaged += 1;
                continue;
            };
            let bytes = socket::bytes(length - HEADER_BYTES);
            if let Err(refusal) = self.inbox.take_datagram(header, bytes, origin.elapsed()) {
                self.faults.count(refusal);
            }
        }
    }

    /// What came, at the end of the run.
    pub(crate) fn finish(mut self, now: Time) -> (Vec<ReceivedFlow>, ServerFaults) {
        // What is open would hold its port and its peer; the run is over for both.
        self.connections.drain().for_each(Connection::abort);
        self.faults.datagrams_dropped = socket_drops(&self.datagrams).unwrap_or(0);
        (self.inbox.finish(now), self.faults)
    }
}

/// Whether a connection waits because the process or the machine is out of descriptors or memory.
fn is_shortage(error: &io::Error) -> bool {
    let shortages = [libc::EMFILE, libc::ENFILE, libc::ENOBUFS, libc::ENOMEM];
    error.raw_os_error().is_some_and(|errno| shortages.contains(&errno))
}
