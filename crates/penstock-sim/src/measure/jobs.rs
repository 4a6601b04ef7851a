//! Iterations of collectives: one row each, with its time and its bandwidth.
//!
//! The bandwidths are those of NCCL's tests (NVIDIA/nccl-tests, doc/PERFORMANCE.md): the algorithm bandwidth
//! is the size over the time, and the bus bandwidth is a share of it that depends on the operation and the
//! number of ranks, so that it can be held against the rate of a link.

use std::collections::BTreeMap;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;

use super::table::{Column, Table};
use crate::workload::Plan;

/// What a partition has seen of each iteration, by traffic entry and iteration.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct JobTimes {
    iterations: BTreeMap<(u16, u32), Seen>,
}

/// What was seen of an iteration.
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

impl JobTimes {
    /// A message starts.
    pub(crate) fn on_start(&mut self, label: u16, iteration: u32, now: Time) {
        let seen = self.iterations.entry((label, iteration)).or_default();
        seen.start = seen.start.min(now);
    }

    /// A message is received.
    pub(crate) fn on_receipt(&mut self, label: u16, iteration: u32, now: Time) {
        let seen = self.iterations.entry((label, iteration)).or_default();
        seen.end = seen.end.max(now);
        seen.received += 1;
    }

    /// Adds what another partition has seen.
    pub(crate) fn add(&mut self, other: &JobTimes) {
        for (key, more) in &other.iterations {
            let seen = self.iterations.entry(*key).or_default();
            seen.start = seen.start.min(more.start);
            seen.end = seen.end.max(more.end);
            seen.received += more.received;
        }
    }

    /// The iterations that are over, in the order of entries and iterations.
    pub(crate) fn over<'a>(&'a self, plan: &'a Plan) -> impl Iterator<Item = Iteration> + 'a {
        self.iterations.iter().filter_map(move |(&(label, iteration), seen)| {
            let facts = plan.job_facts(label)?;
            let time = seen.end.saturating_sub(seen.start);
            let algorithm = facts.bytes as f64 / time.as_s_f64();
            (seen.received == facts.flows).then_some(Iteration {
                label,
                iteration,
                start: seen.start,
                time,
                bytes: facts.bytes,
                algorithm,
                bus: algorithm * facts.bus_factor,
            })
        })
    }
}

/// An iteration that is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Iteration {
    /// Index of the traffic entry.
    pub label: u16,
    /// The iteration, from 0.
    pub iteration: u32,
    /// When its first message started.
    pub start: Time,
    /// From there until its last message was received.
    pub time: Time,
    /// The largest buffer of a rank.
    pub bytes: u64,
    /// Algorithm bandwidth (bytes/s).
    pub algorithm: f64,
    /// Bus bandwidth (bytes/s).
    pub bus: f64,
}

/// The table of all iterations that are over.
pub(crate) fn table(iterations: &[Iteration]) -> Table {
    let u32s = |of: fn(&Iteration) -> u32| Column::U32(iterations.iter().map(of).collect());
    let u64s = |of: fn(&Iteration) -> u64| Column::U64(iterations.iter().map(of).collect());
    let f64s = |of: fn(&Iteration) -> f64| Column::F64(iterations.iter().map(of).collect());
    let columns = vec![
        ("label", u32s(|one| one.label.into())),
        ("iteration", u32s(|one| one.iteration)),
        ("start_ps", u64s(|one| one.start.as_ps())),
        ("time_ps", u64s(|one| one.time.as_ps())),
        ("bytes", u64s(|one| one.bytes)),
        ("algorithm_bandwidth_bps", f64s(|one| 8.0 * one.algorithm)),
        ("bus_bandwidth_bps", f64s(|one| 8.0 * one.bus)),
    ];
    Table { name: "jobs", columns }
}
