//! From a load to an arrival rate, and the check that the network can carry all traffic.

use std::collections::HashMap;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::{Problem, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shortened;
use crate::topology::Topology;

/// The mean payload load above which a link counts as overloaded: 1, less the rounding of sums.
const FULL: f64 = 1.0 - 1e-9;

/// An entry that would have to shrink to this share, or below, is refused for the other entries instead (our
/// choice: a millionth of what was asked for helps nobody).
const NO_ROOM: f64 = 1e-6;

/// The directed links that a load is defined on; `kind` names the variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LoadOn {
    /// The links between switches.
    Core {},
    /// The links from hosts to switches.
    Edge {},
    /// Named directed links.
    Links {
        /// Links as [from, to].
        #[schemars(length(min = 1))]
        links: Vec<(u32, u32)>,
    },
}

impl LoadOn {
    /// The name of the variant.
    fn kind(&self) -> &'static str {
        match self {
            LoadOn::Core {} => "core",
            LoadOn::Edge {} => "edge",
            LoadOn::Links { .. } => "links",
        }
    }

    /// The same choice with at most one link, for a check that all links have in common.
    pub(super) fn shortened(&self) -> LoadOn {
        match self {
            LoadOn::Links { links } => LoadOn::Links { links: shortened(links) },
            other => other.clone(),
        }
    }
}

/// Which flows a load counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadCounts {
    /// Only flows that cross those links count.
    ///
    /// The payload that they carry, over their capacity, is the load. Flows inside servers come on top.
    Crossing,
    /// BFC's generator, which counts flows inside a rack and inside a server too.
    ///
    /// The payload of all flows, over half the directed core capacity. On BFC's network 112/127 = 88 % of it
    /// crosses the core (BASELINES 0.5).
    All,
}

/// The load of an open-loop entry, as the scenario gives it.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoadTarget<'a> {
    pub(super) load: f64,
    pub(super) on: &'a LoadOn,
    pub(super) counts: LoadCounts,
}

impl LoadTarget<'_> {
    /// The arrival rate (flows/s) that gives the load. `mean` is the mean size of a flow (bytes);
    /// `crossings` says how often a flow crosses each link; the load is defined on `links`; `field`
    /// is the path of the entry in the scenario.
    pub(super) fn arrival_rate(
        &self,
        field: &str,
        topology: &Topology,
        links: &[u32],
        crossings: &[f64],
        mean: f64,
    ) -> Result<f64, Problem> {
        let capacity: f64 =
            links.iter().map(|link| topology.links[*link as usize].rate.as_bps() as f64).sum();
        if self.counts == LoadCounts::All {
            // lambda = load * C_ref / (8 * mean size) (BASELINES 0.5).
            return Ok(self.load * (capacity / 2.0) / (8.0 * mean));
        }
        let crossed: f64 = links.iter().map(|link| crossings[*link as usize]).sum();
        if crossed <= 0.0 {
            let remedy = "no flow of the entry crosses any link of load_on; name links on the paths of \
                          its flows";
            return Err(Problem::new(format!("{field}.load_on"), self.on.kind(), remedy));
        }
        Ok(self.load * capacity / (8.0 * mean * crossed))
    }

    /// The links on which the load is defined; none when a problem was found.
    pub(super) fn links(
        &self,
        field: &str,
        topology: &Topology,
        problems: &mut Problems,
    ) -> Option<Vec<u32>> {
        let is_on_core = *self.on == (LoadOn::Core {});
        let remedy = "it counts flows against the core, and the load is on other links; write \"crossing\", \
                      or load_on = {kind = \"core\"}";
        let holds = self.counts == LoadCounts::Crossing || is_on_core;
        problems.unless(holds, &format!("{field}.load_counts"), "all", remedy);
        let all = 0..topology.links.len() as u32;
        match self.on {
            LoadOn::Core {} => {
                let core: Vec<u32> = all.filter(|link| topology.is_core(*link)).collect();
                let remedy = "this topology has no link between switches to load; use \
                              load_on = {kind = \"edge\"} or {kind = \"links\", links = [[from, to]]}";
                let at = format!("{field}.load_on.kind");
                problems.unless(!core.is_empty(), &at, "core", remedy);
                Some(core)
            }
            LoadOn::Edge {} => {
                Some((0..topology.hosts).map(|host| topology.uplink(host)).collect())
            }
            LoadOn::Links { links } => {
                named(&format!("{field}.load_on.links"), links, topology, problems)
            }
        }
    }
}

