//! The traffic of a scenario: which flows start, when, between which hosts, and how large.
//!
//! What it is: the `traffic` list of a scenario ([`TrafficConfig`]) and the flows that the list
//! describes, generated one at a time in time order ([`Workload`]). What it is not: this module
//! does not know how flows are carried. Open-loop flows start at their times, whatever happens in the
//! network; flows that wait for others are in [`dependent`].
//! Invariants: the flows are a function of the list, the network and the seed; every entry draws
//! from streams of its own (`traffic/{index}/arrivals`, `/sizes`, `/pairs`), so a new entry leaves
//! the flows of the others as they are; a mean load that some link cannot carry is refused.
//!
//! Reading order: [`merge`], [`entry`], one file per kind of entry ([`open_loop`], [`incast`],
//! [`listed`]), the parts of an open-loop entry ([`size`], [`arrival`], [`pair`], [`load`]),
//! `racks`, `matrix`, `fan_in`, `synchronous`, `demand`, `draw`, `size_share`.

pub mod arrival;
mod demand;
pub mod dependent;
mod draw;
pub mod entry;
mod expected;
mod fan_in;
mod hosts;
pub mod incast;
pub mod listed;
pub mod load;
mod matrix;
pub mod merge;
pub mod open_loop;
pub mod pair;
mod racks;
pub mod size;
mod size_share;
mod synchronous;

use penstock_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use arrival::ArrivalConfig;
pub use demand::mean_crossings;
pub use dependent::closed_loop::PauseConfig;
pub use dependent::collective::{Collective, Operation};
pub use dependent::on_off::OnOff;
pub use dependent::rpc::Rpc;
pub(crate) use dependent::{Event, Facts, JobPlace, Plan};
pub use entry::FlowArrival;
pub use expected::ExpectedFlows;
pub use incast::Incast;
pub use listed::{Awaited, Listed};
pub use load::{FullestLink, LoadCounts, LoadOn};
pub use merge::Workload;
pub(crate) use merge::{MOST_TRAFFIC, check_count};
pub use open_loop::OpenLoop;
pub use pair::PairConfig;
pub use size::{Convention, SizeConfig, SizeDistribution};
pub use size_share::expected_flows;

/// An entry of the `traffic` list of a scenario; `kind` names the variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TrafficConfig {
    /// Flows that arrive at a rate, whatever becomes of them.
    OpenLoop(OpenLoop),
    /// Many senders to one receiver at once, again and again.
    Incast(Incast),
    /// Flows one by one.
    Listed(Listed),
    /// A collective operation of ranks, again and again.
    Collective(Collective),
    /// Clients that ask servers and wait for the answers.
    Rpc(Rpc),
    /// Senders that send a burst, pause, and send the next one.
    OnOff(OnOff),
}

/// The first row of a list, if it has one.
fn shortened<T: Clone>(list: &[T]) -> Vec<T> {
    list.iter().take(1).cloned().collect()
}

impl TrafficConfig {
    /// The entry's name in tables and figures.
    pub fn label(&self) -> &str {
        match self {
            TrafficConfig::OpenLoop(open_loop) => &open_loop.label,
            TrafficConfig::Incast(incast) => &incast.label,
            TrafficConfig::Listed(listed) => &listed.label,
            TrafficConfig::Collective(collective) => &collective.label,
            TrafficConfig::Rpc(rpc) => &rpc.label,
            TrafficConfig::OnOff(on_off) => &on_off.label,
        }
    }

    /// Open connections from each source to each destination that the flows of the entry share; 0 where each
    /// flow has its own.
    pub fn connections(&self) -> u32 {
        match self {
            TrafficConfig::OpenLoop(open_loop) => open_loop.connections,
            _ => 0,
        }
    }

    /// The entry as the scenario gives it, with at most one row in each list. Lists may have
    /// millions of rows, which are checked one by one elsewhere.
    fn fields(&self) -> Value {
        let label = String::new;
        let written = match self {
            TrafficConfig::OpenLoop(open_loop) => {
                serde_json::to_value(TrafficConfig::OpenLoop(OpenLoop {
                    label: label(),
                    class_above: open_loop.class_above.clone(),
                    sizes: open_loop.sizes.shortened(),
                    pairs: open_loop.pairs.shortened(),
                    load_on: open_loop.load_on.shortened(),
                    ..*open_loop
                }))
            }
            TrafficConfig::Incast(incast) => {
                let senders = incast.senders.as_deref().map(shortened);
                serde_json::to_value(TrafficConfig::Incast(Incast {
                    label: label(),
                    senders,
                    ..*incast
                }))
            }
            TrafficConfig::Listed(listed) => {
                let flows = shortened(&listed.flows);
                let destination_ports = shortened(&listed.destination_ports);
                let (lasts, delay) = (shortened(&listed.lasts), shortened(&listed.delay));
                let (after, lag) = (shortened(&listed.after), shortened(&listed.lag));
                let (needed, places) = (shortened(&listed.needed), shortened(&listed.places));
                serde_json::to_value(TrafficConfig::Listed(Listed {
                    label: label(),
                    flows,
                    destination_ports,
                    lasts,
                    after,
                    lag,
                    delay,
                    needed,
                    places,
                    steps: shortened(&listed.steps),
                    ..*listed
                }))
            }
            TrafficConfig::Collective(collective) => {
                serde_json::to_value(TrafficConfig::Collective(collective.shortened()))
            }
            TrafficConfig::Rpc(rpc) => serde_json::to_value(TrafficConfig::Rpc(rpc.shortened())),
            TrafficConfig::OnOff(on_off) => {
                serde_json::to_value(TrafficConfig::OnOff(on_off.shortened()))
            }
        };
        written.expect("an entry is plain data")
    }

    /// Whether flows of the entry may stop before their last bytes (field `lasts`).
    pub(crate) fn stops(&self) -> bool {
        match self {
            TrafficConfig::OpenLoop(_) => false,
            TrafficConfig::Incast(incast) => incast.lasts > Time::ZERO,
            TrafficConfig::Listed(listed) => listed.lasts.iter().any(|&lasts| lasts > Time::ZERO),
            TrafficConfig::Collective(_) | TrafficConfig::Rpc(_) | TrafficConfig::OnOff(_) => false,
        }
    }

    /// Whether flows of the entry wait for others.
    pub(crate) fn is_dependent(&self) -> bool {
        match self {
            TrafficConfig::OpenLoop(_) | TrafficConfig::Incast(_) => false,
            TrafficConfig::Listed(listed) => listed.is_dependent(),
            TrafficConfig::Collective(_) | TrafficConfig::Rpc(_) | TrafficConfig::OnOff(_) => true,
        }
    }

    /// The entry's priority, 0 = highest data class.
    pub fn class(&self) -> u8 {
        match self {
            TrafficConfig::OpenLoop(open_loop) => open_loop.class,
            TrafficConfig::Incast(incast) => incast.class,
            TrafficConfig::Listed(listed) => listed.class,
            TrafficConfig::Collective(collective) => collective.class,
            TrafficConfig::Rpc(rpc) => rpc.class,
            TrafficConfig::OnOff(on_off) => on_off.class,
        }
    }

    /// How many classes beyond [`TrafficConfig::class`] the entry's flows have, by their size.
    pub fn further_classes(&self) -> usize {
        match self {
            TrafficConfig::OpenLoop(open_loop) => open_loop.class_above.len(),
            _ => 0,
        }
    }
}
