//! Time must pass: a run whose time stands still is ended, and the error names the sources that
//! keep it still.

use std::collections::BTreeMap;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_engine::SourceId;
use penstock_packet::Observer;
use penstock_units::Time;

use super::Partition;
use super::clock::Sources;
use crate::error::StandstillError;

/// Events between two looks at the clock (our choice: a few milliseconds of work, as between two
/// reports of progress, so that a look costs nothing).
pub(crate) const LOOK_EVENTS: u64 = 1 << 15;

/// Time stands still after this many events for each source without progress (our choice: a source
/// has one pending event, and no known burst at one instant is more than a few events of each
/// source).
const STILL_EVENTS_PER_SOURCE: u64 = 1_000;

/// The most sources that the error names (our choice: the error stays readable).
const NAMED: usize = 8;

/// The time at which the clock was last seen to move.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(super) struct ClockWatch {
    time: Time,
    /// How many events had happened by then.
    events: u64,
}

impl<O: Observer> Partition<O> {
    /// Processes up to `events` events of the window; true when the window is over.
    ///
    /// # Errors
    /// When time stands still.
    pub(crate) fn advance(&mut self, events: u64) -> Result<bool, StandstillError> {
        let mut left = events;
        while left > 0 {
            let batch = left.min(LOOK_EVENTS);
            let until = self.measured.steps + batch;
            while self.measured.steps < until {
                if self.step().is_none() {
                    return Ok(true);
                }
            }
            left -= batch;
            self.watch_clock()?;
        }
        Ok(false)
    }

    /// Checks that time passes.
    ///
    /// # Errors
    /// When time has stood still for [`STILL_EVENTS_PER_SOURCE`] events for each source.
    #[cold]
    #[inline(never)]
    fn watch_clock(&mut self) -> Result<(), StandstillError> {
        let (time, events) = (self.now(), self.measured.steps);
        if time != self.clock_watch.time {
            self.clock_watch = ClockWatch { time, events };
        }
        let still = events - self.clock_watch.events;
        let sources = self.wheel.sources() as u64;
        if still < STILL_EVENTS_PER_SOURCE * sources {
            return Ok(());
        }
        let Some(sources) = self.name_keepers(2 * sources) else { return Ok(()) };
        Err(StandstillError { time, events: still, sources })
    }

    /// The sources that fire more than once in the next `events` events, most often first. None
    /// when time passes in these events, or the window ends.
    fn name_keepers(&mut self, events: u64) -> Option<String> {
        let time = self.now();
        let mut fired = BTreeMap::<SourceId, u64>::new();
        for _ in 0..events {
            *fired.entry(self.step_alone()?).or_default() += 1;
        }
        if self.now() != time {
            return None;
        }
        let mut keepers: Vec<_> = fired.into_iter().filter(|&(_, times)| times > 1).collect();
        keepers.sort_by_key(|&(source, times)| (std::cmp::Reverse(times), source));
        let rest = keepers.len().saturating_sub(NAMED);
        let mut names: Vec<String> =
            keepers.iter().take(NAMED).map(|&(source, _)| self.source_name(source)).collect();
        if rest > 0 {
            names.push(format!("{rest} more"));
        }
        Some(names.join(", "))
    }

    /// The name of an event source, in words.
    fn source_name(&self, source: SourceId) -> String {
        let (sources, topology) = (self.sources, &self.setting.topology);
        let link = |first: SourceId| topology.link_name(self.link(source - first));
        let named = |number: u32| &topology.nodes[number as usize].name;
        let node = |place: u32| named(self.node(place));
        if source < sources.transmission(0) {
            format!("arrivals on link {}", link(0))
        } else if source < sources.host(0) {
            format!("transmissions on link {}", link(sources.transmission(0)))
        } else if source < sources.release(0) {
            format!("the timer of host {}", node(source - sources.host(0)))
        } else if source < sources.switch(0) {
            format!("ends of pauses of link {}", link(sources.release(0)))
        } else if source < sources.switch(sources.switches) {
            format!("the clock of switch {}", node(source - sources.switch(0) + sources.hosts))
        } else if source < sources.receiver(1) {
            match sources.kind(source) {
                Ok(clock) => format!("the clock of {}", clock.purpose()),
                Err(switch) => format!("what switch {} repeats", node(switch + sources.hosts)),
            }
        } else {
            let flow = &self.slots.flows[Sources::flow(source - sources.receiver(1)) as usize];
            let (from, to) = (named(flow.source), named(flow.destination));
            format!("the timer of flow {} from {from} to {to}", flow.number)
        }
    }
}

#[cfg(test)]
#[path = "standstill_tests.rs"]
mod tests;
