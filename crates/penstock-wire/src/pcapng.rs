//! Blocks of a pcapng file, which Wireshark reads (draft-ietf-opsawg-pcapng): frames with times in
//! nanoseconds.
//!
//! What it is: the three blocks that a file of ours needs. What it is not: a reader, or a writer of files.

use penstock_units::Time;

/// The longest name of an interface (bytes); longer ones are cut. Our choice: names of nodes are shorter.
pub const LONGEST_NAME: usize = 64;

/// The most bytes that [`packet_end`] writes: three of padding, flags, the end of options, a length.
const MOST_END: usize = 3 + 8 + 4 + 4;

/// Times are in units of 10 to this power less (s): nanoseconds, of which Wireshark, tshark and libpcap keep
/// no fractions. In finer units tshark 4.0 multiplies what is beyond a whole second by 10^9 in 64 bits: with
/// picoseconds that overflows after 18.4 ms of each second.
const TIME_RESOLUTION: u8 = 9;

/// The bytes that [`packet`] writes.
pub const PACKET: usize = 28;

/// Which way a frame goes, seen from the network (the option `epb_flags`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Direction {
    /// Into the network.
    Inbound = 1,
    /// Out of the network.
    Outbound = 2,
}

/// A few bytes of a block.
#[derive(Clone, Copy, Debug)]
pub struct Piece<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Piece<N> {
    const fn new() -> Self {
        Piece { bytes: [0; N], length: 0 }
    }

    fn put(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes[self.length..][..bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
        self
    }

    fn u16(&mut self, value: u16) -> &mut Self {
        self.put(&value.to_le_bytes())
    }

    fn u32(&mut self, value: u32) -> &mut Self {
        self.put(&value.to_le_bytes())
    }

    /// What is to be written.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Zeros after so many bytes, to a multiple of four.
fn padding(length: usize) -> usize {
    length.next_multiple_of(4) - length
}

/// The block with which a file begins (sec. 4.1): little endian, version 1.0, of unknown length.
pub fn section() -> Piece<28> {
    let mut piece = Piece::new();
    piece.u32(0x0a0d_0d0a).u32(28).u32(0x1a2b_3c4d).u16(1).u16(0);
    piece.put(&[0xff; 8]).u32(28);
    piece
}

/// The block of the next interface, the first of which has number 0 (sec. 4.2): Ethernet, times in
/// nanoseconds.
pub fn interface(name: &str) -> Piece<{ 36 + LONGEST_NAME }> {
    let mut end = name.len().min(LONGEST_NAME);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    let name = &name.as_bytes()[..end];
    let zeros = padding(name.len());
    let length = (16 + 4 + name.len() + zeros + 8 + 4 + 4) as u32;
    let (ethernet, whole_frames) = (1, 0);
    let (if_name, if_tsresol, end_of_options) = (2, 9, 0);
    let mut piece = Piece::new();
    piece.u32(1).u32(length).u16(ethernet).u16(0).u32(whole_frames);
    piece.u16(if_name).u16(name.len() as u16).put(name).put(&[0; 3][..zeros]);
    piece.u16(if_tsresol).u16(1).put(&[TIME_RESOLUTION, 0, 0, 0]).u32(end_of_options).u32(length);
    piece
}

/// The beginning of the block of a frame (sec. 4.3) on interface number `interface`, at `time`, rounded
/// down to nanoseconds. The first `kept` bytes of the frame follow, which has `length` bytes in all, then
/// [`packet_end`].
pub fn packet(interface: u32, time: Time, kept: usize, length: usize) -> Piece<PACKET> {
    let time = time.as_ps() / 1_000;
    let mut piece = Piece::new();
    piece.u32(6).u32(packet_block(kept)).u32(interface);
    piece.u32((time >> 32) as u32).u32(time as u32);
    piece.u32(kept as u32).u32(length as u32);
    piece
}

/// The end of the block of a frame of which `length` bytes are kept.
pub fn packet_end(length: usize, direction: Direction) -> Piece<MOST_END> {
    let (epb_flags, end_of_options) = (2, 0);
    let mut piece = Piece::new();
    piece.put(&[0; 3][..padding(length)]);
    piece.u16(epb_flags).u16(4).u32(direction as u32).u32(end_of_options);
    piece.u32(packet_block(length));
    piece
}

/// The length of the whole block of a frame.
fn packet_block(length: usize) -> u32 {
    (PACKET + length + padding(length) + 8 + 4 + 4) as u32
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// The lengths at both ends of each block of a file, and what each block says it is.
    fn blocks(mut file: &[u8]) -> Vec<(u32, usize)> {
        let u32_at = |bytes: &[u8], at: usize| {
            u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
        };
        let mut found = Vec::new();
        while !file.is_empty() {
            let (kind, length) = (u32_at(file, 0), u32_at(file, 4) as usize);
            assert_eq!(u32_at(file, length - 4) as usize, length, "the same at both ends");
            assert_eq!(length % 4, 0);
            found.push((kind, length));
            file = &file[length..];
        }
        found
    }

    #[test]
    fn blocks_say_their_lengths_at_both_ends() {
        let mut file = section().bytes().to_vec();
        for name in ["", "H0", "H1!", "T0-S1", &"é".repeat(40)] {
            file.extend(interface(name).bytes());
        }
        for length in [0, 1, 2, 3, 4, 1_500] {
            file.extend(packet(1, Time::from_ms(20), length, 1_500).bytes());
            file.resize(file.len() + length, 7);
            file.extend(packet_end(length, Direction::Outbound).bytes());
        }
        let kinds: Vec<u32> = blocks(&file).iter().map(|block| block.0).collect();
        assert_eq!(kinds, [0x0a0d_0d0a, 1, 1, 1, 1, 1, 6, 6, 6, 6, 6, 6]);
        assert_eq!(blocks(&file)[5].1, 36 + 64, "a name of 80 bytes is cut");
    }

    #[test]
    fn a_time_of_days_is_kept_to_the_nanosecond() {
        let (day, nanosecond) = (86_400_000_000_000_000, 1_000);
        let block = packet(0, Time::from_ps(day + nanosecond + 999), 60, 1_048);
        let half = |at: usize| u32::from_le_bytes(block.bytes()[at..at + 4].try_into().unwrap());
        assert_eq!((u64::from(half(12)) << 32) | u64::from(half(16)), day / 1_000 + 1);
        assert_eq!(
            (half(20), half(24)),
            (60, 1_048),
            "bytes that are kept, and bytes of the frame"
        );
    }
}
