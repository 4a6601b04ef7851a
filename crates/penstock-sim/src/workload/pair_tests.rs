//! The pairs of open-loop flows.

use penstock_engine::stream::stream;
use penstock_units::declared;
use proptest::prelude::*;

use super::*;
use crate::topology::tests::{bfc, graph, leaf_spine};
use crate::topology::{Topology, build};

fn network() -> (Topology, Routing) {
    let network = build(&leaf_spine(3, 4, 2)).unwrap();
    let routing = Routing::new(&network);
    (network, routing)
}

fn refusal(config: &PairConfig, topology: &Topology) -> String {
    let routing = Routing::new(topology);
    let mut random = stream(1, "pairs");
    let mut problems = Problems::below("x");
    declared::check(config, &mut problems);
    let pairs = config.pairs(&routing, topology.hosts, &mut random, &mut problems);
    assert!(pairs.is_none() || !problems.is_empty(), "{config:?} is accepted");
    problems.to_string()
}

fn kinds() -> [PairConfig; 7] {
    [
        PairConfig::Uniform {},
        PairConfig::RackLocal { fraction: 0.3 },
        PairConfig::Permutation {},
        PairConfig::Between { sources: vec![0, 1, 5, 11], destinations: vec![1, 5, 6] },
        PairConfig::Matrix { rows: vec![(12, 12, 1.0), (12, 13, 3.0), (8, 14, 2.0), (9, 4, 0.5)] },
        PairConfig::FanIn { least: 1, most: 7 },
        PairConfig::Synchronous { sources: vec![0, 1, 4, 8], receiver: 5 },
    ]
}

#[test]
fn draws_follow_the_demand() {
    let (network, routing) = network();
    for config in kinds() {
        let mut random = stream(1, "pairs");
        let mut pairs = config.pairs(&routing, 12, &mut random, &mut Problems::default()).unwrap();
        let expected = pairs.demand(&routing, &network).crossings(&network, &routing);
        let count = 100_000;
        let mut crossed = vec![0u32; network.links.len()];
        for flow in 0..count {
            let (source, destination) = pairs.draw(&mut random);
            assert_ne!(source, destination);
            let mut links = Vec::new();
            let hash = penstock_engine::stream::mix(flow);
            routing.path(source, destination, hash, &mut links);
            links.iter().for_each(|link| crossed[*link as usize] += 1);
        }
        for (link, (crossed, expected)) in crossed.iter().zip(expected).enumerate() {
            let share = f64::from(*crossed) / count as f64;
            // Within five standard errors of a binomial share.
            let error = (expected * (1.0 - expected) / count as f64).sqrt();
            let off = (share - expected).abs();
            assert!(off <= 5.0 * error + 1e-12, "{config:?}, link {link}: {share}, {expected}");
        }
    }
}

#[test]
fn the_local_share_is_that_of_the_scenario() {
    let (_, routing) = network();
    let mut random = stream(1, "pairs");
    for (fraction, is_local) in [(0.0, false), (1.0, true)] {
        let config = PairConfig::RackLocal { fraction };
        let mut pairs = config.pairs(&routing, 12, &mut random, &mut Problems::default()).unwrap();
        for _ in 0..1_000 {
            let (source, destination) = pairs.draw(&mut random);
            assert_eq!(source / 4 == destination / 4, is_local);
        }
    }
}

#[test]
fn racks_need_not_be_numbered_in_a_row() {
    let network = build(&graph(4, 2, &[(0, 4), (1, 5), (2, 4), (3, 5), (4, 5)])).unwrap();
    let routing = Routing::new(&network);
    let mut random = stream(1, "pairs");
    let config = PairConfig::RackLocal { fraction: 1.0 };
    let mut pairs = config.pairs(&routing, 4, &mut random, &mut Problems::default()).unwrap();
    for _ in 0..100 {
        let (source, destination) = pairs.draw(&mut random);
        assert_eq!(source % 2, destination % 2);
    }
}

#[test]
fn refusals_name_field_and_value() {
    let (wide, _) = network();
    let lonely = build(&leaf_spine(4, 1, 2)).unwrap();
    let one_rack = build(&leaf_spine(1, 4, 2)).unwrap();
    let between = |sources: &[u32], destinations: &[u32]| PairConfig::Between {
        sources: sources.to_vec(),
        destinations: destinations.to_vec(),
    };
    let cases = [
        (PairConfig::RackLocal { fraction: 1.5 }, &wide, "x.fraction is 1.5;"),
        (PairConfig::RackLocal { fraction: f64::NAN }, &wide, "x.fraction is no finite number;"),
        (PairConfig::RackLocal { fraction: 0.5 }, &lonely, "x.fraction is 0.5; a switch has one"),
        (PairConfig::RackLocal { fraction: 0.5 }, &one_rack, "x.fraction is 0.5; all hosts are"),
        (
            between(&[0, 12], &[1]),
            &wide,
            "x.sources[1] is 12; there is no such host; hosts are 0 to 11",
        ),
        (between(&[0], &[1, 2, 1]), &wide, "x.destinations[2] is 1; it repeats destinations[0]"),
        (between(&[], &[1]), &wide, "x.sources is a list of 0; write 1 or more"),
        (between(&[3], &[3]), &wide, "x.destinations is [3]; the only pair is host 3 with itself"),
    ];
    for (config, topology, expected) in cases {
        let message = refusal(&config, topology);
        assert!(message.starts_with(expected), "{message:?} does not say {expected:?}");
    }
}

#[test]
fn json_is_that_of_the_scenario() {
    for config in kinds() {
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<PairConfig>(&text).unwrap(), config);
        let unknown = text.replacen('{', r#"{"colour":1,"#, 1);
        assert!(serde_json::from_str::<PairConfig>(&unknown).is_err(), "{unknown}");
    }
    assert_eq!(serde_json::to_string(&kinds()[0]).unwrap(), r#"{"kind":"uniform"}"#);
}

proptest! {
    #[test]
    fn a_permutation_is_fixed_and_has_no_fixed_point(seed: u64) {
        let network = build(&bfc()).unwrap();
        let routing = Routing::new(&network);
        let mut random = stream(seed, "pairs");
        let mut problems = Problems::default();
        let pairs = PairConfig::Permutation {}.pairs(&routing, 128, &mut random, &mut problems);
        let pairs = pairs.unwrap();
        let Pairs::Permutation { mut destinations } = pairs else { unreachable!() };
        prop_assert!((0..).zip(&destinations).all(|(host, to)| host != *to));
        destinations.sort_unstable();
        prop_assert!(destinations.into_iter().eq(0..128));
    }
}
