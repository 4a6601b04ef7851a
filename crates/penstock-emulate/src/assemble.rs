//! From a scenario and devices to the two drives of a run: the network, and our hosts.

use penstock_sim::live::{self, LiveRun, Part};
use penstock_sim::rows::Record;
use penstock_sim::topology::Topology;
use penstock_sim::{Scenario, ScenarioError};
use penstock_units::Bytes;

use crate::clock::Clock;
use crate::device::Device;
use crate::drive::{Drive, Recorder};
use crate::error::DriveError;
use crate::nic;
use crate::port::{Allowed, Peer, Port};

/// The two drives of a run.
pub struct Assembly<O, N, H, R> {
    /// What is in no part.
    pub run: LiveRun<O>,
    /// Drives the switches, and the NICs of hosts with kernels.
    pub network: Drive<O, N, R>,
    /// Drives our hosts.
    pub hosts: Drive<O, H, ()>,
    /// The parts of hosts with kernels, which stay idle.
    pub idle: Vec<(u32, Part<O>)>,
}

/// The network of `scenario` in parts, with a NIC at each host with a kernel.
///
/// # Errors
/// When the scenario is refused.
pub fn build<O: Record>(
    scenario: &Scenario,
    kernels: &[u32],
    nic_memory: Bytes,
    observer: impl FnMut(&Topology) -> O,
) -> Result<(LiveRun<O>, Vec<Part<O>>), ScenarioError> {
    let nic = nic::beside(&scenario.scheme.switch, nic_memory);
    live::build(scenario, kernels, &nic, observer)
}

/// Makes the drives of `run` by `clock`, a run of `scenario` in these parts. `at_network` has the network's
/// end of the link of each host, by host, and `at_host` answers the other end for each host of ours. The
/// recorder hears what enters the network.
///
/// # Errors
/// When the system has no more file descriptors.
pub fn assemble<O: Record, N: Device, H: Device, R: Recorder>(
    scenario: &Scenario,
    clock: Clock,
    (run, parts): (LiveRun<O>, Vec<Part<O>>),
    at_network: Vec<N>,
    mut at_host: impl FnMut(u32) -> H,
    recorder: R,
) -> Result<Assembly<O, N, H, R>, DriveError> {
    let allowed = allowed(scenario, &run);
    let is_kernel = |host: u32| run.strangers().binary_search(&host).is_ok();
    let topology = run.topology();
    let mut parts = parts.into_iter();
    let switches: Vec<_> = parts.by_ref().take(1).map(|part| (part, None)).collect();
    let network_port = |(host, device): (u32, N)| {
        let (up, down) = (topology.uplink(host), topology.downlink(host));
        let peer = match is_kernel(host) {
            true => (Peer::Kernel, Some(topology.links[up as usize].rate)),
            false => (Peer::Host, None),
        };
        (Port::new(host, peer, 0, up, allowed.clone()), device, down)
    };
    let at_switches: Vec<_> = (0..).zip(at_network).map(network_port).collect();
    let (mut ours, mut ports, mut idle) = (Vec::new(), Vec::new(), Vec::new());
    for (host, part) in (0..).zip(parts) {
        if is_kernel(host) {
            idle.push((host, part));
            continue;
        }
        let (up, down) = (topology.uplink(host), topology.downlink(host));
        let port = Port::new(host, (Peer::Network, None), ours.len(), down, allowed.clone());
        ports.push((port, at_host(host), up));
        ours.push((part, Some(host)));
    }
    let links = topology.links.len();
    Ok(Assembly {
        network: Drive::new(clock, switches, at_switches, links, recorder)?,
        hosts: Drive::new(clock, ours, ports, links, ())?,
        run,
        idle,
    })
}

/// What the network lets hosts say.
fn allowed<O: Record>(scenario: &Scenario, run: &LiveRun<O>) -> Allowed {
    let assignment = &scenario.scheme.switch.assignment;
    let classes = assignment.classes().clamp(1, 8);
    let queues = scenario.scheme.host.nic.queues.max(classes + 1) as u16;
    Allowed {
        hosts: run.topology().hosts,
        kernels: run.strangers().into(),
        classes: classes as u8,
        queues,
        epoch_bits: assignment.epoch_bits(),
    }
}

/// The parts of a run again, in their order: the switches, then each host.
pub fn in_order<O>(network: Vec<Part<O>>, mut hosts: Vec<(u32, Part<O>)>) -> Vec<Part<O>> {
    hosts.sort_unstable_by_key(|&(host, _)| host);
    network.into_iter().chain(hosts.into_iter().map(|(_, part)| part)).collect()
}
