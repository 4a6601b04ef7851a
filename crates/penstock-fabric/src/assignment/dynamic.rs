//! Dynamic queue assignment (BFC, P. Goyal et al., NSDI 2022, sec. 3.3.1): a flow that becomes active
//! gets an empty queue, and shares a random one only when none is empty.
//!
//! Implemented: the flow table indexed by egress port and flow hash with `size` and `qAssignment`; the
//! bitmap of empty queues; sticky assignment (sec. 3.3.2); sampling (App. A.8); the incast label (App.
//! A.7); priority classes with a static share of the queues (App. A.3). Two proposals of the paper are
//! also implemented: queues that classes share (A.3), and a queue of similar remaining size at a full
//! port (A.2).
//!
//! Of 32 queues 31 are for data, because queue 0 is for control packets. App. A.8 samples half of the
//! packets. App. A.3 proposes to "split queues dynamically among classes".
//!
//! With `epoch_bits`, ours too, an empty queue that gets a new flow begins a new epoch, and a pause of an
//! earlier epoch does not hold the flow ([`penstock_packet::epochs`]).
//!
//! `queue_choice.rs` has which queue a new flow gets.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::epochs::MOST_EPOCH_BITS;
use penstock_packet::{EmptyQueue, Packet, PacketFlags, SwitchFacts};
use penstock_units::{Fidelity, Problems, Time};
use rand_core::RngCore;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::classes::{LARGEST_CLASSES, LARGEST_QUEUES, check_classes, partition};
use super::flow_table::{FlowEntry, FlowTable};
use super::ns3::Ns3;
use super::policy::{Assigning, Parameters, Policy};
use super::queue_choice::QueueChoice;
use crate::config::{Surroundings, SwitchConfig};
use crate::parts::{reduce, salted};
use crate::port::Port;
use crate::stored::Stored;

/// The most flow-table entries per queue; our choice: a hundred times BFC's.
const LARGEST_TABLE_FACTOR: u32 = 10_000;

/// The longest sticky threshold and grace (hop round-trip times); our choice: seconds anywhere.
const LARGEST_HOP_RTTS: f64 = 1e6;

/// Parameters of the dynamic assignment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DynamicConfig {
    /// Queues of a port, the control queue included.
    #[schemars(
        range(min = 2, max = LARGEST_QUEUES),
        extend("default" = 32, "source" = "BFC 6.2.1: 32 queues per port")
    )]
    pub queues: u32,
    /// Priority classes that share them evenly.
    #[schemars(
        range(min = 1, max = LARGEST_CLASSES),
        extend("default" = 1, "source" = "BFC 6.2.1: one class; A.3: four")
    )]
    pub classes: u32,
    /// Flow-table entries per queue.
    #[schemars(
        range(min = 1, max = LARGEST_TABLE_FACTOR),
        extend("default" = 100, "source" = "BFC 3.3.1")
    )]
    pub table_factor: u32,
    /// A flow keeps its queue for this long without packets.
    #[schemars(
        range(min = 0, max = LARGEST_HOP_RTTS),
        extend("default" = 2.0, "source" = "BFC 3.3.2", "unit" = "hop RTTs")
    )]
    pub sticky_hop_rtts: f64,
    /// All flows of incast traffic share one queue of an egress.
    ///
    /// It is the last queue of their class.
    #[schemars(extend("default" = false, "source" = "BFC A.7: off"))]
    pub incast_queue: bool,
    /// Share of the packets whose bookkeeping is done.
    #[schemars(
        range(max = 1),
        extend("exclusiveMinimum" = 0, "default" = 1.0, "source" = "BFC A.8: 1 unless sampled")
    )]
    pub sampling: f64,
    /// Where the search for an empty queue starts.
    #[schemars(extend("default" = "rotating", "source" = "BFC 4: Tofino2's rotating priorities"))]
    pub search: QueueSearch,
    /// Which of several empty queues a new flow gets.
    #[schemars(extend("default" = "any", "source" = "BFC 3.3.1: the bitmap of empty queues knows no pauses"))]
    pub empty_queue: EmptyQueue,
    /// A new flow sends so long from an empty queue that is paused, at the queue's share of the port; 0: it
    /// waits.
    #[schemars(
        range(min = 0, max = LARGEST_HOP_RTTS),
        extend(
            "default" = 0.0,
            "source" = "BFC 3.3.2: a queue is paused if and only if its pause counter is above 0",
            "unit" = "hop RTTs"
        )
    )]
    pub grace_hop_rtts: f64,
    /// Bits of the epoch that packets carry beside their queue; 0: queues have no epochs.
    ///
    /// NICs have epochs too. An empty queue that gets a new flow begins a new epoch, and a pause holds
    /// the epoch for which it was sent.
    #[schemars(
        range(max = MOST_EPOCH_BITS),
        extend("default" = 0, "source" = "our choice: BFC has no epochs")
    )]
    pub epoch_bits: u32,
    /// Classes keep one queue each and share the others, instead of an even part.
    #[schemars(extend(
        "default" = false,
        "source" = "BFC A.3: a static part; sharing is proposed there"
    ))]
    pub classes_share: bool,
    /// The queue of a new flow when none is empty.
    #[schemars(extend(
        "default" = "random",
        "source" = "BFC 3.3.1: a random one; a similar size is proposed in A.2"
    ))]
    pub full_port: FullPort,
    /// Where acknowledgements wait; "data" under fidelity ns3-bfc only.
    #[schemars(extend("default" = "control", "source" = "our choice: they hold no queue and no buffer"))]
    pub acknowledgements: AcknowledgementQueue,
}

