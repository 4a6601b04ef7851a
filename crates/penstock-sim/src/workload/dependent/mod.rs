//! Dependent traffic: flows that start when others finish.
//!
//! What it is: a plan, which says for every flow that others wait for, or that waits, its two hosts and
//! its size, who waits for it, and for how many events it waits (`Plan`). Lists of flows, collectives,
//! requests and bursts are patterns of this one form (`Pattern`). What it is not: this module does not
//! know what has happened in a run; that is in `partition/dependents.rs`.
//! Invariant: a flow's number, hosts and size follow from the scenario alone, not from the times at which
//! anything happens. So the flows are the same on any number of threads.
//!
//! A plan is never a list of all its flows: the flows of a collective are calculated when they are asked
//! for. 1,024 ranks make two million flows of one ring all-reduce.
//!
//! Reading order: `pattern`, this file, `graph` (flows one by one), `collective`, `closed_loop` (what
//! `rpc` and `on_off` share), `rpc`, `on_off`.

use penstock_units::{Problems, Time};

use super::TrafficConfig;

pub mod closed_loop;
pub mod collective;
mod graph;
pub mod on_off;
mod pattern;
pub mod rpc;

pub(super) use graph::{Graph, check_graph};
pub(crate) use pattern::{Edge, Event, Facts, JobPlace, Pattern, PlannedFlow, Step, Waits};

/// Flows of closed loops have numbers from here on. All others have smaller ones.
pub(crate) const FIRST_OF_LOOPS: u64 = 1 << 31;

/// Refuses sound `traffic` whose lists and collectives have more flows than there are numbers for them.
pub(super) fn check_numbers(traffic: &[TrafficConfig], hosts: u32, problems: &mut Problems) {
    let flows = Plan::new(traffic, hosts, 0).count();
    let remedy = format!(
        "its lists and collectives have {flows} flows; at most {FIRST_OF_LOOPS} are possible, take fewer \
         iterations, chunks or ranks"
    );
    let value = format!("a list of {}", traffic.len());
    problems.unless(flows <= FIRST_OF_LOOPS, "traffic", value, remedy);
}

/// The pattern of an entry.
#[derive(Clone, Debug)]
enum Kind {
    Graph(Graph),
    Collective(collective::Plan),
    Rpc(rpc::Plan),
    OnOff(on_off::Plan),
}

impl Kind {
    fn pattern(&self) -> &dyn Pattern {
        match self {
            Kind::Graph(graph) => graph,
            Kind::Collective(plan) => plan,
            Kind::Rpc(plan) => plan,
            Kind::OnOff(plan) => plan,
        }
    }

    fn is_loop(&self) -> bool {
        matches!(self, Kind::Rpc(_) | Kind::OnOff(_))
    }

    /// The pattern of `entry`, the entry number `label`; none for traffic that does not depend on anything.
    /// The entry must be sound.
    fn of(entry: &TrafficConfig, label: u16, hosts: u32, seed: u64) -> Option<Kind> {
        match entry {
            TrafficConfig::OpenLoop(_) | TrafficConfig::Incast(_) => None,
            TrafficConfig::Listed(listed) if !listed.is_dependent() => None,
            TrafficConfig::Listed(listed) => Some(Kind::Graph(Graph::new(listed))),
            TrafficConfig::Collective(collective) => {
                Some(Kind::Collective(collective::Plan::new(collective, hosts)))
            }
            TrafficConfig::Rpc(rpc) => Some(Kind::Rpc(rpc::Plan::new(rpc, (label, hosts, seed))?)),
            TrafficConfig::OnOff(on_off) => {
                Some(Kind::OnOff(on_off::Plan::new(on_off, (label, hosts, seed))?))
            }
        }
    }
}

/// An entry of the traffic whose flows depend on each other.
#[derive(Clone, Debug)]
struct Planned {
    label: u16,
    class: u8,
    /// The number of its first flow; of a closed loop, the place of its flows in a round of all loops.
    first: u64,
    kind: Kind,
}

