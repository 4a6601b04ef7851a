//! Private memories of egress ports.

use alloc::format;

use penstock_packet::SwitchFacts;
use penstock_units::Bytes;

use super::*;
use crate::config::Surroundings;
use crate::fixture::refusal::{refused, refused_in};
use crate::fixture::{Bench, Flow, flow, hosts, plain};
use crate::switch::Arrival;
use crate::{AdmissionConfig, SwitchConfig};

const QUEUED: Arrival = Arrival::Queued { feedback: None };

#[test]
fn a_port_is_full_to_the_byte_whatever_the_others_hold() {
    let admission =
        serde_json::from_str(r#"{"kind":"static","per_port":3000,"other_tiers":[]}"#).unwrap();
    let config = SwitchConfig { admission, ..plain() };
    let mut bench = Bench::new(&config, &hosts(3));
    assert_eq!(bench.arrive(flow(1), 2_000), QUEUED);
    assert_eq!(bench.arrive(flow(1), 1_001), Arrival::Dropped);
    assert_eq!(bench.arrive(flow(1), 1_000), QUEUED);
    assert_eq!(bench.arrive(flow(1), 1), Arrival::Dropped);
    assert_eq!(bench.arrive(Flow { egress: 2, ..flow(1) }, 3_000), QUEUED);
    assert_eq!(bench.switch.accounts().ingress(1, 0).used, 6_000);
    bench.depart(0);
    assert_eq!(bench.arrive(flow(1), 2_000), QUEUED);
    assert_eq!(bench.switch.port(0).counters.drops, 2);
    assert_eq!(bench.switch.port(0).counters.bytes_max, 3_000);
}

#[test]
fn control_packets_need_no_room() {
    let admission =
        serde_json::from_str(r#"{"kind":"static","per_port":1,"other_tiers":[]}"#).unwrap();
    let mut bench = Bench::new(&SwitchConfig { admission, ..plain() }, &hosts(2));
    (0..100).for_each(|_| bench.acknowledge(0));
    assert_eq!(bench.switch.accounts().total, 0);
    assert_eq!(bench.drain(0).len(), 100);
}

#[test]
fn a_port_without_memory_is_refused() {
    let none = ("admission", r#"{"kind": "static", "per_port": 0, "other_tiers": []}"#);
    assert_eq!(refused(&[none], &[]), ["admission.per_port is 0 B; write 1 B or more"]);
}

#[test]
fn the_ports_of_a_spine_have_twice_the_memory_of_those_of_a_leaf() {
    // AFQ 6.2.1: "512KB and 1MB per port respectively".
    let admission = r#"{"kind":"static","per_port":512000,"other_tiers":[[2,1000000]]}"#;
    let config = SwitchConfig { admission: serde_json::from_str(admission).unwrap(), ..plain() };
    let AdmissionConfig::Static(memories) = &config.admission else { unreachable!() };
    assert_eq!(memories.largest(), Bytes::new(1_000_000));
    let small = StaticConfig { other_tiers: alloc::vec![(2, Bytes::new(9))], ..memories.clone() };
    assert_eq!(small.largest(), Bytes::new(512_000));
    for (tier, packets) in [(1, 341), (2, 666), (3, 341)] {
        let mut bench = Bench::new(&config, &SwitchFacts { tier, ..hosts(2) });
        (0..packets).for_each(|_| assert_eq!(bench.arrive(flow(1), 1_500), QUEUED));
        assert_eq!(bench.arrive(flow(1), 1_500), Arrival::Dropped, "tier {tier}");
    }
}

#[test]
fn tiers_are_named_once_and_have_some_memory() {
    let admission = |tiers| format!(r#"{{"kind":"static","per_port":9,"other_tiers":{tiers}}}"#);
    for (tiers, expected) in [
        ("[[2,1]]", &[] as &[&str]),
        ("[[2,0]]", &["admission.other_tiers[0][1] is 0 B; write 1 B or more"]),
        ("[[0,1]]", &["admission.other_tiers[0][0] is 0; write 1 to 255"]),
        (
            "[[2,1],[1,1],[2,1]]",
            &["admission.other_tiers[2][0] is 2; its memory is given above; name a tier once"],
        ),
    ] {
        assert_eq!(refused(&[("admission", &admission(tiers))], &[]), expected);
    }
}

#[test]
fn a_port_has_room_for_a_full_packet_in_every_tier() {
    let around = Surroundings { packet: Some(Bytes::new(1_048)), ..Surroundings::default() };
    let found = |per_port, tier| {
        let memory =
            format!(r#"{{"kind":"static","per_port":{per_port},"other_tiers":[[2,{tier}]]}}"#);
        refused_in(&around, &[("admission", &memory)], &[])
    };
    assert!(found(1_048, 1_048).is_empty());
    let why = "a full packet has 1.048 kB on the wire, and would never pass; write that or more";
    let refusal = |field: &str| alloc::vec![format!("admission.{field} is 1.047 kB; {why}")];
    assert_eq!(found(1_047, 1_048), refusal("per_port"));
    assert_eq!(found(1_048, 1_047), refusal("other_tiers[0][1]"));
    assert_eq!(found(0, 1_048), ["admission.per_port is 0 B; write 1 B or more"]);
}
