//! How a switch chooses among the next hops on shortest paths: by flow (ECMP) or by packet (spraying).
//!
//! Packet spraying spreads the packets of a flow over all equal paths, so that no link of the core
//! gets more than its share (A. Dixit et al., "On the Impact of Packet Spraying in Data Center
//! Networks", INFOCOM 2013; Homa, SIGCOMM 2018, assumes it). Data packets are sprayed. Control
//! packets keep the path of their flow, because they wait nowhere. Packets of a sprayed flow
//! overtake each other, so the recovery must not take a late packet for a lost one.

use std::ops::Range;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_engine::stream;
use penstock_units::random::Pcg32;
use rand_core::RngCore;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::table::Routing;

/// Parameters of packet spraying.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SprayConfig {
    /// Which next hop a switch takes for a packet.
    #[schemars(extend(
        "default" = "random",
        "source" = "our choice: a draw per packet; papers say per-packet spraying and no more"
    ))]
    pub order: SprayOrder,
}

/// Which of several next hops the next packet takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SprayOrder {
    /// Any, uniformly, whatever the others took.
    Random,
    /// The next one in turn; each switch has one turn for all of its packets, with a random start.
    RoundRobin,
}

/// The choices of next hops at switches.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Spray {
    order: SprayOrder,
    switches: Vec<Sprayer>,
    /// The first node among the switches.
    first: u32,
}

/// The choices of one switch.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
struct Sprayer {
    random: Pcg32,
    /// A random start, plus the number of packets that the switch has sprayed.
    turn: u32,
}

impl Spray {
    /// Choices for `switches`, nodes. Switch `node` draws from the random stream `spray/{node}`.
    pub(crate) fn new(config: &SprayConfig, switches: Range<u32>, seed: u64) -> Self {
        let first = switches.start;
        let sprayer = |node: u32| {
            let mut named = stream(seed, &format!("spray/{}", node - first));
            let mut random = Pcg32::new(named.next_u64(), named.next_u64());
            Sprayer { turn: random.next_u32(), random }
        };
        Spray { order: config.order, switches: switches.map(sprayer).collect(), first }
    }

    /// The port by which a packet to `host` leaves `switch`.
    #[inline]
    pub(crate) fn port(&mut self, routing: &Routing, switch: u32, host: u32) -> u16 {
        let Sprayer { random, turn } = &mut self.switches[(switch - self.first) as usize];
        routing.next_port_by(switch, host, |count| match self.order {
            SprayOrder::Random => ((u64::from(random.next_u32()) * count as u64) >> 32) as usize,
            SprayOrder::RoundRobin => {
                *turn = turn.wrapping_add(1);
                *turn as usize % count
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::build;
    use crate::topology::tests::bfc;

    /// How many of `packets` packets from the first ToR to host 100 took each link.
    fn counts(order: SprayOrder, packets: u32) -> Vec<u32> {
        let network = build(&bfc()).unwrap();
        let routing = Routing::new(&network);
        let switches = network.hosts..network.hosts + network.switches;
        let mut spray = Spray::new(&SprayConfig { order }, switches, 1);
        let mut counts = vec![0; network.links.len()];
        for _ in 0..packets {
            counts[usize::from(spray.port(&routing, network.hosts, 100))] += 1;
        }
        counts.retain(|&count| count > 0);
        counts
    }

    #[test]
    fn in_turn_every_link_gets_the_same() {
        assert_eq!(counts(SprayOrder::RoundRobin, 800), [100; 8]);
    }

    #[test]
    fn at_random_every_link_gets_about_the_same() {
        // Binomial: mean 10,000, standard deviation 93.5; five of them.
        let counts = counts(SprayOrder::Random, 80_000);
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 468), "{counts:?}");
    }

    #[test]
    fn the_last_switch_has_no_choice() {
        let network = build(&bfc()).unwrap();
        let routing = Routing::new(&network);
        let random = SprayConfig { order: SprayOrder::Random };
        let switches = network.hosts..network.hosts + network.switches;
        let mut spray = Spray::new(&random, switches, 1);
        let port = usize::from(spray.port(&routing, network.hosts, 5));
        assert_eq!(network.egress_links(network.hosts)[port], network.downlink(5));
    }
}
