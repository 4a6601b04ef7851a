//! An egress port: its queues, who of them may send, and what the axes need to know about them.
//!
//! Queue 0 is the reserved control queue: it is served first, never paused and not counted. Data
//! queues are numbered from 1, so that a queue's number is also what travels as `upstreamQ`.

use alloc::vec;
use alloc::vec::Vec;

use penstock_units::{BitRate, Time};

use crate::packet::Packet;
use crate::parts::Bitmap;
use crate::pool::{PacketId, PacketPool};
use crate::queue::{DataQueue, Fifo};
use crate::scheduling::Scheduler;

/// Counters of a port, for measurement only.
#[derive(Clone, Copy, Debug, Default)]
pub struct PortCounters {
    /// Data packets that were put into a queue.
    pub enqueued: u64,
    /// Of these, how many joined a queue behind another flow's packet.
    pub collisions: u64,
    /// Data packets for which there was no room.
    pub drops: u64,
    /// Largest amount of queued data [bytes].
    pub bytes_max: u64,
    /// Class pauses received.
    pub class_pauses: u64,
    /// Queue pauses received.
    pub queue_pauses: u64,
}

/// An egress port.
#[derive(Debug)]
pub struct Port {
    control: Fifo,
    queues: Vec<DataQueue>,
    scheduler: Scheduler,
    /// The data queues without packets (the bitmap of BFC sec. 3.3.1).
    empty: Bitmap,
    rate: BitRate,
    bytes: u64,
    active: u32,
    sent_bytes: u64,
    paused_classes: u8,
    paused_queues: u32,
    class_pause_since: Time,
    class_pause_total: Time,
    queue_pause_since: Time,
    queue_pause_total: Time,
    /// Measurement.
    pub counters: PortCounters,
}

impl Port {
    /// A port of `rate` whose data queue `1 + i` serves class `classes[i]`.
    pub fn new(rate: BitRate, classes: &[u8], scheduler: Scheduler) -> Self {
        let mut port = Port {
            control: Fifo::default(),
            queues: vec![DataQueue::default()],
            scheduler,
            empty: Bitmap::new(classes.len() + 1),
            rate,
            bytes: 0,
            active: 0,
            sent_bytes: 0,
            paused_classes: 0,
            paused_queues: 0,
            class_pause_since: Time::ZERO,
            class_pause_total: Time::ZERO,
            queue_pause_since: Time::ZERO,
            queue_pause_total: Time::ZERO,
            counters: PortCounters::default(),
        };
        for &class in classes {
            port.add_queue(class);
        }
        port
    }

    /// Adds an empty data queue for `class` and returns its number.
    pub fn add_queue(&mut self, class: u8) -> u16 {
        let number = self.queues.len();
        self.queues.push(DataQueue {
            class,
            ..DataQueue::default()
        });
        self.empty.grow(number + 1);
        self.empty.insert(number);
        u16::try_from(number).expect("fewer than 2^16 queues at a port")
    }

    /// Rate of the link behind the port.
    pub fn rate(&self) -> BitRate {
        self.rate
    }

    /// Data bytes queued.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Wire bytes sent so far, control included.
    #[inline]
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// Queues with data that are not paused (`N_active`, BFC sec. 3.3.2).
    #[inline]
    pub fn active(&self) -> u32 {
        self.active
    }

    /// Queues that the downstream switch has paused.
    pub fn paused_queues(&self) -> u32 {
        self.paused_queues
    }

    /// All queues, the unused entry of the control queue first.
    #[inline]
    pub fn queues(&self) -> &[DataQueue] {
        &self.queues
    }

    /// The data queues without packets.
    #[inline]
    pub fn empty_queues(&self) -> &Bitmap {
        &self.empty
    }

    /// Whether a flow that left `queue` empty would get no advantage from a new one.
    #[inline]
    pub fn is_settled(&self, queue: u16) -> bool {
        let queue = &self.queues[usize::from(queue)];
        queue.packets.is_empty() && queue.finish <= self.scheduler.round()
    }

    /// Whether something can be sent now.
    #[inline]
    pub fn is_ready(&self) -> bool {
        self.active > 0 || !self.control.is_empty()
    }

    /// Bytes in the control queue.
    pub fn control_bytes(&self) -> u64 {
        self.control.bytes()
    }

    /// The first packet of the control queue, for walking it in checks.
    pub fn control_head(&self) -> PacketId {
        self.control.head()
    }

    /// Appends a control packet.
    #[inline]
    pub fn enqueue_control(&mut self, pool: &mut PacketPool, id: PacketId) {
        pool[id].queue = 0;
        self.control.push(pool, id);
    }

