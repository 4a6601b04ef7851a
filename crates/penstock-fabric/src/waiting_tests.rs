//! Which packets are stopped, and which pauses these packets keep.

use alloc::vec;

use penstock_packet::Signal;
use penstock_packet::epochs::label;

use super::*;
use crate::SwitchConfig;
use crate::assignment::dynamic::DynamicConfig;
use crate::fixture::{Bench, Flow, bfc, dynamic, flow, hop_rtts, hosts, plain};

/// PFC with an XOFF of 5,000 B and an XON of 3,000 B, or dynamic thresholds.
fn pfc(admission: &str, xoff: &str) -> Bench {
    let backpressure = alloc::format!(
        r#"{{"kind":"pfc","xon_offset":2000,"xoff":{xoff},"pause":{{"kind":"lasting"}}}}"#
    );
    let config = SwitchConfig {
        admission: serde_json::from_str(admission).unwrap(),
        backpressure: serde_json::from_str(&backpressure).unwrap(),
        ..plain()
    };
    Bench::new(&config, &hosts(3))
}

fn kept(bytes: u64) -> KeptPause {
    KeptPause { ingress: 1, number: 0, bytes }
}

#[test]
fn packets_are_stopped_while_their_queue_is_paused() {
    let mut bench = pfc(r#"{"kind":"infinite"}"#, "5000");
    bench.admit(flow(1), 1_000);
    bench.admit(Flow { ingress: 2, ..flow(2) }, 500);
    assert_eq!(bench.switch.stopped(&bench.pool, 0), []);
    bench.signal(0, Signal::PauseClass(0));
    let stopped = |ingress, bytes| Stopped { pause: 0, ingress, keeps: 0, bytes };
    assert_eq!(bench.switch.stopped(&bench.pool, 0), [stopped(1, 1_000), stopped(2, 500)]);
    assert_eq!(bench.switch.stopped(&bench.pool, 2), []);
    bench.signal(0, Signal::ResumeClass(0));
    assert_eq!(bench.switch.stopped(&bench.pool, 0), []);
}

#[test]
fn a_pfc_pause_lasts_above_xon_only_and_only_when_it_was_sent() {
    let mut bench = pfc(r#"{"kind":"infinite"}"#, "5000");
    for _ in 0..4 {
        bench.admit(flow(1), 1_000);
    }
    assert_eq!(bench.switch.lasting(&[kept(4_000)]), [false]);
    assert!(bench.admit(flow(1), 1_000).is_some());
    // XON is 3,000 B. With 3,000 B left the class resumes, with one byte more it does not.
    assert_eq!(bench.switch.lasting(&[kept(3_000), kept(3_001)]), [false, true]);
    assert_eq!(bench.switch.lasting(&[kept(0)]), [false]);
    assert!(bench.switch.has_lasting_pauses());
}

#[test]
fn a_dynamic_threshold_is_that_of_the_kept_packets_alone() {
    // The pool is 100,000 - 3 * 6,000 B; the vector of BASELINES 29 with three ports.
    let admission = r#"{"kind":"shared","buffer":100000,"other_buffers":[],
        "ingress":{"alpha":0.125,"reserve":1000,"headroom":{"kind":"bytes","size":5000}}}"#;
    let mut bench = pfc(admission, "null");
    while bench.admit(flow(1), 1_000).is_none() {}
    let used = bench.switch.accounts().ingress(1, 0).used;
    // 9,000 B are beyond the reserve. The rest of the pool gives 9,125 B, and XON is 2,000 B below.
    assert_eq!(bench.switch.lasting(&[kept(used)]), [true]);
    // 7,000 + 2,000 B are not more than (82,000 - 7,000) / 8 B.
    assert_eq!(bench.switch.lasting(&[kept(8_000)]), [false]);
    // With another port's 40,000 B in the pool, the limit is 4,375 B.
    let other = KeptPause { ingress: 2, number: 0, bytes: 41_000 };
    assert_eq!(bench.switch.lasting(&[kept(8_000), other]), [true, false]);
    // Reserves are no part of the pool. With 7,333 B in it the limit is 9,333 B, which are kept; with a byte
    // more the same limit is exceeded.
    assert_eq!(bench.switch.lasting(&[kept(8_333)]), [false]);
    assert_eq!(bench.switch.lasting(&[kept(8_334)]), [true]);
    // Two ports share the pool: with 7,000 B each, the limit is 8,500 B. Only port 1 was paused.
    let second = KeptPause { ingress: 2, ..kept(8_000) };
    assert_eq!(bench.switch.lasting(&[kept(8_000), second]), [true, false]);
}

#[test]
fn bfc_keeps_a_pause_for_counted_packets() {
    let mut bench = Bench::new(&bfc(dynamic(2), hop_rtts(1.0)), &hosts(3));
    // The first packet fills the queue to its threshold of 25,000 B. Only the second packet counts.
    bench.admit(Flow { upstream_queue: 5, ..flow(1) }, 25_000);
    bench.admit(Flow { upstream_queue: 6, ..flow(1) }, 1_000);
    bench.signal(0, Signal::PauseQueue(1));
    let stopped = vec![Stopped { pause: 1, ingress: 1, keeps: 6, bytes: 1_000 }];
    assert_eq!(bench.switch.stopped(&bench.pool, 0), stopped);
    assert_eq!(bench.switch.lasting(&[kept(1_000), kept(0)]), [true, false]);
    assert!(!Bench::new(&plain(), &hosts(2)).switch.has_lasting_pauses());
}

#[test]
fn a_queue_that_only_its_class_stops_waits_for_no_pause_of_a_queue() {
    let mut bench = Bench::new(&bfc(dynamic(2), hop_rtts(1.0)), &hosts(3));
    bench.admit(flow(1), 25_000);
    bench.admit(flow(1), 1_000);
    bench.signal(0, Signal::PauseClass(0));
    assert_eq!(bench.switch.stopped(&bench.pool, 0), []);
}

#[test]
fn a_packet_keeps_the_pause_of_its_upstream_queue_in_any_epoch() {
    let assignment = DynamicConfig { epoch_bits: 2, ..dynamic(2) };
    let mut bench = Bench::new(&bfc(assignment, hop_rtts(1.0)), &hosts(3));
    bench.admit(Flow { upstream_queue: label(5, 1), ..flow(1) }, 25_000);
    bench.admit(Flow { upstream_queue: label(6, 3), ..flow(1) }, 1_000);
    let queue = bench.switch.port(0).label(1);
    bench.signal(0, Signal::PauseQueue(queue));
    let stopped = Stopped { pause: 1, ingress: 1, keeps: 6, bytes: 1_000 };
    assert_eq!(bench.switch.stopped(&bench.pool, 0), [stopped]);
}
