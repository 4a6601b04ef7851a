//! The event loop: takes the next event, lets a switch or a host act, and puts the packets that
//! they send on a wire. Data plane: structs, indexes, `match`; nothing here is allocated or hashed
//! per packet.

use penstock_engine::{SourceId, Wheel, prefetch, stream};
use penstock_fabric::SwitchRequests;
use penstock_packet::{Observer, PacketId, PacketKind, PacketPool};
use penstock_transport::{Flows, Host, HostDraws, Requests};
use penstock_units::{Fidelity, Time};
use rand_core::RngCore;
use rand_pcg::Pcg32;

use crate::check::OrderCheck;
use crate::clock::Sources;
use crate::deadlock::DeadlockWatch;
use crate::error::{ScenarioError, StandstillError};
use crate::flow::FlowNames;
use crate::host;
use crate::levels;
use crate::measure::summary::Measurements;
use crate::network::Network;
use crate::ns3::Ns3;
use crate::router::Router;
use crate::scenario::Scenario;
use crate::standstill::{ClockWatch, LOOK_EVENTS};
use crate::wire::WireCounters;
use crate::workload::{FlowArrival, Workload};

/// A simulation: a network, its traffic, its clock, and everything measured so far.
pub struct Simulation<O> {
    pub(crate) network: Network,
    pub(crate) hosts: Vec<Host>,
    /// Where packets go, and the flows to which they belong.
    pub(crate) router: Router,
    /// The ends of the flows, which belong to the hosts.
    pub(crate) flows: Flows,
    /// The requests of the host that was called last.
    pub(crate) requests: Requests,
    pub(crate) draws: HostDraws,
    /// The requests of switches.
    pub(crate) told: SwitchRequests,
    pub(crate) pool: PacketPool,
    pub(crate) wheel: Wheel,
    pub(crate) sources: Sources,
    pub(crate) counters: Vec<WireCounters>,
    pub(crate) measured: Measurements,
    pub(crate) names: FlowNames,
    pub(crate) path_seed: u64,
    pub(crate) scenario: Scenario,
    /// State for the fidelity of the ns-3 HPCC simulator.
    pub(crate) ns3: Option<Box<Ns3>>,
    /// Checks the order of arrivals, in checked runs.
    pub(crate) order: Option<OrderCheck>,
    /// Looks for deadlocks, where they are possible.
    pub(crate) deadlock_watch: Option<DeadlockWatch>,
    /// The observer of the switches.
    pub observer: O,
    pub(crate) workload: Workload,
    pub(crate) pending: Option<FlowArrival>,
    /// Checks that time passes.
    pub(crate) clock_watch: ClockWatch,
    /// Whether routes change during the run.
    pub(crate) has_outages: bool,
    /// Whether packets are prefetched.
    foresees: bool,
    /// A control frame is lost when a 32-bit draw is below this number.
    pub(crate) control_loss: u64,
    pub(crate) fault_random: Pcg32,
    pub(crate) is_done: bool,
    pub(crate) has_passed_duration: bool,
}

/// In networks with more links, the packet of the next event is prefetched, because the packets in
/// flight no longer fit a processor's own cache. Prefetching took 8 to 10 % off a packet-hop with
/// 1,024 hosts (3,072 links), 11 to 18 % with 8,192, and added 1 % with 128 (384 links).
const FORESEEN_FROM_LINKS: usize = 1_024;

/// log2 of the width of a level-0 slot of the wheel in a network with `links` links (ps). A 64th of
/// a slot should hold at most one event, so the width is halved with every doubling of the number
/// of links. At 128 hosts a slot is 8 ns wide. Slots of 4 ns take the bare loop the same time, and
/// HPCC under ns-3's fidelity 3 % more, because 8 ns means fewer slots to walk over.
pub(crate) fn slot_width_log2(links: usize) -> u32 {
    let doublings = (links.max(1) as u64).ilog2();
    21u32.saturating_sub(doublings).clamp(4, 13)
}

impl<O: Observer> Simulation<O> {
    /// Prepares a run of `scenario` on `network`.
    ///
    /// # Errors
    /// When the traffic does not fit the network.
    pub fn new(scenario: &Scenario, network: Network, observer: O) -> Result<Self, ScenarioError> {
        let workload = Workload::new(
            &scenario.traffic,
            &network.topology,
            &network.routing,
            scenario.seed,
            scenario.duration,
        )?;
        let scenario = &levels::resolved(scenario, &network)?;
        let links = network.wires.len();
        let hosts = network.topology.hosts;
        let switches = network.switches.len() as u32;
        let sources = Sources { links: links as u32, hosts, switches };
        let random = |name| {
            let mut named = stream(scenario.seed, name);
            Pcg32::new(named.next_u64(), named.next_u64())
        };
        let wheel = Wheel::new(sources.receiver(1) as usize, slot_width_log2(links));
        let path_seed = stream(scenario.seed, "ecmp").next_u64();
        let (wheel, ns3) = match scenario.fidelity {
            Fidelity::Exact => (wheel, None),
            Fidelity::Ns3Hpcc => (wheel.in_order_of_scheduling(), Some(Box::default())),
        };
        let mut simulation = Simulation {
            hosts: host::hosts(scenario, &network),
            router: Router::new(scenario, &network, path_seed),
            flows: Flows::default(),
            requests: Requests::default(),
            draws: host::draws(scenario.seed),
            told: SwitchRequests::default(),
            pool: PacketPool::new(scenario.has_telemetry()),
            wheel,
            ns3,
            sources,
            counters: vec![WireCounters::default(); links],
            measured: Measurements::new(scenario, &network, workload.labels().to_vec()),
            names: FlowNames::new(scenario.seed),
            path_seed,
            fault_random: random("faults/control"),
            control_loss: (scenario.faults.control_loss * 4_294_967_296.0) as u64,
            scenario: scenario.clone(),
            deadlock_watch: DeadlockWatch::new(&network),
            has_outages: !network.route_changes.is_empty(),
            foresees: links > FORESEEN_FROM_LINKS,
            network,
            order: None,
            observer,
            workload,
            pending: None,
            clock_watch: ClockWatch::default(),
            is_done: false,
            has_passed_duration: false,
        };
        simulation.start_clocks();
        Ok(simulation)
    }

