//! Long flows through one bottleneck share it evenly under fair schedulers.

use serde_json::{Value, json};

use crate::fixture::{GBPS, MS, bfc, dumbbell, ideal_fq, listed, run, scenario, sfq, with};

/// The payload that each of `flows` endless flows, from one host each, has delivered after 2 ms.
fn delivered(scheme: Value, flows: u32) -> Vec<u64> {
    let list: Vec<_> = (0..flows).map(|flow| (flow, flows + flow, 0, 0)).collect();
    let topology = dumbbell(flows, flows, 100 * GBPS);
    let results = run(&with(scenario(topology, scheme, &[listed(&list)], 2 * MS), "/drain", 0));
    assert_eq!(results.summary.long_lived.len(), flows as usize);
    results.summary.long_lived.iter().map(|flow| flow.delivered_bytes).collect()
}

/// The share of the core's payload rate that was delivered in 2 ms, without the first round trip.
fn utilization(delivered: &[u64]) -> f64 {
    let payload = 2e-3 * 100e9 / 8.0 * 1_000.0 / 1_048.0;
    delivered.iter().sum::<u64>() as f64 / payload
}

fn window(factor: f64) -> Value {
    json!({"kind": "window", "bdp_factor": factor})
}

#[test]
fn flows_differ_by_a_packet_or_two_and_the_link_is_full() {
    let drr = with(ideal_fq(), "/switch/scheduling", json!({"kind": "drr", "quantum": 1_048}));
    for scheme in [drr, ideal_fq()] {
        for flows in [2, 3, 10, 32] {
            let scheme = with(scheme.clone(), "/host/controller", window(1.5));
            let delivered = delivered(scheme, flows);
            let (least, most) = (delivered.iter().min().unwrap(), delivered.iter().max().unwrap());
            assert!(most - least <= 2_000, "{flows} flows: {delivered:?}");
            assert!(utilization(&delivered) > 0.99, "{}", utilization(&delivered));
        }
    }
}

#[test]
fn bfc_shares_evenly_and_loses_no_more_than_appendix_c_says() {
    // Two equal flows run out of packets together, for 1/5 of the time (App. C, x = 2). The more
    // flows there are, the more seldom do all of them run out together.
    for (flows, least) in [(2, 0.795), (3, 0.82), (8, 0.93), (16, 0.98), (30, 0.99)] {
        let delivered = delivered(bfc(), flows);
        let mean = delivered.iter().sum::<u64>() as f64 / f64::from(flows);
        for flow in &delivered {
            assert!((*flow as f64 / mean - 1.0).abs() < 0.03, "{delivered:?}");
        }
        assert!(utilization(&delivered) > least, "{flows}: {}", utilization(&delivered));
    }
}

#[test]
fn a_host_with_ten_flows_gains_nothing_against_one_with_one_flow() {
    // The flows of both hosts leave the first switch by the core, so a fair share is the share of
    // one flow.
    let share_of_one = |scheme: Value| {
        let flows: Vec<_> = (0..11).map(|flow| (u32::from(flow > 0), 2, 0, 0)).collect();
        let scheme = with(scheme, "/host/controller", window(1.0));
        let scenario = scenario(dumbbell(2, 1, 100 * GBPS), scheme, &[listed(&flows)], 2 * MS);
        let flows = run(&with(scenario, "/drain", 0)).summary.long_lived;
        let total: u64 = flows.iter().map(|flow| flow.delivered_bytes).sum();
        flows[0].delivered_bytes as f64 / total as f64
    };
    let fair = share_of_one(ideal_fq());
    assert!((fair - 1.0 / 11.0).abs() < 0.002, "{fair}");
    let by_hash = share_of_one(sfq());
    assert!((by_hash - 1.0 / 11.0).abs() < 0.05, "{by_hash}");
}
