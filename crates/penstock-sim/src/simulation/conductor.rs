//! What is decided between windows: which flows start next, what crosses from one partition to another,
//! when the next window ends, and when the run is over.
//!
//! All that is decided here happens at the ends of windows, at times that do not depend on the number of
//! partitions. So the results do not depend on it either.

use std::ops::DerefMut;
use std::sync::Arc;

use penstock_engine::windows::Window;
use penstock_packet::Observer;
use penstock_units::{Fidelity, Time};

use crate::deadlock::DeadlockWatch;
use crate::measure::deadlock::Deadlock;
use crate::measure::flows::{FlowRecord, FlowTable};
use crate::partition::{LOOK_EVENTS, Partition, Start};
use crate::setting::Setting;
use crate::watch::Progress;
use crate::workload::{FlowArrival, Workload};

/// The most windows that a single partition takes at once (our choice: with 128 hosts a million events,
/// a tenth of a second).
const MOST_WINDOWS: u64 = 1 << 10;

/// How many steps a window must have to be shared between threads (our choice: about 5 us of one core,
/// twice what sharing costs).
const LEAST_SHARED: u64 = 64;

/// The weight of past windows in [`Conductor::recent_steps`] (our choice).
const WEIGHT: u64 = 8;

/// What is decided between windows.
pub(crate) struct Conductor {
    setting: Arc<Setting>,
    workload: Workload,
    /// The next flow that no partition knows yet.
    pending: Option<FlowArrival>,
    /// The number of the next flow. Flows of a plan have the lowest ones.
    announced: u64,
    /// The end of the window.
    pub now: Time,
    /// Whether the window has been announced, and no partition has begun it.
    pub(super) is_announced: bool,
    /// How many windows a single partition may take at once.
    stretch: u64,
    /// How many steps all partitions have made.
    steps: u64,
    /// A moving sum of the steps of the last windows, each weighing [`WEIGHT`] - 1 parts in [`WEIGHT`] of
    /// the next.
    recent_steps: u64,
    /// Looks for deadlocks, where they are possible.
    pub deadlock_watch: Option<DeadlockWatch>,
    /// The deadlock that ended the run, if any.
    pub deadlock: Option<Deadlock>,
    /// The flows that have finished.
    pub flows: FlowTable,
    /// Room for the flows that have finished in a window.
    finished: Vec<FlowRecord>,
    pub is_done: bool,
}

penstock_units::state! { Conductor {
    saved: workload, pending, announced, now, stretch, steps, recent_steps, deadlock_watch, deadlock,
        flows, is_announced, is_done;
    within: ;
    kept: setting, finished;
} }

impl Conductor {
    pub(super) fn new(
        setting: &Arc<Setting>,
        mut workload: Workload,
        deadlock_watch: Option<DeadlockWatch>,
    ) -> Self {
        Conductor {
            pending: workload.next(),
            workload,
            announced: setting.plan.count(),
            now: Time::ZERO,
            is_announced: false,
            stretch: 1,
            steps: 0,
            recent_steps: 0,
            deadlock_watch,
            deadlock: None,
            flows: FlowTable::default(),
            finished: Vec::new(),
            is_done: false,
            setting: Arc::clone(setting),
        }
    }

    /// The next window: the one that has been announced, or a new one. False when the run is over.
    pub(super) fn next<O: Observer>(
        &mut self,
        partitions: &mut [impl DerefMut<Target = Partition<O>>],
    ) -> bool {
        std::mem::take(&mut self.is_announced) || self.between(partitions)
    }

    /// A window is over, or the first one is to begin: hands over what has crossed, and opens the next
    /// window, which ends at `self.now`. False when the run is over.
    fn between<O: Observer>(
        &mut self,
        partitions: &mut [impl DerefMut<Target = Partition<O>>],
    ) -> bool {
        self.now = furthest(partitions);
        self.collect_flows(partitions);
        hand_over(partitions);
        self.look_for_deadlock(partitions);
        let end = self.setting.scenario.duration + self.setting.scenario.drain;
        if self.deadlock.is_some() || self.now >= end || self.is_over(partitions) {
            self.is_done = true;
            return false;
        }
        self.adapt(partitions);
        self.now = self.next_end(partitions).min(end);
        self.announce(partitions);
        true
    }

    /// Enters the flows that have finished in the window, in the order in which they finished.
    pub(crate) fn collect_flows<O>(
        &mut self,
        partitions: &mut [impl DerefMut<Target = Partition<O>>],
    ) {
        for partition in partitions {
            self.finished.append(&mut partition.measured.finished);
        }
        // The ns-3 HPCC simulator has an order of its own among the flows of a nanosecond.
        if self.setting.scenario.fidelity == Fidelity::Exact {
            self.finished.sort_unstable_by_key(FlowRecord::order);
        }
        self.finished.drain(..).for_each(|flow| self.flows.push(&flow));
    }

