//! Dynamic queue assignment (BFC, P. Goyal et al., NSDI 2022, sec. 3.3.1): a flow that becomes active
//! gets an empty queue, and shares a random one only when none is empty.
//!
//! Implemented: the flow table indexed by egress port and flow hash with `size` and `qAssignment`; the
//! bitmap of empty queues; sticky assignment (sec. 3.3.2); sampling (App. A.8); the incast label (App.
//! A.7); priority classes with a static share of the queues (App. A.3). Each class assigns independently, so
//! it has its share of the table, too; labelled flows, whose queue is fixed, need none of it. Two proposals
//! of the paper are also implemented: queues that classes share (A.3), and a queue of similar remaining
//! size at a full port (A.2).
//!
//! Of 32 queues 31 are for data, because queue 0 is for control packets. App. A.8 samples half of the
//! packets. App. A.3 proposes queues that move between classes as these need them.
//!
//! With `epoch_bits`, ours too, an empty queue that gets a new flow begins a new epoch, and a pause of an
//! earlier epoch does not hold the flow ([`penstock_packet::epochs`]).
//!
//! `queue_choice.rs` has which queue a new flow gets.

mod config;
mod flow_table;
mod ns3;
mod queue_choice;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::{Packet, PacketFlags, SwitchFacts};
use penstock_units::Time;
use rand_core::RngCore;

use super::policy::{Assigning, Policy};
pub use config::{AcknowledgementQueue, DynamicConfig, FullPort, QueueSearch};
use flow_table::{FlowEntry, FlowTable};
use ns3::Ns3;
use queue_choice::QueueChoice;

use crate::parts::{reduce, salted};
use crate::port::Port;
use crate::stored::Stored;

/// The dynamic assignment of a switch.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Dynamic {
    /// Entries by number: `entries_per_port` for each egress port.
    table: FlowTable,
    /// Those for the flows of each class, and one for all labelled flows of each, where these have a queue of
    /// their own.
    entries_per_port: u32,
    /// Entries for the flows of a class.
    entries_per_class: u32,
    salt: u32,
    choice: QueueChoice,
    /// A packet takes part in the bookkeeping when a 32-bit draw does not exceed this.
    sampling: u32,
    /// Only under fidelity ns3-bfc.
    #[borsh(skip)] // such a run is not saved
    ns3: Option<Box<Ns3>>,
}

impl Dynamic {
    pub(crate) fn new(config: &DynamicConfig, facts: &SwitchFacts) -> Self {
        let hop_rtt = facts.hop_rtt();
        let ns3 = Ns3::new(config, facts).map(Box::new);
        let own_entries = config.table_factor * config.queues / config.classes;
        let entries_per_class = ns3.as_ref().map_or(own_entries, |ns3| ns3.entries_per_port);
        let entries_of_labels = u32::from(config.incast_queue);
        let times_hop_rtt = |factor: f64| Time::from_ps((hop_rtt.as_ps() as f64 * factor) as u64);
        let sticky = match ns3 {
            None => times_hop_rtt(config.sticky_hop_rtts),
            Some(_) => Time::NEVER, // entries are kept, and looked at with the packet's ingress
        };
        Dynamic {
            table: FlowTable::new(sticky),
            entries_per_port: (entries_per_class + entries_of_labels) * config.classes,
            entries_per_class,
            salt: facts.salt,
            choice: QueueChoice::new(config, facts, times_hop_rtt(config.grace_hop_rtts)),
            sampling: (config.sampling * f64::from(u32::MAX)) as u32,
            ns3,
        }
    }

    #[inline]
    fn index(&self, egress: u16, packet: &Packet) -> u32 {
        let (class, classes) = (self.choice.class_of(packet), self.choice.classes());
        let column = match &self.ns3 {
            None if self.choice.is_labelled(packet) => classes * self.entries_per_class + class,
            None => {
                let place = reduce(salted(packet.flow_hash, self.salt), self.entries_per_class);
                class * self.entries_per_class + place
            }
            Some(ns3) => ns3.column(packet),
        };
        u32::from(egress) * self.entries_per_port + column
    }

    /// Whether another class has taken the queue of a flow without packets.
    #[inline]
    fn has_lost(&self, entry: FlowEntry, packet: &Packet, port: &Port) -> bool {
        self.choice.classes_share()
            && entry.size == 0
            && port.queues()[usize::from(entry.queue)].class != packet.class
    }

    /// Packets that are queued at the egress port according to the table, for checks.
    fn sizes(&self, egress: u16) -> u64 {
        let row = self.entries_per_port;
        let own = self.table.entries().filter(|(number, _)| number / row == u32::from(egress));
        own.map(|(_, entry)| u64::from(entry.size)).sum()
    }
}

impl Policy for Dynamic {
    #[inline]
    fn assign(&mut self, mut arrival: Assigning<'_>) -> Option<u16> {
        let Assigning { now, egress, .. } = arrival;
        let index = self.index(egress, arrival.packet);
        let place = self.table.place_of(now, index);
        let entry = *self.table.at(place);
        let is_stale = match &self.ns3 {
            None => self.table.is_stale(now, entry),
            Some(ns3) => ns3.is_stale(now, entry, arrival.packet),
        };
        let has_none =
            entry.queue == 0 || is_stale || self.has_lost(entry, arrival.packet, arrival.port);
        let queue = if has_none {
            arrival.port.counters.choices += 1;
            let queue = self.choice.choose(&mut arrival, self.ns3.as_deref());
            if let Some(ns3) = &mut self.ns3 {
                ns3.point(egress, entry.queue, queue);
            }
            queue
        } else {
            entry.queue
        };
        let Assigning { packet, random, .. } = arrival;
        self.choice.on_join(egress, queue, packet.remaining);
        let is_tracked = self.sampling == u32::MAX || random.next_u32() <= self.sampling;
        if is_tracked {
            packet.flags.insert(PacketFlags::TRACKED);
        } else {
            packet.flags.remove(PacketFlags::TRACKED);
        }
        *self.table.at(place) =
            FlowEntry { touched: now, size: entry.size + u32::from(is_tracked), queue };
        Some(queue)
    }

    #[inline]
    fn on_dequeue(&mut self, now: Time, egress: u16, packet: &Packet, _: &Port) {
        if packet.flags.contains(PacketFlags::TRACKED) {
            let index = self.index(egress, packet);
            let entry = self.table.entry_in_use(index);
            entry.size -= 1;
            entry.touched = now;
        }
    }

    fn table_index(&self, egress: u16, packet: &Packet) -> i64 {
        self.index(egress, packet) as i64
    }

    fn audit(&self, stored: &Stored<'_>) -> Result<(), String> {
        let mut tracked = vec![0; stored.ports.len()];
        for (egress, _, packet) in stored.packets() {
            let is_tracked = packet.flags.contains(PacketFlags::TRACKED);
            tracked[usize::from(egress)] += u64::from(is_tracked);
        }
        for (egress, tracked) in (0..).zip(tracked) {
            let counted = self.sizes(egress);
            if counted != tracked {
                return Err(format!(
                    "port {egress}: the flow table counts {counted} packets, {tracked} are queued"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "dynamic_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "dynamic_field_tests.rs"]
mod field_tests;
