//! An egress port: its queues, which of them may send, and what the axes need to know about them.
//!
//! Queue 0 is the reserved control queue: it is served first, never paused and not counted. Data queues
//! are numbered from 1. The number of a queue is also the `upstreamQ` that packets carry.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::num::NonZeroU16;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::{Carried, ClassEnds, Epochs, Fifo, Packet, PacketId, PacketPool, PauseClock};
use penstock_units::{BitRate, Time};

use crate::parts::Bitmap;
use crate::queue::DataQueue;
use crate::scheduling::policy::{End, Policy as _};
use crate::scheduling::{self, Scheduler};

mod part;
mod pauses;

/// Counters of a port, for measurement only.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
#[repr(C)] // the first two count each data packet, and share a cache line with the bitmaps of a port
pub struct PortCounters {
    /// Data packets that were put into a queue.
    pub enqueued: u64,
    /// Largest amount of queued data (bytes).
    pub bytes_max: u64,
    /// Packets among `enqueued` that joined a queue behind another flow's packet.
    pub collisions: u64,
    /// Data packets that were dropped.
    pub drops: u64,
    /// Packets among `drops` for which there was memory, but which the assignment refused (AFQ).
    pub refusals: u64,
    /// Packets that joined a later queue than with exact bids, counted where bids are audited (AFQ).
    pub misestimates: u64,
    /// Class pauses received.
    pub class_pauses: u64,
    /// Queue pauses received.
    pub queue_pauses: u64,
    /// New flows that an older pause of their queue did not hold at once.
    pub excuses: u64,
    /// Flows that were given a queue (BFC).
    pub choices: u64,
}

/// FAFC's forecast for all data queues of a port together (bytes). Writer: backpressure.
#[derive(Clone, Copy, Debug, Default, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct QueueForecast {
    /// Length of the queues, smoothed.
    pub queue: f64,
    /// Predicted length of the queues after the round trip of a hop.
    pub predicted: f64,
}

/// An egress port. The fields stand in the order of their use, so that a packet touches few cache
/// lines.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
#[repr(C, align(64))]
pub struct Port {
    control: Fifo,
    queues: Vec<DataQueue>,
    bytes: u64,
    active: u32,
    paused_classes: u8,
    /// No data may be sent until `held_until` (FAFC).
    is_held: bool,
    /// The queue whose grace the last departure has used up.
    out_of_grace: Option<NonZeroU16>,
    scheduler: Scheduler,
    sent: Carried,
    /// The data queues without packets (the bitmap of BFC sec. 3.3.1).
    empty: Bitmap,
    /// The queues of `empty` that are not paused.
    open: Bitmap,
    /// Counters for measurement.
    pub counters: PortCounters,
    rate: BitRate,
    class_pauses: PauseClock,
    queue_pauses: PauseClock,
    held_until: Time,
    class_ends: ClassEnds,
    forecast: QueueForecast,
    /// Where queues have epochs (BFC with epochs).
    epochs: Option<Box<Epochs>>,
}

const _: () = assert!(core::mem::offset_of!(Port, empty) == 128, "two lines are full");

impl Port {
    /// A port of `rate` without queues, whose queues will have epochs of `epoch_bits` bits.
    pub(crate) fn new(rate: BitRate, scheduler: Scheduler, epoch_bits: u32) -> Self {
        Port {
            control: Fifo::default(),
            queues: Vec::new(),
            scheduler,
            empty: Bitmap::new(0),
            open: Bitmap::new(0),
            rate,
            bytes: 0,
            active: 0,
            sent: Carried::default(),
            paused_classes: 0,
            class_pauses: PauseClock::default(),
            queue_pauses: PauseClock::default(),
            held_until: Time::ZERO,
            class_ends: ClassEnds::default(),
            is_held: false,
            out_of_grace: None,
            forecast: QueueForecast::default(),
            epochs: Epochs::new(epoch_bits),
            counters: PortCounters::default(),
        }
    }

    /// Makes the queues of the port, unless it has them: data queue `1 + i` serves class `classes[i]`.
    /// A port has no queues before its first packet or pause, because most ports of a large network
    /// never have either.
    #[inline]
    pub(crate) fn prepare(&mut self, classes: &[u8]) {
        if self.queues.is_empty() {
            self.make_queues(classes);
        }
    }

