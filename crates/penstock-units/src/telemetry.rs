//! What one hop reports about its egress port. Switches write these reports and hosts read them.

use crate::{BitRate, Time};
use borsh::{BorshDeserialize, BorshSerialize};

/// The telemetry that a switch adds when it dequeues a packet (HPCC, SIGCOMM 2019, sec. 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct HopTelemetry {
    /// When the packet was dequeued (`ts` in the paper).
    pub time: Time,
    /// Wire bytes that the port had sent before this packet (`txBytes`).
    pub sent_bytes: u64,
    /// Data bytes left in the port's queues (`qlen`).
    pub queue_bytes: u64,
    /// Rate of the port (`B`).
    pub rate: BitRate,
}
