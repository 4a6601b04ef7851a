//! Generators of random numbers whose state can be saved.
//!
//! What it is: the generators of `rand_pcg`, which say their state to serde only, for borsh. What it is
//! not: which stream a draw comes from (`penstock-engine`'s `stream`).

use alloc::string::{String, ToString};

use borsh::io::{Error, ErrorKind, Read, Result, Write};
use borsh::{BorshDeserialize, BorshSerialize};
use rand_core::RngCore;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A generator with 64 bits of state: for each node, link or purpose of which there are many.
pub type Pcg32 = Generator<rand_pcg::Pcg32>;

/// A generator with 128 bits of state.
pub type Pcg64Mcg = Generator<rand_pcg::Pcg64Mcg>;

/// A generator whose state can be saved.
#[derive(Clone, Debug)]
pub struct Generator<R>(R);

impl Pcg32 {
    /// The generator in `state` of the sequence `stream`.
    pub fn new(state: u64, stream: u64) -> Self {
        Generator(rand_pcg::Pcg32::new(state, stream))
    }
}

impl Pcg64Mcg {
    /// The generator in `state`.
    pub fn new(state: u128) -> Self {
        Generator(rand_pcg::Pcg64Mcg::new(state))
    }
}

impl<R: RngCore> RngCore for Generator<R> {
    #[inline]
    fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }

    #[inline]
    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    #[inline]
    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }
}

impl<R: Serialize> BorshSerialize for Generator<R> {
    fn serialize<W: Write>(&self, to: &mut W) -> Result<()> {
        BorshSerialize::serialize(&serde_json::to_string(&self.0).map_err(unfit)?, to)
    }
}

impl<R: DeserializeOwned> BorshDeserialize for Generator<R> {
    fn deserialize_reader<F: Read>(from: &mut F) -> Result<Self> {
        let text = String::deserialize_reader(from)?;
        serde_json::from_str(&text).map(Generator).map_err(unfit)
    }
}

fn unfit(error: serde_json::Error) -> Error {
    Error::new(ErrorKind::InvalidData, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generator_goes_on_where_it_was_saved() {
        let (mut narrow, mut wide) = (Pcg32::new(3, 5), Pcg64Mcg::new(u128::MAX - 7));
        narrow.next_u32();
        wide.next_u64();
        let bytes = borsh::to_vec(&(&narrow, &wide)).unwrap();
        let (mut again, mut wide_again): (Pcg32, Pcg64Mcg) = borsh::from_slice(&bytes).unwrap();
        assert_eq!(again.next_u64(), narrow.next_u64());
        assert_eq!(wide_again.next_u64(), wide.next_u64());
    }
}
