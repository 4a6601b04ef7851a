//! The messages between the two ends of a flow whose data leave only for credits of the receiver
//! ([`crate::control::expresspass`]).

use borsh::{BorshDeserialize, BorshSerialize};

/// What a sender tells its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum CreditSignal {
    /// The sender has packets that need credits.
    Request {
        /// Number of these packets (packets), at most `u32::MAX`.
        packets: u32,
    },
    /// The sender needs no credits beyond those on their way.
    Stop,
}

/// A credit that leaves its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    /// Number of the credit in the flow, from 0, modulo 2^16.
    pub number: u16,
    /// Size of the credit on the wire (bytes).
    pub wire_bytes: u32,
}
