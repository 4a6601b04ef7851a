//! Times of an otherwise empty network, exact in picoseconds.
//!
//! Store and forward: a frame occupies each link for its serialization time (rounded up per link),
//! flies for the link's delay, and waits for the pipeline delay of every switch that it enters.

use penstock_units::{BitRate, Bytes, Time};

use super::table::Routing;
use crate::topology::Topology;

/// The sizes of a flow's frames on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameSizes {
    /// Most payload of a data packet (bytes), > 0.
    pub payload: Bytes,
    /// Bytes that a data packet carries besides its payload.
    pub header: Bytes,
    /// A whole acknowledgement (bytes).
    pub acknowledgement: Bytes,
    /// Whether every packet is acknowledged, or only the last one.
    pub acknowledges_each: bool,
}

/// The longest round trip of one full data packet and its ACK between any two hosts, over the
/// slowest of the equal-cost paths (ps).
///
/// The round trip takes `sum_i (d_i + 8L/C_i) + sum_i (d_i + 8A/C_i)` plus the pipeline delays
/// (BASELINES 0.3). In BFC's network, with 8 us of propagation, that is 8.355 us.
pub fn base_rtt(topology: &Topology, routing: &Routing, frames: &FrameSizes) -> Time {
    // A cable is alike in both directions, so the prices of the ACK's links are those of the data's
    // links.
    longest_path(topology, routing, |link| {
        let link = &topology.links[link as usize];
        [frames.payload + frames.header, frames.acknowledgement]
            .map(|frame| link.rate.transmission_time(frame).saturating_add(link.delay))
            .into_iter()
            .fold(Time::ZERO, Time::saturating_add)
    })
}

/// The highest price of a shortest path between two hosts: the sum of `price` over its links, and
/// twice the pipeline delay of every switch on the path (ps).
pub(crate) fn longest_path(
    topology: &Topology,
    routing: &Routing,
    price: impl Fn(u32) -> Time,
) -> Time {
    let in_switch = topology.pipeline_delay * 2;
    // A link is on the ways to many edge switches.
    let prices: Vec<Time> = (0..topology.links.len() as u32).map(price).collect();
    let access = slowest_access(topology, routing, &prices);
    let mut longest = Time::ZERO;
    let mut to_edge = vec![Time::ZERO; topology.switches as usize];
    for (edge, last) in (0u32..).zip(&access) {
        for switch in routing.nearest_first(edge) {
            let onward = routing.next_hops(switch, edge).with_ends().map(|(hop, next)| {
                prices[hop as usize].saturating_add(to_edge[(next - topology.hosts) as usize])
            });
            let onward = onward.max().unwrap_or(Time::ZERO);
            to_edge[(switch - topology.hosts) as usize] = onward.saturating_add(in_switch);
        }
        for (other, first) in (0u32..).zip(&access) {
            let ends = if other == edge { last.two() } else { first.one().zip(last.one()) };
            let Some((first, last)) = ends else { continue };
            let switch = routing.edge_switches()[other as usize] - topology.hosts;
            let between = to_edge[switch as usize];
            longest = longest.max(first.saturating_add(between).saturating_add(last));
        }
    }
    longest
}

/// The two largest prices of the host links of an edge switch.
#[derive(Clone, Copy, Default)]
struct Slowest {
    first: Option<Time>,
    second: Option<Time>,
}

impl Slowest {
    fn one(self) -> Option<Time> {
        self.first
    }

    fn two(self) -> Option<(Time, Time)> {
        self.first.zip(self.second)
    }
}

/// By edge switch, the two most expensive host links; `prices` is by link.
fn slowest_access(topology: &Topology, routing: &Routing, prices: &[Time]) -> Vec<Slowest> {
    let mut access = vec![Slowest::default(); routing.edge_switches().len()];
    for host in 0..topology.hosts {
        let slowest = &mut access[routing.edge_of(host) as usize];
        let price = Some(prices[topology.uplink(host) as usize]);
        if price > slowest.first {
            slowest.second = slowest.first;
            slowest.first = price;
        } else {
            slowest.second = slowest.second.max(price);
        }
    }
    access
}

/// One link in the chain of links that a packet and then its ACK pass.
struct Stage {
    /// Serialization time of every packet but the last (ps).
    full: u64,
    /// Serialization time of the last packet (ps).
    last: u64,
    /// Time from the last bit sent on this link to being ready for the next link (ps).
    after: u64,
}

