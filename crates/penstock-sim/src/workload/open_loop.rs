//! Open-loop flows: they start at a rate that gives a mean load, whatever happened to earlier
//! flows.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_engine::stream::stream;
use penstock_packet::CLASSES;
use penstock_units::random::Pcg64Mcg;
use penstock_units::source::{NO_PRIORITIES, WHOLE_DURATION};
use penstock_units::{Bytes, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arrival::{ArrivalConfig, Arrivals};
use super::entry::{Entry, FlowArrival};
use super::load::{Knob, LoadCounts, LoadOn, LoadTarget, Offered};
use super::pair::{PairConfig, Pairs};
use super::size::{SizeConfig, SizeDistribution};
use crate::label::LONGEST_LABEL;

/// The highest class that a switch can have.
const LARGEST_CLASS: usize = CLASSES - 1;

/// Flows that arrive at a rate, whatever becomes of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenLoop {
    /// Name in the results.
    #[schemars(
        length(min = 1, max = LONGEST_LABEL),
        extend("default" = "background", "source" = "our choice: BFC's word")
    )]
    pub label: String,
    /// Priority class, 0 is served first.
    #[schemars(extend("default" = 0, "source" = NO_PRIORITIES))]
    pub class: u8,
    /// Sizes, ascending: the class of a flow is one higher for each of them that the flow exceeds.
    ///
    /// PCN App. B.4 has the classes of its table 1: 10 kB, 100 kB, 1 MB. The sizes, the gaps and the pairs of
    /// flows are drawn as without them.
    #[schemars(
        length(max = LARGEST_CLASS),
        inner(range(min = 1)),
        extend("default" = [], "source" = "our choice: all flows of an entry have its class")
    )]
    pub class_above: Vec<Bytes>,
    /// Flow sizes.
    pub sizes: SizeConfig,
    /// Gaps between arrivals.
    #[schemars(extend(
        "default" = { "kind": "lognormal", "sigma": 2.0 },
        "source" = "BFC 6.2.1"
    ))]
    pub arrivals: ArrivalConfig,
    /// Who sends to whom.
    #[schemars(extend("default" = { "kind": "uniform" }, "source" = "BFC 6.2.1"))]
    pub pairs: PairConfig,
    /// Mean load, as a share of capacity.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub load: f64,
    /// The links that the load is measured on.
    #[schemars(extend("default" = { "kind": "core" }, "source" = "BFC 6.2.1"))]
    pub load_on: LoadOn,
    /// Crossing: only flows that cross those links count; all: BFC's generator, which counts flows inside a
    /// rack too.
    #[schemars(extend(
        "default" = "crossing",
        "source" = "our choice: what the words of BFC 6.2.1 say; its generator differs"
    ))]
    pub load_counts: LoadCounts,
    /// Connections that stay open from each source to each destination; 0: each flow has its own.
    ///
    /// A flow takes a free one, or waits for one, and goes on with the window and times of the flow before.
    /// For the controllers of TCP and for packet pairs (AFQ 6.1.3 has 25).
    #[schemars(extend(
        "default" = 0,
        "source" = "our choice: each flow starts anew, as in the papers' simulators"
    ))]
    pub connections: u32,
    /// First arrivals.
    #[schemars(extend("default" = 0, "source" = WHOLE_DURATION))]
    pub start: Time,
    /// End of arrivals; none: the duration.
    ///
    /// All flows start earlier. Python writes the duration where a scenario has none.
    #[schemars(extend("default" = null, "source" = WHOLE_DURATION))]
    pub stop: Time,
}

/// The flows of one entry.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct OpenLoopFlows {
    arrivals: Arrivals,
    /// When the latest flow started.
    time: Time,
    sizes: SizeDistribution,
    pairs: Pairs,
    arrival_stream: Pcg64Mcg,
    size_stream: Pcg64Mcg,
    pair_stream: Pcg64Mcg,
    stop: Time,
    label: u16,
    class: u8,
    /// Sizes beyond which the class is one higher each (bytes), ascending.
    class_above: Vec<u64>,
}

