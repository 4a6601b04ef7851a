//! The expected sizes of a scenario's flows, for policies that know the workload.

use penstock_transport::SizeShare;
use penstock_units::{Problems, Time};

use super::TrafficConfig;
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

/// The sizes of all flows with an end. A distribution is given by its expected flows at equally
/// likely points.
///
/// # Errors
/// When an entry does not fit the network.
pub fn size_shares(
    traffic: &[TrafficConfig],
    topology: &Topology,
    routing: &Routing,
    duration: Time,
) -> Result<Vec<SizeShare>, ScenarioError> {
    let (mut shares, mut problems) = (vec![], Problems::default());
    for (index, config) in (0u16..).zip(traffic) {
        let entry = Entry { index, topology, routing, seed: 0, duration };
        match config {
            TrafficConfig::OpenLoop(open_loop) => {
                let Some((sizes, flows)) = open_loop.expected(&entry, &mut problems) else {
                    continue;
                };
                shares.extend(size_points(&sizes, flows));
            }
            TrafficConfig::Incast(incast) => {
                let span = (incast.stop - incast.start).as_ps() as f64;
                let events = (span / incast.period.as_ps() as f64).ceil();
                shares.push(SizeShare {
                    size: incast.size.get() / u64::from(incast.degree),
                    flows: events * f64::from(incast.degree),
                });
            }
            TrafficConfig::Listed(listed) => {
                let sizes = listed.flows.iter().map(|flow| flow.2.get());
                let finite = sizes.filter(|&size| size > 0);
                shares.extend(finite.map(|size| SizeShare { size, flows: 1.0 }));
            }
            TrafficConfig::Collective(collective) => {
                shares.extend(collective.shares(topology.hosts));
            }
            TrafficConfig::Rpc(rpc) => shares.extend(rpc.expected(topology).unwrap_or_default()),
            TrafficConfig::OnOff(on_off) => {
                shares.extend(on_off.expected(topology).unwrap_or_default());
            }
        }
    }
    ScenarioError::unless_none(problems)?;
    Ok(shares)
}
