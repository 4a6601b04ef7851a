//! A partition of a network: some switches with their hosts, the wires that lead to them, and the loop
//! that takes their next event, lets a switch or a host act, and puts the packets that they send on a
//! wire. Data plane: structs, indexes, `match`; nothing here is allocated or hashed per packet, but for
//! the flow of a packet that crosses between partitions, which is looked up.
//!
//! A partition owns everything that its events change, so partitions run beside each other, each to
//! the end of a window. What crosses from one to another is in [`exchange`]. Nodes and links have
//! numbers of a partition's own here, in the order of the network's numbers. Hosts come before
//! switches.
//!
//! Reading order: this file (the loop, and wires), `clock` (the sources of events), `lifetime` (how
//! flows begin and end), `dependents` (flows that wait for others), `inner` (flows inside servers),
//! `host` and `switch` (how the loop drives both), `router` (where packets go), `exchange`, `outage`,
//! `standstill` (time must pass), `ns3` (ties under that fidelity), `saved` (what a checkpoint holds).

use std::collections::VecDeque;
use std::sync::Arc;

use penstock_engine::{SourceId, Wheel, prefetch};
use penstock_fabric::{Switch, SwitchRequests};
use penstock_packet::{Carried, Observer, PacketId, PacketPool};
use penstock_transport::{Flows, Host, Requests};
use penstock_units::Time;

use crate::error::StandstillError;
use crate::flow::FlowSlots;
use crate::losses::Losses;
use crate::measure::summary::Measurements;
use crate::ns3::Ns3;
use crate::setting::Setting;
use crate::wire::{ELSEWHERE, Wire};

mod build;
pub(crate) mod clock;
pub(crate) mod dependents;
pub(crate) mod exchange;
mod host;
pub(crate) mod inner;
mod lifetime;
mod ns3;
mod order;
mod outage;
pub(crate) mod router;
mod sampling;
mod saved;
mod standstill;
mod switch;

pub(crate) use build::partitions;
use clock::Sources;
use dependents::Dependents;
use exchange::Mail;
use inner::Inner;
use lifetime::Paths;
pub(crate) use lifetime::Start;
pub(crate) use order::OrderCheck;
use router::Router;
use standstill::ClockWatch;
pub(crate) use standstill::LOOK_EVENTS;

/// Nodes of a network, their clock, and everything measured there so far.
pub(crate) struct Partition<O> {
    /// The number of this partition.
    pub number: usize,
    pub setting: Arc<Setting>,
    pub hosts: Vec<Host>,
    pub switches: Vec<Switch>,
    pub wires: Vec<Wire>,
    /// By host: its uplink.
    pub uplinks: Vec<u32>,
    /// By switch: where its links start in `egress`.
    pub first_port: Vec<u32>,
    /// The links that leave each switch, by port.
    pub egress: Vec<u32>,
    /// Where packets go.
    pub router: Router,
    /// What the simulator knows of flows.
    pub slots: FlowSlots,
    /// The ends of the flows, which belong to the hosts.
    pub flows: Flows,
    /// The requests of the host that was called last.
    pub requests: Requests,
    /// The requests of switches.
    pub told: SwitchRequests,
    pub pool: PacketPool,
    pub wheel: Wheel,
    pub sources: Sources,
    pub measured: Measurements,
    /// State for the fidelity of the ns-3 HPCC simulator.
    pub ns3: Option<Box<Ns3>>,
    /// Checks the order of arrivals, in checked runs.
    pub order: Option<OrderCheck>,
    /// The observer of the switches.
    pub observer: O,
    /// Flows that start before the end of the window, in order.
    pub starts: VecDeque<Start>,
    /// Flows from hosts here that wait for others.
    pub dependents: Dependents,
    /// Transfers inside servers, from hosts here and to them.
    pub inner: Inner,
    /// Room for the paths of the flow that starts.
    paths: Paths,
    /// The change of routes that comes next.
    next_change: usize,
    /// What leaves for each partition, this one included, at the end of the window.
    pub outbox: Vec<Mail>,
    /// What has come from each partition for the next window.
    pub inbox: Vec<Mail>,
    /// Checks that time passes.
    clock_watch: ClockWatch,
    /// Whether packets are prefetched.
    foresees: bool,
    /// Which control frames are lost, where any are; by the link on which their receiver sends.
    control_losses: Option<Box<Losses>>,
    /// Which frames arrive corrupted, where any do.
    corruption: Option<Box<Losses>>,
    /// When the window was opened: the end of the one before.
    opened: Time,
    /// Whether the events of the window are over.
    is_at_end: bool,
    /// Why the partition cannot go on.
    pub failure: Option<StandstillError>,
}

