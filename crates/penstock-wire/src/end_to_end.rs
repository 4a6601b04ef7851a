//! Our header of packets that go from host to host. It stands between the Ethernet addresses and what
//! follows them, so it begins with its EtherType (`docs/wire.md`).

use penstock_packet::{Packet, PacketFlags, PacketKind};
use penstock_units::Time;

use crate::kind::{VERSION, kind_of, number_of};
use crate::mac_control::PRIORITIES;
use crate::view::view;
use crate::{EtherType, Header, Malformed, NoRoom};

/// The bit of the flags that says that the frame of a kernel's host follows, from its EtherType on.
const ENCAPSULATES: u8 = 0x40;

/// The flags that travel, lowest bit first. [`PacketFlags::COUNTED`] does not: it is about the switch that
/// holds the packet.
pub const FLAGS: [PacketFlags; 6] = [
    PacketFlags::MARKED,
    PacketFlags::TRACKED,
    PacketFlags::INCAST,
    PacketFlags::RETRANSMISSION,
    PacketFlags::OPENS_PAIR,
    PacketFlags::OWN_CREDIT,
];

view! {
    /// The bytes of our header.
    RawEndToEnd, Header::EndToEnd, EndToEnd::LENGTH;
    /// [`EtherType::PENSTOCK`].
    ether_type, set_ether_type: u16, 0;
    /// [`VERSION`].
    version, set_version: u8, 2;
    /// The kind of the packet ([`crate::kind`]).
    kind, set_kind: u8, 3;
    /// Bits 0 to 5: [`FLAGS`]. Bit 6: whether a kernel's frame follows. Bit 7 is reserved.
    flags, set_flags: u8, 4;
    /// Priority class (4 bits) and entries of telemetry (4 bits).
    class_and_hops, set_class_and_hops: u8, 5;
    /// Label of the queue at the sender of the frame.
    label, set_label: u16, 6;
    /// What the hosts of a scheme write.
    tag, set_tag: u16, 8;
    /// Hash of the flow.
    flow_hash, set_flow_hash: u32, 10;
    /// The host that sends the data of the flow.
    source, set_source: u32, 14;
    /// The host that receives the data of the flow.
    destination, set_destination: u32, 18;
    /// Bytes of the flow from the offset on, or what the kind says (`PacketKind`).
    remaining, set_remaining: u32, 22;
    /// Place in the flow (B), or what the kind says.
    offset, set_offset: u64, 26;
    /// When the packet left its source (ps).
    sent_at, set_sent_at: u64, 34;
    /// Payload of the packet (B).
    payload, set_payload: u16, 42;
    /// Size of the packet on the wire of the scenario (B).
    wire_bytes, set_wire_bytes: u16, 44;
    /// Bytes behind the header and its telemetry, without padding (B).
    content, set_content: u16, 46;
}

/// Our header of a packet from host to host.
#[derive(Clone, Copy, Debug)]
pub struct EndToEnd {
    /// The packet, in so far as it travels: not its flow's name, its ingress, its time in a queue or on a
    /// wire, its upstream queue, and its place on a route. These belong to the node that holds the packet.
    pub packet: Packet,
    /// Entries of telemetry that follow, at most 8.
    pub hops: u8,
    /// Whether the frame of a kernel's host follows the telemetry, from its EtherType on.
    pub encapsulates: bool,
    /// Bytes behind the header and its telemetry, without padding.
    pub content: u16,
}

impl EndToEnd {
    /// Length of the header with its EtherType (bytes). With the two Ethernet addresses, and without
    /// telemetry and payload, a frame has thus the least length of 60 B.
    pub const LENGTH: usize = 48;

    /// Whether the header can be written, and read again: the packet goes from host to host, its class is
    /// below 8, it is not empty, and it has at least the size of its payload if it holds data.
    #[inline]
    pub fn is_valid(&self) -> bool {
        let Packet { kind, class, wire_bytes, payload, .. } = self.packet;
        let least = if kind == PacketKind::Data { payload.max(1) } else { 1 };
        !kind.is_link_local() && usize::from(class) < PRIORITIES && wire_bytes >= least
    }

    /// Reads the header at the start of `bytes`, which begin with the EtherType; returns what follows, too.
    ///
    /// # Errors
    /// When `bytes` end within the header, or the header is of another version or kind, or has a value
    /// that is not allowed.
    pub fn parse(bytes: &[u8]) -> Result<(EndToEnd, &[u8]), Malformed> {
        let (raw, rest) = RawEndToEnd::new(bytes)?;
        if raw.ether_type() != EtherType::PENSTOCK.0 {
            return Err(Malformed::EtherType(raw.ether_type()));
        }
        if raw.version() != VERSION {
            return Err(Malformed::Version(Header::EndToEnd));
        }
        let wrong = Malformed::Value(Header::EndToEnd);
        let (bits, class_and_hops) = (raw.flags(), raw.class_and_hops());
        let packet = Packet {
            kind: kind_of(raw.kind()).ok_or(wrong)?,
            flags: flags(bits),
            class: class_and_hops >> 4,
            queue: raw.label(),
            tag: raw.tag(),
            flow_hash: raw.flow_hash(),
            source: raw.source(),
            destination: raw.destination(),
            remaining: raw.remaining(),
            offset: raw.offset(),
            sent_at: Time::from_ps(raw.sent_at()),
            payload: raw.payload(),
            wire_bytes: raw.wire_bytes(),
            ..Packet::default()
        };
        let header = EndToEnd {
            packet,
            hops: class_and_hops & 0xf,
            encapsulates: bits & ENCAPSULATES != 0,
            content: raw.content(),
        };
        match header.is_valid() && bits & 0x80 == 0 {
            true => Ok((header, rest)),
            false => Err(wrong),
        }
    }

