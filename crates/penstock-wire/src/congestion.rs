//! Marks in a frame of a kernel's host: congestion experienced (RFC 3168, sec. 5).

use crate::ethernet::RawEthernet;
use crate::ipv4::{Ecn, RawIpv4, updated_checksum};
use crate::ipv6::RawIpv6;
use crate::vlan::{RawVlan, Vlan};
use crate::{EtherType, Ethernet};

/// Marks the IP packet in `frame`, behind at most one VLAN tag, where its transport reacts to marks. Answers
/// whether the packet bears a mark now. Of IPv4 the checksum is updated and not computed anew, so that a
/// header that was damaged stays so.
pub fn mark_congestion(frame: &mut [u8]) -> bool {
    mark(frame).unwrap_or(false)
}

/// As [`mark_congestion`]; none where the frame is cut off.
fn mark(frame: &mut [u8]) -> Option<bool> {
    let (ethernet, rest) = RawEthernet::new(frame).ok()?;
    let mut place = Ethernet::LENGTH;
    let mut ether_type = EtherType(ethernet.ether_type());
    if ether_type == EtherType::VLAN {
        let (tag, _) = RawVlan::new(rest).ok()?;
        place += Vlan::LENGTH;
        ether_type = EtherType(tag.ether_type());
    }
    let packet = frame.get_mut(place..)?;
    match ether_type {
        EtherType::IPV4 => mark_ipv4(packet),
        EtherType::IPV6 => mark_ipv6(packet),
        _ => None,
    }
}

fn mark_ipv4(packet: &mut [u8]) -> Option<bool> {
    let (mut raw, _) = RawIpv4::new_mut(packet).ok()?;
    let (first, class) = (raw.version_and_length(), raw.traffic_class());
    if first >> 4 != 4 || !Ecn::of(class).is_capable() {
        return None;
    }
    if Ecn::of(class) == Ecn::Experienced {
        return Some(true);
    }
    let marked = class | Ecn::Experienced as u8;
    let word = |class: u8| u16::from_be_bytes([first, class]);
    let checksum = updated_checksum(raw.checksum(), word(class), word(marked));
    raw.set_traffic_class(marked);
    raw.set_checksum(checksum);
    Some(true)
}

fn mark_ipv6(packet: &mut [u8]) -> Option<bool> {
    let (mut raw, _) = RawIpv6::new_mut(packet).ok()?;
    let first = raw.version_class_label();
    if first >> 28 != 6 || !Ecn::of((first >> 20) as u8).is_capable() {
        return None;
    }
    raw.set_version_class_label(first | (Ecn::Experienced as u32) << 20);
    Some(true)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::frames::{self, Layer3};

    proptest! {
        #[test]
        fn a_mark_changes_the_congestion_and_the_checksum_and_nothing_else(
            ecn in 0..4u8, dscp in 0..64u8, is_tagged: bool, is_ipv6: bool, hosts in any::<(u16, u16)>(),
        ) {
            let layer3 = if is_ipv6 { Layer3::Ipv6 } else { Layer3::Ipv4 };
            let frame = |ecn: u8| {
                let packet = frames::Kernel {
                    layer3,
                    tag: is_tagged.then_some(3),
                    traffic_class: dscp << 2 | ecn,
                    hosts: (hosts.0.into(), hosts.1.into()),
                    ..frames::Kernel::default()
                };
                packet.bytes()
            };
            let mut marked = frame(ecn);
            prop_assert_eq!(mark_congestion(&mut marked), ecn != 0);
            let expected = if ecn == 0 { 0 } else { 3 };
            prop_assert_eq!(marked, frame(expected));
        }

        #[test]
        fn nothing_panics(mut bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            mark_congestion(&mut bytes);
        }
    }
}
