//! The packet trace: a row for each event of a packet at a switch. The rows are complete enough for
//! somebody else's script to check every decision of the switch against the paper.

use penstock_packet::{Observation, Observer, PacketFlags, PacketKind};

use super::table::{Column, Table};
use crate::flow::FlowNames;
use crate::topology::Topology;

/// An observer that writes down every event at the switches that it watches.
#[derive(Debug)]
pub struct PacketTrace {
    /// By node: whether the node is watched.
    watched: Vec<bool>,
    /// By node and local port: the link that leaves by the port.
    egress_links: Vec<Vec<u32>>,
    /// By node and local port: the link that comes in by the port.
    ingress_links: Vec<Vec<u32>>,
    names: FlowNames,
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
    /// A trace of `nodes`, or of all switches when `nodes` is empty.
    pub fn new(nodes: &[u32], ports: PortLinks, names: FlowNames) -> Self {
        let watched = (0..ports.egress.len() as u32)
            .map(|node| nodes.is_empty() || nodes.contains(&node))
            .collect();
        PacketTrace {
            watched,
            egress_links: ports.egress,
            ingress_links: ports.ingress,
            names,
            time: vec![],
            node: vec![],
            ingress: vec![],
            egress: vec![],
            event: vec![],
            flow: vec![],
            flow_hash: vec![],
            table_index: vec![],
            sequence: vec![],
            size: vec![],
            queue: vec![],
            upstream_queue: vec![],
            queue_bytes: vec![],
            port_bytes: vec![],
            active_queues: vec![],
            threshold: vec![],
            counted: vec![],
        }
    }

    /// The table.
    pub fn into_table(self) -> Table {
        let columns = vec![
            ("time_ps", Column::U64(self.time)),
            ("node", Column::U32(self.node)),
            ("ingress", Column::I32(self.ingress)),
            ("egress", Column::I32(self.egress)),
            ("event", Column::U32(self.event)),
            ("flow", Column::U64(self.flow)),
            ("flow_hash", Column::U32(self.flow_hash)),
            ("table_index", Column::I64(self.table_index)),
            ("sequence", Column::U64(self.sequence)),
            ("size_bytes", Column::U32(self.size)),
            ("queue", Column::I32(self.queue)),
            ("upstream_queue", Column::I32(self.upstream_queue)),
            ("queue_bytes", Column::U64(self.queue_bytes)),
            ("port_bytes", Column::U64(self.port_bytes)),
            ("active_queues", Column::U32(self.active_queues)),
            ("threshold_bytes", Column::I64(self.threshold)),
            ("counted", Column::Bool(self.counted)),
        ];
        Table { name: "packets", columns }
    }
}

impl Observer for PacketTrace {
    const IS_WATCHING: bool = true;

    fn record(&mut self, seen: Observation) {
        let node = seen.node as usize;
        if !self.watched[node] {
            return;
        }
        let packet = seen.packet;
        self.time.push(seen.time.as_ps());
        self.node.push(seen.node);
        self.ingress.push(self.ingress_links[node][usize::from(seen.ingress)] as i32);
        self.egress.push(self.egress_links[node][usize::from(seen.egress)] as i32);
        self.event.push(seen.event as u32);
        let is_data = packet.kind == PacketKind::Data;
        self.flow.push(if is_data { self.names.number(packet.flow_hash) } else { u64::MAX });
        self.flow_hash.push(packet.flow_hash);
        self.table_index.push(if is_data { seen.table_index } else { -1 });
        self.sequence.push(packet.offset);
        self.size.push(u32::from(packet.wire_bytes));
        self.queue.push(i32::from(packet.queue));
        self.upstream_queue.push(i32::from(packet.upstream_queue));
        self.queue_bytes.push(seen.queue_bytes);
        self.port_bytes.push(seen.port_bytes);
        self.active_queues.push(seen.active_queues);
        self.threshold.push(seen.threshold);
        self.counted.push(packet.flags.contains(PacketFlags::COUNTED));
    }
}

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;
