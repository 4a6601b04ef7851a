//! Dynamic thresholds, headroom and the edges of the buffer.

use alloc::format;
use alloc::vec;

use penstock_packet::PortFacts;
use penstock_units::{BitRate, Time};
use serde_json::json;

use super::super::{Admission, AdmissionConfig};
use super::*;
use crate::fixture::refusal::{LOSSLESS, POOL, refused, refused_in};
use crate::fixture::{host_port, hosts, switch_with};

fn config(buffer: u64, headroom: HeadroomConfig) -> SharedConfig {
    let reserve = Bytes::new(4_096);
    let ingress = Some(IngressConfig { alpha: 0.125, reserve, headroom });
    SharedConfig { buffer: Bytes::new(buffer), other_buffers: Vec::new(), ingress }
}

/// The buffer of a top-of-rack switch in BFC's evaluation: 12 MiB, 24 ports of 100 Gb/s and 1 us.
fn bfc_rack() -> Admission {
    let config = config(12 << 20, HeadroomConfig::Bdp { factor: 3.0 });
    Admission::new(&AdmissionConfig::Shared(config), &hosts(24), 1)
}

fn admit(admission: &mut Admission, ingress: u16, bytes: u64) -> bool {
    admission.admit(Request { ingress, class: 0, bytes, egress_bytes: 0 })
}

#[test]
fn headroom_is_three_one_way_products() {
    let headroom = HeadroomConfig::Bdp { factor: 3.0 };
    assert_eq!(headroom.of(&hosts(1), &host_port()), 37_500);
    // The link's delay alone: the pipeline of the neighbour is not part of it.
    let behind = PortFacts { neighbour_pipeline: Time::from_ns(500), ..host_port() };
    assert_eq!(headroom.of(&hosts(1), &behind), 37_500);
    let fixed = HeadroomConfig::Bytes { size: Bytes::new(5_000) };
    assert_eq!(fixed.of(&hosts(1), &host_port()), 5_000);
}

#[test]
fn a_lossless_headroom_holds_what_arrives_until_a_pause_acts() {
    let lossless = HeadroomConfig::Lossless {};
    // docs/validation.md, table of PFC: at 100 Gb/s 25,000 B in 2 us, three packets of 1,048 B and a frame
    // of 64 B.
    assert_eq!(lossless.of(&hosts(1), &host_port()), 28_208);
    // A switch with pipelines of 500 ns, 15 ns away from another one at 400 Gb/s: 1,030 ns on the link.
    let pipeline = Time::from_ns(500);
    let switch = PortFacts {
        rate: BitRate::from_gbps(400),
        delay: Time::from_ns(15),
        neighbour_pipeline: pipeline,
        ..host_port()
    };
    let ports = vec![host_port(), switch];
    let facts = SwitchFacts { pipeline_delay: pipeline, ..switch_with(ports) };
    assert_eq!(lossless.of(&facts, &switch), 51_500 + 3_208);
}

#[test]
fn the_pool_is_the_buffer_without_headrooms_and_reserves() {
    // An idle port of BFC's switch may take 1/8 of S = 11,584,608 B.
    assert_eq!(bfc_rack().ingress_threshold(0), Some(11_584_608 / 8));
}

#[test]
fn n_ports_at_their_threshold_hold_the_share_of_the_vector() {
    // BASELINES 29: XOFF for 1, 8, 16, 24 congested ingresses.
    for (ports, xoff) in [(1, 1_287_179), (8, 724_038), (16, 482_692), (24, 362_019)] {
        let mut admission = bfc_rack();
        let packet = 100;
        while (0..ports).all(|port| admission.accounts().ingress(port, 0).headroom == 0) {
            (0..ports).for_each(|port| assert!(admit(&mut admission, port, packet)));
        }
        for port in 0..ports {
            let held = admission.shared_bytes(admission.accounts().ingress(port, 0));
            assert!(held.abs_diff(xoff) <= 2 * packet, "{ports} ports: {held} B, not {xoff}");
        }
        let threshold = admission.ingress_threshold(0).unwrap();
        assert!(threshold.abs_diff(xoff) <= packet * u64::from(ports) / 8 + 1, "{threshold}");
    }
}

