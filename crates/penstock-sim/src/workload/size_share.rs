//! The expected sizes of a scenario's flows, for policies that know the workload.

use penstock_transport::SizeShare;
use penstock_units::{Bytes, Problems, Time};

use super::TrafficConfig;
use super::entry::Entry;
use super::expected::ExpectedFlows;
use super::hosts::share_inside;
use crate::error::ScenarioError;
use crate::routing::Routing;
use crate::topology::Topology;

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
        let before = (expected.shares.len(), expected.inside);
        match config {
            TrafficConfig::OpenLoop(open_loop) => {
                let Some((sizes, flows, inside)) = open_loop.expected(&entry, &mut problems) else {
                    continue;
                };
                expected.add_all(sizes.points(flows), 0.0);
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
                expected.add_all(shares, share_inside(topology, &rpc.clients, &rpc.servers));
            }
            TrafficConfig::OnOff(on_off) => {
                let shares = on_off.expected(topology).unwrap_or_default();
                expected
                    .add_all(shares, share_inside(topology, &on_off.senders, &on_off.receivers));
            }
        }
        if config.is_dependent() && !matches!(config, TrafficConfig::Listed(_)) {
            let shares = &expected.shares[before.0..];
            expected.behind[0] += shares.iter().map(|share| share.flows).sum::<f64>();
            expected.behind[1] += expected.inside - before.1;
        }
    }
    ScenarioError::unless_none(problems)?;
    Ok(expected)
}
