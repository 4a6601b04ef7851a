//! The ideal completion time of a flow whose packets take paths of their own.
//!
//! Packets that take different paths overtake each other, and together they use more links than one
//! path has. So the ideal is not the time of one schedule but a bound that no schedule beats: the
//! least time on the source's link, on the fastest path in between, and on the destination's link.
//! The links in between are assumed to carry only one packet each. Where all of these links
//! together are slower than the links of the hosts, the bound is lower than any time that can be
//! reached.

use std::collections::{BTreeMap, HashMap};

use penstock_units::{Bytes, Time};

use super::latency::{FrameSizes, crossing, ideal_fct};
use super::table::Routing;
use crate::topology::{Link, Topology};

/// The least time from the first bit sent to the arrival of the last acknowledgement, at the
/// sender, of a flow of `size` payload bytes whose packets are sprayed (ps). An endless flow never
/// completes: [`Time::NEVER`].
///
/// `forward` is any of the shortest paths of the data, `back` the path of the acknowledgements.
/// With only one path for the data, the time is [`ideal_fct`].
///
/// # Panics
/// When the payload of `frames` is zero or there is no such link.
pub fn sprayed_ideal_fct(
    topology: &Topology,
    routing: &Routing,
    (forward, back): (&[u32], &[u32]),
    size: Bytes,
    frames: &FrameSizes,
) -> Time {
    let (up, down) = (forward[0], forward[forward.len() - 1]);
    let [from, to] = [topology.links[up as usize].to, topology.links[down as usize].from];
    let edge = routing.edge_of(topology.links[down as usize].to);
    let has_choice = forward[1..forward.len() - 1].iter().any(|&link| {
        let switch = topology.links[link as usize].from;
        routing.next_hops(switch, edge).len() > 1
    });
    if size == Bytes::ZERO || !has_choice {
        return ideal_fct(topology, forward, back, size, frames);
    }
    let before_last = (size.get() - 1) / frames.payload.get();
    let rest = Bytes::new(size.get() - before_last * frames.payload.get());
    let are_alike = routing.are_paths_alike(|routing| paths_are_alike(topology, routing));
    let packet = |payload: Bytes| {
        let frame = payload + frames.header;
        let [up, down] = [up, down].map(|link| crossing(topology, link, frame));
        let between = match are_alike {
            true => along(topology, &forward[1..forward.len() - 1], frame),
            false => fastest(topology, routing, (from, to, edge), frame),
        };
        Packet { up: up.0, between: up.1.saturating_add(between), down: down.0, after: down.1 }
    };
    let arrived = last_arrival(&packet(frames.payload), &packet(rest), before_last);
    back.iter().fold(arrived, |time, &link| {
        let (service, after) = crossing(topology, link, frames.acknowledgement);
        time.saturating_add(service).saturating_add(after)
    })
}

/// The times of one packet in an empty network (ps).
struct Packet {
    /// Serialization on the source's link.
    up: Time,
    /// From there to being ready for the destination's link.
    between: Time,
    /// Serialization on the destination's link.
    down: Time,
    /// From there to arrival.
    after: Time,
}

/// The earliest time at which all packets have arrived: `before_last` packets like `full`, sent one
/// after the other, and then `last`, which is not larger.
fn last_arrival(full: &Packet, last: &Packet, before_last: u64) -> Time {
    let times = |time: Time| Time::from_ps(time.as_ps().saturating_mul(before_last));
    let sent = times(full.up);
    let remaining = |packet: &Packet| packet.between.saturating_add(packet.down);
    // The source's link is busy until the last packet has left.
    let of_last = sent.saturating_add(last.up).saturating_add(remaining(last));
    if before_last == 0 {
        return of_last.saturating_add(last.after);
    }
    let of_full = sent.saturating_add(remaining(full));
    // The destination's link is busy from the first packet on. The last packet may have passed it
    // earlier.
    let first_full = full.up.saturating_add(full.between);
    let first_last = sent.saturating_add(last.up).saturating_add(last.between);
    let of_all =
        first_full.min(first_last).saturating_add(times(full.down)).saturating_add(last.down);
    let of_fulls = first_full.saturating_add(times(full.down));
    of_last.max(of_full).max(of_all).max(of_fulls).saturating_add(full.after)
}

