//! Switches in a row, each with its hosts: the parking lot.

use penstock_units::{BitRate, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::{
    Cable, Extent, Line, Plan, Role, check_count, check_delay, check_extent, check_line,
};

/// A chain of switches `S0`-`S1`-...; host `h` is on switch `h / hosts_per_switch`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// Switches, >= 2.
    pub switches: u32,
    /// Hosts on every switch, >= 1; at least 2 hosts in all.
    pub hosts_per_switch: u32,
    /// Rate of the host links (bit/s), > 0.
    pub edge_rate: BitRate,
    /// Propagation delay of the host links (ps), at most 1 s.
    pub edge_delay: Time,
    /// Rate of the links between neighbouring switches (bit/s), > 0.
    pub core_rate: BitRate,
    /// Propagation delay between neighbouring switches (ps), at most 1 s.
    pub core_delay: Time,
    /// Time that a switch needs before a packet is ready for its egress queue (ps), at most 1 s.
    pub pipeline_delay: Time,
    /// Links that have failed from the start, as the two nodes that they join.
    pub failed_links: Vec<(u32, u32)>,
}

impl Chain {
    pub(super) fn plan(&self, problems: &mut Problems) -> Option<Plan> {
        let edge = Line { rate: self.edge_rate, delay: self.edge_delay };
        let core = Line { rate: self.core_rate, delay: self.core_delay };
        check_count("switches", self.switches, 2, problems);
        check_count("hosts_per_switch", self.hosts_per_switch, 1, problems);
        let has_counts = problems.is_sound("topology");
        check_line("edge_", edge, problems);
        check_line("core_", core, problems);
        check_delay("pipeline_delay", self.pipeline_delay, problems);
        if has_counts {
            let switches = u64::from(self.switches);
            let hosts = switches * u64::from(self.hosts_per_switch);
            let extent = Extent { hosts, switches, cables: hosts.saturating_add(switches - 1) };
            let more = ("hosts_per_switch", self.hosts_per_switch);
            check_extent(extent, more, ("switches", self.switches), problems);
        }
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
