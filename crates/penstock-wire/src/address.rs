//! The addresses of hosts and switches. A host's number is in all of its addresses, so that none is looked
//! up: host 0 is 02:50:45:00:00:01, 10.0.0.1 and fd50::1.
//!
//! The plan is our choice. MAC addresses are locally administered (IEEE 802, sec. 8.4) and spell "PE" or
//! "PS". 10.0.0.0/8 is private (RFC 1918). fd50::/64 has the form of a unique local prefix (RFC 4193);
//! its global identifier is not random, because the network has no way out.

use core::net::{Ipv4Addr, Ipv6Addr};

use crate::MacAddress;

/// Hosts that have addresses: 2^24 less the first and the last, which are the network's own in 10.0.0.0/8.
pub const HOSTS: u32 = (1 << 24) - 2;

/// Length of the hosts' IPv4 prefix (bits).
pub const IPV4_PREFIX: u8 = 8;

/// Length of the hosts' IPv6 prefix (bits).
pub const IPV6_PREFIX: u8 = 64;

const HOST_PREFIX: [u8; 3] = [0x02, 0x50, 0x45];
const SWITCH_PREFIX: [u8; 3] = [0x02, 0x50, 0x53];
const IPV6_NETWORK: u128 = 0xfd50 << 112;

/// The number that addresses bear, 1 to 2^24 - 2; none for a host above the plan.
#[inline]
fn borne(host: u32) -> Option<u32> {
    (host < HOSTS).then(|| host + 1)
}

/// The host whose addresses bear `number`.
#[inline]
fn host(number: u32) -> Option<u32> {
    number.checked_sub(1).filter(|&host| host < HOSTS)
}

/// The MAC address with `prefix` that bears `number`.
#[inline]
fn mac(prefix: [u8; 3], number: u32) -> MacAddress {
    let ([a, b, c], [_, d, e, f]) = (prefix, number.to_be_bytes());
    MacAddress([a, b, c, d, e, f])
}

/// The MAC address of a host; none from [`HOSTS`] on.
#[inline]
pub fn mac_of(host: u32) -> Option<MacAddress> {
    Some(mac(HOST_PREFIX, borne(host)?))
}

/// The MAC address of a switch; none from [`HOSTS`] on.
#[inline]
pub fn switch_mac_of(switch: u32) -> Option<MacAddress> {
    Some(mac(SWITCH_PREFIX, borne(switch)?))
}

/// The host that has this MAC address, if any.
#[inline]
pub fn host_of_mac(address: MacAddress) -> Option<u32> {
    let [a, b, c, d, e, f] = address.0;
    if [a, b, c] == HOST_PREFIX { host(u32::from_be_bytes([0, d, e, f])) } else { None }
}

/// The IPv4 address of a host; none from [`HOSTS`] on.
#[inline]
pub fn ipv4_of(host: u32) -> Option<Ipv4Addr> {
    let [_, a, b, c] = borne(host)?.to_be_bytes();
    Some(Ipv4Addr::new(10, a, b, c))
}

/// The host that has this IPv4 address, if any.
#[inline]
pub fn host_of_ipv4(address: Ipv4Addr) -> Option<u32> {
    match address.octets() {
        [10, a, b, c] => host(u32::from_be_bytes([0, a, b, c])),
        _ => None,
    }
}

/// The IPv6 address of a host; none from [`HOSTS`] on.
#[inline]
pub fn ipv6_of(host: u32) -> Option<Ipv6Addr> {
    Some((IPV6_NETWORK | u128::from(borne(host)?)).into())
}

/// The host that has this IPv6 address, if any.
#[inline]
pub fn host_of_ipv6(address: Ipv6Addr) -> Option<u32> {
    let number = u128::from(address) ^ IPV6_NETWORK;
    host(u32::try_from(number).ok()?)
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_host_and_the_last_have_addresses() {
        assert_eq!(mac_of(0).unwrap().to_string(), "02:50:45:00:00:01");
        assert_eq!(switch_mac_of(258).unwrap().to_string(), "02:50:53:00:01:03");
        assert_eq!(ipv4_of(0).unwrap().to_string(), "10.0.0.1");
        assert_eq!(ipv6_of(0).unwrap().to_string(), "fd50::1");
        assert_eq!(ipv4_of(HOSTS - 1).unwrap().to_string(), "10.255.255.254");
        assert_eq!((mac_of(HOSTS), ipv4_of(HOSTS), ipv6_of(HOSTS)), (None, None, None));
        assert_eq!(switch_mac_of(u32::MAX), None);
    }

    #[test]
    fn addresses_of_the_network_and_of_others_belong_to_no_host() {
        for address in ["10.0.0.0", "10.255.255.255", "11.0.0.1", "0.0.0.0"] {
            assert_eq!(host_of_ipv4(address.parse().unwrap()), None, "{address}");
        }
        for address in ["fd50::", "fd50::ff:ffff", "fd50::100:1", "fd50::1:0:0:1", "fe80::1", "::1"]
        {
            assert_eq!(host_of_ipv6(address.parse().unwrap()), None, "{address}");
        }
        assert_eq!(host_of_mac(MacAddress::BROADCAST), None);
        assert_eq!(host_of_mac(switch_mac_of(1).unwrap()), None);
        assert_eq!(host_of_mac(MacAddress([0x02, 0x50, 0x45, 0, 0, 0])), None);
    }

    proptest! {
        #[test]
        fn a_host_is_known_by_each_of_its_addresses(host in 0..HOSTS) {
            prop_assert_eq!(host_of_mac(mac_of(host).unwrap()), Some(host));
            prop_assert_eq!(host_of_ipv4(ipv4_of(host).unwrap()), Some(host));
            prop_assert_eq!(host_of_ipv6(ipv6_of(host).unwrap()), Some(host));
            prop_assert!(!mac_of(host).unwrap().is_group());
        }
    }
}