    /// Simulated time.
    pub fn now(&self) -> Time {
        self.wheel.now()
    }

    /// Processes up to `events` events; false when the run is over.
    ///
    /// # Errors
    /// When time stands still.
    pub fn advance(&mut self, events: u64) -> Result<bool, StandstillError> {
        let mut left = events;
        while left > 0 {
            let batch = left.min(LOOK_EVENTS);
            for _ in 0..batch {
                if self.step().is_none() {
                    return Ok(false);
                }
            }
            left -= batch;
            self.watch_clock()?;
        }
        Ok(true)
    }

    /// Processes the next event and returns its source; none when the run is over.
    #[inline(always)]
    pub(crate) fn step(&mut self) -> Option<SourceId> {
        if self.is_done {
            return None;
        }
        let Some((now, source)) = self.wheel.pop() else {
            self.is_done = true;
            return None;
        };
        self.measured.events += 1;
        if self.foresees {
            self.foresee();
        }
        if source < self.sources.links {
            self.on_wire_arrival(now, source);
        } else if source < 2 * self.sources.links {
            let link = source - self.sources.links;
            let wire = &mut self.network.wires[link as usize];
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

    /// Prefetches the packet that probably arrives next.
    #[inline]
    fn foresee(&self) {
        if let Some(source) = self.wheel.likely_next()
            && source < self.sources.links
        {
            prefetch(&self.pool[self.network.wires[source as usize].head()]);
        }
    }

    #[inline]
    fn on_wire_arrival(&mut self, now: Time, link: u32) {
        let wire = &mut self.network.wires[link as usize];
        let (id, next) = wire.take(&self.pool);
        if let Some((next, order)) = next {
            // The packet that arrives next on this wire: worth 1 to 2 % of a packet-hop with HPCC.
            prefetch(&self.pool[wire.head()]);
            match &self.ns3 {
                None => self.wheel.schedule(link, next),
                Some(_) => {
                    self.wheel.schedule_ranked(link, next, self.wheel.recent_rank(order));
                }
            }
        }
        let (node, port) = (wire.to, wire.to_port);
        if node < self.sources.hosts {
            self.on_host_arrival(now, node, id);
        } else {
            self.on_switch_arrival(now, (node - self.sources.hosts) as usize, port, id);
        }
    }

    /// Something waits at the sending end of `link`.
    #[inline]
    pub(crate) fn offer(&mut self, now: Time, link: u32) {
        let wire = &mut self.network.wires[link as usize];
        if wire.is_end_scheduled {
            return;
        }
        let end = self.sources.transmission(link);
        match &self.ns3 {
            None if wire.free_at > now => {
                wire.is_end_scheduled = true;
                self.wheel.schedule(end, wire.free_at);
            }
            // In the ns-3 HPCC simulator a link whose transmission ends now is busy until the event
            // of that end has happened.
            Some(_)
                if wire.free_at > now
                    || (wire.free_at == now && wire.end_rank > self.wheel.rank_now()) =>
            {
                wire.is_end_scheduled = true;
                self.wheel.schedule_ranked(end, wire.free_at, wire.end_rank);
            }
            _ => self.send_next(now, link),
        }
    }

    /// The link is free: the sending end puts its next packet, if any, on the link.
    #[inline]
    fn send_next(&mut self, now: Time, link: u32) {
        let wire = &self.network.wires[link as usize];
        let node = wire.from;
        if node < self.sources.hosts {
            return self.send_from_host(now, node, link);
        }
        self.send_from_switch(now, (node - self.sources.hosts) as usize, link);
    }

    /// Puts `id` on the wire; `more` says whether another packet waits behind it.
    #[inline]
    pub(crate) fn transmit(&mut self, now: Time, link: u32, id: PacketId, more: bool) {
        let wire = &mut self.network.wires[link as usize];
        let packet = &self.pool[id];
        let counters = &mut self.counters[link as usize];
        counters.bytes += u64::from(packet.wire_bytes);
        counters.packets += 1;
        if packet.kind == PacketKind::Data {
            counters.payload += u64::from(packet.payload);
        }
        // In the ns-3 HPCC simulator the end of the transmission is scheduled first, then the arrival.
        let mut rank = 0;
        if self.ns3.is_some() {
            wire.end_rank = self.wheel.take_rank();
            rank = self.wheel.take_rank();
        }
        let arrival = wire.send(now, &mut self.pool, id, rank as u32);
        if more && !wire.is_end_scheduled {
            wire.is_end_scheduled = true;
            let end = self.sources.transmission(link);
            match &self.ns3 {
                None => self.wheel.schedule(end, wire.free_at),
                Some(_) => self.wheel.schedule_ranked(end, wire.free_at, wire.end_rank),
            }
        }
        if let Some(arrival) = arrival {
            match &self.ns3 {
                None => self.wheel.schedule(link, arrival),
                Some(_) => self.wheel.schedule_ranked(link, arrival, rank),
            }
        }
    }
}