/// In networks with more links, the packet of the next event is prefetched, because the packets in
/// flight no longer fit a processor's own cache. Prefetching took 8 to 10 % off a packet-hop with
/// 1,024 hosts (3,072 links), 11 to 18 % with 8,192, and added 1 % with 128 (384 links). Packets with
/// telemetry fit in no network: with 128 hosts and HPCC it took 1 % off, and 5 % with the demo's
/// traffic.
const FORESEEN_FROM_LINKS: usize = 1_024;

/// log2 of the width of a level-0 slot of the wheel in a network with `links` links (ps). A 64th of
/// a slot should hold at most one event, so the width is halved with every doubling of the number
/// of links. At 128 hosts a slot is 8 ns wide. Slots of 4 ns take the bare loop the same time, and
/// HPCC under ns-3's fidelity 3 % more, because 8 ns means fewer slots to walk over.
pub(crate) fn slot_width_log2(links: usize) -> u32 {
    let doublings = (links.max(1) as u64).ilog2();
    21u32.saturating_sub(doublings).clamp(4, 13)
}

impl<O: Observer> Partition<O> {
    /// The time of the last event.
    pub fn now(&self) -> Time {
        self.wheel.now()
    }

    /// Runs to the end of the window at `end`. What stops it is kept in `failure`.
    pub fn run_window(&mut self, end: Time) {
        self.open_window(end);
        self.failure = self.advance(u64::MAX).err();
    }

    /// No event is due earlier than this, the mail included; none when nothing is to come.
    pub fn earliest(&self) -> Option<Time> {
        let mail = self.inbox.iter().filter_map(|mail| mail.earliest);
        mail.chain(self.wheel.earliest()).min()
    }

    /// Processes the next event and returns its source; none when the window is over.
    #[inline(always)]
    fn step(&mut self) -> Option<SourceId> {
        if self.is_at_end {
            return None;
        }
        let (now, source) = self.wheel.pop()?;
        self.measured.steps += 1;
        if self.foresees {
            self.foresee();
        }
        if source < self.sources.links {
            self.on_wire_arrival(now, source);
        } else if source < 2 * self.sources.links {
            let link = source - self.sources.links;
            let wire = &mut self.wires[link as usize];
            wire.is_end_scheduled = false;
            let node = wire.from;
            self.send_next(now, link);
            if node < self.sources.hosts {
                self.serve(now, node);
            }
        } else {
            self.on_timer(now, source);
        }
        Some(source)
    }

    /// As [`Partition::step`], out of line.
    #[cold]
    #[inline(never)]
    fn step_alone(&mut self) -> Option<SourceId> {
        self.step()
    }

    /// Prefetches the packet that probably arrives next.
    #[inline]
    fn foresee(&self) {
        if let Some(source) = self.wheel.likely_next()
            && source < self.sources.links
        {
            self.prefetch_packet(self.wires[source as usize].head());
        }
    }

    /// Prefetches packet `id` with its telemetry.
    #[inline]
    fn prefetch_packet(&self, id: PacketId) {
        prefetch(&self.pool[id]);
        self.pool.beside(id).for_each(prefetch);
    }

