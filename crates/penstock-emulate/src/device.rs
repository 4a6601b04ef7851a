//! What frames come from and go to.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram;

use rustix::io::Errno;

/// A device: one end of a link between a host and the network. No call waits.
pub trait Device: AsFd {
    /// Whether a frame is what one read(2) of the descriptor brings. Then many may be read at once.
    const READ_IS_FRAME: bool;

    /// Reads the next frame into `buffer` and returns its length (bytes); none when no frame is there. A
    /// frame longer than `buffer` is cut off, and the length is that of `buffer`.
    ///
    /// # Errors
    /// When the device is gone.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>>;

    /// Sends a frame; false when the device has no room for it now.
    ///
    /// # Errors
    /// When the device is gone.
    fn send(&mut self, frame: &[u8]) -> io::Result<bool>;
}

/// One end of a pair of sockets: a link within the machine, without a network namespace.
impl Device for UnixDatagram {
    const READ_IS_FRAME: bool = true;

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        unless_empty(self.recv(buffer))
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<bool> {
        unless_empty(UnixDatagram::send(self, frame)).map(|sent| sent.is_some())
    }
}

/// None when a device had nothing, or no room.
pub(crate) fn unless_empty(done: io::Result<usize>) -> io::Result<Option<usize>> {
    match done {
        Err(error) if is_nothing(&error) => Ok(None),
        done => done.map(Some),
    }
}

/// Whether a device has nothing, or no room, and is not gone.
pub(crate) fn is_nothing(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::AGAIN | Errno::INTR | Errno::NOBUFS))
}
