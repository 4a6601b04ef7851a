//! Hosts around one switch.

use penstock_units::{BitRate, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::{
    Cable, Extent, Line, Plan, Role, check_count, check_delay, check_extent, check_line,
};

/// A star: every host has a link to the one switch, which is node `hosts`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SingleSwitch {
    /// Hosts, >= 2.
    pub hosts: u32,
    /// Rate of every link (bit/s), > 0.
    pub rate: BitRate,
    /// Propagation delay of every link (ps), at most 1 s.
    pub delay: Time,
    /// Time that the switch needs before a packet is ready for its egress queue (ps), at most 1 s.
    pub pipeline_delay: Time,
    /// Links that have failed from the start, as the two nodes that they join.
    pub failed_links: Vec<(u32, u32)>,
}

impl SingleSwitch {
    pub(super) fn plan(&self, problems: &mut Problems) -> Option<Plan> {
        let line = Line { rate: self.rate, delay: self.delay };
        check_count("hosts", self.hosts, 2, problems);
        let has_counts = problems.is_sound("topology");
        check_line("", line, problems);
        check_delay("pipeline_delay", self.pipeline_delay, problems);
        if has_counts {
            let hosts = u64::from(self.hosts);
            let extent = Extent { hosts, switches: 1, cables: hosts };
            check_extent(extent, ("hosts", self.hosts), ("hosts", self.hosts), problems);
        }
        if !problems.is_sound("topology") {
            return None;
        }
        Some(Plan {
            roles: vec![(Role::Host, self.hosts), (Role::Switch, 1)],
            cables: (0..self.hosts).map(|host| Cable { a: host, b: self.hosts, line }).collect(),
            pipeline_delay: self.pipeline_delay,
            failed_links: self.failed_links.clone(),
        })
    }
}
