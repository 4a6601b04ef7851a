//! Swift holds the delay near the target, and shares a link.

use serde_json::json;

use crate::fixture::{
    GBPS, MS, US, column, dumbbell, listed, run, scenario, single_switch, swift, with,
};

/// Base round-trip time through one switch, with the 8 B of the timestamp (us).
const BASE_RTT: f64 = 4.0 + (2.0 * 1_056.0 + 2.0 * 60.0) * 8e-5;

/// The effect of `flows` endless flows to one host on its link, in the second half of 4 ms: the
/// mean and the largest queueing delay (us); and the bytes that each flow has delivered at the end.
fn share(flows: u32) -> (f64, f64, Vec<u64>) {
    let list: Vec<_> = (1..=flows).map(|host| (host, 0, 0, 0)).collect();
    let scenario = scenario(single_switch(flows + 1), swift(1), &[listed(&list)], 4 * MS);
    let scenario = with(with(scenario, "/drain", 0), "/measure/sample_interval", US);
    let results = run(&with(scenario, "/measure/series", json!([[flows + 1, 0]])));
    let queue = column(&results, "series", "queue_bytes");
    let late: Vec<f64> = queue[2_000..].iter().map(|bytes| bytes * 8e-5).collect();
    let mean = late.iter().sum::<f64>() / late.len() as f64;
    let largest = late.iter().copied().fold(0.0, f64::max);
    (mean, largest, results.summary.long_lived.iter().map(|flow| flow.delivered_bytes).collect())
}

/// The target (us) of a flow with a window of `packets`: the base RTT, 1.2 us for the switch, and
/// the part that depends on the window, with a range of 8 us between 0.1 and 100 packets.
fn target(packets: f64) -> f64 {
    let scale = 8.0 / (1.0 / 0.1f64.sqrt() - 0.1);
    BASE_RTT + 1.2 + (scale / packets.sqrt() - scale * 0.1).clamp(0.0, 8.0)
}

#[test]
fn a_few_flows_hold_the_delay_near_the_target_and_fill_the_link() {
    for flows in [2, 4, 8] {
        let (mean, _, delivered) = share(flows);
        let delay = BASE_RTT + mean;
        let window = delay * 1e-6 * 100e9 / 8.0 / 1_056.0 / f64::from(flows);
        let target = target(window);
        assert!((delay / target - 1.0).abs() < 0.15, "{flows}: {delay} us for {target} us");
        let total: u64 = delivered.iter().sum();
        let used = total as f64 * 1.056 * 8.0 / (4e-3 * 100e9);
        assert!(used > 0.93, "{flows}: {used}");
        let fair = total as f64 / f64::from(flows);
        assert!(delivered.iter().all(|&bytes| (bytes as f64 / fair - 1.0).abs() < 0.2));
    }
}

#[test]
fn more_flows_than_packets_fit_the_path_are_held_by_pacing() {
    let (mean, largest, delivered) = share(300);
    assert!(mean < target(0.1) - BASE_RTT, "{mean}");
    let one_of_each = 300.0 * 1_056.0 * 8e-5 - BASE_RTT;
    assert!(largest < 0.9 * one_of_each, "{largest}");
    let used = delivered.iter().sum::<u64>() as f64 * 1.056 * 8.0 / (4e-3 * 100e9);
    assert!(used > 0.9, "{used}");
}

/// Base round-trip time of a flow that enters a core of 100 Gb/s at 400 Gb/s (us).
const CORE_RTT: f64 = 6.0 + 1_056.0 * (2.0 * 2e-5 + 8e-5) + 60.0 * (2.0 * 2e-5 + 8e-5);

/// The mean queue in front of that core (bytes), and the share of time that the core is busy, in
/// the second half of 6 ms. One flow has the target `target` (ps).
fn core(target: u64) -> (f64, f64) {
    let scheme = with(swift(10), "/host/controller/base_target", target);
    let scheme = with(scheme, "/host/controller/hop_target", 0);
    let topology = dumbbell(1, 1, 400 * GBPS);
    let scenario = scenario(topology, scheme, &[listed(&[(0, 1, 0, 0)])], 6 * MS);
    let scenario = with(with(scenario, "/drain", 0), "/measure/sample_interval", US);
    let results = run(&with(scenario, "/measure/series", json!([[2, 3]])));
    let (queue, sent) =
        (column(&results, "series", "queue_bytes"), column(&results, "series", "tx_bytes"));
    let late = &queue[3_000..];
    let mean = late.iter().sum::<f64>() / late.len() as f64;
    (mean, (sent[6_000] - sent[3_000]) / 3_000.0 / 12_500.0)
}

/// Sec. 10.4 and 23: the window of one flow stays around C·target/8. So the queue is C·(target -
/// T)/8 and the link is busy, if and only if the target is above T. A window of 100 packets adds
/// nothing to the target; a window of 95, at 8 us, adds 0.01 us. The queue is right to a packet.
#[test]
fn one_flow_holds_the_queue_at_its_target_less_the_base_rtt() {
    for target in [8, 12, 20] {
        let (queue, busy) = core(target * US);
        let expected = 12_500.0 * (target as f64 - CORE_RTT);
        assert!((queue - expected).abs() < 1_056.0, "{target}: {queue} B, {expected}");
        assert!((busy - 1.0).abs() < 1e-3, "{target}: {busy}");
    }
    assert!(core(6 * US).1 < 0.9, "below the base round-trip time: {}", core(6 * US).1);
}
