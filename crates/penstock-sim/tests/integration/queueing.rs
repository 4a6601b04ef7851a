//! Closed forms of queueing theory on one bottleneck link (`DESIGN.md` sec. 8.3).

use serde_json::{Value, json};

use crate::fixture::{
    GBPS, MS, column, dumbbell, graph, ideal_fq, line_rate, open_loop, run_to_the_end, scenario,
    with,
};

/// `load` of 1,000 B packets on the link `link`, wire bytes counted, header and all.
fn poisson(
    sizes: Value,
    load: f64,
    link: (u32, u32),
    ends: (Vec<u32>, Vec<u32>),
    stop: u64,
) -> Value {
    let traffic = open_loop(sizes, load, stop);
    let links = json!({"kind": "links", "links": [link]});
    let pairs = json!({"kind": "between", "sources": ends.0, "destinations": ends.1});
    with(with(traffic, "/load_on", links), "/pairs", pairs)
}

#[test]
fn the_mean_wait_of_a_fifo_is_that_of_m_d_1() {
    // rho / (2·(1 - rho)) = 2.0 service times at 0.8 (BASELINES 18.7): one-packet flows from 16
    // links, each 16 times faster than the core.
    let service_ns = 1_048.0 * 0.08;
    let duration = (300_000.0 * service_ns * 1_000.0 / 0.8) as u64;
    let ends = ((0..16).collect(), (16..20).collect());
    let sizes = json!({"kind": "fixed", "size": 1_000});
    let load = 0.8 * 1_000.0 / 1_048.0;
    let traffic = poisson(sizes, load, (20, 21), ends, duration);
    let topology = dumbbell(16, 4, 1_600 * GBPS);
    let results = run_to_the_end(&scenario(topology, line_rate(), &[traffic], duration));
    let wait = results.summary.queue_delay_ns["background"].mean / service_ns;
    assert!((wait - 2.0).abs() < 0.06, "{wait} service times");
    let busy = 1_048.0 * 0.08 * results.summary.flows_finished as f64 / (duration as f64 / 1e3);
    assert!((busy - 0.8).abs() < 0.006, "{busy}");
}

/// The distribution of the number of active flows on an ideal-fair link at `load`: how long it had
/// 0, 1, 2, … flows, as shares.
fn active_flows(sizes: Value, mean_wire_bytes: f64, load: f64, flows: f64) -> Vec<f64> {
    // Sources 0..8 at 16 times the rate of the link to the receiver, which is link 17.
    let mut links: Vec<(u32, u32, u64, u64)> = (0..8).map(|host| (host, 9, 1_600, 1_000)).collect();
    links.push((8, 9, 100, 1_000));
    let mean = sizes.get("size").or(sizes.get("mean")).unwrap().as_f64().unwrap();
    let duration = (flows * mean_wire_bytes * 80.0 / load) as u64;
    let ends = ((0..8).collect(), vec![8]);
    let traffic = poisson(sizes, load * mean / mean_wire_bytes, (9, 8), ends, duration);
    let scheme = with(ideal_fq(), "/host/controller", json!({"kind": "line-rate"}));
    let scheme = with(scheme, "/host/recovery", json!({"kind": "perfect"}));
    let scenario = scenario(graph(9, 1, &links), scheme, &[traffic], duration);
    let scenario = with(with(scenario, "/measure/active_flows", true), "/drain", 200 * MS);
    // A header of a byte, so that a flow's bytes are its payload but for a thousandth.
    let seed: u64 = std::env::var("SEED").unwrap().parse().unwrap();
    let scenario = with(scenario, "/seed", seed);
    let results = run_to_the_end(&with(scenario, "/wire/header", 1));
    let busy = column(&results, "links", "busy_ns")[17] / (duration as f64 / 1e3);
    let link = column(&results, "active_flows", "link");
    let number = column(&results, "active_flows", "flows");
    let time = column(&results, "active_flows", "time_ns");
    let total: f64 = link.iter().zip(&time).filter(|row| *row.0 == 17.0).map(|row| row.1).sum();
    let mut shares = vec![];
    for (_, (number, time)) in
        link.iter().zip(number.iter().zip(&time)).filter(|row| *row.0 == 17.0)
    {
        shares.resize(shares.len().max(*number as usize + 1), 0.0);
        shares[*number as usize] = time / total;
    }
    let m: f64 = shares.iter().enumerate().map(|(f, s)| f as f64 * s).sum();
    println!("RHO {load} mean {m} idle {} busy {busy} pred {}", shares[0], busy / (1.0 - busy));
    shares
}

/// Active flows are geometric with mean rho / (1 - rho) whatever the sizes (BFC sec. 2.3). A flow
/// counts while packets of it are queued, not while its last one is sent: a share of 1 / packets of
/// its service.
fn check_geometric(shares: &[f64], load: f64, packets: f64) {
    let mean: f64 = shares.iter().enumerate().map(|(flows, share)| flows as f64 * share).sum();
    let expected = load / (1.0 - load);
    assert!((mean / expected - 1.0).abs() < 0.05, "rho {load}: {mean}, not {expected}");
    let idle = 1.0 - load * (1.0 - 1.0 / packets);
    assert!((shares[0] - idle).abs() < 0.1 * idle, "rho {load}: idle {}, not {idle}", shares[0]);
    for flows in 1..4 {
        let ratio = shares[flows + 1] / shares[flows];
        assert!((ratio / load - 1.0).abs() < 0.06, "rho {load}, {flows} flows: {ratio}");
    }
}

fn check_fixed(load: f64, packets: u64, flows: f64) {
    let sizes = json!({"kind": "fixed", "size": packets * 1_000});
    let shares = active_flows(sizes, packets as f64 * 1_001.0, load, flows);
    check_geometric(&shares, load, packets as f64);
}

fn check_exponential(load: f64, packets: u64, flows: f64) {
    let mean = packets as f64 * 1_000.0;
    let sizes = json!({"kind": "exponential", "mean": packets * 1_000});
    // The mean number of packets is that of a geometric distribution.
    let headers = 1.0 / (1.0 - (-1_000.0 / mean).exp());
    let shares = active_flows(sizes, mean + headers, load, flows);
    check_geometric(&shares, load, headers);
}

#[test]
fn active_flows_of_fixed_size_are_geometric_at_half_load() {
    check_fixed(0.5, 50, 60_000.0);
}

#[test]
fn active_flows_of_exponential_size_are_geometric_at_half_load() {
    check_exponential(0.5, 50, 60_000.0);
}

#[test]
fn active_flows_of_fixed_size_are_geometric_at_load_0_8() {
    check_fixed(0.8, 20, 200_000.0);
}

#[test]
fn active_flows_of_exponential_size_are_geometric_at_load_0_8() {
    check_exponential(0.8, 20, 200_000.0);
}

#[test]
fn active_flows_of_fixed_size_are_geometric_at_load_0_9() {
    check_fixed(0.9, 12, 500_000.0);
}

#[test]
fn active_flows_of_exponential_size_are_geometric_at_load_0_9() {
    check_exponential(0.9, 12, 500_000.0);
}
