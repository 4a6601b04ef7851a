//! A packet to a frame and back: the one place where both meet.
//!
//! Three sorts of frames bear our EtherType. A packet from host to host is addresses, our header,
//! telemetry, and zeros for its payload. An encapsulated frame of a kernel's host is addresses, our header,
//! telemetry, and the rest of that frame from its EtherType on. A frame between neighbours is addresses and
//! a signal. Pauses of IEEE 802.1Qbb are [`crate::mac_control`].

use penstock_packet::pool::TELEMETRY_HOPS;
use penstock_packet::{Packet, PacketKind, Signal};
use penstock_units::HopTelemetry;
use thiserror::Error;

use crate::end_to_end::EndToEnd;
use crate::ethernet::SHORTEST_FRAME;
use crate::kind::LINK_LOCAL;
use crate::link_local::LinkLocal;
use crate::telemetry::{self, ENTRY, Telemetry};
use crate::{EtherType, Ethernet, Header, MacAddress, Malformed, NoRoom};

/// The most bytes that [`write`](fn@write) puts before a payload: 316. [`encapsulate`] adds 12 B less to a
/// frame, whose addresses are there already.
pub const MOST_OVERHEAD: usize = Ethernet::ADDRESSES + EndToEnd::LENGTH + TELEMETRY_HOPS * ENTRY;

/// The place of the kind in a frame of ours: behind the addresses, the EtherType and the version.
const KIND: usize = Ethernet::ADDRESSES + 3;

/// The two ends of a frame on its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkAddresses {
    /// The device that the frame is for; [`MacAddress::NEAREST_BRIDGE`] in frames between neighbours.
    pub destination: MacAddress,
    /// The device that sends the frame.
    pub source: MacAddress,
}

/// A frame of ours, read.
#[derive(Clone, Debug)]
pub struct Frame<'a> {
    /// The two ends of the frame on its link.
    pub addresses: LinkAddresses,
    /// The packet. Fields of the node that holds the packet have their defaults ([`EndToEnd::packet`]). In
    /// a packet from host to host, `queue` is the label that the frame bears.
    pub packet: Packet,
    /// The telemetry of the packet.
    pub telemetry: Telemetry<'a>,
    /// The payload, or, of an encapsulated frame, all from its EtherType on.
    pub content: &'a [u8],
    /// Where `content` begins in the frame (bytes).
    pub content_at: usize,
    /// Whether the content is a frame of a kernel's host.
    pub encapsulates: bool,
}

impl Frame<'_> {
    /// Writes the frame of the kernel's host as that host sent it; returns its length. The telemetry and our
    /// header are left out.
    ///
    /// # Errors
    /// When `buffer` is too small.
    pub fn restore(&self, buffer: &mut [u8]) -> Result<usize, NoRoom> {
        let length = Ethernet::ADDRESSES + self.content.len();
        let room = NoRoom { needed: length, given: buffer.len() };
        let frame = buffer.get_mut(..length).ok_or(room)?;
        let content = emit_addresses(self.addresses, frame)?;
        content.copy_from_slice(self.content);
        Ok(length)
    }
}

/// Why a packet is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unwritable {
    /// The buffer is too small.
    #[error(transparent)]
    NoRoom(#[from] NoRoom),
    /// The packet has a value that its header cannot bear: a class above 7, a size of 0, a size below its
    /// payload, or telemetry of more than 8 hops; telemetry or encapsulated bytes in a frame between
    /// neighbours; an encapsulated frame without addresses and EtherType, or above 65,547 B.
    #[error("the packet has a value that the {0} cannot bear")]
    Value(Header),
}

/// The length of the frame that [`write`](fn@write) makes of `packet` with telemetry of `hops` hops (bytes):
/// at least `packet.wire_bytes`, and at least 60.
pub fn frame_bytes(packet: &Packet, hops: usize) -> usize {
    let header = match packet.kind.is_link_local() {
        true => LinkLocal::LENGTH,
        false => EndToEnd::LENGTH + hops * ENTRY,
    };
    let written = Ethernet::ADDRESSES + header + usize::from(content_of(packet));
    written.max(usize::from(packet.wire_bytes)).max(SHORTEST_FRAME)
}

/// Bytes of payload that follow the header of `packet`; a notice of a drop only names its payload.
fn content_of(packet: &Packet) -> u16 {
    if packet.kind == PacketKind::Data { packet.payload } else { 0 }
}

