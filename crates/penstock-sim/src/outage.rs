//! Links that fail and recover at given times, and the routes around them.
//!
//! When a cable fails, what is on it in both directions is lost, and so is what waits for it, control
//! packets included: a switch flushes the queues of a port that is down. Pauses that the far end had
//! asked for end with it. At the same moment all routes are those of the network without the cable:
//! the time that a routing protocol needs to converge is left out. When it recovers, both ends repeat
//! the pauses that they still want (the bitmap of BFC, sec. 3.3.2; the refreshed pause of IEEE
//! 802.1Qbb), and routes use it again.
//!
//! In such a run packets are forwarded switch by switch, with the tables of the moment, as real
//! switches do; otherwise a flow's route is looked up once. A packet on its way may therefore turn
//! back, or go down and up again, which is how a Clos network gets cyclic buffer dependencies
//! (P. Goyal et al., BFC, NSDI 2022, App. B).
//!
//! A link that is down is one whose transmission never ends: it costs nothing per packet.

use penstock_packet::{Observer, PacketEvent, PacketId, PacketKind};
use penstock_transport::RecoveryConfig;
use penstock_units::{Problem, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::routing::Routing;
use crate::scenario::Scenario;
use crate::simulation::Simulation;
use crate::topology::Topology;

/// A link that fails, with all that is on it, and routes that go around it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutageConfig {
    /// The two switches that it joins.
    pub link: (u32, u32),
    /// When it fails.
    #[schemars(range(min = 1))]
    pub start: Time,
    /// When it works again; null: never.
    #[schemars(
        range(min = 1),
        extend("default" = null, "source" = "our choice: it stays down")
    )]
    pub end: Option<Time>,
}

/// A moment at which cables fail or recover.
#[derive(Clone, Debug)]
pub struct RouteChange {
    /// When.
    pub time: Time,
    /// Directed links that go down.
    pub failed: Vec<u32>,
    /// Directed links that come up.
    pub recovered: Vec<u32>,
    /// The routes from then on.
    pub routing: Routing,
}

/// The changes of `scenario`'s routes, in order of time.
///
/// A problem is an outage that names no cable between switches, overlaps another one of the cable, has no
/// length, or cuts the network; so is a recovery of losses that depends on switches that tell of them.
pub(crate) fn route_changes(
    scenario: &Scenario,
    topology: &Topology,
    problems: &mut Problems,
) -> Vec<RouteChange> {
    let outages = &scenario.faults.outages;
    if outages.is_empty() {
        return Vec::new();
    }
    let is_perfect = matches!(scenario.scheme.host.recovery, RecoveryConfig::Perfect(_));
    let remedy = "nobody tells a source of what a failed link loses; use another recovery, or leave out \
                  faults.outages";
    problems.unless(!is_perfect, "scheme.host.recovery.kind", "perfect", remedy);
    let mut steps = Vec::new();
    for (index, outage) in outages.iter().enumerate() {
        if let Some(link) = checked(index, outage, topology, problems) {
            steps.push((outage.start, link, true));
            steps.extend(outage.end.map(|end| (end, link, false)));
        }
    }
    // At one moment a link fails before it recovers: outages that touch are then refused.
    steps.sort_unstable_by_key(|&(time, link, fails)| (time, link, !fails));
    overlaps(&steps, topology, problems);
    if !problems.is_sound("faults.outages") {
        return Vec::new();
    }
    problems.value_of(changes(&steps, topology)).unwrap_or_default()
}

/// The link that an outage means, in one direction.
fn checked(
    index: usize,
    outage: &OutageConfig,
    topology: &Topology,
    problems: &mut Problems,
) -> Option<u32> {
    let field = |name: &str| format!("faults.outages[{index}].{name}");
    let ((from, to), start) = (outage.link, outage.start);
    let link = topology.link_between(from, to).filter(|&link| topology.is_core(link));
    let (value, remedy) = (
        format!("[{from}, {to}]"),
        "no link joins two switches of these numbers; \
                           name the two ends of one",
    );
    problems.unless(link.is_some(), &field("link"), value, remedy);
    // The bounds of both times are declared.
    if let Some(end) = outage.end.filter(|&end| end <= start && end > Time::ZERO) {
        let remedy =
            format!("it is not after the start, {start}; write a later time, or null for never");
        problems.unless(false, &field("end"), end, remedy);
        return None;
    }
    link.map(|link| link.min(topology.links[link as usize].reverse))
}

