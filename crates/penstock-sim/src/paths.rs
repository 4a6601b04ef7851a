//! The links of a network and the paths that flows take, without running the scenario.
//!
//! What it is: the routes of the network and the hash of each flow, put together, for pages that draw a
//! run. What it is not: a record. Packets that were under way when routes changed took other links.
//! Invariant: the path is the one that the flow gets when it starts in a run of the scenario.

use std::collections::HashMap;

use penstock_engine::stream;
use penstock_units::{Fidelity, Time};
use rand_core::RngCore;

use crate::bounds;
use crate::error::ScenarioError;
use crate::flow::FlowNames;
use crate::routing::{RoutingConfig, flow_paths, path_key};
use crate::scenario::Scenario;

/// A flow of a run, as its row in the table of flows has it.
#[derive(Clone, Copy, Debug)]
pub struct FlowStart {
    /// Number in order of arrival.
    pub number: u64,
    /// Sending host.
    pub source: u32,
    /// Receiving host.
    pub destination: u32,
    /// When the flow starts.
    pub start: Time,
}

/// The paths of flows. Equal paths between the switches are stored once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CorePaths {
    /// By flow: the number of its path; [`INSIDE`] for a flow that stays inside its server.
    pub of_flow: Vec<u32>,
    /// Path `p` is `links[starts[p]..starts[p + 1]]`; one entry more than there are paths.
    pub starts: Vec<u32>,
    /// Directed links between switches, path after path.
    pub links: Vec<u32>,
}

/// The number that stands for no path, of a flow that takes no link of the network.
pub const INSIDE: u32 = u32::MAX;

/// The two nodes of each directed link of `scenario`'s network, in the order of their numbers.
///
/// # Errors
/// When the scenario is refused.
pub fn link_ends(scenario: &Scenario) -> Result<Vec<(u32, u32)>, ScenarioError> {
    let (topology, ..) = bounds::network(scenario)?;
    Ok(topology.links.iter().map(|link| (link.from, link.to)).collect())
}

/// The paths of `flows`, from the first switch to the last. The uplink of the source and the downlink of
/// the destination are left out. None when flows have no single path (packets are sprayed), or when
/// paths follow from what another simulator counts (its fidelity).
///
/// A flow whose hosts are not in the network has the empty path.
///
/// # Errors
/// When the scenario is refused.
pub fn core_paths(
    scenario: &Scenario,
    flows: &[FlowStart],
) -> Result<Option<CorePaths>, ScenarioError> {
    let (topology, first, changes) = bounds::network(scenario)?;
    let config = &scenario.scheme.routing;
    if matches!(config, RoutingConfig::Spray(_)) || scenario.fidelity != Fidelity::Exact {
        return Ok(None);
    }
    let names = FlowNames::new(scenario.seed);
    let path_seed = stream(scenario.seed, "ecmp").next_u64();
    let mut found = CorePaths { starts: vec![0], ..CorePaths::default() };
    // The map is asked, never iterated.
    let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
    let (mut there, mut back) = (Vec::new(), Vec::new());
    for flow in flows {
        if topology.inner_links(flow.source, flow.destination).is_some() {
            found.of_flow.push(INSIDE);
            continue;
        }
        there.clear();
        back.clear();
        if flow.source.max(flow.destination) < topology.hosts {
            let last = changes.iter().rev().find(|change| change.time <= flow.start);
            let routing = last.map_or(&first, |change| &*change.routing);
            let key = path_key(path_seed, names.hash(flow.number));
            let ends = (flow.source, flow.destination);
            flow_paths(config, (&topology, routing), ends, key, [&mut there, &mut back]);
        }
        let core = there.get(1..there.len().max(2) - 1).unwrap_or_default();
        let path = known.get(core).copied().unwrap_or_else(|| {
            let path = known.len() as u32;
            known.insert(core.to_vec(), path);
            found.links.extend(core);
            found.starts.push(found.links.len() as u32);
            path
        });
        found.of_flow.push(path);
    }
    Ok(Some(found))
}
