//! Two switches with hosts on either side and one link between them.

use penstock_units::source::LINKS_OF_BFC;
use penstock_units::{BitRate, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::{
    Cable, Extent, Line, MOST_DELAY, NOTHING_FAILS, PIPELINE, Plan, Role, check_extent,
};

/// A dumbbell: hosts `0..left` on switch `S0`, the others on `S1`, and the core link `S0`-`S1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dumbbell {
    /// Hosts on the left.
    #[schemars(range(min = 1), extend("default" = 16, "source" = "our choice: a rack a side"))]
    pub left: u32,
    /// Hosts on the right.
    #[schemars(range(min = 1), extend("default" = 16, "source" = "our choice: a rack a side"))]
    pub right: u32,
    /// Rate of host links.
    #[schemars(range(min = 1), extend("default" = "100 Gb/s", "source" = LINKS_OF_BFC))]
    pub edge_rate: BitRate,
    /// Propagation delay of host links.
    #[schemars(range(max = MOST_DELAY), extend("default" = "1 us", "source" = LINKS_OF_BFC))]
    pub edge_delay: Time,
    /// Rate of the core link.
    #[schemars(range(min = 1), extend("default" = "100 Gb/s", "source" = LINKS_OF_BFC))]
    pub core_rate: BitRate,
    /// Propagation delay of the core link.
    #[schemars(range(max = MOST_DELAY), extend("default" = "1 us", "source" = LINKS_OF_BFC))]
    pub core_delay: Time,
    /// Time from a packet's last bit in to being ready for its egress queue, at every switch.
    #[schemars(range(max = MOST_DELAY), extend("default" = 0, "source" = PIPELINE))]
    pub pipeline_delay: Time,
    /// Links that have failed from the start, as [node, node].
    #[schemars(extend("default" = [], "source" = NOTHING_FAILS))]
    pub failed_links: Vec<(u32, u32)>,
}

impl Dumbbell {
    pub(super) fn plan(&self, problems: &mut Problems) -> Option<Plan> {
        let edge = Line { rate: self.edge_rate, delay: self.edge_delay };
        let core = Line { rate: self.core_rate, delay: self.core_delay };
        let hosts = u64::from(self.left) + u64::from(self.right);
        let ports = u64::from(self.left.max(self.right)) + 1;
        let extent = Extent { hosts, switches: 2, cables: hosts + 1, ports };
        check_extent(extent, &[("left", self.left), ("right", self.right)], problems);
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