impl OpenLoop {
    /// Checks that the sizes at which the class changes ascend.
    fn check_classes(&self, field: &str, problems: &mut Problems) {
        for (index, pair) in (1..).zip(self.class_above.windows(2)) {
            let field = format!("{field}.class_above[{index}]");
            let remedy =
                format!("the size before it is {}; write them in ascending order", pair[0]);
            problems.unless(pair[0] < pair[1], &field, pair[1], remedy);
        }
    }

    /// Checks the entry and prepares its flows and the traffic that it offers to the links.
    pub(super) fn flows(
        &self,
        entry: &Entry,
        problems: &mut Problems,
    ) -> Option<(OpenLoopFlows, Offered)> {
        let field = entry.field();
        entry.check_window(self.start, self.stop, problems);
        self.check_classes(&field, problems);
        let sizes = problems.value_of(self.sizes.distribution(&format!("{field}.sizes")));
        let mut pair_stream = stream(entry.seed, &format!("traffic/{}/pairs", entry.index));
        let (topology, routing) = (entry.topology, entry.routing);
        let hosts = topology.hosts;
        let at_pairs = format!("{field}.pairs");
        let mut pairs = None;
        problems.within(&at_pairs, |problems| {
            pairs = self.pairs.pairs(routing, hosts, &mut pair_stream, problems);
        });
        let target = LoadTarget { load: self.load, on: &self.load_on, counts: self.load_counts };
        let links = target.links(&field, topology, problems);
        if !problems.is_sound(&field) {
            return None;
        }
        let (sizes, pairs) = (sizes?, pairs?);
        let demand = pairs.demand(routing, topology);
        let crossings = demand.crossings(topology, routing);
        let rate = target.arrival_rate(&field, topology, &links?, &crossings, sizes.mean());
        let rate = problems.value_of(rate)?;
        let offered = Offered {
            field: format!("{field}.load"),
            knob: Knob::Load(self.load),
            start: self.start,
            stop: self.stop,
            carried: crossings
                .iter()
                .chain(demand.inside())
                .map(|times| times * rate * 8.0 * sizes.mean())
                .collect(),
        };
        let flows = OpenLoopFlows {
            arrivals: Arrivals::new(self.arrivals, rate / pairs.group(), self.start),
            time: self.start,
            sizes,
            pairs,
            arrival_stream: stream(entry.seed, &format!("traffic/{}/arrivals", entry.index)),
            size_stream: stream(entry.seed, &format!("traffic/{}/sizes", entry.index)),
            pair_stream,
            stop: self.stop,
            label: entry.index,
            class: self.class,
            class_above: self.class_above.iter().map(|size| size.get()).collect(),
        };
        Some((flows, offered))
    }

    /// The distribution of sizes, and the expected numbers of flows that cross the network and that stay
    /// inside servers.
    pub(super) fn expected(
        &self,
        entry: &Entry,
        problems: &mut Problems,
    ) -> Option<(SizeDistribution, f64, f64)> {
        let (flows, offered) = self.flows(entry, problems)?;
        let uplinks = (0..entry.topology.hosts).map(|host| entry.topology.uplink(host));
        let bits: f64 = uplinks.map(|uplink| offered.carried[uplink as usize]).sum();
        let span = (flows.stop - self.start).as_ps() as f64 / 1e12;
        let inside: f64 = offered.carried[entry.topology.links.len()..].iter().sum();
        let [count, inside] = [bits, inside].map(|bits| bits * span / (8.0 * flows.sizes.mean()));
        Some((flows.sizes, count, inside))
    }
}

impl Iterator for OpenLoopFlows {
    type Item = FlowArrival;

    fn next(&mut self) -> Option<FlowArrival> {
        if !self.pairs.is_within_group() {
            self.time = self.arrivals.next(&mut self.arrival_stream);
        }
        let time = self.time;
        if time >= self.stop {
            return None;
        }
        let (source, destination) = self.pairs.draw(&mut self.pair_stream);
        let size = self.sizes.draw(&mut self.size_stream);
        let exceeded = self.class_above.iter().filter(|limit| size > **limit).count();
        let (label, class) = (self.label, self.class + exceeded as u8);
        let (destination_port, lasts) = (0, Time::ZERO);
        Some(FlowArrival { time, source, destination, size, label, class, destination_port, lasts })
    }
}
