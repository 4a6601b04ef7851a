//! Open connections, which flows share one after the other.

use penstock_sim::Results;
use serde_json::{Value, json};

use crate::fixture::{
    GBPS, MS, column, dctcp_tcp, dumbbell, hpcc, open_loop, parse, run_to_the_end, scenario, tcp,
    with,
};

/// Poisson arrivals of flows of `size` from host 0 to host 1, which load the core with `load`, on so many
/// connections.
fn one_pair(scheme: Value, size: u64, load: f64, connections: u32, duration: u64) -> Value {
    let traffic = open_loop(json!({"kind": "fixed", "size": size}), load, duration);
    let pairs = json!({"kind": "between", "sources": [0], "destinations": [1]});
    let links = json!({"kind": "links", "links": [(2, 3)]});
    let traffic = with(with(traffic, "/pairs", pairs), "/load_on", links);
    let traffic = with(traffic, "/connections", connections);
    scenario(dumbbell(1, 1, 100 * GBPS), scheme, &[traffic], duration)
}

/// Completion times (ns), and when the flows completed (ns), by number.
fn times(results: &Results) -> Vec<(f64, f64)> {
    let completions = column(results, "flows", "fct_ns");
    let starts = column(results, "flows", "start_ns");
    completions.iter().zip(starts).map(|(&time, start)| (time, start + time)).collect()
}

#[test]
fn flows_of_a_packet_wait_for_a_connection_as_m_d_1() {
    // A flow has the connection for a round trip without queues: 6.05 us and what sending takes. At half of
    // that rate the mean wait is rho / (2 (1 - rho)) = 0.5 of it (BASELINES 18.7).
    let alone = run_to_the_end(&one_pair(tcp(1 << 20), 1_000, 1e-5, 0, 50 * MS));
    let service = times(&alone)[0].0;
    let load = 0.5 * 1_000.0 * 0.08 / service;
    let results = run_to_the_end(&one_pair(tcp(1 << 20), 1_000, load, 1, 200 * MS));
    let times = times(&results);
    assert!(times.len() > 10_000, "{} flows", times.len());
    let mean = times.iter().map(|(time, _)| time).sum::<f64>() / times.len() as f64;
    assert!((mean / service - 1.5).abs() < 0.05, "{} round trips", mean / service);
    assert!(times.windows(2).all(|pair| pair[0].1 < pair[1].1), "one flow after the other");
    assert_eq!(results.summary.drops, 0);
}

#[test]
fn with_enough_connections_no_flow_waits() {
    let several = run_to_the_end(&one_pair(tcp(1 << 20), 1_000, 0.01, 1_000, 10 * MS));
    let own = run_to_the_end(&one_pair(tcp(1 << 20), 1_000, 0.01, 0, 10 * MS));
    assert_eq!(times(&several), times(&own));
}

#[test]
fn a_flow_on_an_open_connection_needs_no_slow_start() {
    // 64 packets with a first window of one packet: 1 + 2 + 4 + … in seven round trips.
    let fewest = |connections| {
        let results =
            run_to_the_end(&one_pair(dctcp_tcp(1 << 20), 64_000, 0.02, connections, 20 * MS));
        times(&results).iter().fold(f64::INFINITY, |least, (time, _)| least.min(*time))
    };
    let (anew, open) = (fewest(0), fewest(1));
    assert!(anew > 42_000.0, "{anew}");
    assert!(open < 12_000.0, "{open}");
}

#[test]
fn connections_are_refused_where_a_flow_leaves_nothing_to_the_next() {
    let refused = |scheme| {
        let scenario = parse(&one_pair(scheme, 1_000, 0.1, 3, MS));
        penstock_sim::validate(&scenario).unwrap_err().to_string()
    };
    let told = refused(hpcc());
    assert!(
        told.starts_with("traffic[0].connections is 3; the go-back-n recovery begins anew"),
        "{told}"
    );
    let told = refused(with(
        tcp(1 << 20),
        "/host/controller",
        json!({"kind": "window", "bdp_factor": 1.0}),
    ));
    assert!(told.contains("the window controller begins anew with each flow"), "{told}");
}
