//! What the receivers of a host plan together.

use borsh::{BorshDeserialize, BorshSerialize};

use crate::granter::Granter;
use crate::puller::Puller;

/// The part of a host that plans for all of its incoming flows.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) enum Planner {
    /// Which messages are granted more bytes (Homa).
    Grants(Granter),
    /// When the next PULL leaves (NDP).
    Pulls(Puller),
}
