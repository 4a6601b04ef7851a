//! Paths, and how evenly they spread.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::topology::build;
use crate::topology::tests::{bfc, dumbbell, graph, leaf_spine};

fn path(routing: &Routing, source: u32, destination: u32, hash: u64) -> Vec<u32> {
    let mut links = Vec::new();
    routing.path(source, destination, mix(hash), &mut links);
    links
}

#[test]
fn a_path_stays_in_the_rack_when_it_can() {
    let network = build(&bfc()).unwrap();
    let routing = Routing::new(&network);
    assert_eq!(path(&routing, 0, 15, 7), [0, 31]);
    assert_eq!(path(&routing, 0, 16, 7).len(), 4);
}

#[test]
fn hashes_spread_evenly_over_the_spines() {
    let network = build(&bfc()).unwrap();
    let routing = Routing::new(&network);
    let mut counts = BTreeMap::new();
    for hash in 0..80_000 {
        *counts.entry(path(&routing, 3, 100, hash)[1]).or_insert(0u32) += 1;
    }
    assert_eq!(counts.len(), 8);
    // Binomial: mean 10,000, standard deviation 93.5; five of them.
    assert!(counts.values().all(|count| count.abs_diff(10_000) < 468), "{counts:?}");
}

#[test]
fn the_second_choice_does_not_follow_the_first() {
    // 0 - 2 <(3, 4)> 5 <(6, 7)> 8 - 1: two choices of two.
    let ends = [(0, 2), (2, 3), (2, 4), (3, 5), (4, 5), (5, 6), (5, 7), (6, 8), (7, 8), (8, 1)];
    let network = build(&graph(2, 7, &ends)).unwrap();
    let routing = Routing::new(&network);
    let mut counts = BTreeMap::new();
    for hash in 0..40_000 {
        let links = path(&routing, 0, 1, hash);
        *counts.entry((links[1], links[3])).or_insert(0u32) += 1;
    }
    assert_eq!(counts.len(), 4);
    // Binomial: mean 10,000, standard deviation 86.6; five of them.
    assert!(counts.values().all(|count| count.abs_diff(10_000) < 433), "{counts:?}");
}

#[test]
fn equal_sets_are_kept_once() {
    let network = build(&leaf_spine(256, 32, 64)).unwrap();
    let routing = Routing::new(&network);
    // One set for the uplinks of any ToR, one for each port of any spine, and the empty set.
    assert_eq!(routing.sets.len(), 1 + 256 + 1);
    assert_eq!(routing.next_hops(8_192, 1).len(), 64);
    assert!(routing.next_hops(8_192, 0).is_empty());
}

#[test]
fn equal_blocks_are_kept_once() {
    let network = build(&leaf_spine(256, 32, 64)).unwrap();
    let routing = Routing::new(&network);
    // A ToR has blocks of nothing but uplinks, and one in which it is itself, at one of 64 places. A spine
    // has four blocks of one port for each ToR.
    assert_eq!(routing.choices.len(), BLOCK * (1 + BLOCK + 4));
}

#[test]
fn the_last_block_may_be_short() {
    let racks = BLOCK as u32 + 6;
    let network = build(&leaf_spine(racks, 1, 2)).unwrap();
    let routing = Routing::new(&network);
    for (source, destination) in
        (0..racks).flat_map(|one| (0..racks).map(move |other| (one, other)))
    {
        let links = path(&routing, source, destination, 7);
        let last = links.last().map_or(source, |&link| network.links[link as usize].to);
        assert_eq!(last, destination);
        assert_eq!(links.len(), if source == destination { 2 } else { 4 });
    }
}

#[test]
fn the_nearest_switch_is_the_edge_switch() {
    let network = build(&dumbbell(2, 2)).unwrap();
    let routing = Routing::new(&network);
    assert_eq!(routing.edge_switches(), [4, 5]);
    assert!(routing.nearest_first(1).eq([5, 4]));
}

proptest! {
    #[test]
    fn paths_are_connected_and_shortest(source in 0u32..24, other in 1u32..24, hash: u64) {
        let network = build(&leaf_spine(6, 4, 3)).unwrap();
        let routing = Routing::new(&network);
        let destination = (source + other) % 24;
        let links = path(&routing, source, destination, hash);
        let mut node = source;
        for link in &links {
            prop_assert_eq!(network.links[*link as usize].from, node);
            node = network.links[*link as usize].to;
        }
        prop_assert_eq!(node, destination);
        let expected = if source / 4 == destination / 4 { 2 } else { 4 };
        prop_assert_eq!(links.len(), expected);
    }
}
