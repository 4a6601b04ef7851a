//! Links that fail and recover at given times, and the routes around them.
//!
//! When a cable fails, all packets on it are lost in both directions. Packets that wait for the
//! cable are lost, too, control packets included: a switch flushes the queues of a port that is
//! down. Pauses that the far end had asked for end. At the same moment all routes become those of
//! the network without the cable: the time that a routing protocol needs to converge is left out.
//! When the cable recovers, both ends repeat the pauses that they still want (the bitmap of BFC,
//! sec. 3.3.2; the refreshed pause of IEEE 802.1Qbb), and routes use the cable again.
//!
//! Packets are forwarded switch by switch, with the tables of the moment, as real switches do. A packet
//! on its way may therefore turn back, or go down and up again. That is how a Clos network gets cyclic buffer
//! dependencies (P. Goyal et al., BFC, NSDI 2022, App. B).
//!
//! Here are the outages of a scenario and the routes that follow from them; `partition::outage` has what
//! happens at that moment.

use std::sync::Arc;

use penstock_units::{Problem, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::routing::Routing;
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
    /// When the cables fail or recover.
    pub time: Time,
    /// Directed links that go down.
    pub failed: Vec<u32>,
    /// Directed links that come up.
    pub recovered: Vec<u32>,
    /// The routes from that moment on.
    pub routing: Arc<Routing>,
}

/// The changes of a scenario's routes that its outages bring, in order of time.
///
/// An outage is a problem when it names no cable between switches, overlaps another outage of the
/// same cable, has no length, or cuts the network.
pub(crate) fn route_changes(
    outages: &[OutageConfig],
    topology: &Topology,
    problems: &mut Problems,
) -> Vec<RouteChange> {
    if outages.is_empty() {
        return Vec::new();
    }
    let mut steps = Vec::new();
    for (index, outage) in outages.iter().enumerate() {
        if let Some(link) = checked(index, outage, topology, problems) {
            steps.push((outage.start, link, true));
            steps.extend(outage.end.map(|end| (end, link, false)));
        }
    }
    // At one moment a link fails before it recovers, so outages that touch are refused.
    steps.sort_unstable_by_key(|&(time, link, fails)| (time, link, !fails));
    overlaps(&steps, topology, problems);
    if !problems.is_sound("faults.outages") {
        return Vec::new();
    }
    problems.value_of(changes(&steps, topology)).unwrap_or_default()
}

/// The link that an outage names, in one direction; none when the outage is refused.
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
    // The declared bounds refuse a start or an end at zero.
    if let Some(end) = outage.end.filter(|&end| end <= start && end > Time::ZERO) {
        let remedy =
            format!("it is not after the start, {start}; write a later time, or null for never");
        problems.unless(false, &field("end"), end, remedy);
        return None;
    }
    link.map(|link| link.min(topology.links[link as usize].reverse))
}

/// Refuses outages of a link that is down already, or that recovers at the same moment.
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

/// The changes of the routes that follow from `steps` (time, cable, whether the cable fails), in
/// order of time.
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
        changes.push(RouteChange { time, failed, recovered, routing: Arc::new(routing) });
    }
    Ok(changes)
}

#[cfg(test)]
#[path = "outage_tests.rs"]
mod tests;
