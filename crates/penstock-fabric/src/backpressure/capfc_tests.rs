//! CaPFC on a switch of four ports: ports 1 to 3 send to port 0, and port 3 also to port 1.

use crate::fixture::refusal::{assert_pfc_beneath, assert_resumes};
use alloc::vec::Vec;

use penstock_packet::Signal;

use super::*;
use crate::backpressure::Backpressure;
use crate::fixture::{Bench, Flow, hosts, plain};
use crate::{BackpressureConfig, SwitchConfig};

fn bench() -> Bench {
    with_xon_offset(500)
}

fn with_xon_offset(xon_offset: u64) -> Bench {
    let backpressure = BackpressureConfig::Capfc(CapfcConfig {
        threshold: Bytes::new(6_000),
        xon_offset: Bytes::new(xon_offset),
        pfc: PfcConfig {
            xon_offset: Bytes::new(500),
            xoff: Some(Bytes::new(8_000)),
            pause: crate::backpressure::pfc::PfcPause::Lasting {},
        },
    });
    Bench::new(&SwitchConfig { backpressure, ..plain() }, &hosts(4))
}

/// Admits `count` packets of 1,000 bytes from `ingress` for `egress`. Answers the ports that are paused
/// or resumed.
fn bring(bench: &mut Bench, count: usize, ingress: u16, egress: u16) -> Vec<Signalled> {
    let flow = Flow { ingress, egress, ..Flow::default() };
    let frames: Vec<_> = (0..count).filter_map(|_| bench.admit(flow, 1_000)).collect();
    frames.into_iter().map(signalled).collect()
}

/// Takes a packet out of `egress`. Answers the port that is paused or resumed.
fn send(bench: &mut Bench, egress: u16) -> Option<Signalled> {
    bench.depart(egress).unwrap().1.map(signalled)
}

#[derive(Debug, PartialEq)]
enum Signalled {
    Pause(u16),
    Resume(u16),
}
use Signalled::{Pause, Resume};

