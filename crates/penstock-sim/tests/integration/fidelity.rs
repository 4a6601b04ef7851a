//! Times that the arithmetic of the ns-3 HPCC simulator cuts to 0 ns, and paths that are too long for it.

use penstock_units::Problem;
use serde_json::{Value, json};

use crate::fixture::{
    GBPS, US, dcqcn_mellanox, dctcp, graph, hpcc, listed, parse, run_to_the_end, scenario, with,
};

/// Two hosts under a switch, with links of `rate` Gb/s and `delay` (ps), and a flow of 1 kB.
fn pair(scheme: Value, fidelity: &str, (rate, delay): (u64, u64), payload: u32) -> Value {
    let topology = graph(2, 1, &[(0, 2, rate, delay), (1, 2, rate, delay)]);
    let scenario = scenario(topology, scheme, &[listed(&[(0, 1, 1_000, 0)])], US);
    with(with(scenario, "/fidelity", fidelity), "/wire/payload", payload)
}

fn refused(scenario: &Value) -> String {
    let error = penstock_sim::validate(&parse(scenario)).unwrap_err();
    let [Problem { path, value, remedy }] = error.problems() else { panic!("{error}") };
    assert_eq!(path, "wire.payload");
    format!("{value}; {remedy}")
}

#[test]
fn a_packet_of_no_time_is_refused() {
    // 49 B at 400 Gb/s take 0.98 ns, so sources of endless flows sent for ever at one instant. The
    // arithmetic of the ns-3 HPCC simulator also cuts the nanosecond of 50 B.
    for (scheme, payload) in [(dcqcn_mellanox(), 1), (dctcp(), 2)] {
        let refusal = refused(&pair(scheme, "ns3-hpcc", (400, US), payload));
        let packet = format!("{payload} B; fidelity ns3-hpcc cuts times to whole ns, and a packet");
        assert!(refusal.starts_with(&packet), "{refusal}");
        assert!(refusal.contains("takes 0 ns on H0->S0 at 400 Gb/s"), "{refusal}");
    }
}

#[test]
fn a_round_trip_of_no_time_is_refused() {
    // 12 B take 0.96 ns at 100 Gb/s, and HPCC and DCTCP divide by that time. Their packet takes 4
    // ns.
    for scheme in [hpcc(), dctcp()] {
        let refusal = refused(&pair(scheme, "ns3-hpcc", (100, 499), 12));
        assert!(refusal.contains("the round trip over H0->S0"), "{refusal}");
    }
}

#[test]
fn the_least_that_takes_time_runs_to_the_end_in_either_fidelity() {
    for scheme in [hpcc(), dctcp(), dcqcn_mellanox()] {
        for (links, payload) in [((400, 1_000), 3), ((100, 0), 13), ((100, 1_000), 12)] {
            run_to_the_end(&pair(scheme.clone(), "ns3-hpcc", links, payload));
        }
        for links in [(1, 0), (400, 0), (100_000, 0)] {
            run_to_the_end(&pair(scheme.clone(), "exact", links, 1));
        }
    }
}

#[test]
fn a_path_of_more_links_than_a_packet_counts_is_refused() {
    let along = |switches: u32| {
        let ends = [(0, 2), (1, 1 + switches)].into_iter();
        let links = ends.chain((2..1 + switches).map(|switch| (switch, switch + 1)));
        let links: Vec<_> = links.map(|(from, to)| (from, to, 100, 1_000)).collect();
        with(pair(hpcc(), "ns3-hpcc", (100, 0), 1_000), "/topology", graph(2, switches, &links))
    };
    run_to_the_end(&along(254));
    let error = penstock_sim::validate(&parse(&along(255))).unwrap_err();
    let [Problem { path, remedy, .. }] = error.problems() else { panic!("{error}") };
    assert_eq!(path, "fidelity");
    assert!(remedy.contains("has 256 links"), "{remedy}");
    run_to_the_end(&with(along(255), "/fidelity", "exact"));
}

#[test]
fn every_link_counts() {
    let topology = graph(3, 2, &[(0, 3, 100, 0), (1, 3, 100, 0), (2, 4, 100, 0), (3, 4, 9_000, 0)]);
    let slow = pair(hpcc(), "ns3-hpcc", (100, 0), 1_000);
    let refusal = refused(&with(slow.clone(), "/topology", topology.clone()));
    assert!(refusal.contains("S0->S1 at 9 Tb/s"), "{refusal}");
    let slower = with(topology, "/links/3/rate", json!(8_000 * GBPS));
    penstock_sim::validate(&parse(&with(slow, "/topology", slower))).unwrap();
}