    #[cold]
    #[inline(never)]
    fn make_queues(&mut self, classes: &[u8]) {
        self.queues.reserve_exact(1 + classes.len());
        self.queues.push(DataQueue::default());
        for &class in classes {
            self.add_queue(class);
        }
    }

    /// Adds an empty data queue for `class` and returns its number.
    pub fn add_queue(&mut self, class: u8) -> u16 {
        let number = self.queues.len();
        self.queues.push(DataQueue { class, ..DataQueue::default() });
        self.empty.grow(number + 1);
        self.empty.insert(number);
        self.open.grow(number + 1);
        self.open.insert(number);
        u16::try_from(number).expect("fewer than 2^16 queues at a port")
    }

    /// Appends a credit. Answers false when there is no room; the packet then stays with the caller.
    #[must_use]
    pub fn enqueue_credit(&mut self, pool: &mut PacketPool, id: PacketId) -> bool {
        pool[id].queue = 0;
        scheduling::dispatch!(&mut self.scheduler, policy => policy.push_credit(pool, id))
    }

    /// Appends a control packet.
    #[inline]
    pub fn enqueue_control(&mut self, pool: &mut PacketPool, id: PacketId) {
        pool[id].queue = 0;
        self.control.push(pool, id);
    }

    /// Appends a data packet to the queue that the packet names.
    #[inline(always)] // a switch has one call
    pub fn enqueue(&mut self, pool: &mut PacketPool, id: PacketId) {
        let packet = &mut pool[id];
        let index = usize::from(packet.queue);
        let entry = &mut self.queues[index];
        let last = entry.packets.tail();
        let bytes = packet.wire_bytes;
        let flow = packet.flow_hash;
        let number = u32::from(packet.queue);
        scheduling::dispatch!(&mut self.scheduler, policy => policy.tag(entry, number, packet));
        if last.is_none() {
            self.empty.remove(index);
            self.open.remove(index);
        } else if pool[last].flow_hash != flow {
            self.counters.collisions += 1;
        }
        self.counters.enqueued += 1;
        entry.packets.push(pool, id);
        self.bytes += u64::from(bytes);
        self.counters.bytes_max = self.counters.bytes_max.max(self.bytes);
        if last.is_none() && !self.is_queue_stopped(index) {
            self.activate(index, pool);
        }
    }

    /// Takes the control packet that is sent next. Control packets are sent ahead of all others.
    #[inline]
    pub fn dequeue_control(&mut self, pool: &PacketPool) -> Option<PacketId> {
        let id = self.control.pop(pool)?;
        self.sent.add(&pool[id]);
        Some(id)
    }

    /// Takes the credit or data packet that is sent next, at `now`, when no control packet waits or it is the
    /// turn of data.
    #[inline(always)] // a switch has one call
    pub fn dequeue(&mut self, now: Time, pool: &PacketPool) -> Option<PacketId> {
        let credit =
            scheduling::dispatch!(&mut self.scheduler, policy => policy.pop_credit(now, pool));
        if let Some(id) = credit {
            self.sent.add(&pool[id]);
            return Some(id);
        }
        if self.active == 0 || self.is_held {
            return None;
        }
        let queues = &mut self.queues;
        let index =
            scheduling::dispatch!(&mut self.scheduler, policy => policy.select(now, queues, pool));
        let index = index as usize;
        let queue = &mut self.queues[index];
        debug_assert!(queue.is_active, "a paused or empty queue was selected");
        let id = queue.packets.pop(pool)?;
        let packet = &pool[id];
        let bytes = u64::from(packet.wire_bytes);
        self.bytes -= bytes;
        self.sent.add(packet);
        scheduling::dispatch!(&mut self.scheduler, policy => policy.charge(queue, bytes as u32));
        if queue.grace > 0 {
            queue.grace = queue.grace.saturating_sub(bytes as u32);
            if queue.grace == 0 {
                self.out_of_grace = NonZeroU16::new(index as u16);
            }
        }
        if queue.packets.is_empty() {
            self.empty.insert(index);
            if !queue.is_paused {
                self.open.insert(index);
            }
            self.deactivate(index);
        } else {
            let (number, class, head) = (index as u32, queue.class, &pool[queue.packets.head()]);
            scheduling::dispatch!(
                &mut self.scheduler,
                policy => policy.head_changed(number, class, head)
            );
        }
        Some(id)
    }