/// Whether every frame takes the same time on all shortest paths between two switches, because the links of
/// these paths have the same rates and delays in the same order. Then no flow needs a search: with 8,192
/// hosts below three tiers there are 8,192 paths, and the search took 97 % of a run of Homa.
fn paths_are_alike(topology: &Topology, routing: &Routing) -> bool {
    if !routing.is_whole() {
        return false;
    }
    let mut kinds = HashMap::new();
    let kind = |link: &Link| {
        let next = kinds.len();
        *kinds.entry((link.rate, link.delay)).or_insert(next)
    };
    let kind: Vec<usize> = topology.links.iter().map(kind).collect();
    // A way is a kind of link and the way behind it; 0 is the way from an edge switch to itself.
    let mut ways = HashMap::new();
    let mut way = vec![0; topology.switches as usize];
    (0..routing.edge_switches().len() as u32).all(|edge| {
        routing.nearest_first(edge).all(|switch| {
            let hops = routing.next_hops(switch, edge).with_ends();
            let mut onward = hops
                .map(|(link, next)| (kind[link as usize], way[(next - topology.hosts) as usize]));
            let first = onward.next();
            if onward.any(|other| Some(other) != first) {
                return false;
            }
            let next = ways.len() + 1;
            way[(switch - topology.hosts) as usize] =
                first.map_or(0, |first| *ways.entry(first).or_insert(next));
            true
        })
    })
}

/// The time of a frame over these links, one after the other (ps).
fn along(topology: &Topology, links: &[u32], frame: Bytes) -> Time {
    links.iter().fold(Time::ZERO, |time, &link| {
        let (service, after) = crossing(topology, link, frame);
        time.saturating_add(service).saturating_add(after)
    })
}

/// The least time of a frame over the shortest paths by number of links (ps): from being ready at
/// switch `from` to being ready at switch `to`, which is edge switch number `edge`.
fn fastest(
    topology: &Topology,
    routing: &Routing,
    (from, to, edge): (u32, u32, u32),
    frame: Bytes,
) -> Time {
    // The switches so many links away from `from`, each with the least time.
    let mut reached = BTreeMap::from([(from, Time::ZERO)]);
    while !reached.is_empty() && !reached.contains_key(&to) {
        let mut beyond = BTreeMap::new();
        for (switch, time) in reached {
            for (link, next) in routing.next_hops(switch, edge).with_ends() {
                let arrival = time.saturating_add(along(topology, &[link], frame));
                let least = beyond.entry(next).or_insert(arrival);
                *least = arrival.min(*least);
            }
        }
        reached = beyond;
    }
    reached.get(&to).copied().unwrap_or(Time::NEVER)
}

#[cfg(test)]
mod tests {
    use penstock_units::BitRate;
    use proptest::prelude::*;

    use super::*;
    use crate::topology::tests::{bfc, dumbbell};
    use crate::topology::{Clos, TopologyConfig, build};

    const FRAMES: FrameSizes = FrameSizes {
        payload: Bytes::new(1_000),
        header: Bytes::new(48),
        acknowledgement: Bytes::new(60),
        acknowledges_each: true,
    };

    fn ideals(network: &Topology, ends: (u32, u32), size: u64) -> [Time; 2] {
        let routing = Routing::new(network);
        let (mut forward, mut back) = (Vec::new(), Vec::new());
        routing.path(ends.0, ends.1, 1, &mut forward);
        routing.path(ends.1, ends.0, 2, &mut back);
        let size = Bytes::new(size);
        [
            sprayed_ideal_fct(network, &routing, (&forward, &back), size, &FRAMES),
            ideal_fct(network, &forward, &back, size, &FRAMES),
        ]
    }

    #[test]
    fn on_equal_links_nothing_is_gained() {
        let network = build(&bfc()).unwrap();
        for size in [1, 1_000, 2_000, 5_100, 100_000] {
            let [sprayed, alone] = ideals(&network, (0, 127), size);
            assert_eq!(sprayed, alone, "{size} B");
        }
        // Sprayed, the second of two packets may come first. On one path the flow takes 60 B
        // longer: 49 B behind the first packet, and 11 B for which the second acknowledgement waits
        // for the first.
        let [sprayed, alone] = ideals(&network, (0, 127), 1_001);
        assert_eq!(sprayed + Time::from_ps(60 * 80), alone);
    }

    #[test]
    fn a_short_last_packet_that_overtakes_takes_no_time_of_its_own() {
        let packet = |up, between, down| Packet {
            up: Time::from_ps(up),
            between: Time::from_ps(between),
            down: Time::from_ps(down),
            after: Time::ZERO,
        };
        // Three full packets leave the source by 300, and the last of them arrives 120 later. On
        // one path, behind them, the short packet would arrive at 422.
        let arrival = last_arrival(&packet(100, 100, 20), &packet(10, 10, 2), 3);
        assert_eq!(arrival, Time::from_ps(420));
    }

    #[test]
    fn one_path_has_its_own_ideal() {
        let network = build(&dumbbell(2, 2)).unwrap();
        for ends in [(0, 1), (0, 3)] {
            let [sprayed, alone] = ideals(&network, ends, 5_100);
            assert_eq!(sprayed, alone);
        }
    }

