//! The source and destination of open-loop flows.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Problems;
use rand_core::RngCore;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::demand::Demand;
use super::draw;
use super::fan_in::FanIn;
use super::hosts::check_hosts;
use super::matrix::Matrix;
use super::racks::Racks;
use super::shortened;
use super::synchronous::Synchronous;
use crate::routing::Routing;
use crate::topology::Topology;

/// The `pairs` section of an open-loop entry; `kind` names the variant. No flow goes to its sender.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PairConfig {
    /// Source and destination uniform over all pairs of hosts.
    Uniform {},
    /// A share of the flows stays in its rack.
    ///
    /// The source is uniform; the destination is uniform in its rack or uniform outside.
    RackLocal {
        /// Share of the flows that stay.
        #[schemars(range(min = 0, max = 1))]
        fraction: f64,
    },
    /// Each host sends to one other host.
    ///
    /// The source is uniform; the destinations are one permutation of the hosts without fixed points, uniform
    /// among these, drawn once.
    Permutation {},
    /// From some hosts to some hosts.
    ///
    /// Uniform over the pairs of different hosts with one in each list.
    Between {
        /// Hosts that send.
        #[schemars(length(min = 1))]
        sources: Vec<u32>,
        /// Hosts that receive.
        #[schemars(length(min = 1))]
        destinations: Vec<u32>,
    },
    /// By a traffic matrix: shares of the flows from hosts or racks to hosts or racks.
    ///
    /// Uniform over the pairs of different hosts of a row, which is drawn by its weight.
    Matrix {
        /// Rows [from, to, weight]. A switch stands for the hosts below it; weights are in proportion.
        #[schemars(length(min = 1))]
        rows: Vec<(u32, u32, f64)>,
    },
    /// Groups of flows that start together, from random hosts to one random host.
    ///
    /// The load and its gaps are those of all flows. Every number of senders is as likely.
    FanIn {
        /// Fewest senders of a group.
        #[schemars(range(min = 1), extend("default" = 1, "source" = RATIOS_OF_PCN))]
        least: u32,
        /// Most senders of a group.
        #[schemars(range(min = 1), extend("default" = 15, "source" = RATIOS_OF_PCN))]
        most: u32,
    },
    /// Every arrival is a flow from each source to one receiver: generators that run in step.
    ///
    /// The load and its gaps are those of all flows (PCN sec. 7.2).
    Synchronous {
        /// Hosts that send.
        #[schemars(length(min = 1))]
        sources: Vec<u32>,
        /// The host that receives.
        receiver: u32,
    },
}

/// The source of the defaults of a fan-in.
const RATIOS_OF_PCN: &str = "PCN 7.4: 1 to 15";

/// Pairs that were checked and can be drawn.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(super) enum Pairs {
    Uniform { hosts: Vec<u32> },
    RackLocal { fraction: f64, racks: Racks },
    Permutation { destinations: Vec<u32> },
    Between { sources: Vec<u32>, destinations: Vec<u32> },
    Matrix(Matrix),
    FanIn(FanIn),
    Synchronous(Synchronous),
}

impl PairConfig {
    /// The same choice with at most one row in each list, for a check that all rows have in common.
    pub(super) fn shortened(&self) -> PairConfig {
        match self {
            PairConfig::Between { sources, destinations } => PairConfig::Between {
                sources: shortened(sources),
                destinations: shortened(destinations),
            },
            PairConfig::Synchronous { sources, receiver } => {
                PairConfig::Synchronous { sources: shortened(sources), receiver: *receiver }
            }
            PairConfig::Matrix { rows } => PairConfig::Matrix { rows: shortened(rows) },
            other => other.clone(),
        }
    }

    /// Checks the section, and makes the draws that are made only once.
    pub(super) fn pairs(
        &self,
        routing: &Routing,
        hosts: u32,
        random: &mut impl RngCore,
        problems: &mut Problems,
    ) -> Option<Pairs> {
        let before = problems.found().len();
        let pairs = match self {
            PairConfig::Uniform {} => Pairs::Uniform { hosts: (0..hosts).collect() },
            &PairConfig::RackLocal { fraction } => {
                let racks = Racks::new(routing, hosts);
                check_fraction(fraction, &racks, problems);
                Pairs::RackLocal { fraction, racks }
            }
            PairConfig::Permutation {} => {
                Pairs::Permutation { destinations: derangement(hosts, random) }
            }
            PairConfig::Between { sources, destinations } => {
                check_hosts("sources", sources, hosts, problems);
                check_hosts("destinations", destinations, hosts, problems);
                let is_alone = sources.len() == 1 && sources == destinations;
                let remedy = format!(
                    "the only pair is host {} with itself; name another source or destination",
                    sources.first().copied().unwrap_or_default()
                );
                let value = format!("{destinations:?}");
                problems.unless(!is_alone, "destinations", value, remedy);
                let (sources, destinations) = (sources.clone(), destinations.clone());
                Pairs::Between { sources, destinations }
            }
            PairConfig::Matrix { rows } => {
                Pairs::Matrix(Matrix::new(rows, Racks::new(routing, hosts), routing, problems))
            }
            &PairConfig::FanIn { least, most } => {
                Pairs::FanIn(FanIn::new((least, most), hosts, problems))
            }
            PairConfig::Synchronous { sources, receiver } => {
                Pairs::Synchronous(Synchronous::new(sources, *receiver, hosts, problems))
            }
        };
        (problems.found().len() == before).then_some(pairs)
    }
}

