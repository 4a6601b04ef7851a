//! Switches in a row, each with its hosts: the parking lot.

use penstock_units::source::LINKS_OF_BFC;
use penstock_units::{BitRate, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::{
    Cable, Extent, Line, MOST_DELAY, NOTHING_FAILS, PIPELINE, Plan, Role, check_extent,
};

/// A chain of switches `S0`-`S1`-...; host `h` is on switch `h / hosts_per_switch`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// Switches in the row.
    #[schemars(range(min = 2), extend("default" = 3, "source" = "our choice: two core hops"))]
    pub switches: u32,
    /// Hosts on each switch.
    #[schemars(range(min = 1), extend("default" = 2, "source" = "our choice: a sender and a receiver"))]
    pub hosts_per_switch: u32,
    /// Rate of host links.
    #[schemars(range(min = 1), extend("default" = "100 Gb/s", "source" = LINKS_OF_BFC))]
    pub edge_rate: BitRate,
    /// Propagation delay of host links.
    #[schemars(range(max = MOST_DELAY), extend("default" = "1 us", "source" = LINKS_OF_BFC))]
    pub edge_delay: Time,
    /// Rate of links between switches.
    #[schemars(range(min = 1), extend("default" = "100 Gb/s", "source" = LINKS_OF_BFC))]
    pub core_rate: BitRate,
    /// Propagation delay between switches.
    #[schemars(range(max = MOST_DELAY), extend("default" = "1 us", "source" = LINKS_OF_BFC))]
    pub core_delay: Time,
    /// Time from a packet's last bit in to being ready for its egress queue, at every switch.
    #[schemars(range(max = MOST_DELAY), extend("default" = 0, "source" = PIPELINE))]
    pub pipeline_delay: Time,
    /// Links that have failed from the start, as [node, node].
    #[schemars(extend("default" = [], "source" = NOTHING_FAILS))]
    pub failed_links: Vec<(u32, u32)>,
}

impl Chain {
    pub(super) fn plan(&self, problems: &mut Problems) -> Option<Plan> {
        let edge = Line { rate: self.edge_rate, delay: self.edge_delay };
        let core = Line { rate: self.core_rate, delay: self.core_delay };
        let switches = u64::from(self.switches);
        let hosts = switches * u64::from(self.hosts_per_switch);
        let ports = u64::from(self.hosts_per_switch) + 2;
        let extent = Extent { hosts, switches, cables: hosts.saturating_add(switches), ports };
        let counts = [("switches", self.switches), ("hosts_per_switch", self.hosts_per_switch)];
        check_extent(extent, &counts, problems);
        if !problems.is_sound("topology") {
            return None;
        }

        let hosts = self.switches * self.hosts_per_switch;
        let to_hosts = (0..hosts).map(|host| {
            let switch = hosts + host / self.hosts_per_switch;
            Cable { a: host, b: switch, line: edge }
        });
        let between = (hosts..hosts + self.switches - 1).map(|switch| Cable {
            a: switch,
            b: switch + 1,
            line: core,
        });
        Some(Plan {
            roles: vec![(Role::Host, hosts), (Role::Switch, self.switches)],
            cables: to_hosts.chain(between).collect(),
            pipeline_delay: self.pipeline_delay,
            failed_links: self.failed_links.clone(),
        })
    }
}
