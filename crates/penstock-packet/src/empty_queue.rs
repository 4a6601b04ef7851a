//! Which of several empty queues of a port a new flow gets, in a switch and in a host (BFC).

use borsh::{BorshDeserialize, BorshSerialize};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which of several empty queues a new flow gets.
///
/// A queue can be empty and paused: its last packets made the downstream pause it (P. Goyal et al.,
/// "Backpressure Flow Control", NSDI 2022, sec. 3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmptyQueue {
    /// The first one of the search, paused or not.
    Any,
    /// The first one that is not paused, while there is one.
    Unpaused,
    /// The first one that is not paused. An empty queue that is paused counts as taken.
    UnpausedOnly,
}
