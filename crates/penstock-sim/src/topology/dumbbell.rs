//! Two switches with hosts on either side and one link between them.

use penstock_units::{BitRate, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::{
    Cable, Extent, Line, Plan, Role, check_count, check_delay, check_extent, check_line,
};

/// A dumbbell: hosts `0..left` on switch `S0`, the others on `S1`, and the core link `S0`-`S1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dumbbell {
    /// Hosts on the first switch, >= 1.
    pub left: u32,
    /// Hosts on the second switch, >= 1.
    pub right: u32,
    /// Rate of the host links (bit/s), > 0.
    pub edge_rate: BitRate,
    /// Propagation delay of the host links (ps), at most 1 s.
    pub edge_delay: Time,
    /// Rate of the link between the switches (bit/s), > 0.
    pub core_rate: BitRate,
    /// Propagation delay between the switches (ps), at most 1 s.
    pub core_delay: Time,
    /// Time that a switch needs before a packet is ready for its egress queue (ps), at most 1 s.
    pub pipeline_delay: Time,
    /// Links that have failed from the start, as the two nodes that they join.
    pub failed_links: Vec<(u32, u32)>,
}

impl Dumbbell {
    pub(super) fn plan(&self, problems: &mut Problems) -> Option<Plan> {
        let edge = Line { rate: self.edge_rate, delay: self.edge_delay };
        let core = Line { rate: self.core_rate, delay: self.core_delay };
        check_count("left", self.left, 1, problems);
        check_count("right", self.right, 1, problems);
        let has_counts = problems.is_sound("topology");
        check_line("edge_", edge, problems);
        check_line("core_", core, problems);
        check_delay("pipeline_delay", self.pipeline_delay, problems);
        if has_counts {
            let hosts = u64::from(self.left) + u64::from(self.right);
            let extent = Extent { hosts, switches: 2, cables: hosts + 1 };
            check_extent(extent, ("left", self.left), ("left", self.left), problems);
        }
        if !problems.is_sound("topology") {
            return None;
        }

        let hosts = self.left + self.right;
        let switch = |host| hosts + u32::from(host >= self.left);
        let to_hosts = (0..hosts).map(|host| Cable { a: host, b: switch(host), line: edge });
        let between = Cable { a: hosts, b: hosts + 1, line: core };
        Some(Plan {
            roles: vec![(Role::Host, hosts), (Role::Switch, 2)],
            cables: to_hosts.chain([between]).collect(),
            pipeline_delay: self.pipeline_delay,
            failed_links: self.failed_links.clone(),
        })
    }
}
