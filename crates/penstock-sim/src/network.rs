//! Building a network from a scenario: switches, hosts and wires, ready to run.

use std::sync::Arc;

use penstock_engine::stream;
use penstock_fabric::parts::Draws;
use penstock_fabric::{Switch, SwitchConfig};
use penstock_packet::{Balance, Shared, SwitchFacts, SwitchFrames};
use penstock_transport::{FrameBytes, PathFacts, RecoveryConfig};
use penstock_units::random::Pcg32;
use penstock_units::{BitRate, Bytes, Fidelity, Time, Transmission};
use rand_core::RngCore;

use crate::bounds;
use crate::error::ScenarioError;
use crate::ns3;
use crate::outage::RouteChange;
use crate::routing::{FrameSizes, Routing, base_rtt};
use crate::scenario::Scenario;
use crate::topology::{self, Topology};
use crate::wire::Wire;
use crate::workload::Workload;

/// Sizes of frames, calculated once (bytes).
#[derive(Clone, Copy, Debug)]
pub struct Frames {
    /// Header, telemetry and timestamp of a data packet.
    pub data_overhead: u32,
    /// An acknowledgement.
    pub acknowledgement: u16,
    /// A pause, resume or bitmap frame.
    pub control: u16,
    /// Frame sizes for the ideal completion time, without telemetry and timestamps.
    pub ideal: FrameSizes,
}

impl Frames {
    /// The sizes of the frames that hosts make.
    pub(crate) fn of_hosts(&self) -> FrameBytes {
        let Frames { data_overhead, acknowledgement, control, .. } = *self;
        FrameBytes { data_overhead, acknowledgement, control }
    }
}

/// A network that was built and has not run yet.
#[derive(Debug)]
pub struct Network {
    /// Hosts, switches and links.
    pub topology: Arc<Topology>,
    /// The routes at the start.
    pub routing: Arc<Routing>,
    /// Changes of the routes, in order of time.
    pub route_changes: Vec<RouteChange>,
    /// Switches, by node number less the number of hosts.
    pub switches: Vec<Switch>,
    /// By host: the link from the host to its switch.
    pub uplinks: Vec<u32>,
    /// By link: the port of its sender at which it begins.
    pub(crate) from_ports: Arc<[u16]>,
    /// The nodes from this one on are NICs of hosts that are not ours.
    first_nic: u32,
    fidelity: Fidelity,
    /// What all switches share, under the fidelity of another simulator.
    pub(crate) shared: Option<Arc<ns3::AllSwitches>>,
    /// Sizes of frames.
    pub frames: Frames,
    /// What controllers may know of their paths. The longest base RTT and the most hops of the
    /// network serve every flow, as GLOBAL_T does in the HPCC simulator.
    pub path: PathFacts,
    /// By host: the rate of its NIC.
    pub(crate) nic_rates: Arc<[BitRate]>,
    /// The largest number of links on a path between two hosts.
    pub path_links: usize,
}

impl Network {
    /// Builds the network of `scenario`.
    ///
    /// # Errors
    /// When a field is out of bounds, or policies do not go together.
    pub fn build(scenario: &Scenario) -> Result<Self, ScenarioError> {
        let (topology, routing, route_changes) = bounds::network(scenario)?;
        let path = path_facts(scenario, &topology, &routing, &frames(scenario));
        Ok(Self::of(scenario, topology, (routing, route_changes), path))
    }

