use proptest::prelude::*;

use super::*;
use crate::topology::tests::{bfc, dumbbell, graph, leaf_spine};
use crate::topology::{TopologyConfig, build};

fn analyse(config: &TopologyConfig) -> (Topology, Dependencies) {
    let topology = build(config).unwrap();
    let dependencies = Dependencies::new(&topology, &[&Routing::new(&topology)]);
    (topology, dependencies)
}

/// A ring of `switches` switches, with one host each.
fn ring(switches: u32) -> TopologyConfig {
    let to_hosts = (0..switches).map(|one| (one, switches + one));
    let around = (0..switches).map(|one| (switches + one, switches + (one + 1) % switches));
    graph(switches, switches, &to_hosts.chain(around).collect::<Vec<_>>())
}

/// One pod of PCN's Clos network without L0-T3 and L1-T0 (PCN app. B.5). Hosts are 0 to 7, ToRs 8
/// to 11, leafs 12 and 13; the leafs are called S0 and S1 here.
fn pcn_pod() -> TopologyConfig {
    let TopologyConfig::LeafSpine(mut pod) = leaf_spine(4, 2, 2) else { unreachable!() };
    pod.failed_links = vec![(12, 11), (13, 8)];
    TopologyConfig::LeafSpine(pod)
}

fn names(topology: &Topology, links: &[u32]) -> Vec<String> {
    links.iter().map(|link| topology.link_name(*link)).collect()
}

#[test]
fn up_down_routes_have_no_cycle() {
    for config in [bfc(), dumbbell(3, 3)] {
        let (topology, dependencies) = analyse(&config);
        assert!(dependencies.cycles().is_empty());
        assert!(dependencies.elision(&topology).is_empty());
    }
    // Every ToR waits for every other by every spine.
    let (_, dependencies) = analyse(&bfc());
    assert_eq!(dependencies.all().count(), 8 * 8 * 7);
}

#[test]
fn routes_that_go_up_and_then_down_are_told() {
    let tells = |config: &TopologyConfig| {
        let topology = build(config).unwrap();
        go_up_then_down(&topology, &[&Routing::new(&topology)])
    };
    assert!(tells(&bfc()) && tells(&leaf_spine(4, 2, 2)));
    // With two failed links, packets from T0 to T3 turn at T1 or T2. A ring has one tier.
    assert!(!tells(&pcn_pod()) && !tells(&ring(5)));
}

proptest! {
    #[test]
    fn where_packets_go_up_and_then_down_is_no_cycle(
        racks in 2u32..6, spines in 2u32..4, failed in prop::collection::btree_set(0usize..15, 0..5),
    ) {
        let TopologyConfig::LeafSpine(mut config) = leaf_spine(racks, 1, spines) else { unreachable!() };
        let cables: Vec<_> = (0..racks)
            .flat_map(|rack| (0..spines).map(move |spine| (racks + rack, 2 * racks + spine)))
            .collect();
        config.failed_links = failed.iter().filter_map(|&one| cables.get(one).copied()).collect();
        // Some lists of failed links cut the network.
        if let Ok(topology) = build(&TopologyConfig::LeafSpine(config)) {
            let routing = Routing::new(&topology);
            let cycles = Dependencies::new(&topology, &[&routing]).cycles().len();
            prop_assert!(cycles == 0 || !go_up_then_down(&topology, &[&routing]));
        }
    }
}

#[test]
fn a_ring_has_a_cycle_each_way_from_four_switches_on() {
    // With three switches, every neighbour is one link away and no packet waits twice.
    assert!(analyse(&ring(3)).1.cycles().is_empty());
    let (topology, dependencies) = analyse(&ring(5));
    assert_eq!(dependencies.cycles().len(), 2);
    let [clockwise, back] = [0, 1].map(|cycle| dependencies.example(&dependencies.cycles()[cycle]));
    assert_eq!(names(&topology, &clockwise), ["S0->S1", "S1->S2", "S2->S3", "S3->S4", "S4->S0"]);
    assert_eq!(back.len(), 5);
    // All switches are of one tier, so one dependency of each cycle has to go.
    assert!(dependencies.down_up(&topology).is_empty());
    let elided = dependencies.elision(&topology);
    assert_eq!(elided.len(), 2);
    assert!(dependencies.is_acyclic_without(&elided));
    assert!(!dependencies.is_acyclic_without(&elided[1..]));
}

