//! Ethernet II: two addresses and the type of what follows (IEEE 802.3, clause 3).

use core::fmt;

use crate::view::view;
use crate::{Header, Malformed, NoRoom};

/// The shortest frame without its checksum (bytes): 64 B less 4 (IEEE 802.3, sec. 3.2.8).
pub const SHORTEST_FRAME: usize = 60;

/// The address of a device on a link (EUI-48).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// All devices on the link.
    pub const BROADCAST: MacAddress = MacAddress([0xff; 6]);
    /// The neighbour, by the address of MAC control frames, which no bridge forwards (IEEE 802.3, annex
    /// 31B; IEEE 802.1Q, table 8-1).
    pub const MAC_CONTROL: MacAddress = MacAddress([0x01, 0x80, 0xc2, 0x00, 0x00, 0x01]);
    /// The neighbour, by the address of the nearest bridge, which no bridge forwards (IEEE 802.1Q, table
    /// 8-1).
    pub const NEAREST_BRIDGE: MacAddress = MacAddress([0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e]);

    /// Whether the address names a group of devices (IEEE 802, sec. 8.2: the lowest bit of the first byte).
    #[inline]
    pub fn is_group(self) -> bool {
        self.0[0] & 1 != 0
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// What follows an Ethernet header or a VLAN tag (IEEE registry of EtherTypes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EtherType(pub u16);

impl EtherType {
    /// IPv4 (RFC 894).
    pub const IPV4: EtherType = EtherType(0x0800);
    /// Address resolution (RFC 826).
    pub const ARP: EtherType = EtherType(0x0806);
    /// VLAN tag (IEEE 802.1Q).
    pub const VLAN: EtherType = EtherType(0x8100);
    /// Service VLAN tag (IEEE 802.1ad).
    pub const SERVICE_VLAN: EtherType = EtherType(0x88a8);
    /// IPv6 (RFC 2464).
    pub const IPV6: EtherType = EtherType(0x86dd);
    /// MAC control (IEEE 802.3, annex 31A).
    pub const MAC_CONTROL: EtherType = EtherType(0x8808);
    /// Our header: local experimental EtherType 1 (IEEE 802, sec. 9.2.4).
    pub const PENSTOCK: EtherType = EtherType(0x88b5);

    /// The least number of a type; a smaller number is the length of an IEEE 802.3 frame (IEEE 802.3, sec.
    /// 3.2.6).
    pub const LEAST: u16 = 0x0600;

    /// Whether the number is the length of an IEEE 802.3 frame, which bears no EtherType here.
    #[inline]
    pub fn is_length(self) -> bool {
        self.0 < EtherType::LEAST
    }
}

view! {
    /// The bytes of an Ethernet header.
    RawEthernet, Header::Ethernet, Ethernet::LENGTH;
    /// The address of the device that the frame is for.
    destination, set_destination: [u8; 6], 0;
    /// The address of the device that sent the frame.
    source, set_source: [u8; 6], 6;
    /// What follows, or the length of what follows.
    ether_type, set_ether_type: u16, 12;
}

/// An Ethernet II header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ethernet {
    /// The device that the frame is for.
    pub destination: MacAddress,
    /// The device that sent the frame.
    pub source: MacAddress,
    /// What follows; at least [`EtherType::LEAST`].
    pub ether_type: EtherType,
}

impl Ethernet {
    /// Length of the header (bytes).
    pub const LENGTH: usize = 14;
    /// Length of the two addresses (bytes).
    pub const ADDRESSES: usize = 12;

    /// Reads the header at the start of `bytes`; returns what follows, too.
    ///
    /// # Errors
    /// When `bytes` end within the header, or bear a length in the place of the type.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<(Ethernet, &[u8]), Malformed> {
        let (raw, rest) = RawEthernet::new(bytes)?;
        let header = Ethernet {
            destination: MacAddress(raw.destination()),
            source: MacAddress(raw.source()),
            ether_type: EtherType(raw.ether_type()),
        };
        match header.ether_type.is_length() {
            true => Err(Malformed::Value(Header::Ethernet)),
            false => Ok((header, rest)),
        }
    }

    /// Writes the header to the start of `bytes`; returns what follows.
    ///
    /// # Errors
    /// When `bytes` are too short.
    #[inline]
    pub fn emit<'a>(&self, bytes: &'a mut [u8]) -> Result<&'a mut [u8], NoRoom> {
        let (mut raw, rest) = RawEthernet::new_mut(bytes)?;
        raw.set_destination(self.destination.0);
        raw.set_source(self.source.0);
        raw.set_ether_type(self.ether_type.0);
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn a_header_is_fourteen_bytes() {
        let header = Ethernet {
            destination: MacAddress::NEAREST_BRIDGE,
            source: MacAddress([2, 0x50, 0x45, 0, 0, 1]),
            ether_type: EtherType::PENSTOCK,
        };
        let mut bytes = [0xee; 15];
        assert_eq!(header.emit(&mut bytes).unwrap(), &[0xee]);
        assert_eq!(bytes[..6], [0x01, 0x80, 0xc2, 0, 0, 0x0e]);
        assert_eq!(bytes[12..], [0x88, 0xb5, 0xee]);
        assert_eq!(Ethernet::parse(&bytes).unwrap(), (header, &[0xee][..]));
        assert_eq!(header.source.to_string(), "02:50:45:00:00:01");
        assert!(header.destination.is_group() && !header.source.is_group());
    }

    #[test]
    fn a_length_is_no_type() {
        let mut bytes = [0; 14];
        bytes[12..].copy_from_slice(&0x05ff_u16.to_be_bytes());
        assert_eq!(Ethernet::parse(&bytes), Err(Malformed::Value(Header::Ethernet)));
        bytes[12..].copy_from_slice(&0x0600_u16.to_be_bytes());
        assert!(Ethernet::parse(&bytes).is_ok());
        assert_eq!(Ethernet::parse(&bytes[..13]), Err(Malformed::Short(Header::Ethernet)));
    }
}
