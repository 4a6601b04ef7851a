//! What a summary says of dependent traffic: jobs, requests, and flows that wait still.

use std::collections::BTreeMap;

use penstock_packet::Observer;
use penstock_units::Time;
use serde::Serialize;

use super::{Delay, NAMED_UNFINISHED};
use crate::measure::jobs::Part;
use crate::measure::summary::Measurements;
use crate::partition::Partition;
use crate::partition::dependents::News;
use crate::setting::Setting;
use crate::workload::{Event, Plan, TrafficConfig};

/// Dependent traffic of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Applications {
    /// Flows of lists and collectives that wait, or that others wait for.
    pub planned_flows: u64,
    /// Of these, how many have not started.
    pub not_started: u64,
    /// The first flows that wait for flows which have started, or for their delays.
    pub waiting: Vec<Waiting>,
    /// Collectives and other jobs, by traffic entry.
    pub jobs: BTreeMap<String, Job>,
    /// Requests, by traffic entry.
    pub requests: BTreeMap<String, Requests>,
}

/// A flow that has not started.
#[derive(Clone, Debug, Serialize)]
pub struct Waiting {
    /// Its number.
    pub flow: u64,
    /// Sending host.
    pub src: u32,
    /// Receiving host.
    pub dst: u32,
    /// What the flow waits for, in words.
    pub waits_for: String,
}

/// A collective, or another job.
#[derive(Clone, Debug, Serialize)]
pub struct Job {
    /// Iterations that the scenario asks for.
    pub iterations: u32,
    /// Iterations that are over.
    pub finished: u64,
    /// From the start of the first iteration to the end of the last one that is over (ns).
    pub completion_ns: f64,
    /// Mean time of an iteration (ns).
    pub mean_ns: f64,
    /// Shortest time of an iteration (ns).
    pub least_ns: f64,
    /// Longest time of an iteration (ns).
    pub most_ns: f64,
    /// Mean algorithm bandwidth of the iterations (bit/s); none where the job is no collective.
    pub algorithm_bandwidth_bps: Option<f64>,
    /// Mean bus bandwidth of the iterations (bit/s); none where the job is no collective.
    pub bus_bandwidth_bps: Option<f64>,
    /// What the steps of the job are called, step 0 first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
}

/// The requests of an entry.
#[derive(Clone, Debug, Serialize)]
pub struct Requests {
    /// Requests that were answered per second, while clients ask.
    pub rate_per_s: f64,
    /// Latency of the requests that were answered (ns).
    pub latency_ns: Delay,
}

/// The summary of dependent traffic; none where no flow depends on another.
pub(super) fn applications<O: Observer>(
    now: Time,
    setting: &Setting,
    partitions: &[Partition<O>],
) -> Option<Applications> {
    let plan = &setting.plan;
    let started: u64 = partitions.iter().map(|one| one.dependents.started).sum();
    (!plan.is_empty()).then(|| Applications {
        planned_flows: plan.count(),
        not_started: plan.count() - started,
        waiting: waiting(now, plan, partitions),
        ..Applications::default()
    })
}

/// The first flows that wait: for their delays, or for flows that have not finished.
fn waiting<O: Observer>(now: Time, plan: &Plan, partitions: &[Partition<O>]) -> Vec<Waiting> {
    let mut found: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let mut coming: Vec<&News> = partitions.iter().flat_map(|one| one.coming_news()).collect();
    coming.sort_unstable();
    for news in coming {
        let words = match news.awaited {
            Some(flow) => format!("its delay after flow {flow}, until {}", news.time),
            None => format!("its start at {}", news.time.max(now)),
        };
        found.entry(news.waiter).or_default().push(words);
    }
    let sending = partitions.iter().flat_map(|one| one.slots.sending());
    let inside = partitions.iter().flat_map(|one| one.inner.sending());
    let inside = inside.map(|transfer| transfer.number());
    let mut running: Vec<u64> = sending.map(|(_, flow)| flow.number).chain(inside).collect();
    running.sort_unstable();
    for number in running.into_iter().filter(|&number| plan.covers(number)) {
        for event in [Event::Received, Event::Acknowledged] {
            plan.dependents(number, event, |edge| {
                let words = format!("flow {number} to be {}", event.words());
                found.entry(edge.waiter).or_default().push(words);
            });
        }
        if found.len() > 2 * NAMED_UNFINISHED {
            break;
        }
    }
    let named = found.into_iter().take(NAMED_UNFINISHED).map(|(first, words)| {
        let (flow, ..) = plan.flow(first);
        Waiting {
            flow: first,
            src: flow.source,
            dst: flow.destination,
            waits_for: words.join(", "),
        }
    });
    named.collect()
}

/// Adds what was measured of jobs and requests until `now`.
pub(super) fn add_measured(
    applications: &mut Applications,
    (setting, now): (&Setting, Time),
    all: &Measurements,
    iterations: &[Part],
) {
    let label = |label: u16| setting.scenario.traffic[usize::from(label)].label().to_owned();
    for (entry, asked) in setting.plan.jobs() {
        let own: Vec<&Part> = iterations.iter().filter(|one| one.place.label == entry).collect();
        let job = match &setting.scenario.traffic[usize::from(entry)] {
            TrafficConfig::Listed(listed) => Job {
                algorithm_bandwidth_bps: None,
                bus_bandwidth_bps: None,
                steps: listed.steps.clone(),
                ..job(asked, &own)
            },
            _ => job(asked, &own),
        };
        applications.jobs.insert(label(entry), job);
    }
    for (entry, [start, stop]) in setting.plan.requests() {
        let histogram = &all.requests.latencies[usize::from(entry)];
        let span = stop.min(now).saturating_sub(start).as_s_f64();
        let rate = histogram.count() as f64 / span;
        let requests = Requests {
            rate_per_s: if span > 0.0 { rate } else { 0.0 },
            latency_ns: Delay::of(histogram),
        };
        applications.requests.insert(label(entry), requests);
    }
}

fn job(asked: u32, own: &[&Part]) -> Job {
    let mean =
        |of: fn(&Part) -> f64| own.iter().map(|one| of(one)).sum::<f64>() / own.len().max(1) as f64;
    let times = || own.iter().map(|one| one.time.as_ns_f64());
    let end = own.iter().map(|one| one.start + one.time).max().unwrap_or_default();
    let start = own.iter().map(|one| one.start).min().unwrap_or_default();
    Job {
        iterations: asked,
        finished: own.len() as u64,
        completion_ns: end.saturating_sub(start).as_ns_f64(),
        mean_ns: mean(|one| one.time.as_ns_f64()),
        least_ns: times().reduce(f64::min).unwrap_or(0.0),
        most_ns: times().reduce(f64::max).unwrap_or(0.0),
        algorithm_bandwidth_bps: Some(mean(|one| one.algorithm_bps().unwrap_or(0.0))),
        bus_bandwidth_bps: Some(mean(|one| one.bus_bps().unwrap_or(0.0))),
        steps: vec![],
    }
}
