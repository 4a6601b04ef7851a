//! Which host sends to which: the pairs of open-loop flows.

use penstock_units::Problem;
use rand_core::RngCore;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::demand::Demand;
use super::draw;
use super::fan_in::FanIn;
use super::synchronous::Synchronous;
use crate::routing::Routing;

/// The `pairs` section of an open-loop entry; `kind` names the variant. No flow goes to its sender.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PairConfig {
    /// Uniform over all pairs of different hosts (BFC Sec. 6.2.1).
    Uniform {},
    /// A uniform source; the destination is uniform in its rack or uniform outside.
    RackLocal {
        /// Share of the flows that stay in the rack (under the same switch), in [0, 1].
        fraction: f64,
    },
    /// A uniform source that always sends to the same destination: one permutation of the hosts
    /// without fixed points, uniform among these, drawn once.
    Permutation {},
    /// Uniform over the pairs of different hosts with one in each list.
    Between {
        /// Hosts, without repetition.
        sources: Vec<u32>,
        /// Hosts, without repetition.
        destinations: Vec<u32>,
    },
    /// A uniform receiver for a group of flows from different uniform senders, which start together
    /// (PCN sec. 7.4); the load and its gaps are those of all flows.
    FanIn {
        /// Fewest senders of a group, >= 1.
        least: u32,
        /// Most senders of a group, below the number of hosts; every number between is as likely.
        most: u32,
    },
    /// Every arrival is a flow from each source to one receiver (PCN sec. 7.2); the load and its
    /// gaps are those of all flows.
    Synchronous {
        /// Hosts, without repetition.
        sources: Vec<u32>,
        /// Not among the sources.
        receiver: u32,
    },
}

/// Pairs that were checked and are ready to be drawn.
#[derive(Clone, Debug)]
pub(super) enum Pairs {
    Uniform { hosts: Vec<u32> },
    RackLocal { fraction: f64, racks: Racks },
    Permutation { destinations: Vec<u32> },
    Between { sources: Vec<u32>, destinations: Vec<u32> },
    FanIn(FanIn),
    Synchronous(Synchronous),
}

/// The hosts grouped by edge switch.
#[derive(Clone, Debug)]
pub(super) struct Racks {
    /// All hosts, rack after rack, ascending within a rack.
    members: Vec<u32>,
    /// Where each rack starts in `members`, and the end.
    starts: Vec<usize>,
    /// Indexed by host.
    rack_of: Vec<u32>,
}

impl Racks {
    fn new(routing: &Routing, hosts: u32) -> Self {
        let rack_of: Vec<u32> = (0..hosts).map(|host| routing.edge_of(host)).collect();
        let mut members: Vec<u32> = (0..hosts).collect();
        members.sort_by_key(|host| rack_of[*host as usize]);
        let racks = 0..=routing.edge_switches().len() as u32;
        let start = |rack| members.partition_point(|host| rack_of[*host as usize] < rack);
        let starts = racks.map(start).collect();
        Racks { members, starts, rack_of }
    }

    fn count(&self) -> usize {
        self.starts.len() - 1
    }

    fn rack(&self, rack: usize) -> &[u32] {
        &self.members[self.starts[rack]..self.starts[rack + 1]]
    }

    /// All hosts that are not in `rack`, ascending by rack.
    fn outside(&self, rack: usize) -> Vec<u32> {
        [&self.members[..self.starts[rack]], &self.members[self.starts[rack + 1]..]].concat()
    }

    /// A uniform host of the rack of `source` other than itself.
    fn draw_inside(&self, source: u32, random: &mut impl RngCore) -> u32 {
        let rack = self.rack(self.rack_of[source as usize] as usize);
        let own = rack.partition_point(|host| *host < source);
        let pick = draw::index(random, rack.len() - 1);
        rack[pick + usize::from(pick >= own)]
    }

    /// A uniform host outside the rack of `source`.
    fn draw_outside(&self, source: u32, random: &mut impl RngCore) -> u32 {
        let rack = self.rack_of[source as usize] as usize;
        let (start, end) = (self.starts[rack], self.starts[rack + 1]);
        let pick = draw::index(random, self.members.len() - (end - start));
        self.members[if pick < start { pick } else { pick + (end - start) }]
    }
}