    /// Whether every flow with an end has finished and no flow is to come.
    fn is_over<O>(&self, partitions: &[impl DerefMut<Target = Partition<O>>]) -> bool {
        let sum = |count: fn(&Partition<O>) -> u64| -> u64 {
            partitions.iter().map(|partition| count(partition)).sum()
        };
        self.pending.is_none()
            && sum(|partition| partition.measured.live_finite) == 0
            && partitions
                .iter()
                .all(|one| one.starts.is_empty() && one.coming_news().next().is_none())
            && (self.now >= self.setting.scenario.duration
                || sum(|partition| partition.measured.endless) == 0)
    }

    /// A single partition takes several windows at once, because most of their ends matter to nobody: it
    /// ends them itself when a flow completes. It takes so many that progress is still told about every
    /// [`LOOK_EVENTS`] events.
    fn adapt<O>(&mut self, partitions: &[impl DerefMut<Target = Partition<O>>]) {
        let steps = partitions.iter().map(|partition| partition.measured.steps).sum();
        let made = std::mem::replace(&mut self.steps, steps).abs_diff(steps);
        self.recent_steps = self.recent_steps - self.recent_steps / WEIGHT + made;
        self.stretch = match partitions {
            [_] if made < LOOK_EVENTS / 2 => (2 * self.stretch).min(MOST_WINDOWS),
            [_] if made <= LOOK_EVENTS => self.stretch,
            _ => (self.stretch / 2).max(1),
        };
    }

    /// The next window. It is shared when the last ones had work for several threads.
    pub(super) fn window(&self) -> Window {
        let is_shared = self.recent_steps >= WEIGHT * LEAST_SHARED;
        Window { end: self.now, is_shared }
    }

    /// The end of the next window in which something happens.
    fn next_end<O: Observer>(&self, partitions: &[impl DerefMut<Target = Partition<O>>]) -> Time {
        let events = partitions.iter().filter_map(|partition| partition.earliest());
        let arrival = self.pending.map(|arrival| arrival.time);
        let look = self.deadlock_watch.as_ref().map(DeadlockWatch::due);
        let next = events.chain(arrival).chain(look).min().unwrap_or(Time::NEVER);
        let window = self.setting.window.as_ps();
        let windows = |time: Time| time.as_ps().div_ceil(window);
        let first = windows(next).max(self.now.as_ps() / window + 1);
        // The ends at which the run may be over, or the detector looks, matter.
        let duration = Some(self.setting.scenario.duration).filter(|&end| end > self.now);
        let last =
            look.into_iter().chain(duration).map(windows).min().unwrap_or(u64::MAX).max(first);
        let number = first.saturating_add(self.stretch - 1).min(last);
        Time::from_ps(number.saturating_mul(window))
    }

    /// Tells partitions of the flows that start in the window.
    fn announce<O>(&mut self, partitions: &mut [impl DerefMut<Target = Partition<O>>]) {
        while let Some(arrival) = self.pending.filter(|arrival| arrival.time <= self.now) {
            let start = Start { number: self.announced, arrival };
            let owner = |host: u32| self.setting.placement.of_node(host).0;
            let [source, destination] = [arrival.source, arrival.destination].map(owner);
            partitions[source].starts.push_back(start);
            if destination != source {
                partitions[destination].starts.push_back(start);
            }
            self.announced += 1;
            self.pending = self.workload.next();
        }
    }

    /// All flows that no partition knows yet, in the order in which they start.
    pub(crate) fn take_flows(&mut self) -> Vec<Start> {
        let mut flows = Vec::new();
        while let Some(arrival) = self.pending {
            flows.push(Start { number: self.announced, arrival });
            self.announced += 1;
            self.pending = self.workload.next();
        }
        flows
    }

    fn look_for_deadlock<O: Observer>(
        &mut self,
        partitions: &mut [impl DerefMut<Target = Partition<O>>],
    ) {
        let Some(watch) = &mut self.deadlock_watch else { return };
        if self.now >= watch.due() {
            self.deadlock = watch.look(self.now, &self.setting, partitions);
        }
    }

    pub(super) fn progress<O: Observer>(
        &self,
        partitions: &[impl DerefMut<Target = Partition<O>>],
        end: Time,
    ) -> Progress {
        let sum = |count: fn(&Partition<O>) -> u64| -> u64 {
            partitions.iter().map(|partition| count(partition)).sum()
        };
        Progress {
            now: furthest(partitions),
            end,
            events: sum(|partition| partition.measured.steps),
            flows_finished: sum(|partition| partition.measured.flows_finished),
        }
    }
}

/// The time of the partition that is furthest. A window that has been announced ends later.
fn furthest<O: Observer>(partitions: &[impl DerefMut<Target = Partition<O>>]) -> Time {
    partitions.iter().map(|one| one.now()).max().unwrap_or_default()
}

/// Puts what has left each partition before its receiver.
fn hand_over<O>(partitions: &mut [impl DerefMut<Target = Partition<O>>]) {
    for from in 0..partitions.len() {
        for to in 0..partitions.len() {
            if partitions[from].outbox[to].is_empty() {
                continue;
            }
            let mail = std::mem::take(&mut partitions[from].outbox[to]);
            let read = std::mem::replace(&mut partitions[to].inbox[from], mail);
            partitions[from].outbox[to] = read; // its memory is used again
        }
    }
}
