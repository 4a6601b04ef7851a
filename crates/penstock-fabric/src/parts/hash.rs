//! Hashing of keys that are already well mixed, such as flow hashes: a hasher for maps, and the place
//! of a flow in a table. There is no state and no seed, and the result is the same on every machine.

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

/// A 32-bit hash of a flow that differs from switch to switch: the finalizer of MurmurHash3
/// (A. Appleby) over the flow's hash and the switch's salt.
#[inline]
pub(crate) fn salted(flow_hash: u32, salt: u32) -> u32 {
    let mut mixed = flow_hash ^ salt;
    mixed = (mixed ^ (mixed >> 16)).wrapping_mul(0x85eb_ca6b);
    mixed = (mixed ^ (mixed >> 13)).wrapping_mul(0xc2b2_ae35);
    mixed ^ (mixed >> 16)
}

/// Maps a 32-bit hash evenly onto `0..bound` without a division.
#[inline]
pub(crate) fn reduce(hash: u32, bound: u32) -> u32 {
    ((u64::from(hash) * u64::from(bound)) >> 32) as u32
}
