//! What the two ends of a flow tell each other where data leave for credits of the receiver
//! ([`crate::control::expresspass`]).

/// What a sender tells its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreditSignal {
    /// It has packets that need credits.
    Request {
        /// How many (packets), at most `u32::MAX`.
        packets: u32,
    },
    /// It needs no more credits than those on their way.
    Stop,
}

/// A credit that leaves its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    /// Its number in the flow, from 0, modulo 2^16.
    pub number: u16,
    /// Its size on the wire (bytes).
    pub wire_bytes: u32,
}