    /// The queue that loses a packet to make room for `packet`, which has come for `queue`. `None` when it is
    /// the packet that has come which is to be dropped.
    pub(crate) fn displaced_by(&self, queue: u16, packet: &Packet) -> Option<u16> {
        let arriving = &self.queues[usize::from(queue)];
        scheduling::dispatch!(&self.scheduler, policy => policy.displaced_by(arriving, packet))
            .map(|number| number as u16)
    }

    /// Drops the packet of `queue` that the scheduler names: takes it, if there is one.
    pub(crate) fn displace(&mut self, pool: &mut PacketPool, queue: u16) -> Option<PacketId> {
        let (index, number) = (usize::from(queue), u32::from(queue));
        let entry = &mut self.queues[index];
        let id = match scheduling::dispatch!(&self.scheduler, policy => policy.displaces()) {
            End::First => entry.packets.pop(pool),
            End::Last => entry.packets.pop_last(pool),
        }?;
        let packet = &pool[id];
        self.bytes -= u64::from(packet.wire_bytes);
        self.counters.drops += 1;
        scheduling::dispatch!(
            &mut self.scheduler,
            policy => policy.untag(entry, number, packet, pool)
        );
        if entry.packets.is_empty() {
            self.empty.insert(index);
            if !entry.is_paused {
                self.open.insert(index);
            }
            if entry.is_active {
                self.deactivate(index);
            }
        }
        Some(id)
    }

    /// A data packet that was just taken is dropped instead of sent.
    #[cold]
    pub(crate) fn drop_taken(&mut self, packet: &Packet) {
        self.take_back(packet);
        self.counters.drops += 1;
    }

    #[inline(always)] // most packets find their queue empty
    fn activate(&mut self, index: usize, pool: &PacketPool) {
        self.queues[index].is_active = true;
        self.active += 1;
        let (queues, number) = (&mut self.queues, index as u32);
        scheduling::dispatch!(
            &mut self.scheduler,
            policy => policy.activate(queues, number, pool)
        );
    }

    #[inline(always)] // as `activate`
    fn deactivate(&mut self, index: usize) {
        self.queues[index].is_active = false;
        self.active -= 1;
        let (queues, number) = (&mut self.queues, index as u32);
        scheduling::dispatch!(&mut self.scheduler, policy => policy.deactivate(queues, number));
    }

    /// Brings the activity of a queue in line with its packets and pauses.
    fn refresh(&mut self, index: usize, pool: &PacketPool) {
        let queue = &self.queues[index];
        let is_active = queue.is_active;
        let may_send = !queue.packets.is_empty() && !self.is_queue_stopped(index);
        if may_send && !is_active {
            self.activate(index, pool);
        } else if !may_send && is_active {
            self.deactivate(index);
        }
    }

    /// Whether a pause or missing credit stops a queue, whether or not it has packets.
    #[inline]
    fn is_queue_stopped(&self, index: usize) -> bool {
        let queue = &self.queues[index];
        queue.is_held() || queue.is_dry || self.paused_classes & (1 << queue.class) != 0
    }

    /// Gives the empty data queue `queue` to `class`.
    pub(crate) fn set_queue_class(&mut self, queue: u16, class: u8) {
        debug_assert!(self.empty.contains(usize::from(queue)), "packets keep their class");
        self.queues[usize::from(queue)].class = class;
    }

    /// Data queue `queue` has run out of credit, or has got some again.
    pub(crate) fn set_queue_dry(&mut self, queue: u16, is_dry: bool, pool: &PacketPool) {
        let index = usize::from(queue);
        if let Some(entry) = self.queues.get_mut(index) {
            entry.is_dry = is_dry;
            self.refresh(index, pool);
        }
    }

    pub(crate) fn set_forecast(&mut self, forecast: QueueForecast) {
        self.forecast = forecast;
    }
}

#[cfg(test)]
#[path = "port_tests.rs"]
mod tests;
