//! A hierarchical timing wheel in which every source has at most one pending event.
//!
//! Level 0 has slots of a power of two picoseconds. A slot of each further level is as wide as the
//! whole level below. An event sits in the lowest level that tells its slot from the cursor's slot,
//! and moves down when the cursor enters its slot. So scheduling and cancelling are O(1), and an
//! event moves at most once for each level.
//!
//! The slot under the cursor is divided once more, into 64 parts. The list of each part is sorted
//! by (time, source), so the order of scheduling does not matter. When the place of a new event is
//! far to find, the list is left unsorted until its turn comes.
//!
//! Some sources have a rank ([`Wheel::set_rank`]). Among events of one time those without a rank
//! leave first, by source, then the others, by rank. So ties do not depend on the number of a source
//! that has been given out by chance. On request ([`Wheel::in_order_of_scheduling`]) ties leave in the
//! order in which they were scheduled, as in ns-3.
//!
//! A source has at most one pending event, so the event *is* the source: the wheel stores 16 bytes
//! per source, and 8 more per source with a rank. Only [`Wheel::grow`] allocates, and the first event of
//! a level.
//!
//! Reading order: `level`, the slots ahead; then this file.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;

use crate::prefetch;

mod level;

use level::Levels;

/// The number of an event's source. This number breaks ties in time.
pub type SourceId = u32;

const NONE: u32 = u32::MAX;

/// Room for the first sources that a wheel grows by (our choice: a page of ranks would hold eight times as
/// many).
const FIRST_RANKED: usize = 64;

/// log2 of the number of parts of the slot under the cursor: one part for each bit of a word.
const PART_BITS: u32 = 6;

/// How many events an insertion compares one by one to find the place of a new event. Without this
/// limit, thousands of events that are due at one picosecond (BFC's bitmaps with 8,192 hosts)
/// doubled the time of a run.
const COMPARED: u32 = 16;

#[derive(Clone, Copy, BorshSerialize, BorshDeserialize)]
struct Node {
    /// (ps); `u64::MAX` when nothing is pending.
    time: u64,
    next: u32,
    previous: u32,
}

const IDLE: Node = Node { time: u64::MAX, next: NONE, previous: NONE };

/// The pending events of a simulation.
#[derive(BorshSerialize, BorshDeserialize)]
pub struct Wheel {
    nodes: Vec<Node>,
    levels: Levels,
    /// log2 of the width of a level-0 slot (ps).
    shift: u32,
    /// log2 of the width of a part (ps).
    part_shift: u32,
    /// The slot whose events are in `parts`.
    cursor: u64,
    /// Heads of the lists of the cursor's slot; a part is a 64th of the slot. With one sorted batch
    /// of about 20 events instead of the parts, the bare loop took 8 ns more per packet-hop.
    parts: [u32; 1 << PART_BITS],
    /// Bit k: whether part k has events.
    occupied_parts: u64,
    /// Bit k: whether the list of part k has to be sorted.
    unsorted_parts: u64,
    /// Room for sorting a list: time, rank, source.
    #[borsh(skip)]
    scratch: Vec<(u64, u64, SourceId)>,
    now: u64,
    /// The sources from this one on have ranks.
    first_ranked: usize,
    /// By source with a rank: the rank among the events of the same time, above 0.
    ranks: Vec<u64>,
    /// Whether every event gets the next rank when it is scheduled.
    is_in_order: bool,
    next_rank: u64,
    /// In a wheel in order of scheduling: the rank of the event that was taken last.
    rank_now: u64,
}

impl Wheel {
    /// A wheel for sources `0..sources`, with level-0 slots of `1 << slot_width_log2` ps. The sources
    /// that it grows by have ranks.
    ///
    /// A 64th of a slot should hold at most one event: wider slots mean more sorting, narrower
    /// slots mean walking over empty ones.
    ///
    /// # Panics
    /// When `slot_width_log2` exceeds 20 (a slot of one microsecond).
    pub fn new(sources: usize, slot_width_log2: u32) -> Self {
        assert!(slot_width_log2 <= 20, "a slot wider than a microsecond would sort, not hash");
        let mut nodes = Vec::with_capacity(sources + FIRST_RANKED);
        nodes.resize(sources, IDLE);
        Wheel {
            nodes,
            levels: Levels::new(),
            shift: slot_width_log2,
            part_shift: slot_width_log2.saturating_sub(PART_BITS),
            cursor: 0,
            parts: [NONE; 1 << PART_BITS],
            occupied_parts: 0,
            unsorted_parts: 0,
            scratch: Vec::with_capacity(64),
            now: 0,
            first_ranked: sources,
            ranks: Vec::with_capacity(FIRST_RANKED),
            is_in_order: false,
            next_rank: 0,
            rank_now: 0,
        }
    }

    /// The same wheel, in which ties leave by ascending rank. [`Wheel::schedule`] gives ranks in
    /// the order of its calls; [`Wheel::schedule_ranked`] takes the rank from its caller.
    pub fn in_order_of_scheduling(mut self) -> Self {
        self.first_ranked = 0;
        self.ranks = vec![0; self.nodes.len()];
        self.is_in_order = true;
        self
    }

