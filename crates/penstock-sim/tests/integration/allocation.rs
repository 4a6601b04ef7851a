//! Nothing is allocated per packet once a run is under way (`DESIGN.md` sec. 4).

use penstock_packet::Unobserved;
use penstock_sim::network::Network;
use penstock_sim::simulation::Simulation;
use serde_json::Value;

use crate::fixture::{MS, leaf_spine, listed, name, parse, scenario, schemes};

/// Endless flows between all hosts of two racks: packets, pauses and marks, but no new flows.
fn endless(scheme: Value) -> Value {
    let mut flows = vec![];
    for source in 0..8 {
        flows.extend((1..4).map(|step| (source, (source + step) % 8, 0, 0)));
    }
    scenario(leaf_spine(2, 4, 2), scheme, &[listed(&flows)], 100 * MS)
}

#[test]
fn a_packet_costs_no_allocation() {
    for scheme in schemes() {
        let name = name(&scheme).to_owned();
        let scenario = parse(&endless(scheme));
        let network = Network::build(&scenario).unwrap();
        let mut simulation = Simulation::new(&scenario, network, Unobserved).unwrap();
        simulation.advance(400_000).unwrap();
        let allocations = allocation_counter::measure(|| {
            simulation.advance(200_000).unwrap();
        });
        // Slabs and queues may double now and then, when they reach a new height.
        assert!(allocations.count_total <= 4, "{name}: {allocations:?}");
    }
}
