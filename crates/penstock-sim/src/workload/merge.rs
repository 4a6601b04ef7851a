//! All entries of the `traffic` list as one sequence of flows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use penstock_units::Time;

use super::TrafficConfig;
use super::entry::{Entry, FlowArrival};
use super::error::WorkloadError;
use super::incast::IncastFlows;
use super::listed::ListedFlows;
use super::load::check_capacity;
use super::open_loop::OpenLoopFlows;
use crate::routing::Routing;
use crate::topology::Topology;

/// The flows of a scenario, an iterator in order of (time, traffic entry, sequence in the entry).
///
/// Flows are generated when they are asked for; only listed ones are held.
#[derive(Clone, Debug)]
pub struct Workload {
    labels: Vec<String>,
    sources: Vec<FlowSource>,
    /// The next flow of each entry that has one, earliest first.
    upcoming: BinaryHeap<Reverse<(Time, u16)>>,
    /// Indexed by entry: its next flow, while it is in `upcoming`.
    pending: Vec<Option<FlowArrival>>,
}

/// The flows of one entry, in time order.
#[derive(Clone, Debug)]
enum FlowSource {
    OpenLoop(Box<OpenLoopFlows>),
    Incast(Box<IncastFlows>),
    Listed(ListedFlows),
}

impl FlowSource {
    fn next(&mut self) -> Option<FlowArrival> {
        match self {
            FlowSource::OpenLoop(flows) => flows.next(),
            FlowSource::Incast(flows) => flows.next(),
            FlowSource::Listed(flows) => flows.next(),
        }
    }
}

impl Workload {
    /// Checks the `traffic` list of a scenario; flows start in [0, `duration`).
    ///
    /// # Errors
    /// When a field is out of its range, names a host or link that does not exist, or the entries
    /// together offer a link as much payload as it can carry. Listed flows and an incast of one
    /// event are bursts: they do not count as load.
    pub fn new(
        traffic: &[TrafficConfig],
        topology: &Topology,
        routing: &Routing,
        seed: u64,
        duration: Time,
    ) -> Result<Self, WorkloadError> {
        if traffic.len() > usize::from(u16::MAX) {
            let remedy = format!("write at most {} entries; one can list many flows", u16::MAX);
            let value = format!("a list of {} entries", traffic.len());
            return Err(WorkloadError::new("traffic", value, remedy));
        }
        let mut offered = Vec::new();
        let mut sources = Vec::with_capacity(traffic.len());
        for (index, config) in (0..).zip(traffic) {
            let entry = Entry { index, topology, routing, seed, duration };
            check_label(traffic, &entry)?;
            sources.push(match config {
                TrafficConfig::OpenLoop(open_loop) => {
                    let (flows, load) = open_loop.flows(&entry)?;
                    offered.push(load);
                    FlowSource::OpenLoop(Box::new(flows))
                }
                TrafficConfig::Incast(incast) => {
                    let (flows, load) = incast.flows(&entry)?;
                    offered.extend(load);
                    FlowSource::Incast(Box::new(flows))
                }
                TrafficConfig::Listed(listed) => FlowSource::Listed(listed.flows(&entry)?),
            });
        }
        check_capacity(&offered, topology)?;
        let mut workload = Workload {
            labels: traffic.iter().map(|config| config.label().to_owned()).collect(),
            upcoming: BinaryHeap::with_capacity(sources.len()),
            pending: vec![None; sources.len()],
            sources,
        };
        for entry in 0..workload.sources.len() as u16 {
            workload.refill(entry);
        }
        Ok(workload)
    }

    /// The entries' labels; [`FlowArrival::label`] is an index into them.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Generates the next flow of `entry`.
    fn refill(&mut self, entry: u16) {
        let flow = self.sources[usize::from(entry)].next();
        self.pending[usize::from(entry)] = flow;
        self.upcoming.extend(flow.map(|flow| Reverse((flow.time, entry))));
    }
}

/// Every entry has a label of its own: results are shown by label.
fn check_label(traffic: &[TrafficConfig], entry: &Entry) -> Result<(), WorkloadError> {
    let index = usize::from(entry.index);
    let label = traffic[index].label();
    let remedy = match traffic[..index].iter().position(|other| other.label() == label) {
        _ if label.is_empty() => "write a name for tables and figures".to_owned(),
        Some(first) => format!("traffic[{first}] has the same; give each a label of its own"),
        None => return Ok(()),
    };
    Err(WorkloadError::new(format!("{}.label", entry.field()), format!("\"{label}\""), remedy))
}

impl Iterator for Workload {
    type Item = FlowArrival;

    fn next(&mut self) -> Option<FlowArrival> {
        let Reverse((_, entry)) = self.upcoming.pop()?;
        let flow = self.pending[usize::from(entry)];
        self.refill(entry);
        flow
    }
}

#[cfg(test)]
#[path = "merge_tests.rs"]
pub(crate) mod tests;
