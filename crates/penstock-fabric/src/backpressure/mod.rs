//! Backpressure: what does the upstream learn?

mod pairs;
pub(crate) mod policy;

use penstock_packet::axis;

use policy::{Parameters, Place};

pub use policy::{Granted, KeptPause};

axis! { $
    /// The backpressure axis of a scenario.
    config BackpressureConfig, each by configured;
    /// The backpressure policy of a switch, stored by value.
    state Backpressure, built in Place<'_>, each by dispatch;
    /// Nothing.
    none: None(NoneConfig => Nothing),
    /// Priority flow control.
    pfc: Pfc(PfcConfig => Pfc),
    /// Backpressure flow control.
    bfc: Bfc(BfcConfig => Bfc),
    /// Fast and accurate flow control.
    fafc: Fafc(FafcConfig => Box Fafc),
    /// Congestion-aware priority flow control.
    capfc: Capfc(CapfcConfig => Box Capfc),
    /// Predictive priority flow control.
    ppfc: PPfc(PpfcConfig => Box Ppfc),
    /// BFC with credits.
    credits: Credits(CreditsConfig => Box Credits),
    /// Pauses of single flows.
    flow_pauses: FlowPauses(FlowPausesConfig => Box FlowPauses),
}

impl BackpressureConfig {
    /// Whether numbered queues are paused: each flow then needs one path.
    pub fn pauses_queues(&self) -> bool {
        configured!(self, parameters => parameters.pauses_queues())
    }
}