/// All dependent traffic of a scenario.
///
/// Numbers: first all flows of lists and collectives, in the order of the entries. The flows of closed loops
/// have the numbers [`FIRST_OF_LOOPS`] + place + flows of a round * repetition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    fixed: Vec<Planned>,
    loops: Vec<Planned>,
    /// Flows of lists and collectives.
    count: u64,
    /// Flows of one round of all closed loops.
    round: u64,
}

/// A flow's entry, its number within the pattern, and what turns a number of the pattern into a number of
/// the run.
#[derive(Clone, Copy)]
struct Located<'a> {
    plan: &'a Plan,
    entry: &'a Planned,
    flow: u64,
}

impl Located<'_> {
    /// The number in the run of flow `flow` of this pattern.
    fn number(&self, flow: u64) -> u64 {
        if !self.entry.kind.is_loop() {
            return self.entry.first + flow;
        }
        let width = self.entry.kind.pattern().count();
        FIRST_OF_LOOPS + self.entry.first + flow % width + self.plan.round * (flow / width)
    }
}

impl Plan {
    /// The plan of sound `traffic` among `hosts` hosts.
    pub(crate) fn new(traffic: &[TrafficConfig], hosts: u32, seed: u64) -> Self {
        let mut plan = Plan::default();
        for (label, entry) in (0u16..).zip(traffic) {
            let Some(kind) = Kind::of(entry, label, hosts, seed) else { continue };
            let count = kind.pattern().count();
            let (list, next) = match kind.is_loop() {
                true => (&mut plan.loops, &mut plan.round),
                false => (&mut plan.fixed, &mut plan.count),
            };
            list.push(Planned { label, class: entry.class(), first: *next, kind });
            *next += count;
        }
        plan
    }

    /// Whether no flow depends on another.
    pub(crate) fn is_empty(&self) -> bool {
        self.fixed.is_empty() && self.loops.is_empty()
    }

    /// How many flows lists and collectives have. Their numbers are the first ones of the run.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Whether the flow `number` belongs to the plan.
    #[inline]
    pub(crate) fn covers(&self, number: u64) -> bool {
        number < self.count || number >= FIRST_OF_LOOPS
    }

