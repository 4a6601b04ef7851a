//! How the flows of an entry spread over the links, as exact expected values.
//!
//! What it is: the probability that a flow goes from one host, or edge switch, to another, and from
//! these probabilities the expected number of times that a flow crosses each link. Flows inside a server
//! cross none. What it is not: this module draws no samples.
//! The work grows with the pairs of edge switches, not with the pairs of hosts.

use crate::routing::Routing;
use crate::topology::{InnerLinks, Topology};

/// The distribution of the source and destination of a flow.
#[derive(Clone, Debug)]
pub(super) struct Demand {
    /// By host: the probability that a flow starts there and leaves its server.
    sources: Vec<f64>,
    /// By host: the probability that a flow ends there and comes from another server.
    destinations: Vec<f64>,
    /// `[destination edge switch, source edge switch]`: the probability of a flow between them.
    between: Vec<f64>,
    /// The links inside servers.
    links: Option<InnerLinks>,
    /// By host: the probability that a flow starts there and stays inside its server.
    inside: Vec<f64>,
}

/// How many hosts of one edge switch are in a set of pairs.
#[derive(Clone, Copy, Default)]
struct Members {
    sources: f64,
    destinations: f64,
    both: f64,
}

impl Demand {
    /// No flows.
    pub(super) fn new(routing: &Routing, topology: &Topology) -> Self {
        let edges = routing.edge_switches().len();
        let per_host = || vec![0.0; topology.hosts as usize];
        Demand {
            sources: per_host(),
            destinations: per_host(),
            between: vec![0.0; edges * edges],
            links: topology.inner,
            inside: per_host(),
        }
    }

    /// Adds flows of total probability `share`, uniform over the pairs of two different hosts: the
    /// source from `sources`, the destination from `destinations` (no list repeats a host).
    pub(super) fn add(
        &mut self,
        routing: &Routing,
        sources: &[u32],
        destinations: &[u32],
        share: f64,
    ) {
        let mut is_source = vec![false; self.sources.len()];
        let mut is_destination = vec![false; self.sources.len()];
        let edges = routing.edge_switches().len();
        let mut members = vec![Members::default(); edges];
        for &host in sources {
            is_source[host as usize] = true;
            members[routing.edge_of(host) as usize].sources += 1.0;
        }
        for &host in destinations {
            is_destination[host as usize] = true;
            let members = &mut members[routing.edge_of(host) as usize];
            members.destinations += 1.0;
            members.both += f64::from(u8::from(is_source[host as usize]));
        }
        let both: f64 = members.iter().map(|members| members.both).sum();
        let pairs = sources.len() as f64 * destinations.len() as f64 - both;
        if pairs == 0.0 {
            return;
        }
        let share = share / pairs;
        let others = |count: usize, is_member: bool| (count - usize::from(is_member)) as f64;
        let neighbours = |host: u32, is_member: &[bool]| {
            let server = self.links.map_or(0..0, |links| links.server(host));
            server.filter(|&other| other != host && is_member[other as usize]).count() as f64
        };
        for &host in sources {
            let partners = others(destinations.len(), is_destination[host as usize]);
            let inside = neighbours(host, &is_destination);
            self.sources[host as usize] += share * (partners - inside);
            self.inside[host as usize] += share * inside;
        }
        for &host in destinations {
            let partners = others(sources.len(), is_source[host as usize]);
            self.destinations[host as usize] += share * (partners - neighbours(host, &is_source));
        }
        let inside = self.links.map(|links| inside(links, routing, sources, &is_destination));
        let rows = self.between.chunks_exact_mut(edges);
        for (to, (row, last)) in rows.zip(&members).enumerate() {
            if last.destinations > 0.0 {
                for (from, (entry, first)) in row.iter_mut().zip(&members).enumerate() {
                    let themselves = if from == to { last.both } else { 0.0 };
                    let others = inside.as_ref().map_or(0.0, |pairs| pairs[to * edges + from]);
                    *entry += share * (first.sources * last.destinations - themselves - others);
                }
            }
        }
    }

    /// By host: the probability that a flow starts there and stays inside its server. Empty without links
    /// inside servers.
    pub(super) fn inside(&self) -> &[f64] {
        if self.links.is_some() { &self.inside } else { &[] }
    }

    /// By directed link: the expected number of times that a flow crosses the link, when every
    /// switch splits the flows evenly over its next hops.
    pub(super) fn crossings(&self, topology: &Topology, routing: &Routing) -> Vec<f64> {
        let mut crossings = vec![0.0; topology.links.len()];
        for host in 0..topology.hosts {
            crossings[topology.uplink(host) as usize] = self.sources[host as usize];
            crossings[topology.downlink(host) as usize] = self.destinations[host as usize];
        }
        let edges = routing.edge_switches();
        let mut at_switch = vec![0.0; topology.nodes.len()];
        for (edge, row) in (0..).zip(self.between.chunks_exact(edges.len())) {
            at_switch.fill(0.0);
            for (switch, share) in edges.iter().zip(row) {
                at_switch[*switch as usize] = *share;
            }
            for switch in routing.nearest_first(edge).rev() {
                let hops = routing.next_hops(switch, edge);
                let share = at_switch[switch as usize] / hops.len().max(1) as f64;
                for (hop, next) in hops.with_ends() {
                    crossings[hop as usize] += share;
                    at_switch[next as usize] += share;
                }
            }
        }
        crossings
    }
}

