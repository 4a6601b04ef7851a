//! What an end host knows of the path of a flow, and what an acknowledgement carries back.

use penstock_units::{BitRate, Bytes, Fidelity, Time};

pub use penstock_units::HopTelemetry;

/// Facts about the path of a flow that its controller may know; computed when the network is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathFacts {
    /// Round-trip time of the unloaded path (ps), > 0.
    pub base_rtt: Time,
    /// Rate of the sender's NIC (bit/s), > 0.
    pub line_rate: BitRate,
    /// Bandwidth-delay product, `line_rate * base_rtt` (bytes), > 0.
    pub bdp: Bytes,
    /// Payload of a full data packet (bytes), > 0.
    pub payload: u32,
    /// Switches on the path, >= 1.
    pub hops: u32,
    /// Bytes that a data packet has on the wire beside its payload: header, telemetry, timestamp
    /// (bytes).
    pub data_overhead: u32,
    /// Time between the start of an acknowledgement's transmission to the sender's host, over its last
    /// link, and its arrival (ps), > 0.
    pub last_flight: Time,
    /// Whose arithmetic the host follows.
    pub fidelity: Fidelity,
}

/// An acknowledgement as it arrives at the sender.
#[derive(Clone, Copy, Debug)]
pub struct Acknowledgement<'a> {
    /// The next byte that the receiver expects; perfect recovery: the bytes that it has counted
    /// (bytes).
    pub cumulative: u64,
    /// Whether the receiver saw a gap and asks for the bytes from `cumulative` on again.
    pub is_negative: bool,
    /// Negative: the first byte of the packet that revealed the gap (bytes). Only selective repeat
    /// looks at it.
    pub received: u64,
    /// Whether the data packet was marked with congestion experienced (the ECN echo).
    pub is_marked: bool,
    /// When the data packet left the sender's NIC (ps), echoed.
    pub sent_at: Time,
    /// How far apart the receiver got the pair whose second packet is acknowledged (ps); zero when none
    /// is, as without packet-pair flow control.
    pub pair_gap: Time,
    /// One entry per switch egress that the data packet crossed, in path order; empty without
    /// telemetry.
    pub telemetry: &'a [HopTelemetry],
}

impl Acknowledgement<'_> {
    /// One that says no more than that the receiver has the bytes before `cumulative`, in whatever
    /// packet it came.
    pub fn plain(cumulative: u64) -> Self {
        Acknowledgement {
            cumulative,
            is_negative: false,
            received: cumulative,
            is_marked: false,
            sent_at: Time::ZERO,
            pair_gap: Time::ZERO,
            telemetry: &[],
        }
    }
}