/// Writes `packet` and its telemetry as a frame into `buffer`; returns the length of the frame
/// ([`frame_bytes`]). The payload and the padding are zeros. In a packet from host to host, `packet.queue`
/// is the label that the frame bears.
///
/// # Errors
/// When `buffer` is too small, or the packet has a value that no frame bears.
pub fn write(
    packet: &Packet,
    telemetry: &[HopTelemetry],
    addresses: LinkAddresses,
    buffer: &mut [u8],
) -> Result<usize, Unwritable> {
    let length = frame_bytes(packet, telemetry.len());
    let room = NoRoom { needed: length, given: buffer.len() };
    if !packet.kind.is_link_local() {
        let content = content_of(packet);
        let header = end_to_end(packet, telemetry, content, false)?;
        let rest = emit_addresses(addresses, buffer.get_mut(..length).ok_or(room)?)?;
        telemetry::emit(telemetry, header.emit(rest)?)?.fill(0);
        return Ok(length);
    }
    let wrong = Unwritable::Value(Header::LinkLocal);
    let signal = Signal::of(packet).ok_or(wrong)?;
    let header = LinkLocal { signal, wire_bytes: packet.wire_bytes };
    if !header.is_valid() || !telemetry.is_empty() {
        return Err(wrong);
    }
    let rest = emit_addresses(addresses, buffer.get_mut(..length).ok_or(room)?)?;
    header.emit(rest)?.fill(0);
    Ok(length)
}

/// Writes `original`, the frame of a kernel's host, with our header and telemetry between its addresses and
/// its EtherType; returns the length of the frame, which is not padded. `packet` is what the network knows
/// of the frame. [`Frame::restore`] gives `original` back, to the byte.
///
/// # Errors
/// When `buffer` is too small, or the packet has a value that no frame bears.
pub fn encapsulate(
    packet: &Packet,
    telemetry: &[HopTelemetry],
    original: &[u8],
    buffer: &mut [u8],
) -> Result<usize, Unwritable> {
    let wrong = Unwritable::Value(Header::Ethernet);
    let split = original.split_first_chunk::<{ Ethernet::ADDRESSES }>();
    let (addresses, rest) = split.ok_or(wrong)?;
    let content = u16::try_from(rest.len()).ok().filter(|&bytes| bytes >= 2).ok_or(wrong)?;
    let header = end_to_end(packet, telemetry, content, true)?;
    let inserted = EndToEnd::LENGTH + telemetry.len() * ENTRY;
    let needed = original.len() + inserted;
    let room = NoRoom { needed, given: buffer.len() };
    let frame = buffer.get_mut(..needed).ok_or(room)?;
    let (start, behind) = frame.split_first_chunk_mut().ok_or(room)?;
    *start = *addresses;
    let content = telemetry::emit(telemetry, header.emit(behind)?)?;
    content.copy_from_slice(rest);
    Ok(needed)
}

/// The header of `packet`.
fn end_to_end(
    packet: &Packet,
    telemetry: &[HopTelemetry],
    content: u16,
    encapsulates: bool,
) -> Result<EndToEnd, Unwritable> {
    let hops = telemetry.len();
    if hops > TELEMETRY_HOPS {
        return Err(Unwritable::Value(Header::Telemetry));
    }
    let header = EndToEnd { packet: *packet, hops: hops as u8, encapsulates, content };
    if header.is_valid() { Ok(header) } else { Err(Unwritable::Value(Header::EndToEnd)) }
}

/// Writes the addresses of a frame; returns what follows, from the EtherType on.
fn emit_addresses(addresses: LinkAddresses, frame: &mut [u8]) -> Result<&mut [u8], NoRoom> {
    let room = NoRoom { needed: Ethernet::ADDRESSES, given: frame.len() };
    let (destination, rest) = frame.split_first_chunk_mut().ok_or(room)?;
    let (source, rest) = rest.split_first_chunk_mut().ok_or(room)?;
    (*destination, *source) = (addresses.destination.0, addresses.source.0);
    Ok(rest)
}

/// Reads a frame of ours.
///
/// # Errors
/// When the frame bears another EtherType, is cut off, or has a value that is not allowed. A priority pause
/// is of another EtherType ([`crate::PriorityPause::parse`]).
pub fn read(bytes: &[u8]) -> Result<Frame<'_>, Malformed> {
    let (ethernet, _) = Ethernet::parse(bytes)?;
    if ethernet.ether_type != EtherType::PENSTOCK {
        return Err(Malformed::EtherType(ethernet.ether_type.0));
    }
    let Ethernet { destination, source, .. } = ethernet;
    let addresses = LinkAddresses { destination, source };
    let headers = bytes.get(Ethernet::ADDRESSES..).unwrap_or_default();
    let &kind = bytes.get(KIND).ok_or(Malformed::Short(Header::EndToEnd))?;
    if kind & LINK_LOCAL != 0 {
        let (header, rest) = LinkLocal::parse(headers)?;
        return Ok(Frame {
            addresses,
            packet: header.signal.frame(header.wire_bytes),
            telemetry: Telemetry::default(),
            content: &[],
            content_at: bytes.len() - rest.len(),
            encapsulates: false,
        });
    }
    let (header, rest) = EndToEnd::parse(headers)?;
    let (telemetry, rest) = Telemetry::parse(rest, header.hops)?;
    let is_sound = match header.encapsulates {
        true => header.content >= 2,
        false => header.content == content_of(&header.packet),
    };
    let content = rest.get(..usize::from(header.content)).filter(|_| is_sound);
    Ok(Frame {
        addresses,
        packet: header.packet,
        telemetry,
        content: content.ok_or(Malformed::Length(Header::EndToEnd))?,
        content_at: bytes.len() - rest.len(),
        encapsulates: header.encapsulates,
    })
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
