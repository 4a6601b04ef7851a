//! The expected sizes of a scenario's flows, for policies that know the workload.

use penstock_transport::SizeShare;
use penstock_units::{Bytes, Problems, Time};

use super::TrafficConfig;
use super::dependent::rpc::named;
use super::entry::Entry;
use super::size::SizeDistribution;
use crate::error::ScenarioError;
use crate::routing::Routing;
use crate::topology::Topology;

/// How many points stand for a distribution of sizes (our choice: a hundred for each of 127
/// priority levels).
const POINTS: u32 = 1 << 14;

/// So many `flows` of `sizes`, at equally likely points.
pub(super) fn size_points(
    sizes: &SizeDistribution,
    flows: f64,
) -> impl Iterator<Item = SizeShare> + '_ {
    let at = |point: u32| (f64::from(point) + 0.5) / f64::from(POINTS);
    (0..POINTS)
        .map(move |point| SizeShare { size: sizes.at(at(point)), flows: flows / f64::from(POINTS) })
}

/// The flows with an end that are expected.
#[derive(Clone, Debug, Default)]
pub struct ExpectedFlows {
    /// By size: those that cross the network.
    pub shares: Vec<SizeShare>,
    /// How many stay inside servers.
    pub inside: f64,
}

impl ExpectedFlows {
    /// Adds `flows` of `size` bytes, which stay inside servers or not.
    pub(super) fn add(&mut self, size: u64, flows: f64, is_inside: bool) {
        match is_inside {
            true => self.inside += flows,
            false => self.shares.push(SizeShare { size, flows }),
        }
    }

    /// Adds `shares`, of whose flows the share `inside` stays inside servers.
    pub(super) fn add_all(&mut self, shares: impl IntoIterator<Item = SizeShare>, inside: f64) {
        for SizeShare { size, flows } in shares {
            self.inside += flows * inside;
            self.shares.push(SizeShare { size, flows: flows * (1.0 - inside) });
        }
    }
}

/// The sizes of all flows with an end. A distribution is given by its expected flows at equally
/// likely points. `seed` is that of the scenario: it draws permutations, which decide how many flows make a
/// load.
///
/// # Errors
/// When an entry does not fit the network.
pub fn expected_flows(
    traffic: &[TrafficConfig],
    topology: &Topology,
    routing: &Routing,
    seed: u64,
    duration: Time,
) -> Result<ExpectedFlows, ScenarioError> {
    let (mut expected, mut problems) = (ExpectedFlows::default(), Problems::default());
    for (index, config) in (0u16..).zip(traffic) {
        let entry = Entry { index, topology, routing, seed, duration };
        match config {
            TrafficConfig::OpenLoop(open_loop) => {
                let Some((sizes, flows, inside)) = open_loop.expected(&entry, &mut problems) else {
                    continue;
                };
                expected.add_all(size_points(&sizes, flows), 0.0);
                expected.inside += inside;
            }
            TrafficConfig::Incast(incast) => {
                let span = (incast.stop - incast.start).as_ps() as f64;
                let events = (span / incast.period.as_ps() as f64).ceil();
                let flows = events * f64::from(incast.degree);
                let size = incast.size.get() / u64::from(incast.degree);
                expected.add_all([SizeShare { size, flows }], incast.inside(topology));
            }
            TrafficConfig::Listed(listed) => {
                for &(source, destination, size, _) in &listed.flows {
                    if size > Bytes::ZERO {
                        let is_inside = topology.inner_links(source, destination).is_some();
                        expected.add(size.get(), 1.0, is_inside);
                    }
                }
            }
            TrafficConfig::Collective(collective) => {
                let flows = collective.expected(topology.hosts, topology.inner);
                expected.add_all(flows.shares, 0.0);
                expected.inside += flows.inside;
            }
            TrafficConfig::Rpc(rpc) => {
                let shares = rpc.expected(topology).unwrap_or_default();
                expected.add_all(shares, share(topology, &rpc.clients, &rpc.servers));
            }
            TrafficConfig::OnOff(on_off) => {
                let shares = on_off.expected(topology).unwrap_or_default();
                expected.add_all(shares, share(topology, &on_off.senders, &on_off.receivers));
            }
        }
    }
    ScenarioError::unless_none(problems)?;
    Ok(expected)
}

/// The share of the pairs of different hosts, one of each list, that are in one server. An empty list has all
/// hosts.
pub(super) fn share(topology: &Topology, sources: &[u32], destinations: &[u32]) -> f64 {
    let all = |list: &[u32]| named(list, topology.hosts);
    topology.inner.map_or(0.0, |links| links.share(&all(sources), &all(destinations)))
}
