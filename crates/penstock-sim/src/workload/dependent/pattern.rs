//! What every pattern of dependent flows says of its flows: which they are, who waits for whom, and for
//! what.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;

/// What of a flow others wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(BorshSerialize, BorshDeserialize)]
pub(crate) enum Event {
    /// The destination has the last byte.
    Received,
    /// The source has the last acknowledgement.
    Acknowledged,
    /// The source has begun.
    Started,
}

impl Event {
    /// The event in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Event::Received => "received",
            Event::Acknowledged => "acknowledged",
            Event::Started => "started",
        }
    }
}

/// A flow of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlannedFlow {
    /// The sending host.
    pub source: u32,
    /// The receiving host.
    pub destination: u32,
    /// Payload (bytes); 0 = endless.
    pub size: u64,
}

/// Where a flow stands in its pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// The repetition of the pattern: iteration of a collective, number of a request.
    pub iteration: u32,
    /// The step within the repetition.
    pub step: u32,
    /// Who sends: the rank of a collective, the client's place of a request, else the source host.
    pub rank: u32,
}

/// The iteration of a job, or one of its steps, to which a flow belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[derive(BorshSerialize, BorshDeserialize)]
pub(crate) struct JobPlace {
    /// Index of the traffic entry.
    pub label: u16,
    /// The iteration.
    pub iteration: u32,
    /// The step; none for the iteration as a whole, and where the steps of a job are not measured.
    pub step: Option<u32>,
}

/// What is known of an iteration of a job, or of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Facts {
    /// Its flows.
    pub flows: u64,
    /// Of a collective, the largest buffer of a rank; else what all its flows carry (bytes).
    pub bytes: u64,
    /// The bus bandwidth, over the algorithm bandwidth; none where the job is no collective.
    pub bus_factor: Option<f64>,
}

/// Somebody waits for an event of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    /// The first of the flows that wait together.
    pub waiter: u64,
    /// How long after the event the waiter takes notice of it.
    pub delay: Time,
    /// The waiter takes no notice earlier.
    pub earliest: Time,
}

impl Edge {
    /// An edge to `waiter` that takes effect `delay` after the event.
    pub(super) fn after(waiter: u64, delay: Time) -> Self {
        Edge { waiter, delay, earliest: Time::ZERO }
    }
}

/// For how many events a group of flows waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waits {
    /// The group starts with so many of them, 1 or more.
    pub needed: u32,
    /// Edges that lead to the group.
    pub all: u32,
}

impl Waits {
    /// A group that waits for all of `count` events.
    pub(super) fn all(count: u64) -> Self {
        Waits { needed: count as u32, all: count as u32 }
    }
}

/// The flows of a traffic entry, numbered from 0, and how they depend on each other.
///
/// Flows that start together from one host are a group. The first of them stands for the group.
pub(crate) trait Pattern {
    /// How many flows there are; of a closed loop, in one round of all its slots.
    fn count(&self) -> u64;

    /// Calls `each` with the groups that wait for nothing, and when they start.
    fn roots(&self, each: &mut dyn FnMut(u64, Time));

    /// Flow `flow`.
    fn flow(&self, flow: u64) -> PlannedFlow;

    /// Where flow `flow` stands.
    fn step(&self, flow: u64) -> Step;

    /// How many flows the group that begins with `first` has.
    fn group(&self, _first: u64) -> u64 {
        1
    }

    /// For what the group that begins with `first` waits. Only for groups that wait.
    fn waits(&self, first: u64) -> Waits;

    /// Calls `each` with everybody that waits for `event` of `flow`.
    fn dependents(&self, flow: u64, event: Event, each: &mut dyn FnMut(Edge));

    /// Whether it matters that `flow` is received.
    fn is_receipt_awaited(&self, _flow: u64) -> bool {
        true
    }

    /// How much longer the group that begins with `first` waits when it was released.
    fn pause(&self, _first: u64) -> Time {
        Time::ZERO
    }

    /// The group that begins with `first` starts before this time, or not at all.
    fn stop(&self, _first: u64) -> Time {
        Time::NEVER
    }

    /// Whether the entry is a job, which has iterations that end.
    fn is_job(&self) -> bool {
        false
    }

    /// Whether the group that begins with `first` is a request, whose answers are awaited by the next one.
    fn is_request(&self, _first: u64) -> bool {
        false
    }
}
