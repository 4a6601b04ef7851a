//! What all partitions of a run know and none of them changes.

use std::sync::Arc;

use penstock_engine::stream;
use penstock_transport::{PathFacts, SharedConnections};
use penstock_units::{BitRate, Time};
use rand_core::RngCore;

use crate::flow::FlowNames;
use crate::network::{Frames, Network};
use crate::outage::RouteChange;
use crate::placement::{self, Placement};
use crate::routing::Routing;
use crate::scenario::Scenario;
use crate::topology::Topology;
use crate::workload::{Plan, TrafficConfig};

/// What all partitions of a run know and none of them changes.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub scenario: Scenario,
    pub topology: Arc<Topology>,
    pub placement: Placement,
    /// The length of a window.
    pub window: Time,
    pub frames: Frames,
    pub path: PathFacts,
    pub nic_rates: Arc<[BitRate]>,
    /// By link: the port of its sender at which it begins.
    pub from_ports: Arc<[u16]>,
    pub path_links: usize,
    pub route_changes: Vec<RouteChange>,
    pub names: FlowNames,
    /// The flows that depend on others.
    pub plan: Plan,
    /// Seeds the choice of paths.
    pub path_seed: u64,
    /// By traffic entry: whether its flows carry the incast label.
    pub is_incast: Vec<bool>,
    /// By traffic entry: which of the host's controllers its flows have.
    pub controllers: Vec<u16>,
    /// By traffic entry: the open connections from each source to each destination that its flows share.
    pub connections: Vec<Option<SharedConnections>>,
    /// The links whose series the scenario asks for, in its order.
    pub series: Vec<u32>,
}

impl Setting {
    /// The routes at `time`, when outages have changed them by then.
    pub(crate) fn changed_routing(&self, time: Time) -> Option<Arc<Routing>> {
        let last = self.route_changes.iter().rev().find(|change| change.time <= time)?;
        Some(Arc::clone(&last.routing))
    }

    /// The setting of `scenario` on `network`, whose nodes `place` distributes. It gets the topology and
    /// the length of a window.
    pub(crate) fn new(
        scenario: Scenario,
        network: &mut Network,
        place: impl FnOnce(&Topology, Time) -> Placement,
    ) -> Self {
        let topology = Arc::clone(&network.topology);
        let window = placement::window(&topology, network.path.base_rtt);
        let link = |&(from, to): &(u32, u32)| topology.link_between(from, to);
        let is_incast = |entry: &TrafficConfig| matches!(entry, TrafficConfig::Incast(_));
        let host = &scenario.scheme.host;
        let controller = |entry: &TrafficConfig| host.controller_of(entry.label()) as u16;
        let connections = |(label, entry): (u16, &TrafficConfig)| {
            let most = entry.connections();
            (most > 0).then_some(SharedConnections { label, most })
        };
        Setting {
            placement: place(&topology, window),
            window,
            frames: network.frames,
            path: network.path,
            nic_rates: Arc::clone(&network.nic_rates),
            from_ports: Arc::clone(&network.from_ports),
            path_links: network.path_links,
            route_changes: std::mem::take(&mut network.route_changes),
            names: FlowNames::new(scenario.seed),
            plan: Plan::new(&scenario.traffic, topology.hosts, scenario.seed),
            path_seed: stream(scenario.seed, "ecmp").next_u64(),
            is_incast: scenario.traffic.iter().map(is_incast).collect(),
            controllers: scenario.traffic.iter().map(controller).collect(),
            connections: (0..).zip(&scenario.traffic).map(connections).collect(),
            series: scenario.measure.series.iter().filter_map(link).collect(),
            topology,
            scenario,
        }
    }
}
