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
//! The paper does not say which of several empty queues a flow gets. Tofino2 starts the search at a
//! rotating place (sec. 4). We start the search behind the queue that was given last, unless `search`
//! says otherwise.
//!
//! A queue can be empty and paused, when its last packets made the downstream pause it. The paper's
//! bitmap of empty queues knows nothing of pauses, and a queue is paused while its pause counter is
//! above 0 (sec. 3.3.2). So a new flow that gets such a queue waits for packets of other flows. Two
//! remedies are ours. With `empty_queue = "unpaused"` empty queues without a pause come first, and with
//! "unpaused-only" an empty queue that is paused counts as taken. With
//! `grace_hop_rtts` a new flow that gets an empty and paused queue all the same has a *grace*: the queue
//! sends the bytes that a new flow sends before a pause of its own can come back, one HRTT at the queue's
//! share of the port (as much as Th). After that the pause holds the queue, if it still stands.
//! `docs/decisions/paused-empty-queues.md` has the reasons and the measurements.
//!
//! With `epoch_bits`, ours too, an empty queue that gets a new flow begins a new epoch, and a pause of an
//! earlier epoch does not hold the flow ([`penstock_packet::epochs`]).
//!
//! With `classes_share` each class keeps one data queue, so that no class is ever without a queue.
//! Every other queue belongs to the class that last took it when it was empty. At a full port a flow
//! shares only a queue of its own class, so no flow waits behind a lower class. The paper does not
//! describe how classes share.
//!
//! With `full_port = "closest-remaining"` a flow that finds no empty queue joins the queue whose last
//! packet has the nearest remaining size, in bytes. The flow will wait for that packet. The paper names
//! only the idea. The remaining size is one number per queue, and an arriving packet has it in its
//! header.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::epochs::MOST_EPOCH_BITS;
use penstock_packet::{EmptyQueue, Packet, PacketFlags, SwitchFacts};
use penstock_units::random::Pcg32;
use penstock_units::{Fidelity, Problems, Time};
use rand_core::RngCore;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::classes::{
    ClassRange, LARGEST_CLASSES, LARGEST_QUEUES, check_classes, class_ranges, partition,
};
use super::flow_table::{FlowEntry, FlowTable};
use super::ns3::Ns3;
use super::policy::{Assigning, Parameters, Policy};
use crate::config::{Surroundings, SwitchConfig};
use crate::parts::{Bitmap, reduce, salted};
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
    /// The queues for the unlabelled flows of each class.
    ranges: Vec<ClassRange>,
    has_incast_queue: bool,
    search: QueueSearch,
    empty_queue: EmptyQueue,
    grace: Time,
    /// The queues that all classes share, where classes share queues. Each class has one more queue of
    /// its own.
    shared: Option<Range<u16>>,
    /// Where the next search for an empty queue starts, for each egress port.
    rotation: Vec<u16>,
    /// Remaining size of the last packet in each queue (bytes), one row of `queues` per egress port.
    /// `None` unless a full port looks at the sizes.
    last_remaining: Option<Vec<u32>>,
    queues: usize,
    /// A packet takes part in the bookkeeping when a 32-bit draw does not exceed this.
    sampling: u32,
    /// Only under fidelity ns3-bfc.
    #[borsh(skip)] // such a run is not saved
    ns3: Option<Box<Ns3>>,
}

