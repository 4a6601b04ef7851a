//! The facts of a flow when it starts, the state of a flow at its sender, and the losses that recovery
//! reports.

use penstock_units::Time;

use crate::path::PathFacts;

/// What both ends of a flow know of it when it starts.
#[derive(Clone, Copy, Debug)]
pub struct FlowFacts<'a> {
    /// Number of the flow in the run; 0 where nobody asks.
    pub number: u64,
    /// When the flow starts (ps); zero where nobody asks.
    pub start: Time,
    /// Size of the flow (bytes); `u64::MAX` for an endless flow.
    pub size: u64,
    /// Bytes that the receiver expects without having granted them (bytes). Without grants, all bytes
    /// of the flow.
    pub unscheduled: u64,
    /// The path of the flow.
    pub path: &'a PathFacts,
    /// How fast the clock of the receiving host is wrong, as a share of what the controller allows, from
    /// -1 to 1; 0 at the source.
    pub clock: f64,
}

/// The state of a flow just after an acknowledgement was taken into account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowView {
    /// Bytes that the receiver has, as far as the sender knows (bytes).
    pub acknowledged: u64,
    /// What `acknowledged` becomes once all that is in flight is acknowledged (bytes).
    pub next: u64,
    /// Bytes that this acknowledgement was the first to report as received (bytes). They are the bytes
    /// added to `acknowledged` and, with selective repeat, the bytes ahead of a gap, each byte counted
    /// once.
    pub newly_acknowledged: u64,
}

/// What recovery tells the controller, just after the acknowledgement that revealed the loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossSignal {
    /// A packet is lost and will be sent again. Recovery reports no other loss until this recovery
    /// ends, by an exit or by a timeout.
    FastRetransmit {
        /// Bytes sent and not acknowledged, the lost ones included (FlightSize in RFC 5681).
        in_flight: u64,
    },
    /// Everything sent before the loss was detected is acknowledged. This signal also ends a recovery
    /// that a timeout began, where there is one.
    RecoveryExit {
        /// Bytes sent and not acknowledged.
        in_flight: u64,
    },
    /// The retransmission timer expired.
    Timeout {
        /// Bytes sent and not acknowledged when the timer expired, less those that a fast recovery
        /// knows to have left the network.
        in_flight: u64,
        /// Whether nothing was acknowledged since the timer last expired.
        is_repeated: bool,
    },
}

/// An expected number of flows of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeShare {
    /// Payload (bytes), > 0.
    pub size: u64,
    /// Flows of this size while traffic is generated.
    pub flows: f64,
}

impl SizeShare {
    /// How many of the first `limit` bytes one flow of this size has (bytes).
    pub(crate) fn first(&self, limit: u64) -> f64 {
        self.size.min(limit) as f64
    }
}
