//! Collective operations of parallel programs: all-reduce, all-gather, reduce-scatter, all-to-all.
//!
//! What it is: which rank sends how much to which rank, and what each message waits for. What it is not: the
//! computation; between two iterations a rank waits for a given time. Invariant: a rank sends a message
//! only when it has received everything that the message is made of.
//!
//! Sources. Ring: P. Patarasuk, X. Yuan, Bandwidth optimal all-reduce algorithms for clusters of
//! workstations, JPDC 2009. Halving and doubling: R. Thakur, R. Rabenseifner, W. Gropp, Optimization of
//! collective communication operations in MPICH, IJHPCA 2005. Sizes and bandwidths are those of NCCL's tests
//! (NVIDIA/nccl-tests, doc/PERFORMANCE.md).

use penstock_units::source::NO_PRIORITIES;
use penstock_units::{Bytes, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Edge, Event, Facts, Pattern, PlannedFlow, Step, Waits};
use crate::label::LONGEST_LABEL;
use crate::topology::InnerLinks;
use crate::workload::entry::Entry;
use crate::workload::expected::ExpectedFlows;
use crate::workload::hosts::check_hosts;
use crate::workload::{shortened, size};

mod all_to_all;
mod steps;
mod tree;

use all_to_all::AllToAll;
use steps::Steps;
use tree::Tree;

/// The most flows of one collective (our choice: 2^31 numbers are for all of them, and no run simulates so
/// many).
const MOST_FLOWS: u64 = 1 << 30;

/// The most chunks (our choice: NCCL cuts a buffer into pieces of 0.5 MB, so this is 2 GB).
const MOST_CHUNKS: u32 = 4_096;

/// The most iterations (our choice: each is a row of a table).
const MOST_ITERATIONS: u32 = 1_000_000;

/// A collective operation of ranks, again and again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Collective {
    /// Name in the results.
    #[schemars(
        length(min = 1, max = LONGEST_LABEL),
        extend("default" = "collective", "source" = "our choice: the kind")
    )]
    pub label: String,
    /// Priority class, 0 is served first.
    #[schemars(extend("default" = 0, "source" = NO_PRIORITIES))]
    pub class: u8,
    /// Which operation, and by which algorithm.
    pub operation: Operation,
    /// The hosts, rank 0 first; none: all, in order.
    #[schemars(extend("default" = [], "source" = "our choice: every host is a rank"))]
    pub ranks: Vec<u32>,
    /// The largest buffer of a rank: the size in NCCL's tests.
    #[schemars(range(min = 1))]
    pub bytes: Bytes,
    /// The buffer is cut into so many equal parts, which need not wait for each other.
    #[schemars(
        range(min = 1, max = MOST_CHUNKS),
        extend("default" = 1, "source" = "our choice: the algorithms of the papers")
    )]
    pub chunks: u32,
    /// To how many others a rank sends at a time; only of all-to-all.
    #[schemars(range(min = 1), extend("default" = 1, "source" = "our choice: one after the other"))]
    pub peers: u32,
    /// How often the operation is done.
    #[schemars(
        range(min = 1, max = MOST_ITERATIONS),
        extend("default" = 1, "source" = "our choice: once")
    )]
    pub iterations: u32,
    /// How long a rank computes when it has its result, before its next iteration.
    #[schemars(extend("default" = 0, "source" = "our choice: communication alone"))]
    pub gap: Time,
    /// When all ranks begin.
    #[schemars(extend("default" = 0, "source" = "our choice: with the run"))]
    pub start: Time,
}

/// A collective operation, and its algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// All-reduce on a ring of the ranks: reduce-scatter, then all-gather.
    RingAllReduce,
    /// All-reduce on a binary tree: up to rank 0, and down again.
    TreeAllReduce,
    /// All-reduce by recursive halving and doubling, of 2, 4, 8, … ranks.
    HalvingDoublingAllReduce,
    /// All-gather on a ring.
    AllGather,
    /// Reduce-scatter on a ring.
    ReduceScatter,
    /// Every rank sends a part of its buffer to every other.
    AllToAll,
}

/// The ranks, and the parts of their buffers.
#[derive(Clone, Debug)]
struct Group {
    ranks: Vec<u32>,
    bytes: u64,
    chunks: u64,
    iterations: u64,
    gap: Time,
}

impl Group {
    fn ranks(&self) -> u64 {
        self.ranks.len() as u64
    }

    /// Where part `part` of `parts` equal parts of the buffer begins; the parts differ by a byte at most.
    fn offset(&self, part: u64, parts: u64) -> u64 {
        (u128::from(self.bytes) * u128::from(part) / u128::from(parts)) as u64
    }

    /// The bytes of chunk `chunk` of a message of `bytes`.
    fn chunk(&self, bytes: u64, chunk: u64) -> u64 {
        let offset =
            |chunk| (u128::from(bytes) * u128::from(chunk) / u128::from(self.chunks)) as u64;
        offset(chunk + 1) - offset(chunk)
    }
}

