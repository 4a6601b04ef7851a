//! The answers of the receiving half of a recovery.

/// What a receiver answers to a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// An acknowledgement of the bytes before `cumulative`. With perfect recovery, `cumulative` is
    /// instead the number of bytes that arrived.
    Acknowledge {
        /// The position or number that the acknowledgement carries (bytes).
        cumulative: u64,
    },
    /// A negative acknowledgement: a gap starts at `expected`.
    Negative {
        /// The next byte that the receiver expects (bytes).
        expected: u64,
        /// The first byte of the packet that revealed the gap (bytes), > `expected`.
        received: u64,
    },
    /// No packet: the gap was reported not long ago.
    Nothing,
}
