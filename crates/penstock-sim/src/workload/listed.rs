//! Flows that a scenario gives one by one: traces and long-lived flows.

use std::collections::VecDeque;

use penstock_engine::stream::stream;
use penstock_units::source::NO_PRIORITIES;
use penstock_units::{Bytes, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::draw::unit;
use super::entry::{Entry, FlowArrival, TO_THE_END, UNENDED_INSIDE};
use super::hosts::check_host;
use crate::label::{LONGEST_LABEL, check_label};
use crate::topology::Topology;

/// Flows one by one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    /// Name in the results.
    #[schemars(
        length(min = 1, max = LONGEST_LABEL),
        extend("default" = "listed", "source" = "our choice: the kind")
    )]
    pub label: String,
    /// Priority class, 0 is served first.
    #[schemars(extend("default" = 0, "source" = NO_PRIORITIES))]
    pub class: u8,
    /// Rows [source, destination, size (0: endless), start].
    ///
    /// In any order; flows of the same start keep theirs.
    #[schemars(length(min = 1, max = MOST_FLOWS))]
    pub flows: Vec<(u32, u32, Bytes, Time)>,
    /// Each flow starts up to so much later, evenly drawn.
    #[schemars(extend("default" = 0, "source" = "our choice: exactly when it is written"))]
    pub spread: Time,
    /// How long each flow sends at most, with 0: to its last byte; none: all to their last bytes.
    ///
    /// A flow that stops has the size that it has sent by then, a packet at least.
    #[schemars(extend("default" = [], "source" = TO_THE_END))]
    pub lasts: Vec<Time>,
    /// Who waits for whom: rows [waiting flow, awaited flow, event]; flows are named by their rows, from 0.
    ///
    /// A flow that waits starts at its start or later. With a row here the number of each flow is its row.
    #[schemars(
        length(max = MOST_EDGES),
        extend("default" = [], "source" = "our choice: no flow waits for another")
    )]
    pub after: Vec<(u32, u32, Awaited)>,
    /// How much later each row of `after` takes effect, before `delay`; none: all at once.
    ///
    /// A flow starts `delay` after the latest of its events, each with its lag.
    #[schemars(
        length(max = MOST_EDGES),
        extend("default" = [], "source" = "our choice: at once")
    )]
    pub lag: Vec<Time>,
    /// How long after the events that a flow waits for it starts; none: at once.
    #[schemars(extend("default" = [], "source" = "our choice: at once"))]
    pub delay: Vec<Time>,
    /// For how many of its events each flow waits, 0: for all; none: all flows for all of theirs.
    ///
    /// A flow that needs one starts with the first event (htsim's triggers).
    #[schemars(extend("default" = [], "source" = "our choice: a flow waits for all"))]
    pub needed: Vec<u32>,
    /// Where each flow stands in a job: rows [iteration, step, rank]; none: the flows are no job.
    ///
    /// Iterations and steps of a job have rows of their own in the results.
    #[schemars(
        length(max = MOST_FLOWS),
        extend("default" = [], "source" = "our choice: no job")
    )]
    pub places: Vec<(u32, u32, u32)>,
    /// What the steps of a job are called, step 0 first; none: they have numbers only.
    #[schemars(
        length(max = MOST_FLOWS),
        extend("default" = [], "source" = "our choice: numbers only")
    )]
    pub steps: Vec<String>,
    /// UDP port of each flow, for the ECMP hash of fidelity ns3-hpcc; none: 0.
    #[schemars(extend("default" = [], "source" = "our choice: nothing else looks at ports"))]
    pub destination_ports: Vec<u16>,
}

/// The most flows in a list (our choice: a scenario of 128 MiB holds as many and can be read back).
const MOST_FLOWS: usize = 1 << 21;

/// The most rows of `after` (our choice: one for each flow of the longest list).
const MOST_EDGES: usize = 1 << 21;