/// One of the algorithms.
trait Algorithm {
    /// Flows of one iteration.
    fn flows(&self, group: &Group) -> u64;

    /// Flow `flow` of an iteration: sending rank, receiving rank, bytes, step.
    fn message(&self, group: &Group, flow: u64) -> (u64, u64, u64, u32);

    /// Calls `each` with the flows of an iteration with which ranks begin.
    fn first(&self, group: &Group, each: &mut dyn FnMut(u64));

    /// How many flows the group that begins with `flow` has.
    fn group(&self, group: &Group, flow: u64) -> u64;

    /// For how many events of its own iteration `flow` waits, and for how many of the iteration before.
    fn waits(&self, group: &Group, flow: u64) -> (u64, u64);

    /// Calls `each` with the flows that wait for `event` of `flow`, and whether they belong to the next
    /// iteration.
    fn dependents(&self, group: &Group, flow: u64, event: Event, each: &mut dyn FnMut(u64, bool));
}

/// A collective that was checked.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    group: Group,
    algorithm: Chosen,
    /// Flows of one iteration.
    flows: u64,
    start: Time,
    bus_factor: f64,
}

#[derive(Clone, Debug)]
enum Chosen {
    Steps(Steps),
    Tree(Tree),
    AllToAll(AllToAll),
}

impl Chosen {
    fn algorithm(&self) -> &dyn Algorithm {
        match self {
            Chosen::Steps(steps) => steps,
            Chosen::Tree(tree) => tree,
            Chosen::AllToAll(all_to_all) => all_to_all,
        }
    }
}

impl Collective {
    /// Checks the entry: hosts that exist, enough bytes, an algorithm that fits the number of ranks.
    pub(in crate::workload) fn check(&self, entry: &Entry, problems: &mut Problems) {
        check_hosts("ranks", &self.ranks, entry.topology.hosts, problems);
        let remedy = format!(
            "it is not before the scenario's duration, {}; start earlier, or raise duration",
            entry.duration
        );
        problems.unless(self.start < entry.duration, "start", self.start, remedy);
        let ranks = self.count(entry.topology.hosts);
        let remedy = "a collective needs two ranks; name more hosts";
        problems.unless(ranks >= 2, "ranks", format!("a list of {ranks}"), remedy);
        let is_power = u64::from(ranks).is_power_of_two();
        let remedy =
            "halving and doubling needs 2, 4, 8, … ranks; name as many, or take another algorithm";
        let holds = self.operation != Operation::HalvingDoublingAllReduce || is_power;
        problems.unless(holds, "ranks", format!("a list of {ranks}"), remedy);
        let is_all_to_all = self.operation == Operation::AllToAll;
        let remedy = "only an all-to-all sends to several at a time; leave it out";
        problems.unless(is_all_to_all || self.peers == 1, "peers", self.peers, remedy);
        let remedy = "an all-to-all has a message for each pair, which is not cut; leave it out";
        problems.unless(!is_all_to_all || self.chunks == 1, "chunks", self.chunks, remedy);
        let parts = match self.operation {
            Operation::TreeAllReduce => u64::from(self.chunks),
            _ => u64::from(self.chunks) * u64::from(ranks),
        };
        let remedy =
            format!("it is cut into {parts} parts, and each has a byte at least; make it larger");
        // A size of zero is refused elsewhere.
        let holds = self.bytes.get() >= parts || self.bytes == Bytes::ZERO;
        problems.unless(holds, "bytes", self.bytes, remedy);
        let holds = self.bytes.get() <= size::MOST;
        problems.unless(holds, "bytes", self.bytes, size::write_at_most());
        if problems.is_sound(&entry.field()) {
            let flows = Plan::new(self, entry.topology.hosts).count();
            let remedy = format!(
                "the collective has {flows} flows; at most {MOST_FLOWS} are possible, take fewer iterations, \
                 chunks or ranks"
            );
            problems.unless(flows <= MOST_FLOWS, "iterations", self.iterations, remedy);
        }
    }

    /// The number of ranks among `hosts` hosts.
    fn count(&self, hosts: u32) -> u32 {
        if self.ranks.is_empty() { hosts } else { self.ranks.len() as u32 }
    }

    /// The entry with at most one rank, for a check that all ranks have in common.
    pub(in crate::workload) fn shortened(&self) -> Collective {
        Collective { label: String::new(), ranks: shortened(&self.ranks), ..*self }
    }

