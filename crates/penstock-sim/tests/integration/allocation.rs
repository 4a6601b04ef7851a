//! Nothing is allocated per packet once a run is under way, and what carries nothing takes little memory.

use penstock_packet::Unobserved;
use penstock_sim::network::Network;
use penstock_sim::partitions;
use penstock_sim::routing::Routing;
use penstock_sim::simulation::Simulation;
use serde_json::{Value, json};

use crate::fixture::{MS, bfc, dctcp, leaf_spine, listed, name, parse, scenario, schemes};

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

#[test]
fn an_idle_network_takes_less_than_two_kilobytes_a_host_beyond_its_routes() {
    const HOSTS: u64 = 4_096;
    let clos = json!({
        "kind": "clos", "pods": 4, "tors_per_pod": 32, "leafs_per_pod": 16, "hosts_per_tor": 32,
        "spines": 16, "host_rate": 100_000_000_000u64, "leaf_rate": 100_000_000_000u64,
        "spine_rate": 100_000_000_000u64, "host_delay": 1_000_000, "leaf_delay": 1_000_000,
        "spine_delay": 1_000_000, "pipeline_delay": 0, "failed_links": [],
    });
    for scheme in [bfc(), dctcp()] {
        let name = name(&scheme).to_owned();
        let scenario = parse(&scenario(clos.clone(), scheme, &[listed(&[(0, 1, 1_000, 0)])], MS));
        let mut routing = None;
        let topology = Network::build(&scenario).unwrap().topology;
        let routes = allocation_counter::measure(|| routing = Some(Routing::new(&topology)));
        // From the scenario to the tables: building the network, the run, its results.
        let all = allocation_counter::measure(|| {
            let network = Network::build(&scenario).unwrap();
            let count = partitions(&network.topology, 1);
            let cut = Simulation::partitioned(&scenario, network, count, || Unobserved);
            let mut simulation = cut.unwrap();
            while simulation.advance(1_000).unwrap() {}
            assert_eq!(simulation.finish(false).summary.flows_finished, 1, "{name}");
        });
        let beyond = (all.bytes_max - routes.bytes_current as u64) / HOSTS;
        assert!(
            beyond < 2_000,
            "{name}: {beyond} B a host, and {} B of routes",
            routes.bytes_current
        );
    }
}
