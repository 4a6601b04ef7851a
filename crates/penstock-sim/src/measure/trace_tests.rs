//! Which packets the trace writes down, and under which names.

use penstock_packet::{Packet, PacketEvent, Signal};
use penstock_units::Time;

use super::*;

fn observation(node: u32, packet: Packet) -> Observation {
    Observation {
        time: Time::from_ps(5),
        node,
        ingress: 1,
        egress: 0,
        event: PacketEvent::Enqueue,
        packet,
        queue_bytes: 10,
        port_bytes: 20,
        active_queues: 3,
        table_index: 99,
        threshold: -1,
    }
}

/// The trace of two hosts and two switches, nodes 2 and 3. Links are numbered by 10 · node + port.
fn trace(nodes: &[u32]) -> PacketTrace {
    trace_of(&TraceConfig { nodes: nodes.to_vec(), events: vec![] })
}

fn trace_of(config: &TraceConfig) -> PacketTrace {
    let links =
        |base: u32| (0..4).map(|node| vec![base + 10 * node, base + 10 * node + 1]).collect();
    let ports = PortLinks { egress: links(0), ingress: links(100) };
    PacketTrace::new(config, ports, FlowNames::new(8))
}

/// Offers an event as a switch does: it is recorded only if it is watched.
fn offer(trace: &mut PacketTrace, seen: Observation) {
    if trace.watches(seen.node, seen.event) {
        trace.record(seen);
    }
}

fn column(table: &Table, name: &str) -> Column {
    table.columns.iter().find(|column| column.0 == name).unwrap().1.clone()
}

#[test]
fn only_the_watched_nodes_are_written_down() {
    for (nodes, expected) in [(vec![], vec![2, 3]), (vec![3], vec![3])] {
        let mut trace = trace(&nodes);
        for node in [2, 3] {
            offer(&mut trace, observation(node, Packet::default()));
        }
        assert_eq!(column(&trace.take().unwrap(), "node"), Column::U32(expected));
    }
}

#[test]
fn only_the_events_that_are_asked_for_are_written_down() {
    let events = vec![PacketEvent::Choose, PacketEvent::Drop];
    let mut trace = trace_of(&TraceConfig { nodes: vec![], events });
    for event in [PacketEvent::Drop, PacketEvent::Assign, PacketEvent::Choose] {
        offer(&mut trace, Observation { event, ..observation(2, Packet::default()) });
    }
    let [drop, choose] = [PacketEvent::Drop, PacketEvent::Choose].map(|event| event as u32);
    assert_eq!(column(&trace.take().unwrap(), "event"), Column::U32(vec![drop, choose]));
}

#[test]
fn ports_are_named_by_their_links_and_flows_by_their_numbers() {
    let mut trace = trace(&[]);
    let flow_hash = FlowNames::new(8).hash(77);
    trace.record(observation(3, Packet { flow_hash, queue: 4, ..Packet::default() }));
    trace.record(observation(3, Signal::PauseQueue(6).frame(64)));
    let table = trace.take().unwrap();
    assert_eq!(
        column(&table, "ingress"),
        Column::I32(vec![131, 130]),
        "a frame's two ports are one"
    );
    assert_eq!(column(&table, "egress"), Column::I32(vec![30; 2]));
    assert_eq!(column(&table, "flow"), Column::U64(vec![77, u64::MAX]), "a frame has no flow");
    assert_eq!(column(&table, "table_index"), Column::I64(vec![99, -1]));
    assert_eq!(column(&table, "upstream_queue"), Column::I32(vec![0, 6]));
    assert_eq!(column(&table, "event"), Column::U32(vec![PacketEvent::Enqueue as u32; 2]));
}

#[test]
fn the_names_of_events_are_in_the_order_of_their_numbers() {
    assert_eq!(PacketEvent::NAMES[PacketEvent::Arrive as usize], "arrive");
    assert_eq!(PacketEvent::NAMES[PacketEvent::Drop as usize], "drop");
    assert_eq!(PacketEvent::NAMES[PacketEvent::PauseSent as usize], "pause_sent");
    assert_eq!(PacketEvent::NAMES[PacketEvent::ResumeReceived as usize], "resume_received");
    assert_eq!(PacketEvent::NAMES.len(), PacketEvent::ControlDepart as usize + 1);
}
