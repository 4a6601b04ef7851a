//! The sequence of `rand` of the GNU C library, which NASA-NJU/Pyrrha-NS3 draws random queues from.
//!
//! It is an additive feedback generator (the library's manual names it under "BSD Random"; its constants
//! are in `random_r.c`): x(i) = x(i - 3) + x(i - 31) modulo 2^32, and a draw is x(i) without its lowest
//! bit. The first 31 numbers come from a Lehmer generator, and 310 more are left out.

/// How far the two terms of a sum lie behind it.
const SHORT: usize = 3;
const LONG: usize = 31;

/// Numbers that are left out at the start.
const LEFT_OUT: usize = 10 * LONG;

/// Modulus and multiplier of the generator of the first numbers (Lehmer; Park and Miller 1988).
const MODULUS: u64 = (1 << 31) - 1;
const MULTIPLIER: u64 = 16_807;

/// The generator.
#[derive(Debug)]
pub(super) struct GlibcRand {
    /// The last 31 numbers; the oldest one is at `next`.
    numbers: [u32; LONG],
    next: usize,
}

impl GlibcRand {
    /// The sequence after `srand(seed)`, with a seed from 1 to 2^31 - 2.
    pub(super) fn new(seed: u32) -> Self {
        let mut numbers = [seed; LONG];
        for place in 1..LONG {
            numbers[place] = (u64::from(numbers[place - 1]) * MULTIPLIER % MODULUS) as u32;
        }
        let mut rand = GlibcRand { numbers, next: SHORT };
        for _ in 0..LEFT_OUT {
            rand.draw();
        }
        rand
    }

    /// The next number, below 2^31.
    pub(super) fn draw(&mut self) -> u32 {
        let recent = self.numbers[(self.next + LONG - SHORT) % LONG];
        let sum = self.numbers[self.next].wrapping_add(recent);
        self.numbers[self.next] = sum;
        self.next = (self.next + 1) % LONG;
        sum >> 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_library() {
        // Printed by a C program (glibc 2.36) that calls rand five times, before and after srand(42).
        let first = |seed| {
            let mut rand = GlibcRand::new(seed);
            [(); 5].map(|()| rand.draw())
        };
        assert_eq!(
            first(1),
            [1_804_289_383, 846_930_886, 1_681_692_777, 1_714_636_915, 1_957_747_793]
        );
        assert_eq!(first(42), [71_876_166, 708_592_740, 1_483_128_881, 907_283_241, 442_951_012]);
    }
}
