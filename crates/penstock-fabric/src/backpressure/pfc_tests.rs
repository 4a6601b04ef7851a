//! PFC through the switch: a shared buffer against a vector of an independent script, static thresholds,
//! classes.

use crate::fixture::refusal::{LOSSLESS, PFC, POOL, refused};
use alloc::format;
use alloc::vec::Vec;
use serde_json::json;

use super::*;
use crate::SwitchConfig;
use crate::backpressure::Backpressure;
use crate::fixture::{Bench, Flow, flow, hosts, plain};
use crate::switch::Arrival;

fn config(admission: &str, pfc: &str) -> SwitchConfig {
    SwitchConfig {
        admission: serde_json::from_str(admission).unwrap(),
        backpressure: serde_json::from_str(pfc).unwrap(),
        ..plain()
    }
}

/// The same with pauses of 5 us.
fn timed(at_arrivals: bool) -> Bench {
    let pause = format!(
        r#"{{"kind":"timed","lifetime":5000000,"refresh":2000000,"at_arrivals":{at_arrivals}}}"#
    );
    let pfc = format!(r#"{{"kind":"pfc","xon_offset":2000,"xoff":5000,"pause":{pause}}}"#);
    Bench::new(&config(r#"{"kind":"infinite"}"#, &pfc), &hosts(2))
}

fn pause_for_5_us(class: u8) -> Option<ControlFrame> {
    let signal = Signal::PauseClassFor { class, nanoseconds: 5_000 };
    Some(ControlFrame { port: 0, signal })
}

fn pause(class: u8) -> Option<ControlFrame> {
    Some(ControlFrame { port: 0, signal: Signal::PauseClass(class) })
}

fn resume(class: u8) -> Option<ControlFrame> {
    Some(ControlFrame { port: 0, signal: Signal::ResumeClass(class) })
}

/// A flow from port 0 to port 1.
fn ahead() -> Flow {
    Flow { ingress: 0, egress: 1, ..flow(1) }
}

/// A static XOFF of 5,000 B and an XON of 3,000 B.
fn static_xoff(classes: u32) -> Bench {
    let pfc = r#"{"kind":"pfc","xon_offset":2000,"xoff":5000,"pause":{"kind":"lasting"}}"#;
    let mut config = config(r#"{"kind":"infinite"}"#, pfc);
    let assignment = format!(r#"{{"kind":"class","classes":{classes}}}"#);
    config.assignment = serde_json::from_str(&assignment).unwrap();
    config.scheduling = serde_json::from_str(r#"{"kind":"strict"}"#).unwrap();
    Bench::new(&config, &hosts(2))
}

#[test]
fn the_mmu_vector_holds() {
    // BASELINES 29: pause at packet 11, first drop at 16, resume after 7 dequeues.
    let admission = r#"{"kind":"shared","buffer":100000,"other_buffers":[],
        "ingress":{"alpha":0.125,"reserve":1000,"headroom":{"kind":"bytes","size":5000}}}"#;
    let pfc = r#"{"kind":"pfc","xon_offset":3000,"xoff":null,"pause":{"kind":"lasting"}}"#;
    let mut bench = Bench::new(&config(admission, pfc), &hosts(2));
    let arrivals: Vec<_> = (0..16).map(|_| (bench.arrive(ahead(), 1_000), bench.frame)).collect();
    for (packet, (arrival, frame)) in (1..).zip(arrivals) {
        assert_eq!(arrival == Arrival::Dropped, packet == 16, "packet {packet}");
        assert_eq!(frame, pause(0).filter(|_| packet == 11), "packet {packet}");
        let account = bench.switch.accounts().ingress(0, 0);
        assert_eq!((account.used, account.headroom), (10_000, 5_000));
    }
    let threshold = |bench: &Bench| bench.recorder.0.last().unwrap().threshold;
    assert_eq!(threshold(&bench), 9_875);
    // 9,000 B beyond the reserve and 5,000 B of headroom.
    assert_eq!(bench.switch.peak_fraction(), Some(14_000.0 / 9_875.0));
    let frames: Vec<_> = (0..15).map(|_| bench.depart(1).unwrap().1).collect();
    for (dequeue, frame) in (1..).zip(frames) {
        assert_eq!(frame, if dequeue == 7 { resume(0) } else { None }, "dequeue {dequeue}");
    }
    let accounts = bench.switch.accounts();
    assert_eq!((accounts.total, accounts.shared, accounts.peak()), (0, 0, 15_000));
    assert_eq!(accounts.headroom_peak, 5_000);
    assert_eq!(bench.switch.port(1).counters.drops, 1);
}

#[test]
fn the_threshold_at_the_resume_is_that_of_the_vector() {
    let admission = r#"{"kind":"shared","buffer":100000,"other_buffers":[],
        "ingress":{"alpha":0.125,"reserve":1000,"headroom":{"kind":"bytes","size":5000}}}"#;
    let pfc = r#"{"kind":"pfc","xon_offset":3000,"xoff":null,"pause":{"kind":"lasting"}}"#;
    let mut bench = Bench::new(&config(admission, pfc), &hosts(2));
    for _ in 0..15 {
        bench.admit(ahead(), 1_000);
    }
    for _ in 0..7 {
        bench.depart(1);
    }
    let account = bench.switch.accounts().ingress(0, 0);
    assert_eq!((account.used, account.headroom), (8_000, 0));
    assert_eq!(bench.recorder.0.last().unwrap().threshold, 10_125);
}

#[test]
fn a_static_threshold_pauses_when_reached_and_resumes_one_offset_below() {
    let mut bench = static_xoff(1);
    let frames: Vec<_> = (0..6).map(|_| bench.admit(ahead(), 1_000)).collect();
    assert_eq!(frames, [None, None, None, None, pause(0), None]);
    let frames: Vec<_> = (0..6).map(|_| bench.depart(1).unwrap().1).collect();
    assert_eq!(frames, [None, None, resume(0), None, None, None]);
}

#[test]
fn timed_pauses_are_sent_again_above_xoff_at_arrivals_and_by_a_clock() {
    let mut bench = timed(true);
    assert_eq!(bench.switch.repeat_interval, Some(Time::from_us(2)));
    let frames: Vec<_> = (0..7).map(|_| bench.admit(ahead(), 1_000)).collect();
    assert_eq!(frames[..4], [None; 4]);
    assert_eq!(frames[4..], [pause_for_5_us(0); 3]); // 5,000 B, and two more packets
    assert_eq!(bench.switch.repeated_frame(0, 0), pause_for_5_us(0));
    assert_eq!(
        (bench.switch.repeated_frame(0, 1), bench.switch.repeated_frame(1, 0)),
        (None, None)
    );
    // 4,000 B are between XON and XOFF: no frame, neither by the clock nor at an arrival below XOFF.
    let frames: Vec<_> = (0..3).map(|_| bench.depart(1).unwrap().1).collect();
    assert_eq!((&frames[..], bench.switch.repeated_frame(0, 0)), (&[None; 3][..], None));
    assert_eq!(bench.admit(ahead(), 1_000), pause_for_5_us(0)); // 5,000 B again
    let frames: Vec<_> = (0..3).map(|_| bench.depart(1).unwrap().1).collect();
    assert_eq!(frames, [None, resume(0), None]); // 3,000 B are XON
    assert_eq!(bench.switch.repeated_frame(0, 0), None);
}

#[test]
fn without_frames_at_arrivals_only_the_clock_repeats_a_pause() {
    let mut bench = timed(false);
    let frames: Vec<_> = (0..7).map(|_| bench.admit(ahead(), 1_000)).collect();
    assert_eq!(frames, [None, None, None, None, pause_for_5_us(0), None, None]);
    assert_eq!(bench.switch.repeated_frame(0, 0), pause_for_5_us(0));
}

#[test]
fn a_timed_pause_ends_by_itself_unless_another_frame_comes() {
    let mut bench = static_xoff(2);
    let (high, low) = (Flow { class: 0, ..flow(1) }, Flow { class: 1, ..flow(2) });
    for flow in [high, low] {
        bench.admit(flow, 1_000);
        bench.admit(flow, 1_000);
    }
    let pause = |class, nanoseconds| Signal::PauseClassFor { class, nanoseconds };
    bench.signal(0, pause(0, 5_000));
    bench.signal(0, pause(1, 9_000));
    let at = |bench: &Bench, ns| bench.now + Time::from_ns(ns);
    assert_eq!(bench.switch.port(0).next_lapse(), at(&bench, 5_000));
    assert!(bench.depart(0).is_none());
    bench.now = at(&bench, 1_000);
    // A new frame replaces the end, and a resume takes it away.
    bench.signal(0, pause(0, 7_000));
    bench.signal(0, Signal::ResumeClass(1));
    assert_eq!(bench.switch.port(0).next_lapse(), at(&bench, 7_000));
    let end = at(&bench, 7_000);
    assert_eq!(bench.drain(0), [2, 2]);
    let early = end - Time::from_ps(1);
    assert_eq!(bench.switch.lapse(early, &bench.pool, 0), None);
    bench.now = end;
    assert_eq!(bench.switch.lapse(end, &bench.pool, 0), Some(0));
    assert_eq!(bench.switch.lapse(end, &bench.pool, 0), None);
    assert_eq!(bench.switch.port(0).next_lapse(), Time::NEVER);
    assert_eq!(bench.drain(0), [1, 1]);
    // A pause without an end has none, also after one with an end.
    bench.signal(0, pause(0, 5_000));
    bench.signal(0, Signal::PauseClass(0));
    assert_eq!(bench.switch.port(0).next_lapse(), Time::NEVER);
}

#[test]
fn a_class_is_paused_again_after_a_resume() {
    let mut bench = static_xoff(1);
    for round in 1..=3 {
        let frames = (0..5).filter_map(|_| bench.admit(ahead(), 1_000)).count();
        let resumes = (0..5).filter_map(|_| bench.depart(1).unwrap().1).count();
        assert_eq!((frames, resumes), (1, 1), "round {round}");
    }
}

#[test]
fn classes_and_ingress_ports_have_accounts_of_their_own() {
    let mut bench = static_xoff(3);
    for class in 0..3 {
        let flow = Flow { class, ..ahead() };
        let frames: Vec<_> = (0..5).filter_map(|_| bench.admit(flow, 1_000)).collect();
        assert_eq!(frames, [pause(class).unwrap()]);
    }
    let other = Flow { ingress: 1, ..ahead() };
    assert!((0..4).all(|_| bench.admit(other, 1_000).is_none()));
    assert_eq!(bench.switch.accounts().ingress(0, 1).used, 5_000);
    assert_eq!(bench.switch.accounts().ingress(1, 0).used, 4_000);
}

#[test]
fn a_paused_class_stops_and_the_others_go_on() {
    let mut bench = static_xoff(2);
    let (high, low) = (Flow { class: 0, ..flow(1) }, Flow { class: 1, ..flow(2) });
    bench.admit(high, 1_000);
    bench.admit(low, 1_000);
    bench.signal(0, Signal::PauseClass(0));
    bench.admit(high, 1_000);
    bench.acknowledge(0);
    assert_eq!(bench.depart(0).unwrap().0.wire_bytes, 60, "control is never paused");
    assert_eq!(bench.drain(0), [2]);
    bench.signal(0, Signal::ResumeClass(0));
    assert_eq!(bench.drain(0), [1, 1]);
}

#[test]
fn a_class_is_not_resumed_while_it_has_bytes_in_the_headroom() {
    // Port 1 fills the pool, so port 0 spills into its headroom. When port 1 has drained, port 0 is far
    // below the new threshold. But the headroom of port 0 is not free for the next pause yet.
    let admission = r#"{"kind":"shared","buffer":30000,"other_buffers":[],"ingress":{"alpha":1.0,"reserve":0,
        "headroom":{"kind":"bytes","size":5000}}}"#;
    let pfc = r#"{"kind":"pfc","xon_offset":1000,"xoff":null,"pause":{"kind":"lasting"}}"#;
    let mut bench = Bench::new(&config(admission, pfc), &hosts(2));
    let other = Flow { ingress: 1, egress: 0, ..flow(2) };
    for _ in 0..10 {
        bench.admit(other, 1_000);
    }
    while bench.switch.accounts().ingress(0, 0).headroom < 3_000 {
        bench.admit(ahead(), 1_000);
    }
    bench.drain(0);
    let account = bench.switch.accounts().ingress(0, 0);
    assert_eq!((account.used, account.headroom), (5_000, 3_000));
    let frames: Vec<_> = (0..4).map(|_| bench.depart(1).unwrap().1).collect();
    assert_eq!(frames, [None, None, resume(0), None]);
}

#[test]
fn the_clock_repeats_a_pause_while_there_are_bytes_in_the_headroom() {
    let admission = r#"{"kind":"shared","buffer":30000,"other_buffers":[],"ingress":{"alpha":1.0,"reserve":0,
        "headroom":{"kind":"bytes","size":5000}}}"#;
    let pfc = r#"{"kind":"pfc","xon_offset":1000,"xoff":null,
        "pause":{"kind":"timed","lifetime":5000000,"refresh":2000000,"at_arrivals":false}}"#;
    let mut bench = Bench::new(&config(admission, pfc), &hosts(2));
    let other = Flow { ingress: 1, egress: 0, ..flow(2) };
    (0..10).for_each(|_| assert!(bench.arrive(other, 1_000) != Arrival::Dropped));
    (0..8).for_each(|_| assert!(bench.arrive(ahead(), 1_000) != Arrival::Dropped));
    bench.drain(0);
    // 5,000 B of 15,000 B, and 3,000 B in the headroom.
    let repeated = |bench: &mut Bench| bench.switch.repeated_frame(0, 0);
    assert_eq!(repeated(&mut bench), pause_for_5_us(0));
    (0..3).for_each(|_| assert!(bench.depart(1).is_some()));
    assert_eq!(repeated(&mut bench), None);
}

