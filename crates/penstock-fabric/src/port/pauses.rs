//! What pauses a port: pauses of queues, their epochs and the grace of a new flow (BFC), pauses of
//! classes (PFC), and timed pauses of all data (FAFC).

use penstock_packet::PacketPool;
use penstock_packet::epochs::queue_of;
use penstock_units::Time;

use super::Port;

impl Port {
    /// Lets up to `grace` bytes of a new flow leave the empty and paused `queue` before the pause holds
    /// the flow. `grace` is > 0; the last packet may exceed it.
    pub(crate) fn excuse(&mut self, queue: u16, grace: u32) {
        let index = usize::from(queue);
        debug_assert!(self.empty.contains(index) && self.queues[index].is_paused && grace > 0);
        self.queues[index].grace = grace;
        self.counters.excuses += 1;
    }

    /// The label of `queue` for packets that leave it now.
    pub fn label(&self, queue: u16) -> u16 {
        self.epochs.as_ref().map_or(queue, |epochs| epochs.label(queue))
    }

    /// The queue that a label names.
    pub(crate) fn named(&self, label: u16) -> u16 {
        if self.epochs.is_some() { queue_of(label) } else { label }
    }

    /// The empty `queue` gets a new flow at `now`. Where queues have epochs a new one begins, and a pause
    /// of another epoch does not hold the queue.
    pub(crate) fn begin_epoch(&mut self, now: Time, queue: u16) {
        let index = usize::from(queue);
        let Some(epochs) = &mut self.epochs else { return };
        if !epochs.advance(queue) && self.queues[index].is_paused {
            self.queues[index].is_paused = false;
            self.queues[index].grace = 0;
            self.open.insert(index);
            self.queue_pauses.set(now, self.queue_pauses.paused() - 1);
        }
    }

    /// A new pause of the queue with this `label` has come. A new pause ends any grace.
    pub(crate) fn revoke(&mut self, label: u16, pool: &PacketPool) {
        if self.label(self.named(label)) != label {
            return;
        }
        let index = usize::from(self.named(label));
        if let Some(entry) = self.queues.get_mut(index).filter(|entry| entry.grace > 0) {
            entry.grace = 0;
            self.refresh(index, pool);
        }
    }

    /// Whether the last departure has used up the grace of its queue.
    #[inline]
    pub(crate) fn is_out_of_grace(&self) -> bool {
        self.out_of_grace.is_some()
    }

    /// Lets the pause take effect of the queue whose grace the last departure has used up.
    pub(crate) fn end_grace(&mut self, pool: &PacketPool) {
        if let Some(queue) = self.out_of_grace.take() {
            self.refresh(usize::from(queue.get()), pool);
        }
    }

    /// Pauses or resumes the data queue with this `label`. Numbers that the port does not have are ignored,
    /// as hardware ignores a corrupted frame. Idempotent; answers whether anything changed for the packets
    /// of the queue.
    pub fn set_queue_paused(
        &mut self,
        now: Time,
        label: u16,
        is_paused: bool,
        pool: &PacketPool,
    ) -> bool {
        let index = usize::from(self.named(label));
        if index == 0 || index >= self.queues.len() {
            return false;
        }
        if let Some(epochs) = &mut self.epochs
            && !epochs.note(label, is_paused)
        {
            return false;
        }
        if self.queues[index].is_paused == is_paused {
            return false;
        }
        self.queues[index].is_paused = is_paused;
        self.queues[index].grace = 0;
        if is_paused {
            self.open.remove(index);
        } else if self.queues[index].packets.is_empty() {
            self.open.insert(index);
        }
        let paused = self.queue_pauses.paused();
        if is_paused {
            self.queue_pauses.set(now, paused + 1);
            self.counters.queue_pauses += 1;
        } else {
            self.queue_pauses.set(now, paused - 1);
        }
        self.refresh(index, pool);
        true
    }

    /// The link has failed: no epoch is paused any more. The caller resumes the queues before.
    pub(crate) fn forget_epochs(&mut self) {
        if let Some(epochs) = &mut self.epochs {
            epochs.forget_pauses();
        }
    }

    /// Pauses a priority class until `end`, later or earlier than before (PFC with timed pauses).
    pub(crate) fn set_class_paused_until(
        &mut self,
        now: Time,
        class: u8,
        end: Time,
        pool: &PacketPool,
    ) {
        self.set_class_paused(now, class, true, pool);
        self.class_ends.set(class, end);
    }

    /// When the next pause of a class ends by itself; [`Time::NEVER`] when none does.
    pub fn next_lapse(&self) -> Time {
        self.class_ends.next()
    }

    /// A class whose pause had an end that has come by `now`.
    pub(crate) fn lapsed_class(&self, now: Time) -> Option<u8> {
        self.class_ends.lapsed(now)
    }

    /// Pauses or resumes a priority class (PFC), without an end. Idempotent; answers whether anything
    /// changed.
    pub fn set_class_paused(
        &mut self,
        now: Time,
        class: u8,
        is_paused: bool,
        pool: &PacketPool,
    ) -> bool {
        let bit = 1u8 << (class & 7);
        self.class_ends.clear(class);
        if (self.paused_classes & bit != 0) == is_paused {
            return false;
        }
        self.paused_classes ^= bit;
        self.count_pauses(now);
        self.counters.class_pauses += u64::from(is_paused);
        for index in 1..self.queues.len() {
            if self.queues[index].class == class {
                self.refresh(index, pool);
            }
        }
        true
    }

    /// Sends no data for `span` after `now`, or after the end of earlier pauses of this kind (FAFC,
    /// Algorithm 3).
    pub fn hold(&mut self, now: Time, span: Time) {
        self.held_until = self.held_until.max(now) + span;
        self.counters.class_pauses += u64::from(!self.is_held);
        self.is_held = true;
        self.count_pauses(now);
    }

    /// The link has failed at `now`: what is left of the timed pauses is void. The caller releases the port.
    pub(crate) fn forget_holds(&mut self, now: Time) {
        self.held_until = self.held_until.min(now);
    }

    /// When the timed pauses end and data may be sent again.
    pub fn held_until(&self) -> Time {
        self.held_until
    }

    /// Sends data again, if all timed pauses have ended at `now`. Answers whether one has.
    pub fn release(&mut self, now: Time) -> bool {
        let has_ended = self.is_held && self.held_until <= now;
        if has_ended {
            self.is_held = false;
            self.count_pauses(now);
        }
        has_ended
    }

    /// Whether a pause of `class` or of all data stops `class`.
    #[inline]
    pub fn is_stopped(&self, class: u8) -> bool {
        self.is_held || self.is_class_paused(class)
    }

    fn count_pauses(&mut self, now: Time) {
        let classes = self.paused_classes.count_ones();
        self.class_pauses.set(now, classes.max(u32::from(self.is_held)));
    }

    /// Pause time until `now`, summed over the priority classes (PFC). A timed pause of all classes
    /// counts as one class (FAFC).
    pub fn class_pause_time(&self, now: Time) -> Time {
        self.class_pauses.total(now)
    }

    /// Pause time until `now`, summed over the queues (BFC).
    pub fn queue_pause_time(&self, now: Time) -> Time {
        self.queue_pauses.total(now)
    }

    /// Whether a class is paused.
    pub fn is_class_paused(&self, class: u8) -> bool {
        self.paused_classes & (1 << class) != 0
    }
}
