//! Three tiers: pods of top-of-rack switches and leafs, joined by spines.

use penstock_units::source::PCN_NETWORK;
use penstock_units::{BitRate, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::{
    Cable, Extent, Line, MOST_DELAY, NOTHING_FAILS, PIPELINE, Plan, Role, check_extent,
};

/// A Clos network of pods.
///
/// Nodes: hosts, then top-of-rack switches, then leafs, then spines; host `h` is under ToR
/// `h / hosts_per_tor`, ToR `t` in pod `t / tors_per_pod`, leaf `l` in pod `l / leafs_per_pod`.
/// Every ToR is linked to every leaf of its pod, and every leaf to every spine. Cables: host to ToR
/// in host order, ToR to leaf, ToR by ToR, leaf to spine, leaf by leaf. PCN's evaluation has 8 pods
/// of 4 ToRs, 2 leafs and 64 hosts, and 8 spines (PCN sec. 7.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clos {
    /// Pods.
    #[schemars(range(min = 1), extend("default" = 8, "source" = PCN_NETWORK))]
    pub pods: u32,
    /// Top-of-rack switches in a pod.
    #[schemars(range(min = 1), extend("default" = 4, "source" = PCN_NETWORK))]
    pub tors_per_pod: u32,
    /// Leaf switches in a pod.
    #[schemars(range(min = 1), extend("default" = 2, "source" = PCN_NETWORK))]
    pub leafs_per_pod: u32,
    /// Hosts under each top-of-rack switch.
    #[schemars(range(min = 1), extend("default" = 16, "source" = PCN_NETWORK))]
    pub hosts_per_tor: u32,
    /// Spine switches.
    #[schemars(range(min = 1), extend("default" = 8, "source" = PCN_NETWORK))]
    pub spines: u32,
    /// Rate of host links.
    #[schemars(range(min = 1), extend("default" = "10 Gb/s", "source" = PCN_NETWORK))]
    pub host_rate: BitRate,
    /// Rate of links from top-of-rack switches to leafs.
    #[schemars(range(min = 1), extend("default" = "80 Gb/s", "source" = format!(
"{PCN_NETWORK}: 1:1 at the ToR takes 160 Gb/s to two leafs, two cables of 40 Gb/s each")))]
    pub leaf_rate: BitRate,
    /// Rate of links from leafs to spines.
    #[schemars(range(min = 1), extend("default" = "40 Gb/s", "source" = PCN_NETWORK))]
    pub spine_rate: BitRate,
    /// Propagation delay of host links.
    #[schemars(range(max = MOST_DELAY), extend("default" = "5 us", "source" = PCN_NETWORK))]
    pub host_delay: Time,
    /// Propagation delay between top-of-rack switch and leaf.
    #[schemars(range(max = MOST_DELAY), extend("default" = "5 us", "source" = PCN_NETWORK))]
    pub leaf_delay: Time,
    /// Propagation delay between leaf and spine.
    #[schemars(range(max = MOST_DELAY), extend("default" = "5 us", "source" = PCN_NETWORK))]
    pub spine_delay: Time,
    /// Time from a packet's last bit in to being ready for its egress queue, at every switch.
    #[schemars(range(max = MOST_DELAY), extend("default" = 0, "source" = PIPELINE))]
    pub pipeline_delay: Time,
    /// Links that have failed from the start, as [node, node].
    #[schemars(extend("default" = [], "source" = NOTHING_FAILS))]
    pub failed_links: Vec<(u32, u32)>,
}

impl Clos {
    pub(super) fn plan(&self, problems: &mut Problems) -> Option<Plan> {
        let counts = [
            ("pods", self.pods),
            ("tors_per_pod", self.tors_per_pod),
            ("leafs_per_pod", self.leafs_per_pod),
            ("spines", self.spines),
            ("hosts_per_tor", self.hosts_per_tor),
        ];
        check_extent(self.extent(), &counts, problems);
        if !problems.is_sound("topology") {
            return None;
        }
        let tors = self.pods * self.tors_per_pod;
        let leafs = self.pods * self.leafs_per_pod;
        let hosts = tors * self.hosts_per_tor;
        let (first_leaf, first_spine) = (hosts + tors, hosts + tors + leafs);
        let line = |rate, delay| Line { rate, delay };
        let host_line = line(self.host_rate, self.host_delay);
        let leaf_line = line(self.leaf_rate, self.leaf_delay);
        let spine_line = line(self.spine_rate, self.spine_delay);
        let to_hosts = (0..hosts).map(|host| {
            let tor = hosts + host / self.hosts_per_tor;
            Cable { a: host, b: tor, line: host_line }
        });
        let to_leafs = (0..tors).flat_map(|tor| {
            let first = first_leaf + tor / self.tors_per_pod * self.leafs_per_pod;
            let leafs = first..first + self.leafs_per_pod;
            leafs.map(move |leaf| Cable { a: hosts + tor, b: leaf, line: leaf_line })
        });
        let to_spines = (first_leaf..first_spine).flat_map(|leaf| {
            let spines = first_spine..first_spine + self.spines;
            spines.map(move |spine| Cable { a: leaf, b: spine, line: spine_line })
        });
        Some(Plan {
            roles: vec![
                (Role::Host, hosts),
                (Role::TopOfRack, tors),
                (Role::Leaf, leafs),
                (Role::Spine, self.spines),
            ],
            cables: to_hosts.chain(to_leafs).chain(to_spines).collect(),
            pipeline_delay: self.pipeline_delay,
            failed_links: self.failed_links.clone(),
        })
    }

