//! A hierarchical timing wheel in which every source has at most one pending event.
//!
//! Level 0 has slots of a power of two picoseconds; each level above has slots as wide as the whole
//! level below. An event sits in the lowest level that tells it from the cursor, and moves down
//! when the cursor enters its slot: scheduling and cancelling are O(1), an event moves at most
//! `LEVELS - 1` times. The events of the slot under the cursor are sorted by (time, source) in a
//! small batch, which is what makes the order independent of the order of scheduling. On request
//! ([`Wheel::in_order_of_scheduling`]) ties leave in the order in which they were scheduled instead,
//! as in ns-3.
//!
//! Because a source has one pending event, the event *is* the source: the wheel stores 16 bytes per
//! source and allocates nothing while it runs.

use penstock_units::Time;

/// What an event belongs to; ties in time are broken by this number.
pub type SourceId = u32;

const NONE: u32 = u32::MAX;
/// Slots of level 0. With 4,096 slots of 0.5 ns (a span of 2 us) half of all packet arrivals
/// (1 us ahead) crossed the end of the level and were moved twice.
const NEAR_BITS: u32 = 14;
const FAR_BITS: u32 = 11;
const FAR_LEVELS: usize = 3;
const LEVELS: usize = FAR_LEVELS + 1;

#[derive(Clone, Copy)]
struct Node {
    /// (ps); `u64::MAX` when nothing is pending.
    time: u64,
    next: u32,
    previous: u32,
}

const IDLE: Node = Node { time: u64::MAX, next: NONE, previous: NONE };

/// One level: the heads of its slots' lists, and which slots are occupied.
struct Level {
    heads: Vec<u32>,
    occupied: Vec<u64>,
    /// Bits of a slot number below this level's index.
    base: u32,
    mask: u64,
}

impl Level {
    fn new(base: u32, bits: u32) -> Self {
        Level {
            heads: vec![NONE; 1 << bits],
            occupied: vec![0; 1 << (bits - 6)],
            base,
            mask: (1 << bits) - 1,
        }
    }

    #[inline]
    fn index(&self, slot: u64) -> usize {
        ((slot >> self.base) & self.mask) as usize
    }

    /// The first occupied index after `index`.
    #[inline]
    fn next_occupied(&self, index: usize) -> Option<usize> {
        let mut word = index / 64;
        let above = index % 64;
        let mut bits =
            if above == 63 { 0 } else { self.occupied[word] & (u64::MAX << (above + 1)) };
        loop {
            if bits != 0 {
                return Some(word * 64 + bits.trailing_zeros() as usize);
            }
            word += 1;
            bits = *self.occupied.get(word)?;
        }
    }
}

/// The pending events of a simulation.
pub struct Wheel {
    nodes: Vec<Node>,
    levels: [Level; LEVELS],
    /// log2 of the width of a level-0 slot (ps).
    shift: u32,
    /// The slot whose events are in `batch`.
    cursor: u64,
    /// Events of the cursor's slot, the next one last: (time within the slot) << 32 | source.
    batch: Vec<u64>,
    now: u64,
    /// By source, the rank of its pending event among those of the same time; empty when sources
    /// themselves are the rank.
    ranks: Vec<u64>,
    next_rank: u64,
    /// The rank of the event that was taken last.
    rank_now: u64,
}

impl Wheel {
    /// A wheel for sources `0..sources`, with level-0 slots of `1 << slot_width_log2` ps.
    ///
    /// A slot should hold a few events: wider slots sort more, narrower ones are walked empty.
    ///
    /// # Panics
    /// When `slot_width_log2` exceeds 20 (a slot of one microsecond).
    pub fn new(sources: usize, slot_width_log2: u32) -> Self {
        assert!(slot_width_log2 <= 20, "a slot wider than a microsecond would sort, not hash");
        let level = |k: u32| match k {
            0 => Level::new(0, NEAR_BITS),
            _ => Level::new(NEAR_BITS + (k - 1) * FAR_BITS, FAR_BITS),
        };
        Wheel {
            nodes: vec![IDLE; sources],
            levels: [level(0), level(1), level(2), level(3)],
            shift: slot_width_log2,
            cursor: 0,
            batch: Vec::with_capacity(256),
            now: 0,
            ranks: vec![],
            next_rank: 0,
            rank_now: 0,
        }
    }

    /// The same wheel, in which ties leave in the order in which they were scheduled: first by
    /// [`Wheel::schedule`], or ranked by [`Wheel::schedule_ranked`].
    pub fn in_order_of_scheduling(mut self) -> Self {
        self.ranks = vec![0; self.nodes.len()];
        self
    }

    /// The rank of an event that is thought of now and scheduled later.
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

    /// The rank of the event that was taken last; 0 when ties leave in the order of their sources.
    #[inline]
    pub fn rank_now(&self) -> u64 {
        self.rank_now
    }

