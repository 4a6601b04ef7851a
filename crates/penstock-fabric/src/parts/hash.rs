//! A hasher for keys that are well mixed already, such as flow hashes: no state, no seed, the same on
//! every machine.

use core::hash::{BuildHasherDefault, Hasher};

/// Builds [`MixedKeyHasher`]s; the third parameter of a hash map.
pub type MixedKeys = BuildHasherDefault<MixedKeyHasher>;

/// A multiplicative hasher with the Fibonacci constant (Knuth, The Art of Computer Programming,
/// vol. 3, sec. 6.4).
#[derive(Clone, Copy, Debug, Default)]
pub struct MixedKeyHasher(u64);

impl Hasher for MixedKeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u32(&mut self, key: u32) {
        self.write_u64(u64::from(key));
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = (self.0 ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }
}
