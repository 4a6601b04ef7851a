//! AFQ with packet pairs: after the first pair a flow sends at the rate of its share.

use crate::bottleneck::{Bottleneck, Measured};
use crate::fixture::{GBPS, MS, afq, tcp, with};

/// `flows` flows that start together at 10 Gb/s, the rate for which the paper gives its numbers.
fn crowd(flows: usize, duration: u64) -> Measured {
    Bottleneck { rate: 10 * GBPS, ..Bottleneck::new(afq(512_000), flows, duration) }.measure()
}

#[test]
fn a_flow_alone_keeps_the_line_rate() {
    let goodput = crowd(1, 20 * MS).goodputs[0];
    let expected = 1e10 * 1_000.0 / 1_048.0;
    assert!((goodput / expected - 1.0).abs() < 0.005, "{goodput} of {expected}");
}

#[test]
fn a_crowd_shares_the_link_evenly_without_losses() {
    for flows in [2, 16] {
        let measured = crowd(flows, 10 * MS);
        let share = 1e10 * 1_000.0 / 1_048.0 / flows as f64;
        // With 16 flows, 1.5 BDP of a share are less than a packet pair. The pair then waits until
        // nothing is in flight (Fig. 13), and some flows fall behind by a fifth.
        let tolerance = if flows == 2 { 0.01 } else { 0.25 };
        for goodput in &measured.goodputs {
            assert!((goodput / share - 1.0).abs() < tolerance, "{goodput} of {share}");
        }
        let total: f64 = measured.goodputs.iter().sum();
        assert!(total > 0.99 * share * flows as f64, "{total}");
        assert_eq!(measured.results.summary.drops, 0);
        // The queue is shorter than the 8 rounds of each flow that are not marked.
        let queue = measured.mean_queue();
        assert!(queue < 8.0 * 1_048.0 * flows as f64, "{queue}");
    }
}

#[test]
fn over_a_single_queue_pairs_stay_together_and_overrun_it() {
    // Two packets of a pair leave a FIFO back to back, so their gap says nothing about the other
    // flows.
    let pair = afq(512_000)["host"]["controller"].clone();
    let fifo = with(tcp(512_000), "/host/controller", pair);
    let measured = Bottleneck { rate: 10 * GBPS, ..Bottleneck::new(fifo, 16, 10 * MS) }.measure();
    let fair = crowd(16, 10 * MS);
    assert!(measured.mean_queue() > 2.0 * fair.mean_queue(), "{}", measured.mean_queue());
}
