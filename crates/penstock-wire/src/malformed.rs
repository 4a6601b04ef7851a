//! Why bytes are refused, and why a buffer is.

use core::fmt;

use thiserror::Error;

/// A header, as messages name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Header {
    /// Ethernet II (IEEE 802.3, clause 3).
    Ethernet,
    /// VLAN tag (IEEE 802.1Q, clause 9).
    Vlan,
    /// IPv4 (RFC 791).
    Ipv4,
    /// IPv6 (RFC 8200).
    Ipv6,
    /// UDP (RFC 768).
    Udp,
    /// TCP (RFC 9293).
    Tcp,
    /// The base transport header of RoCEv2 (InfiniBand, volume 1, sec. 9.2, annex A17).
    Roce,
    /// Priority-based flow control (IEEE 802.1Qbb).
    MacControl,
    /// Our header of packets from host to host (`docs/wire.md`).
    EndToEnd,
    /// Our header of frames between neighbours (`docs/wire.md`).
    LinkLocal,
    /// The telemetry behind our header (`docs/wire.md`).
    Telemetry,
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Header::Ethernet => "Ethernet header",
            Header::Vlan => "VLAN tag",
            Header::Ipv4 => "IPv4 header",
            Header::Ipv6 => "IPv6 header",
            Header::Udp => "UDP header",
            Header::Tcp => "TCP header",
            Header::Roce => "RoCEv2 header",
            Header::MacControl => "MAC control header",
            Header::EndToEnd => "Penstock header",
            Header::LinkLocal => "Penstock link header",
            Header::Telemetry => "Penstock telemetry",
        })
    }
}

/// Why bytes are no frame that can be handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum Malformed {
    /// The bytes end within a header.
    #[error("the frame ends within its {0}")]
    Short(Header),
    /// A length in a header contradicts another length, or the length of the frame.
    #[error("a length in the {0} is wrong")]
    Length(Header),
    /// A header of another version.
    #[error("the {0} has an unknown version")]
    Version(Header),
    /// A field has a value that its standard does not allow.
    #[error("a field of the {0} has a value that is not allowed")]
    Value(Header),
    /// The checksum of an IPv4 header is wrong.
    #[error("the checksum of the IPv4 header is wrong")]
    Checksum,
    /// More IPv6 extension headers than [`crate::ipv6::MOST_EXTENSIONS`].
    #[error("the packet has too many IPv6 extension headers")]
    Extensions,
    /// A VLAN tag behind a VLAN tag.
    #[error("the frame has two VLAN tags")]
    StackedTags,
    /// The frame does not have the EtherType that was asked for.
    #[error("the frame is of EtherType {0:#06x}")]
    EtherType(u16),
    /// A frame of a kernel's host bears our header or a pause. Only our own nodes send such frames.
    #[error("a host's kernel has forged a header of the network")]
    Forged,
    /// An IP address that belongs to no host ([`crate::address`]).
    #[error("an IP address of the packet belongs to no host")]
    Address,
    /// A frame above [`crate::kernel::LARGEST_FRAME`].
    #[error("the frame is longer than 65,535 B")]
    Long,
}

impl Malformed {
    /// The reasons as words for a table, by [`Malformed::index`].
    pub const NAMES: [&'static str; 11] = [
        "short",
        "length",
        "version",
        "value",
        "checksum",
        "extensions",
        "stacked-tags",
        "ether-type",
        "forged",
        "address",
        "long",
    ];

    /// The number of the reason, below the length of [`Malformed::NAMES`]: for an array of counters. The
    /// header does not count.
    pub fn index(self) -> usize {
        match self {
            Malformed::Short(_) => 0,
            Malformed::Length(_) => 1,
            Malformed::Version(_) => 2,
            Malformed::Value(_) => 3,
            Malformed::Checksum => 4,
            Malformed::Extensions => 5,
            Malformed::StackedTags => 6,
            Malformed::EtherType(_) => 7,
            Malformed::Forged => 8,
            Malformed::Address => 9,
            Malformed::Long => 10,
        }
    }

    /// The reason as a word for a table.
    pub fn name(self) -> &'static str {
        Malformed::NAMES[self.index()]
    }
}

/// A buffer is too small for what should be written into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{needed} B do not fit into a buffer of {given} B")]
pub struct NoRoom {
    /// What has to be written (bytes).
    pub needed: usize,
    /// Length of the buffer (bytes).
    pub given: usize,
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn every_reason_has_a_place_a_word_and_a_sentence() {
        let all = [
            Malformed::Short(Header::Tcp),
            Malformed::Length(Header::Ipv4),
            Malformed::Version(Header::EndToEnd),
            Malformed::Value(Header::LinkLocal),
            Malformed::Checksum,
            Malformed::Extensions,
            Malformed::StackedTags,
            Malformed::EtherType(0x0800),
            Malformed::Forged,
            Malformed::Address,
            Malformed::Long,
        ];
        for (place, reason) in all.into_iter().enumerate() {
            assert_eq!(reason.index(), place);
            assert_eq!(reason.name(), Malformed::NAMES[place]);
        }
        assert_eq!(all.len(), Malformed::NAMES.len());
        assert_eq!(all[0].to_string(), "the frame ends within its TCP header");
        assert_eq!(all[7].to_string(), "the frame is of EtherType 0x0800");
    }
}