/// The frames of a flow in one direction, and how long they occupy a link. The links of a path mostly
/// have one rate, and then one division serves all of them.
struct Frames {
    /// Every frame but the last, and the last one.
    sizes: [Bytes; 2],
    /// The rate of the link that was looked at last; 0 before the first.
    rate: BitRate,
    /// How long the frames occupy that link (ps).
    services: [u64; 2],
}

impl Frames {
    fn new(full: Bytes, last: Bytes) -> Self {
        Frames { sizes: [full, last], rate: BitRate::default(), services: [0; 2] }
    }

    #[inline]
    fn stage(&mut self, topology: &Topology, link: u32) -> Stage {
        let rate = topology.links[link as usize].rate;
        if rate != self.rate {
            self.rate = rate;
            self.services = self.sizes.map(|frame| rate.transmission_time(frame).as_ps());
        }
        let [full, last] = self.services;
        Stage { full, last, after: flight(topology, link).as_ps() }
    }
}

/// The completion time, at the sender, of a flow of `size` payload bytes that is alone on its path
/// and sends at line rate: from the first bit sent to the arrival of the last ACK (ps).
///
/// `forward` and `back` are the directed links of the data and of the ACKs. All packets but the
/// last are full, and no packet overtakes another. The time is the exact max-plus recursion of
/// BASELINES 0.3, continued over the ACKs' links. Where only the last packet is acknowledged, its
/// ACK waits for no other. With n - 1 equal packets before the last the recursion has a closed
/// form, so the work does not grow with `size`. An endless flow (`size` zero) never completes:
/// [`Time::NEVER`].
///
/// # Panics
/// When the payload of `frames` is zero or there is no such link.
pub fn ideal_fct(
    topology: &Topology,
    forward: &[u32],
    back: &[u32],
    size: Bytes,
    frames: &FrameSizes,
) -> Time {
    if size == Bytes::ZERO {
        return Time::NEVER;
    }
    let payload = frames.payload.get();
    let before_last = (size.get() - 1) / payload;
    let rest = Bytes::new(size.get() - before_last * payload);
    let mut data = Frames::new(frames.payload + frames.header, rest + frames.header);
    let acknowledgement = frames.acknowledgement;
    let earlier = if frames.acknowledges_each { acknowledgement } else { Bytes::ZERO };
    let mut acknowledgements = Frames::new(earlier, acknowledgement);
    let there = forward.iter().map(|&link| data.stage(topology, link));
    let back = back.iter().map(|&link| acknowledgements.stage(topology, link));
    last_departure(there.chain(back), before_last)
}

/// How long `frame` occupies `link`, and how long it then takes to be ready for the next link (ps).
pub(super) fn crossing(topology: &Topology, link: u32, frame: Bytes) -> (Time, Time) {
    let rate = topology.links[link as usize].rate;
    (rate.transmission_time(frame), flight(topology, link))
}

/// How long a frame that has left `link` takes to be ready for the next link (ps).
#[inline]
fn flight(topology: &Topology, link: u32) -> Time {
    let link = &topology.links[link as usize];
    let enters_switch = !topology.is_host(link.to);
    let pipeline = if enters_switch { topology.pipeline_delay } else { Time::ZERO };
    link.delay.saturating_add(pipeline)
}