/// What of a flow another flow waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Awaited {
    /// What the source of the waiting flow learns by itself, if it learns anything.
    ///
    /// The awaited flow is received where the waiting flow starts from its destination, otherwise
    /// acknowledged.
    Natural,
    /// The destination has the last byte.
    Received,
    /// The source has the last acknowledgement.
    Acknowledged,
    /// The source has begun.
    Started,
}

/// The flows of one entry, in time order.
pub(super) type ListedFlows = VecDeque<FlowArrival>;

impl Listed {
    /// Whether flows wait for others or are a job; then they are part of a plan ([`super::dependent`]).
    pub(crate) fn is_dependent(&self) -> bool {
        !self.after.is_empty() || self.is_job()
    }

    /// Whether the flows are a job, which has iterations and steps.
    pub(crate) fn is_job(&self) -> bool {
        !self.places.is_empty()
    }

    /// Checks the entry and sorts its flows; none when flows depend on others.
    pub(super) fn flows(&self, entry: &Entry, problems: &mut Problems) -> ListedFlows {
        problems.within(&entry.field(), |problems| self.check(entry, problems));
        if self.is_dependent() || !problems.is_sound(&entry.field()) {
            return ListedFlows::new();
        }
        let mut random = stream(entry.seed, &format!("traffic/{}/starts", entry.index));
        let mut flows = Vec::with_capacity(self.flows.len());
        for (position, &(source, destination, size, time)) in self.flows.iter().enumerate() {
            let later = unit(&mut random) * self.spread.as_ps() as f64;
            let time = time + Time::from_ps(later as u64);
            let (size, label, class) = (size.get(), entry.index, self.class);
            let destination_port = self.destination_ports.get(position).copied().unwrap_or(0);
            let lasts = self.lasts.get(position).copied().unwrap_or_default();
            flows.push(FlowArrival {
                time,
                source,
                destination,
                size,
                label,
                class,
                destination_port,
                lasts,
            });
        }
        flows.sort_by_key(|flow| flow.time);
        flows.into()
    }

    /// Checks the lists and every flow.
    fn check(&self, entry: &Entry, problems: &mut Problems) {
        let listed = self.flows.len();
        let remedy = format!("write at most {MOST_FLOWS}");
        problems.unless(listed <= MOST_FLOWS, "flows", format!("a list of {listed}"), remedy);
        let remedy = format!("write one for each of the {listed} flows, or none");
        for (field, rows) in [
            ("destination_ports", self.destination_ports.len()),
            ("lasts", self.lasts.len()),
            ("delay", self.delay.len()),
            ("needed", self.needed.len()),
            ("places", self.places.len()),
        ] {
            let (holds, value) = (rows == 0 || rows == listed, format!("a list of {rows}"));
            problems.unless(holds || listed == 0, field, value, &remedy);
        }
        let hosts = entry.topology.hosts;
        for (row, &(source, destination, ..)) in self.flows.iter().enumerate() {
            let is_sound = source != destination && source.max(destination) < hosts;
            if !is_sound && !problems.is_full() {
                let at = format!("flows[{row}][1]");
                check_host(&format!("flows[{row}][0]"), source, hosts, problems);
                check_host(&at, destination, hosts, problems);
                let remedy = "a flow from a host to itself; name two different hosts";
                problems.unless(source != destination, &at, destination, remedy);
            }
        }
        self.check_inside(entry.topology, problems);
        self.check_starts(entry.duration, problems);
        self.check_lags_and_steps(problems);
        if self.is_dependent() {
            self.check_dependent(problems);
        } else {
            let remedy = "no flow waits for another; write after what, or leave this out";
            for (field, rows) in [("delay", self.delay.len()), ("needed", self.needed.len())] {
                problems.unless(rows == 0, field, format!("a list of {rows}"), remedy);
            }
        }
    }