#[test]
fn a_class_without_bytes_is_resumed_though_xoff_is_below_the_offset() {
    // XOFF is an eighth of what is free of 20,000 B.
    let admission = r#"{"kind":"shared","buffer":30000,"other_buffers":[],
        "ingress":{"alpha":0.125,"reserve":0,"headroom":{"kind":"bytes","size":5000}}}"#;
    let pfc = r#"{"kind":"pfc","xon_offset":3000,"xoff":null,"pause":{"kind":"lasting"}}"#;
    let mut bench = Bench::new(&config(admission, pfc), &hosts(2));
    let paused: Vec<_> = (0..3).map(|_| bench.admit(ahead(), 1_000)).collect();
    assert_eq!(paused, [None, None, pause(0)]);
    let frames: Vec<_> = (0..3).map(|_| bench.depart(1).unwrap().1).collect();
    assert_eq!(frames, [None, None, resume(0)]);
}

#[test]
fn the_peak_is_the_largest_share_of_xoff_and_not_that_of_the_largest_account() {
    let admission = r#"{"kind":"shared","buffer":50000,"other_buffers":[],"ingress":{"alpha":1.0,"reserve":0,
        "headroom":{"kind":"bytes","size":10000}}}"#;
    let pfc = r#"{"kind":"pfc","xon_offset":100,"xoff":null,"pause":{"kind":"lasting"}}"#;
    let mut bench = Bench::new(&config(admission, pfc), &hosts(4));
    (0..4).for_each(|_| assert_eq!(bench.admit(ahead(), 1_000), None));
    // Port 0 holds 4,000 of 6,000 B.
    assert_eq!(bench.switch.peak_fraction(), Some(4.0 / 6.0));
    bench.drain(1);
    // Four ports take 2,000 B each, which is all that each may take.
    for _ in 0..2 {
        for ingress in 0..4 {
            bench.admit(Flow { ingress, ..ahead() }, 1_000);
        }
    }
    let Backpressure::Pfc(pfc) = bench.switch.backpressure() else { unreachable!() };
    assert!((0..4).any(|account| pfc.is_paused(account)));
    assert_eq!(bench.switch.peak_fraction(), Some(1.0));
    bench.drain(1);
    bench.admit(ahead(), 1_000);
    assert_eq!(bench.switch.peak_fraction(), Some(1.0));
}