    /// Gives `source` a rank, above 0, in place of its number. Without effect in a wheel in order of
    /// scheduling.
    ///
    /// # Panics
    /// When `source` was there from the start, or has a pending event (in debug builds).
    pub fn set_rank(&mut self, source: SourceId, rank: u64) {
        debug_assert!(!self.is_pending(source), "source {source} has a pending event");
        if !self.is_in_order {
            self.ranks[source as usize - self.first_ranked] = rank;
        }
    }

    /// Takes the next rank now, for an event that will be scheduled later.
    #[inline]
    pub fn take_rank(&mut self) -> u64 {
        self.next_rank += 1;
        self.next_rank
    }

    /// The time of the event that was taken last.
    #[inline]
    pub fn now(&self) -> Time {
        Time::from_ps(self.now)
    }

    /// The rank of the event that was taken last; 0 in a wheel whose ties leave in the order of sources.
    #[inline]
    pub fn rank_now(&self) -> u64 {
        self.rank_now
    }

    /// How many sources there is room for.
    pub fn sources(&self) -> usize {
        self.nodes.len()
    }

    /// Makes room for sources below `sources`. The room for those that the wheel has grown by doubles, not
    /// the room for all.
    pub fn grow(&mut self, sources: usize) {
        if sources > self.nodes.len() {
            self.ranks.resize(sources - self.first_ranked, 0);
            let room = self.first_ranked + self.ranks.capacity();
            self.nodes.reserve_exact(room - self.nodes.len());
            self.nodes.resize(sources, IDLE);
        }
    }

    /// Whether `source` has a pending event.
    #[inline]
    pub fn is_pending(&self, source: SourceId) -> bool {
        self.nodes[source as usize].time != u64::MAX
    }

    /// When the event of `source` is due, or [`Time::NEVER`].
    #[inline]
    pub fn due(&self, source: SourceId) -> Time {
        Time::from_ps(self.nodes[source as usize].time)
    }

    /// Schedules the event of `source`.
    ///
    /// # Panics
    /// In debug builds, when the source has a pending event or `time` lies in the past.
    #[inline(always)] // a packet-hop calls it twice, and a call saves six registers
    pub fn schedule(&mut self, source: SourceId, time: Time) {
        debug_assert!(!self.is_pending(source), "source {source} has a pending event");
        debug_assert!(time.as_ps() >= self.now, "source {source} scheduled in the past");
        if self.is_in_order {
            self.ranks[source as usize] = self.take_rank();
        }
        self.nodes[source as usize].time = time.as_ps();
        self.insert(source, time.as_ps());
    }

    /// Schedules the event of `source` with `rank` among the events of the same time. Only for a
    /// wheel in order of scheduling.
    ///
    /// # Panics
    /// When ties leave in the order of their sources.
    pub fn schedule_ranked(&mut self, source: SourceId, time: Time, rank: u64) {
        debug_assert!(!self.is_pending(source), "source {source} has a pending event");
        self.ranks[source as usize] = rank;
        self.nodes[source as usize].time = time.as_ps();
        self.insert(source, time.as_ps());
    }

    /// Schedules the event of `source` at `time`, unless the pending event of `source` is due
    /// earlier.
    pub fn schedule_earlier(&mut self, source: SourceId, time: Time) {
        if time < self.due(source) {
            self.cancel(source);
            self.schedule(source, time);
        }
    }

    /// Forgets the pending event of `source`, if there is one.
    pub fn cancel(&mut self, source: SourceId) {
        let node = self.nodes[source as usize];
        if node.time == u64::MAX {
            return;
        }
        if node.next != NONE {
            self.nodes[node.next as usize].previous = node.previous;
        }
        if node.previous != NONE {
            self.nodes[node.previous as usize].next = node.next;
        } else {
            self.set_head(node.time, node.next);
        }
        self.nodes[source as usize] = IDLE;
    }

    /// Takes the next event.
    #[inline(always)] // a loop has one call, which cost 37 instructions a packet-hop
    pub fn pop(&mut self) -> Option<(Time, SourceId)> {
        if self.occupied_parts == 0 && !self.advance() {
            return None;
        }
        let part = self.occupied_parts.trailing_zeros() as usize;
        if self.unsorted_parts & (1 << part) != 0 {
            self.sort(part);
        }
        let source = self.parts[part];
        let node = &mut self.nodes[source as usize];
        let (time, next) = (node.time, node.next);
        node.time = u64::MAX;
        self.parts[part] = next;
        if next == NONE {
            self.occupied_parts &= self.occupied_parts - 1;
        } else {
            self.nodes[next as usize].previous = NONE;
        }
        self.now = time;
        if self.is_in_order {
            self.rank_now = self.rank(source);
        }
        Some((Time::from_ps(time), source))
    }

