//! What is known of a flow when it starts, and what the parts of its sender tell each other: where it
//! stands, and that it has lost packets.

use crate::path::PathFacts;

/// What both ends of a flow know of it when it starts.
#[derive(Clone, Copy, Debug)]
pub struct FlowFacts<'a> {
    /// All of its bytes (bytes); `u64::MAX` when it is endless.
    pub size: u64,
    /// Bytes that its receiver expects without having granted them (bytes); all of them without
    /// grants.
    pub unscheduled: u64,
    /// Its path.
    pub path: &'a PathFacts,
}

/// The state of a flow at the moment of an acknowledgement, after it was taken into account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowView {
    /// Bytes that the receiver has, as far as the sender knows (bytes).
    pub acknowledged: u64,
    /// What `acknowledged` becomes once all that is in flight is acknowledged (bytes).
    pub next: u64,
    /// Bytes that this acknowledgement was the first to report as received: those that it added to
    /// `acknowledged`, and with selective repeat those ahead of a gap, each byte once (bytes).
    pub newly_acknowledged: u64,
}

/// What recovery tells the controller, after the acknowledgement that it learnt it from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossSignal {
    /// A packet is lost and will be sent again. No other loss is reported until the recovery ends,
    /// one way or the other.
    FastRetransmit {
        /// Bytes sent and not acknowledged, the lost ones included (FlightSize in RFC 5681).
        in_flight: u64,
    },
    /// Everything sent before the loss was detected is acknowledged. Also ends the recovery that a
    /// timeout began, where there is one.
    RecoveryExit {
        /// Bytes sent and not acknowledged.
        in_flight: u64,
    },
    /// The retransmission timer expired.
    Timeout {
        /// Bytes sent and not acknowledged when it did, less those that a fast recovery knows to
        /// have left the network.
        in_flight: u64,
        /// Whether nothing was acknowledged since the timer expired the last time.
        is_repeated: bool,
    },
}

/// So many flows of a size are expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeShare {
    /// Payload (bytes), > 0.
    pub size: u64,
    /// Flows of this size while traffic is generated.
    pub flows: f64,
}

impl SizeShare {
    /// The part of a flow's bytes that comes within the first `limit` (bytes).
    pub(crate) fn first(&self, limit: u64) -> f64 {
        self.size.min(limit) as f64
    }
}
