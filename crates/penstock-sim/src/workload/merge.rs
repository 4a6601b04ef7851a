//! All entries of the `traffic` list, merged into one sequence of flows.

use std::collections::{BTreeSet, HashMap};

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::declared::Declared;
use penstock_units::{Problems, Time};

use super::TrafficConfig;
use super::dependent::{check_graph, check_numbers};
use super::entry::{Entry, FlowArrival};
use super::incast::IncastFlows;
use super::listed::ListedFlows;
use super::load::{FullestLink, check_capacity};
use super::open_loop::OpenLoopFlows;
use crate::error::ScenarioError;
use crate::label::check_label;
use crate::routing::Routing;
use crate::topology::Topology;

/// The most entries of traffic: a flow stores the number of its entry in 16 bits.
pub(crate) const MOST_TRAFFIC: usize = u16::MAX as usize;

/// The flows of a scenario, an iterator in order of (time, traffic entry, sequence in the entry).
///
/// A flow is generated when it is asked for; only listed flows are held in memory.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Workload {
    labels: Vec<String>,
    sources: Vec<FlowSource>,
    /// The next flow of each entry that has one, earliest first.
    upcoming: BTreeSet<(Time, u16)>,
    /// By entry: its next flow, while the entry is in `upcoming`.
    pending: Vec<Option<FlowArrival>>,
    fullest: Option<FullestLink>,
}

/// The flows of one entry, in time order.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
enum FlowSource {
    OpenLoop(Box<OpenLoopFlows>),
    Incast(Box<IncastFlows>),
    Listed(ListedFlows),
    /// All flows depend on others ([`super::dependent`]).
    None,
}

impl FlowSource {
    fn next(&mut self) -> Option<FlowArrival> {
        match self {
            FlowSource::OpenLoop(flows) => flows.next(),
            FlowSource::Incast(flows) => flows.next(),
            FlowSource::Listed(flows) => flows.pop_front(),
            FlowSource::None => None,
        }
    }
}

impl Workload {
    /// Checks the `traffic` list of a scenario; flows start in [0, `duration`).
    ///
    /// # Errors
    /// When a field is out of its range, when a field names a host or link that does not exist, or
    /// when the entries together offer a link as much payload as it can carry. Listed flows and an
    /// incast of one event are bursts; bursts do not count as load.
    pub fn new(
        traffic: &[TrafficConfig],
        topology: &Topology,
        routing: &Routing,
        seed: u64,
        duration: Time,
    ) -> Result<Self, ScenarioError> {
        let mut problems = Problems::default();
        let (sources, fullest) = sources(traffic, topology, routing, seed, duration, &mut problems);
        ScenarioError::unless_none(problems)?;
        let mut workload = Workload {
            labels: traffic.iter().map(|config| config.label().to_owned()).collect(),
            upcoming: BTreeSet::new(),
            pending: vec![None; sources.len()],
            sources,
            fullest,
        };
        for entry in 0..workload.sources.len() as u16 {
            workload.refill(entry);
        }
        Ok(workload)
    }

    /// Adds the problems of the `traffic` list to `problems`; see [`Workload::new`].
    pub(crate) fn check(
        traffic: &[TrafficConfig],
        topology: &Topology,
        routing: &Routing,
        seed: u64,
        duration: Time,
        problems: &mut Problems,
    ) {
        sources(traffic, topology, routing, seed, duration, problems);
    }

    /// The entries' labels; [`FlowArrival::label`] is an index into them.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// The link that all entries with a load load most together; none where no entry has one.
    pub fn fullest_link(&self) -> Option<&FullestLink> {
        self.fullest.as_ref()
    }

    /// Generates the next flow of `entry`.
    fn refill(&mut self, entry: u16) {
        let flow = self.sources[usize::from(entry)].next();
        self.pending[usize::from(entry)] = flow;
        if let Some(flow) = flow {
            self.upcoming.insert((flow.time, entry));
        }
    }
}

/// Refuses a list with no entries or with too many.
pub(crate) fn check_count(traffic: &[TrafficConfig], problems: &mut Problems) {
    let count = traffic.len();
    let remedy = format!("write 1 to {MOST_TRAFFIC}; one can list many flows");
    let holds = (1..=MOST_TRAFFIC).contains(&count);
    problems.unless(holds, "traffic", format!("a list of {count}"), remedy);
}

/// The flows of each entry without problems, and the link that they load most; adds the problems of the
/// other entries.
fn sources(
    traffic: &[TrafficConfig],
    topology: &Topology,
    routing: &Routing,
    seed: u64,
    duration: Time,
    problems: &mut Problems,
) -> (Vec<FlowSource>, Option<FullestLink>) {
    let mut sources = Vec::with_capacity(traffic.len());
    // When the list itself was refused before, its length is not checked again.
    if problems.is_sound("traffic") {
        check_count(traffic, problems);
    }
    if traffic.len() > MOST_TRAFFIC {
        return (sources, None);
    }
    let (bounds, mut offered) = (Declared::by::<TrafficConfig>(), Vec::new());
    let mut labels = HashMap::with_capacity(traffic.len());
    for (index, config) in (0..).zip(traffic) {
        let entry = Entry { index, topology, routing, seed, duration };
        problems.within(&entry.field(), |problems| {
            check_label("label", config.label(), problems);
            let first = *labels.entry(config.label()).or_insert(index);
            let remedy = format!(
                "traffic[{first}] has the same; give each a label of its own, results are shown by label"
            );
            let label = format_args!("\"{}\"", config.label());
            problems.unless(first == index || config.label().is_empty(), "label", label, remedy);
            bounds.check(&config.fields(), problems);
        });
        match config {
            TrafficConfig::OpenLoop(open_loop) => {
                if let Some((flows, load)) = open_loop.flows(&entry, problems) {
                    offered.push(load);
                    sources.push(FlowSource::OpenLoop(Box::new(flows)));
                }
            }
            TrafficConfig::Incast(incast) => {
                if let Some((flows, load)) = incast.flows(&entry, problems) {
                    offered.extend(load);
                    sources.push(FlowSource::Incast(Box::new(flows)));
                }
            }
            TrafficConfig::Listed(listed) => {
                sources.push(FlowSource::Listed(listed.flows(&entry, problems)));
                problems.within(&entry.field(), |problems| check_graph(listed, problems));
            }
            TrafficConfig::Collective(collective) => {
                problems.within(&entry.field(), |problems| collective.check(&entry, problems));
                sources.push(FlowSource::None);
            }
            TrafficConfig::Rpc(rpc) => {
                entry.check_window(rpc.start, rpc.stop, problems);
                problems.within(&entry.field(), |problems| rpc.check(&entry, problems));
                sources.push(FlowSource::None);
            }
            TrafficConfig::OnOff(on_off) => {
                entry.check_window(on_off.start, on_off.stop, problems);
                problems.within(&entry.field(), |problems| on_off.check(&entry, problems));
                sources.push(FlowSource::None);
            }
        }
    }
    let fullest = problems.value_of(check_capacity(&offered, topology)).flatten();
    if problems.is_sound("traffic") && traffic.iter().any(TrafficConfig::is_dependent) {
        check_numbers(traffic, topology.hosts, problems);
    }
    (sources, fullest)
}

impl Iterator for Workload {
    type Item = FlowArrival;

    fn next(&mut self) -> Option<FlowArrival> {
        let (_, entry) = self.upcoming.pop_first()?;
        let flow = self.pending[usize::from(entry)];
        self.refill(entry);
        flow
    }
}

#[cfg(test)]
#[path = "merge_tests.rs"]
pub(crate) mod tests;