/// Refuses the outages of a link that is down already, or recovers at that moment.
fn overlaps(steps: &[(Time, u32, bool)], topology: &Topology, problems: &mut Problems) {
    let mut is_down = vec![false; topology.links.len()];
    let mut is_told = vec![false; topology.links.len()];
    for &(_, link, fails) in steps {
        let index = link as usize;
        let was_down = std::mem::replace(&mut is_down[index], fails);
        if fails && was_down && !std::mem::replace(&mut is_told[index], true) {
            let (from, to) = (topology.links[index].from, topology.links[index].to);
            let value = format!("a list whose outages of [{from}, {to}] overlap or touch");
            problems.unless(
                false,
                "faults.outages",
                value,
                "a link that is down does not fail; write one",
            );
        }
    }
}

/// From the steps (time, cable, whether it fails), in order, to what they make of the routes.
fn changes(steps: &[(Time, u32, bool)], topology: &Topology) -> Result<Vec<RouteChange>, Problem> {
    let mut is_down = vec![false; topology.links.len()];
    let mut changes = Vec::new();
    for moment in steps.chunk_by(|one, other| one.0 == other.0) {
        let time = moment[0].0;
        let (mut failed, mut recovered) = (Vec::new(), Vec::new());
        for &(_, link, fails) in moment {
            let cable = [link, topology.links[link as usize].reverse];
            for link in cable {
                is_down[link as usize] = fails;
            }
            if fails { &mut failed } else { &mut recovered }.extend(cable);
        }
        let routing = Routing::avoiding(topology, &is_down);
        if !routing.is_whole() {
            let remedy = "they leave some nodes without a path at that time; remove one";
            return Err(Problem::new("faults.outages", format!("at {time}"), remedy));
        }
        changes.push(RouteChange { time, failed, recovered, routing });
    }
    Ok(changes)
}

impl<O: Observer> Simulation<O> {
    /// Schedules the next change of the routes, if there is one.
    pub(crate) fn expect_route_change(&mut self) {
        if let Some(change) = self.network.route_changes.first() {
            self.wheel.schedule(self.sources.clock(Clock::Routes), change.time);
        }
    }

    /// Links fail or recover, and the routes with them.
    pub(crate) fn on_route_change(&mut self, now: Time) {
        let change = self.network.route_changes.remove(0);
        self.router.change(&change.routing);
        self.network.routing = change.routing;
        for &link in &change.failed {
            self.cut(link);
        }
        for &link in change.failed.iter().chain(&change.recovered) {
            self.flush(now, link);
        }
        for &link in &change.recovered {
            self.network.wires[link as usize].is_end_scheduled = false;
        }
        for link in change.recovered {
            self.repeat_pauses(now, link);
        }
        self.expect_route_change();
    }

    /// The wire of `link` is down, and what is on it lost.
    fn cut(&mut self, link: u32) {
        self.wheel.cancel(link);
        self.wheel.cancel(self.sources.transmission(link));
        let wire = &mut self.network.wires[link as usize];
        wire.is_end_scheduled = true; // for an end that never comes
        for id in wire.take_all(&self.pool) {
            self.lose(link, id);
        }
    }

    /// What waits for `link` is lost, and the pauses that its far end has asked for are over.
    fn flush(&mut self, now: Time, link: u32) {
        let (node, egress) =
            (self.network.wires[link as usize].from, self.network.wires[link as usize].from_port);
        let switch = (node - self.sources.hosts) as usize;
        self.call_switch(now, switch, |switch, turn| switch.on_link(turn, egress, false));
        while let Some(id) = self.depart(now, switch, link) {
            self.lose(link, id);
        }
    }

    /// A packet is lost with `link`.
    fn lose(&mut self, link: u32, id: PacketId) {
        let packet = &self.pool[id];
        self.measured.lost_packets += 1;
        let node = self.network.wires[link as usize].from;
        let queue = packet.queue;
        if packet.kind == PacketKind::Data {
            self.measured.dropped_payload += u64::from(packet.payload);
        }
        self.note(self.now(), node, link, PacketEvent::Drop, queue);
        self.pool.remove(id);
    }

    /// The receiving end of `link`, which has recovered, asks again for the pauses that it wants.
    fn repeat_pauses(&mut self, now: Time, link: u32) {
        let wire = &self.network.wires[link as usize];
        let (switch, port) = ((wire.to - self.sources.hosts) as usize, wire.to_port);
        self.call_switch(now, switch, |switch, turn| switch.on_link(turn, port, true));
        self.serve_switch(now, switch, 0, None);
    }
}