    /// Makes room for sources below `sources`.
    pub fn grow(&mut self, sources: usize) {
        if sources > self.nodes.len() {
            self.nodes.resize(sources, IDLE);
            if !self.ranks.is_empty() {
                self.ranks.resize(sources, 0);
            }
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
    #[inline]
    pub fn schedule(&mut self, source: SourceId, time: Time) {
        debug_assert!(!self.is_pending(source), "source {source} has a pending event");
        debug_assert!(time.as_ps() >= self.now, "source {source} scheduled in the past");
        if !self.ranks.is_empty() {
            self.ranks[source as usize] = self.take_rank();
        }
        self.nodes[source as usize].time = time.as_ps();
        self.insert(source, time.as_ps());
    }

    /// Schedules the event of `source` with `rank` among the events of the same time; only in a
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

    /// Schedules the event of `source` at `time` unless it is pending earlier.
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
        let slot = node.time >> self.shift;
        if slot <= self.cursor {
            let key = self.key(source, node.time);
            self.batch.retain(|&pending| pending != key);
        } else {
            self.unlink(source, slot, node);
        }
        self.nodes[source as usize] = IDLE;
    }

    /// Takes the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, SourceId)> {
        let key = match self.batch.pop() {
            Some(key) => key,
            None => {
                if !self.advance() {
                    return None;
                }
                self.batch.pop()?
            }
        };
        let source = key as u32;
        let time = (self.cursor << self.shift) | (key >> 32);
        self.now = time;
        if let Some(&rank) = self.ranks.get(source as usize) {
            self.rank_now = rank;
        }
        self.nodes[source as usize].time = u64::MAX;
        Some((Time::from_ps(time), source))
    }

    #[inline]
    fn key(&self, source: SourceId, time: u64) -> u64 {
        ((time - (self.cursor << self.shift)) << 32) | u64::from(source)
    }

    /// What orders the events of a batch: the time, then the source or its rank.
    #[inline]
    fn rank(&self, key: u64) -> (u64, u64) {
        match self.ranks.get(key as u32 as usize) {
            None => (key, 0),
            Some(&rank) => (key >> 32, rank),
        }
    }

    #[inline]
    fn insert(&mut self, source: SourceId, time: u64) {
        let slot = time >> self.shift;
        if slot <= self.cursor {
            let key = self.key(source, time);
            let rank = self.rank(key);
            let is_later = |pending: &u64| self.rank(*pending) > rank;
            let place = self.batch.iter().rposition(is_later).map_or(0, |i| i + 1);
            self.batch.insert(place, key);
            return;
        }
        let level = &mut self.levels[level_of(slot ^ self.cursor)];
        let index = level.index(slot);
        let head = level.heads[index];
        level.heads[index] = source;
        level.occupied[index / 64] |= 1 << (index % 64);
        let node = &mut self.nodes[source as usize];
        node.next = head;
        node.previous = NONE;
        if head != NONE {
            self.nodes[head as usize].previous = source;
        }
    }

    fn unlink(&mut self, source: SourceId, slot: u64, node: Node) {
        let level = &mut self.levels[level_of(slot ^ self.cursor)];
        let index = level.index(slot);
        if node.next != NONE {
            self.nodes[node.next as usize].previous = node.previous;
        }
        if node.previous != NONE {
            self.nodes[node.previous as usize].next = node.next;
        } else {
            debug_assert_eq!(level.heads[index], source);
            level.heads[index] = node.next;
            if node.next == NONE {
                level.occupied[index / 64] &= !(1 << (index % 64));
            }
        }
    }

    /// Moves the cursor to the next slot with events and fills the batch; false when none is left.
    fn advance(&mut self) -> bool {
        loop {
            let Some(depth) = self.enter_next_slot() else {
                return false;
            };
            let index = self.levels[depth].index(self.cursor);
            let level = &mut self.levels[depth];
            let mut source = level.heads[index];
            level.heads[index] = NONE;
            level.occupied[index / 64] &= !(1 << (index % 64));
            if depth == 0 {
                while source != NONE {
                    let node = self.nodes[source as usize];
                    self.batch.push(self.key(source, node.time));
                    source = node.next;
                }
                self.sort_batch();
                return true;
            }
            while source != NONE {
                let node = self.nodes[source as usize];
                self.insert(source, node.time);
                source = node.next;
            }
            if !self.batch.is_empty() {
                return true;
            }
        }
    }

    /// Sorts the batch, the next event last.
    #[inline]
    fn sort_batch(&mut self) {
        if self.batch.len() < 2 {
            return;
        }
        if self.ranks.is_empty() {
            self.batch.sort_unstable_by(|a, b| b.cmp(a));
            return;
        }
        let mut batch = core::mem::take(&mut self.batch);
        batch.sort_unstable_by_key(|&key| core::cmp::Reverse(self.rank(key)));
        self.batch = batch;
    }