/// Refuses a share of local flows that is impossible with these racks.
fn check_fraction(fraction: f64, racks: &Racks, problems: &mut Problems) {
    let has_lonely = (0..racks.count()).any(|rack| racks.rack(rack).len() < 2);
    let remedy = "a switch has one host only, which has no neighbour in its rack; write 0";
    problems.unless(fraction <= 0.0 || !has_lonely, "fraction", fraction, remedy);
    let holds = fraction >= 1.0 || racks.count() >= 2;
    let remedy = "all hosts are under one switch, so no flow can leave its rack; write 1, or \
                  pairs = {kind = \"uniform\"}";
    problems.unless(holds, "fraction", fraction, remedy);
}

/// A permutation of `0..hosts` (>= 2) without fixed points, uniform among all such permutations:
/// shuffles (Fisher-Yates) until no point is fixed, 2.7 times on average.
fn derangement(hosts: u32, random: &mut impl RngCore) -> Vec<u32> {
    let mut shuffled: Vec<u32> = (0..hosts).collect();
    loop {
        for last in (1..shuffled.len()).rev() {
            shuffled.swap(last, draw::index(random, last + 1));
        }
        if (0..).zip(&shuffled).all(|(host, destination)| host != *destination) {
            return shuffled;
        }
    }
}

impl Pairs {
    /// Mean number of flows that start together.
    pub(super) fn group(&self) -> f64 {
        match self {
            Pairs::FanIn(fan_in) => fan_in.mean(),
            Pairs::Synchronous(bursts) => bursts.sources().len() as f64,
            _ => 1.0,
        }
    }

    /// Whether the next flow starts together with the previous flow.
    pub(super) fn is_within_group(&self) -> bool {
        match self {
            Pairs::FanIn(fan_in) => fan_in.is_within_group(),
            Pairs::Synchronous(bursts) => bursts.is_within_group(),
            _ => false,
        }
    }

    /// Draws (source, destination), two different hosts.
    pub(super) fn draw(&mut self, random: &mut impl RngCore) -> (u32, u32) {
        match self {
            Pairs::Uniform { hosts } => distinct_pair(hosts, hosts, random),
            Pairs::RackLocal { fraction, racks } => {
                let source = draw::index(random, racks.members().len()) as u32;
                let stays = draw::unit(random) <= *fraction;
                let destination = if stays {
                    racks.draw_inside(source, random)
                } else {
                    racks.draw_outside(source, random)
                };
                (source, destination)
            }
            Pairs::Permutation { destinations } => {
                let source = draw::index(random, destinations.len());
                (source as u32, destinations[source])
            }
            Pairs::Between { sources, destinations } => {
                distinct_pair(sources, destinations, random)
            }
            Pairs::Matrix(matrix) => {
                let (sources, destinations) = matrix.draw(random);
                distinct_pair(sources, destinations, random)
            }
            Pairs::FanIn(fan_in) => fan_in.draw(random),
            Pairs::Synchronous(bursts) => bursts.next(),
        }
    }

    /// The distribution of the pairs that [`Pairs::draw`] draws.
    pub(super) fn demand(&self, routing: &Routing, topology: &Topology) -> Demand {
        let hosts = topology.hosts;
        let mut demand = Demand::new(routing, topology);
        match self {
            Pairs::Uniform { hosts } => demand.add(routing, hosts, hosts, 1.0),
            Pairs::RackLocal { fraction, racks } => {
                for rack in 0..racks.count() {
                    let inside = racks.rack(rack);
                    let share = inside.len() as f64 / f64::from(hosts);
                    demand.add(routing, inside, inside, share * fraction);
                    demand.add(routing, inside, &racks.outside(rack), share * (1.0 - fraction));
                }
            }
            Pairs::Permutation { destinations } => {
                for (source, destination) in (0..hosts).zip(destinations) {
                    demand.add(routing, &[source], &[*destination], 1.0 / f64::from(hosts));
                }
            }
            Pairs::Between { sources, destinations } => {
                demand.add(routing, sources, destinations, 1.0);
            }
            Pairs::Matrix(matrix) => {
                for (sources, destinations, share) in matrix.shares() {
                    demand.add(routing, sources, destinations, share);
                }
            }
            Pairs::FanIn(_) => {
                let all: Vec<u32> = (0..hosts).collect();
                demand.add(routing, &all, &all, 1.0);
            }
            Pairs::Synchronous(bursts) => {
                demand.add(routing, bursts.sources(), &[bursts.receiver()], 1.0);
            }
        }
        demand
    }
}

/// Uniform over the pairs of different hosts. Equal hosts are drawn again, at most every other
/// time.
fn distinct_pair(sources: &[u32], destinations: &[u32], random: &mut impl RngCore) -> (u32, u32) {
    loop {
        let source = sources[draw::index(random, sources.len())];
        let destination = destinations[draw::index(random, destinations.len())];
        if source != destination {
            return (source, destination);
        }
    }
}

#[cfg(test)]
#[path = "pair_tests.rs"]
mod tests;
