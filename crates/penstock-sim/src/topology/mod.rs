//! Networks: the hosts, the switches and the links between them.
//!
//! What it is: the topology section of a scenario ([`TopologyConfig`]) and the network that the
//! section describes ([`Topology`]). What it is not: this module finds no paths (see
//! [`crate::routing`]) and queues nothing.
//! Invariants of a built [`Topology`]: the network is connected; nodes are numbered hosts first,
//! then switches; a host has exactly one link, which leads to a switch; at most one cable joins two
//! nodes; cable `k` is the directed links `2k` and `2k + 1`, which have the same rate and delay.
//!
//! Reading order: [`network`] (the built network), [`inner`] (links inside servers), one file per kind of
//! topology, `plan` (from cables to links), `failure` (links that have failed), `nics` (hosts that are not
//! ours), `switch_facts` (what a switch knows of its place).

pub mod chain;
pub mod clos;
pub mod dumbbell;
mod failure;
pub mod fat_tree;
pub mod graph;
pub mod inner;
pub mod leaf_spine;
pub mod network;
mod nics;
mod plan;
pub mod rail;
pub mod single_switch;
mod switch_facts;

use penstock_units::Problems;
use penstock_units::declared::{self, Declared};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub use chain::Chain;
pub use clos::Clos;
pub use dumbbell::Dumbbell;
pub use fat_tree::FatTree;
pub use graph::{Graph, GraphLink};
pub use inner::InnerLinks;
pub use leaf_spine::LeafSpine;
pub use network::{Link, Node, Topology};
pub use rail::Rail;
pub use single_switch::SingleSwitch;

use crate::error::ScenarioError;

/// The topology section of a scenario; `kind` names the variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TopologyConfig {
    /// Two tiers: hosts under top-of-rack switches, each joined to every spine.
    LeafSpine(LeafSpine),
    /// Hosts around one switch.
    SingleSwitch(SingleSwitch),
    /// Left hosts, a switch, one core link, a switch, right hosts.
    Dumbbell(Dumbbell),
    /// Switches in a row with hosts on each: the parking lot.
    Chain(Chain),
    /// Three tiers: pods of top-of-rack switches and leafs, every leaf joined to every spine.
    Clos(Clos),
    /// Three tiers of switches with equally many ports.
    FatTree(FatTree),
    /// Servers of several accelerators, with a leaf for each rail.
    Rail(Rail),
    /// Any network, cable by cable.
    Graph(Graph),
}

/// Builds the network that `config` describes.
///
/// # Errors
/// When a count or a rate is zero; when a delay or the network is too large; when the links of a
/// graph do not connect all nodes, or a host does not have exactly one link; when failed links cut
/// the network.
pub fn build(config: &TopologyConfig) -> Result<Topology, ScenarioError> {
    let mut problems = Problems::default();
    checked(config, &mut problems).ok_or(ScenarioError(problems))
}

/// The network that `config` describes; none when a problem was found.
pub(crate) fn checked(config: &TopologyConfig, problems: &mut Problems) -> Option<Topology> {
    check_fields(config, problems);
    let plan = match config {
        TopologyConfig::LeafSpine(leaf_spine) => leaf_spine.plan(problems),
        TopologyConfig::SingleSwitch(single_switch) => single_switch.plan(problems),
        TopologyConfig::Dumbbell(dumbbell) => dumbbell.plan(problems),
        TopologyConfig::Chain(chain) => chain.plan(problems),
        TopologyConfig::Clos(clos) => clos.plan(problems),
        TopologyConfig::FatTree(fat_tree) => fat_tree.plan(problems),
        TopologyConfig::Rail(rail) => rail.plan(problems),
        TopologyConfig::Graph(graph) => graph.plan(problems),
    };
    let mut network = plan?.without_failed_links(problems)?.assemble();
    if let TopologyConfig::Rail(rail) = config {
        network.inner = rail.inner_links();
    }
    Some(network)
}

/// Checks each field against its bounds. The rows of lists are checked later, one by one, because
/// there may be many.
fn check_fields(config: &TopologyConfig, problems: &mut Problems) {
    let failed_links = Vec::new();
    let fields = match config {
        TopologyConfig::LeafSpine(network) => {
            TopologyConfig::LeafSpine(LeafSpine { failed_links, ..*network })
        }
        TopologyConfig::SingleSwitch(network) => {
            TopologyConfig::SingleSwitch(SingleSwitch { failed_links, ..*network })
        }
        TopologyConfig::Dumbbell(network) => {
            TopologyConfig::Dumbbell(Dumbbell { failed_links, ..*network })
        }
        TopologyConfig::Chain(network) => TopologyConfig::Chain(Chain { failed_links, ..*network }),
        TopologyConfig::Clos(network) => TopologyConfig::Clos(Clos { failed_links, ..*network }),
        TopologyConfig::FatTree(network) => {
            TopologyConfig::FatTree(FatTree { failed_links, ..*network })
        }
        TopologyConfig::Rail(network) => TopologyConfig::Rail(Rail { failed_links, ..*network }),
        TopologyConfig::Graph(graph) => {
            let Graph { hosts, switches, pipeline_delay, .. } = graph;
            let fields = json!({
                "kind": "graph",
                "hosts": hosts,
                "switches": switches,
                "pipeline_delay": pipeline_delay,
            });
            graph.check_count(problems);
            let bounds = Declared::by::<TopologyConfig>();
            return problems.within("topology", |problems| bounds.check(&fields, problems));
        }
    };
    problems.within("topology", |problems| declared::check(&fields, problems));
}

#[cfg(test)]
pub(crate) mod tests;
