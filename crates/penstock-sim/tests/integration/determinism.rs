//! The same scenario gives the same records, byte for byte.

use serde_json::{Value, json};

use crate::fixture::{
    GBPS, US, bfc, column, dumbbell, ideal_fq, incast, leaf_spine, line_rate, name, open_loop, run,
    run_to_the_end, scenario, schemes, single_switch, with,
};

/// A few hundred flows and an incast, with a buffer small enough for drops and pauses.
pub fn busy(scheme: Value) -> Value {
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
const GOLDEN: [(&str, &str); 24] = [
    ("bfc", "e3223cc538e425aaffe62421fc34215b"),
    ("dctcp", "a5b7602b93b450e774ef17e03ca31f94"),
    ("hpcc", "ca08aca9cd4987a41db64bd364ba4054"),
    ("pfc", "edaab5d7947907ace7ad56c2595d2a12"),
    ("line-rate", "e045a80c529e784d6ea849375874fef3"),
    ("sfq", "14e38c49a8814c61fa33523126b612f8"),
    ("ideal-fq", "a75653ad7e4ae647155d6a00c682ddea"),
    ("perfect-retransmission", "29b2f1aaaf6357b12b4ce249d9f34701"),
    ("dcqcn", "d4a82320005043f2572a8db917f04f93"),
    ("dcqcn-mellanox", "a3144cee3c335fe506a4ab431ca46115"),
    ("pcn-early", "f7815f913bdb2b218c2505d7dd0e7d33"),
    ("qcn", "3f2eeb08a55156fddc203a0012759c8f"),
    ("timely", "f5be2a54b5577d0685f0c57ded72330c"),
    ("tcp", "ce733e979ece391c1de247645b7557a7"),
    ("irn", "d71fcfde0f01250041e5045f8fce95bf"),
    ("swift", "54dddc4f1923b2f7bdc0825833fbd1b7"),
    ("powertcp", "4c55e2a79395b4f18dafad096a53e840"),
    ("theta-powertcp", "5401ae8b389cedee2b7545c5af5dbe93"),
    ("fafc", "f715b762afb0b9095483b8720eb78601"),
    ("fafc-hold", "be2b56899ea5be7c5324c733313eeee9"),
    ("afq", "606ee7a3202fcc99e81233b008f2e466"),
    ("expresspass", "3e47b91828d575c6d50baf73641f887b"),
    ("ndp", "d7c06acb571716f7dcb3c8329b0be246"),
    ("pfabric", "0c0e6287ca73f69996e0bb0400d54406"),
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
            ("/measure/trace", json!({"nodes": [], "events": []})),
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