#[test]
fn the_pod_with_two_failed_links_has_the_papers_cycle() {
    let (topology, dependencies) = analyse(&pcn_pod());
    // The red line of PCN fig. 21(a): L0, T1, L1, T2 and back; and the same line in the other
    // direction.
    let [one, other] = [0, 1].map(|cycle| dependencies.example(&dependencies.cycles()[cycle]));
    assert_eq!(names(&topology, &one), ["T1->S0", "S0->T2", "T2->S1", "S1->T1"]);
    assert_eq!(names(&topology, &other), ["S0->T1", "T1->S1", "S1->T2", "T2->S0"]);
    assert_eq!(dependencies.cycles().len(), 2);
    // Only packets between T0 and T3 turn at a ToR: at T1 and T2, in both directions.
    let down_up = dependencies.down_up(&topology);
    assert_eq!(down_up.len(), 4);
    assert!(dependencies.is_acyclic_without(&down_up));
    let elided = dependencies.elision(&topology);
    assert!(elided.iter().all(|one| down_up.contains(one)) && elided.len() == 2, "{elided:?}");
    assert!(dependencies.is_acyclic_without(&elided));
}

#[test]
fn what_no_traffic_passes_makes_no_dependency() {
    // S2 has no hosts and is on no shortest path between S0 and S1.
    let (_, dependencies) = analyse(&graph(2, 3, &[(0, 2), (1, 3), (2, 3), (2, 4), (4, 3)]));
    assert_eq!(dependencies.all().count(), 0);
}

#[test]
fn whatever_the_routes_a_clos_without_down_up_turns_has_no_cycle() {
    for config in [bfc(), leaf_spine(4, 2, 2)] {
        let topology = build(&config).unwrap();
        let any = Dependencies::of_any_route(&topology);
        assert_eq!(any.cycles().len(), 1);
        let down_up = any.down_up(&topology);
        assert!(any.is_acyclic_without(&down_up));
        let elided = any.elision(&topology);
        assert!(any.is_acyclic_without(&elided));
        assert!(elided.iter().all(|turn| down_up.contains(turn)));
    }
}

#[test]
fn routings_that_follow_one_another_count_together() {
    let TopologyConfig::LeafSpine(pod) = leaf_spine(4, 2, 2) else { unreachable!() };
    let topology = build(&TopologyConfig::LeafSpine(pod)).unwrap();
    let mut is_down = vec![false; topology.links.len()];
    for (from, to) in [(12, 11), (11, 12), (13, 8), (8, 13)] {
        is_down[topology.link_between(from, to).unwrap() as usize] = true;
    }
    let (whole, failed) = (Routing::new(&topology), Routing::avoiding(&topology, &is_down));
    assert!(Dependencies::new(&topology, &[&whole]).cycles().is_empty());
    assert_eq!(Dependencies::new(&topology, &[&failed]).cycles().len(), 2);
    let both = Dependencies::new(&topology, &[&whole, &failed]);
    // A packet from T1 is at S0 when the link to T3 fails. The packet turns back and goes up again
    // to S1. T0 is no way, because T0 has lost its own link to S1.
    let link = |from, to| topology.link_between(from, to).unwrap();
    let turn = |leaf| (link(leaf, 12), link(12, leaf));
    assert!(both.all().any(|dependency| dependency == turn(9)));
    assert!(both.all().all(|dependency| dependency != turn(8)));
    assert!(both.is_acyclic_without(&both.down_up(&topology)));
}
