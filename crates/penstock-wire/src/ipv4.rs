//! IPv4 (RFC 791), with the field for differentiated services (RFC 2474) and for congestion (RFC 3168).

use core::net::Ipv4Addr;

use crate::view::view;
use crate::{Header, Malformed, NoRoom};

/// Explicit congestion notification: the two bits of an IP header (RFC 3168, sec. 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not react to marks.
    #[default]
    NotCapable = 0,
    /// The transport reacts to marks; with L4S, as often as there are marks (RFC 9331).
    Capable1 = 1,
    /// The transport reacts to marks.
    Capable0 = 2,
    /// Congestion was experienced.
    Experienced = 3,
}

impl Ecn {
    /// The two lowest bits of the byte that held the type of service, or of the traffic class.
    #[inline]
    pub fn of(traffic_class: u8) -> Ecn {
        match traffic_class & 3 {
            0 => Ecn::NotCapable,
            1 => Ecn::Capable1,
            2 => Ecn::Capable0,
            _ => Ecn::Experienced,
        }
    }

    /// Whether the transport reacts to marks.
    #[inline]
    pub fn is_capable(self) -> bool {
        self != Ecn::NotCapable
    }
}

view! {
    /// The first 20 bytes of an IPv4 header; options may follow.
    RawIpv4, Header::Ipv4, Ipv4::LENGTH;
    /// Version (4 bits) and length of the header in units of 4 B (4 bits).
    version_and_length, set_version_and_length: u8, 0;
    /// Differentiated services (6 bits) and congestion (2 bits).
    traffic_class, set_traffic_class: u8, 1;
    /// Length of header and payload (bytes).
    total_length, set_total_length: u16, 2;
    /// The datagram to which a fragment belongs.
    identification, set_identification: u16, 4;
    /// Flags (3 bits: reserved, don't fragment, more fragments) and offset in units of 8 B (13 bits).
    fragment, set_fragment: u16, 6;
    /// Time to live (hops).
    time_to_live, set_time_to_live: u8, 8;
    /// What follows the header (IANA, protocol numbers).
    protocol, set_protocol: u8, 9;
    /// Checksum of the header.
    checksum, set_checksum: u16, 10;
    /// The sender.
    source, set_source: [u8; 4], 12;
    /// The receiver.
    destination, set_destination: [u8; 4], 16;
}

/// An IPv4 header. The content of its options is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4 {
    /// Differentiated services code point (DSCP), 0 to 63.
    pub differentiated_services: u8,
    /// Congestion.
    pub ecn: Ecn,
    /// Length of the options (bytes): a multiple of 4, at most 40. Other lengths are written as the next
    /// smaller multiple.
    pub options: u8,
    /// Length of what follows the header and its options (bytes), at most 65,535 together with these.
    pub payload: u16,
    /// The datagram to which a fragment belongs.
    pub identification: u16,
    /// Whether routers must not fragment the packet.
    pub is_unfragmentable: bool,
    /// Whether a later fragment follows.
    pub has_more_fragments: bool,
    /// The place of the fragment in its datagram, in units of 8 B, below 8,192.
    pub fragment_offset: u16,
    /// Time to live (hops).
    pub time_to_live: u8,
    /// What follows the header (IANA, protocol numbers).
    pub protocol: u8,
    /// The sender.
    pub source: Ipv4Addr,
    /// The receiver.
    pub destination: Ipv4Addr,
}

impl Ipv4 {
    /// Length of a header without options (bytes).
    pub const LENGTH: usize = 20;

    /// Whether the packet is a part of a datagram, the first part included.
    #[inline]
    pub fn is_fragment(&self) -> bool {
        self.has_more_fragments || self.fragment_offset > 0
    }