impl Dynamic {
    pub(crate) fn new(config: &DynamicConfig, facts: &SwitchFacts) -> Self {
        let (ports, hop_rtt, salt) = (facts.ports.len(), facts.hop_rtt(), facts.salt);
        let ns3 = Ns3::new(config, facts).map(Box::new);
        let own_entries = config.table_factor * config.queues;
        let entries_per_port = ns3.as_ref().map_or(own_entries, |ns3| ns3.entries_per_port);
        let mut ranges = class_ranges(config.queues, config.classes);
        if config.incast_queue {
            ranges.iter_mut().for_each(|range| range.to -= 1);
        }
        if config.classes_share {
            let own = |class| ClassRange { from: 1 + class, to: 2 + class };
            ranges = (0..config.classes as u16).map(own).collect();
        }
        let times_hop_rtt = |factor: f64| Time::from_ps((hop_rtt.as_ps() as f64 * factor) as u64);
        let queues = config.queues as usize;
        let remembers = config.full_port == FullPort::ClosestRemaining;
        let sticky = match ns3 {
            None => times_hop_rtt(config.sticky_hop_rtts),
            Some(_) => Time::NEVER, // entries are kept, and looked at with the packet's ingress
        };
        Dynamic {
            table: FlowTable::new(sticky),
            entries_per_port,
            salt,
            ranges,
            has_incast_queue: config.incast_queue,
            search: config.search,
            empty_queue: config.empty_queue,
            grace: times_hop_rtt(config.grace_hop_rtts),
            shared: config.classes_share.then_some(1 + config.classes as u16..config.queues as u16),
            rotation: vec![1; ports],
            last_remaining: remembers.then(|| vec![0; ports * queues]),
            queues,
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
        self.shared.is_some()
            && entry.size == 0
            && port.queues()[usize::from(entry.queue)].class != packet.class
    }

    /// Chooses an empty queue, or shares a queue when none is empty.
    fn choose(
        &mut self,
        (now, egress): (Time, u16),
        packet: &Packet,
        port: &mut Port,
        random: &mut Pcg32,
    ) -> u16 {
        if let Some(shared) = self.shared.clone() {
            return self.choose_shared(shared, (now, egress), packet, port, random);
        }
        let range = self.ranges[usize::from(packet.class).min(self.ranges.len() - 1)];
        if self.has_incast_queue && packet.flags.contains(PacketFlags::INCAST) {
            return range.to;
        }
        let (from, to) = (usize::from(range.from), usize::from(range.to));
        let start = usize::from(self.rotation[usize::from(egress)]).clamp(from, to);
        match self.find_empty((egress, port), |empty| empty.first_from(start, from, to)) {
            Some(queue) => {
                self.turn(egress, queue);
                self.start(now, queue as u16, port)
            }
            None => self.join(egress, packet, range.from..range.to, random),
        }
    }

    /// Chooses a queue where classes share queues: the class's own if it is empty, else any empty one.
    fn choose_shared(
        &mut self,
        shared: Range<u16>,
        (now, egress): (Time, u16),
        packet: &Packet,
        port: &mut Port,
        random: &mut Pcg32,
    ) -> u16 {
        let own = 1 + u16::from(packet.class);
        let (from, to) = (usize::from(shared.start), usize::from(shared.end));
        let start = usize::from(self.rotation[usize::from(egress)]).clamp(from, to);
        let find = |empty: &Bitmap| {
            let own = usize::from(own);
            if empty.contains(own) { Some(own) } else { empty.first_from(start, from, to) }
        };
        if let Some(queue) = self.find_empty((egress, port), find) {
            if queue != usize::from(own) {
                self.turn(egress, queue);
                port.set_queue_class(queue as u16, packet.class);
            }
            return self.start(now, queue as u16, port);
        }
        let queues = port.queues();
        let is_of_class = |queue: &u16| queues[usize::from(*queue)].class == packet.class;
        let candidates = core::iter::once(own).chain(shared.filter(is_of_class));
        self.join(egress, packet, candidates, random)
    }

    /// The empty queue of `port`, the egress of that number, that a new flow gets, as `find` chooses from a
    /// bitmap.
    fn find_empty(
        &self,
        (egress, port): (u16, &Port),
        find: impl Fn(&Bitmap) -> Option<usize>,
    ) -> Option<usize> {
        match (self.empty_queue, &self.ns3) {
            (EmptyQueue::Any, _) => find(port.empty_queues()),
            (EmptyQueue::Unpaused, _) => {
                find(port.open_queues()).or_else(|| find(port.empty_queues()))
            }
            (EmptyQueue::UnpausedOnly, None) => find(port.open_queues()),
            (EmptyQueue::UnpausedOnly, Some(ns3)) => find(&ns3.free_queues(egress, port)),
        }
    }

    /// The next search at `egress` starts behind `queue`, which was given.
    fn turn(&mut self, egress: u16, queue: usize) {
        if self.search == QueueSearch::Rotating {
            self.rotation[usize::from(egress)] = queue as u16 + 1;
        }
    }

    /// Gives the empty `queue` to a new flow at `now`. With epochs or a grace an older pause does not hold
    /// the flow at once.
    fn start(&self, now: Time, queue: u16, port: &mut Port) -> u16 {
        port.begin_epoch(now, queue);
        if self.grace > Time::ZERO && port.queues()[usize::from(queue)].is_paused {
            let share = port.rate().bytes_in(self.grace).get() / u64::from(port.active().max(1));
            port.excuse(queue, u32::try_from(share).unwrap_or(u32::MAX).max(1));
        }
        queue
    }

    /// Chooses one of the `candidates`, which the new flow shares with other flows.
    fn join(
        &self,
        egress: u16,
        packet: &Packet,
        mut candidates: impl Iterator<Item = u16> + Clone,
        random: &mut Pcg32,
    ) -> u16 {
        let chosen = if let Some(ns3) = &self.ns3 {
            Some(ns3.random_queue())
        } else if let Some(last) = &self.last_remaining {
            let row = usize::from(egress) * self.queues;
            let distance = |queue: &u16| last[row + usize::from(*queue)].abs_diff(packet.remaining);
            candidates.min_by_key(distance)
        } else {
            let count = candidates.clone().count() as u32;
            candidates.nth(reduce(random.next_u32(), count) as usize)
        };
        chosen.expect("every class has a data queue")
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
    fn assign(&mut self, arrival: Assigning<'_>) -> Option<u16> {
        let Assigning { now, egress, port, packet, random } = arrival;
        let index = self.index(egress, packet);
        let place = self.table.place_of(now, index);
        let entry = *self.table.at(place);
        let is_stale = match &self.ns3 {
            None => self.table.is_stale(now, entry),
            Some(ns3) => ns3.is_stale(now, entry, packet),
        };
        let queue = if entry.queue == 0 || is_stale || self.has_lost(entry, packet, port) {
            port.counters.choices += 1;
            let queue = self.choose((now, egress), packet, port, random);
            if let Some(ns3) = &mut self.ns3 {
                ns3.point(egress, entry.queue, queue);
            }
            queue
        } else {
            entry.queue
        };
        if let Some(last) = &mut self.last_remaining {
            last[usize::from(egress) * self.queues + usize::from(queue)] = packet.remaining;
        }
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
