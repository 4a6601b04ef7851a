//! A connection that a server accepted: its header, then bytes that are counted and discarded.

use std::io::{self, Read};
use std::mem::MaybeUninit;

use penstock_units::{Bytes, Time};
use socket2::Socket;

use super::inbox::{Inbox, Refusal};
use crate::clock::Origin;
use crate::header::{HEADER_BYTES, Header};
use crate::socket;

/// How many reads one event may cause. Our choice, with [`DISCARD_BYTES`]: what is in a socket's buffer
/// is taken at once, and a sender that fills the buffer as fast as it is emptied keeps no other waiting.
const TURN: usize = 4;

/// The most bytes that one read discards (our choice: as above).
const DISCARD_BYTES: usize = 1 << 20;

/// Where discarded bytes would go. The kernel writes nothing here: with `MSG_TRUNC`, TCP counts bytes and
/// discards them (tcp(7)).
#[derive(Debug)]
pub(super) struct Sink(Box<[MaybeUninit<u8>]>);

impl Sink {
    pub(super) fn new() -> Self {
        Sink(Box::new_uninit_slice(DISCARD_BYTES))
    }
}

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// More may come.
    Open,
    /// All came that will come.
    Ended,
    /// It did not begin with a header.
    Damaged,
    /// Its flow is not expected.
    Refused(Refusal),
}

/// A connection that a server accepted.
#[derive(Debug)]
pub(super) struct Connection {
    socket: Socket,
    header: [u8; HEADER_BYTES],
    /// How many bytes of the header have been read.
    read: usize,
    /// When the first bytes were read.
    first: Time,
    /// The receipt of its flow, once the header is read.
    receipt: Option<usize>,
}

impl Connection {
    pub(super) fn new(socket: Socket) -> Self {
        Connection { socket, header: [0; HEADER_BYTES], read: 0, first: Time::ZERO, receipt: None }
    }

    /// Reads what has come; within bounds, so that others have their turn. `is_ipv4` tells which header
    /// answers have.
    pub(super) fn read(
        &mut self,
        inbox: &mut Inbox,
        sink: &mut Sink,
        origin: Origin,
        is_ipv4: bool,
    ) -> Progress {
        for _ in 0..TURN {
            let step = match self.receipt {
                None => self.read_header(inbox, origin, is_ipv4),
                Some(receipt) => self.discard(receipt, inbox, sink, origin),
            };
            match step {
                Ok(Progress::Open) => {}
                Ok(progress) => return progress,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Progress::Open,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return self.end(inbox),
            }
        }
        Progress::Open
    }

    fn read_header(
        &mut self,
        inbox: &mut Inbox,
        origin: Origin,
        is_ipv4: bool,
    ) -> io::Result<Progress> {
        let count = (&self.socket).read(&mut self.header[self.read..])?;
        if count == 0 {
            return Ok(self.end(inbox));
        }
        let now = origin.elapsed();
        if self.read == 0 {
            self.first = now;
        }
        self.read += count;
        if self.read < HEADER_BYTES {
            return Ok(Progress::Open);
        }
        let Ok(header) = Header::decode(&self.header) else { return Ok(Progress::Damaged) };
        match inbox.begin_stream(header, self.first, now) {
            Ok(receipt) => self.receipt = Some(receipt),
            Err(refusal) => return Ok(Progress::Refused(refusal)),
        }
        // Without the right to a class, acknowledgements go without it; the flow itself is as it was
        // asked for.
        let _ = socket::set_class(&self.socket, is_ipv4, header.class);
        Ok(if header.size == Some(Bytes::ZERO) { Progress::Ended } else { Progress::Open })
    }

    fn discard(
        &self,
        receipt: usize,
        inbox: &mut Inbox,
        sink: &mut Sink,
        origin: Origin,
    ) -> io::Result<Progress> {
        let missing = inbox.missing(receipt).unwrap_or(Bytes::UNLIMITED);
        let most =
            usize::try_from(missing.get()).map_or(DISCARD_BYTES, |most| most.min(DISCARD_BYTES));
        let count = self.socket.recv_with_flags(&mut sink.0[..most], libc::MSG_TRUNC)?;
        if count == 0 {
            inbox.end(receipt);
            return Ok(Progress::Ended);
        }
        inbox.deliver(receipt, socket::bytes(count), origin.elapsed());
        let is_complete = inbox.missing(receipt) == Some(Bytes::ZERO);
        Ok(if is_complete { Progress::Ended } else { Progress::Open })
    }

    /// The stream ended or broke before its last byte.
    fn end(&self, inbox: &mut Inbox) -> Progress {
        match self.receipt {
            Some(receipt) => inbox.end(receipt),
            None => return Progress::Damaged,
        }
        Progress::Ended
    }

    /// Ends the connection at once.
    pub(super) fn abort(self) {
        socket::abort_on_close(&self.socket);
    }
}