    /// Appends a data packet to `queue`.
    #[inline]
    pub fn enqueue(&mut self, now: Time, pool: &mut PacketPool, id: PacketId, queue: u16) {
        let index = usize::from(queue);
        let entry = &mut self.queues[index];
        let last = entry.packets.tail();
        let packet = &mut pool[id];
        packet.queue = queue;
        let bytes = packet.wire_bytes;
        let flow = packet.flow_hash;
        self.scheduler.tag(now, entry, u32::from(queue), packet);
        if last.is_none() {
            self.empty.remove(index);
        } else if pool[last].flow_hash != flow {
            self.counters.collisions += 1;
        }
        self.counters.enqueued += 1;
        entry.packets.push(pool, id);
        self.bytes += u64::from(bytes);
        self.counters.bytes_max = self.counters.bytes_max.max(self.bytes);
        if last.is_none() && !entry.is_paused && self.paused_classes & (1 << entry.class) == 0 {
            self.activate(index, pool);
        }
    }

    /// Takes the packet that is sent next.
    #[inline]
    pub fn dequeue(&mut self, pool: &PacketPool) -> Option<PacketId> {
        if let Some(id) = self.control.pop(pool) {
            self.sent_bytes += u64::from(pool[id].wire_bytes);
            return Some(id);
        }
        if self.active == 0 {
            return None;
        }
        let index = self.scheduler.select(&mut self.queues, pool) as usize;
        let queue = &mut self.queues[index];
        debug_assert!(queue.is_active, "a paused or empty queue was selected");
        let id = queue.packets.pop(pool)?;
        let bytes = u64::from(pool[id].wire_bytes);
        self.bytes -= bytes;
        self.sent_bytes += bytes;
        self.scheduler.charge(queue, bytes as u32);
        if queue.packets.is_empty() {
            self.empty.insert(index);
            self.deactivate(index);
        } else {
            let head = queue.packets.head();
            self.scheduler
                .head_changed(index as u32, queue.class, &pool[head]);
        }
        Some(id)
    }

    #[inline]
    fn activate(&mut self, index: usize, pool: &PacketPool) {
        self.queues[index].is_active = true;
        self.active += 1;
        self.scheduler
            .activate(&mut self.queues, index as u32, pool);
    }

    #[inline]
    fn deactivate(&mut self, index: usize) {
        self.queues[index].is_active = false;
        self.active -= 1;
        self.scheduler.deactivate(&mut self.queues, index as u32);
    }

    /// Brings a queue's activity in line with its packets and pauses.
    fn refresh(&mut self, index: usize, pool: &PacketPool) {
        let queue = &self.queues[index];
        let may_send = !queue.packets.is_empty()
            && !queue.is_paused
            && self.paused_classes & (1 << queue.class) == 0;
        if may_send && !queue.is_active {
            self.activate(index, pool);
        } else if !may_send && queue.is_active {
            self.deactivate(index);
        }
    }

    /// Pauses or resumes data queue `queue`; numbers that the port does not have are ignored, as
    /// hardware ignores a corrupted frame. Idempotent.
    pub fn set_queue_paused(&mut self, now: Time, queue: u16, is_paused: bool, pool: &PacketPool) {
        let index = usize::from(queue);
        if index == 0 || index >= self.queues.len() || self.queues[index].is_paused == is_paused {
            return;
        }
        let elapsed = now - self.queue_pause_since;
        self.queue_pause_total += elapsed * u64::from(self.paused_queues);
        self.queue_pause_since = now;
        self.queues[index].is_paused = is_paused;
        if is_paused {
            self.paused_queues += 1;
            self.counters.queue_pauses += 1;
        } else {
            self.paused_queues -= 1;
        }
        self.refresh(index, pool);
    }

    /// Pauses or resumes a priority class (PFC). Idempotent.
    pub fn set_class_paused(&mut self, now: Time, class: u8, is_paused: bool, pool: &PacketPool) {
        let bit = 1u8 << (class & 7);
        if (self.paused_classes & bit != 0) == is_paused {
            return;
        }
        if self.paused_classes == 0 {
            self.class_pause_since = now;
        }
        self.paused_classes ^= bit;
        if is_paused {
            self.counters.class_pauses += 1;
        } else if self.paused_classes == 0 {
            self.class_pause_total += now - self.class_pause_since;
        }
        for index in 1..self.queues.len() {
            if self.queues[index].class == class {
                self.refresh(index, pool);
            }
        }
    }

    /// Time until `now` during which at least one class was paused (PFC).
    pub fn class_pause_time(&self, now: Time) -> Time {
        let running = match self.paused_classes {
            0 => Time::ZERO,
            _ => now - self.class_pause_since,
        };
        self.class_pause_total + running
    }

    /// Pause time until `now`, summed over the queues (BFC).
    pub fn queue_pause_time(&self, now: Time) -> Time {
        self.queue_pause_total + (now - self.queue_pause_since) * u64::from(self.paused_queues)
    }

    /// Whether a class is paused.
    pub fn is_class_paused(&self, class: u8) -> bool {
        self.paused_classes & (1 << class) != 0
    }

    /// The headers of the packets in `queue`, head first, for checks.
    pub fn packets_in<'a>(
        &'a self,
        queue: usize,
        pool: &'a PacketPool,
    ) -> impl Iterator<Item = &'a Packet> {
        let mut id = self.queues[queue].packets.head();
        core::iter::from_fn(move || {
            let packet = if id.is_none() { return None } else { &pool[id] };
            id = packet.next;
            Some(packet)
        })
    }
}
