//! The levels of the wheel: the slots ahead of the cursor's slot, the nearest level first.
//!
//! The sizes of the levels are part of their types, so that no access is checked against a length: that took
//! 14 of 1,047 instructions off a packet-hop with DCTCP.

use super::NONE;
use borsh::{BorshDeserialize, BorshSerialize};

/// log2 of the number of slots of level 0. With 4,096 slots of 0.5 ns (a span of 2 us) half of all
/// packet arrivals (1 us ahead) lay beyond the end of the level and were moved twice.
const NEAR_BITS: u32 = 14;
const FAR_BITS: u32 = 11;
/// Together with level 0 these levels distinguish slot numbers of 69 bits, so any two times: with three, the
/// events behind slot 2^47 were lost.
const FAR_LEVELS: usize = 5;

/// Slots whose occupation is a word.
const GROUP: usize = 64;

/// All levels.
#[derive(BorshSerialize, BorshDeserialize)]
pub(super) struct Levels {
    /// Level 0.
    near: Level<{ (1 << NEAR_BITS) / GROUP }>,
    /// The others, each from its first event on: all take 40 KB, 2.6 MB of an idle network of 65,536 hosts.
    far: [Option<Level<{ (1 << FAR_BITS) / GROUP }>>; FAR_LEVELS],
}

/// One level: the heads of its slots' lists, and which slots are occupied.
#[derive(BorshSerialize, BorshDeserialize)]
struct Level<const GROUPS: usize> {
    heads: Box<[[u32; GROUP]; GROUPS]>,
    /// By group: bit k says whether slot k is occupied.
    occupied: Box<[u64; GROUPS]>,
}

/// The next occupied slot.
pub(super) struct Next {
    /// The first number of the slot, counted in slots of level 0.
    pub slot: u64,
    /// The far level of the slot; none for level 0.
    far: Option<usize>,
}

impl Next {
    /// Whether the slot is one of level 0.
    #[inline]
    pub(super) fn is_near(&self) -> bool {
        self.far.is_none()
    }
}

/// How many low bits of a slot number far level `number` ignores; the level's index begins above them.
#[inline]
fn base(number: usize) -> u32 {
    NEAR_BITS + number as u32 * FAR_BITS
}

/// The far level whose index contains the highest bit in which two slot numbers differ; `difference` is
/// the two numbers, xored.
#[inline]
fn far_level(difference: u64) -> usize {
    ((difference.ilog2() - NEAR_BITS) / FAR_BITS) as usize
}

impl Levels {
    /// All levels, empty.
    pub(super) fn new() -> Self {
        Levels { near: Level::new(), far: [const { None }; FAR_LEVELS] }
    }

    /// Puts `source` at the head of the list to which `slot` belongs while the cursor is at `cursor`; returns
    /// the previous head.
    #[inline]
    pub(super) fn push(&mut self, slot: u64, cursor: u64, source: u32) -> u32 {
        let difference = slot ^ cursor;
        if difference >> NEAR_BITS == 0 {
            return self.near.push(slot, source);
        }
        self.push_far(slot, difference, source)
    }

    /// As [`Levels::push`], where slot and cursor are in different slots of a far level.
    #[inline(never)] // most events are near, and need not know which level they are for
    fn push_far(&mut self, slot: u64, difference: u64, source: u32) -> u32 {
        let number = far_level(difference);
        self.far[number].get_or_insert_with(Level::new).push(slot >> base(number), source)
    }

    /// Makes `head` the head of the list to which `slot` belongs while the cursor is at `cursor`.
    pub(super) fn set_head(&mut self, slot: u64, cursor: u64, head: u32) {
        let difference = slot ^ cursor;
        if difference >> NEAR_BITS == 0 {
            return self.near.set_head(slot, head);
        }
        let number = far_level(difference);
        if let Some(level) = &mut self.far[number] {
            level.set_head(slot >> base(number), head);
        }
    }

    /// The next occupied slot after `cursor`; none when no slot is occupied.
    #[inline]
    pub(super) fn next(&self, cursor: u64) -> Option<Next> {
        if let Some(slot) = self.near.next_occupied(cursor) {
            return Some(Next { slot, far: None });
        }
        self.far.iter().enumerate().find_map(|(number, level)| {
            let slot = level.as_ref()?.next_occupied(cursor >> base(number))?;
            Some(Next { slot: slot << base(number), far: Some(number) })
        })
    }

    /// The head of the next occupied slot of level 0 after `cursor`, if one is occupied.
    #[inline]
    pub(super) fn next_near(&self, cursor: u64) -> Option<u32> {
        Some(self.near.head(self.near.next_occupied(cursor)?))
    }

    /// Takes the whole list of a slot; returns its head.
    #[inline]
    pub(super) fn take(&mut self, next: &Next) -> u32 {
        match next.far {
            None => self.near.take(next.slot),
            Some(number) => self.far[number]
                .as_mut()
                .map_or(NONE, |level| level.take(next.slot >> base(number))),
        }
    }
}

/// Slots are numbered in slots of this level; the number of all levels is shifted by the caller.
impl<const GROUPS: usize> Level<GROUPS> {
    const MASK: u64 = (GROUPS * GROUP) as u64 - 1;

    fn new() -> Self {
        Level { heads: Box::new([[NONE; GROUP]; GROUPS]), occupied: Box::new([0; GROUPS]) }
    }

    /// The head of the list of `slot`.
    #[inline]
    fn head(&self, slot: u64) -> u32 {
        let (group, bit) = Self::place(slot);
        self.heads[group][bit]
    }

    /// Puts `source` at the head of the list of `slot`; returns the previous head.
    #[inline]
    fn push(&mut self, slot: u64, source: u32) -> u32 {
        let (group, bit) = Self::place(slot);
        self.occupied[group] |= 1 << bit;
        core::mem::replace(&mut self.heads[group][bit], source)
    }

    /// Takes the whole list of `slot`; returns its head.
    #[inline]
    fn take(&mut self, slot: u64) -> u32 {
        let (group, bit) = Self::place(slot);
        self.occupied[group] &= !(1 << bit);
        core::mem::replace(&mut self.heads[group][bit], NONE)
    }

    /// Makes `head` the head of the list of `slot`.
    fn set_head(&mut self, slot: u64, head: u32) {
        let (group, bit) = Self::place(slot);
        self.heads[group][bit] = head;
        if head == NONE {
            self.occupied[group] &= !(1 << bit);
        }
    }

    /// The next occupied slot after `slot`.
    #[inline]
    fn next_occupied(&self, slot: u64) -> Option<u64> {
        let (mut group, bit) = Self::place(slot);
        // Two shifts, because a single shift by 64 overflows.
        let mut bits = self.occupied[group] & (u64::MAX << bit << 1);
        while bits == 0 {
            group += 1;
            bits = *self.occupied.get(group)?;
        }
        let found = (group * GROUP) as u64 + u64::from(bits.trailing_zeros());
        Some(slot & !Self::MASK | found)
    }

    /// The group of a slot, and its bit in the group.
    #[inline]
    fn place(slot: u64) -> (usize, usize) {
        let index = (slot & Self::MASK) as usize;
        (index / GROUP, index % GROUP)
    }
}