/// The links between the nodes at `field`; none when one is missing or named twice.
fn named(
    field: &str,
    ends: &[(u32, u32)],
    topology: &Topology,
    problems: &mut Problems,
) -> Option<Vec<u32>> {
    let (mut links, mut first_at) = (Vec::with_capacity(ends.len()), HashMap::new());
    for (position, &(from, to)) in ends.iter().enumerate() {
        if problems.is_full() {
            return None;
        }
        let link = topology.link_between(from, to);
        let first = link.map(|link| *first_at.entry(link).or_insert(position));
        if first == Some(position) {
            links.extend(link);
            continue;
        }
        let remedy = match first {
            None => {
                "no link leads from the one to the other; name the two ends of a cable".to_owned()
            }
            Some(first) => format!("it repeats {field}[{first}]; name each once"),
        };
        problems.unless(false, &format!("{field}[{position}]"), format!("[{from}, {to}]"), remedy);
    }
    (links.len() == ends.len()).then_some(links)
}

/// The traffic that an entry offers to the links while the entry is active.
#[derive(Clone, Debug)]
pub(super) struct Offered {
    /// Path of the field to change when the traffic is too much.
    pub(super) field: String,
    pub(super) knob: Knob,
    pub(super) start: Time,
    pub(super) stop: Time,
    /// By directed link, and then by host what it sends inside its server: mean payload rate (bit/s).
    pub(super) carried: Vec<f64>,
}

/// The number that sets how much traffic an entry offers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Knob {
    /// The traffic is proportional to this load.
    Load(f64),
    /// The traffic is inversely proportional to this period.
    Period(Time),
}

impl Knob {
    /// The value that it has.
    fn written(self) -> String {
        match self {
            Knob::Load(load) => load.to_string(),
            Knob::Period(period) => period.to_string(),
        }
    }

    /// The values that shrink the traffic to `room` of what it is, in words; `room` lies above 0. The
    /// bound is on the safe side by one part in a million, and rounded to that side.
    fn bound(self, room: f64) -> String {
        match self {
            Knob::Load(load) => {
                let largest = load * room * (1.0 - 1e-6);
                // Three digits of a small load, thousandths of others.
                let digits = 2 - (largest.log10().floor() as i32).min(-1);
                let steps = 10f64.powi(digits);
                format!("at most {:.*}", digits as usize, (largest * steps).floor() / steps)
            }
            Knob::Period(period) => {
                let shortest = (period.as_ns_f64() / room * (1.0 + 1e-6)).ceil();
                format!("at least {}", Time::from_ps((shortest * 1e3) as u64))
            }
        }
    }
}

impl Offered {
    fn is_active(&self, now: Time) -> bool {
        self.start <= now && now < self.stop
    }

    /// Mean payload load of the link in `place` of `carried` by this entry.
    fn load(&self, topology: &Topology, place: usize) -> f64 {
        let link = topology.links.get(place).map(|link| link.rate);
        let rate = link.or(topology.inner.map(|links| links.rate)).unwrap_or_default();
        self.carried[place] / rate.as_bps() as f64
    }
}

/// The name of the link in `place` of [`Offered::carried`], and of its layer.
fn name(topology: &Topology, place: usize) -> (String, &str) {
    match topology.links.get(place) {
        Some(link) => (topology.link_name(place as u32), &topology.layers[usize::from(link.layer)]),
        None => {
            let host = &topology.nodes[place - topology.links.len()].name;
            (format!("{host} to its server"), "inside servers")
        }
    }
}