    /// Checks that every row of `after` has a lag, or none, and that every step of a job has a name, or none.
    fn check_lags_and_steps(&self, problems: &mut Problems) {
        let (edges, lags) = (self.after.len(), self.lag.len());
        let remedy = format!("write one for each of the {edges} rows of `after`, or none");
        let holds = lags == 0 || lags == edges;
        problems.unless(holds, "lag", format!("a list of {lags}"), remedy);
        let steps = self.steps.len();
        let remedy = "the flows are no job; write their places, or leave this out";
        let holds = steps == 0 || self.is_job();
        problems.unless(holds, "steps", format!("a list of {steps}"), remedy);
        let remedy = format!("write at most {MOST_FLOWS}");
        problems.unless(steps <= MOST_FLOWS, "steps", format!("a list of {steps}"), remedy);
        let nameless = |&(_, step, _): &(u32, u32, u32)| steps > 0 && step as usize >= steps;
        if let Some(row) = self.places.iter().position(nameless) {
            let remedy = format!("`steps` has names for 0 to {}; name more", steps - 1);
            problems.unless(false, &format!("places[{row}][1]"), self.places[row].1, remedy);
        }
        for (step, name) in self.steps.iter().enumerate() {
            check_label(&format!("steps[{step}]"), name, problems);
        }
    }

    /// Checks that flows inside servers go on to their last bytes.
    fn check_inside(&self, topology: &Topology, problems: &mut Problems) {
        let lasts = |row: usize| self.lasts.get(row).copied().unwrap_or_default();
        for (row, &(source, destination, size, _)) in self.flows.iter().enumerate() {
            if topology.inner_links(source, destination).is_none() || problems.is_full() {
                continue;
            }
            let at = format!("flows[{row}][1]");
            problems.unless(size > Bytes::ZERO, &at, destination, UNENDED_INSIDE);
            let at = format!("lasts[{row}]");
            problems.unless(lasts(row) == Time::ZERO, &at, lasts(row), UNENDED_INSIDE);
        }
    }

    /// Checks what dependent flows cannot have.
    fn check_dependent(&self, problems: &mut Problems) {
        let edges = self.after.len();
        let remedy = format!("write at most {MOST_EDGES}");
        problems.unless(edges <= MOST_EDGES, "after", format!("a list of {edges}"), remedy);
        if let Some(row) = self.flows.iter().position(|flow| flow.2 == Bytes::ZERO) {
            let remedy =
                "flows of a list with `after` or `places` have an end; list endless flows apart";
            problems.unless(false, &format!("flows[{row}][2]"), Bytes::ZERO, remedy);
        }
        let remedy =
            "flows that wait for others start exactly; leave it out, or list these flows apart";
        problems.unless(self.spread == Time::ZERO, "spread", self.spread, remedy);
        let remedy =
            "flows of a list with `after` go on to their last bytes; list the others apart";
        let value = format!("a list of {}", self.lasts.len());
        problems.unless(self.lasts.iter().all(|&time| time == Time::ZERO), "lasts", value, remedy);
    }

    /// Checks that every flow starts before the traffic ends, even with the longest delay from
    /// `spread`.
    fn check_starts(&self, duration: Time, problems: &mut Problems) {
        let starts = || self.flows.iter().map(|flow| flow.3);
        if let Some(first) = starts().position(|start| start >= duration) {
            let late = starts().filter(|start| *start >= duration).count();
            let remedy = format!(
                "it is not before the scenario's duration, {duration} ({late} such flows); start earlier, or \
                 raise duration"
            );
            problems.unless(false, &format!("flows[{first}][3]"), self.flows[first].3, remedy);
            return;
        }
        let last = starts().max().unwrap_or_default();
        let holds = last.saturating_add(self.spread) < duration || self.flows.is_empty();
        let remedy = format!(
            "the last flow is at {last} and may then start after the scenario's duration, \
             {duration}; make it \
             smaller, or raise duration"
        );
        problems.unless(holds, "spread", self.spread, remedy);
    }
}
