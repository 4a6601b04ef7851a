//! P-PFC on a switch of three ports with T 1 us and a threshold of 10,000 bytes: ports 1 and 2 send to
//! port 0.

use crate::fixture::refusal::{assert_pfc_beneath, assert_resumes};
use alloc::vec::Vec;

use penstock_packet::Signal;

use super::*;
use crate::backpressure::Backpressure;
use crate::fixture::{Bench, Flow, hosts, plain};
use crate::{BackpressureConfig, SwitchConfig};

const US: Time = Time::from_us(1);

fn bench() -> Bench {
    let backpressure = BackpressureConfig::PPfc(PpfcConfig {
        threshold: Bytes::new(10_000),
        xon_offset: Bytes::new(1_000),
        horizon: US,
        pfc: PfcConfig {
            xon_offset: Bytes::ZERO,
            xoff: Some(Bytes::new(50_000)),
            pause: crate::backpressure::pfc::PfcPause::Lasting {},
        },
    });
    Bench::new(&SwitchConfig { backpressure, ..plain() }, &hosts(3))
}

/// `count` packets of 1,000 bytes come from `ingress` for port 0.
fn bring(bench: &mut Bench, count: usize, ingress: u16) {
    for _ in 0..count {
        assert_eq!(bench.admit(Flow { ingress, ..Flow::default() }, 1_000), None);
    }
}

/// Serves the policy's deadline.
fn tick(bench: &mut Bench) {
    let deadline = bench.switch.deadline().unwrap();
    assert_eq!(deadline, bench.now + US);
    bench.now = deadline;
    bench.switch.on_deadline(deadline);
}

/// Sends `count` packets from port 0. Answers the ports that are paused (true) or resumed because of
/// them.
fn send(bench: &mut Bench, count: usize) -> Vec<(u16, bool)> {
    let mut told = Vec::new();
    for _ in 0..count {
        let (_, frame) = bench.depart(0).unwrap();
        let others = core::iter::from_fn(|| bench.switch.take_frame());
        told.extend(frame.into_iter().chain(others).map(|frame| match frame.signal {
            Signal::PauseClass(0) => (frame.port, true),
            Signal::ResumeClass(0) => (frame.port, false),
            other => panic!("{other:?}"),
        }));
    }
    told
}

#[test]
fn a_queue_that_grows_is_paused_before_it_is_long() {
    let mut bench = bench();
    bring(&mut bench, 6, 1);
    assert_eq!(send(&mut bench, 1), []); // nothing is known of its growth
    tick(&mut bench);
    // 4,000 remain and the queue grew by 5,000: 9,000. With another packet it would be 5,000 + 5,000.
    assert_eq!(send(&mut bench, 1), []);
    bring(&mut bench, 2, 1);
    assert_eq!(send(&mut bench, 1), [(1, true)]);
}

#[test]
fn a_shrinking_queue_counts_as_it_is() {
    let mut bench = bench();
    bring(&mut bench, 14, 1);
    tick(&mut bench);
    send(&mut bench, 4); // of 14,000: paused
    tick(&mut bench); // 10,000, no growth
    assert_eq!(send(&mut bench, 1), [(1, false)]); // 9,000: the threshold less 1,000
    bring(&mut bench, 2, 1);
    assert_eq!(send(&mut bench, 1), [(1, true)]); // 10,000 again
}

#[test]
fn an_empty_egress_resumes_all_whatever_it_expects() {
    let mut bench = bench();
    bring(&mut bench, 10, 1);
    tick(&mut bench); // it grew by 10,000
    assert_eq!(send(&mut bench, 9), [(1, true)]);
    assert_eq!(send(&mut bench, 1), [(1, false)]);
}

#[test]
fn who_is_paused_is_drawn_by_the_share_of_the_queue() {
    // Port 2 holds 11,000 of 40,000 bytes. So 110 of 400 first draws hit it, give or take 3 deviations
    // of 8.9.
    let mut second = 0;
    let mut bench = bench();
    for _ in 0..400 {
        bring(&mut bench, 30, 1);
        bring(&mut bench, 11, 2);
        let told = send(&mut bench, 1);
        assert!(matches!(told[..], [(_, true)]), "{told:?}");
        second += u32::from(told[0].0 == 2);
        send(&mut bench, 40);
    }
    assert!(second.abs_diff(110) <= 27, "{second} of 400");
}

#[test]
fn every_byte_of_an_egress_belongs_to_one_ingress() {
    let mut bench = bench();
    bring(&mut bench, 2, 1);
    bring(&mut bench, 1, 2);
    let Backpressure::PPfc(ppfc) = bench.switch.backpressure() else { unreachable!() };
    let owners = [0, 1_999, 2_000, 2_999, 3_000].map(|place| ppfc.pairs.owner(0, place));
    assert_eq!(owners, [Some(1), Some(1), Some(2), Some(2), None], "port 0 has sent nothing");
}

#[test]
fn each_departure_beyond_the_threshold_takes_one_draw_also_when_all_are_paused() {
    // Port 1 holds the first bytes of the queue, and port 2 the rest. The draws are those of the bench's
    // generator, scaled to the bytes that are left.
    let mut bench = bench();
    let mut random = Pcg32::new(1, 1);
    let mut stored = [0_u64, 20_000, 20_000];
    bring(&mut bench, 20, 1);
    bring(&mut bench, 20, 2);
    let mut paused = Vec::new();
    for _ in 0..30 {
        stored[if stored[1] > 0 { 1 } else { 2 }] -= 1_000; // first in, first out
        let bytes = stored[1] + stored[2];
        let place = (u128::from(random.next_u64()) * u128::from(bytes)) >> 64;
        let drawn = if place < u128::from(stored[1]) { 1 } else { 2 };
        let told = send(&mut bench, 1);
        let expected = if paused.contains(&drawn) { vec![] } else { vec![(drawn, true)] };
        assert_eq!(told, expected, "{bytes} B");
        paused.push(drawn);
    }
}

#[test]
fn both_ports_are_paused_in_the_end_and_resumed_together() {
    let mut bench = bench();
    bring(&mut bench, 20, 1);
    bring(&mut bench, 20, 2);
    let mut told = send(&mut bench, 30);
    told.sort_unstable();
    assert_eq!(told, [(1, true), (2, true)]);
    let mut told = send(&mut bench, 1);
    told.sort_unstable();
    assert_eq!(told, [(1, false), (2, false)]);
}

const POLICY: (&str, &str) = (
    "backpressure",
    r#"{"kind": "p-pfc", "threshold": 350000, "xon_offset": 3072, "horizon": 2000000,
        "pfc": {"xon_offset": 3072, "xoff": 250000, "pause": {"kind": "lasting"}}}"#,
);

#[test]
fn it_knows_one_class_and_pfc_beneath_is_in_order() {
    assert_pfc_beneath(POLICY, "p-pfc");
}

#[test]
fn who_is_paused_can_be_resumed() {
    assert_resumes(POLICY);
}
