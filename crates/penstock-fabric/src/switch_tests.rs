//! The composition of the axes: what is observed, in which order, and who gets which frames.

use alloc::vec;
use alloc::vec::Vec;

use penstock_packet::Signal;
use penstock_units::BitRate;

use super::*;
use crate::SchedulingConfig;
use crate::assignment::dynamic::DynamicConfig;
use crate::fixture::{Bench, Flow, bfc, dynamic, flow, hop_rtts, hosts, plain, small_ports};
use crate::scheduling::pfabric::PfabricConfig;

fn events(bench: &Bench) -> Vec<PacketEvent> {
    bench.recorder.0.iter().map(|seen| seen.event).collect()
}

#[test]
fn a_packet_arrives_is_assigned_is_enqueued_and_departs() {
    use PacketEvent::{Arrive, Assign, Choose, Depart, Enqueue, PauseSent, ResumeSent};
    let mut bench = Bench::new(&bfc(dynamic(8), hop_rtts(1.0)), &hosts(2));
    bench.admit(Flow { upstream_queue: 5, ..flow(1) }, 30_000);
    bench.after(Time::from_ns(7));
    bench.depart(0);
    assert_eq!(events(&bench), [Arrive, Assign, Choose, Enqueue, PauseSent, Depart, ResumeSent]);
    let seen = &bench.recorder.0;
    assert!(seen.iter().all(|seen| (seen.node, seen.ingress, seen.egress) == (9, 1, 0)));
    assert!(seen.iter().all(|seen| seen.packet.upstream_queue == 5));
    let bytes: Vec<_> = seen.iter().map(|seen| (seen.queue_bytes, seen.port_bytes)).collect();
    assert_eq!(bytes[2..5], [(0, 0), (30_000, 30_000), (30_000, 30_000)]);
    assert_eq!(bytes[5..], [(0, 0); 2]);
    assert_eq!(seen[3].active_queues, 1);
    assert_eq!(seen[3].threshold, 25_000);
    assert!(seen[3].packet.flags.contains(PacketFlags::COUNTED));
    assert_eq!(seen[5].time, Time::from_ns(7));
    assert_eq!(seen[1].table_index, seen[5].table_index);
}

