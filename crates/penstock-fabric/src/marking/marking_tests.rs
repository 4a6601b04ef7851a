//! Which packets of a queue are marked, seen through the switch.

use alloc::format;
use alloc::vec::Vec;

use penstock_packet::{PacketEvent, PacketFlags};

use super::MarkingConfig;
use crate::SwitchConfig;
use crate::fixture::{Bench, flow, hosts, plain};

/// ECN that marks every packet beyond 2,000 B `of` the queue or the port.
fn step(at: &str, of: &str) -> MarkingConfig {
    let text = format!(
        r#"{{"kind":"ecn","kmin":2000,"kmax":2000,"pmax":1.0,"at":"{at}","of":"{of}","per_rate":[]}}"#
    );
    serde_json::from_str(&text).unwrap()
}

/// A switch that marks every packet of a queue beyond 2,000 B.
fn bench(at: &str) -> Bench {
    Bench::new(&SwitchConfig { marking: step(at, "queue"), ..plain() }, &hosts(2))
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

/// Which of four packets of 1,000 B leave marked. All four arrive at once, two in each of two classes.
fn marks_of_two_queues(marking: MarkingConfig) -> [bool; 4] {
    let config = SwitchConfig {
        assignment: serde_json::from_str(r#"{"kind":"class","classes":2}"#).unwrap(),
        scheduling: serde_json::from_str(r#"{"kind":"strict"}"#).unwrap(),
        marking,
        ..plain()
    };
    let mut bench = Bench::new(&config, &hosts(2));
    for class in [0, 0, 1, 1] {
        bench.admit(crate::fixture::Flow { class, ..flow(1) }, 1_000);
    }
    [0; 4].map(|_| bench.depart(0).unwrap().0.flags.contains(PacketFlags::MARKED))
}

#[test]
fn the_queue_that_counts_is_the_packets_own() {
    for at in ["enqueue", "dequeue"] {
        let marked = marks_of_two_queues(step(at, "queue"));
        assert_eq!(marked, [false; 4], "4,000 B at the port, but no queue above 2,000 B");
    }
}

#[test]
fn or_all_queues_of_the_port_count() {
    // 1,000, 2,000, 3,000 and 4,000 B with the packet itself; 3,000, 2,000, 1,000 and 0 B behind it.
    let port = |at| marks_of_two_queues(step(at, "port"));
    assert_eq!(port("enqueue"), [false, false, true, true]);
    assert_eq!(port("dequeue"), [true, false, false, false]);
}