    /// The source whose event probably comes next, without any search. None when nothing is left in
    /// the cursor's slot. From a list that is not sorted yet, its head, whichever event that is.
    #[inline]
    pub fn likely_next(&self) -> Option<SourceId> {
        let part = self.occupied_parts.trailing_zeros() as usize;
        self.parts.get(part).copied()
    }

    /// No event is due earlier than this; none when nothing is pending.
    pub fn earliest(&self) -> Option<Time> {
        if self.occupied_parts != 0 {
            return Some(self.now());
        }
        Some(Time::from_ps(self.levels.next(self.cursor)?.slot << self.shift))
    }

    /// Puts the event of `source` where its time belongs.
    #[inline(always)] // part of `schedule`
    fn insert(&mut self, source: SourceId, time: u64) {
        let slot = time >> self.shift;
        if slot == self.cursor {
            return self.insert_in_part(source, time);
        }
        let head = self.levels.push(slot, self.cursor, source);
        self.link(source, NONE, head);
    }

    /// Puts an event of the cursor's slot into its part.
    #[inline]
    fn insert_in_part(&mut self, source: SourceId, time: u64) {
        let part = self.part(time);
        if self.parts[part] != NONE {
            return self.insert_among(part, source, time);
        }
        self.link(source, NONE, NONE);
        self.parts[part] = source;
        self.occupied_parts |= 1 << part;
    }

    /// Puts an event into a part that has others. Not inlined: inlined, it would make every
    /// insertion save six registers, and few events meet others (2 % of a packet-hop with DCTCP).
    #[inline(never)]
    fn insert_among(&mut self, part: usize, source: SourceId, time: u64) {
        let (mut previous, mut next) = (NONE, self.parts[part]);
        if self.unsorted_parts & (1 << part) == 0 {
            let place = (time, self.rank(source), source);
            let mut compared = 0;
            while next != NONE && self.place(next) < place {
                previous = next;
                next = self.nodes[next as usize].next;
                compared += 1;
                if compared == COMPARED {
                    self.unsorted_parts |= 1 << part;
                    break;
                }
            }
        }
        self.link(source, previous, next);
        if previous == NONE {
            self.parts[part] = source;
        } else {
            self.nodes[previous as usize].next = source;
        }
    }

    /// Sorts the list of `part`, whose events leave next.
    #[cold]
    fn sort(&mut self, part: usize) {
        let mut scratch = core::mem::take(&mut self.scratch);
        let mut source = self.parts[part];
        while source != NONE {
            scratch.push(self.place(source));
            source = self.nodes[source as usize].next;
        }
        scratch.sort_unstable();
        let mut next = NONE;
        for &(_, _, source) in scratch.iter().rev() {
            self.link(source, NONE, next);
            next = source;
        }
        self.parts[part] = next;
        self.unsorted_parts &= !(1 << part);
        scratch.clear();
        self.scratch = scratch;
    }

    /// The key that orders events: the time, the rank (0 without a rank), the source.
    #[inline]
    fn place(&self, source: SourceId) -> (u64, u64, SourceId) {
        (self.nodes[source as usize].time, self.rank(source), source)
    }

    #[inline]
    fn rank(&self, source: SourceId) -> u64 {
        let place = (source as usize).wrapping_sub(self.first_ranked);
        self.ranks.get(place).copied().unwrap_or(0)
    }

    #[inline]
    fn link(&mut self, source: SourceId, previous: u32, next: u32) {
        let node = &mut self.nodes[source as usize];
        (node.previous, node.next) = (previous, next);
        if next != NONE {
            self.nodes[next as usize].previous = source;
        }
    }

    /// Makes `head` the first event of the list to which an event at `time` belongs.
    fn set_head(&mut self, time: u64, head: u32) {
        let slot = time >> self.shift;
        if slot != self.cursor {
            return self.levels.set_head(slot, self.cursor, head);
        }
        let part = self.part(time);
        self.parts[part] = head;
        if head == NONE {
            self.occupied_parts &= !(1 << part);
        }
    }

    /// The number of the part, within its slot, to which `time` belongs.
    #[inline]
    fn part(&self, time: u64) -> usize {
        (time >> self.part_shift) as usize % (1 << PART_BITS)
    }

    /// Moves the cursor to the next slot with events and fills its parts; false when no events are
    /// left.
    #[inline(never)]
    fn advance(&mut self) -> bool {
        while self.occupied_parts == 0 {
            let Some(next) = self.levels.next(self.cursor) else {
                return false;
            };
            self.cursor = next.slot;
            let mut source = self.levels.take(&next);
            // The first event of the slot after this one: 1 % of a packet-hop with 128 hosts, 2 % with 8,192.
            if let Some(after) = self.levels.next_near(self.cursor) {
                prefetch(&self.nodes[after as usize]);
            }
            while source != NONE {
                let node = self.nodes[source as usize];
                match next.is_near() {
                    true => self.insert_in_part(source, node.time),
                    false => self.insert(source, node.time),
                }
                source = node.next;
            }
        }
        true
    }
}

#[cfg(test)]
#[path = "wheel_tests.rs"]
mod tests;