#[test]
fn a_dropped_packet_is_neither_assigned_nor_queued() {
    use PacketEvent::{Arrive, Drop};
    let admission =
        serde_json::from_str(r#"{"kind":"static","per_port":500,"other_tiers":[]}"#).unwrap();
    let mut bench = Bench::new(&SwitchConfig { admission, ..plain() }, &hosts(2));
    assert_eq!(bench.arrive(flow(1), 1_000), Arrival::Dropped);
    assert_eq!(events(&bench), [Arrive, Drop]);
    let queues =
        bench.recorder.0.iter().map(|seen| (seen.packet.upstream_queue, seen.packet.queue));
    assert!(queues.eq([(1, 0); 2]), "it came from queue 1, and has none here");
    assert_eq!(bench.switch.port(0).counters.drops, 1);
    assert_eq!((bench.switch.accounts().total, bench.pool.live()), (0, 0));
}

#[test]
fn a_packet_that_is_displaced_gives_back_the_bytes_of_its_own_ingress_and_is_seen_to_be_dropped() {
    use PacketEvent::{Arrive, Assign, Drop, Enqueue};
    let mut bench = small_ports(SchedulingConfig::Pfabric(PfabricConfig {}), 1_000);
    bench.arrive(Flow { ingress: 0, remaining: 9_000, ..flow(1) }, 1_000);
    bench.arrive(Flow { ingress: 1, remaining: 1_000, ..flow(2) }, 1_000);
    let seen = &bench.recorder.0;
    let seen: Vec<_> = seen.iter().map(|seen| (seen.event, seen.packet.flow_hash)).collect();
    let first = [Arrive, Assign, Enqueue].map(|event| (event, 1));
    assert_eq!(seen[..3], first);
    assert_eq!(seen[3..], [(Arrive, 2), (Drop, 1), (Assign, 2), (Enqueue, 2)]);
    let used = [0, 1].map(|port| bench.switch.accounts().ingress(port, 0).used);
    assert_eq!((used, bench.switch.port(0).counters.drops), ([0, 1_000], 1));
}

#[test]
fn a_grace_is_observed_as_a_resume_and_its_end_as_a_pause() {
    use PacketEvent::{
        Arrive, Assign, Choose, Depart, Enqueue, PauseReceived, PauseSent, ResumeReceived,
    };
    let assignment = DynamicConfig { grace_hop_rtts: 1.0, ..dynamic(2) };
    let mut bench = Bench::new(&bfc(assignment, hop_rtts(1.0)), &hosts(2));
    bench.signal(0, Signal::PauseQueue(1));
    bench.recorder.0.clear();
    // The grace is 25,000 B: the first packet uses it up, and the pause holds the second.
    bench.admit(flow(1), 25_000);
    bench.admit(flow(1), 1_000);
    assert!(bench.depart(0).is_some() && bench.depart(0).is_none());
    let first = [Arrive, ResumeReceived, Assign, Choose, Enqueue];
    let second = [Arrive, Assign, Enqueue, PauseSent];
    let end = [Depart, PauseReceived];
    assert_eq!(events(&bench), [&first[..], &second, &end].concat());
    // The signals belong to port 0, by which the packets leave; the packets came by port 1.
    for seen in &bench.recorder.0 {
        let is_signal = matches!(seen.event, ResumeReceived | PauseReceived);
        assert_eq!(seen.ingress, u16::from(!is_signal), "{:?}", seen.event);
    }
}

#[test]
fn a_signal_is_observed_with_its_port_and_queue() {
    use PacketEvent::{PauseReceived, ResumeReceived};
    let mut bench = Bench::new(&bfc(dynamic(8), hop_rtts(1.0)), &hosts(3));
    bench.signal(2, Signal::PauseQueue(4));
    bench.signal(2, Signal::ResumeQueue(4));
    assert_eq!(events(&bench), [PauseReceived, ResumeReceived]);
    for seen in &bench.recorder.0 {
        assert_eq!((seen.ingress, seen.egress, seen.packet.upstream_queue), (2, 2, 4));
    }
}

#[test]
fn a_bitmap_is_observed_as_the_pauses_and_resumes_that_it_makes() {
    use PacketEvent::{PauseReceived, ResumeReceived};
    let mut bench = Bench::new(&bfc(dynamic(8), hop_rtts(1.0)), &hosts(3));
    for queue in [2, 4] {
        bench.signal(2, Signal::PauseQueue(queue));
    }
    bench.recorder.0.clear();
    bench.signal(2, Signal::QueueBitmap { epoch: 0, queues: 1 << 4 | 1 << 6 });
    let seen = bench.recorder.0.iter();
    let seen: Vec<_> = seen.map(|seen| (seen.event, seen.packet.upstream_queue)).collect();
    assert_eq!(seen, [(ResumeReceived, 2), (PauseReceived, 6)], "queue 4 was paused already");
    assert!(bench.recorder.0.iter().all(|seen| seen.packet.queue == seen.packet.upstream_queue));
}

#[test]
fn the_threshold_that_is_observed_is_that_of_the_ingress() {
    // Without headroom a pool of 800,000 B: an eighth for 100 Gb/s, half for 400 Gb/s.
    let mut facts = hosts(2);
    facts.ports[1].rate = BitRate::from_gbps(400);
    let admission = r#"{"kind":"shared","buffer":808192,"other_buffers":[],
        "ingress":{"alpha":0.125,"reserve":4096,"headroom":{"kind":"bytes","size":0}}}"#;
    let pfc = r#"{"kind":"pfc","xon_offset":2000,"xoff":null,"pause":{"kind":"lasting"}}"#;
    let config = SwitchConfig {
        admission: serde_json::from_str(admission).unwrap(),
        backpressure: serde_json::from_str(pfc).unwrap(),
        ..plain()
    };
    let mut bench = Bench::new(&config, &facts);
    bench.admit(flow(1), 1_000);
    assert!(bench.recorder.0.iter().all(|seen| seen.threshold == 400_000));
}

#[test]
fn control_packets_go_first_and_touch_no_account() {
    let mut bench = Bench::new(&bfc(dynamic(8), hop_rtts(1.0)), &hosts(2));
    bench.admit(flow(1), 1_000);
    bench.acknowledge(0);
    bench.signal(0, Signal::PauseQueue(1));
    assert_eq!((bench.switch.port(0).bytes(), bench.switch.accounts().total), (1_000, 1_000));
    let (packet, frame) = bench.depart(0).unwrap();
    assert_eq!((packet.kind, frame), (PacketKind::Acknowledgement, None));
    assert!(bench.depart(0).is_none());
    assert!(!bench.switch.port(0).is_ready());
    assert_eq!(bench.switch.port(0).sent_bytes(), 60);
}

#[test]
fn only_bfc_sends_bitmaps() {
    let mut bench = Bench::new(&plain(), &hosts(2));
    assert_eq!(bench.switch.repeated_frame(0, 0), None);
}

#[test]
fn the_upstream_queue_of_a_packet_is_the_queue_of_the_switch_before() {
    let mut bench = Bench::new(&bfc(dynamic(8), hop_rtts(1.0)), &hosts(2));
    bench.queue_of(flow(9));
    bench.admit(Flow { upstream_queue: 6, ..flow(1) }, 1_000);
    bench.depart(0);
    let packet = bench.depart(0).unwrap().0;
    assert_eq!((packet.upstream_queue, packet.queue), (6, 2));
}

#[test]
fn the_longest_link_and_the_pipelines_make_the_hop_rtt() {
    let mut facts = hosts(2);
    assert_eq!(facts.hop_rtt(), Time::from_us(2));
    facts.pipeline_delay = Time::from_ns(400);
    facts.ports[1].delay = Time::from_us(3);
    facts.ports[1].neighbour_pipeline = Time::from_ns(100);
    assert_eq!(facts.hop_rtt(), Time::from_ns(6_500));
    facts.ports = vec![];
    assert_eq!(facts.hop_rtt(), Time::ZERO);
}