    /// As [`Network::build`], with a NIC of its own at each of `hosts` (ascending), and the flows of
    /// `scenario`. These, and what hosts know of their paths, are the same as without NICs.
    ///
    /// # Errors
    /// Those of [`Network::build`].
    pub(crate) fn with_nics(
        scenario: &Scenario,
        hosts: &[u32],
        nic: &SwitchConfig,
    ) -> Result<(Self, Workload), ScenarioError> {
        let (plain, routing, route_changes) = bounds::network(scenario)?;
        let workload = scenario.workload(&plain, &routing)?;
        let path = path_facts(scenario, &plain, &routing, &frames(scenario));
        let topology = plain.with_nics(hosts);
        let routing = Routing::new(&topology);
        let mut network = Self::of(scenario, topology, (routing, route_changes), path);
        let nodes = network.topology.nodes.len() as u32;
        network.nic_rates = nic_rates(&plain);
        network.first_nic = nodes - hosts.len() as u32;
        for node in network.first_nic..nodes {
            let facts = (&*network.topology, &network.frames);
            let place = (node - network.topology.hosts) as usize;
            network.switches[place] = build_switch(scenario, nic, facts, node, None);
        }
        Ok((network, workload))
    }

    fn of(
        scenario: &Scenario,
        topology: Topology,
        (routing, route_changes): (Routing, Vec<RouteChange>),
        path: PathFacts,
    ) -> Self {
        let frames = frames(scenario);
        let shared =
            scenario.fidelity.is_ns3().then(|| ns3::AllSwitches::new(topology.nodes.len()));
        let shared = shared.map(Arc::new);
        let switches = (0..topology.switches)
            .map(|switch| {
                let (config, node) = (&scenario.scheme.switch, topology.hosts + switch);
                build_switch(scenario, config, (&topology, &frames), node, shared.clone())
            })
            .collect();
        let routings = route_changes.iter().map(|change| &*change.routing).chain([&routing]);
        let path_links = routings.map(|routing| longest_path(&topology, routing)).max();
        let mut network = Network {
            uplinks: (0..topology.hosts).map(|host| topology.uplink(host)).collect(),
            switches,
            from_ports: topology.from_ports().into(),
            first_nic: topology.nodes.len() as u32,
            fidelity: scenario.fidelity,
            frames,
            path,
            nic_rates: nic_rates(&topology),
            path_links: path_links.unwrap_or_default(),
            route_changes,
            routing: Arc::new(routing),
            topology: Arc::new(topology),
            shared,
        };
        network.connect_credits();
        network
    }

    /// The wire of `link`, idle. Packets on it do not wait in the pipeline of a switch where the link leads
    /// to a host or a NIC: what enters a host or leaves it takes no time inside the NIC.
    pub(crate) fn wire(&self, link: u32) -> Wire {
        let topology = &self.topology;
        let &topology::Link { from, to, rate, delay, reverse, .. } = &topology.links[link as usize];
        let has_pipeline = !topology.is_host(to) && to < self.first_nic;
        let pipeline = if has_pipeline { topology.pipeline_delay } else { Time::ZERO };
        let port = |link: u32| self.from_ports[link as usize];
        let ends = [(from, port(link)), (to, port(reverse))];
        Wire::new(Transmission::new(rate, self.fidelity), delay + pipeline, ends)
    }

    /// The credits that the switch at the far end of `link` grants to the sending end from the
    /// start (BFC with credits); none without credits or without a switch there.
    pub(crate) fn opening_balance(&self, link: u32) -> Option<Balance> {
        let link = &self.topology.links[link as usize];
        let switch = link.to.checked_sub(self.topology.hosts)?;
        self.switches[switch as usize].opening_balance(self.from_ports[link.reverse as usize])
    }

    /// Gives the sending end of each link between switches the credits that the far end grants from
    /// the start.
    fn connect_credits(&mut self) {
        for link in 0..self.topology.links.len() as u32 {
            let from = self.topology.links[link as usize].from;
            if let Some(from) = from.checked_sub(self.topology.hosts)
                && let Some(balance) = self.opening_balance(link)
            {
                self.switches[from as usize].connect(self.from_ports[link as usize], balance);
            }
        }
    }

    /// All routes that the run uses, in order of time.
    pub fn routings(&self) -> Vec<&Routing> {
        let later = self.route_changes.iter().map(|change| &*change.routing);
        std::iter::once(&*self.routing).chain(later).collect()
    }

    /// The name of every node.
    pub fn node_names(&self) -> Vec<String> {
        self.topology.nodes.iter().map(|node| node.name.clone()).collect()
    }
}

