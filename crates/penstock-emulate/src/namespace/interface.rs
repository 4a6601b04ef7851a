//! The interfaces of the network namespace of the calling thread, over the kernel's route netlink
//! (rtnetlink(7)).

use std::io;
use std::net::IpAddr;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::address::{
    AddressAttribute, AddressFlags, AddressHeader, AddressMessage, AddressScope,
};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkHeader, LinkMessage};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourHeader, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::route::{
    RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

use super::settings::MacAddress;

/// Room for one answer (bytes): a link with all its attributes is below 4 kB; our choice is the
/// double.
const ANSWER_BYTES: usize = 8_192;

/// Segments that TCP hands the device at once. With one, each frame is a packet of its own from the
/// start, and the kernel sends no trains of packets (ip-link(8), `gso_max_segs`).
const SEGMENTS_AT_ONCE: u32 = 1;

/// What an interface has carried since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames that the host has sent and the emulator has received.
    pub outbound: u64,
    /// Frames that the host wanted to send, and for which the device had no room.
    pub dropped_outbound: u64,
    /// Frames that the emulator has sent to the host.
    pub inbound: u64,
    /// Frames that the emulator wanted to send to the host, and that the kernel has dropped.
    pub dropped_inbound: u64,
}

/// A conversation with the kernel about the interfaces of one namespace.
#[derive(Debug)]
pub(super) struct Interfaces {
    socket: Socket,
    requests: u32,
}

impl Interfaces {
    /// Begins a conversation about the namespace of the calling thread.
    pub(super) fn new() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket, requests: 0 })
    }

    /// Sends a request, and returns what the kernel answers: none for "done".
    fn request(
        &mut self,
        message: RouteNetlinkMessage,
        flags: u16,
    ) -> io::Result<Option<RouteNetlinkMessage>> {
        self.requests += 1;
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | flags;
        header.sequence_number = self.requests;
        let mut request = NetlinkMessage::new(header, NetlinkPayload::from(message));
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        loop {
            let mut answer = Vec::with_capacity(ANSWER_BYTES);
            self.socket.recv(&mut answer, 0)?;
            let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
            if answer.header.sequence_number != self.requests {
                continue;
            }
            return match answer.payload {
                NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
                NetlinkPayload::InnerMessage(message) => Ok(Some(message)),
                _ => Ok(None),
            };
        }
    }

    /// Sends a request that is answered with "done".
    fn ask(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.request(message, NLM_F_ACK | flags).map(|_| ())
    }

    /// Sets attributes of an interface that is down.
    pub(super) fn set(&mut self, interface: u32, attributes: Vec<LinkAttribute>) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header = LinkHeader { index: interface, ..LinkHeader::default() };
        message.attributes = attributes;
        self.ask(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Brings an interface up, with these flags beside.
    pub(super) fn bring_up(&mut self, interface: u32, flags: LinkFlags) -> io::Result<()> {
        let flags = flags | LinkFlags::Up;
        let mut message = LinkMessage::default();
        message.header =
            LinkHeader { index: interface, flags, change_mask: flags, ..LinkHeader::default() };
        self.ask(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Gives an interface an address, without a route and without a search for duplicates.
    pub(super) fn add_address(&mut self, interface: u32, address: IpAddr) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header = AddressHeader {
            family: family(address),
            prefix_len: address_bits(address),
            scope: AddressScope::Universe,
            index: interface,
            ..AddressHeader::default()
        };
        message.attributes = vec![
            AddressAttribute::Local(address),
            AddressAttribute::Address(address),
            AddressAttribute::Flags(AddressFlags::Nodad | AddressFlags::Noprefixroute),
        ];
        self.ask(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Adds the route to a neighbour, whose connections have this congestion control.
    pub(super) fn add_route(
        &mut self,
        interface: u32,
        neighbour: IpAddr,
        congestion_control: Option<&str>,
    ) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header = RouteHeader {
            address_family: family(neighbour),
            destination_prefix_length: address_bits(neighbour),
            table: RouteHeader::RT_TABLE_MAIN,
            protocol: RouteProtocol::Static,
            scope: if neighbour.is_ipv4() { RouteScope::Link } else { RouteScope::Universe },
            kind: RouteType::Unicast,
            ..RouteHeader::default()
        };
        message.attributes =
            vec![RouteAttribute::Destination(neighbour.into()), RouteAttribute::Oif(interface)];
        if let Some(name) = congestion_control {
            message
                .attributes
                .push(RouteAttribute::Metrics(vec![RouteMetric::CcAlgo(name.to_owned())]));
        }
        self.ask(RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Tells the kernel for good which interface a neighbour's address is at.
    pub(super) fn add_neighbour(
        &mut self,
        interface: u32,
        address: IpAddr,
        mac: MacAddress,
    ) -> io::Result<()> {
        let mut message = NeighbourMessage::default();
        message.header = NeighbourHeader {
            family: family(address),
            ifindex: interface,
            state: NeighbourState::Permanent,
            ..NeighbourHeader::default()
        };
        message.attributes = vec![
            NeighbourAttribute::Destination(NeighbourAddress::from(address)),
            NeighbourAttribute::LinkLayerAddress(mac.to_vec()),
        ];
        self.ask(RouteNetlinkMessage::NewNeighbour(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// What an interface has carried.
    pub(super) fn counters(&mut self, interface: u32) -> io::Result<Counters> {
        let mut message = LinkMessage::default();
        message.header = LinkHeader { index: interface, ..LinkHeader::default() };
        let Some(RouteNetlinkMessage::NewLink(link)) =
            self.request(RouteNetlinkMessage::GetLink(message), 0)?
        else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        link.attributes
            .iter()
            .find_map(|attribute| match attribute {
                LinkAttribute::Stats64(counted) => Some(Counters {
                    outbound: counted.tx_packets,
                    dropped_outbound: counted.tx_dropped,
                    inbound: counted.rx_packets,
                    dropped_inbound: counted.rx_dropped,
                }),
                _ => None,
            })
            .ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

/// The attributes of a host's interface.
pub(super) fn attributes(mac: MacAddress, mtu: u32, queue_frames: u32) -> Vec<LinkAttribute> {
    vec![
        LinkAttribute::Address(mac.to_vec()),
        LinkAttribute::Mtu(mtu),
        LinkAttribute::TxQueueLen(queue_frames),
        LinkAttribute::GsoMaxSegs(SEGMENTS_AT_ONCE),
    ]
}

/// The family of an address.
fn family(address: IpAddr) -> AddressFamily {
    if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 }
}

/// The length of an address (bits).
fn address_bits(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}
