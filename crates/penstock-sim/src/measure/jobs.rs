//! Iterations of jobs: one row each, with its time and, of a collective, its bandwidth; and the steps of jobs
//! that a list gives flow by flow.
//!
//! The bandwidths are those of NCCL's tests (NVIDIA/nccl-tests, doc/PERFORMANCE.md): the algorithm bandwidth
//! is the size over the time, and the bus bandwidth is a share of it that depends on the operation and the
//! number of ranks, so that it can be held against the rate of a link. A list of flows is no operation of
//! NCCL, so its iterations have none.

use std::collections::BTreeMap;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;

use super::table::{Column, Table};
use crate::workload::{Facts, JobPlace, Plan};

/// What a partition has seen of each iteration, and of each step that is measured.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct JobTimes {
    places: BTreeMap<JobPlace, Seen>,
}

/// What was seen of an iteration or a step.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct Seen {
    /// When the first message started.
    start: Time,
    /// When the last message so far was received.
    end: Time,
    /// Messages received.
    received: u64,
}

impl Default for Seen {
    fn default() -> Self {
        Seen { start: Time::NEVER, end: Time::ZERO, received: 0 }
    }
}

/// The iteration of a flow's `place`, and the step if it is measured.
fn parts(place: JobPlace) -> impl Iterator<Item = JobPlace> {
    let step = place.step.map(|_| place);
    std::iter::once(JobPlace { step: None, ..place }).chain(step)
}

impl JobTimes {
    /// A message starts.
    pub(crate) fn on_start(&mut self, place: JobPlace, now: Time) {
        for part in parts(place) {
            let seen = self.places.entry(part).or_default();
            seen.start = seen.start.min(now);
        }
    }

    /// A message is received.
    pub(crate) fn on_receipt(&mut self, place: JobPlace, now: Time) {
        for part in parts(place) {
            let seen = self.places.entry(part).or_default();
            seen.end = seen.end.max(now);
            seen.received += 1;
        }
    }

    /// Adds what another partition has seen.
    pub(crate) fn add(&mut self, other: &JobTimes) {
        for (place, more) in &other.places {
            let seen = self.places.entry(*place).or_default();
            seen.start = seen.start.min(more.start);
            seen.end = seen.end.max(more.end);
            seen.received += more.received;
        }
    }

    /// The iterations that are over, or the measured steps, in the order of entries, iterations and steps.
    fn over<'a>(&'a self, plan: &'a Plan, is_step: bool) -> impl Iterator<Item = Part> + 'a {
        let places = self.places.iter().filter(move |(place, _)| place.step.is_some() == is_step);
        places.filter_map(move |(&place, seen)| {
            let facts = plan.job_facts(place)?;
            let time = seen.end.saturating_sub(seen.start);
            let Facts { flows, bytes, bus_factor } = facts;
            let part = Part { place, start: seen.start, time, flows, bytes, bus_factor };
            (seen.received == flows).then_some(part)
        })
    }

    /// The iterations that are over, in the order of entries and iterations.
    pub(crate) fn iterations(&self, plan: &Plan) -> Vec<Part> {
        self.over(plan, false).collect()
    }

    /// The table of all steps that are over.
    pub(crate) fn steps(&self, plan: &Plan) -> Table {
        let steps: Vec<Part> = self.over(plan, true).collect();
        let mut columns = columns(&steps);
        let numbers = steps.iter().map(|one| one.place.step.unwrap_or(0));
        columns.insert(2, ("step", Column::U32(numbers.collect())));
        columns.push(("flows", Column::U64(steps.iter().map(|one| one.flows).collect())));
        Table { name: "steps", columns }
    }
}

/// An iteration or a step that is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// Where it is.
    pub place: JobPlace,
    /// When its first message started.
    pub start: Time,
    /// From there until its last message was received.
    pub time: Time,
    /// Its messages.
    flows: u64,
    /// Of a collective, the largest buffer of a rank; else what all messages carry (bytes).
    bytes: u64,
    /// The bus bandwidth, over the algorithm bandwidth; none where the job is no collective.
    bus_factor: Option<f64>,
}

impl Part {
    /// Algorithm bandwidth (bit/s); none where the job is no collective.
    pub(crate) fn algorithm_bps(&self) -> Option<f64> {
        self.bus_factor.map(|_| 8.0 * (self.bytes as f64 / self.time.as_s_f64()))
    }

    /// Bus bandwidth (bit/s); none where the job is no collective.
    pub(crate) fn bus_bps(&self) -> Option<f64> {
        self.bus_factor.map(|factor| 8.0 * (self.bytes as f64 / self.time.as_s_f64() * factor))
    }
}

/// What the tables of iterations and of steps have in common.
fn columns(parts: &[Part]) -> Vec<(&'static str, Column)> {
    let u32s = |of: fn(&Part) -> u32| Column::U32(parts.iter().map(of).collect());
    let u64s = |of: fn(&Part) -> u64| Column::U64(parts.iter().map(of).collect());
    vec![
        ("label", u32s(|one| one.place.label.into())),
        ("iteration", u32s(|one| one.place.iteration)),
        ("start_ps", u64s(|one| one.start.as_ps())),
        ("time_ps", u64s(|one| one.time.as_ps())),
        ("bytes", u64s(|one| one.bytes)),
    ]
}

/// The table of all iterations that are over.
pub(crate) fn table(iterations: &[Part]) -> Table {
    let f64s = |of: fn(&Part) -> Option<f64>| {
        Column::F64(iterations.iter().map(|one| of(one).unwrap_or(f64::NAN)).collect())
    };
    let mut columns = columns(iterations);
    columns.push(("algorithm_bandwidth_bps", f64s(Part::algorithm_bps)));
    columns.push(("bus_bandwidth_bps", f64s(Part::bus_bps)));
    Table { name: "jobs", columns }
}
