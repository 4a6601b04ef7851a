//! Cuts a built network into partitions.

use std::collections::VecDeque;
use std::sync::Arc;

use penstock_engine::Wheel;
use penstock_fabric::{Switch, SwitchRequests};
use penstock_packet::{Observer, PacketPool};
use penstock_transport::{Flows, Host, Requests};
use penstock_units::{Fidelity, Time};

use super::clock::Sources;
use super::dependents::Dependents;
use super::exchange::Mail;
use super::inner::Inner;
use super::lifetime::Paths;
use super::router::Router;
use super::standstill::ClockWatch;
use super::{FORESEEN_FROM_LINKS, Partition, host, slot_width_log2};
use crate::corruption;
use crate::flow::FlowSlots;
use crate::losses::Losses;
use crate::measure::summary::Measurements;
use crate::network::Network;
use crate::ns3::Ns3;
use crate::setting::Setting;
use crate::wire::{Beyond, ELSEWHERE, Wire};

/// The partitions of `network`, each with an observer of its own.
pub(crate) fn partitions<O: Observer>(
    setting: &Arc<Setting>,
    mut network: Network,
    mut observer: impl FnMut() -> O,
) -> Vec<Partition<O>> {
    // First of all, because it outlives the rest: what a partition frees at its end then lies together with
    // what the next one frees, and makes room for a table. With 65,536 hosts in 64 parts that is 23 MB.
    let measured: Vec<Measurements> =
        (0..setting.placement.count()).map(|number| Measurements::new(setting, number)).collect();
    let make_host = host::maker(&setting.scenario, &network);
    let of_nodes = setting.placement.nodes.iter().map(|nodes| {
        let hosts = nodes.partition_point(|&node| setting.topology.is_host(node));
        let made: Vec<Host> = nodes[..hosts].iter().map(|&host| make_host(host)).collect();
        (made, Vec::with_capacity(nodes.len() - hosts))
    });
    let mut nodes: Vec<(Vec<Host>, Vec<Switch>)> = of_nodes.collect();
    drop(make_host);
    for (number, switch) in (setting.topology.hosts..).zip(std::mem::take(&mut network.switches)) {
        nodes[setting.placement.of_node(number).0].1.push(switch);
    }
    let numbered = nodes.into_iter().zip(measured).enumerate();
    let mut partitions: Vec<Partition<O>> = numbered
        .map(|(number, (nodes, measured))| {
            partition((setting, &network), number, nodes, measured, observer())
        })
        .collect();
    partitions.iter_mut().for_each(Partition::start_clocks);
    partitions
}

/// Partition `number` of `network`, with these hosts and switches.
fn partition<O: Observer>(
    (setting, network): (&Arc<Setting>, &Network),
    number: usize,
    (hosts, switches): (Vec<Host>, Vec<Switch>),
    measured: Measurements,
    observer: O,
) -> Partition<O> {
    let Setting { topology, placement, scenario, .. } = &**setting;
    let links = &placement.links[number];
    let sources = Sources {
        links: links.len() as u32,
        hosts: hosts.len() as u32,
        switches: switches.len() as u32,
    };
    let own_links =
        |node: u32| topology.egress_links(node).iter().map(|&link| placement.of_link(link)[0]);
    let (own_hosts, own_switches) = placement.nodes[number].split_at(hosts.len());
    let mut first_port = Vec::with_capacity(switches.len());
    let mut egress = Vec::new();
    for &switch in own_switches {
        first_port.push(egress.len() as u32);
        egress.extend(own_links(switch));
    }
    let faults = &scenario.faults;
    let draws = |fault: &'static str| {
        move |link: u32| host::random(scenario.seed, &format!("faults/{fault}/{link}"))
    };
    let corruption = |link: u32| {
        let ends = &topology.links[link as usize];
        corruption::probability(&faults.corruption, ends.from, ends.to)
    };
    let mail = || (0..placement.count()).map(|_| Mail::default()).collect();
    Partition {
        number,
        uplinks: own_hosts.iter().flat_map(|&host| own_links(host)).collect(),
        hosts,
        switches,
        wires: links.iter().map(|&link| wire(setting, number, link, &network.wire(link))).collect(),
        first_port,
        egress,
        router: Router::new(setting, &network.routing, !own_switches.is_empty()),
        slots: FlowSlots::new(placement.count(), setting.names),
        flows: Flows::default(),
        requests: Requests::default(),
        told: SwitchRequests::default(),
        pool: PacketPool::new(scenario.has_telemetry()),
        wheel: wheel(sources, scenario.fidelity),
        sources,
        measured,
        ns3: network.shared.clone().map(|shared| Box::new(Ns3::new(shared, links.len()))),
        order: None,
        observer,
        starts: VecDeque::new(),
        dependents: Dependents::default(),
        inner: Inner::default(),
        paths: Paths::default(),
        next_change: 0,
        outbox: mail(),
        inbox: mail(),
        clock_watch: ClockWatch::default(),
        foresees: links.len() > FORESEEN_FROM_LINKS || scenario.has_telemetry(),
        control_losses: Losses::new(links, |_| faults.control_loss, draws("control")),
        corruption: Losses::new(links, corruption, draws("corruption")),
        opened: Time::ZERO,
        is_at_end: true,
        failure: None,
        setting: Arc::clone(setting),
    }
}

/// A wheel for these sources. The end of the window comes after everything else of its time.
fn wheel(sources: Sources, fidelity: Fidelity) -> Wheel {
    let wheel = Wheel::new(sources.window() as usize, slot_width_log2(sources.links as usize));
    let mut wheel = match fidelity {
        Fidelity::Exact => wheel,
        Fidelity::Ns3Hpcc | Fidelity::Ns3Bfc => wheel.in_order_of_scheduling(),
    };
    wheel.grow(sources.receiver(1) as usize);
    wheel.set_rank(sources.window(), u64::MAX);
    wheel
}

/// `wire` of the network, which is that of `link`, as partition `number` sees it.
fn wire(setting: &Setting, number: usize, link: u32, wire: &Wire) -> Wire {
    let placement = &setting.placement;
    let local = |node: u32| match placement.of_node(node) {
        (partition, place) if partition == number => place as u32,
        _ => ELSEWHERE,
    };
    let partition = placement.of_node(wire.to).0 as u16;
    let beyond = Beyond { partition, link: placement.of_link(link)[1] };
    wire.between(local(wire.from), local(wire.to), beyond)
}