    /// Where flow `number`, which the plan covers, belongs.
    fn locate(&self, number: u64) -> Located<'_> {
        let of = |list: &[Planned], place: u64| list.partition_point(|one| one.first <= place) - 1;
        let Some(place) = number.checked_sub(FIRST_OF_LOOPS) else {
            let entry = &self.fixed[of(&self.fixed, number)];
            return Located { plan: self, entry, flow: number - entry.first };
        };
        let (repetition, place) = (place / self.round, place % self.round);
        let entry = &self.loops[of(&self.loops, place)];
        let width = entry.kind.pattern().count();
        Located { plan: self, entry, flow: repetition * width + place - entry.first }
    }

    /// Calls `each` with the groups that wait for nothing, and when they start.
    pub(crate) fn roots(&self, mut each: impl FnMut(u64, Time)) {
        for entry in self.fixed.iter().chain(&self.loops) {
            let at = Located { plan: self, entry, flow: 0 };
            entry.kind.pattern().roots(&mut |flow, time| each(at.number(flow), time));
        }
    }

    /// Flow `number`, and the index and class of its traffic entry.
    pub(crate) fn flow(&self, number: u64) -> (PlannedFlow, u16, u8) {
        let Located { entry, flow, .. } = self.locate(number);
        (entry.kind.pattern().flow(flow), entry.label, entry.class)
    }

    /// Where flow `number` stands in its pattern.
    pub(crate) fn step(&self, number: u64) -> Step {
        let Located { entry, flow, .. } = self.locate(number);
        entry.kind.pattern().step(flow)
    }

    /// The flows of the group that begins with `first`.
    pub(crate) fn group(&self, first: u64) -> std::ops::Range<u64> {
        let Located { entry, flow, .. } = self.locate(first);
        first..first + entry.kind.pattern().group(flow)
    }

    /// For what the group that begins with `first` waits.
    pub(crate) fn waits(&self, first: u64) -> Waits {
        let Located { entry, flow, .. } = self.locate(first);
        entry.kind.pattern().waits(flow)
    }

    /// Calls `each` with everybody that waits for `event` of flow `number`.
    pub(crate) fn dependents(&self, number: u64, event: Event, mut each: impl FnMut(Edge)) {
        let at = self.locate(number);
        let each = &mut |edge: Edge| each(Edge { waiter: at.number(edge.waiter), ..edge });
        at.entry.kind.pattern().dependents(at.flow, event, each);
    }

    /// Whether it matters that flow `number` is received.
    pub(crate) fn is_receipt_awaited(&self, number: u64) -> bool {
        self.covers(number) && {
            let Located { entry, flow, .. } = self.locate(number);
            entry.kind.pattern().is_receipt_awaited(flow)
        }
    }

    /// When the group that begins with `first`, released at `time`, starts; none when its entry has stopped
    /// by then.
    pub(crate) fn start(&self, first: u64, time: Time) -> Option<Time> {
        let Located { entry, flow, .. } = self.locate(first);
        let pattern = entry.kind.pattern();
        let start = time.saturating_add(pattern.pause(flow));
        (start < pattern.stop(flow)).then_some(start)
    }

    /// Where flow `number` belongs, if it belongs to a job.
    ///
    /// The steps of a collective are not measured: 1,024 ranks take 2,046 in each iteration.
    pub(crate) fn job(&self, number: u64) -> Option<JobPlace> {
        let Located { entry, flow, .. } = self.locate(number);
        let pattern = entry.kind.pattern();
        pattern.is_job().then(|| {
            let Step { iteration, step, .. } = pattern.step(flow);
            let step = matches!(entry.kind, Kind::Graph(_)).then_some(step);
            JobPlace { label: entry.label, iteration, step }
        })
    }

    /// What is known of the iteration, or of the step, at `place` of a job.
    pub(crate) fn job_facts(&self, place: JobPlace) -> Option<Facts> {
        match &self.fixed.iter().find(|entry| entry.label == place.label)?.kind {
            Kind::Collective(plan) => Some(plan.facts()),
            Kind::Graph(graph) => Some(graph.facts(place.iteration, place.step)),
            Kind::Rpc(_) | Kind::OnOff(_) => None,
        }
    }

    /// Whether the group that begins with `first` is a request.
    pub(crate) fn is_request(&self, first: u64) -> bool {
        let Located { entry, flow, .. } = self.locate(first);
        entry.kind.pattern().is_request(flow)
    }

    /// The group before the one that begins with `first`, in the same slot of a closed loop; none for the
    /// first one, and without a loop.
    pub(crate) fn previous(&self, first: u64) -> Option<u64> {
        first
            .checked_sub(FIRST_OF_LOOPS)
            .and_then(|place| place.checked_sub(self.round).map(|place| place + FIRST_OF_LOOPS))
    }

    /// The labels of jobs, and how many iterations each has.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = (u16, u32)> {
        self.fixed.iter().filter_map(|entry| match &entry.kind {
            Kind::Collective(plan) => Some((entry.label, plan.iterations())),
            Kind::Graph(graph) if graph.is_job() => Some((entry.label, graph.iterations())),
            _ => None,
        })
    }

    /// Whether the steps of a job are measured.
    pub(crate) fn has_steps(&self) -> bool {
        self.fixed.iter().any(|entry| matches!(&entry.kind, Kind::Graph(graph) if graph.is_job()))
    }

    /// The labels of entries with requests, and for how long each entry makes requests.
    pub(crate) fn requests(&self) -> impl Iterator<Item = (u16, [Time; 2])> {
        self.loops.iter().filter_map(|entry| match &entry.kind {
            Kind::Rpc(plan) => Some((entry.label, plan.window())),
            _ => None,
        })
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
