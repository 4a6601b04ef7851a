//! A rail fabric for servers with several accelerators: a leaf for each rail.

use penstock_units::{BitRate, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::inner::InnerLinks;
use super::plan::{
    BFC_FABRIC, Cable, Extent, Line, MOST_DELAY, NOTHING_FAILS, PIPELINE, Plan, Role, check_extent,
};

/// The source of the shape.
const SUPERPOD: &str = "NVIDIA DGX SuperPOD reference architecture (H100): 32 nodes of 8 GPUs, 400 Gb/s for \
                        each, a leaf for each rail";

/// The source of the default rate inside a server.
const NVLINK: &str = "NVIDIA's page of NVLink: its fourth generation, in H100, has 900 GB/s in both \
                      directions together";

/// The source of the default delay inside a server.
const INNER_DELAY: &str = "our choice: a window, so that threads need not wait for each other; NCCL \
                           (src/graph/tuning.cc) counts 0.5 to 3.4 us for a step of a ring over NVLink";

/// The source of the default number of spines.
const SPINES: &str = "our choice: half as many as a leaf has hosts, each link a pair of cables";

/// A rail-optimised fabric, in which the accelerators of one number in all servers share a leaf.
///
/// A host is one accelerator with its NIC. Server `s` has the hosts `s gpus` to `s gpus + gpus - 1`;
/// the last digit, `h % gpus`, is the host's rail. Servers form groups of `servers_per_group`. Each
/// group has a leaf for each rail, and every leaf is linked to every spine. So two hosts of one rail
/// and group are two links apart, and hosts of different rails meet at a spine. Hosts of one server
/// reach each other by links inside the server; a flow to another server takes its host's own NIC.
/// Nodes: hosts, leafs, spines; leaf `q gpus + r` is that of rail `r` in group `q`. Cables: host to
/// leaf in host order, then leaf to spine, leaf by leaf.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rail {
    /// Servers.
    #[schemars(range(min = 1), extend("default" = 32, "source" = SUPERPOD))]
    pub servers: u32,
    /// Accelerators of a server, and rails.
    #[schemars(range(min = 1), extend("default" = 8, "source" = SUPERPOD))]
    pub gpus: u32,
    /// Servers whose accelerators share leafs.
    ///
    /// The last group may have fewer.
    #[schemars(range(min = 1), extend("default" = 32, "source" = SUPERPOD))]
    pub servers_per_group: u32,
    /// Spine switches.
    #[schemars(range(min = 1), extend("default" = 16, "source" = SPINES))]
    pub spines: u32,
    /// Bandwidth of the hosts of a leaf, as a multiple of the leaf's bandwidth to all spines.
    ///
    /// The rate of a link to a spine follows: that of all hosts of a full leaf / (`spines`
    /// `oversubscription`), rounded up. A full leaf has `servers_per_group` hosts, or `servers` where these
    /// are fewer.
    #[schemars(range(min = 1), extend("default" = 1, "source" = SUPERPOD))]
    pub oversubscription: u32,
    /// Rate of host links.
    #[schemars(range(min = 1), extend("default" = "400 Gb/s", "source" = SUPERPOD))]
    pub rate: BitRate,
    /// Propagation delay of all links.
    #[schemars(range(max = MOST_DELAY), extend("default" = "1 us", "source" = BFC_FABRIC))]
    pub delay: Time,
    /// Time from a packet's last bit in to being ready for its egress queue, at every switch.
    #[schemars(range(max = MOST_DELAY), extend("default" = 0, "source" = PIPELINE))]
    pub pipeline_delay: Time,
    /// Rate at which a host sends to hosts of its server; 0: it reaches them by the network.
    ///
    /// A transfer inside a server takes its size over this rate, and then `inner_delay`. The transfers of a
    /// host follow each other. They have no packets, and no scheme touches them.
    #[schemars(extend("default" = "3.6 Tb/s", "source" = NVLINK))]
    pub inner_rate: BitRate,
    /// Delay of the links inside servers; none: that of a link between switches, `delay` and
    /// `pipeline_delay`.
    ///
    /// It is not shorter than that of a link between switches.
    #[schemars(range(max = MOST_DELAY), extend("default" = null, "source" = INNER_DELAY))]
    pub inner_delay: Option<Time>,
    /// Links that have failed from the start, as [node, node].
    #[schemars(extend("default" = [], "source" = NOTHING_FAILS))]
    pub failed_links: Vec<(u32, u32)>,
}

