//! Hosts around one switch.

use penstock_units::source::LINKS_OF_BFC;
use penstock_units::{BitRate, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::{Cable, Line, MOST_DELAY, MOST_PORTS, NOTHING_FAILS, PIPELINE, Plan, Role};

/// A star: every host has a link to the only switch, node number `hosts`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SingleSwitch {
    /// Hosts.
    #[schemars(
        range(min = 2, max = MOST_PORTS),
        extend("default" = 16, "source" = "our choice: one rack of BFC 6.2.1")
    )]
    pub hosts: u32,
    /// Rate of every link.
    #[schemars(range(min = 1), extend("default" = "100 Gb/s", "source" = LINKS_OF_BFC))]
    pub rate: BitRate,
    /// Propagation delay of every link.
    #[schemars(range(max = MOST_DELAY), extend("default" = "1 us", "source" = LINKS_OF_BFC))]
    pub delay: Time,
    /// Time from a packet's last bit in to being ready for its egress queue, at every switch.
    #[schemars(range(max = MOST_DELAY), extend("default" = 0, "source" = PIPELINE))]
    pub pipeline_delay: Time,
    /// Links that have failed from the start, as [node, node].
    #[schemars(extend("default" = [], "source" = NOTHING_FAILS))]
    pub failed_links: Vec<(u32, u32)>,
}

impl SingleSwitch {
    pub(super) fn plan(&self, problems: &mut Problems) -> Option<Plan> {
        let line = Line { rate: self.rate, delay: self.delay };
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