fn frames(scenario: &Scenario) -> Frames {
    let bytes = |size: u32| Bytes::new(u64::from(size));
    Frames {
        data_overhead: scenario.data_overhead(),
        acknowledgement: scenario.acknowledgement_bytes() as u16,
        control: scenario.wire.control_frame as u16,
        ideal: FrameSizes {
            payload: scenario.payload(),
            header: bytes(scenario.wire.header),
            acknowledgement: bytes(scenario.wire.acknowledgement),
            acknowledges_each: scenario.scheme.host.acknowledges_each(),
        },
    }
}

/// Facts about the longest path, between hosts with the fastest NICs.
fn path_facts(
    scenario: &Scenario,
    topology: &Topology,
    routing: &Routing,
    frames: &Frames,
) -> PathFacts {
    let base_rtt = match scenario.fidelity {
        Fidelity::Exact => base_rtt(topology, routing, &frames.ideal),
        Fidelity::Ns3Hpcc | Fidelity::Ns3Bfc => {
            ns3::base_rtt(topology, routing, frames.ideal.payload)
        }
    };
    let line_rate = nic_rates(topology).iter().copied().max().unwrap_or_default();
    PathFacts {
        base_rtt,
        line_rate,
        receiver_rate: line_rate,
        bdp: line_rate.bytes_in(base_rtt),
        largest_bdp: line_rate.bytes_in(base_rtt),
        payload: scenario.wire.payload,
        hops: longest_path(topology, routing) as u32 - 1,
        data_overhead: frames.data_overhead,
        last_flight: last_flight(topology, frames),
        fidelity: scenario.fidelity,
    }
}

/// By host: the rate of its link.
fn nic_rates(topology: &Topology) -> Arc<[BitRate]> {
    (0..topology.hosts).map(|host| topology.links[topology.uplink(host) as usize].rate).collect()
}

/// The shortest time that an acknowledgement needs for its last link.
fn last_flight(topology: &Topology, frames: &Frames) -> Time {
    let acknowledgement = Bytes::new(u64::from(frames.acknowledgement));
    let downlinks =
        (0..topology.hosts).map(|host| &topology.links[topology.downlink(host) as usize]);
    let flights = downlinks.map(|link| link.rate.transmission_time(acknowledgement) + link.delay);
    flights.min().unwrap_or_default()
}

/// Switch `node`, which makes these choices.
fn build_switch(
    scenario: &Scenario,
    config: &SwitchConfig,
    (topology, frames): (&Topology, &Frames),
    node: u32,
    shared: Option<Arc<ns3::AllSwitches>>,
) -> Switch {
    let mut random = stream(scenario.seed, &format!("switch/{}", node - topology.hosts));
    let tells_drops = matches!(scenario.scheme.host.recovery, RecoveryConfig::Perfect(_));
    let notice = tells_drops.then_some(frames.acknowledgement);
    let shared = shared.map(|shared| shared as Arc<dyn Shared>);
    let facts = scenario.switch_facts(topology, node);
    let facts = SwitchFacts {
        salt: random.next_u32(),
        frames: SwitchFrames { notice, ..facts.frames },
        shared: shared.clone(),
        ..facts
    };
    let own = Pcg32::new(random.next_u64(), random.next_u64());
    Switch::new(config, &facts, Draws::new(own).sharing(shared))
}

/// The number of links of the longest of all shortest paths.
pub(crate) fn longest_path(topology: &Topology, routing: &Routing) -> usize {
    let mut longest = 0;
    let mut distance = vec![0usize; topology.switches as usize];
    for edge in 0..routing.edge_switches().len() as u32 {
        for switch in routing.nearest_first(edge) {
            let next = routing.next_hops(switch, edge).with_ends().next();
            let next = next.map(|(_, next)| distance[(next - topology.hosts) as usize] + 1);
            distance[(switch - topology.hosts) as usize] = next.unwrap_or(0);
            longest = longest.max(next.unwrap_or(0));
        }
    }
    longest + 2
}
