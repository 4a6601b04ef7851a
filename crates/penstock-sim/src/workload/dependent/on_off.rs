//! Bursts: senders that send, pause, and send again.
//!
//! What it is: a closed loop. The pause of a sender begins when its last burst is acknowledged, so a network
//! that is slow gets less. What it is not: bursts at given times, which are an incast or open-loop traffic.
//!
//! A flow has the number of its sender's place, plus the number of senders times the number of the burst.

use penstock_transport::SizeShare;
use penstock_units::source::{NO_PRIORITIES, WHOLE_DURATION};
use penstock_units::{Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::closed_loop::{PauseConfig, Purpose, Streams, check_peers, pick, rounds};
use super::{Edge, Event, Pattern, PlannedFlow, Step, Waits};
use crate::label::LONGEST_LABEL;
use crate::topology::Topology;
use crate::workload::entry::Entry;
use crate::workload::hosts::{check_hosts, named};
use crate::workload::{SizeConfig, SizeDistribution, shortened};

/// Senders that send a burst, pause, and send the next one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// Name in the results.
    #[schemars(
        length(min = 1, max = LONGEST_LABEL),
        extend("default" = "on-off", "source" = "our choice: the kind")
    )]
    pub label: String,
    /// Priority class, 0 is served first.
    #[schemars(extend("default" = 0, "source" = NO_PRIORITIES))]
    pub class: u8,
    /// Hosts that send; none: all.
    #[schemars(extend("default" = [], "source" = "our choice: every host sends"))]
    pub senders: Vec<u32>,
    /// Hosts that receive, one drawn for each burst; none: all. No host sends to itself.
    #[schemars(extend("default" = [], "source" = "our choice: every host receives"))]
    pub receivers: Vec<u32>,
    /// Sizes of bursts.
    pub sizes: SizeConfig,
    /// How long a sender pauses before each burst.
    pub gaps: PauseConfig,
    /// When the first pauses begin.
    #[schemars(extend("default" = 0, "source" = WHOLE_DURATION))]
    pub start: Time,
    /// No burst starts later; none: the duration.
    ///
    /// Python writes the duration where a scenario has none.
    #[schemars(extend("default" = null, "source" = WHOLE_DURATION))]
    pub stop: Time,
}

impl OnOff {
    /// Checks the entry: hosts that exist, sizes, and that every sender has a receiver.
    pub(in crate::workload) fn check(&self, entry: &Entry, problems: &mut Problems) {
        let hosts = entry.topology.hosts;
        check_hosts("senders", &self.senders, hosts, problems);
        check_hosts("receivers", &self.receivers, hosts, problems);
        problems.value_of(self.sizes.distribution(&format!("{}.sizes", entry.field())));
        let (senders, receivers) = (named(&self.senders, hosts), named(&self.receivers, hosts));
        check_peers("receivers", (&senders, &receivers), 1, problems);
    }

    /// The flows of a sound entry, by size, as many as an idle network allows.
    pub(in crate::workload) fn expected(&self, topology: &Topology) -> Option<Vec<SizeShare>> {
        let sizes = self.sizes.distribution("sizes").ok()?;
        let span = self.stop.saturating_sub(self.start);
        let senders = named(&self.senders, topology.hosts);
        let of = |&host: &u32| rounds(topology, host, (sizes.mean(), 2.0, self.gaps), 1.0, span);
        let flows = senders.iter().map(of).sum();
        Some(sizes.points(flows).collect())
    }

    /// The entry with at most one row in each list, for a check that all rows have in common.
    pub(in crate::workload) fn shortened(&self) -> OnOff {
        OnOff {
            label: String::new(),
            senders: shortened(&self.senders),
            receivers: shortened(&self.receivers),
            sizes: self.sizes.shortened(),
            ..*self
        }
    }
}

/// Bursts that were checked.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    senders: Vec<u32>,
    receivers: Vec<u32>,
    sizes: SizeDistribution,
    gaps: PauseConfig,
    start: Time,
    stop: Time,
    streams: Streams,
}

impl Plan {
    /// The plan of a sound entry, with its label, the number of hosts and the seed.
    pub(super) fn new(entry: &OnOff, (label, hosts, seed): (u16, u32, u64)) -> Option<Self> {
        Some(Plan {
            senders: named(&entry.senders, hosts),
            receivers: named(&entry.receivers, hosts),
            sizes: entry.sizes.distribution("sizes").ok()?,
            gaps: entry.gaps,
            start: entry.start,
            stop: entry.stop,
            streams: Streams::new(seed, label),
        })
    }

    /// The slot and the number of the round of `flow`.
    fn split(&self, flow: u64) -> [u64; 2] {
        [flow % self.count(), flow / self.count()]
    }
}

impl Pattern for Plan {
    fn count(&self) -> u64 {
        self.senders.len() as u64
    }

    fn roots(&self, each: &mut dyn FnMut(u64, Time)) {
        for slot in 0..self.count() {
            let start = self.start.saturating_add(self.pause(slot));
            if start < self.stop {
                each(slot, start);
            }
        }
    }

    fn flow(&self, flow: u64) -> PlannedFlow {
        let [slot, round] = self.split(flow);
        let source = self.senders[slot as usize];
        let mut peers = self.streams.of(slot, round, Purpose::Peers);
        let destination = pick(&self.receivers, source, 0, &mut peers);
        let size = self.sizes.draw(&mut self.streams.of(slot, round, Purpose::Size(0)));
        PlannedFlow { source, destination, size }
    }

    fn step(&self, flow: u64) -> Step {
        let [slot, round] = self.split(flow);
        Step { iteration: round as u32, step: 0, rank: slot as u32 }
    }

    fn waits(&self, _: u64) -> Waits {
        Waits::all(1)
    }

    fn dependents(&self, flow: u64, event: Event, each: &mut dyn FnMut(Edge)) {
        if event == Event::Acknowledged {
            each(Edge::after(flow + self.count(), Time::ZERO));
        }
    }

    fn is_receipt_awaited(&self, _: u64) -> bool {
        false
    }

    fn pause(&self, first: u64) -> Time {
        let [slot, round] = self.split(first);
        self.gaps.draw(&mut self.streams.of(slot, round, Purpose::Pause))
    }

    fn stop(&self, _: u64) -> Time {
        self.stop
    }
}