    #[inline(always)] // the loop has one call
    fn on_wire_arrival(&mut self, now: Time, link: u32) {
        let wire = &mut self.wires[link as usize];
        let (id, next) = wire.take(&self.pool);
        let (node, port) = (wire.to, wire.to_port);
        if let Some(next) = next {
            // The packet that arrives next on this wire: worth 1 to 2 % of a packet-hop with HPCC.
            prefetch(&self.pool[wire.head()]);
            match self.ns3 {
                None => self.wheel.schedule(link, next),
                Some(_) => self.expect_ns3_arrival(link, next),
            }
        }
        if let Some(corruption) = &mut self.corruption
            && corruption.hits(link)
        {
            self.discard(link, id);
        } else if node < self.sources.hosts {
            self.on_host_arrival(now, node, id);
        } else {
            self.on_switch_arrival(now, (node - self.sources.hosts) as usize, port, id);
        }
    }

    /// Something waits at the sending end of `link`.
    #[inline]
    fn offer(&mut self, now: Time, link: u32) {
        let wire = &mut self.wires[link as usize];
        if wire.is_end_scheduled {
            return;
        }
        if wire.free_at > now && self.ns3.is_none() {
            wire.is_end_scheduled = true;
            self.wheel.schedule(self.sources.transmission(link), wire.free_at);
        } else if !self.is_busy_in_ns3(now, link) {
            self.send_next(now, link);
        }
    }

    /// The link is free: the sending end puts its next packet, if any, on the link.
    #[inline(never)] // one copy of the code of all departures: it must fit a processor's nearest cache
    fn send_next(&mut self, now: Time, link: u32) {
        let wire = &self.wires[link as usize];
        let (node, port) = (wire.from, wire.from_port);
        let is_host = node < self.sources.hosts;
        let next = match is_host {
            true => self.depart_from_host(now, node),
            false => self.depart(now, (node - self.sources.hosts) as usize, port, link),
        };
        let Some((id, more)) = next else { return };
        self.transmit(now, link, id, more);
        if is_host && !more {
            self.sleep(self.wires[link as usize].free_at, node);
        }
    }

    /// Puts `id` on the wire; `more` says whether another packet waits behind it.
    #[inline(always)] // it has one caller
    fn transmit(&mut self, now: Time, link: u32, id: PacketId, more: bool) {
        let wire = &mut self.wires[link as usize];
        let packet = &self.pool[id];
        let arrival = wire.occupy(now, packet.wire_bytes);
        let is_first = match wire.to {
            ELSEWHERE => false,
            _ => wire.append(&mut self.pool, id, arrival),
        };
        if self.ns3.is_some() {
            return self.schedule_in_ns3((link, id), more, is_first.then_some(arrival));
        }
        if more && !wire.is_end_scheduled {
            wire.is_end_scheduled = true;
            self.wheel.schedule(self.sources.transmission(link), wire.free_at);
        }
        if is_first {
            self.wheel.schedule(link, arrival);
        } else if wire.to == ELSEWHERE {
            self.post(link, id, arrival);
        }
    }

    /// What `link` has carried; nothing where another partition sends.
    pub(crate) fn carried(&self, link: u32) -> Carried {
        let wire = &self.wires[link as usize];
        match wire.from.checked_sub(self.sources.hosts) {
            _ if wire.from == ELSEWHERE => Carried::default(),
            None => self.hosts[wire.from as usize].counters().carried,
            Some(switch) => self.switches[switch as usize].port(wire.from_port).carried(),
        }
    }

    /// Keeps the state of the links and of the endless flows, as the traffic ends.
    pub(crate) fn on_duration(&mut self) {
        let links = || (0..self.wires.len() as u32).map(|link| (link, self.carried(link)));
        let busy = || links().filter(|(_, carried)| carried.packets > 0);
        // The list is as long as it must be: a large network has many links.
        let mut carried = Vec::with_capacity(busy().count());
        carried.extend(busy());
        self.measured.on_duration(&self.slots, &self.flows, carried);
    }

    /// The number of a node of this partition in the network.
    fn node(&self, node: u32) -> u32 {
        self.setting.placement.nodes[self.number][node as usize]
    }

    /// The number of a link of this partition in the network.
    fn link(&self, link: u32) -> u32 {
        self.setting.placement.links[self.number][link as usize]
    }

    /// The place here of host `host` of the network.
    #[inline]
    fn host_place(&self, host: u32) -> u32 {
        self.setting.placement.of_node(host).1 as u32
    }
}
