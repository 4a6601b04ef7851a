//! The packet trace: a row for each event of a packet at a switch. The rows are complete enough for
//! somebody else's script to check every decision of the switch against the paper.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::{Observation, Observer, Packet, PacketEvent, PacketFlags};

use super::table::{Column, Table};
use crate::flow::FlowNames;
use crate::rows::Record;
use crate::scenario::TraceConfig;
use crate::topology::Topology;

/// An observer that writes down every event at the switches that it watches.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub struct PacketTrace {
    /// By node: whether the node is watched.
    watched: Vec<bool>,
    /// The events that are written down, one bit each by their number.
    events: u32,
    /// By node and local port: the link that leaves by the port.
    egress_links: Vec<Vec<u32>>,
    /// By node and local port: the link that comes in by the port.
    ingress_links: Vec<Vec<u32>>,
    names: FlowNames,
    rows: Rows,
    /// See [`Observer::set_failed`].
    has_failed: bool,
}

/// A row for each event, column by column.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
struct Rows {
    time: Vec<u64>,
    node: Vec<u32>,
    ingress: Vec<i32>,
    egress: Vec<i32>,
    event: Vec<u32>,
    flow: Vec<u64>,
    flow_hash: Vec<u32>,
    table_index: Vec<i64>,
    sequence: Vec<u64>,
    size: Vec<u32>,
    queue: Vec<i32>,
    upstream_queue: Vec<i32>,
    queue_bytes: Vec<u64>,
    port_bytes: Vec<u64>,
    active_queues: Vec<u32>,
    threshold: Vec<i64>,
    counted: Vec<bool>,
    kind: Vec<u32>,
    source: Vec<u32>,
    destination: Vec<u32>,
    class: Vec<u32>,
    payload: Vec<u32>,
    remaining: Vec<u32>,
    sent: Vec<u64>,
    tag: Vec<u32>,
    flags: Vec<u32>,
}

/// The links at the local ports of every node.
#[derive(Clone, Debug, Default)]
pub struct PortLinks {
    /// By node and local port: the link that leaves by the port.
    pub egress: Vec<Vec<u32>>,
    /// By node and local port: the link that comes in by the port.
    pub ingress: Vec<Vec<u32>>,
}

impl PortLinks {
    /// The links of `topology`.
    pub fn new(topology: &Topology) -> Self {
        let nodes = 0..topology.nodes.len() as u32;
        let egress: Vec<Vec<u32>> =
            nodes.map(|node| topology.egress_links(node).to_vec()).collect();
        let reverse = |link: &u32| topology.links[*link as usize].reverse;
        let ingress = egress.iter().map(|links| links.iter().map(reverse).collect()).collect();
        PortLinks { egress, ingress }
    }
}

impl PacketTrace {
    /// A trace of what `config` asks for.
    pub fn new(config: &TraceConfig, ports: PortLinks, names: FlowNames) -> Self {
        let TraceConfig { nodes, events } = config;
        let watched = (0..ports.egress.len() as u32)
            .map(|node| nodes.is_empty() || nodes.contains(&node))
            .collect();
        let asked = events.iter().fold(0, |events, &event| events | 1 << event as u32);
        PacketTrace {
            watched,
            events: if events.is_empty() { u32::MAX } else { asked },
            egress_links: ports.egress,
            ingress_links: ports.ingress,
            names,
            rows: Rows::default(),
            has_failed: false,
        }
    }

    /// What is written down of `event`.
    fn written(&self, event: PacketEvent) -> PacketEvent {
        match event {
            PacketEvent::Depart | PacketEvent::ControlDepart if self.has_failed => {
                PacketEvent::Drop
            }
            event => event,
        }
    }
}

