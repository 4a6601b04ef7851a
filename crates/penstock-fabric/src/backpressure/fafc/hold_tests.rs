//! Ingresses that stay paused by the length of a queue (ours), on the switch of `fafc_tests`.

use super::*;

/// A switch whose egress 0 holds 40,000 bytes, four times the threshold, and gets 3,000 bytes from ports 1
/// and 2 in each of 20 us. Port 2 also sends to port 1. Egress 0 sends `sent` packets in each.
fn after_20_us(drain_share: f64, sent: usize) -> Bench {
    let mut bench = bench_of(FafcConfig { drain_share, ..config() });
    bench.bring(40, 1, 0);
    for microsecond in 1..=20 {
        for ingress in [1, 2] {
            bench.bring(3, ingress, 0);
        }
        bench.bring(1, 2, 1);
        bench.depart(1);
        for _ in 0..sent {
            bench.depart(0);
        }
        bench.sent();
        bench.until(US * microsecond);
    }
    bench
}

#[test]
fn a_queue_beyond_the_threshold_leaves_its_egress_less_than_it_sends() {
    // 3 bytes/ns leave. Port 1 has no victims and is held; then 3 bytes/ns are left, which have to be 2.25.
    let mut bench = after_20_us(0.25, 3);
    assert_eq!(bench.sent(), [(1, 1_000), (2, 251)]);
    assert!(bench.fafc().goes_by_length(0) && !bench.fafc().goes_by_length(1));
}

#[test]
fn a_queue_that_does_not_grow_pauses_nobody_by_its_growth_alone() {
    let mut bench = after_20_us(0.0, 6);
    assert!(bench.fafc().forecast.queue(0) > 30_000.0);
    assert_eq!(bench.sent(), []);
    bench.depart(0);
    assert_eq!(bench.sent(), []);
    // By its length 6 bytes/ns have to be 4.5.
    let mut bench = after_20_us(0.25, 6);
    assert_eq!(bench.sent(), [(1, 500)]);
    assert!(bench.fafc().goes_by_length(0)); // though no ingress is paused for a whole T_hop
}

#[test]
fn an_egress_that_cannot_send_holds_all() {
    assert_eq!(after_20_us(0.0, 0).sent(), []);
    assert_eq!(after_20_us(0.25, 0).sent(), [(1, 1_000), (2, 1_000)]);
}

#[test]
fn at_the_threshold_one_ingress_after_the_other_goes() {
    let mut bench = after_20_us(0.25, 0);
    bench.sent();
    while bench.fafc().forecast.stored(1, 0) + bench.fafc().forecast.stored(2, 0) > 5_000 {
        bench.depart(0);
    }
    assert_eq!(bench.sent(), []); // the egress goes by its length still
    bench.until(US * 21);
    assert!(bench.fafc().forecast.queue(0) > 10_000.0); // smoothed
    assert_eq!(bench.sent(), [(1, 1_000), (2, 1_000)]);
    bench.until(US * 22);
    assert!(bench.fafc().forecast.queue(0) < 10_000.0);
    assert_eq!(bench.sent(), [(2, 1_000)]);
    assert!(bench.fafc().goes_by_length(0)); // as it still holds an ingress
    bench.until(US * 23);
    assert_eq!(bench.sent(), []);
    assert!(!bench.fafc().goes_by_length(0));
}

#[test]
fn it_is_solved_at_once() {
    let policy = |drain_share| {
        let fields = [
            ("/backpressure/drain_share", json!(drain_share)),
            ("/backpressure/solver_delay", json!(30_600_000)),
        ];
        refused(&[POLICY], &fields)
    };
    assert!(policy(0.0).is_empty());
    assert_eq!(
        policy(0.25),
        ["backpressure.solver_delay is 30.6 us; write 0 ns, because an egress with a drain_share \
             finds its pauses in each T_hop"]
    );
}
