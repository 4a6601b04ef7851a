//! What an end host knows of a flow's path, and what an acknowledgement carries back.

use penstock_units::{BitRate, Bytes, Fidelity, Time};

pub use penstock_units::HopTelemetry;

/// Facts about the path of a flow that its controller may know; computed when the network is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathFacts {
    /// Round-trip time of the unloaded path (ps), > 0.
    pub base_rtt: Time,
    /// Rate of the sender's NIC (bit/s), > 0.
    pub line_rate: BitRate,
    /// Rate of the receiver's NIC (bit/s), > 0.
    pub receiver_rate: BitRate,
    /// Bandwidth-delay product, `line_rate * base_rtt` (bytes), > 0.
    pub bdp: Bytes,
    /// The largest bandwidth-delay product of the network: of its fastest NIC and its longest round trip
    /// (bytes), > 0. The same at every host.
    pub largest_bdp: Bytes,
    /// Payload of a full data packet (bytes), > 0.
    pub payload: u32,
    /// Switches on the path, >= 1.
    pub hops: u32,
    /// Bytes of a data packet on the wire besides its payload: header, telemetry, timestamp (bytes).
    pub data_overhead: u32,
    /// Time that an acknowledgement takes over its last link, from the start of the transmission to the
    /// arrival at the sender's host (ps), > 0.
    pub last_flight: Time,
    /// Whose arithmetic the host follows: exact, or that of the ns-3 HPCC simulator.
    pub fidelity: Fidelity,
}

/// The most bytes that a flow sends without a grant (bytes); our choice: years of a link of 100 Gb/s, and a
/// hundred times as many are still counted.
const MOST_UNSCHEDULED: u64 = 1 << 56;

impl PathFacts {
    /// The whole packets that hold `factor` of the largest bandwidth-delay products, at least one packet
    /// (bytes). The same at every host.
    pub(crate) fn whole_packets(&self, factor: f64) -> u64 {
        let bytes = (self.largest_bdp.get() as f64 * factor) as u64;
        bytes.clamp(1, MOST_UNSCHEDULED).next_multiple_of(u64::from(self.payload))
    }
}

/// An acknowledgement as it arrives at the sender.
#[derive(Clone, Copy, Debug)]
pub struct Acknowledgement<'a> {
    /// The next byte that the receiver expects; with perfect recovery, the number of bytes that have
    /// arrived (bytes).
    pub cumulative: u64,
    /// Whether the receiver saw a gap and asks for the bytes from `cumulative` on again.
    pub is_negative: bool,
    /// In a negative acknowledgement: the first byte of the packet that revealed the gap (bytes). Only
    /// selective repeat uses this field.
    pub received: u64,
    /// Whether the data packet was marked with congestion experienced (the ECN echo).
    pub is_marked: bool,
    /// When the data packet left the sender's NIC (ps), echoed.
    pub sent_at: Time,
    /// Time between the arrivals of the two packets of a pair, when the second one is acknowledged here
    /// (ps); zero otherwise, and always without packet-pair flow control.
    pub pair_gap: Time,
    /// Names the path that the data packet took: the numbers of its switches, combined by exclusive or
    /// (HPCC's pathID, of 16 bits in place of 12). Without telemetry it says nothing.
    pub path: u16,
    /// One entry per switch egress that the data packet crossed, in path order; empty without
    /// telemetry.
    pub telemetry: &'a [HopTelemetry],
}

impl Acknowledgement<'_> {
    /// An acknowledgement that says only that the receiver has the bytes before `cumulative`.
    pub fn plain(cumulative: u64) -> Self {
        Acknowledgement {
            cumulative,
            is_negative: false,
            received: cumulative,
            is_marked: false,
            sent_at: Time::ZERO,
            pair_gap: Time::ZERO,
            path: 0,
            telemetry: &[],
        }
    }
}
