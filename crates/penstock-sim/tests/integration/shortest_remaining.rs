//! Shortest remaining flow first against closed forms.

use serde_json::{Value, json};

use crate::fixture::{
    MS, US, bfc, column, graph, ideal_fq, listed, open_loop, run_to_the_end, scenario, with,
};

/// SRF at switches and NICs, without windows, over infinite buffers with a queue per flow, or over
/// BFC.
fn srf(scheme: Value) -> Value {
    let scheme = with(scheme, "/switch/scheduling", json!({"kind": "srf"}));
    let scheme = with(scheme, "/host/nic/scheduling", "srf");
    with(scheme, "/host/controller", json!({"kind": "line-rate"}))
}

/// Sources 0..8 send at 16 times the rate of the link to the receiver.
fn funnel() -> Value {
    let mut links: Vec<(u32, u32, u64, u64)> = (0..8).map(|host| (host, 9, 1_600, 1_000)).collect();
    links.push((8, 9, 100, 1_000));
    graph(9, 1, &links)
}

#[test]
fn the_shorter_of_two_flows_finishes_as_if_alone_and_the_longer_after_both() {
    for scheme in [srf(ideal_fq()), srf(bfc())] {
        // The long flow starts first and is half done when the short flow comes.
        let (long, short, later) = (400_000, 100_000, 16_768_000);
        let flows = listed(&[(0, 8, long, 0), (1, 8, short, later)]);
        let results = run_to_the_end(&scenario(funnel(), scheme, &[flows], 100 * US));
        let (sizes, times) =
            (column(&results, "flows", "size_bytes"), column(&results, "flows", "fct_ns"));
        let of = |size: u64| times[sizes.iter().position(|&other| other == size as f64).unwrap()];
        let packet_ns = 83.84;
        // Right to two packets: one is on the wire, and the first packet is stored at the switch.
        let within = |time: f64, packets: f64| (time / packet_ns - packets).abs() < 2.0;
        assert!(within(of(short), 100.0), "{} ns", of(short));
        assert!(within(of(long), 500.0), "{} ns", of(long));
    }
}

/// The mean time in an M/G/1 queue with the shortest remaining time first, for exponential sizes of mean
/// 1 at load `rho` (L. Schrage, L. Miller, Operations Research 1966): a wait of
/// rho (∫₀ˣ t² f dt + x² (1 - F)) / (2 (1 - rho_x)²), and ∫₀ˣ dt / (1 - rho_t) in service.
fn srpt_mean(rho: f64) -> f64 {
    let step = 1e-3;
    let (mut mean, mut service) = (0.0, 0.0);
    for place in 0..30_000 {
        let x = (f64::from(place) + 0.5) * step;
        let tail = (-x).exp();
        let below = rho * (1.0 - (1.0 + x) * tail); // rho_x, for the density e^-t
        let squares = 2.0 - (x * x + 2.0 * x + 2.0) * tail + x * x * tail;
        service += step / (1.0 - below);
        mean += (rho * squares / (2.0 * (1.0 - below).powi(2)) + service) * tail * step;
    }
    mean
}

#[test]
fn the_mean_time_of_a_flow_is_that_of_m_g_1_srpt() {
    // At load 0 a flow is alone. At load 0.5 the textbook value is 1.425.
    assert!((srpt_mean(1e-9) - 1.0).abs() < 1e-3 && (srpt_mean(0.5) - 1.425).abs() < 0.01);
    let (mean, flows) = (50_000.0, 40_000.0);
    for load in [0.5, 0.8] {
        let duration = (flows * mean * 80.0 / load) as u64;
        let sizes = json!({"kind": "exponential", "mean": mean as u64});
        let traffic = open_loop(sizes, load, duration);
        let links = json!({"kind": "links", "links": [[9, 8]]});
        let traffic = with(traffic, "/load_on", links);
        let ends: (Vec<u32>, Vec<u32>) = ((0..8).collect(), vec![8]);
        let pairs = json!({"kind": "between", "sources": ends.0, "destinations": ends.1});
        let scheme = with(srf(ideal_fq()), "/host/recovery", json!({"kind": "perfect"}));
        let scenario = scenario(funnel(), scheme, &[with(traffic, "/pairs", pairs)], duration);
        // The header is a byte, so that the bytes of a flow are its payload to a thousandth.
        let scenario = with(with(scenario, "/drain", 200 * MS), "/wire/header", 1);
        let results = run_to_the_end(&scenario);
        let times = column(&results, "flows", "fct_ns");
        let measured = times.iter().sum::<f64>() / times.len() as f64 / (mean * 0.08);
        let expected = srpt_mean(load);
        // Within 5 %: a packet on the wire is not preempted, and 40,000 flows at 0.8 have an error
        // of 2 %.
        assert!((measured / expected - 1.0).abs() < 0.05, "{load}: {measured}, not {expected}");
    }
}