/// `[destination edge switch, source edge switch]`: how many pairs of a server, one of `sources` and another
/// host that is a destination, are below them.
fn inside(
    links: InnerLinks,
    routing: &Routing,
    sources: &[u32],
    is_destination: &[bool],
) -> Vec<f64> {
    let edges = routing.edge_switches().len();
    let mut pairs = vec![0.0; edges * edges];
    for &source in sources {
        let others = links.server(source).filter(|&other| other != source);
        for other in others.filter(|&other| is_destination[other as usize]) {
            let [to, from] = [other, source].map(|host| routing.edge_of(host) as usize);
            pairs[to * edges + from] += 1.0;
        }
    }
    pairs
}

/// By link: the mean number of times that it is crossed on the path between two different hosts that reach
/// each other by the network; 0 where no two do.
pub fn mean_crossings(topology: &Topology, routing: &Routing) -> Vec<f64> {
    let hosts: Vec<u32> = (0..topology.hosts).collect();
    let mut demand = Demand::new(routing, topology);
    demand.add(routing, &hosts, &hosts, 1.0);
    let outside = 1.0 - demand.inside().iter().sum::<f64>();
    let mut crossings = demand.crossings(topology, routing);
    if outside > 0.0 {
        crossings.iter_mut().for_each(|crossing| *crossing /= outside);
    }
    crossings
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use penstock_units::{BitRate, Time};

    use crate::topology::tests::{bfc, graph};
    use crate::topology::{Rail, TopologyConfig, build};

    #[test]
    fn uniform_traffic_crosses_the_core_as_often_as_counted() {
        let network = build(&bfc()).unwrap();
        let routing = Routing::new(&network);
        let mut demand = Demand::new(&routing, &network);
        let all: Vec<u32> = (0..128).collect();
        demand.add(&routing, &all, &all, 1.0);
        let crossings = demand.crossings(&network, &routing);
        // 112 of 127 destinations are in another rack (BASELINES 0.5); their flows spread over 64
        // links in each direction.
        for (link, crossing) in (0..).zip(&crossings) {
            let expected = if network.is_core(link) { 112.0 / 127.0 / 64.0 } else { 1.0 / 128.0 };
            assert!((crossing - expected).abs() < 1e-12, "link {link}: {crossing}");
        }
    }

    /// Three servers of two hosts, with a leaf for each rail and two spines.
    fn rail(inner_rate: BitRate) -> Topology {
        build(&TopologyConfig::Rail(Rail {
            servers: 3,
            gpus: 2,
            servers_per_group: 3,
            spines: 2,
            oversubscription: 1,
            rate: BitRate::from_gbps(100),
            delay: Time::from_us(1),
            pipeline_delay: Time::ZERO,
            inner_rate,
            inner_delay: None,
            failed_links: vec![],
        }))
        .unwrap()
    }

    #[test]
    fn flows_inside_a_server_cross_no_link() {
        let network = rail(BitRate::from_gbps(3_600));
        let routing = Routing::new(&network);
        let crossings = |sources: &[u32], destinations: &[u32]| {
            let mut demand = Demand::new(&routing, &network);
            demand.add(&routing, sources, destinations, 1.0);
            (demand.crossings(&network, &routing), demand.inside().to_vec())
        };
        let all: Vec<u32> = (0..6).collect();
        let (every, inside) = crossings(&all, &all);
        // One of five others is in the server; two share the leaf, two do not.
        for host in 0..6 {
            let up = every[network.uplink(host) as usize];
            assert!((up - 4.0 / 5.0 / 6.0).abs() < 1e-12, "host {host}: {up}");
            assert!((inside[host as usize] - 1.0 / 5.0 / 6.0).abs() < 1e-12);
        }
        let core: f64 =
            (0u32..).zip(&every).filter(|(link, _)| network.is_core(*link)).map(|one| one.1).sum();
        assert!((core - 2.0 * 2.0 / 5.0).abs() < 1e-12, "{core}");
        let (none, inside) = crossings(&[2], &[3]);
        assert!(none.iter().all(|&times| times == 0.0));
        assert_eq!(inside, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
        let mean_path = |network: &Topology| -> f64 {
            mean_crossings(network, &Routing::new(network)).iter().sum()
        };
        // Two links on a rail, four between rails.
        assert!((mean_path(&network) - 3.0).abs() < 1e-12);
        // By the network the other host of the server is four links away.
        let without = rail(BitRate::default());
        assert!((mean_path(&without) - 16.0 / 5.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn counting_by_switch_is_counting_by_pair(
            sources in prop::collection::btree_set(0u32..6, 1..6),
            destinations in prop::collection::btree_set(0u32..6, 1..6),
        ) {
            // A ring of five switches. Hosts 0 and 1 share a switch, and hosts 3 and 4 share one.
            let ring = [(6, 7), (7, 8), (8, 9), (9, 10), (10, 6)];
            let access = [(0, 6), (1, 6), (2, 7), (3, 8), (4, 8), (5, 10)];
            let network = build(&graph(6, 5, &[&ring[..], &access].concat())).unwrap();
            let routing = Routing::new(&network);
            let all_at_once = {
                let mut demand = Demand::new(&routing, &network);
                let [from, to] = [&sources, &destinations].map(|set| set.iter().copied().collect::<Vec<_>>());
                demand.add(&routing, &from, &to, 1.0);
                demand.crossings(&network, &routing)
            };
            let pairs: Vec<_> = sources
                .iter()
                .flat_map(|from| destinations.iter().map(move |to| (*from, *to)))
                .filter(|(from, to)| from != to)
                .collect();
            let mut demand = Demand::new(&routing, &network);
            for (from, to) in &pairs {
                demand.add(&routing, &[*from], &[*to], 1.0 / pairs.len() as f64);
            }
            for (one, other) in demand.crossings(&network, &routing).iter().zip(all_at_once) {
                prop_assert!((one - other).abs() < 1e-12);
            }
        }
    }
}