impl Rows {
    /// Writes down what stands in the packet's header, so that a frame can be made of the row.
    fn push_header(&mut self, packet: &Packet) {
        self.kind.push(packet.kind as u32);
        self.source.push(packet.source);
        self.destination.push(packet.destination);
        self.class.push(u32::from(packet.class));
        self.payload.push(u32::from(packet.payload));
        self.remaining.push(packet.remaining);
        self.sent.push(packet.sent_at.as_ps());
        self.tag.push(u32::from(packet.tag));
        self.flags.push(u32::from(packet.flags.bits()));
    }
}

impl Record for PacketTrace {
    fn rows(&self) -> usize {
        self.rows.time.len()
    }

    fn take(&mut self) -> Option<Table> {
        let taken = std::mem::take(&mut self.rows);
        let columns = vec![
            ("time_ps", Column::U64(taken.time)),
            ("node", Column::U32(taken.node)),
            ("ingress", Column::I32(taken.ingress)),
            ("egress", Column::I32(taken.egress)),
            ("event", Column::U32(taken.event)),
            ("flow", Column::U64(taken.flow)),
            ("flow_hash", Column::U32(taken.flow_hash)),
            ("table_index", Column::I64(taken.table_index)),
            ("sequence", Column::U64(taken.sequence)),
            ("size_bytes", Column::U32(taken.size)),
            ("queue", Column::I32(taken.queue)),
            ("upstream_queue", Column::I32(taken.upstream_queue)),
            ("queue_bytes", Column::U64(taken.queue_bytes)),
            ("port_bytes", Column::U64(taken.port_bytes)),
            ("active_queues", Column::U32(taken.active_queues)),
            ("threshold_bytes", Column::I64(taken.threshold)),
            ("counted", Column::Bool(taken.counted)),
            ("kind", Column::U32(taken.kind)),
            ("src", Column::U32(taken.source)),
            ("dst", Column::U32(taken.destination)),
            ("class", Column::U32(taken.class)),
            ("payload_bytes", Column::U32(taken.payload)),
            ("remaining", Column::U32(taken.remaining)),
            ("sent_ps", Column::U64(taken.sent)),
            ("tag", Column::U32(taken.tag)),
            ("flags", Column::U32(taken.flags)),
        ];
        Some(Table { name: "packets", columns })
    }
}

impl Observer for PacketTrace {
    const IS_WATCHING: bool = true;

    #[inline]
    fn watches(&self, node: u32, event: PacketEvent) -> bool {
        self.watched[node as usize] && self.events & (1 << self.written(event) as u32) != 0
    }

    fn set_failed(&mut self, has_failed: bool) {
        self.has_failed = has_failed;
    }

    fn record(&mut self, seen: Observation) {
        let node = seen.node as usize;
        let event = self.written(seen.event);
        self.rows.push_header(&seen.packet);
        let (packet, rows) = (seen.packet, &mut self.rows);
        // A frame that the switch has made for its neighbour came by no port.
        let is_local = packet.kind.is_link_local();
        let ingress = if is_local { seen.egress } else { seen.ingress };
        rows.time.push(seen.time.as_ps());
        rows.node.push(seen.node);
        rows.ingress.push(self.ingress_links[node][usize::from(ingress)] as i32);
        rows.egress.push(self.egress_links[node][usize::from(seen.egress)] as i32);
        rows.event.push(event as u32);
        let has_flow = !is_local;
        rows.flow.push(if has_flow { self.names.number(packet.flow_hash) } else { u64::MAX });
        rows.flow_hash.push(packet.flow_hash);
        rows.table_index.push(if has_flow { seen.table_index } else { -1 });
        rows.sequence.push(packet.offset);
        rows.size.push(u32::from(packet.wire_bytes));
        rows.queue.push(i32::from(packet.queue));
        rows.upstream_queue.push(i32::from(packet.upstream_queue));
        rows.queue_bytes.push(seen.queue_bytes);
        rows.port_bytes.push(seen.port_bytes);
        rows.active_queues.push(seen.active_queues);
        rows.threshold.push(seen.threshold);
        rows.counted.push(packet.flags.contains(PacketFlags::COUNTED));
    }
}

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;
