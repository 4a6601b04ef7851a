//! The static side of deadlocks: the answer to `penstock deadlock`, without running the scenario.

use serde::Serialize;

use crate::error::ScenarioError;
use crate::network::Network;
use crate::routing::{Dependencies, Dependency};
use crate::scenario::Scenario;

/// A link between switches.
#[derive(Clone, Debug, Serialize)]
pub struct CoreLink {
    /// Number of the directed link.
    pub link: u32,
    /// The node that sends.
    pub from: u32,
    /// The node that receives.
    pub to: u32,
    /// Name of the link, such as `T0->S1`.
    pub name: String,
}

/// Links that depend on each other.
#[derive(Clone, Debug, Serialize)]
pub struct DependencyCycle {
    /// All links of the set, ascending.
    pub links: Vec<u32>,
    /// A shortest cycle in the set: each link waits for the next, the last for the first.
    pub example: Vec<u32>,
}

/// The buffer dependencies of a network and its routes. A dependency is a pair (the link waited for
/// first, the link waited for next).
#[derive(Clone, Debug, Serialize)]
pub struct DependencyReport {
    /// The links between switches.
    pub links: Vec<CoreLink>,
    /// For each destination edge switch and each switch, the links towards the edge switch: `[edge,
    /// switch, links]`. None where lists are not asked for.
    pub next_hops: Vec<(u32, u32, Vec<u32>)>,
    /// How many dependencies routes in use have.
    pub dependency_count: usize,
    /// All of them. None where lists are not asked for.
    pub dependencies: Vec<Dependency>,
    /// Sets of links that depend on each other; none when no deadlock is possible.
    pub cycles: Vec<DependencyCycle>,
    /// Dependencies to elide so that no cycle is left.
    pub elided: Vec<Dependency>,
    /// Whether no cycle is left either when every turn from a higher tier back to a higher tier is
    /// elided, as BFC's `elide_down_up` does.
    pub down_up_suffices: bool,
}

/// The buffer dependencies of `scenario`'s network. With `any_route`, of all routes that are
/// possible in the network; otherwise of the routes in use before and after every outage. With `listed`, all
/// routes and dependencies are in the answer: many millions in a large network.
///
/// # Errors
/// When the scenario is refused.
pub fn dependencies(
    scenario: &Scenario,
    any_route: bool,
    listed: bool,
) -> Result<DependencyReport, ScenarioError> {
    let network = Network::build(scenario)?;
    let found = match any_route {
        true => Dependencies::of_any_route(&network.topology),
        false => Dependencies::new(&network.topology, &network.routings()),
    };
    let Network { topology, routing, .. } = network;
    let core_link = |link: u32| CoreLink {
        link,
        from: topology.links[link as usize].from,
        to: topology.links[link as usize].to,
        name: topology.link_name(link),
    };
    let links = 0..topology.links.len() as u32;
    let switches = topology.hosts..topology.hosts + topology.switches;
    let edges = if listed { routing.edge_switches() } else { &[] };
    let next_hops = (0u32..).zip(edges).flat_map(|(number, &edge)| {
        let others = switches.clone().filter(move |&switch| switch != edge);
        let routing = &routing;
        others.map(move |switch| (edge, switch, routing.next_hops(switch, number).iter().collect()))
    });
    let cycle =
        |links: &Vec<u32>| DependencyCycle { links: links.clone(), example: found.example(links) };
    Ok(DependencyReport {
        links: links.filter(|&link| topology.is_core(link)).map(core_link).collect(),
        next_hops: next_hops.collect(),
        dependency_count: found.all().count(),
        dependencies: if listed { found.all().collect() } else { vec![] },
        cycles: found.cycles().iter().map(cycle).collect(),
        elided: found.elision(&topology),
        down_up_suffices: found.is_acyclic_without(&found.down_up(&topology)),
    })
}
