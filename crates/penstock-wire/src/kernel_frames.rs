//! Frames as the kernel of a host makes them, for tests.

use alloc::vec;
use alloc::vec::Vec;

use crate::address::{ipv4_of, ipv6_of, mac_of};
use crate::ipv4::{Ecn, Ipv4};
use crate::ipv6::Ipv6;
use crate::tcp::{self, Tcp, TcpFlags};
use crate::udp::{self, Udp};
use crate::vlan::Vlan;
use crate::{EtherType, Ethernet};

/// The version of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layer3 {
    Ipv4,
    Ipv6,
}

/// A packet of TCP, UDP or another protocol between two hosts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel {
    pub layer3: Layer3,
    /// Priority of the VLAN tag, if there is one.
    pub tag: Option<u8>,
    pub traffic_class: u8,
    pub hosts: (u32, u32),
    pub protocol: u8,
    pub ports: (u16, u16),
    /// More fragments, and offset in units of 8 B.
    pub fragment: (bool, u16),
    pub payload: u16,
}

impl Default for Kernel {
    fn default() -> Self {
        Kernel {
            layer3: Layer3::Ipv4,
            tag: None,
            traffic_class: 0,
            hosts: (0, 1),
            protocol: tcp::PROTOCOL,
            ports: (40_000, 80),
            fragment: (false, 0),
            payload: 5,
        }
    }
}

impl Kernel {
    /// The bytes of the frame. The fragment header of IPv6 is there for fragments only.
    pub fn bytes(self) -> Vec<u8> {
        let mut bytes = vec![0; 2_000];
        let ether_type = match self.layer3 {
            Layer3::Ipv4 => EtherType::IPV4,
            Layer3::Ipv6 => EtherType::IPV6,
        };
        let ethernet = Ethernet {
            destination: mac_of(self.hosts.1).unwrap(),
            source: mac_of(self.hosts.0).unwrap(),
            ether_type: if self.tag.is_some() { EtherType::VLAN } else { ether_type },
        };
        let mut rest = ethernet.emit(&mut bytes).unwrap();
        if let Some(priority) = self.tag {
            let tag = Vlan { priority, is_drop_eligible: false, identifier: 0, ether_type };
            rest = tag.emit(rest).unwrap();
        }
        let left = match self.layer3 {
            Layer3::Ipv4 => self.ipv4(rest),
            Layer3::Ipv6 => self.ipv6(rest),
        };
        bytes.truncate(2_000 - left);
        bytes
    }

    fn ipv4(self, bytes: &mut [u8]) -> usize {
        let header = Ipv4 {
            differentiated_services: self.traffic_class >> 2,
            ecn: Ecn::of(self.traffic_class),
            options: 0,
            payload: self.content() as u16,
            identification: 7,
            is_unfragmentable: false,
            has_more_fragments: self.fragment.0,
            fragment_offset: self.fragment.1,
            time_to_live: 64,
            protocol: self.protocol,
            source: ipv4_of(self.hosts.0).unwrap(),
            destination: ipv4_of(self.hosts.1).unwrap(),
        };
        self.transport(header.emit(bytes).unwrap())
    }

    fn ipv6(self, bytes: &mut [u8]) -> usize {
        let is_fragment = self.fragment != (false, 0);
        let extension = if is_fragment { 8 } else { 0 };
        let header = Ipv6 {
            differentiated_services: self.traffic_class >> 2,
            ecn: Ecn::of(self.traffic_class),
            flow_label: 0x1234,
            payload: (extension + self.content()) as u16,
            next_header: if is_fragment { 44 } else { self.protocol },
            hop_limit: 64,
            source: ipv6_of(self.hosts.0).unwrap(),
            destination: ipv6_of(self.hosts.1).unwrap(),
        };
        let rest = header.emit(bytes).unwrap();
        if is_fragment {
            let place = (self.fragment.1 << 3 | u16::from(self.fragment.0)).to_be_bytes();
            rest[..4].copy_from_slice(&[self.protocol, 0, place[0], place[1]]);
        }
        self.transport(&mut rest[extension..])
    }

    /// Bytes behind the IP headers.
    fn content(self) -> usize {
        let header = match self.protocol {
            tcp::PROTOCOL => Tcp::LENGTH,
            udp::PROTOCOL => Udp::LENGTH,
            _ => 0,
        };
        header + usize::from(self.payload)
    }

    fn transport(self, bytes: &mut [u8]) -> usize {
        let (source_port, destination_port) = self.ports;
        let rest = match self.protocol {
            tcp::PROTOCOL => {
                let header = Tcp {
                    source_port,
                    destination_port,
                    sequence: 1,
                    acknowledgement: 2,
                    options: 0,
                    flags: TcpFlags::ACKNOWLEDGE,
                    window: 500,
                    checksum: 0,
                    urgent: 0,
                };
                header.emit(bytes).unwrap()
            }
            udp::PROTOCOL => {
                let payload = self.payload;
                let header = Udp { source_port, destination_port, payload, checksum: 0 };
                header.emit(bytes).unwrap()
            }
            _ => bytes,
        };
        rest.len() - usize::from(self.payload)
    }
}
