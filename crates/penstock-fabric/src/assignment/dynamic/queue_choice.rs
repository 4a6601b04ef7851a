//! Which queue the dynamic assignment gives to a new flow: an empty one, or one that it shares with other
//! flows (BFC, P. Goyal et al., NSDI 2022, sec. 3.3.1).
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
//! With `classes_share` each class keeps one data queue, so that no class is ever without a queue.
//! Every other queue belongs to the class that last took it when it was empty. At a full port a flow
//! shares only a queue of its own class, so no flow waits behind a lower class. The paper does not
//! describe how classes share.
//!
//! With `full_port = "closest-remaining"` a flow that finds no empty queue joins the queue whose last
//! packet has the nearest remaining size, in bytes. The flow will wait for that packet. The paper names
//! only the idea. The remaining size is one number per queue, and an arriving packet has it in its
//! header.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::{EmptyQueue, Packet, PacketFlags, SwitchFacts};
use penstock_units::Time;
use penstock_units::random::Pcg32;
use rand_core::RngCore;

use super::config::{DynamicConfig, FullPort, QueueSearch};
use super::ns3::Ns3;
use crate::assignment::classes::{ClassRange, class_ranges};
use crate::assignment::policy::Assigning;
use crate::parts::{Bitmap, reduce};
use crate::port::Port;

/// How a switch chooses the queues of new flows.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct QueueChoice {
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
}

impl QueueChoice {
    /// The choice that `config` describes; a grace lasts so long.
    pub(super) fn new(config: &DynamicConfig, facts: &SwitchFacts, grace: Time) -> Self {
        let mut ranges = class_ranges(config.queues, config.classes);
        if config.incast_queue {
            ranges.iter_mut().for_each(|range| range.to -= 1);
        }
        if config.classes_share {
            let own = |class| ClassRange { from: 1 + class, to: 2 + class };
            ranges = (0..config.classes as u16).map(own).collect();
        }
        let (ports, queues) = (facts.ports.len(), config.queues as usize);
        let remembers = config.full_port == FullPort::ClosestRemaining;
        QueueChoice {
            ranges,
            has_incast_queue: config.incast_queue,
            search: config.search,
            empty_queue: config.empty_queue,
            grace,
            shared: config.classes_share.then_some(1 + config.classes as u16..config.queues as u16),
            rotation: vec![1; ports],
            last_remaining: remembers.then(|| vec![0; ports * queues]),
            queues,
        }
    }

    /// The class of a packet's flow, of those that have queues.
    #[inline]
    pub(super) fn class_of(&self, packet: &Packet) -> u32 {
        u32::from(packet.class).min(self.classes() - 1)
    }

    /// How many classes have queues.
    #[inline]
    pub(super) fn classes(&self) -> u32 {
        self.ranges.len() as u32
    }

    /// Whether a packet belongs into the queue of its class's incast flows.
    #[inline]
    pub(super) fn is_labelled(&self, packet: &Packet) -> bool {
        self.has_incast_queue && packet.flags.contains(PacketFlags::INCAST)
    }

    /// Whether classes share queues, so that a queue may change its class when it is empty.
    #[inline]
    pub(super) fn classes_share(&self) -> bool {
        self.shared.is_some()
    }

    /// A packet with so many bytes of its flow behind it joins `queue` of `egress`.
    #[inline]
    pub(super) fn on_join(&mut self, egress: u16, queue: u16, remaining: u32) {
        if let Some(last) = &mut self.last_remaining {
            last[usize::from(egress) * self.queues + usize::from(queue)] = remaining;
        }
    }

    /// Chooses an empty queue for the flow whose packet arrives, or shares a queue when none is empty.
    pub(super) fn choose(&mut self, arrival: &mut Assigning<'_>, ns3: Option<&Ns3>) -> u16 {
        if let Some(shared) = self.shared.clone() {
            return self.choose_shared(shared, arrival, ns3);
        }
        let range = self.ranges[self.class_of(arrival.packet) as usize];
        if self.is_labelled(arrival.packet) {
            return range.to;
        }
        let (from, to) = (usize::from(range.from), usize::from(range.to));
        let start = self.start_of_search(arrival.egress).clamp(from, to);
        match self.find_empty(arrival, ns3, |empty| empty.first_from(start, from, to)) {
            Some(queue) => {
                self.turn(arrival.egress, queue);
                self.start(arrival.now, queue as u16, arrival.port)
            }
            None => {
                let Assigning { egress, packet, random, .. } = arrival;
                self.join((*egress, packet.remaining), range.from..range.to, random, ns3)
            }
        }
    }

    /// Chooses a queue where classes share queues: the class's own if it is empty, else any empty one.
    fn choose_shared(
        &mut self,
        shared: Range<u16>,
        arrival: &mut Assigning<'_>,
        ns3: Option<&Ns3>,
    ) -> u16 {
        let class = arrival.packet.class;
        let own = 1 + u16::from(class);
        let (from, to) = (usize::from(shared.start), usize::from(shared.end));
        let start = self.start_of_search(arrival.egress).clamp(from, to);
        let find = |empty: &Bitmap| {
            let own = usize::from(own);
            if empty.contains(own) { Some(own) } else { empty.first_from(start, from, to) }
        };
        if let Some(queue) = self.find_empty(arrival, ns3, find) {
            if queue != usize::from(own) {
                self.turn(arrival.egress, queue);
                arrival.port.set_queue_class(queue as u16, class);
            }
            return self.start(arrival.now, queue as u16, arrival.port);
        }
        let Assigning { egress, packet, port, random, .. } = arrival;
        let is_of_class = |queue: &u16| port.queues()[usize::from(*queue)].class == class;
        let candidates = core::iter::once(own).chain(shared.filter(is_of_class));
        self.join((*egress, packet.remaining), candidates, random, ns3)
    }

    /// The empty queue that a new flow gets, as `find` chooses from a bitmap.
    fn find_empty(
        &self,
        arrival: &Assigning<'_>,
        ns3: Option<&Ns3>,
        find: impl Fn(&Bitmap) -> Option<usize>,
    ) -> Option<usize> {
        let port = &*arrival.port;
        match (self.empty_queue, ns3) {
            (EmptyQueue::Any, _) => find(port.empty_queues()),
            (EmptyQueue::Unpaused, _) => {
                find(port.open_queues()).or_else(|| find(port.empty_queues()))
            }
            (EmptyQueue::UnpausedOnly, None) => find(port.open_queues()),
            (EmptyQueue::UnpausedOnly, Some(ns3)) => find(&ns3.free_queues(arrival.egress, port)),
        }
    }

    /// The queue at which the next search at `egress` starts.
    fn start_of_search(&self, egress: u16) -> usize {
        usize::from(self.rotation[usize::from(egress)])
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

    /// Chooses one of the `candidates` of `egress`, which the new flow shares with other flows. So many bytes
    /// of the flow are behind its packet.
    fn join(
        &self,
        (egress, remaining): (u16, u32),
        mut candidates: impl Iterator<Item = u16> + Clone,
        random: &mut Pcg32,
        ns3: Option<&Ns3>,
    ) -> u16 {
        let chosen = if let Some(ns3) = ns3 {
            Some(ns3.random_queue())
        } else if let Some(last) = &self.last_remaining {
            let row = usize::from(egress) * self.queues;
            candidates.min_by_key(|queue| last[row + usize::from(*queue)].abs_diff(remaining))
        } else {
            let count = candidates.clone().count() as u32;
            candidates.nth(reduce(random.next_u32(), count) as usize)
        };
        chosen.expect("every class has a data queue")
    }
}
