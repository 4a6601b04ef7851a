//! Private memories of egress ports.

use crate::SwitchConfig;
use crate::fixture::refusal::refused;
use crate::fixture::{Bench, Flow, flow, hosts, plain};
use crate::switch::Arrival;

const QUEUED: Arrival = Arrival::Queued { frame: None, feedback: None };

#[test]
fn a_port_is_full_to_the_byte_whatever_the_others_hold() {
    let admission = serde_json::from_str(r#"{"kind":"static","per_port":3000}"#).unwrap();
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
    let admission = serde_json::from_str(r#"{"kind":"static","per_port":1}"#).unwrap();
    let mut bench = Bench::new(&SwitchConfig { admission, ..plain() }, &hosts(2));
    (0..100).for_each(|_| bench.acknowledge(0));
    assert_eq!(bench.switch.accounts().total, 0);
    assert_eq!(bench.drain(0).len(), 100);
}

#[test]
fn a_port_without_memory_is_refused() {
    let none = ("admission", r#"{"kind": "static", "per_port": 0}"#);
    assert_eq!(refused(&[none], &[]), ["admission.per_port is 0 B; write 1 B or more"]);
}
