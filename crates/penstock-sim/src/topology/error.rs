//! Why a topology is refused.

use std::fmt;

use penstock_units::Time;
use thiserror::Error;

/// How large a network is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Number of hosts.
    pub hosts: u64,
    /// Number of switches.
    pub switches: u64,
    /// Number of links, both directions being one.
    pub cables: u64,
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Extent { hosts, switches, cables } = self;
        write!(f, "{hosts} hosts, {switches} switches and {cables} links")
    }
}

/// A topology that cannot be built; the message names the field, its value and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TopologyError {
    /// A count that must be positive is zero.
    #[error("topology.{field} is 0; write how many there are, at least {least}")]
    TooFew {
        /// Name of the field.
        field: &'static str,
        /// The smallest count that would do.
        least: u32,
    },
    /// A link rate is zero.
    #[error("topology.{field} is 0 b/s; write a positive rate such as \"100 Gb/s\"")]
    ZeroRate {
        /// Path of the field below `topology`.
        field: String,
    },
    /// A delay is longer than any that is meant.
    #[error("topology.{field} is {value}; write a delay of at most {most}")]
    LongDelay {
        /// Path of the field below `topology`.
        field: String,
        /// What was written.
        value: Time,
        /// The longest delay that is accepted.
        most: Time,
    },
    /// The network is larger than dense tables are meant for.
    #[error("topology.{field} asks for {asked}; write counts that give at most {most}")]
    TooLarge {
        /// The count to reduce first.
        field: &'static str,
        /// What was written.
        asked: Extent,
        /// The largest network that is accepted.
        most: Extent,
    },
    /// A network of one host.
    #[error("topology.{field} leaves a network of one host; write enough for at least 2 hosts")]
    LonelyHost {
        /// The count to raise.
        field: &'static str,
    },
    /// A link ends at a node that does not exist.
    #[error(
        "topology.links[{link}].{end} is node {node}; nodes are numbered 0 to {last} (hosts \
         first, then switches), so write one of these or raise topology.switches"
    )]
    UnknownNode {
        /// Index of the link in `topology.links`.
        link: usize,
        /// `a` or `b`.
        end: &'static str,
        /// What was written.
        node: u32,
        /// The largest node number.
        last: u32,
    },
    /// A link from a node to itself.
    #[error("topology.links[{link}] joins node {node} to itself; give it two different ends")]
    SelfLink {
        /// Index of the link in `topology.links`.
        link: usize,
        /// The node at both ends.
        node: u32,
    },
    /// Two links join the same two nodes.
    #[error(
        "topology.links[{link}] joins nodes {a} and {b}, as topology.links[{first}] does; remove \
         one of them, or give one link the sum of their rates"
    )]
    DuplicateLink {
        /// Index of the later link in `topology.links`.
        link: usize,
        /// Index of the earlier one.
        first: usize,
        /// One end.
        a: u32,
        /// The other end.
        b: u32,
    },
    /// A link joins two hosts.
    #[error("topology.links[{link}] joins hosts {a} and {b}; put a switch between them")]
    HostToHost {
        /// Index of the link in `topology.links`.
        link: usize,
        /// One host.
        a: u32,
        /// The other host.
        b: u32,
    },
    /// A host has no link, or more than one.
    #[error("topology.links gives host {host} {count} links; give every host exactly one")]
    HostLinks {
        /// The host.
        host: u32,
        /// How many links end there.
        count: usize,
    },
    /// A failed link is none of the network's.
    #[error(
        "topology.failed_links[{index}] is [{a}, {b}], but no link (that has not failed already) \
         joins these nodes; write the two ends of one"
    )]
    UnknownFailure {
        /// Index in `topology.failed_links`.
        index: usize,
        /// One end.
        a: u32,
        /// The other end.
        b: u32,
    },
    /// Failed links cut the network in pieces.
    #[error(
        "topology.failed_links leave no path between {}; remove one of them",
        pairs.iter().map(|(a, b)| format!("{a} and {b}")).collect::<Vec<_>>().join(", ")
    )]
    Cut {
        /// Names of nodes that are apart, the first few pairs.
        pairs: Vec<(String, String)>,
    },
    /// Some nodes cannot reach each other.
    #[error(
        "topology.links does not connect node {node} to node 0; add a link between their parts \
         of the network"
    )]
    Disconnected {
        /// The smallest unreachable node.
        node: u32,
    },
}
