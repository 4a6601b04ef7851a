//! What the receiving half of a recovery answers.

/// What a receiver answers to a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// An acknowledgement of the bytes before `cumulative`; with perfect recovery of as many bytes
    /// as `cumulative`.
    Acknowledge {
        /// What goes into the acknowledgement (bytes).
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