impl Parameters for DynamicConfig {
    fn check(&self, problems: &mut Problems) {
        let labelled = if self.incast_queue { self.classes } else { 0 };
        check_classes(self.queues, labelled, self.classes, problems);
        let holds = !(self.classes_share && self.incast_queue);
        let remedy =
            "incast_queue knows classes with queues of their own only; leave one of them out";
        problems.unless(holds, "classes_share", true, remedy);
    }

    fn classes(&self) -> u32 {
        self.classes
    }

    fn queue_classes(&self, _: usize) -> Vec<u8> {
        if !self.classes_share {
            return partition(self.queues, self.classes);
        }
        let own_class = |queue| if queue < self.classes { queue as u8 } else { 0 };
        (0..self.queues - 1).map(own_class).collect()
    }

    fn parts_flows(&self) -> bool {
        true
    }

    fn epoch_bits(&self) -> u32 {
        self.epoch_bits
    }

    fn is_in(&self, _: Fidelity) -> bool {
        true
    }

    fn fits(&self, switch: &SwitchConfig, _: &Surroundings, problems: &mut Problems) {
        if !problems.has_sound("assignment.epoch_bits") {
            return;
        }
        let kind = switch.backpressure.kind();
        let holds = self.epoch_bits == 0 || switch.backpressure.tells_epochs();
        let remedy = format!("backpressure {kind} pauses no epochs; use \"bfc\", or 0");
        problems.unless(holds, "assignment.epoch_bits", self.epoch_bits, remedy);
    }

    fn classes_share(&self) -> bool {
        self.classes_share
    }

    fn queues_acknowledgements(&self) -> bool {
        self.acknowledgements == AcknowledgementQueue::Data
    }
}

/// Where acknowledgements wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AcknowledgementQueue {
    /// In the control queue, ahead of data.
    Control,
    /// In the data queues, as packets of a flow of their own, which are counted and paused.
    Data,
}

/// Where the search for an empty queue starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueSearch {
    /// Behind the queue that was given last.
    Rotating,
    /// At the lowest number. A packet that is alone leaves its queue at once, so many flows share the first
    /// queues.
    Lowest,
}

/// The queue of a new flow when none of its class is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FullPort {
    /// Any.
    Random,
    /// The one whose last packet has the nearest remaining flow size.
    ClosestRemaining,
}

/// The dynamic assignment of a switch.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Dynamic {
    /// Entries by number: `entries_per_port` for each egress port.
    table: FlowTable,
    entries_per_port: u32,
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
        let own_entries = config.table_factor * config.queues;
        let entries_per_port = ns3.as_ref().map_or(own_entries, |ns3| ns3.entries_per_port);
        let times_hop_rtt = |factor: f64| Time::from_ps((hop_rtt.as_ps() as f64 * factor) as u64);
        let sticky = match ns3 {
            None => times_hop_rtt(config.sticky_hop_rtts),
            Some(_) => Time::NEVER, // entries are kept, and looked at with the packet's ingress
        };
        Dynamic {
            table: FlowTable::new(sticky),
            entries_per_port,
            salt: facts.salt,
            choice: QueueChoice::new(config, facts, times_hop_rtt(config.grace_hop_rtts)),
            sampling: (config.sampling * f64::from(u32::MAX)) as u32,
            ns3,
        }
    }

    #[inline]
    fn index(&self, egress: u16, packet: &Packet) -> u32 {
        let column = match &self.ns3 {
            None => reduce(salted(packet.flow_hash, self.salt), self.entries_per_port),
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
