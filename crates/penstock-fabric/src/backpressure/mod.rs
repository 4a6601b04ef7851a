//! Backpressure: what does the upstream learn?

mod pairs;
pub(crate) mod policy;

use penstock_packet::{SwitchFacts, axis};
use penstock_units::{Fidelity, Problems};

use policy::{Parameters, Place};

pub use policy::{Granted, KeptPause, Repeats};

use crate::config::{Surroundings, SwitchConfig};

axis! { $
    /// The backpressure axis of a scenario.
    config BackpressureConfig, each by configured;
    /// The backpressure policy of a switch, stored by value.
    state Backpressure, built in Place<'_>, each by dispatch;
    /// The upstream learns nothing.
    none: None(NoneConfig => Nothing),
    /// Priority flow control: pause a class when its ingress holds too much.
    pfc: Pfc(PfcConfig => Pfc),
    /// Backpressure flow control: pause the upstream queue of a packet.
    bfc: Bfc(BfcConfig => Bfc),
    /// Fast and accurate flow control: pause the ingresses that an egress suffers from.
    fafc: Fafc(FafcConfig => Box Fafc),
    /// Congestion-aware PFC: pause the ingresses with more than their share of an egress.
    capfc: Capfc(CapfcConfig => Box Capfc),
    /// Predictive PFC: pause ingresses by chance before an egress queue has become long.
    ppfc: PPfc(PpfcConfig => Box Ppfc),
    /// BFC with credits: send only what the next switch has memory for; nothing is dropped.
    credits: Credits(CreditsConfig => Box Credits),
    /// Pauses of single flows: the ideal that BFC approximates (BFC 3.3.2).
    flow_pauses: FlowPauses(FlowPausesConfig => Box FlowPauses),
}

impl BackpressureConfig {
    /// Whether pauses name queues. Each flow then needs one path.
    pub fn pauses_queues(&self) -> bool {
        configured!(self, parameters => parameters.pauses_queues())
    }

    /// Whether pauses name the epoch of a queue.
    pub(crate) fn tells_epochs(&self) -> bool {
        configured!(self, parameters => parameters.tells_epochs())
    }

    /// Whether the upstream learns nothing.
    pub(crate) fn is_silent(&self) -> bool {
        configured!(self, parameters => parameters.is_silent())
    }

    /// Whether the queue of each egress is predicted.
    pub(crate) fn predicts_queues(&self) -> bool {
        configured!(self, parameters => parameters.predicts_queues())
    }

    /// What is told again from time to time, where a queue has so many epochs; none: nothing.
    pub fn repeats(&self, epochs: u32) -> Option<Repeats> {
        configured!(self, parameters => parameters.repeats(epochs))
    }

    /// Whether every round of queues ends whatever is paused, because no queue waits for a paused one.
    pub(crate) fn lets_rounds_end(&self) -> bool {
        configured!(self, parameters => parameters.lets_rounds_end())
    }

    /// Whether hosts pay for their packets by queue.
    pub fn has_credits(&self) -> bool {
        configured!(self, parameters => parameters.has_credits())
    }

    /// Whether the simulator of this fidelity has the policy.
    pub fn is_in(&self, simulator: Fidelity) -> bool {
        configured!(self, parameters => parameters.is_in(simulator))
    }

    /// The memory that the backpressure sets aside at a switch and that must be there (bytes). Each
    /// port's upstream has `queues` data queues.
    pub fn set_aside(&self, facts: &SwitchFacts, queues: usize) -> u64 {
        configured!(self, parameters => parameters.set_aside(facts, queues))
    }

    /// Checks that the backpressure goes together with the other policies of `switch`.
    pub(crate) fn fits(
        &self,
        switch: &SwitchConfig,
        around: &Surroundings,
        problems: &mut Problems,
    ) {
        configured!(self, parameters => parameters.fits(switch, around, problems));
    }
}
