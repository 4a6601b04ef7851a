//! Frames of kernels: what they say, and what is refused.

use alloc::vec::Vec;

use proptest::prelude::*;

use super::frames::{Kernel, Layer3};
use super::*;
use crate::{Header, Malformed};

fn packet(bytes: &[u8]) -> KernelPacket {
    match classify(bytes) {
        Ok(KernelFrame::Packet(packet)) => packet,
        other => panic!("{other:?}"),
    }
}

fn hash(kernel: Kernel) -> u32 {
    packet(&kernel.bytes()).flow_hash
}

fn kernel() -> impl Strategy<Value = Kernel> {
    let layer3 = prop_oneof![Just(Layer3::Ipv4), Just(Layer3::Ipv6)];
    let protocol = prop_oneof![Just(tcp::PROTOCOL), Just(udp::PROTOCOL), Just(132)];
    let hosts = (0..1_000u32, 0..crate::address::HOSTS);
    let of_link = (layer3, prop::option::of(0..8u8), any::<u8>());
    (of_link, hosts, protocol, any::<(u16, u16)>(), 0..1_400u16).prop_map(
        |((layer3, tag, traffic_class), hosts, protocol, ports, payload)| Kernel {
            layer3,
            tag,
            traffic_class,
            hosts,
            protocol,
            ports,
            payload,
            ..Kernel::default()
        },
    )
}

proptest! {
    #[test]
    fn a_frame_says_what_its_kernel_wrote(kernel in kernel()) {
        let bytes = kernel.bytes();
        let read = packet(&bytes);
        prop_assert_eq!((read.source, read.destination), kernel.hosts);
        prop_assert_eq!((read.payload, read.protocol), (kernel.payload, kernel.protocol));
        prop_assert_eq!(usize::from(read.frame_bytes), bytes.len());
        let priority = kernel.tag.unwrap_or(kernel.traffic_class >> 5);
        prop_assert_eq!(read.class, 7 - priority);
        prop_assert_eq!(read.ecn as u8, kernel.traffic_class & 3);
        let is_ipv6 = kernel.layer3 == Layer3::Ipv6;
        prop_assert_eq!(read.ether_type == EtherType::IPV6, is_ipv6);
    }

    #[test]
    fn class_and_marks_and_payload_are_not_of_the_flow(kernel in kernel(), other in kernel()) {
        let Kernel { tag, traffic_class, payload, .. } = other;
        prop_assert_eq!(hash(kernel), hash(Kernel { tag, traffic_class, payload, ..kernel }));
    }

    #[test]
    fn a_frame_that_is_cut_off_is_refused(kernel in kernel(), cut in any::<prop::sample::Index>()) {
        let bytes = kernel.bytes();
        prop_assert!(classify(&bytes[..cut.index(bytes.len())]).is_err());
    }

    #[test]
    fn nothing_panics(
        kernel in kernel(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
    ) {
        let mut bytes = kernel.bytes();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        let _ = classify(&bytes);
    }
}

#[test]
fn every_part_of_the_5_tuple_counts() {
    let base = Kernel::default();
    let others = [
        base,
        Kernel { hosts: (2, 1), ..base },
        Kernel { hosts: (0, 2), ..base },
        Kernel { hosts: (1, 0), ..base },
        Kernel { ports: (40_001, 80), ..base },
        Kernel { ports: (40_000, 81), ..base },
        Kernel { ports: (80, 40_000), ..base },
        Kernel { protocol: udp::PROTOCOL, ..base },
        Kernel { layer3: Layer3::Ipv6, ..base },
        Kernel { fragment: (true, 0), ..base },
    ];
    let mut hashes: Vec<u32> = others.into_iter().map(hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), others.len());
}

/// The input of the hash is written out, so that another program can compute the same hash.
#[test]
fn the_hash_is_xxh3_of_addresses_ports_and_protocol() {
    let input = [10, 0, 0, 1, 10, 0, 0, 2, 0x9c, 0x40, 0, 80, 6, 1];
    assert_eq!(hash(Kernel::default()), xxh3_64(&input) as u32);
    let icmp = Kernel { protocol: 1, ..Kernel::default() };
    let input = [10, 0, 0, 1, 10, 0, 0, 2, 0, 0, 0, 0, 1, 0];
    assert_eq!(hash(icmp), xxh3_64(&input) as u32);
}

#[test]
fn the_parts_of_a_datagram_are_one_flow() {
    for layer3 in [Layer3::Ipv4, Layer3::Ipv6] {
        let base = Kernel { layer3, protocol: udp::PROTOCOL, ..Kernel::default() };
        let first = Kernel { fragment: (true, 0), ..base };
        let last = Kernel { fragment: (false, 100), ports: (1, 2), ..base };
        assert_eq!(hash(first), hash(last), "{layer3:?}");
        assert_ne!(hash(first), hash(base), "{layer3:?}");
        let read = packet(&first.bytes());
        assert_eq!((read.is_fragment, read.payload), (true, 13), "{layer3:?}");
    }
}