fn signalled(frame: ControlFrame) -> Signalled {
    match frame.signal {
        Signal::PauseClass(0) => Pause(frame.port),
        Signal::ResumeClass(0) => Resume(frame.port),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_ingress_beyond_its_share_of_a_full_egress_is_paused() {
    let mut bench = bench();
    // Two contributors have shares of 3,000. 4,000 + 1,000 are below the threshold.
    assert_eq!(bring(&mut bench, 4, 1, 0), []);
    assert_eq!(bring(&mut bench, 1, 2, 0), []);
    // There are 6,000 in all. Port 2 holds 2,000, less than its share.
    assert_eq!(bring(&mut bench, 1, 2, 0), []);
    // Port 1 holds 5,000.
    assert_eq!(bring(&mut bench, 1, 1, 0), [Pause(1)]);
    assert_eq!(bring(&mut bench, 1, 1, 0), []); // only once
    // A third contributor makes the shares 2,000. Port 2 holds as much, and pauses at its next packet.
    assert_eq!(bring(&mut bench, 1, 3, 0), []);
    assert_eq!(bring(&mut bench, 1, 2, 0), [Pause(2)]);
    // After an outage of their links the ports are paused again.
    let standing = |port| bench.switch.standing_pauses(port).into_iter().map(signalled);
    assert_eq!(standing(1).chain(standing(2)).collect::<Vec<_>>(), [Pause(1), Pause(2)]);
    assert_eq!(standing(3).count(), 0);
}

#[test]
fn an_ingress_beyond_its_share_goes_on_while_the_egress_is_below_the_threshold() {
    let mut bench = bench();
    assert_eq!(bring(&mut bench, 1, 2, 0), []);
    assert_eq!(bring(&mut bench, 4, 1, 0), []); // 4,000 of 5,000, and its share is 3,000
    assert_eq!(bring(&mut bench, 1, 1, 0), [Pause(1)]);
}

#[test]
fn it_is_resumed_one_offset_below_its_share_though_the_egress_is_full() {
    let mut bench = with_xon_offset(1_000);
    bring(&mut bench, 3, 2, 0);
    assert_eq!(bring(&mut bench, 3, 1, 0), [Pause(1)]);
    assert_eq!(bring(&mut bench, 1, 2, 0), [Pause(2)]);
    bring(&mut bench, 3, 1, 0);
    // Port 2's packets go first. Its share is 3,000, and 8,000 are left when it holds 2,000.
    assert_eq!([(); 2].map(|()| send(&mut bench, 0)), [None, Some(Resume(2))]);
}

#[test]
fn it_is_resumed_when_the_egress_is_one_offset_below_though_it_holds_more_than_its_share() {
    let mut bench = with_xon_offset(1_000);
    assert_eq!(bring(&mut bench, 6, 2, 0), [Pause(2)]);
    bring(&mut bench, 1, 1, 0);
    bring(&mut bench, 1, 3, 0);
    // Three contributors have shares of 2,000. Port 2 holds 3,000 when 5,000 are left.
    assert_eq!([(); 3].map(|()| send(&mut bench, 0)), [None, None, Some(Resume(2))]);
}

#[test]
fn it_is_resumed_when_it_holds_nothing_though_its_share_is_below_the_offset() {
    let mut bench = with_xon_offset(5_000);
    bring(&mut bench, 3, 1, 0);
    assert_eq!(bring(&mut bench, 3, 2, 0), [Pause(2)]);
    assert_eq!(bring(&mut bench, 3, 1, 0), [Pause(1)]);
    bring(&mut bench, 1, 3, 0);
    // Six packets leave. Then 4,000 are left from two contributors, whose shares are 3,000.
    let resumed: Vec<_> = (0..6).map(|_| send(&mut bench, 0)).collect();
    assert_eq!(resumed, [None, None, None, None, None, Some(Resume(2))]);
}

#[test]
fn who_has_nothing_left_at_an_egress_has_no_share_of_it() {
    let mut bench = bench();
    assert_eq!(bring(&mut bench, 1, 3, 0), []);
    assert_eq!(bring(&mut bench, 4, 2, 0), []);
    assert_eq!(send(&mut bench, 0), None); // the packet of port 3
    // 6,000 in all. Port 1 holds 2,000, a third of the threshold, but only two ports share it.
    assert_eq!(bring(&mut bench, 2, 1, 0), []);
    assert_eq!(bring(&mut bench, 1, 1, 0), [Pause(1)]);
}

#[test]
fn victims_do_not_protect_an_ingress() {
    let mut bench = bench();
    // Port 3 sends more to the idle port 1 than to port 0. It is treated like port 2.
    assert_eq!(bring(&mut bench, 3, 3, 1), []);
    assert_eq!(bring(&mut bench, 3, 2, 0), []);
    assert_eq!(bring(&mut bench, 3, 3, 0), [Pause(3)]);
}

#[test]
fn it_is_resumed_below_its_share_or_when_the_egress_is() {
    let mut bench = bench();
    bring(&mut bench, 2, 1, 0);
    assert_eq!(bring(&mut bench, 5, 2, 0), [Pause(2)]); // 2,000 and 5,000
    // The FIFO sends port 1's two packets. Their departure changes nothing for port 2, which has 5,000.
    assert_eq!((send(&mut bench, 0), send(&mut bench, 0)), (None, None));
    // 4,000 remain, all of them from port 2: below the share of 6,000 by more than 500.
    assert_eq!(send(&mut bench, 0), Some(Resume(2)));

    let mut bench = self::bench();
    bring(&mut bench, 3, 3, 0);
    assert_eq!(bring(&mut bench, 4, 2, 0), [Pause(2)]); // 3,000 and 4,000
    bring(&mut bench, 1, 2, 0);
    // Port 3's packets go first. Then 5,000 of port 2 remain, and port 2 is the only contributor.
    assert_eq!([(); 3].map(|()| send(&mut bench, 0)), [None, None, None]);
    assert_eq!(send(&mut bench, 0), Some(Resume(2)));
}

#[test]
fn an_ingress_stays_paused_while_another_egress_or_pfc_wants_it() {
    let mut bench = bench();
    assert_eq!(bring(&mut bench, 6, 2, 0), [Pause(2)]); // by the egress
    assert_eq!(bring(&mut bench, 2, 2, 0), []); // 8,000: by PFC too, which is no news
    let Backpressure::Capfc(capfc) = bench.switch.backpressure() else { unreachable!() };
    assert!(capfc.pairs.pfc.is_paused(2));
    assert_eq!(bench.switch.peak_fraction(), Some(1.0));
    // PFC's reason ends at 7,500 and the egress's reason at 5,500. There is one resume.
    let resumes: Vec<_> = (0..3).map(|_| send(&mut bench, 0)).collect();
    assert_eq!(resumes, [None, None, Some(Resume(2))]);
    // With two egresses, 6,000 for each make 12,000 of the ingress, beyond PFC's threshold as well.
    let mut bench = self::bench();
    assert_eq!(bring(&mut bench, 6, 3, 0), [Pause(3)]);
    assert_eq!(bring(&mut bench, 6, 3, 1), []);
    let by_one: Vec<_> = (0..6).filter_map(|_| send(&mut bench, 0)).collect();
    assert_eq!(by_one, []); // the first is empty, the second holds 6,000
    assert_eq!(send(&mut bench, 1), Some(Resume(3)));
}

const POLICY: (&str, &str) = (
    "backpressure",
    r#"{"kind": "capfc", "threshold": 350000, "xon_offset": 3072,
        "pfc": {"xon_offset": 3072, "xoff": 250000, "pause": {"kind": "lasting"}}}"#,
);

#[test]
fn it_knows_one_class_and_pfc_beneath_is_in_order() {
    assert_pfc_beneath(POLICY, "capfc");
}

#[test]
fn who_is_paused_can_be_resumed() {
    assert_resumes(POLICY);
}