/// When the last packet has left the last of `stages`, behind `before_last` equal packets.
fn last_departure(stages: impl Iterator<Item = Stage>, before_last: u64) -> Time {
    let (mut ready, mut crossed, mut slowest) = (0u64, 0u64, 0u64);
    stages.for_each(|stage| {
        // Of equal packets that are all ready at time zero, packet k leaves stage i of a line of
        // FIFO servers at (sum of services and delays up to i) + (k - 1) * (slowest service up to
        // i).
        crossed = crossed.saturating_add(stage.full);
        slowest = slowest.max(stage.full);
        let is_free = match before_last {
            0 => 0,
            ahead => crossed.saturating_add((ahead - 1).saturating_mul(slowest)),
        };
        let left = ready.max(is_free).saturating_add(stage.last);
        ready = left.saturating_add(stage.after);
        crossed = crossed.saturating_add(stage.after);
    });
    Time::from_ps(ready)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::topology::build;
    use crate::topology::tests::{bfc, dumbbell, graph};

    const FRAMES: FrameSizes = FrameSizes {
        payload: Bytes::new(1_000),
        header: Bytes::new(48),
        acknowledgement: Bytes::new(60),
        acknowledges_each: true,
    };

    fn paths(topology: &Topology, source: u32, destination: u32) -> (Vec<u32>, Vec<u32>) {
        let routing = Routing::new(topology);
        let (mut forward, mut back) = (Vec::new(), Vec::new());
        routing.path(source, destination, 1, &mut forward);
        routing.path(destination, source, 2, &mut back);
        (forward, back)
    }

    #[test]
    fn the_bfc_cross_rack_vectors_hold() {
        // BASELINES 29: receiver side (no way back) and sender side, for n full packets [ns].
        let network = build(&bfc()).unwrap();
        let (forward, back) = paths(&network, 0, 127);
        let ns = |back: &[u32], packets: u64| {
            let size = Bytes::new(packets * 1_000);
            ideal_fct(&network, &forward, back, size, &FRAMES).as_ns_f64().round()
        };
        assert_eq!([1, 100, 1_000].map(|n| ns(&[], n)), [4_335.0, 12_636.0, 88_092.0]);
        assert_eq!([1, 100, 1_000].map(|n| ns(&back, n)), [8_355.0, 16_655.0, 92_111.0]);
        assert_eq!(ideal_fct(&network, &forward, &back, Bytes::ZERO, &FRAMES), Time::NEVER);
    }

    #[test]
    fn a_last_acknowledgement_alone_waits_for_no_other() {
        let network = build(&dumbbell(2, 2)).unwrap();
        let (forward, back) = paths(&network, 0, 3);
        let alone = FrameSizes { acknowledges_each: false, ..FRAMES };
        // 49 B arrive 3.92 ns behind a full packet; the acknowledgement of the full packet takes 12
        // ns in the core.
        for (size, gained) in [(3_001, 8_080), (3_102, 0), (1, 0)] {
            let of = |frames| ideal_fct(&network, &forward, &back, Bytes::new(size), frames);
            assert_eq!(of(&FRAMES), of(&alone) + Time::from_ps(gained), "{size} B");
        }
    }

    #[test]
    fn the_base_rtt_is_that_of_the_longest_pair() {
        let network = build(&bfc()).unwrap();
        let routing = Routing::new(&network);
        assert_eq!(base_rtt(&network, &routing, &FRAMES), Time::from_ps(8_354_560));

        let network = build(&dumbbell(2, 2)).unwrap();
        let routing = Routing::new(&network);
        let (forward, back) = paths(&network, 0, 3);
        let one_packet = ideal_fct(&network, &forward, &back, Bytes::new(1_000), &FRAMES);
        assert_eq!(base_rtt(&network, &routing, &FRAMES), one_packet);
    }

    #[test]
    fn the_base_rtt_sees_slow_hosts_under_one_switch() {
        let network = build(&graph(3, 1, &[(0, 3), (1, 3), (2, 3)])).unwrap();
        let routing = Routing::new(&network);
        // 4 us of propagation, twice (838.4 + 48) ns of serialization at 10 Gb/s.
        assert_eq!(base_rtt(&network, &routing, &FRAMES), Time::from_ps(5_772_800));
    }

    /// The same recursion, packet by packet.
    fn step_by_step(stages: &[Stage], before_last: u64) -> u64 {
        let mut free = vec![0; stages.len()];
        let mut arrival = 0;
        for packet in 0..=before_last {
            arrival = 0;
            for (stage, free) in stages.iter().zip(&mut free) {
                let service = if packet == before_last { stage.last } else { stage.full };
                *free = arrival.max(*free) + service;
                arrival = *free + stage.after;
            }
        }
        arrival
    }

    proptest! {
        #[test]
        fn the_closed_form_is_the_recursion(
            services in prop::collection::vec((1u64..1_000, 1u64..1_000, 0u64..3_000), 1..8),
            before_last in 0u64..40,
        ) {
            let stages = || services.iter().map(|&(full, last, after)| Stage { full, last, after });
            let exact = step_by_step(&stages().collect::<Vec<_>>(), before_last);
            prop_assert_eq!(last_departure(stages(), before_last).as_ps(), exact);
        }

        #[test]
        fn longer_flows_take_longer_and_nothing_overflows(size in 1u64..u64::MAX / 2) {
            let network = build(&dumbbell(1, 1)).unwrap();
            let (forward, back) = paths(&network, 0, 1);
            let time = |size| ideal_fct(&network, &forward, &back, Bytes::new(size), &FRAMES);
            prop_assert!(time(size) <= time(size + 1));
        }
    }
}