    /// The flows of a sound entry among `hosts` hosts, with these links inside servers. Messages of one
    /// iteration that differ by a byte are counted alike.
    pub(in crate::workload) fn expected(
        &self,
        hosts: u32,
        links: Option<InnerLinks>,
    ) -> ExpectedFlows {
        let plan = Plan::new(self, hosts);
        let iterations = f64::from(self.iterations);
        let mut found: Vec<(u64, bool, f64)> = Vec::new();
        let mut add = |size: u64, is_inside: bool, flows: f64| match found
            .iter_mut()
            .find(|one| (one.0, one.1) == (size, is_inside))
        {
            Some(same) => same.2 += flows,
            None => found.push((size, is_inside, flows)),
        };
        // A stride with a divisor of the number of ranks would look at a few ranks only, perhaps at none that
        // sends to another server.
        let least = plan.flows.div_ceil(MOST_SAMPLES).max(1);
        let ranks = plan.group.ranks.len() as u64;
        let step = (least..).find(|&step| step == 1 || gcd(step, ranks) == 1).unwrap_or(least);
        let sampled = plan.flows.div_ceil(step) as f64;
        for flow in (0..plan.flows).step_by(step as usize) {
            let PlannedFlow { source, destination, size } = plan.flow(flow);
            let is_inside = links.is_some_and(|links| links.join(source, destination));
            add(size, is_inside, iterations * plan.flows as f64 / sampled);
        }
        let mut expected = ExpectedFlows::default();
        found.iter().for_each(|&(size, is_inside, flows)| expected.add(size, flows, is_inside));
        expected
    }
}

/// So many messages of an iteration are looked at to estimate the sizes of all (our choice: a millisecond).
const MOST_SAMPLES: u64 = 1 << 14;

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Plan {
    /// The plan of a sound entry among `hosts` hosts.
    pub(crate) fn new(entry: &Collective, hosts: u32) -> Self {
        let ranks: Vec<u32> =
            if entry.ranks.is_empty() { (0..hosts).collect() } else { entry.ranks.clone() };
        let n = ranks.len() as f64;
        let group = Group {
            ranks,
            bytes: entry.bytes.get(),
            chunks: entry.chunks.into(),
            iterations: entry.iterations.into(),
            gap: entry.gap,
        };
        let share = (n - 1.0) / n;
        let (algorithm, bus_factor) = match entry.operation {
            Operation::RingAllReduce => {
                (Chosen::Steps(Steps::ring_all_reduce(&group)), 2.0 * share)
            }
            Operation::HalvingDoublingAllReduce => {
                (Chosen::Steps(Steps::halving_doubling(&group)), 2.0 * share)
            }
            Operation::AllGather => (Chosen::Steps(Steps::all_gather(&group)), share),
            Operation::ReduceScatter => (Chosen::Steps(Steps::reduce_scatter(&group)), share),
            Operation::TreeAllReduce => (Chosen::Tree(Tree), 2.0 * share),
            Operation::AllToAll => (Chosen::AllToAll(AllToAll::new(&group, entry.peers)), share),
        };
        let flows = algorithm.algorithm().flows(&group);
        Plan { group, algorithm, flows, start: entry.start, bus_factor }
    }

    /// What the bandwidth of the operation is calculated from.
    pub(crate) fn facts(&self) -> Facts {
        Facts { flows: self.flows, bytes: self.group.bytes, bus_factor: Some(self.bus_factor) }
    }

    /// How often the operation is done.
    pub(crate) fn iterations(&self) -> u32 {
        self.group.iterations as u32
    }
}

impl Pattern for Plan {
    fn count(&self) -> u64 {
        self.flows * self.group.iterations
    }

    fn roots(&self, each: &mut dyn FnMut(u64, Time)) {
        self.algorithm.algorithm().first(&self.group, &mut |flow| each(flow, self.start));
    }

    fn flow(&self, flow: u64) -> PlannedFlow {
        let (from, to, size, _) =
            self.algorithm.algorithm().message(&self.group, flow % self.flows);
        let [source, destination] = [from, to].map(|rank| self.group.ranks[rank as usize]);
        PlannedFlow { source, destination, size }
    }

    fn step(&self, flow: u64) -> Step {
        let (rank, _, _, step) = self.algorithm.algorithm().message(&self.group, flow % self.flows);
        Step { iteration: (flow / self.flows) as u32, step, rank: rank as u32 }
    }

    fn group(&self, first: u64) -> u64 {
        self.algorithm.algorithm().group(&self.group, first % self.flows)
    }

    fn waits(&self, first: u64) -> Waits {
        let (own, before) = self.algorithm.algorithm().waits(&self.group, first % self.flows);
        Waits::all(own + if first < self.flows { 0 } else { before })
    }

    fn dependents(&self, flow: u64, event: Event, each: &mut dyn FnMut(Edge)) {
        let (iteration, flow) = (flow / self.flows, flow % self.flows);
        self.algorithm.algorithm().dependents(&self.group, flow, event, &mut |flow, is_next| {
            let waiter = (iteration + u64::from(is_next)) * self.flows + flow;
            if !is_next {
                each(Edge::after(waiter, Time::ZERO));
            } else if iteration + 1 < self.group.iterations {
                each(Edge::after(waiter, self.group.gap));
            }
        });
    }

    fn is_job(&self) -> bool {
        true
    }
}