    fn extent(&self) -> Extent {
        let times = |a: u64, b: u32| a.saturating_mul(u64::from(b));
        let tors = times(u64::from(self.pods), self.tors_per_pod);
        let leafs = times(u64::from(self.pods), self.leafs_per_pod);
        let hosts = times(tors, self.hosts_per_tor);
        let switches = tors.saturating_add(leafs).saturating_add(u64::from(self.spines));
        let cables = [times(tors, self.leafs_per_pod), times(leafs, self.spines)];
        let cables = cables.into_iter().fold(hosts, u64::saturating_add);
        let of_leaf = u64::from(self.tors_per_pod) + u64::from(self.spines);
        let of_tor = u64::from(self.hosts_per_tor) + u64::from(self.leafs_per_pod);
        Extent { hosts, switches, cables, ports: of_tor.max(of_leaf).max(leafs) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::Routing;
    use crate::topology::{TopologyConfig, build};

    /// The network of PCN sec. 7.4.
    fn pcn() -> Clos {
        Clos {
            pods: 8,
            tors_per_pod: 4,
            leafs_per_pod: 2,
            hosts_per_tor: 16,
            spines: 8,
            host_rate: BitRate::from_gbps(10),
            leaf_rate: BitRate::from_gbps(80),
            spine_rate: BitRate::from_gbps(40),
            host_delay: Time::from_us(5),
            leaf_delay: Time::from_us(5),
            spine_delay: Time::from_us(5),
            pipeline_delay: Time::ZERO,
            failed_links: vec![],
        }
    }

    #[test]
    fn the_pcn_network_has_its_counts_names_and_layers() {
        let network = build(&TopologyConfig::Clos(pcn())).unwrap();
        assert_eq!((network.hosts, network.switches), (512, 32 + 16 + 8));
        assert_eq!(network.links.len(), 2 * (512 + 64 + 128));
        assert_eq!(
            network.layers,
            ["host-ToR", "ToR-leaf", "leaf-spine", "spine-leaf", "leaf-ToR", "ToR-host"]
        );
        let node = |id: usize| (network.nodes[id].name.as_str(), network.nodes[id].tier);
        assert_eq!(
            [node(511), node(512), node(544), node(560)],
            [("H511", 0), ("T0", 1), ("L0", 2), ("S0", 3)]
        );
        // Every layer is 1:1: 16 x 10 = 2 x 80, and 4 x 80 = 8 x 40.
        let rate = |node: u32, up: bool| -> u64 {
            let links = network.egress_links(node).iter().map(|link| network.links[*link as usize]);
            links.filter(|link| (link.to > node) == up).map(|link| link.rate.as_bps()).sum()
        };
        assert_eq!((rate(512, false), rate(544, false)), (rate(512, true), rate(544, true)));
    }

    #[test]
    fn pods_meet_at_the_spines_only() {
        let network = build(&TopologyConfig::Clos(pcn())).unwrap();
        let routing = Routing::new(&network);
        let hops = |source, destination| {
            let mut path = Vec::new();
            routing.path(source, destination, 7, &mut path);
            path.len()
        };
        // Two hosts under the same ToR, in the same pod, in different pods.
        assert_eq!([hops(0, 15), hops(0, 63), hops(0, 64)], [2, 4, 6]);
    }

    #[test]
    fn counts_are_checked() {
        let refusal = |config| build(&TopologyConfig::Clos(config)).unwrap_err().to_string();
        assert!(refusal(Clos { spines: 0, ..pcn() }).contains("topology.spines is 0"));
        let one = Clos { pods: 1, tors_per_pod: 1, hosts_per_tor: 1, ..pcn() };
        assert!(
            refusal(one).contains("topology.hosts_per_tor is 1; it leaves a network of one host")
        );
        let huge = Clos { pods: u32::MAX, tors_per_pod: u32::MAX, ..pcn() };
        assert!(refusal(huge).contains("topology.pods is 4294967295; this asks for"));
    }
}
