//! The name of a packet.

use borsh::{BorshDeserialize, BorshSerialize};

/// The name of a packet in its [`crate::PacketPool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct PacketId(u32);

impl PacketId {
    /// No packet; the end of a list.
    pub const NONE: PacketId = PacketId(u32::MAX);

    /// The name of the packet at `index`, which is below 2^32 - 1.
    pub(crate) fn new(index: usize) -> Self {
        PacketId(u32::try_from(index).expect("fewer than 2^32 packets"))
    }

    /// The packet's place in the pool, an index for tables beside the pool.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether this is [`PacketId::NONE`].
    #[inline]
    pub fn is_none(self) -> bool {
        self.0 == u32::MAX
    }
}

impl Default for PacketId {
    fn default() -> Self {
        PacketId::NONE
    }
}