/// Refuses unknown and repeated hosts in the list at `field`.
pub(super) fn check_hosts(field: &str, list: &[u32], hosts: u32) -> Result<(), Problem> {
    let mut first_at = vec![None; hosts as usize];
    for (position, &host) in list.iter().enumerate() {
        let at = format!("{field}[{position}]");
        check_host(&at, host, hosts)?;
        if let Some(first) = first_at[host as usize].replace(position) {
            let remedy = format!("it repeats {field}[{first}]; write every host once");
            return Err(Problem::new(at, host, remedy));
        }
    }
    if list.is_empty() {
        return Err(Problem::new(field, "[]", "write at least one host"));
    }
    Ok(())
}

/// Refuses an unknown host at `field`.
pub(super) fn check_host(field: &str, host: u32, hosts: u32) -> Result<(), Problem> {
    if host >= hosts {
        let remedy = format!("the hosts are numbered 0 to {}, so write one of these", hosts - 1);
        return Err(Problem::new(field, host, remedy));
    }
    Ok(())
}

impl PairConfig {
    /// Checks the section, which is at `field`, and draws what is drawn once.
    pub(super) fn pairs(
        &self,
        field: &str,
        routing: &Routing,
        hosts: u32,
        random: &mut impl RngCore,
    ) -> Result<Pairs, Problem> {
        match self {
            PairConfig::Uniform {} => Ok(Pairs::Uniform { hosts: (0..hosts).collect() }),
            PairConfig::RackLocal { fraction } => {
                let racks = Racks::new(routing, hosts);
                check_fraction(&format!("{field}.fraction"), *fraction, &racks)?;
                Ok(Pairs::RackLocal { fraction: *fraction, racks })
            }
            PairConfig::Permutation {} => {
                Ok(Pairs::Permutation { destinations: derangement(hosts, random) })
            }
            PairConfig::Between { sources, destinations } => {
                check_hosts(&format!("{field}.sources"), sources, hosts)?;
                check_hosts(&format!("{field}.destinations"), destinations, hosts)?;
                if sources.len() == 1 && sources == destinations {
                    let value = format!("{destinations:?}");
                    let remedy = "it is the only source as well; write another host";
                    return Err(Problem::new(format!("{field}.destinations"), value, remedy));
                }
                let (sources, destinations) = (sources.clone(), destinations.clone());
                Ok(Pairs::Between { sources, destinations })
            }
            PairConfig::FanIn { least, most } => {
                Ok(Pairs::FanIn(FanIn::new(field, (*least, *most), hosts)?))
            }
            PairConfig::Synchronous { sources, receiver } => {
                Ok(Pairs::Synchronous(Synchronous::new(field, sources, *receiver, hosts)?))
            }
        }
    }
}

/// Refuses a share of local flows that the racks cannot have.
fn check_fraction(field: &str, fraction: f64, racks: &Racks) -> Result<(), Problem> {
    if !(0.0..=1.0).contains(&fraction) {
        return Err(Problem::new(field, fraction, "write a share from 0 to 1"));
    }
    if fraction > 0.0 && (0..racks.count()).any(|rack| racks.rack(rack).len() < 2) {
        let remedy = "a switch has one host only, which has no neighbour; write 0";
        return Err(Problem::new(field, fraction, remedy));
    }
    if fraction < 1.0 && racks.count() < 2 {
        let remedy = "all hosts are under one switch; write 1, or pairs of kind uniform";
        return Err(Problem::new(field, fraction, remedy));
    }
    Ok(())
}

/// A permutation of `0..hosts` (>= 2) without fixed points, uniform among these: shuffles
/// (Fisher-Yates) until there is none, 2.7 times on average.
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

    /// Whether the next flow starts with the one before.
    pub(super) fn is_within_group(&self) -> bool {
        match self {
            Pairs::FanIn(fan_in) => fan_in.is_within_group(),
            Pairs::Synchronous(bursts) => bursts.is_within_group(),
            _ => false,
        }
    }

    /// Draws (source, destination), which differ.
    pub(super) fn draw(&mut self, random: &mut impl RngCore) -> (u32, u32) {
        match self {
            Pairs::Uniform { hosts } => distinct_pair(hosts, hosts, random),
            Pairs::RackLocal { fraction, racks } => {
                let source = draw::index(random, racks.members.len()) as u32;
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
            Pairs::FanIn(fan_in) => fan_in.draw(random),
            Pairs::Synchronous(bursts) => bursts.next(),
        }
    }

    /// The distribution that [`Pairs::draw`] draws from.
    pub(super) fn demand(&self, routing: &Routing, hosts: u32) -> Demand {
        let mut demand = Demand::new(routing, hosts);
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

/// Uniform over the pairs of different hosts; redraws equal ones, at most every other draw.
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
