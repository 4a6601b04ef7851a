//! What the dynamic assignment does otherwise under fidelity ns3-bfc (NASA-NJU/Pyrrha-NS3, commit 3765687;
//! described in `tests/data/pyrrha-bfc/README.md`).
//!
//! - The entry of a flow is a hash that all switches share, and the table has a part for the loopback
//!   device.
//! - Entries are never forgotten. The sticky threshold follows the link by which a packet came, in doubles:
//!   3,999 ns where the links have 1 us.
//! - A paused queue counts as taken only while an entry points to it.
//! - A random queue is the next number of one sequence for all switches.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use penstock_packet::{Packet, PortFacts, Shared, SwitchFacts};
use penstock_units::{Fidelity, Time};

use super::config::DynamicConfig;
use super::flow_table::FlowEntry;
use crate::parts::Bitmap;
use crate::port::Port;

/// The state of the assignment that only this fidelity has.
#[derive(Debug)]
pub(super) struct Ns3 {
    shared: Arc<dyn Shared>,
    /// Flow-table entries of an egress port.
    pub(super) entries_per_port: u32,
    /// By ingress port: a flow keeps its queue for this long without packets.
    sticky: Vec<Time>,
    /// By egress port and queue: entries that point to the queue.
    entries: Vec<u32>,
    queues: usize,
}

impl Ns3 {
    /// The state for `config`, under that fidelity.
    pub(super) fn new(config: &DynamicConfig, facts: &SwitchFacts) -> Option<Self> {
        let shared = facts.shared.clone().filter(|_| facts.fidelity == Fidelity::Ns3Bfc)?;
        let (ports, queues) = (facts.ports.len(), config.queues as usize);
        let sticky = |port: &PortFacts| {
            let seconds = port.delay.as_ns3_seconds() * 2.0 * config.sticky_hop_rtts;
            Time::from_ns((seconds * 1e9) as u64)
        };
        Some(Ns3 {
            shared,
            entries_per_port: config.table_factor * config.queues * (ports as u32 + 1),
            sticky: facts.ports.iter().map(sticky).collect(),
            entries: vec![0; ports * queues],
            queues,
        })
    }

    /// The entry of a packet's flow at its egress port. Acknowledgements are a flow of their own.
    pub(super) fn column(&self, packet: &Packet) -> u32 {
        let is_reply = packet.kind.is_reply();
        self.shared.flow_id(packet.flow_hash, is_reply) % self.entries_per_port
    }

    /// Whether `entry` has no packets, and the flow of `packet` has lost its queue.
    pub(super) fn is_stale(&self, now: Time, entry: FlowEntry, packet: &Packet) -> bool {
        let sticky = self.sticky[usize::from(packet.ingress)];
        entry.size == 0 && now.saturating_sub(entry.touched) > sticky
    }

    /// The queues that are not taken at the port `egress`.
    pub(super) fn free_queues(&self, egress: u16, port: &Port) -> Bitmap {
        let mut free = port.empty_queues().clone();
        for (queue, &entries) in self.row(egress).iter().enumerate() {
            if entries > 0 && port.queues()[queue].is_paused {
                free.remove(queue);
            }
        }
        free
    }

    /// A random data queue of a port.
    pub(super) fn random_queue(&self) -> u16 {
        1 + self.shared.below(self.queues as u32 - 1) as u16
    }

    /// An entry of `egress` that pointed to the queue `from`, or to none (0), points to `to`.
    pub(super) fn point(&mut self, egress: u16, from: u16, to: u16) {
        let start = usize::from(egress) * self.queues;
        if from > 0 {
            self.entries[start + usize::from(from)] -= 1;
        }
        self.entries[start + usize::from(to)] += 1;
    }

    fn row(&self, egress: u16) -> &[u32] {
        let start = usize::from(egress) * self.queues;
        &self.entries[start..start + self.queues]
    }
}