    /// Reads the header at the start of `bytes`. Returns its payload, too, without the padding behind it.
    ///
    /// # Errors
    /// When `bytes` end within the header or the payload, or the header is of another version, has an
    /// impossible length or a wrong checksum, or sets the reserved flag.
    pub fn parse(bytes: &[u8]) -> Result<(Ipv4, &[u8]), Malformed> {
        let (raw, _) = RawIpv4::new(bytes)?;
        let (version, words) = (raw.version_and_length() >> 4, raw.version_and_length() & 0xf);
        if version != 4 {
            return Err(Malformed::Version(Header::Ipv4));
        }
        let (length, total) = (4 * usize::from(words), usize::from(raw.total_length()));
        if length < Ipv4::LENGTH || total < length {
            return Err(Malformed::Length(Header::Ipv4));
        }
        let header = bytes.get(..length).ok_or(Malformed::Short(Header::Ipv4))?;
        let payload = bytes.get(length..total).ok_or(Malformed::Length(Header::Ipv4))?;
        if checksum(header) != 0 {
            return Err(Malformed::Checksum);
        }
        let fragment = raw.fragment();
        if fragment & 0x8000 != 0 {
            return Err(Malformed::Value(Header::Ipv4));
        }
        let header = Ipv4 {
            differentiated_services: raw.traffic_class() >> 2,
            ecn: Ecn::of(raw.traffic_class()),
            options: (length - Ipv4::LENGTH) as u8,
            payload: payload.len() as u16,
            identification: raw.identification(),
            is_unfragmentable: fragment & 0x4000 != 0,
            has_more_fragments: fragment & 0x2000 != 0,
            fragment_offset: fragment & 0x1fff,
            time_to_live: raw.time_to_live(),
            protocol: raw.protocol(),
            source: raw.source().into(),
            destination: raw.destination().into(),
        };
        Ok((header, payload))
    }

    /// Writes the header to the start of `bytes`, with its checksum; returns what follows. Options are
    /// written as zeros, which end a list of options.
    ///
    /// # Errors
    /// When `bytes` are too short.
    pub fn emit<'a>(&self, bytes: &'a mut [u8]) -> Result<&'a mut [u8], NoRoom> {
        let (needed, given) =
            (Ipv4::LENGTH + usize::from(self.options.min(40) & 0x3c), bytes.len());
        let split = bytes.split_at_mut_checked(needed);
        let (header, rest) = split.ok_or(NoRoom { needed, given })?;
        let (mut raw, options) = RawIpv4::new_mut(header)?;
        options.fill(0);
        raw.set_version_and_length(4 << 4 | (needed / 4) as u8);
        raw.set_traffic_class(self.differentiated_services << 2 | self.ecn as u8);
        raw.set_total_length(self.payload.saturating_add(needed as u16));
        raw.set_identification(self.identification);
        let flags = u16::from(self.is_unfragmentable) << 14;
        let flags = flags | u16::from(self.has_more_fragments) << 13;
        raw.set_fragment(flags | self.fragment_offset & 0x1fff);
        raw.set_time_to_live(self.time_to_live);
        raw.set_protocol(self.protocol);
        raw.set_checksum(0);
        raw.set_source(self.source.octets());
        raw.set_destination(self.destination.octets());
        let sum = checksum(header);
        RawIpv4::new_mut(header)?.0.set_checksum(sum);
        Ok(rest)
    }
}

/// The Internet checksum of `bytes` (RFC 1071): 0 for bytes that hold their own checksum.
pub fn checksum(bytes: &[u8]) -> u16 {
    let (words, odd) = bytes.as_chunks::<2>();
    let sum: u64 = words.iter().map(|&word| u64::from(u16::from_be_bytes(word))).sum();
    let last = odd.first().map_or(0, |&byte| u64::from(byte) << 8);
    !fold(sum + last)
}

/// The checksum of a header after one of its 16-bit words has changed from `old` to `new` (RFC 1624,
/// equation 3).
#[inline]
pub fn updated_checksum(checksum: u16, old: u16, new: u16) -> u16 {
    !fold(u64::from(!checksum) + u64::from(!old) + u64::from(new))
}