#[test]
fn a_port_fills_its_reserve_then_its_share_then_its_headroom() {
    let mut admission = bfc_rack();
    assert!(admit(&mut admission, 0, 4_096));
    assert_eq!(admission.accounts().shared, 0, "the reserve is not shared");
    while admit(&mut admission, 0, 1_000) {}
    let account = admission.accounts().ingress(0, 0);
    assert_eq!(account.headroom, 37_000, "another packet would exceed 37,500 B");
    assert_eq!(admission.accounts().shared, account.used - 4_096);
    assert!(admit(&mut admission, 0, 500));
    assert!(!admit(&mut admission, 0, 1_000));
    // Another port has its own reserve and headroom, and its share of the rest.
    assert!(admit(&mut admission, 1, 1_000));
}

#[test]
fn the_share_of_a_port_is_full_to_the_byte() {
    // The HPCC simulator (switch-mmu.cc) charges the headroom with what exceeds the threshold. Two reserves
    // leave a pool of 800,000 B.
    let empty = |alpha| {
        let mut config = config(808_192, HeadroomConfig::Bytes { size: Bytes::new(9) });
        config.buffer += Bytes::new(2 * 9);
        config.ingress.as_mut().unwrap().alpha = alpha;
        Admission::new(&AdmissionConfig::Shared(config), &hosts(2), 1)
    };
    // With alpha 64 the threshold is beyond the pool, which is the limit then.
    for (alpha, share) in [(0.125, 100_000), (64.0, 800_000)] {
        let mut admission = empty(alpha);
        assert!(admit(&mut admission, 0, 4_096 + share));
        let &Accounts { shared, headroom_peak, .. } = admission.accounts();
        assert_eq!((shared, headroom_peak), (share, 0), "alpha {alpha}");
        assert!(!admit(&mut empty(alpha), 0, 4_096 + share + 1), "alpha {alpha}");
    }
}

#[test]
fn each_port_has_the_headroom_of_its_own_link_and_the_peak_is_the_largest_use() {
    let far = PortFacts { delay: Time::from_us(2), ..host_port() };
    let facts = switch_with(vec![host_port(), far]);
    let config = config(1_000_000, HeadroomConfig::Bdp { factor: 3.0 });
    let mut admission = Admission::new(&AdmissionConfig::Shared(config), &facts, 1);
    for (port, headroom) in [(1, 75_000), (0, 37_500)] {
        while admit(&mut admission, port, 500) {}
        assert_eq!(admission.accounts().ingress(port, 0).headroom, headroom);
        assert_eq!(admission.accounts().headroom_peak, 75_000);
    }
}

#[test]
fn a_switch_may_have_another_memory_than_the_rest() {
    let other_buffers = vec![(8, Bytes::new(5_000)), (7, Bytes::new(4_000))];
    let config = SharedConfig { buffer: Bytes::new(3_000), other_buffers, ingress: None };
    let config = AdmissionConfig::Shared(config);
    for (node, memory) in [(9, 3_000), (8, 5_000), (7, 4_000)] {
        assert_eq!(config.memory(node), memory);
        let facts = SwitchFacts { node, ..hosts(2) };
        assert!(admit(&mut Admission::new(&config, &facts, 1), 0, memory));
        assert!(!admit(&mut Admission::new(&config, &facts, 1), 0, memory + 1));
    }
}

#[test]
fn bytes_go_back_from_the_headroom_first() {
    let mut admission = bfc_rack();
    while admission.accounts().ingress(0, 0).headroom < 10_000 {
        admit(&mut admission, 0, 1_000);
    }
    let used = admission.accounts().ingress(0, 0).used;
    for released in 1..=10 {
        admission.release(0, 0, 1_000);
        let account = admission.accounts().ingress(0, 0);
        assert_eq!((account.used, account.headroom), (used, 10_000 - 1_000 * released));
    }
    while admission.accounts().total > 0 {
        admission.release(0, 0, 1_000);
    }
    let account = admission.accounts().ingress(0, 0);
    assert_eq!((account.used, account.headroom, admission.accounts().shared), (0, 0, 0));
}

#[test]
fn the_reserve_goes_back_last() {
    let mut admission = bfc_rack();
    (0..10).for_each(|_| assert!(admit(&mut admission, 0, 1_000)));
    assert_eq!(admission.accounts().shared, 10_000 - 4_096);
    (0..6).for_each(|_| admission.release(0, 0, 1_000));
    assert_eq!(admission.accounts().shared, 0);
    assert_eq!(admission.accounts().ingress(0, 0).used, 4_000);
}

