//! IPv6 (RFC 8200), and what lies behind its extension headers.

use core::net::Ipv6Addr;

use crate::ipv4::Ecn;
use crate::view::view;
use crate::{Header, Malformed, NoRoom};

/// The most extension headers that are followed; a packet with more is refused. Our choice: RFC 8200, sec.
/// 4.1, recommends an order with seven of them.
pub const MOST_EXTENSIONS: usize = 8;

/// Protocol number of the fragment header (RFC 8200, sec. 4.5).
const FRAGMENT: u8 = 44;
/// Protocol number of the authentication header, whose length counts in 4 B (RFC 4302, sec. 2.2).
const AUTHENTICATION: u8 = 51;

view! {
    /// The bytes of an IPv6 header.
    RawIpv6, Header::Ipv6, Ipv6::LENGTH;
    /// Version (4 bits), traffic class (8 bits), flow label (20 bits).
    version_class_label, set_version_class_label: u32, 0;
    /// Length of what follows the header (bytes).
    payload_length, set_payload_length: u16, 4;
    /// What follows the header (IANA, protocol numbers).
    next_header, set_next_header: u8, 6;
    /// Hop limit.
    hop_limit, set_hop_limit: u8, 7;
    /// The sender.
    source, set_source: [u8; 16], 8;
    /// The receiver.
    destination, set_destination: [u8; 16], 24;
}

/// An IPv6 header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv6 {
    /// Differentiated services code point (DSCP), 0 to 63.
    pub differentiated_services: u8,
    /// Congestion.
    pub ecn: Ecn,
    /// Flow label, below 2^20; 0 where the sender gives none (RFC 6437).
    pub flow_label: u32,
    /// Length of what follows the header (bytes).
    pub payload: u16,
    /// What follows the header (IANA, protocol numbers).
    pub next_header: u8,
    /// Hop limit.
    pub hop_limit: u8,
    /// The sender.
    pub source: Ipv6Addr,
    /// The receiver.
    pub destination: Ipv6Addr,
}

/// What lies behind the extension headers of an IPv6 packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpperLayer<'a> {
    /// What `bytes` are (IANA, protocol numbers).
    pub protocol: u8,
    /// Whether the packet is a part of a datagram, the first part included.
    pub is_fragment: bool,
    /// The bytes behind the last extension header.
    pub bytes: &'a [u8],
}

impl Ipv6 {
    /// Length of the header without extensions (bytes).
    pub const LENGTH: usize = 40;

    /// Reads the header at the start of `bytes`. Returns its payload, too, without the padding behind it.
    /// A jumbogram (RFC 2675) is read as a packet without payload.
    ///
    /// # Errors
    /// When `bytes` end within the header or the payload, or the header is of another version.
    pub fn parse(bytes: &[u8]) -> Result<(Ipv6, &[u8]), Malformed> {
        let (raw, rest) = RawIpv6::new(bytes)?;
        let first = raw.version_class_label();
        if first >> 28 != 6 {
            return Err(Malformed::Version(Header::Ipv6));
        }
        let payload = raw.payload_length();
        let content = rest.get(..usize::from(payload)).ok_or(Malformed::Length(Header::Ipv6))?;
        let traffic_class = (first >> 20) as u8;
        let header = Ipv6 {
            differentiated_services: traffic_class >> 2,
            ecn: Ecn::of(traffic_class),
            flow_label: first & 0xf_ffff,
            payload,
            next_header: raw.next_header(),
            hop_limit: raw.hop_limit(),
            source: raw.source().into(),
            destination: raw.destination().into(),
        };
        Ok((header, content))
    }

    /// Writes the header to the start of `bytes`; returns what follows.
    ///
    /// # Errors
    /// When `bytes` are too short.
    pub fn emit<'a>(&self, bytes: &'a mut [u8]) -> Result<&'a mut [u8], NoRoom> {
        let (mut raw, rest) = RawIpv6::new_mut(bytes)?;
        let class = u32::from(self.differentiated_services << 2 | self.ecn as u8);
        raw.set_version_class_label(6 << 28 | class << 20 | self.flow_label & 0xf_ffff);
        raw.set_payload_length(self.payload);
        raw.set_next_header(self.next_header);
        raw.set_hop_limit(self.hop_limit);
        raw.set_source(self.source.octets());
        raw.set_destination(self.destination.octets());
        Ok(rest)
    }

    /// Follows the extension headers in `payload`, which [`Ipv6::parse`] returned. Stops at the first
    /// header that is none. Also stops behind the fragment header of a part of a datagram, so that all parts
    /// have one protocol.
    ///
    /// # Errors
    /// When an extension header is cut off, or there are more than [`MOST_EXTENSIONS`].
    pub fn upper_layer<'a>(&self, payload: &'a [u8]) -> Result<UpperLayer<'a>, Malformed> {
        let mut upper =
            UpperLayer { protocol: self.next_header, is_fragment: false, bytes: payload };
        for _ in 0..MOST_EXTENSIONS {
            if !is_extension(upper.protocol) {
                return Ok(upper);
            }
            let &[next, length, high, low, ..] = upper.bytes else {
                return Err(Malformed::Short(Header::Ipv6));
            };
            let bytes = match upper.protocol {
                FRAGMENT => 8,
                AUTHENTICATION => 4 * (usize::from(length) + 2),
                _ => 8 * (usize::from(length) + 1),
            };
            let rest = upper.bytes.get(bytes..).ok_or(Malformed::Short(Header::Ipv6))?;
            let fragment = match upper.protocol {
                FRAGMENT => u16::from_be_bytes([high, low]),
                _ => 0,
            };
            (upper.protocol, upper.bytes) = (next, rest);
            // An offset of 13 bits, 2 reserved bits, and whether more fragments follow.
            if fragment & 0xfff9 != 0 {
                return Ok(UpperLayer { is_fragment: true, ..upper });
            }
        }
        match is_extension(upper.protocol) {
            true => Err(Malformed::Extensions),
            false => Ok(upper),
        }
    }
}

