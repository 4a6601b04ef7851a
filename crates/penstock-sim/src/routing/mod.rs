//! The links that a flow takes, and the least time that they take.
//!
//! What it is: shortest paths by number of links with flow-hash ECMP ([`Routing`]), and the times
//! of an otherwise empty network ([`latency`]): base round-trip time and ideal flow completion
//! time. What it is not: this module queues nothing and draws nothing; the caller gives each flow
//! its hash.
//! Invariant: a path depends on the network, the two hosts and the hash alone.
//!
//! Reading order: [`table`], `search` (shortest paths), [`spray`] (a path for each packet),
//! [`symmetric`] (both directions on the same links), [`latency`], [`sprayed`] (ideal times of sprayed
//! flows), [`dependency`] (which links may wait for which).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::topology::Topology;

pub mod dependency;
pub mod latency;
mod search;
pub mod spray;
pub mod sprayed;
pub mod symmetric;
pub mod table;

pub use dependency::{Dependencies, Dependency, go_up_then_down};
pub(crate) use latency::longest_path;
pub use latency::{FrameSizes, base_rtt, ideal_fct};
pub(crate) use spray::Spray;
pub use spray::{SprayConfig, SprayOrder};
pub use sprayed::sprayed_ideal_fct;
pub use symmetric::symmetric_paths;
pub(crate) use symmetric::symmetric_port;
pub use table::{Routing, path_key, reply_key};

/// How a scheme chooses among shortest paths; `kind` names the variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RoutingConfig {
    /// Each flow has one path, by a hash; its replies have one of their own.
    Ecmp {},
    /// Each flow has one path, by a hash; its replies take the same links backwards.
    SymmetricEcmp {},
    /// Each data packet has a path of its own.
    Spray(SprayConfig),
}

/// Appends the links of a flow between the hosts `ends` to `there`, and the links of its replies to `back`.
/// `key` is the flow's ([`path_key`]). Packets that are sprayed leave this path.
///
/// # Panics
/// When one of the ends is not a host.
pub fn flow_paths(
    config: &RoutingConfig,
    (topology, routing): (&Topology, &Routing),
    ends: (u32, u32),
    key: u64,
    [there, back]: [&mut Vec<u32>; 2],
) {
    match config {
        RoutingConfig::Ecmp {} | RoutingConfig::Spray(_) => {
            routing.path(ends.0, ends.1, key, there);
            routing.path(ends.1, ends.0, reply_key(key), back);
        }
        RoutingConfig::SymmetricEcmp {} => {
            symmetric_paths(topology, routing, ends, key, [there, back]);
        }
    }
}