    /// Writes the header to the start of `bytes`; returns what follows. A header that is not
    /// [valid](EndToEnd::is_valid) is written as far as its bits allow, and is not read again.
    ///
    /// # Errors
    /// When `bytes` are too short.
    pub fn emit<'a>(&self, bytes: &'a mut [u8]) -> Result<&'a mut [u8], NoRoom> {
        let (mut raw, rest) = RawEndToEnd::new_mut(bytes)?;
        let packet = &self.packet;
        let encapsulates = if self.encapsulates { ENCAPSULATES } else { 0 };
        raw.set_ether_type(EtherType::PENSTOCK.0);
        raw.set_version(VERSION);
        raw.set_kind(number_of(packet.kind));
        raw.set_flags(bits(packet.flags) | encapsulates);
        raw.set_class_and_hops(packet.class << 4 | self.hops & 0xf);
        raw.set_label(packet.queue);
        raw.set_tag(packet.tag);
        raw.set_flow_hash(packet.flow_hash);
        raw.set_source(packet.source);
        raw.set_destination(packet.destination);
        raw.set_remaining(packet.remaining);
        raw.set_offset(packet.offset);
        raw.set_sent_at(packet.sent_at.as_ps());
        raw.set_payload(packet.payload);
        raw.set_wire_bytes(packet.wire_bytes);
        raw.set_content(self.content);
        Ok(rest)
    }
}

/// The bits of `flags` in the header.
#[inline]
fn bits(flags: PacketFlags) -> u8 {
    let bits = FLAGS.into_iter().enumerate();
    bits.fold(0, |bits, (place, flag)| bits | u8::from(flags.contains(flag)) << place)
}

/// The flags that `bits` of the header say.
#[inline]
fn flags(bits: u8) -> PacketFlags {
    let mut flags = PacketFlags::default();
    for (place, flag) in FLAGS.into_iter().enumerate() {
        if bits >> place & 1 != 0 {
            flags.insert(flag);
        }
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> EndToEnd {
        let packet = Packet { wire_bytes: 1_048, payload: 1_000, class: 7, ..Packet::default() };
        EndToEnd { packet, hops: 0, encapsulates: false, content: 1_000 }
    }

    fn read(header: EndToEnd) -> Result<EndToEnd, Malformed> {
        let mut bytes = [0; EndToEnd::LENGTH];
        header.emit(&mut bytes).unwrap();
        EndToEnd::parse(&bytes).map(|(header, _)| header)
    }

    #[test]
    fn every_flag_but_the_count_of_a_switch_travels() {
        for bits in 0..1 << FLAGS.len() {
            assert_eq!(super::bits(flags(bits)), bits);
        }
        assert_eq!(bits(PacketFlags::COUNTED), 0);
    }

    #[test]
    fn values_that_no_packet_has_are_refused() {
        let wrong = Malformed::Value(Header::EndToEnd);
        let of = |packet: Packet| read(EndToEnd { packet, ..data() }).err();
        assert_eq!(of(data().packet), None);
        assert_eq!(of(Packet { class: 8, ..data().packet }), Some(wrong));
        assert_eq!(of(Packet { wire_bytes: 999, ..data().packet }), Some(wrong));
        assert_eq!(of(Packet { wire_bytes: 0, payload: 0, ..data().packet }), Some(wrong));
        let notice = Packet { kind: PacketKind::DropNotice, wire_bytes: 60, ..data().packet };
        assert_eq!(of(notice), None, "a notice names the payload that was dropped");
        let pause = Packet { kind: PacketKind::PauseQueue, ..data().packet };
        assert_eq!(of(pause), Some(wrong));
    }

    #[test]
    fn bytes_of_another_header_are_refused() {
        let mut good = [0; EndToEnd::LENGTH];
        data().emit(&mut good).unwrap();
        let with = |place: usize, value: u8| {
            let mut bytes = good;
            bytes[place] = value;
            EndToEnd::parse(&bytes).err()
        };
        assert_eq!(with(1, 0xb6), Some(Malformed::EtherType(0x88b6)));
        assert_eq!(with(2, VERSION + 1), Some(Malformed::Version(Header::EndToEnd)));
        assert_eq!(with(3, 0x0d), Some(Malformed::Value(Header::EndToEnd)));
        assert_eq!(with(4, 0x80), Some(Malformed::Value(Header::EndToEnd)));
        assert_eq!(EndToEnd::parse(&good[..47]).err(), Some(Malformed::Short(Header::EndToEnd)));
    }
}