#[test]
fn headers_of_the_network_are_forged() {
    let mut bytes = Kernel::default().bytes();
    for number in [EtherType::PENSTOCK.0, EtherType::MAC_CONTROL.0] {
        bytes[12..14].copy_from_slice(&number.to_be_bytes());
        assert_eq!(classify(&bytes), Err(Malformed::Forged));
    }
    let mut tagged = Kernel { tag: Some(7), ..Kernel::default() }.bytes();
    tagged[16..18].copy_from_slice(&EtherType::PENSTOCK.0.to_be_bytes());
    assert_eq!(classify(&tagged), Err(Malformed::Forged), "behind a VLAN tag, too");
    tagged[16..18].copy_from_slice(&EtherType::VLAN.0.to_be_bytes());
    assert_eq!(classify(&tagged), Err(Malformed::StackedTags));
}

#[test]
fn traffic_of_the_link_is_recognised() {
    let link = |traffic| Ok(KernelFrame::Link(traffic));
    let with_type = |number: u16| {
        let mut bytes = Kernel::default().bytes();
        bytes[12..14].copy_from_slice(&number.to_be_bytes());
        classify(&bytes)
    };
    assert_eq!(with_type(0x0806), link(LinkTraffic::AddressResolution));
    assert_eq!(with_type(0x88cc), link(LinkTraffic::OtherProtocol));
    assert_eq!(with_type(0x0026), link(LinkTraffic::OtherProtocol));
    let mut group = Kernel::default().bytes();
    group[0] |= 1;
    assert_eq!(classify(&group), link(LinkTraffic::Multicast));
    // A router solicitation, and an echo request: types 133 and 128 of ICMPv6.
    let base = Kernel { layer3: Layer3::Ipv6, protocol: ICMPV6, ..Kernel::default() };
    let mut icmp = base.bytes();
    icmp[54] = 133;
    assert_eq!(classify(&icmp), link(LinkTraffic::NeighbourDiscovery));
    icmp[54] = 128;
    assert_eq!(packet(&icmp).protocol, ICMPV6);
    let fragment = Kernel { fragment: (false, 100), payload: 5, ..base };
    let mut icmp_part = fragment.bytes();
    icmp_part[62] = 133;
    assert!(packet(&icmp_part).is_fragment, "the type is in the first part only");
    icmp[22..24].copy_from_slice(&[0xfe, 0x80]);
    assert_eq!(classify(&icmp), link(LinkTraffic::LinkLocal));
    icmp[38..40].copy_from_slice(&[0xff, 0x02]);
    assert_eq!(classify(&icmp), link(LinkTraffic::Multicast));
}

#[test]
fn destinations_of_ipv4_that_are_no_host_are_told_apart() {
    let to = |address: [u8; 4]| {
        let mut bytes = Kernel::default().bytes();
        bytes[30..34].copy_from_slice(&address);
        bytes[24..26].fill(0);
        let sum = crate::ipv4::checksum(&bytes[14..34]);
        bytes[24..26].copy_from_slice(&sum.to_be_bytes());
        classify(&bytes)
    };
    assert!(matches!(to([10, 0, 0, 9]), Ok(KernelFrame::Packet(_))));
    for address in [[224, 0, 0, 251], [255; 4], [10, 255, 255, 255]] {
        assert_eq!(to(address), Ok(KernelFrame::Link(LinkTraffic::Multicast)), "{address:?}");
    }
    assert_eq!(to([169, 254, 0, 1]), Ok(KernelFrame::Link(LinkTraffic::LinkLocal)));
    assert_eq!(to([8, 8, 8, 8]), Err(Malformed::Address));
    assert_eq!(to([10, 0, 0, 0]), Err(Malformed::Address));
}

#[test]
fn frames_that_contradict_themselves_are_refused() {
    let good = Kernel { protocol: udp::PROTOCOL, ..Kernel::default() }.bytes();
    let with = |place: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[place] = value;
        classify(&bytes).err()
    };
    assert_eq!(with(22, 63), Some(Malformed::Checksum));
    assert_eq!(with(39, 200), Some(Malformed::Length(Header::Udp)));
    assert_eq!(with(17, 200), Some(Malformed::Length(Header::Ipv4)));
    assert_eq!(classify(&[0; LARGEST_FRAME + 1]), Err(Malformed::Long));
    assert!(LinkTraffic::ALL.iter().enumerate().all(|(place, &traffic)| traffic as usize == place));
}
