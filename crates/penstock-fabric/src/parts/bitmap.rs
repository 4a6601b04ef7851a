//! A set of small numbers as bits. Switch hardware keeps its empty queues in the same way.

use alloc::boxed::Box;

use borsh::{BorshDeserialize, BorshSerialize};

/// A set of numbers below a bound. The first 64 numbers are stored in place, because most ports have
/// fewer queues and a list would cost one more cache line.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Bitmap {
    first: u64,
    others: Box<[u64]>,
}

impl Bitmap {
    /// The empty set of numbers below `bound`.
    pub fn new(bound: usize) -> Self {
        let mut bitmap = Bitmap { first: 0, others: Box::default() };
        bitmap.grow(bound);
        bitmap
    }

    /// Makes room for numbers below `bound`.
    pub fn grow(&mut self, bound: usize) {
        let others = bound.div_ceil(64).saturating_sub(1);
        if self.others.len() < others {
            let mut words = core::mem::take(&mut self.others).into_vec();
            words.resize(others, 0);
            self.others = words.into_boxed_slice();
        }
    }

    /// Adds `number`.
    #[inline]
    pub fn insert(&mut self, number: usize) {
        *self.word(number) |= 1 << (number % 64);
    }

    /// Removes `number`.
    #[inline]
    pub fn remove(&mut self, number: usize) {
        *self.word(number) &= !(1 << (number % 64));
    }

    /// Whether `number` is in the set.
    #[inline]
    pub fn contains(&self, number: usize) -> bool {
        self.get(number / 64).is_some_and(|word| word & (1 << (number % 64)) != 0)
    }

    /// The smallest member in `from..to`.
    #[inline]
    pub fn first_in(&self, from: usize, to: usize) -> Option<usize> {
        let mut word = from / 64;
        let mut bits = self.get(word)? & (u64::MAX << (from % 64));
        while bits == 0 {
            word += 1;
            if word * 64 >= to {
                return None;
            }
            bits = self.get(word)?;
        }
        let found = word * 64 + bits.trailing_zeros() as usize;
        (found < to).then_some(found)
    }

    #[inline]
    fn word(&mut self, number: usize) -> &mut u64 {
        if number < 64 { &mut self.first } else { &mut self.others[number / 64 - 1] }
    }

    #[inline]
    fn get(&self, word: usize) -> Option<u64> {
        if word == 0 { Some(self.first) } else { self.others.get(word - 1).copied() }
    }

    /// The first member in `from..to` at or after `start`, wrapping around once.
    #[inline]
    pub fn first_from(&self, start: usize, from: usize, to: usize) -> Option<usize> {
        self.first_in(start, to).or_else(|| self.first_in(from, start.min(to)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_set(
            members in proptest::collection::btree_set(0usize..200, 0..60),
            start in 20usize..=150,
        ) {
            let mut bitmap = Bitmap::new(200);
            for &member in &members {
                bitmap.insert(member);
            }
            let first = |from, to| members.range(from..to).next().copied();
            prop_assert_eq!(bitmap.first_in(start, 180), first(start, 180));
            let wrapped = first(start, 150).or_else(|| first(20, start));
            prop_assert_eq!(bitmap.first_from(start, 20, 150), wrapped);
            for &member in &members {
                bitmap.remove(member);
                prop_assert!(!bitmap.contains(member));
            }
            prop_assert_eq!(bitmap.first_in(0, 200), BTreeSet::<usize>::new().first().copied());
        }
    }
}
