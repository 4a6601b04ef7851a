//! What a frame of a host's kernel says: between which hosts it goes, its flow, its class, and whether its
//! transport reacts to marks. Kernels' hosts are not trusted: what contradicts itself is refused, and so are
//! headers that only the network writes.

use core::net::{Ipv4Addr, Ipv6Addr};

use xxhash_rust::xxh3::xxh3_64;

use crate::address::{host_of_ipv4, host_of_ipv6};
use crate::ethernet::RawEthernet;
use crate::ipv4::{Ecn, Ipv4};
use crate::ipv6::Ipv6;
use crate::mac_control::priority_of;
use crate::tcp::{self, Tcp};
use crate::udp::{self, Udp};
use crate::vlan::Vlan;
use crate::{EtherType, MacAddress, Malformed};

/// The longest frame (bytes); a packet holds its length in 16 bits.
pub const LARGEST_FRAME: usize = u16::MAX as usize;

/// Protocol number of ICMPv6 (RFC 4443).
const ICMPV6: u8 = 58;

/// The types of neighbour discovery in ICMPv6 (RFC 4861, sec. 4): solicitations and advertisements of routers
/// and neighbours, and redirects.
const NEIGHBOUR_DISCOVERY: core::ops::RangeInclusive<u8> = 133..=137;

/// A frame of a kernel's host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelFrame {
    /// A packet to another host.
    Packet(KernelPacket),
    /// Traffic of the link, which goes to no single host.
    Link(LinkTraffic),
}

/// Traffic that a network of point-to-point links has no use for. The driver drops and counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkTraffic {
    /// Address resolution of IPv4.
    AddressResolution,
    /// Neighbour discovery of IPv6.
    NeighbourDiscovery,
    /// To a group of hosts, or to all.
    Multicast,
    /// Between addresses that are valid on a link only.
    LinkLocal,
    /// Neither IPv4 nor IPv6.
    OtherProtocol,
}

impl LinkTraffic {
    /// All sorts, in the order of their numbers (`as usize`).
    pub const ALL: [LinkTraffic; 5] = [
        LinkTraffic::AddressResolution,
        LinkTraffic::NeighbourDiscovery,
        LinkTraffic::Multicast,
        LinkTraffic::LinkLocal,
        LinkTraffic::OtherProtocol,
    ];

    /// The sort as a word for a table.
    pub fn name(self) -> &'static str {
        match self {
            LinkTraffic::AddressResolution => "address-resolution",
            LinkTraffic::NeighbourDiscovery => "neighbour-discovery",
            LinkTraffic::Multicast => "multicast",
            LinkTraffic::LinkLocal => "link-local",
            LinkTraffic::OtherProtocol => "other-protocol",
        }
    }
}

/// What the network needs to know of a packet of a kernel's host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelPacket {
    /// The host that the packet claims to come from, by its IP address. The driver compares it with the
    /// host at the port.
    pub source: u32,
    /// The host that the packet goes to, by its IP address.
    pub destination: u32,
    /// Hash of protocol, addresses and ports; of protocol and addresses only in fragments, and where the
    /// protocol is neither TCP nor UDP. The lower half of XXH3's 64 bits (Y. Collet, xxHash). Both
    /// directions of a connection have different hashes.
    pub flow_hash: u32,
    /// Priority class, 0 the highest, to 7: from the priority of the VLAN tag (PCP), or without a tag from
    /// the class selector of the DSCP (RFC 2474, sec. 4.2.2), by [`priority_of`].
    pub class: u8,
    /// Whether the transport reacts to marks, and whether the packet bears one.
    pub ecn: Ecn,
    /// Bytes behind the headers of TCP and UDP; in fragments, and with other protocols, behind the IP
    /// headers.
    pub payload: u16,
    /// Length of the frame (bytes).
    pub frame_bytes: u16,
    /// [`EtherType::IPV4`] or [`EtherType::IPV6`], behind the VLAN tag if there is one.
    pub ether_type: EtherType,
    /// What the IP packet holds (IANA, protocol numbers).
    pub protocol: u8,
    /// Whether the packet is a part of a datagram.
    pub is_fragment: bool,
}

/// Reads a frame as the kernel of a host made it, without its checksum.
///
/// # Errors
/// When the frame is cut off or contradicts itself, when an address belongs to no host, and when the frame
/// bears our header or a pause ([`Malformed::Forged`]).
pub fn classify(frame: &[u8]) -> Result<KernelFrame, Malformed> {
    let (ethernet, mut rest) = RawEthernet::new(frame)?;
    let frame_bytes = u16::try_from(frame.len()).map_err(|_| Malformed::Long)?;
    let mut ether_type = EtherType(ethernet.ether_type());
    let mut priority = None;
    if ether_type == EtherType::VLAN {
        let (tag, behind) = Vlan::parse(rest)?;
        (priority, ether_type, rest) = (Some(tag.priority), tag.ether_type, behind);
    }
    let internet = match ether_type {
        EtherType::PENSTOCK | EtherType::MAC_CONTROL => return Err(Malformed::Forged),
        EtherType::VLAN | EtherType::SERVICE_VLAN => return Err(Malformed::StackedTags),
        EtherType::ARP => return Ok(KernelFrame::Link(LinkTraffic::AddressResolution)),
        EtherType::IPV4 => Internet::of_ipv4(rest)?,
        EtherType::IPV6 => Internet::of_ipv6(rest)?,
        _ => return Ok(KernelFrame::Link(LinkTraffic::OtherProtocol)),
    };
    if let Some(traffic) = internet.link_traffic(MacAddress(ethernet.destination())) {
        return Ok(KernelFrame::Link(traffic));
    }
    let (source, destination) = internet.hosts().ok_or(Malformed::Address)?;
    let (ports, payload) = internet.transport()?;
    Ok(KernelFrame::Packet(KernelPacket {
        source,
        destination,
        flow_hash: internet.flow_hash(ports),
        class: priority_of(priority.unwrap_or(internet.differentiated_services >> 3)),
        ecn: internet.ecn,
        payload: payload as u16,
        frame_bytes,
        ether_type,
        protocol: internet.protocol,
        is_fragment: internet.is_fragment,
    }))
}

