//! Two tiers: racks of hosts under top-of-rack switches, each linked to every spine.

use penstock_units::{BitRate, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::{
    Cable, Extent, Line, Plan, Role, check_count, check_delay, check_extent, check_line,
};

/// A leaf-spine (folded Clos) network.
///
/// Nodes: hosts, then top-of-rack switches, then spines; host `h` is in rack
/// `h / hosts_per_rack`. Cables: host to ToR in host order, then ToR to spine, ToR by ToR. BFC's
/// evaluation has 8 racks of 16 hosts and 8 spines, 100 Gb/s and 1 us everywhere (BFC Sec. 6.2.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeafSpine {
    /// Racks, >= 1; each has one top-of-rack switch.
    pub racks: u32,
    /// Hosts in a rack, >= 1; at least 2 hosts in all.
    pub hosts_per_rack: u32,
    /// Spine switches, >= 1.
    pub spines: u32,
    /// Rate of the links between hosts and ToRs (bit/s), > 0.
    pub host_rate: BitRate,
    /// Rate of the links between ToRs and spines (bit/s), > 0.
    pub spine_rate: BitRate,
    /// Propagation delay between host and ToR (ps), at most 1 s.
    pub host_delay: Time,
    /// Propagation delay between ToR and spine (ps), at most 1 s.
    pub spine_delay: Time,
    /// Time that a switch needs before a packet is ready for its egress queue (ps), at most 1 s.
    pub pipeline_delay: Time,
    /// Links that have failed from the start, as the two nodes that they join.
    pub failed_links: Vec<(u32, u32)>,
}

impl LeafSpine {
    pub(super) fn plan(&self, problems: &mut Problems) -> Option<Plan> {
        let host_line = Line { rate: self.host_rate, delay: self.host_delay };
        let spine_line = Line { rate: self.spine_rate, delay: self.spine_delay };
        check_count("racks", self.racks, 1, problems);
        check_count("hosts_per_rack", self.hosts_per_rack, 1, problems);
        check_count("spines", self.spines, 1, problems);
        let has_counts = problems.is_sound("topology");
        check_line("host_", host_line, problems);
        check_line("spine_", spine_line, problems);
        check_delay("pipeline_delay", self.pipeline_delay, problems);
        if has_counts {
            let [racks, spines] = [self.racks, self.spines].map(u64::from);
            let hosts = racks * u64::from(self.hosts_per_rack);
            let cables = hosts.saturating_add(racks.saturating_mul(spines));
            let extent = Extent { hosts, switches: racks + spines, cables };
            let more = ("hosts_per_rack", self.hosts_per_rack);
            check_extent(extent, more, ("racks", self.racks), problems);
        }
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
