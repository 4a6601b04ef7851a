//! Two tiers: racks of hosts under top-of-rack switches, each linked to every spine.

use penstock_units::{BitRate, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::{
    BFC_FABRIC, Cable, Extent, Line, MOST_DELAY, NOTHING_FAILS, PIPELINE, Plan, Role, check_extent,
};

/// A leaf-spine (folded Clos) network.
///
/// Nodes: hosts, then top-of-rack switches, then spines; host `h` is in rack
/// `h / hosts_per_rack`. Cables: host to ToR in host order, then ToR to spine, ToR by ToR. BFC's
/// evaluation has 8 racks of 16 hosts and 8 spines, 100 Gb/s and 1 us everywhere (BFC Sec. 6.2.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeafSpine {
    /// Top-of-rack switches.
    #[schemars(range(min = 1), extend("default" = 8, "source" = BFC_FABRIC))]
    pub racks: u32,
    /// Hosts under each.
    #[schemars(range(min = 1), extend("default" = 16, "source" = BFC_FABRIC))]
    pub hosts_per_rack: u32,
    /// Spine switches.
    #[schemars(range(min = 1), extend("default" = 8, "source" = BFC_FABRIC))]
    pub spines: u32,
    /// Rate of host links.
    #[schemars(range(min = 1), extend("default" = "100 Gb/s", "source" = BFC_FABRIC))]
    pub host_rate: BitRate,
    /// Rate of links to spines.
    #[schemars(range(min = 1), extend("default" = "100 Gb/s", "source" = BFC_FABRIC))]
    pub spine_rate: BitRate,
    /// Propagation delay of host links.
    #[schemars(range(max = MOST_DELAY), extend("default" = "1 us", "source" = BFC_FABRIC))]
    pub host_delay: Time,
    /// Propagation delay of links to spines.
    #[schemars(range(max = MOST_DELAY), extend("default" = "1 us", "source" = BFC_FABRIC))]
    pub spine_delay: Time,
    /// Time from a packet's last bit in to being ready for its egress queue, at every switch.
    #[schemars(range(max = MOST_DELAY), extend("default" = 0, "source" = PIPELINE))]
    pub pipeline_delay: Time,
    /// Links that have failed from the start, as [node, node].
    #[schemars(extend("default" = [], "source" = NOTHING_FAILS))]
    pub failed_links: Vec<(u32, u32)>,
}

impl LeafSpine {
    pub(super) fn plan(&self, problems: &mut Problems) -> Option<Plan> {
        let host_line = Line { rate: self.host_rate, delay: self.host_delay };
        let spine_line = Line { rate: self.spine_rate, delay: self.spine_delay };
        let [racks, spines] = [self.racks, self.spines].map(u64::from);
        let hosts = racks * u64::from(self.hosts_per_rack);
        let cables = hosts.saturating_add(racks.saturating_mul(spines));
        let ports = racks.max(u64::from(self.hosts_per_rack) + spines);
        let extent = Extent { hosts, switches: racks + spines, cables, ports };
        let counts = [
            ("racks", self.racks),
            ("spines", self.spines),
            ("hosts_per_rack", self.hosts_per_rack),
        ];
        check_extent(extent, &counts, problems);
        if !problems.is_sound("topology") {
            return None;
        }

        let first_rack = self.racks * self.hosts_per_rack;
        let first_spine = first_rack + self.racks;
        let to_hosts = (0..first_rack).map(|host| {
            let rack = first_rack + host / self.hosts_per_rack;
            Cable { a: host, b: rack, line: host_line }
        });
        let to_spines = (first_rack..first_spine).flat_map(|rack| {
            let spines = first_spine..first_spine + self.spines;
            spines.map(move |spine| Cable { a: rack, b: spine, line: spine_line })
        });
        Some(Plan {
            roles: vec![
                (Role::Host, first_rack),
                (Role::TopOfRack, self.racks),
                (Role::Spine, self.spines),
            ],
            cables: to_hosts.chain(to_spines).collect(),
            pipeline_delay: self.pipeline_delay,
            failed_links: self.failed_links.clone(),
        })
    }
}