#[test]
fn timed_pauses_reach_from_one_frame_to_the_next() {
    let timed = |lifetime: u64, refresh: u64| {
        let kind = "timed";
        let pause =
            json!({"kind": kind, "lifetime": lifetime, "refresh": refresh, "at_arrivals": true});
        refused(&[PFC], &[("/backpressure/pause", pause)])
    };
    assert!(timed(5_000_000, 5_000_000).is_empty());
    let expected = "backpressure.pause.refresh is 5.001 us; pauses would end between two frames; \
                    write at most lifetime, 5 us";
    assert_eq!(timed(5_000_000, 5_001_000), [expected]);
    assert!(timed(5_000_500, 5_000_000)[0].starts_with("backpressure.pause.lifetime is"));
    assert!(timed(0, 0)[0].starts_with("backpressure.pause.lifetime is"));
}

#[test]
fn xon_lies_between_nothing_and_xoff() {
    let refused = |xoff| refused(&[PFC], &[("/backpressure/xoff", json!(xoff))]);
    assert!(refused(3_073).is_empty());
    let expected = "backpressure.xon_offset is 3072 B; a resume that far below the pause at 3072 B would \
                    never be sent, as XON must lie between 0 and XOFF; make it smaller than xoff";
    assert_eq!(refused(3_072), [expected.replace("3072 B", "3 KiB")]);
    assert_eq!(refused(0), ["backpressure.xoff is 0 B; write 1 B or more"]);
}

#[test]
fn a_dynamic_xoff_follows_the_threshold_of_an_ingress() {
    let refused =
        |admission| refused(&[admission, PFC], &[("/backpressure/xoff", serde_json::Value::Null)]);
    assert!(refused(LOSSLESS).is_empty());
    let expected = "backpressure.xoff is null; without it PFC pauses at the threshold of an ingress, and the \
                    admission has none; write e.g. \"250 kB\", or use a shared buffer with thresholds in \
                    admission.ingress";
    assert_eq!(refused(POOL), [expected]);
}
