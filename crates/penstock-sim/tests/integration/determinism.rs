//! The same scenario gives the same records, byte for byte.

use serde_json::{Value, json};

use crate::fixture::{
    GBPS, US, bfc, column, dumbbell, ideal_fq, incast, leaf_spine, line_rate, name, open_loop, run,
    run_to_the_end, scenario, schemes, single_switch, with,
};

/// A few hundred flows and an incast, with a buffer small enough for drops and pauses.
fn busy(scheme: Value) -> Value {
    let sizes = json!({"kind": "pareto", "shape": 1.3, "mean": 20_000});
    let traffic = [open_loop(sizes, 0.7, 200 * US), incast(7, 150_000, None)];
    let scheme = match scheme.pointer("/switch/admission/buffer") {
        Some(_) => with(scheme, "/switch/admission/buffer", 700_000),
        None => scheme,
    };
    scenario(leaf_spine(2, 4, 2), scheme, &traffic, 200 * US)
}

/// Digests of [`busy`]. They change when results change; the commit then says why. Debug and
/// release builds must agree on these literals.
const GOLDEN: [(&str, &str); 18] = [
    ("bfc", "5524b1a3c23ed8bbc7d8e56bd933854e"),
    ("dctcp", "31a0990a2a317e622b89028a5e849a81"),
    ("hpcc", "e494a6eab934b796a47bb766a745722d"),
    ("pfc", "d971348560d205502842d449b2a64a68"),
    ("line-rate", "7ab217cb576e0e418147872b817945b5"),
    ("sfq", "a8c20a7b7a2ad325bfb735ab8a3feba2"),
    ("ideal-fq", "5c81a0f79ad88f280f1c308078295db7"),
    ("perfect-retransmission", "a1c294eb8f52d92a233ecca83d40407e"),
    ("dcqcn", "774501dfb56d41b610098f61cabf174a"),
    ("dcqcn-mellanox", "90e459473e0274b650d05c40404c7b63"),
    ("qcn", "ee2bd1bf472e59b9cd7f03607610e1c2"),
    ("timely", "c704d2a4920f76089782b8f29b29ab60"),
    ("tcp", "a6319820a456fc3822a6e1e5083a15bb"),
    ("irn", "729c565db0c1e4cf86d84467e3dd11e8"),
    ("swift", "d03f0d8bd25b542bdf8544b2b22dc1fb"),
    ("fafc", "52d63fcbd3b3e6e73ad465df1c6f780d"),
    ("afq", "f4f26de4d00e3863e739d12a657577ba"),
    ("expresspass", "a82820f813e50b4e4766081dc6d91169"),
];

#[test]
fn the_digests_of_small_runs_are_the_golden_ones() {
    let digests: Vec<(String, String)> = schemes()
        .into_iter()
        .map(|scheme| (name(&scheme).to_owned(), run_to_the_end(&busy(scheme)).summary.digest))
        .collect();
    let golden = GOLDEN.map(|(name, digest)| (name.to_owned(), digest.to_owned()));
    assert_eq!(digests, golden, "results changed; the left side is the new GOLDEN");
}

/// Compares with the file that `tests/python/test_golden.py` runs in the optimised build.
#[test]
fn debug_and_release_builds_give_the_same_digests() {
    let file = include_str!("../../../../tests/golden/builds.json");
    let cases: Vec<Value> = serde_json::from_str(file).unwrap();
    assert!(cases.len() >= 9);
    for case in cases {
        let digest = run(&case["scenario"]).summary.digest;
        assert_eq!(case["digest"], digest.as_str(), "{}: results changed", case["name"]);
    }
}

#[test]
fn two_runs_of_a_scenario_give_the_same_tables() {
    for scheme in schemes() {
        let scenario = with(busy(scheme), "/measure/events", true);
        let (first, second) = (run(&scenario), run(&scenario));
        assert_eq!(first.summary.digest, second.summary.digest);
        assert_eq!(first.summary.events, second.summary.events);
        // The texts are compared, because NaN, the slowdown of an unfinished flow, is not equal to
        // itself.
        assert_eq!(format!("{:?}", first.tables), format!("{:?}", second.tables));
    }
}

#[test]
fn another_seed_gives_other_records() {
    let first = run(&busy(bfc())).summary.digest;
    assert_ne!(first, run(&with(busy(bfc()), "/seed", 2)).summary.digest);
}

#[test]
fn measuring_changes_no_result() {
    for scheme in [bfc(), line_rate(), ideal_fq()] {
        let plain = busy(scheme);
        let digest = run(&plain).summary.digest;
        let measured = [
            ("/measure/sample_interval", json!(777_000)),
            ("/measure/active_flows", json!(true)),
            ("/measure/events", json!(true)),
            ("/measure/series", json!([[8, 10], [0, 8]])),
            ("/measure/trace", json!({"nodes": []})),
        ];
        let all = measured.into_iter().fold(plain, |scenario, (at, new)| with(scenario, at, new));
        assert_eq!(run(&all).summary.digest, digest);
    }
}

/// Random traffic among the first six hosts; all other hosts are idle.
fn among_six(topology: Value, scheme: Value) -> Value {
    let sizes = json!({"kind": "exponential", "mean": 30_000});
    let hosts: Vec<u32> = (0..6).collect();
    let traffic = with(
        open_loop(sizes, 0.2, 300 * US),
        "/pairs",
        json!({"kind": "between", "sources": hosts, "destinations": hosts}),
    );
    let traffic = with(traffic, "/load_on", json!({"kind": "links", "links": [[0, "switch"]]}));
    let switch =
        topology["hosts"].as_u64().unwrap_or_else(|| 3 + topology["right"].as_u64().unwrap());
    let traffic = with(traffic, "/load_on/links/0/1", switch);
    scenario(topology, scheme, &[traffic], 300 * US)
}

#[test]
fn an_idle_host_changes_nothing() {
    for scheme in [line_rate(), ideal_fq(), bfc()] {
        let digests = |topologies: [Value; 3]| {
            topologies.map(|topology| {
                let results = run_to_the_end(&among_six(topology, scheme.clone()));
                assert!(column(&results, "flows", "flow").len() > 50);
                results.summary.digest
            })
        };
        let [six, seven, ten] = digests([6, 7, 10].map(single_switch));
        assert_eq!([&seven, &ten], [&six, &six], "single switch with {}", name(&scheme));
        let [three, four, nine] = digests([3, 4, 9].map(|right| dumbbell(3, right, 200 * GBPS)));
        assert_eq!([&four, &nine], [&three, &three], "dumbbell with {}", name(&scheme));
    }
}
