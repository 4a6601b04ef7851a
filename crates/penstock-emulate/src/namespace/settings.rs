//! What a host is made of.

use std::net::IpAddr;

/// An address of an Ethernet interface (IEEE 802).
pub type MacAddress = [u8; 6];

/// The most frames for which a device has room: our choice, 8 MB of the kernel's memory.
pub const MOST_QUEUE_FRAMES: u32 = 1 << 20;

/// A host of the emulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSettings {
    /// The name of the host, in messages and as the name of its thread; the kernel shows 15 bytes
    /// of it.
    pub name: String,
    /// The address of the interface. The kernel refuses a group address.
    pub mac: MacAddress,
    /// The longest IP packet (bytes), 68 to 65,521 (with IPv6 from 1,280 on). A frame is at most 14
    /// bytes longer, with a VLAN tag 18.
    pub mtu: u32,
    /// How many frames wait in the device until the emulator receives them, 1 to
    /// [`MOST_QUEUE_FRAMES`]. The kernel drops and counts more
    /// ([`Counters::dropped_outbound`](super::Counters::dropped_outbound)). It frees places in
    /// small groups, so that a few of them may be missing.
    pub queue_frames: u32,
    /// Who speaks in the namespace.
    pub stack: Stack,
}

/// Who speaks in a host's namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stack {
    /// The kernel's TCP/IP, for programs.
    Kernel(KernelStack),
    /// A packet socket of ours. The kernel has no address there, and answers nothing.
    Packets,
}

/// How the kernel's TCP/IP is set in a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelStack {
    /// The host's own addresses.
    pub addresses: Vec<IpAddr>,
    /// The addresses of all other hosts. There is a route to each of them and to nothing else: a
    /// program that connects to another address learns at once that the network is unreachable. The
    /// kernel needs to ask nobody (no ARP, no neighbour discovery).
    pub neighbours: Vec<(IpAddr, MacAddress)>,
    /// The congestion control of TCP connections; none: the kernel's default.
    ///
    /// One that the kernel does not let every program choose
    /// (`net.ipv4.tcp_allowed_congestion_control` outside) can be no default of a namespace. It is
    /// a property of the routes then, and a program's own choice before `connect` counts for
    /// nothing: the route overrides it.
    pub congestion_control: Option<String>,
    /// Congestion controls that programs of the host choose themselves
    /// (`setsockopt(TCP_CONGESTION)`). They are checked, not set: since Linux 5.13 only an
    /// administrator outside can allow more.
    pub chosen_by_programs: Vec<String>,
    /// Explicit congestion notification (RFC 3168).
    pub ecn: Ecn,
}

/// Whether TCP connections use explicit congestion notification; values of `net.ipv4.tcp_ecn` (the
/// kernel's Documentation/networking/ip-sysctl.rst).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Neither asked for nor granted (0).
    Off,
    /// Asked for and granted (1).
    On,
    /// Granted to who asks (2): the kernel's default.
    #[default]
    Granted,
}
