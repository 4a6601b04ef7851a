//! The two ways of a flow when one is the other one backwards.
//!
//! In ExpressPass (I. Cho et al., SIGCOMM 2017, sec. 3.1) data must take the links of their
//! credits, in the other direction. Switches get there by hashing the two ends of a flow in sorted
//! order, and by numbering their next hops alike on the way up and down. Here the way from the host
//! with the lower number is chosen like any other way; the way from the other host is the same
//! links backwards.

use super::table::{Onward, Routing, pick};
use crate::topology::Topology;

/// Appends the links from the first to the second of `ends` to `there`, and the links back to
/// `back`.
///
/// # Panics
/// When one of the ends is not a host.
pub fn symmetric_paths(
    topology: &Topology,
    routing: &Routing,
    ends: (u32, u32),
    flow_key: u64,
    [there, back]: [&mut Vec<u32>; 2],
) {
    let is_sorted = ends.0 < ends.1;
    let (low, high) = if is_sorted { (there, back) } else { (back, there) };
    routing.path(ends.0.min(ends.1), ends.0.max(ends.1), flow_key, low);
    high.extend(low.iter().rev().map(|&link| topology.links[link as usize].reverse));
}

/// The port by which a packet between two hosts, `from` and `to`, leaves `switch` on one of the two paths
/// of [`symmetric_paths`]. A packet that is on neither, because routes have changed, takes any shortest
/// path.
///
/// # Panics
/// When one of the ends is not a host, or `switch` not a switch.
#[inline]
pub(crate) fn symmetric_port(
    routing: &Routing,
    switch: u32,
    (from, to): (u32, u32),
    flow_key: u64,
) -> u16 {
    match routing.onward(switch, to) {
        // Where one port alone leads on, both paths take it.
        Onward::By(port) => port,
        Onward::ByOneOf(ports) => port_of(routing, switch, (from, to), flow_key, ports),
    }
}

/// As [`symmetric_port`], where several `ports` lead on.
#[inline(never)] // most packets have one port
fn port_of(
    routing: &Routing,
    switch: u32,
    (from, to): (u32, u32),
    flow_key: u64,
    ports: &[u16],
) -> u16 {
    let back = match from < to {
        true => None,
        false => routing.port_back(switch, (to, from), flow_key),
    };
    back.unwrap_or_else(|| ports[pick(switch, flow_key, ports.len())])
}

#[cfg(test)]
mod tests {
    use penstock_engine::stream::mix;
    use proptest::prelude::*;

    use super::*;
    use crate::topology::build;
    use crate::topology::tests::leaf_spine;

    fn paths(ends: (u32, u32), hash: u64) -> [Vec<u32>; 2] {
        let network = build(&leaf_spine(6, 4, 3)).unwrap();
        let routing = Routing::new(&network);
        let (mut there, mut back) = (Vec::new(), Vec::new());
        symmetric_paths(&network, &routing, ends, mix(hash), [&mut there, &mut back]);
        let mut node = ends.0;
        for link in there.iter().chain(&back) {
            assert_eq!(network.links[*link as usize].from, node);
            node = network.links[*link as usize].to;
        }
        assert_eq!(node, ends.0);
        let reverse = |link: &u32| network.links[*link as usize].reverse;
        assert_eq!(there.iter().rev().map(reverse).collect::<Vec<_>>(), back);
        for (ends, links) in [(ends, &there), ((ends.1, ends.0), &back)] {
            for &link in &links[1..] {
                let switch = network.links[link as usize].from;
                let port = symmetric_port(&routing, switch, ends, mix(hash));
                assert_eq!(network.egress_links(switch)[usize::from(port)], link);
            }
        }
        [there, back]
    }

    proptest! {
        #[test]
        fn the_way_back_is_the_way_there_backwards(a in 0u32..24, other in 1u32..24, hash: u64) {
            let b = (a + other) % 24;
            let [there, back] = paths((a, b), hash);
            prop_assert_eq!([back, there], paths((b, a), hash));
        }
    }

    #[test]
    fn hashes_use_every_spine() {
        let mut spines: Vec<u32> = (0..64).map(|hash| paths((0, 23), hash)[0][1]).collect();
        spines.sort_unstable();
        spines.dedup();
        assert_eq!(spines.len(), 3);
    }
}