    /// Puts the cursor on the start of the next occupied slot; returns its level.
    fn enter_next_slot(&mut self) -> Option<usize> {
        for depth in 0..LEVELS {
            let level = &self.levels[depth];
            if let Some(index) = level.next_occupied(level.index(self.cursor)) {
                let above = self.cursor >> level.base & !level.mask;
                self.cursor = (above | index as u64) << level.base;
                return Some(depth);
            }
        }
        None
    }
}

/// The level whose index is the highest in which two slots differ.
#[inline]
fn level_of(difference: u64) -> usize {
    if difference >> NEAR_BITS == 0 {
        return 0;
    }
    let highest = 63 - difference.leading_zeros();
    (((highest - NEAR_BITS) / FAR_BITS) as usize + 1).min(LEVELS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn ties_leave_in_the_order_of_their_sources() {
        let mut wheel = Wheel::new(4, 9);
        for source in [2, 0, 3, 1] {
            wheel.schedule(source, Time::from_ns(7));
        }
        let order: Vec<_> = core::iter::from_fn(|| wheel.pop()).map(|(_, source)| source).collect();
        assert_eq!(order, [0, 1, 2, 3]);
    }

    #[test]
    fn ties_leave_in_the_order_of_scheduling_on_request() {
        let mut wheel = Wheel::new(5, 9).in_order_of_scheduling();
        let early = wheel.take_rank();
        for source in [2, 0, 3] {
            wheel.schedule(source, Time::from_ns(7));
        }
        wheel.schedule_ranked(4, Time::from_ns(7), early);
        wheel.schedule(1, Time::from_ns(6));
        let mut order: Vec<_> =
            core::iter::from_fn(|| wheel.pop()).map(|(_, source)| source).collect();
        assert_eq!(order, [1, 4, 2, 0, 3]);
        // The same into the slot whose events are leaving.
        for source in [3, 1, 2] {
            wheel.schedule(source, Time::from_ns(7));
        }
        order = core::iter::from_fn(|| wheel.pop()).map(|(_, source)| source).collect();
        assert_eq!(order, [3, 1, 2]);
    }

    #[test]
    fn an_event_can_schedule_one_at_the_same_picosecond() {
        let mut wheel = Wheel::new(3, 9);
        wheel.schedule(0, Time::from_ps(10));
        assert_eq!(wheel.pop(), Some((Time::from_ps(10), 0)));
        wheel.schedule(2, Time::from_ps(10));
        wheel.schedule(1, Time::from_ps(11));
        assert_eq!(wheel.pop(), Some((Time::from_ps(10), 2)));
        assert_eq!(wheel.pop(), Some((Time::from_ps(11), 1)));
        assert_eq!(wheel.pop(), None);
    }

    #[derive(Clone, Debug)]
    enum Step {
        Schedule(u32, u64),
        Earlier(u32, u64),
        Cancel(u32),
        Pop,
    }

    fn step() -> impl Strategy<Value = Step> {
        let ahead = prop_oneof![0u64..2_000, 0u64..10_000_000, 0u64..10_000_000_000_000];
        prop_oneof![
            4 => (0u32..40, ahead.clone()).prop_map(|(s, t)| Step::Schedule(s, t)),
            1 => (0u32..40, ahead).prop_map(|(s, t)| Step::Earlier(s, t)),
            1 => (0u32..40).prop_map(Step::Cancel),
            4 => Just(Step::Pop),
        ]
    }

    proptest! {
        #[test]
        fn agrees_with_an_ordered_map(steps in proptest::collection::vec(step(), 1..400), shift in 0u32..14) {
            let mut wheel = Wheel::new(40, shift);
            let mut model: BTreeMap<(u64, u32), ()> = BTreeMap::new();
            for step in steps {
                match step {
                    Step::Schedule(source, ahead) if !wheel.is_pending(source) => {
                        let time = wheel.now().as_ps() + ahead;
                        wheel.schedule(source, Time::from_ps(time));
                        model.insert((time, source), ());
                    }
                    Step::Earlier(source, ahead) => {
                        let time = wheel.now().as_ps() + ahead;
                        let old = wheel.due(source).as_ps();
                        wheel.schedule_earlier(source, Time::from_ps(time));
                        if time < old {
                            model.remove(&(old, source));
                            model.insert((time, source), ());
                        }
                    }
                    Step::Schedule(..) => {}
                    Step::Cancel(source) => {
                        model.remove(&(wheel.due(source).as_ps(), source));
                        wheel.cancel(source);
                    }
                    Step::Pop => {
                        let expected = model.pop_first().map(|((time, source), ())| (Time::from_ps(time), source));
                        prop_assert_eq!(wheel.pop(), expected);
                    }
                }
            }
            while let Some(((time, source), ())) = model.pop_first() {
                prop_assert_eq!(wheel.pop(), Some((Time::from_ps(time), source)));
            }
            prop_assert_eq!(wheel.pop(), None);
        }
    }
}
