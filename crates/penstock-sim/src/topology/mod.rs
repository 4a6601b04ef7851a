//! Networks: the hosts, the switches and the links between them.
//!
//! What it is: the topology section of a scenario ([`TopologyConfig`]) and the network it describes
//! ([`Topology`]). What it is not: it finds no paths (see [`crate::routing`]) and queues nothing.
//! Invariants of a built [`Topology`]: it is connected; nodes are numbered hosts first, then
//! switches; a host has exactly one link and it leads to a switch; at most one cable joins two
//! nodes; cable `k` is the directed links `2k` and `2k + 1`, which have the same rate and delay.
//!
//! Reading order: [`network`] (what is built), one file per kind, `plan` (from cables to links),
//! `failure` (links that have failed), [`error`].

pub mod chain;
pub mod clos;
pub mod dumbbell;
pub mod error;
mod failure;
pub mod graph;
pub mod leaf_spine;
pub mod network;
mod plan;
pub mod single_switch;

use serde::{Deserialize, Serialize};

pub use chain::Chain;
pub use clos::Clos;
pub use dumbbell::Dumbbell;
pub use error::{Extent, TopologyError};
pub use graph::{Graph, GraphLink};
pub use leaf_spine::LeafSpine;
pub use network::{Link, Node, Topology};
pub use single_switch::SingleSwitch;

/// The topology section of a scenario; `kind` names the variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TopologyConfig {
    /// Two tiers, every top-of-rack switch linked to every spine.
    LeafSpine(LeafSpine),
    /// Hosts around one switch.
    SingleSwitch(SingleSwitch),
    /// Two switches with hosts on either side.
    Dumbbell(Dumbbell),
    /// Switches in a row, each with hosts: the parking lot.
    Chain(Chain),
    /// Pods of leafs and top-of-rack switches under spines.
    Clos(Clos),
    /// Any graph, link by link.
    Graph(Graph),
}

/// Builds the network that `config` describes.
///
/// # Errors
/// When a count or a rate is zero, a delay or the network is too large, (graphs) the links are not
/// those of a connected network whose hosts have one link each, or failed links cut it.
pub fn build(config: &TopologyConfig) -> Result<Topology, TopologyError> {
    let plan = match config {
        TopologyConfig::LeafSpine(leaf_spine) => leaf_spine.plan(),
        TopologyConfig::SingleSwitch(single_switch) => single_switch.plan(),
        TopologyConfig::Dumbbell(dumbbell) => dumbbell.plan(),
        TopologyConfig::Chain(chain) => chain.plan(),
        TopologyConfig::Clos(clos) => clos.plan(),
        TopologyConfig::Graph(graph) => graph.plan(),
    };
    Ok(plan?.without_failed_links()?.assemble())
}

#[cfg(test)]
pub(crate) mod tests;