impl Rail {
    pub(super) fn plan(&self, problems: &mut Problems) -> Option<Plan> {
        let counts = [
            ("servers", self.servers),
            ("spines", self.spines),
            ("oversubscription", self.oversubscription),
            ("servers_per_group", self.servers_per_group),
            ("gpus", self.gpus),
        ];
        check_extent(self.extent(), &counts, problems);
        let spine_rate = self.spine_rate(problems);
        self.check_inner_delay(problems);
        if !problems.is_sound("topology") {
            return None;
        }
        let hosts = self.servers * self.gpus;
        let leafs = self.groups() * self.gpus;
        let (first_leaf, first_spine) = (hosts, hosts + leafs);
        let line = |rate| Line { rate, delay: self.delay };
        let (host_line, spine_line) = (line(self.rate), line(spine_rate));
        let to_hosts = (0..hosts).map(|host| {
            let (server, rail) = (host / self.gpus, host % self.gpus);
            let leaf = server / self.servers_per_group * self.gpus + rail;
            Cable { a: host, b: first_leaf + leaf, line: host_line }
        });
        let to_spines = (first_leaf..first_spine).flat_map(|leaf| {
            let spines = first_spine..first_spine + self.spines;
            spines.map(move |spine| Cable { a: leaf, b: spine, line: spine_line })
        });
        Some(Plan {
            roles: vec![(Role::Host, hosts), (Role::Leaf, leafs), (Role::Spine, self.spines)],
            cables: to_hosts.chain(to_spines).collect(),
            pipeline_delay: self.pipeline_delay,
            failed_links: self.failed_links.clone(),
        })
    }

    /// The links inside servers; none where hosts of a server reach each other by the network.
    pub(super) fn inner_links(&self) -> Option<InnerLinks> {
        let delay = self.inner_delay.unwrap_or(self.between_switches());
        let links = InnerLinks { hosts: self.gpus, rate: self.inner_rate, delay };
        (self.gpus > 1 && self.inner_rate > BitRate::default()).then_some(links)
    }

    /// From the last bit's leaving a switch to the packet's being ready at the next one.
    fn between_switches(&self) -> Time {
        self.delay.saturating_add(self.pipeline_delay)
    }

    /// What leaves in a window must not arrive in it, or parts of the network could not run beside each
    /// other.
    fn check_inner_delay(&self, problems: &mut Problems) {
        let (Some(delay), shortest) = (self.inner_delay, self.between_switches()) else { return };
        let remedy = format!(
            "a link between switches takes {shortest} (delay and pipeline_delay), and nothing in a network \
             is shorter; write at least {shortest}, or leave it out"
        );
        let holds = delay >= shortest || self.inner_links().is_none();
        problems.unless(holds, "topology.inner_delay", delay, remedy);
    }

    fn groups(&self) -> u32 {
        self.servers.div_ceil(self.servers_per_group)
    }

    /// The hosts of a leaf, of which a leaf of the last group may have fewer.
    fn hosts_of_leaf(&self) -> u32 {
        self.servers.min(self.servers_per_group)
    }

    /// The rate of a link from a leaf to a spine.
    fn spine_rate(&self, problems: &mut Problems) -> BitRate {
        let hosts = u128::from(self.rate.as_bps()) * u128::from(self.hosts_of_leaf());
        let links = (u128::from(self.spines) * u128::from(self.oversubscription)).max(1);
        let rate = u64::try_from(hosts.div_ceil(links));
        let remedy =
            "links to spines would have more than 2^64 b/s; write a smaller rate, or more spines";
        problems.unless(rate.is_ok(), "topology.rate", self.rate, remedy);
        BitRate::from_bps(rate.unwrap_or(u64::MAX))
    }

