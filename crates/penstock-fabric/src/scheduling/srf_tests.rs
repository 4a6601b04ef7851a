//! Shortest remaining flow first: ranked by the head packet of each queue.

use crate::fixture::refusal::{DYNAMIC, PER_FLOW, SFQ, refused};
use alloc::vec;

use penstock_packet::Signal;

use crate::fixture::{Bench, Flow, flow, hosts, per_flow};
use crate::scheduling::srf;
use crate::{SchedulingConfig, SwitchConfig};

fn bench() -> Bench {
    Bench::new(&per_flow(SchedulingConfig::Srf(srf::SrfConfig {})), &hosts(2))
}

/// Admits a packet of flow `number`, which has `remaining` bytes to go from this packet on.
fn admit(bench: &mut Bench, number: u32, remaining: u32) {
    bench.admit(Flow { remaining, ..flow(number) }, 1_000);
}

#[test]
fn the_head_packet_ranks_its_queue() {
    let mut bench = bench();
    // The last packet of flow 1 has the least to go, but its head packet has the most.
    for remaining in [9_000, 1_000] {
        admit(&mut bench, 1, remaining);
    }
    for remaining in [5_000, 4_000] {
        admit(&mut bench, 2, remaining);
    }
    admit(&mut bench, 3, 4_500);
    assert_eq!(bench.drain(0), [3, 2, 2, 1, 1]);
}

#[test]
fn a_new_head_is_ranked_anew() {
    let mut bench = bench();
    for remaining in [3_000, 8_000] {
        admit(&mut bench, 1, remaining);
    }
    admit(&mut bench, 2, 5_000);
    assert_eq!(bench.drain(0), [1, 2, 1]);
}

#[test]
fn a_shorter_flow_goes_ahead_of_one_that_waits_and_not_of_one_on_the_wire() {
    let mut bench = bench();
    admit(&mut bench, 1, 5_000);
    admit(&mut bench, 1, 4_000);
    assert_eq!(bench.depart(0).unwrap().0.flow_hash, 1);
    admit(&mut bench, 2, 1_000);
    assert_eq!(bench.drain(0), [2, 1]);
}

#[test]
fn class_comes_before_size_and_pauses_before_both() {
    let text = r#"{"kind":"class","classes":2}"#;
    let assignment = serde_json::from_str(text).unwrap();
    let config = SwitchConfig { assignment, ..per_flow(SchedulingConfig::Srf(srf::SrfConfig {})) };
    let mut bench = Bench::new(&config, &hosts(2));
    bench.admit(Flow { remaining: 1_000, class: 1, ..flow(1) }, 1_000);
    bench.admit(Flow { remaining: 9_000, class: 0, ..flow(2) }, 1_000);
    bench.signal(0, Signal::PauseQueue(1));
    assert_eq!(bench.drain(0), vec![1]);
    bench.admit(Flow { remaining: 1_000, class: 1, ..flow(1) }, 1_000);
    bench.signal(0, Signal::ResumeQueue(1));
    assert_eq!(bench.drain(0), [2, 1]);
}

#[test]
fn it_ranks_flows() {
    let srf = ("scheduling", r#"{"kind": "srf"}"#);
    assert!([PER_FLOW, DYNAMIC].iter().all(|flows| refused(&[*flows, srf], &[]).is_empty()));
    let expected = "scheduling.kind is srf; it ranks flows, and the stochastic assignment mixes them in a \
                    queue; use assignment \"per-flow\" or \"dynamic\"";
    assert_eq!(refused(&[SFQ, srf], &[]), [expected]);
}
