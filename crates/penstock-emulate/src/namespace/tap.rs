//! The descriptor of a TAP device: the emulator's end of a host's interface.

use std::ffi::CString;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::system;

/// The device from which TAP devices are made (the kernel's Documentation/networking/tuntap.rst).
pub(super) const TUN: &str = "/dev/net/tun";

/// The emulator's end of a host's interface: what the host sends is received here, and what is sent
/// here the host receives. Whole Ethernet frames from the destination address on, without preamble
/// and frame check sequence.
///
/// The device lives as long as this value. Its descriptor never blocks; it is readable (poll,
/// epoll) while frames wait.
#[derive(Debug)]
pub struct TapDevice {
    descriptor: OwnedFd,
}

impl TapDevice {
    /// Makes a device of this name in the network namespace of the calling thread.
    pub(super) fn create(name: &str) -> io::Result<Self> {
        let name = CString::new(name)?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(OFlags::NONBLOCK.bits() as i32)
            .open(TUN)?;
        system::make_tap(file.as_fd(), &name)?;
        Ok(Self { descriptor: file.into() })
    }

    /// Receives the next frame that the host has sent; its length (bytes), or none where no frame
    /// waits.
    ///
    /// The kernel cuts off what does not fit into `buffer`, and does not say so: `buffer` needs at
    /// least the MTU and 18 bytes.
    ///
    /// # Errors
    ///
    /// Those of read(2).
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        unless_busy(|| rustix::io::read(&self.descriptor, &mut *buffer))
    }

    /// Sends a frame to the host. False: the kernel has no room, and nothing was sent.
    ///
    /// The host's kernel has handled the frame when this returns: its packet sockets have it, or
    /// its TCP.
    ///
    /// # Errors
    ///
    /// The frame is shorter than an Ethernet header (`EINVAL`), or the interface is down (`EIO`).
    pub fn send(&self, frame: &[u8]) -> io::Result<bool> {
        Ok(unless_busy(|| rustix::io::write(&self.descriptor, frame))?.is_some())
    }
}

impl AsFd for TapDevice {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Calls until no signal interrupts; none where the call would wait or finds no room.
pub(super) fn unless_busy<T>(
    mut call: impl FnMut() -> rustix::io::Result<T>,
) -> io::Result<Option<T>> {
    loop {
        match call() {
            Ok(value) => return Ok(Some(value)),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN | Errno::NOBUFS) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    }
}