/// The sum of the 16-bit words of `sum`, with all carries added.
#[inline]
fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The example of RFC 1071, sec. 3, whose sum is 0xddf2.
    #[test]
    fn the_checksum_is_that_of_rfc_1071() {
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
    }

    /// The example of RFC 1624, sec. 4: 0xdd2f with 0x5555 for 0x3285 becomes 0x0000.
    #[test]
    fn the_update_is_that_of_rfc_1624() {
        assert_eq!(updated_checksum(0xdd2f, 0x5555, 0x3285), 0x0000);
    }

    fn header() -> impl Strategy<Value = Ipv4> {
        let fields = (0..64u8, 0..4u8, 0..=10u8, 0..1_000u16, any::<u16>(), any::<[bool; 2]>());
        (fields, 0..8_192u16, any::<(u8, u8, u32, u32)>()).prop_map(
            |((dscp, ecn, options, payload, identification, flags), fragment_offset, rest)| Ipv4 {
                differentiated_services: dscp,
                ecn: Ecn::of(ecn),
                options: 4 * options,
                payload,
                identification,
                is_unfragmentable: flags[0],
                has_more_fragments: flags[1],
                fragment_offset,
                time_to_live: rest.0,
                protocol: rest.1,
                source: rest.2.into(),
                destination: rest.3.into(),
            },
        )
    }

    proptest! {
        #[test]
        fn a_header_survives_its_bytes(header in header(), padding in 0..9usize) {
            let mut bytes = [0xaa; 1_100];
            let rest = header.emit(&mut bytes).unwrap().len();
            let length = 1_100 - rest + usize::from(header.payload) + padding;
            let (read, payload) = Ipv4::parse(&bytes[..length]).unwrap();
            prop_assert_eq!(read, header);
            prop_assert_eq!(payload.len(), usize::from(header.payload));
        }

        #[test]
        fn a_changed_bit_is_noticed(header in header(), bit in 0..160usize) {
            let mut bytes = [0; 1_100];
            header.emit(&mut bytes).unwrap();
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(Ipv4::parse(&bytes).is_err());
        }

        #[test]
        fn an_update_is_the_checksum_of_the_new_words(words in any::<[u16; 9]>(), new in any::<u16>()) {
            // Of headers that are all zero, RFC 1624 says nothing; an IPv4 header never is.
            prop_assume!(words[1..].iter().any(|&word| word != 0));
            let sum = |words: &[u16]| {
                let bytes: alloc::vec::Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
                checksum(&bytes)
            };
            let mut changed = words;
            changed[0] = new;
            prop_assert_eq!(updated_checksum(sum(&words), words[0], new), sum(&changed));
        }
    }

    #[test]
    fn impossible_headers_are_refused() {
        let header = Ipv4 {
            differentiated_services: 0,
            ecn: Ecn::NotCapable,
            options: 0,
            payload: 8,
            identification: 0,
            is_unfragmentable: true,
            has_more_fragments: false,
            fragment_offset: 0,
            time_to_live: 64,
            protocol: 17,
            source: [10, 0, 0, 1].into(),
            destination: [10, 0, 0, 2].into(),
        };
        let mut good = [0; 28];
        header.emit(&mut good).unwrap();
        let with = |place: usize, value: u8| {
            let mut bytes = good;
            bytes[place] = value;
            bytes[10..12].fill(0);
            let sum = checksum(&bytes[..20]).to_be_bytes();
            bytes[10..12].copy_from_slice(&sum);
            Ipv4::parse(&bytes).map(|(header, _)| header)
        };
        assert_eq!(with(8, 64), Ok(header));
        assert_eq!(with(0, 0x65), Err(Malformed::Version(Header::Ipv4)));
        assert_eq!(with(0, 0x44), Err(Malformed::Length(Header::Ipv4)));
        assert_eq!(with(3, 19), Err(Malformed::Length(Header::Ipv4)));
        assert_eq!(with(3, 29), Err(Malformed::Length(Header::Ipv4)));
        assert_eq!(with(6, 0x80), Err(Malformed::Value(Header::Ipv4)));
        assert_eq!(Ipv4::parse(&good[..19]), Err(Malformed::Short(Header::Ipv4)));
    }
}
