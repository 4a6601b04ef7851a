//! Amounts of data in bytes.

use core::fmt;
use core::ops::{Add, AddAssign, Sub, SubAssign};

use borsh::{BorshDeserialize, BorshSerialize};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::write_exact;

/// An amount of data (bytes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(transparent)]
#[schemars(inline, extend("quantity" = "size"))]
pub struct Bytes(u64);

impl Bytes {
    /// No bytes.
    pub const ZERO: Bytes = Bytes(0);
    /// More than anyone sends; used as "no limit".
    pub const UNLIMITED: Bytes = Bytes(u64::MAX);

    /// From a count of bytes.
    pub const fn new(bytes: u64) -> Self {
        Bytes(bytes)
    }

    /// As a count of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// `self - other`, or zero when `other` is larger.
    pub const fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Bytes) {
        self.0 -= other.0;
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const BINARY: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        let whole =
            |&&(factor, _): &&(u64, &str)| self.0 >= factor && self.0.is_multiple_of(factor);
        if let Some((factor, name)) = BINARY.iter().find(whole)
            && !self.0.is_multiple_of(1_000)
        {
            return write!(f, "{} {name}", self.0 / factor);
        }
        const UNITS: [(u64, &str); 4] =
            [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"), (1, "B")];
        write_exact(f, self.0, &UNITS)
    }
}
