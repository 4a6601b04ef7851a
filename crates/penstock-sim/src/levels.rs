//! Hosts whose parameters follow the sizes of the flows that a scenario makes expect.

use crate::error::ScenarioError;
use crate::network::Network;
use crate::scenario::Scenario;
use crate::workload;

/// `scenario` with what its controller leaves to the workload. The sizes are the expected ones, not those
/// that a run happens to draw, so that they are the same for every seed.
///
/// # Errors
/// When its traffic does not fit the network.
pub(crate) fn resolved(scenario: &Scenario, network: &Network) -> Result<Scenario, ScenarioError> {
    let mut scenario = scenario.clone();
    let Some(levels) = scenario.scheme.switch.assignment.levels() else {
        return Ok(scenario);
    };
    let controller = &mut scenario.scheme.host.controller;
    if controller.follows_sizes() {
        let (topology, routing) = (&network.topology, &network.routing);
        let sizes = workload::size_shares(&scenario.traffic, topology, routing, scenario.duration)?;
        controller.follow_sizes(&sizes, &network.path, levels);
    }
    Ok(scenario)
}
