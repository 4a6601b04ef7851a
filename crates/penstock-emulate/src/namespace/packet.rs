//! The packet socket through which a host of ours sends and receives frames.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType};

use super::tap::unless_busy;
use crate::system;

/// Bytes of a VLAN tag, and where it stands: behind both addresses (IEEE 802.1Q, 9.3).
const TAG_BYTES: usize = 4;
const TAG_AT: usize = 12;

/// A host's end of its interface, for hosts without the kernel's TCP/IP. Frames are as on
/// [`TapDevice`].
///
/// It gets frames for every address, and none of those that leave the host. Its descriptor never
/// blocks.
///
/// [`TapDevice`]: super::TapDevice
#[derive(Debug)]
pub struct PacketSocket {
    descriptor: OwnedFd,
}

impl PacketSocket {
    /// Opens a socket at an interface of the network namespace of the calling thread, by the interface's
    /// number.
    ///
    /// # Errors
    ///
    /// The thread has no `CAP_NET_RAW`, or the interface is gone or down.
    pub fn open(interface: u32) -> io::Result<Self> {
        // Without a protocol the socket gets nothing until it has joined the interface.
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let descriptor =
            rustix::net::socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)?;
        system::join_interface(descriptor.as_fd(), interface)?;
        Ok(Self { descriptor })
    }

    /// Receives the next frame from the network; its length (bytes), or none where no frame waits.
    ///
    /// The kernel cuts off what does not fit into `buffer`: it needs at least the MTU and 18 bytes.
    /// A VLAN tag, which the kernel takes out of a frame, is back in its place.
    ///
    /// # Errors
    ///
    /// Those of recvmsg(2): the interface went down (`ENETDOWN`).
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let received = unless_busy(|| {
            system::receive_frame(&self.descriptor, &mut *buffer)
                .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
        })?;
        Ok(received.map(|frame| match frame.tag {
            None => frame.length,
            Some(tag) => restore_tag(buffer, frame.length, tag),
        }))
    }

    /// Sends a frame into the network. False: the device's queue is full, and nothing was sent.
    ///
    /// # Errors
    ///
    /// The frame is shorter than an Ethernet header (`EINVAL`), longer than the MTU allows
    /// (`EMSGSIZE`), or the interface is down (`ENETDOWN`).
    pub fn send(&self, frame: &[u8]) -> io::Result<bool> {
        Ok(unless_busy(|| rustix::net::send(&self.descriptor, frame, SendFlags::empty()))?
            .is_some())
    }

    /// How many frames from the network found no room here since this was asked last: the reader was late.
    ///
    /// # Errors
    ///
    /// Those of getsockopt(2).
    pub fn dropped(&self) -> io::Result<u64> {
        system::dropped_frames(self.descriptor.as_fd())
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Puts a tag back into a frame of `length` bytes, and returns the new length, at most the size of
/// the buffer.
fn restore_tag(buffer: &mut [u8], length: usize, (protocol, control): (u16, u16)) -> usize {
    let tagged = (length + TAG_BYTES).min(buffer.len());
    let Some(moved) = tagged.checked_sub(TAG_AT + TAG_BYTES) else { return length };
    buffer.copy_within(TAG_AT..TAG_AT + moved, TAG_AT + TAG_BYTES);
    buffer[TAG_AT..TAG_AT + 2].copy_from_slice(&protocol.to_be_bytes());
    buffer[TAG_AT + 2..TAG_AT + TAG_BYTES].copy_from_slice(&control.to_be_bytes());
    tagged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_returns_behind_the_addresses() {
        let mut buffer: Vec<u8> = (0..24).collect();
        assert_eq!(restore_tag(&mut buffer, 18, (0x8100, 0x6005)), 22);
        assert_eq!(buffer[..12], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        assert_eq!(buffer[12..16], [0x81, 0x00, 0x60, 0x05]);
        assert_eq!(buffer[16..22], [12, 13, 14, 15, 16, 17]);
    }

    #[test]
    fn a_tag_without_room_cuts_the_frame_and_goes_no_further() {
        let mut buffer: Vec<u8> = (0..18).collect();
        assert_eq!(restore_tag(&mut buffer, 18, (0x8100, 7)), 18);
        assert_eq!(buffer[16..], [12, 13]);
        let mut short = [0u8; 14];
        assert_eq!(restore_tag(&mut short, 14, (0x8100, 7)), 14);
        assert_eq!(restore_tag(&mut [], 0, (0x8100, 7)), 0);
    }
}
