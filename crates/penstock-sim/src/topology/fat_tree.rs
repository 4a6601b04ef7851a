//! A fat tree of equal switches: pods whose leafs each reach spines of their own.

use penstock_units::{BitRate, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::{
    BFC_FABRIC, Cable, Extent, Line, MOST_DELAY, NOTHING_FAILS, PIPELINE, Plan, Role, check_extent,
};

/// The source of the shape.
const FAT_TREE: &str = "Al-Fares et al., SIGCOMM 2008, sec. 3.1";

/// A fat tree of switches with `ports` ports (k in the paper), as M. Al-Fares, A. Loukissas and
/// A. Vahdat build it ("A Scalable, Commodity Data Center Network Architecture", SIGCOMM 2008,
/// sec. 3.1).
///
/// There are k pods of k/2 top-of-rack switches and k/2 leafs, and (k/2)^2 spines. Every ToR is
/// linked to every leaf of its pod. Leaf `i` of a pod is linked to the spines `i k/2` to
/// `i k/2 + k/2 - 1`. A ToR has k/2 hosts, times `oversubscription`. Nodes: hosts, ToRs, leafs,
/// spines; host `h` is under ToR `h / (oversubscription k/2)`. Cables: host to ToR in host order,
/// ToR to leaf, ToR by ToR, leaf to spine, leaf by leaf.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FatTree {
    /// Ports of a switch, even.
    #[schemars(range(min = 2), extend("default" = 8, "source" = "our choice: 128 hosts, as BFC 6.2.1"))]
    pub ports: u32,
    /// Bandwidth of the hosts of a ToR, as a multiple of the ToR's bandwidth to its leafs.
    ///
    /// With more than 1, a ToR has more than `ports` ports.
    #[schemars(range(min = 1), extend("default" = 1, "source" = FAT_TREE))]
    pub oversubscription: u32,
    /// Rate of all links.
    #[schemars(range(min = 1), extend("default" = "100 Gb/s", "source" = BFC_FABRIC))]
    pub rate: BitRate,
    /// Propagation delay of all links.
    #[schemars(range(max = MOST_DELAY), extend("default" = "1 us", "source" = BFC_FABRIC))]
    pub delay: Time,
    /// Time from a packet's last bit in to being ready for its egress queue, at every switch.
    #[schemars(range(max = MOST_DELAY), extend("default" = 0, "source" = PIPELINE))]
    pub pipeline_delay: Time,
    /// Links that have failed from the start, as [node, node].
    #[schemars(extend("default" = [], "source" = NOTHING_FAILS))]
    pub failed_links: Vec<(u32, u32)>,
}

impl FatTree {
    pub(super) fn plan(&self, problems: &mut Problems) -> Option<Plan> {
        let remedy = "half of a switch's ports lead up and half lead down; write an even number";
        problems.unless(self.ports.is_multiple_of(2), "topology.ports", self.ports, remedy);
        let counts = [("ports", self.ports), ("oversubscription", self.oversubscription)];
        check_extent(self.extent(), &counts, problems);
        if !problems.is_sound("topology") {
            return None;
        }
        let half = self.ports / 2;
        let each = half * self.oversubscription;
        let tors = self.ports * half;
        let hosts = tors * each;
        let (first_leaf, first_spine) = (hosts + tors, hosts + 2 * tors);
        let line = Line { rate: self.rate, delay: self.delay };
        let to_hosts = (0..hosts).map(|host| Cable { a: host, b: hosts + host / each, line });
        let to_leafs = (0..tors).flat_map(|tor| {
            let leafs = (0..half).map(move |leaf| first_leaf + tor / half * half + leaf);
            leafs.map(move |leaf| Cable { a: hosts + tor, b: leaf, line })
        });
        let to_spines = (0..tors).flat_map(|leaf| {
            let spines = (0..half).map(move |spine| first_spine + leaf % half * half + spine);
            spines.map(move |spine| Cable { a: first_leaf + leaf, b: spine, line })
        });
        Some(Plan {
            roles: vec![
                (Role::Host, hosts),
                (Role::TopOfRack, tors),
                (Role::Leaf, tors),
                (Role::Spine, half * half),
            ],
            cables: to_hosts.chain(to_leafs).chain(to_spines).collect(),
            pipeline_delay: self.pipeline_delay,
            failed_links: self.failed_links.clone(),
        })
    }

    fn extent(&self) -> Extent {
        let half = u64::from(self.ports / 2);
        let tors = u64::from(self.ports) * half;
        let hosts = tors.saturating_mul(half).saturating_mul(u64::from(self.oversubscription));
        let to_leafs = tors.saturating_mul(half);
        let cables = hosts.saturating_add(to_leafs.saturating_mul(2));
        let switches = tors.saturating_mul(2).saturating_add(half * half);
        let of_tor = half.saturating_mul(u64::from(self.oversubscription)).saturating_add(half);
        Extent { hosts, switches, cables, ports: of_tor.max(u64::from(self.ports)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::Routing;
    use crate::topology::{TopologyConfig, build};

    fn tree(ports: u32, oversubscription: u32) -> FatTree {
        FatTree {
            ports,
            oversubscription,
            rate: BitRate::from_gbps(100),
            delay: Time::from_us(1),
            pipeline_delay: Time::ZERO,
            failed_links: vec![],
        }
    }

    #[test]
    fn switches_of_k_ports_give_a_quarter_of_k_cubed_hosts() {
        for ports in [2, 4, 8, 16] {
            let network = build(&TopologyConfig::FatTree(tree(ports, 1))).unwrap();
            assert_eq!(network.hosts, ports.pow(3) / 4, "sec. 3.1");
            assert_eq!(network.switches, 5 * ports.pow(2) / 4, "sec. 3.1");
            for switch in network.hosts..network.hosts + network.switches {
                assert_eq!(network.egress_links(switch).len(), ports as usize);
            }
        }
    }

    #[test]
    fn hosts_of_two_pods_have_a_path_over_every_spine() {
        let network = build(&TopologyConfig::FatTree(tree(4, 1))).unwrap();
        let routing = Routing::new(&network);
        let spine_of = |key| {
            let mut path = Vec::new();
            routing.path(0, 15, key, &mut path);
            assert_eq!(path.len(), 6);
            network.links[path[2] as usize].to
        };
        let spines: std::collections::BTreeSet<u32> = (0..64).map(spine_of).collect();
        assert_eq!(spines.into_iter().collect::<Vec<_>>(), [32, 33, 34, 35], "S0 to S3");
    }

    #[test]
    fn oversubscription_puts_more_hosts_under_a_switch() {
        let network = build(&TopologyConfig::FatTree(tree(4, 3))).unwrap();
        assert_eq!(network.hosts, 8 * 2 * 3);
        let tor = network.edge_switch(0);
        assert_eq!((0..network.hosts).filter(|&host| network.edge_switch(host) == tor).count(), 6);
    }

    #[test]
    fn counts_are_checked() {
        let refusal = |config| build(&TopologyConfig::FatTree(config)).unwrap_err().to_string();
        assert!(refusal(tree(5, 1)).contains("topology.ports is 5; half of a switch's ports"));
        assert!(refusal(tree(4, 0)).contains("topology.oversubscription is 0"));
        assert!(refusal(tree(u32::MAX - 1, 7)).contains("this asks for"));
    }
}
