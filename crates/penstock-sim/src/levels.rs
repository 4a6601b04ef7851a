//! Parameters of hosts that follow from the flow sizes expected in a scenario.

use crate::error::ScenarioError;
use crate::network::Network;
use crate::scenario::Scenario;
use crate::workload;

/// `scenario`, with the parameters filled in that its controller derives from the workload. The
/// sizes are expected ones, not the sizes that a run draws, so the parameters are the same for
/// every seed, unless a permutation decides how many flows of several entries there are.
///
/// # Errors
/// When the traffic of `scenario` does not fit the network.
pub(crate) fn resolved(scenario: &Scenario, network: &Network) -> Result<Scenario, ScenarioError> {
    let mut scenario = scenario.clone();
    let Some(levels) = scenario.scheme.switch.assignment.levels() else {
        return Ok(scenario);
    };
    let controller = &mut scenario.scheme.host.controller;
    if controller.follows_sizes() {
        let (topology, routing) = (&network.topology, &network.routing);
        let (traffic, seed, duration) = (&scenario.traffic, scenario.seed, scenario.duration);
        let flows = workload::expected_flows(traffic, topology, routing, seed, duration)?;
        controller.follow_sizes(&flows.shares, &network.path, levels);
    }
    Ok(scenario)
}
