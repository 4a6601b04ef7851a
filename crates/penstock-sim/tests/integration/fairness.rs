//! Long flows through one bottleneck share it evenly under fair schedulers.

use penstock_sim::Results;
use serde_json::{Value, json};

use crate::fixture::{GBPS, MS, bfc, dumbbell, ideal_fq, listed, pfc, run, scenario, sfq, with};

/// What each of `flows` endless flows, from one host each, has delivered after 2 ms.
fn delivered(scheme: Value, flows: u32, stagger: u64) -> Vec<u64> {
    let list: Vec<_> =
        (0..flows).map(|flow| (flow, flows + flow, 0, u64::from(flow) * stagger)).collect();
    let topology = dumbbell(flows, flows, 100 * GBPS);
    let results: Results =
        run(&with(scenario(topology, scheme, &[listed(&list)], 2 * MS), "/drain", 0));
    assert_eq!(results.summary.long_lived.len(), flows as usize);
    results.summary.long_lived.iter().map(|flow| flow.delivered_bytes).collect()
}

/// The share of the core's payload rate that was delivered in 2 ms, less the first round trip.
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
            let delivered = delivered(scheme, flows, 0);
            let (least, most) = (delivered.iter().min().unwrap(), delivered.iter().max().unwrap());
            assert!(most - least <= 2_000, "{flows} flows: {delivered:?}");
            assert!(utilization(&delivered) > 0.99, "{}", utilization(&delivered));
        }
    }
}

#[test]
fn bfc_shares_evenly_while_flows_are_fewer_than_queues() {
    for stagger in [0, 100_000, 1_300_000, 3_700_000, 11_100_000] {
        for flows in [2, 3, 4, 8, 16, 30] {
            let d = delivered(bfc(), flows, stagger);
            println!(
                "{stagger} {flows} {} {} {}",
                utilization(&d),
                d.iter().min().unwrap(),
                d.iter().max().unwrap()
            );
        }
    }
}

#[test]
fn a_flow_with_ten_times_the_window_gains_nothing_from_fair_queues_and_much_from_a_fifo() {
    // Both flows leave one switch by the core; the second holds ten times as many bytes in flight.
    let share = |scheme: Value| {
        let burst: Vec<_> = (0..11).map(|flow| (u32::from(flow > 0), 2, 0, 0)).collect();
        let topology = dumbbell(2, 1, 100 * GBPS);
        let scheme = with(scheme, "/host/controller", window(1.0));
        let scenario = scenario(topology, scheme, &[listed(&burst)], 2 * MS);
        let results = run(&with(scenario, "/drain", 0));
        let flows = results.summary.long_lived;
        let total: u64 = flows.iter().map(|flow| flow.delivered_bytes).sum();
        flows[0].delivered_bytes as f64 / total as f64
    };
    let fair = share(ideal_fq());
    assert!((fair - 1.0 / 11.0).abs() < 0.002, "{fair}");
    // Queues by class or by hash do not tell the hosts apart; eleven flows of 31 queues seldom meet.
    assert!((share(sfq()) - 1.0 / 11.0).abs() < 0.05);
    let pauses = share(pfc());
    assert!(pauses > 0.05, "{pauses}");
}