#[test]
fn faster_ports_have_a_larger_alpha() {
    let rate = BitRate::from_gbps(400);
    let ports = [host_port(), PortFacts { rate, ..host_port() }];
    let headroom = HeadroomConfig::Bytes { size: Bytes::new(0) };
    let config = config(808_192, headroom);
    let admission =
        Admission::new(&AdmissionConfig::Shared(config), &switch_with(ports.to_vec()), 1);
    assert_eq!(admission.ingress_threshold(0), Some(100_000));
    assert_eq!(admission.ingress_threshold(1), Some(400_000));
}

#[test]
fn a_plain_pool_is_full_to_the_byte() {
    let config =
        SharedConfig { buffer: Bytes::new(3_000), other_buffers: Vec::new(), ingress: None };
    let mut admission = Admission::new(&AdmissionConfig::Shared(config), &hosts(2), 1);
    assert_eq!(admission.ingress_threshold(0), None);
    assert!(admit(&mut admission, 0, 2_000));
    assert!(!admit(&mut admission, 1, 1_001), "the pool is one for all ports");
    assert!(admit(&mut admission, 1, 1_000));
    assert!(!admit(&mut admission, 0, 1));
    admission.release(0, 0, 1);
    assert!(admit(&mut admission, 1, 1));
    assert_eq!(admission.accounts().peak(), 3_000);
}

#[test]
fn the_buffer_is_never_exceeded_whatever_the_classes() {
    for alpha in [0.125, 1.0, 5.0, 64.0] {
        let mut config = config(120_000, HeadroomConfig::Bytes { size: Bytes::new(5_000) });
        let ingress = config.ingress.as_mut().unwrap();
        ingress.alpha = alpha;
        let pool = 120_000 - 12 * (5_000 + ingress.reserve.get());
        let mut admission = Admission::new(&AdmissionConfig::Shared(config), &hosts(4), 3);
        let mut request = |port, class| {
            let request = Request { ingress: port, class, bytes: 1_048, egress_bytes: 0 };
            while admission.admit(request) {}
        };
        for port in 0..4 {
            (0..3).for_each(|class| request(port, class));
        }
        let &Accounts { total, shared, .. } = admission.accounts();
        assert!(total <= 120_000 && shared <= pool, "alpha {alpha}: {total} B, {shared} B shared");
    }
}

#[test]
fn what_lies_outside_its_bounds_is_refused() {
    let refused = |at, value| refused(&[LOSSLESS], &[(at, value)]);
    assert!(refused("/admission/buffer", json!(1)).is_empty());
    for (at, value, expected) in [
        ("/admission/buffer", json!(0), "admission.buffer is 0 B; write 1 B or more"),
        (
            "/admission/other_buffers",
            json!([[9, 1], [9, 0]]),
            "admission.other_buffers[1][1] is 0 B; write 1 B or more",
        ),
        (
            "/admission/ingress/alpha",
            json!(65.0),
            "admission.ingress.alpha is 65.0; write above 0, at most 64.0",
        ),
        (
            "/admission/ingress/headroom/factor",
            json!(0.0),
            "admission.ingress.headroom.factor is 0.0; write above 0",
        ),
    ] {
        assert_eq!(refused(at, value), [expected]);
    }
}

#[test]
fn a_switch_has_room_for_a_full_packet() {
    let around = Surroundings { packet: Some(Bytes::new(1_048)), ..Surroundings::default() };
    let refused = |at, value| refused_in(&around, &[POOL], &[(at, value)]);
    assert!(refused("/admission/buffer", json!(1_048)).is_empty());
    assert!(refused("/admission/other_buffers", json!([[8, 1_048]])).is_empty());
    let why = "a full packet has 1.048 kB on the wire, and would never pass; write that or more";
    let expected = |field| [format!("admission.{field} is 1.047 kB; {why}")];
    assert_eq!(refused("/admission/buffer", json!(1_047)), expected("buffer"));
    let other = refused("/admission/other_buffers", json!([[8, 1_047]]));
    assert_eq!(other, expected("other_buffers[0][1]"));
}
