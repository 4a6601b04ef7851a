//! The header that says to which flow bytes belong: at the beginning of a TCP stream, and of each UDP
//! datagram.
//!
//! | bytes | field |
//! |---|---|
//! | 0–3 | `PSLD` in ASCII |
//! | 4 | version, 1 |
//! | 5 | priority class, 0 to 7 |
//! | 6 | 1 when the flow has a size, 0 when it is endless |
//! | 7 | 0 |
//! | 8–15 | number of the flow |
//! | 16–23 | size of the flow in bytes; 0 when it is endless |
//! | 24–31 | XXH3 (64 bits, no seed) of bytes 0–23 |
//!
//! Numbers have their largest byte first. The layout is our choice: it is read only by this crate.

use penstock_units::Bytes;
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

/// The largest class: classes have three bits (IEEE 802.1Q, RFC 2474 sec. 4.2.2).
pub const LARGEST_CLASS: u8 = 7;

/// Length of the header (B).
pub const HEADER_BYTES: usize = 32;

/// How many of these bytes the checksum covers.
const CHECKED_BYTES: usize = 24;

const MAGIC: [u8; 4] = *b"PSLD";
const VERSION: u8 = 1;

/// What the header says of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Number of the flow.
    pub number: u64,
    /// How many bytes the flow has; none when it is endless.
    pub size: Option<Bytes>,
    /// Priority class, 0 to 7; the server answers in the same class.
    pub class: u8,
}

/// Why 32 bytes are not a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum HeaderFault {
    /// The bytes do not begin with the magic number and the version.
    #[error("the bytes are no header of this version of the load generator")]
    Foreign,
    /// The checksum is of other bytes.
    #[error("the checksum is wrong")]
    Checksum,
    /// A field has a value that it must not have.
    #[error("a field is out of range")]
    Field,
}

impl Header {
    /// The header as bytes.
    pub fn encode(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = VERSION;
        bytes[5] = self.class;
        bytes[6] = u8::from(self.size.is_some());
        bytes[8..16].copy_from_slice(&self.number.to_be_bytes());
        bytes[16..24].copy_from_slice(&self.size.unwrap_or_default().get().to_be_bytes());
        let check = xxh3_64(&bytes[..CHECKED_BYTES]);
        bytes[CHECKED_BYTES..].copy_from_slice(&check.to_be_bytes());
        bytes
    }

    /// The header that `bytes` are.
    ///
    /// # Errors
    /// When `bytes` are not what [`Header::encode`] writes for a header with a class of 0 to 7.
    pub fn decode(bytes: &[u8; HEADER_BYTES]) -> Result<Header, HeaderFault> {
        let [m0, m1, m2, m3, version, class, has_size, zero, ..] = *bytes;
        if [m0, m1, m2, m3] != MAGIC || version != VERSION {
            return Err(HeaderFault::Foreign);
        }
        if xxh3_64(&bytes[..CHECKED_BYTES]) != number_at(bytes, CHECKED_BYTES) {
            return Err(HeaderFault::Checksum);
        }
        let size = match (has_size, number_at(bytes, 16)) {
            (0, 0) => None,
            (1, size) => Some(Bytes::new(size)),
            _ => return Err(HeaderFault::Field),
        };
        if class > LARGEST_CLASS || zero != 0 {
            return Err(HeaderFault::Field);
        }
        Ok(Header { number: number_at(bytes, 8), size, class })
    }
}

/// The number of 64 bits at `offset`, which must be at most 24.
fn number_at(bytes: &[u8; HEADER_BYTES], offset: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[offset..offset + 8]);
    u64::from_be_bytes(number)
}

#[cfg(test)]
#[path = "header_tests.rs"]
mod tests;
