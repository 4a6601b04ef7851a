//! The levels of the wheel: the slots ahead of the cursor's slot, the nearest level first.

use super::NONE;
use borsh::{BorshDeserialize, BorshSerialize};

/// log2 of the number of slots of level 0. With 4,096 slots of 0.5 ns (a span of 2 us) half of all
/// packet arrivals (1 us ahead) lay beyond the end of the level and were moved twice.
const NEAR_BITS: u32 = 14;
const FAR_BITS: u32 = 11;
/// Together with level 0 these levels distinguish slot numbers of 69 bits, so any two times: with three, the
/// events behind slot 2^47 were lost.
const FAR_LEVELS: usize = 5;
pub(super) const LEVELS: usize = FAR_LEVELS + 1;

/// One level: the heads of its slots' lists, and which slots are occupied.
#[derive(BorshSerialize, BorshDeserialize)]
pub(super) struct Level {
    heads: Vec<u32>,
    occupied: Vec<u64>,
    /// How many low bits of a slot number this level ignores; the level's index begins above them.
    base: u32,
    mask: u64,
}

impl Level {
    /// All levels, empty.
    pub(super) fn all() -> [Level; LEVELS] {
        core::array::from_fn(|depth| match depth as u32 {
            0 => Level::new(0, NEAR_BITS),
            far => Level::new(NEAR_BITS + (far - 1) * FAR_BITS, FAR_BITS),
        })
    }

    fn new(base: u32, bits: u32) -> Self {
        Level {
            heads: vec![NONE; 1 << bits],
            occupied: vec![0; 1 << (bits - 6)],
            base,
            mask: (1 << bits) - 1,
        }
    }

    /// Puts `source` at the head of the list of `slot`; returns the previous head.
    #[inline]
    pub(super) fn push(&mut self, slot: u64, source: u32) -> u32 {
        let index = self.index(slot);
        self.occupied[index / 64] |= 1 << (index % 64);
        core::mem::replace(&mut self.heads[index], source)
    }

    /// Takes the whole list of `slot`; returns its head.
    #[inline]
    pub(super) fn take(&mut self, slot: u64) -> u32 {
        let head = self.heads[self.index(slot)];
        self.set_head(slot, NONE);
        head
    }

    /// Makes `head` the head of the list of `slot`.
    #[inline]
    pub(super) fn set_head(&mut self, slot: u64, head: u32) {
        let index = self.index(slot);
        self.heads[index] = head;
        if head == NONE {
            self.occupied[index / 64] &= !(1 << (index % 64));
        }
    }

    /// The first slot number of the next occupied slot of this level after `slot`.
    #[inline]
    pub(super) fn next_occupied(&self, slot: u64) -> Option<u64> {
        let index = self.index(slot);
        let mut word = index / 64;
        // Two shifts, because a single shift by 64 overflows.
        let mut bits = self.occupied[word] & (u64::MAX << (index % 64) << 1);
        while bits == 0 {
            word += 1;
            bits = *self.occupied.get(word)?;
        }
        let found = word as u64 * 64 + u64::from(bits.trailing_zeros());
        let above = slot >> self.base & !self.mask;
        Some((above | found) << self.base)
    }

    #[inline]
    fn index(&self, slot: u64) -> usize {
        (slot >> self.base & self.mask) as usize
    }
}

/// The level whose index contains the highest bit in which two slot numbers differ; `difference` is
/// the two numbers, xored.
#[inline]
pub(super) fn level_of(difference: u64) -> usize {
    if difference >> NEAR_BITS == 0 {
        return 0;
    }
    let highest = 63 - difference.leading_zeros();
    ((highest - NEAR_BITS) / FAR_BITS) as usize + 1
}
