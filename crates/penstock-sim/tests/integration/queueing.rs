//! Closed forms of queueing theory on one bottleneck link.

use serde_json::{Value, json};

use crate::fixture::{
    GBPS, MS, column, dumbbell, graph, ideal_fq, line_rate, open_loop, run_to_the_end, scenario,
    with,
};

/// Poisson arrivals of 1,000 B packets that load the link `link` with `load`; the load counts wire
/// bytes, headers included.
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
    // The mean wait is rho / (2·(1 - rho)) = 2.0 service times at 0.8 (BASELINES 18.7). The
    // one-packet flows come from 16 links, each 16 times faster than the core.
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

/// Active flows of an ideal-fair link: the shares of time with 0, 1, 2, … active flows, and the
/// share of time that the link was busy.
struct ActiveFlows {
    shares: Vec<f64>,
    busy: f64,
}

/// `flows` flows of `sizes`, with a mean of `mean` bytes and `packets` packets, at `load`.
fn active_flows(sizes: Value, mean: f64, packets: f64, load: f64, flows: f64) -> ActiveFlows {
    // Sources 0..8 send at 16 times the rate of link 17, the link to the receiver. The header is a
    // byte, so that the bytes of a flow are its payload to a thousandth.
    let mut links: Vec<(u32, u32, u64, u64)> = (0..8).map(|host| (host, 9, 1_600, 1_000)).collect();
    links.push((8, 9, 100, 1_000));
    let wire_bytes = mean + packets;
    let duration = (flows * wire_bytes * 80.0 / load) as u64;
    let ends = ((0..8).collect(), vec![8]);
    let traffic = poisson(sizes, load * mean / wire_bytes, (9, 8), ends, duration);
    let scheme = with(ideal_fq(), "/host/controller", json!({"kind": "line-rate"}));
    let scheme = with(scheme, "/host/recovery", json!({"kind": "perfect"}));
    let scenario = scenario(graph(9, 1, &links), scheme, &[traffic], duration);
    let scenario = with(with(scenario, "/measure/active_flows", true), "/drain", 200 * MS);
    let results = run_to_the_end(&with(scenario, "/wire/header", 1));
    let link = column(&results, "active_flows", "link");
    let number = column(&results, "active_flows", "flows");
    let time = column(&results, "active_flows", "time_ns");
    let rows: Vec<usize> = (0..link.len()).filter(|&row| link[row] == 17.0).collect();
    let total: f64 = rows.iter().map(|&row| time[row]).sum();
    let largest = rows.iter().map(|&row| number[row] as usize).max().unwrap();
    let mut shares = vec![0.0; largest + 1];
    for row in rows {
        shares[number[row] as usize] = time[row] / total;
    }
    ActiveFlows { shares, busy: column(&results, "links", "busy_ns")[17] / total }
}

/// Active flows are geometric with mean rho / (1 - rho), whatever the sizes (BFC sec. 2.3): within
/// 5 %. Rho is the load that this run really offered. That removes most of the statistical error:
/// its standard deviation over seeds is then 1 %. A packet system is ahead of the fluid one by half
/// a packet of each flow, which lowers the mean by 1 / (2 · packets).
fn check_geometric(active: &ActiveFlows, load: f64) {
    let ActiveFlows { shares, busy } = active;
    assert!((busy - load).abs() < 0.01, "offered {busy}, not {load}");
    let mean: f64 = shares.iter().enumerate().map(|(flows, share)| flows as f64 * share).sum();
    let expected = busy / (1.0 - busy);
    assert!((mean / expected - 1.0).abs() < 0.05, "rho {load}: {mean}, not {expected}");
    let idle = 1.0 - busy;
    assert!((shares[0] / idle - 1.0).abs() < 0.05, "rho {load}: idle {}, not {idle}", shares[0]);
    for flows in 0..5 {
        let ratio = shares[flows + 1] / shares[flows];
        assert!((ratio / busy - 1.0).abs() < 0.08, "rho {load}, {flows} flows: {ratio}");
    }
}

fn check_fixed(load: f64, packets: u64, flows: f64) {
    let size = packets * 1_000;
    let sizes = json!({"kind": "fixed", "size": size});
    let active = active_flows(sizes, size as f64, packets as f64, load, flows);
    check_geometric(&active, load);
}

fn check_exponential(load: f64, packets: u64, flows: f64) {
    let mean = packets * 1_000;
    let sizes = json!({"kind": "exponential", "mean": mean});
    // The number of packets in a flow of exponential size is geometric.
    let packets = 1.0 / (1.0 - (-1.0 / packets as f64).exp());
    let active = active_flows(sizes, mean as f64, packets, load, flows);
    check_geometric(&active, load);
}

#[test]
fn active_flows_of_fixed_size_are_geometric_at_load_0_5() {
    check_fixed(0.5, 50, 40_000.0);
}

#[test]
fn active_flows_of_exponential_size_are_geometric_at_load_0_5() {
    check_exponential(0.5, 50, 40_000.0);
}

#[test]
fn active_flows_of_fixed_size_are_geometric_at_load_0_8() {
    check_fixed(0.8, 40, 80_000.0);
}

#[test]
fn active_flows_of_exponential_size_are_geometric_at_load_0_8() {
    check_exponential(0.8, 40, 80_000.0);
}

#[test]
fn active_flows_of_fixed_size_are_geometric_at_load_0_9() {
    check_fixed(0.9, 40, 150_000.0);
}

#[test]
fn active_flows_of_exponential_size_are_geometric_at_load_0_9() {
    check_exponential(0.9, 40, 150_000.0);
}