    /// When all packets have arrived if packet k takes path `paths[k]`. Each path is a line of
    /// (service of a full packet, service of the last packet, delay). All paths share the first and
    /// the last link.
    fn stepped(paths: &[usize], middles: &[(u64, u64, u64)], ends: [(u64, u64); 2]) -> u64 {
        let count = paths.len();
        let service = |packet: usize, (full, last): (u64, u64)| {
            if packet + 1 == count { last } else { full }
        };
        let mut sent = 0;
        let mut free = vec![0; middles.len()];
        let mut ready: Vec<(u64, usize)> = vec![];
        for (packet, &path) in paths.iter().enumerate() {
            sent += service(packet, ends[0]);
            let (full, last, delay) = middles[path];
            free[path] = free[path].max(sent) + service(packet, (full, last));
            ready.push((free[path] + delay, packet));
        }
        ready.sort_unstable();
        ready.iter().fold(0, |free, &(time, packet)| time.max(free) + service(packet, ends[1]))
    }

    /// Two pods of two ToRs and two leafs below three spines.
    fn three_tiers() -> Topology {
        let line = (BitRate::from_gbps(100), Time::from_us(1));
        build(&TopologyConfig::Clos(Clos {
            pods: 2,
            tors_per_pod: 2,
            leafs_per_pod: 2,
            hosts_per_tor: 1,
            spines: 3,
            host_rate: line.0,
            leaf_rate: line.0,
            spine_rate: BitRate::from_gbps(40),
            host_delay: line.1,
            leaf_delay: line.1,
            spine_delay: Time::from_us(5),
            pipeline_delay: Time::from_ns(500),
            failed_links: vec![],
        }))
        .unwrap()
    }

    /// The least time of a frame over all paths, one by one.
    fn fastest_of_all(
        network: &Topology,
        routing: &Routing,
        (from, to, edge): (u32, u32, u32),
        frame: Bytes,
    ) -> Time {
        let over = |(link, next)| {
            along(network, &[link], frame)
                + fastest_of_all(network, routing, (next, to, edge), frame)
        };
        let onward = routing.next_hops(from, edge).with_ends().map(over);
        if from == to { Time::ZERO } else { onward.min().unwrap() }
    }

    #[test]
    fn tiers_have_paths_that_are_alike_and_a_slower_cable_ends_that() {
        let mut network = three_tiers();
        let routing = Routing::new(&network);
        assert!(paths_are_alike(&network, &routing));
        let mut path = vec![];
        routing.path(0, 3, 1, &mut path);
        let between = &path[1..path.len() - 1];
        let frame = Bytes::new(1_048);
        let ends = (network.edge_switch(0), network.edge_switch(3), routing.edge_of(3));
        let time = along(&network, between, frame);
        assert_eq!(time, fastest(&network, &routing, ends, frame));
        network.links[between[1] as usize].delay = Time::from_us(6);
        assert!(!paths_are_alike(&network, &routing));
        assert_eq!(time, fastest(&network, &routing, ends, frame));
    }

    proptest! {
        #[test]
        fn a_search_finds_the_fastest_of_all_paths(
            delays in prop::collection::vec(0u64..4, 64),
            rates in prop::collection::vec(1u64..4, 64),
            destination in 0u32..4,
            size in 1u64..2_000,
        ) {
            let mut network = three_tiers();
            let routing = Routing::new(&network);
            for (link, (delay, rate)) in network.links.iter_mut().zip(delays.iter().zip(&rates)) {
                (link.delay, link.rate) = (Time::from_us(*delay), BitRate::from_gbps(*rate));
            }
            let to = network.edge_switch(destination);
            let ends = (network.edge_switch(0), to, routing.edge_of(destination));
            let frame = Bytes::new(size);
            let exact = fastest_of_all(&network, &routing, ends, frame);
            prop_assert_eq!(fastest(&network, &routing, ends, frame), exact);
        }

        #[test]
        fn no_choice_of_paths_is_faster(
            paths in prop::collection::vec(0usize..3, 1..12),
            middles in prop::collection::vec((1u64..50, 1u64..50, 0u64..80), 3),
            ends in prop::array::uniform2((1u64..50, 1u64..50)),
        ) {
            let ordered = |(one, other): (u64, u64)| (one.max(other), one.min(other));
            let ends = ends.map(ordered);
            let middles: Vec<_> = middles
                .into_iter()
                .map(|(one, other, delay)| (one.max(other), one.min(other), delay))
                .collect();
            let ps = Time::from_ps;
            let packet = |of: fn((u64, u64)) -> u64| {
                let between = |&(full, last, delay): &(u64, u64, u64)| of((full, last)) + delay;
                Packet {
                    up: ps(of(ends[0])),
                    between: ps(middles.iter().map(between).min().unwrap()),
                    down: ps(of(ends[1])),
                    after: Time::ZERO,
                }
            };
            let bound = last_arrival(&packet(|of| of.0), &packet(|of| of.1), paths.len() as u64 - 1);
            let reached = stepped(&paths, &middles, ends);
            prop_assert!(bound <= ps(reached), "{} of {}", bound, reached);
        }
    }
}