/// The addresses of an IP packet, the sender's first.
#[derive(Clone, Copy)]
enum Addresses {
    Ipv4(Ipv4Addr, Ipv4Addr),
    Ipv6(Ipv6Addr, Ipv6Addr),
}

/// What both versions of IP say.
struct Internet<'a> {
    addresses: Addresses,
    differentiated_services: u8,
    ecn: Ecn,
    protocol: u8,
    is_fragment: bool,
    /// Behind the IP headers, without padding; at most 65,535 B.
    content: &'a [u8],
}

impl<'a> Internet<'a> {
    fn of_ipv4(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let (header, content) = Ipv4::parse(bytes)?;
        Ok(Internet {
            addresses: Addresses::Ipv4(header.source, header.destination),
            differentiated_services: header.differentiated_services,
            ecn: header.ecn,
            protocol: header.protocol,
            is_fragment: header.is_fragment(),
            content,
        })
    }

    fn of_ipv6(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let (header, payload) = Ipv6::parse(bytes)?;
        let upper = header.upper_layer(payload)?;
        Ok(Internet {
            addresses: Addresses::Ipv6(header.source, header.destination),
            differentiated_services: header.differentiated_services,
            ecn: header.ecn,
            protocol: upper.protocol,
            is_fragment: upper.is_fragment,
            content: upper.bytes,
        })
    }

    /// What sort of traffic of the link the packet is, if any. The network's broadcast address,
    /// 10.255.255.255, counts as multicast.
    fn link_traffic(&self, destination: MacAddress) -> Option<LinkTraffic> {
        let is_discovery = self.protocol == ICMPV6
            && !self.is_fragment
            && self.content.first().is_some_and(|number| NEIGHBOUR_DISCOVERY.contains(number));
        let (is_multicast, is_link_local) = match self.addresses {
            Addresses::Ipv4(source, to) => {
                let is_broadcast = to.is_broadcast() || to == Ipv4Addr::new(10, 255, 255, 255);
                let is_link_local = source.is_link_local() || to.is_link_local();
                (to.is_multicast() || is_broadcast, is_link_local)
            }
            Addresses::Ipv6(..) if is_discovery => return Some(LinkTraffic::NeighbourDiscovery),
            Addresses::Ipv6(source, to) => {
                let is_link_local = source.is_unicast_link_local() || to.is_unicast_link_local();
                (to.is_multicast(), is_link_local)
            }
        };
        if is_multicast || destination.is_group() {
            return Some(LinkTraffic::Multicast);
        }
        is_link_local.then_some(LinkTraffic::LinkLocal)
    }

    /// The sender and the receiver.
    fn hosts(&self) -> Option<(u32, u32)> {
        match self.addresses {
            Addresses::Ipv4(source, to) => Some((host_of_ipv4(source)?, host_of_ipv4(to)?)),
            Addresses::Ipv6(source, to) => Some((host_of_ipv6(source)?, host_of_ipv6(to)?)),
        }
    }

    /// The ports of the sender and the receiver, if the packet has any, and the length of the payload
    /// (bytes).
    fn transport(&self) -> Result<(Option<[u16; 2]>, usize), Malformed> {
        match self.protocol {
            _ if self.is_fragment => Ok((None, self.content.len())),
            tcp::PROTOCOL => {
                let (header, payload) = Tcp::parse(self.content)?;
                Ok((Some([header.source_port, header.destination_port]), payload.len()))
            }
            udp::PROTOCOL => {
                let (header, payload) = Udp::parse(self.content)?;
                Ok((Some([header.source_port, header.destination_port]), payload.len()))
            }
            _ => Ok((None, self.content.len())),
        }
    }

    /// The hash of the flow. Its input is the addresses, the ports (0 without ports), the protocol, and
    /// whether there are ports.
    fn flow_hash(&self, ports: Option<[u16; 2]>) -> u32 {
        let mut input = [0; 38];
        let length = match self.addresses {
            Addresses::Ipv4(source, to) => {
                input[..4].copy_from_slice(&source.octets());
                input[4..8].copy_from_slice(&to.octets());
                8
            }
            Addresses::Ipv6(source, to) => {
                input[..16].copy_from_slice(&source.octets());
                input[16..32].copy_from_slice(&to.octets());
                32
            }
        };
        let [from, to] = ports.unwrap_or_default();
        let ([a, b], [c, d]) = (from.to_be_bytes(), to.to_be_bytes());
        let end = [a, b, c, d, self.protocol, u8::from(ports.is_some())];
        input[length..length + 6].copy_from_slice(&end);
        xxh3_64(&input[..length + 6]) as u32
    }
}

#[cfg(test)]
#[path = "kernel_frames.rs"]
pub(crate) mod frames;

#[cfg(test)]
#[path = "kernel_tests.rs"]
mod tests;