/// The link that all traffic together loads most.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct FullestLink {
    /// Its name, such as `T0->S1`.
    pub name: String,
    /// The group of links that it is in.
    pub layer: String,
    /// Mean payload over its rate, while all entries are active that load it; above 0, below 1.
    pub load: f64,
}

/// The link that entries load most; none where no entry has a load. Refuses entries that together offer
/// some link as much payload as the link can carry, or more.
///
/// Every directed link is checked, not only the mean over a layer: traffic between two lists of
/// hosts, or to a fixed receiver, loads the links of a layer unequally. So is what each host sends
/// inside its server. The load grows only when an entry starts, so these points in time are checked.
pub(super) fn check_capacity(
    offered: &[Offered],
    topology: &Topology,
) -> Result<Option<FullestLink>, Problem> {
    let (mut fullest, mut most) = (None, 0.0);
    let mut starts: Vec<Time> = offered.iter().map(|entry| entry.start).collect();
    starts.sort_unstable();
    starts.dedup();
    for now in starts {
        let active: Vec<&Offered> = offered.iter().filter(|entry| entry.is_active(now)).collect();
        let total =
            |link: usize| -> f64 { active.iter().map(|entry| entry.load(topology, link)).sum() };
        let inside = topology.inner.map_or(0, |_| topology.hosts as usize);
        let totals: Vec<f64> = (0..topology.links.len() + inside).map(total).collect();
        // Of several the first.
        let busiest = (0..totals.len()).rev().max_by(|a, b| totals[*a].total_cmp(&totals[*b]));
        let Some(link) = busiest.filter(|link| totals[*link] > most) else { continue };
        (fullest, most) = (Some(link), totals[link]);
        if let Some(error) =
            overload(&active, &totals, link, topology).filter(|_| totals[link] >= FULL)
        {
            return Err(error);
        }
    }
    Ok(fullest.map(|link| {
        let (name, layer) = name(topology, link);
        FullestLink { name, layer: layer.to_owned(), load: most }
    }))
}

/// The refusal of the active entry that loads `link` most.
fn overload(
    active: &[&Offered],
    totals: &[f64],
    link: usize,
    topology: &Topology,
) -> Option<Problem> {
    let load = |entry: &Offered| entry.load(topology, link);
    let most = active.iter().max_by(|a, b| load(a).total_cmp(&load(b)))?;
    let (name, layer) = name(topology, link);
    let found = format!(
        "all traffic together loads {name} ({layer}) with {:.3} of its rate, which must be below 1",
        totals[link]
    );
    // What the other entries alone load, where it is most of all links that the entry uses.
    let others = |link: usize| totals[link] - most.load(topology, link);
    let used = || (0..totals.len()).filter(|link| most.carried[*link] > 0.0);
    let fullest = used().max_by(|a, b| others(*a).total_cmp(&others(*b)))?;
    // The factor to which the entry must shrink for every link to be below its rate.
    let room = used()
        .map(|link| (1.0 - others(link)) / most.load(topology, link))
        .fold(f64::INFINITY, f64::min);
    let rest = active.iter().filter(|entry| !std::ptr::eq(**entry, *most));
    let first = rest.max_by(|a, b| a.load(topology, fullest).total_cmp(&b.load(topology, fullest)));
    let remedy = match first.filter(|_| room <= NO_ROOM) {
        None => format!("{found}; write {}", most.knob.bound(room)),
        Some(first) => format!(
            "{found}; without this entry {} has {:.3}, of which {} brings {:.3}: reduce that first",
            self::name(topology, fullest).0,
            others(fullest),
            first.field,
            first.load(topology, fullest)
        ),
    };
    Some(Problem::new(&most.field, most.knob.written(), remedy))
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