    fn extent(&self) -> Extent {
        let [servers, gpus, spines] = [self.servers, self.gpus, self.spines].map(u64::from);
        let hosts = servers.saturating_mul(gpus);
        let groups = servers.div_ceil(u64::from(self.servers_per_group.max(1)));
        let leafs = groups.saturating_mul(gpus);
        let cables = hosts.saturating_add(leafs.saturating_mul(spines));
        let of_leaf = u64::from(self.hosts_of_leaf()) + spines;
        Extent { hosts, switches: leafs.saturating_add(spines), cables, ports: of_leaf.max(leafs) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::Routing;
    use crate::topology::{TopologyConfig, build};

    /// Five servers of four accelerators in groups of two servers.
    fn small() -> Rail {
        Rail {
            servers: 5,
            gpus: 4,
            servers_per_group: 2,
            spines: 3,
            oversubscription: 2,
            rate: BitRate::from_gbps(400),
            delay: Time::from_us(1),
            pipeline_delay: Time::ZERO,
            inner_rate: BitRate::from_gbps(3_600),
            inner_delay: None,
            failed_links: vec![],
        }
    }

    #[test]
    fn each_rail_of_a_group_has_a_leaf() {
        let network = build(&TopologyConfig::Rail(small())).unwrap();
        assert_eq!((network.hosts, network.switches), (20, 3 * 4 + 3));
        assert_eq!(network.layers, ["host-leaf", "leaf-spine", "spine-leaf", "leaf-host"]);
        let name = |host| network.nodes[network.edge_switch(host) as usize].name.as_str();
        assert_eq!([name(0), name(3), name(4), name(7)], ["L0", "L3", "L0", "L3"]);
        assert_eq!([name(8), name(19)], ["L4", "L11"]);
    }

    #[test]
    fn hosts_of_one_rail_and_group_do_not_need_a_spine() {
        let network = build(&TopologyConfig::Rail(small())).unwrap();
        let routing = Routing::new(&network);
        let hops = |source, destination| {
            let mut path = Vec::new();
            routing.path(source, destination, 7, &mut path);
            path.len()
        };
        // The same rail in the group, another rail of the same server, the same rail elsewhere.
        assert_eq!([hops(0, 4), hops(0, 1), hops(0, 8)], [2, 4, 4]);
    }

    #[test]
    fn uplinks_share_the_bandwidth_of_the_hosts() {
        let network = build(&TopologyConfig::Rail(small())).unwrap();
        let up = network.link_between(20, 32).unwrap();
        // 2 x 400 Gb/s over 3 spines, of which half.
        assert_eq!(network.links[up as usize].rate.as_bps(), 800_000_000_000_u64.div_ceil(6));
        // The only group has five servers, not the eight that it could have.
        let one = Rail { servers_per_group: 8, oversubscription: 1, ..small() };
        let network = build(&TopologyConfig::Rail(one)).unwrap();
        let up = network.link_between(20, 24).unwrap();
        assert_eq!(network.links[up as usize].rate.as_bps(), 2_000_000_000_000_u64.div_ceil(3));
    }

    #[test]
    fn servers_have_links_inside_unless_they_are_written_off() {
        let inner = |config: Rail| build(&TopologyConfig::Rail(config)).unwrap().inner;
        let links = inner(small()).unwrap();
        assert_eq!((links.hosts, links.rate), (4, BitRate::from_gbps(3_600)));
        assert_eq!(links.delay, Time::from_us(1), "that of a link between switches");
        let slow = Rail { pipeline_delay: Time::from_ns(300), ..small() };
        assert_eq!(inner(slow.clone()).unwrap().delay, Time::from_ns(1_300));
        let given = Rail { inner_delay: Some(Time::from_us(2)), ..slow.clone() };
        assert_eq!(inner(given).unwrap().delay, Time::from_us(2));
        let off = Rail { inner_rate: BitRate::default(), inner_delay: Some(Time::ZERO), ..small() };
        assert_eq!(inner(off), None);
        assert_eq!(inner(Rail { gpus: 1, ..small() }), None, "nobody else is in the server");
        let early = Rail { inner_delay: Some(Time::from_us(1)), ..slow };
        let refused = build(&TopologyConfig::Rail(early)).unwrap_err().to_string();
        let expected = "topology.inner_delay is 1 us; a link between switches takes 1.3 us";
        assert!(refused.contains(expected), "{refused}");
        assert!(refused.contains("write at least 1.3 us"), "{refused}");
    }

    #[test]
    fn counts_are_checked() {
        let refusal = |config| build(&TopologyConfig::Rail(config)).unwrap_err().to_string();
        assert!(refusal(Rail { gpus: 0, ..small() }).contains("topology.gpus is 0"));
        assert!(refusal(Rail { servers: 1, gpus: 1, ..small() }).contains("a network of one host"));
        assert!(refusal(Rail { servers: u32::MAX, ..small() }).contains("this asks for"));
        let fast =
            Rail { rate: BitRate::from_bps(u64::MAX), oversubscription: 1, spines: 1, ..small() };
        assert!(refusal(fast).contains("more than 2^64 b/s"));
    }
}
