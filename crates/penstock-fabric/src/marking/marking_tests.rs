//! Which packets of a queue are marked, seen through the switch.

use alloc::format;
use alloc::vec::Vec;

use penstock_packet::{PacketEvent, PacketFlags};

use crate::SwitchConfig;
use crate::fixture::{Bench, flow, hosts, plain};

/// A switch that marks every packet of a queue beyond 2,000 B.
fn bench(at: &str) -> Bench {
    let text =
        format!(r#"{{"kind":"ecn","kmin":2000,"kmax":2000,"pmax":1.0,"at":"{at}","per_rate":[]}}"#);
    let marking = serde_json::from_str(&text).unwrap();
    Bench::new(&SwitchConfig { marking, ..plain() }, &hosts(2))
}

/// Whether each of five packets of 1,000 B leaves marked. All five arrive at once.
fn marks(bench: &mut Bench) -> Vec<bool> {
    for _ in 0..5 {
        bench.admit(flow(1), 1_000);
    }
    let depart = |_| bench.depart(0).unwrap().0.flags.contains(PacketFlags::MARKED);
    (0..5).map(depart).collect()
}

#[test]
fn at_enqueue_the_queue_includes_the_packet() {
    assert_eq!(marks(&mut bench("enqueue")), [false, false, true, true, true]);
}

#[test]
fn at_dequeue_it_is_what_the_packet_leaves_behind() {
    assert_eq!(marks(&mut bench("dequeue")), [true, true, false, false, false]);
}

#[test]
fn each_mark_is_observed_once() {
    for at in ["enqueue", "dequeue"] {
        let mut bench = bench(at);
        let marked = marks(&mut bench).into_iter().filter(|&is_marked| is_marked).count();
        let events = bench.recorder.0.iter().filter(|seen| seen.event == PacketEvent::Mark).count();
        assert_eq!(events, marked);
    }
}

#[test]
fn a_mark_of_an_earlier_switch_stays_and_control_is_never_marked() {
    let mut bench = bench("dequeue");
    bench.arrive_with(flow(1), 1_000, PacketFlags::MARKED);
    for _ in 0..9 {
        bench.admit(flow(1), 1_000);
    }
    bench.acknowledge(0);
    let acknowledgement = bench.depart(0).unwrap().0;
    assert_eq!(acknowledgement.wire_bytes, 60);
    assert!(!acknowledgement.flags.contains(PacketFlags::MARKED));
    let last = (0..10).map(|_| bench.depart(0).unwrap().0).filter(|packet| packet.offset == 0);
    assert!(last.last().unwrap().flags.contains(PacketFlags::MARKED));
}

#[test]
fn the_queue_that_counts_is_the_packets_own() {
    let text = r#"{"kind":"class","classes":2}"#;
    let config = SwitchConfig {
        assignment: serde_json::from_str(text).unwrap(),
        scheduling: serde_json::from_str(r#"{"kind":"strict"}"#).unwrap(),
        marking: serde_json::from_str(
            r#"{"kind":"ecn","kmin":2000,"kmax":2000,"pmax":1.0,"at":"enqueue","per_rate":[]}"#,
        )
        .unwrap(),
        ..plain()
    };
    let mut bench = Bench::new(&config, &hosts(2));
    for class in [0, 0, 1, 1] {
        bench.admit(crate::fixture::Flow { class, ..flow(1) }, 1_000);
    }
    let marked = (0..4).filter(|_| bench.depart(0).unwrap().0.flags.contains(PacketFlags::MARKED));
    assert_eq!(marked.count(), 0, "4,000 B at the port, but no queue above 2,000 B");
}