/// Whether a protocol number is that of an extension header with a length that can be followed (IANA, IPv6
/// extension header types): hop-by-hop, routing, fragment, authentication, destination options, mobility,
/// host identity, shim6.
fn is_extension(protocol: u8) -> bool {
    matches!(protocol, 0 | 43 | FRAGMENT | AUTHENTICATION | 60 | 135 | 139 | 140)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packet(next_header: u8) -> Ipv6 {
        Ipv6 {
            differentiated_services: 46,
            ecn: Ecn::Capable0,
            flow_label: 0xabcde,
            payload: 0,
            next_header,
            hop_limit: 64,
            source: Ipv6Addr::LOCALHOST,
            destination: Ipv6Addr::UNSPECIFIED,
        }
    }

    #[test]
    fn the_first_word_holds_version_class_and_label() {
        let mut bytes = [0; 41];
        assert_eq!(packet(17).emit(&mut bytes).unwrap().len(), 1);
        assert_eq!(bytes[..4], [0x6b, 0xaa, 0xbc, 0xde]);
        assert_eq!(Ipv6::parse(&bytes).unwrap(), (packet(17), &[][..]));
        bytes[0] = 0x4b;
        assert_eq!(Ipv6::parse(&bytes), Err(Malformed::Version(Header::Ipv6)));
        bytes[..6].copy_from_slice(&[0x6b, 0xaa, 0xbc, 0xde, 0, 2]);
        assert_eq!(Ipv6::parse(&bytes), Err(Malformed::Length(Header::Ipv6)));
        assert_eq!(Ipv6::parse(&bytes[..39]), Err(Malformed::Short(Header::Ipv6)));
    }

    #[test]
    fn extension_headers_are_skipped() {
        // Hop-by-hop of 8 B, destination options of 16 B, then UDP.
        let mut bytes = [0; 32];
        bytes[0] = 60;
        bytes[8..10].copy_from_slice(&[17, 1]);
        let upper = packet(0).upper_layer(&bytes).unwrap();
        assert_eq!((upper.protocol, upper.is_fragment, upper.bytes.len()), (17, false, 8));
        assert_eq!(packet(0).upper_layer(&bytes[..20]), Err(Malformed::Short(Header::Ipv6)));
        assert_eq!(packet(0).upper_layer(&bytes[..3]), Err(Malformed::Short(Header::Ipv6)));
    }

    #[test]
    fn the_length_of_an_authentication_header_counts_in_words() {
        // 24 B: 6 words less 2.
        let mut bytes = [0; 24 + 5];
        bytes[..2].copy_from_slice(&[6, 4]);
        let upper = packet(AUTHENTICATION).upper_layer(&bytes).unwrap();
        assert_eq!((upper.protocol, upper.bytes.len()), (6, 5));
        assert!(packet(AUTHENTICATION).upper_layer(&bytes[..23]).is_err());
    }

    #[test]
    fn fragments_are_noticed_and_not_followed() {
        let upper = |offset_and_more: u16| {
            let mut bytes = [60, 0, 0, 0, 0, 0, 0, 9, 17, 0, 0, 0, 0, 0, 0, 0];
            bytes[2..4].copy_from_slice(&offset_and_more.to_be_bytes());
            let upper = packet(FRAGMENT).upper_layer(&bytes).unwrap();
            (upper.protocol, upper.is_fragment, upper.bytes.len())
        };
        assert_eq!(upper(0), (17, false, 0), "a datagram in one fragment (RFC 6946)");
        assert_eq!(upper(1), (60, true, 8));
        assert_eq!(upper(8), (60, true, 8));
    }

    #[test]
    fn a_long_chain_is_refused() {
        let bytes = [0; 8 * (MOST_EXTENSIONS + 1)];
        assert_eq!(packet(0).upper_layer(&bytes), Err(Malformed::Extensions));
        let mut just = bytes;
        just[8 * (MOST_EXTENSIONS - 1)] = 6;
        assert_eq!(packet(0).upper_layer(&just).unwrap().protocol, 6);
    }

    proptest! {
        #[test]
        fn a_header_survives_its_bytes(
            (dscp, ecn, flow_label, payload) in (0..64u8, 0..4u8, 0..1u32 << 20, 0..200u16),
            (next_header, hop_limit, source, destination) in any::<(u8, u8, u128, u128)>(),
        ) {
            let header = Ipv6 {
                differentiated_services: dscp,
                ecn: Ecn::of(ecn),
                flow_label,
                payload,
                next_header,
                hop_limit,
                source: source.into(),
                destination: destination.into(),
            };
            let mut bytes = [0; 240];
            header.emit(&mut bytes).unwrap();
            let (read, rest) = Ipv6::parse(&bytes).unwrap();
            prop_assert_eq!((read, rest.len()), (header, usize::from(payload)));
        }
    }
}
