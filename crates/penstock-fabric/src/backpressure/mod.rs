//! Backpressure: what does the upstream learn?

pub mod bfc;
pub mod capfc;
pub mod credits;
pub mod fafc;
pub mod flow_pauses;
pub mod pfc;
pub mod ppfc;

pub(crate) mod pairs;

use alloc::boxed::Box;

use penstock_packet::SwitchFacts;
use serde::{Deserialize, Serialize};

use bfc::{Bfc, BfcConfig};
use capfc::{Capfc, CapfcConfig};
use credits::{Credits, CreditsConfig};
use fafc::{Fafc, FafcConfig};
use flow_pauses::{FlowPauses, FlowPausesConfig};
use pairs::Pairs;
use pfc::{Pfc, PfcConfig};
use ppfc::{Ppfc, PpfcConfig};

/// The backpressure axis of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum BackpressureConfig {
    /// Nothing.
    None {},
    /// Priority flow control.
    Pfc(PfcConfig),
    /// Backpressure flow control.
    Bfc(BfcConfig),
    /// Fast and accurate flow control.
    Fafc(FafcConfig),
    /// Congestion-aware priority flow control.
    Capfc(CapfcConfig),
    /// Predictive priority flow control.
    PPfc(PpfcConfig),
    /// BFC with credits.
    Credits(CreditsConfig),
    /// Pauses of single flows.
    FlowPauses(FlowPausesConfig),
}

impl BackpressureConfig {
    /// Whether numbered queues are paused: each flow then needs one path.
    pub fn pauses_queues(&self) -> bool {
        matches!(
            self,
            BackpressureConfig::Bfc(_)
                | BackpressureConfig::Credits(_)
                | BackpressureConfig::FlowPauses(_)
        )
    }
}

/// What a backpressure policy is told of its switch.
pub(crate) struct Place<'a> {
    /// The switch and its ports.
    pub facts: &'a SwitchFacts,
    /// Ingress accounts.
    pub accounts: usize,
    /// Memory that all ports share (bytes); without limit where there is none.
    pub memory: u64,
    /// Data queues of a port.
    pub queues: usize,
}

/// The backpressure policy of a switch, stored by value and dispatched by `match`.
#[derive(Debug)]
pub(crate) enum Backpressure {
    None,
    Pfc(Pfc),
    Bfc(Bfc),
    Fafc(Box<Fafc>),
    Credits(Box<Credits>),
    FlowPauses(Box<FlowPauses>),
    Capfc(Box<Capfc>),
    Ppfc(Box<Ppfc>),
}

impl Backpressure {
    /// The policy that `config` describes, at `place`.
    pub(crate) fn new(config: &BackpressureConfig, place: &Place<'_>) -> Self {
        let &Place { facts, accounts, memory, queues } = place;
        let ports = facts.ports.len();
        match config {
            BackpressureConfig::None {} => Backpressure::None,
            BackpressureConfig::Pfc(pfc) => Backpressure::Pfc(Pfc::new(pfc, accounts)),
            BackpressureConfig::Bfc(bfc) => Backpressure::Bfc(Bfc::new(bfc, facts)),
            BackpressureConfig::Fafc(fafc) => {
                Backpressure::Fafc(Box::new(Fafc::new(fafc, facts, accounts)))
            }
            BackpressureConfig::Capfc(capfc) => {
                Backpressure::Capfc(Box::new(Capfc::new(capfc, ports)))
            }
            BackpressureConfig::PPfc(ppfc) => Backpressure::Ppfc(Box::new(Ppfc::new(ppfc, ports))),
            BackpressureConfig::FlowPauses(flows) => {
                Backpressure::FlowPauses(Box::new(FlowPauses::new(flows, facts)))
            }
            BackpressureConfig::Credits(credits) => {
                Backpressure::Credits(Box::new(Credits::new(credits, facts, memory, queues)))
            }
        }
    }

    /// PFC, if that is the policy or beneath it.
    pub(crate) fn pfc(&self) -> Option<&Pfc> {
        match self {
            Backpressure::Pfc(pfc) => Some(pfc),
            Backpressure::Fafc(fafc) => Some(&fafc.pfc),
            _ => self.pairs().map(|pairs| &pairs.pfc),
        }
    }

    /// The pairs of ports, where ingresses are paused for the sake of an egress.
    pub(crate) fn pairs(&self) -> Option<&Pairs> {
        match self {
            Backpressure::Capfc(capfc) => Some(&capfc.pairs),
            Backpressure::Ppfc(ppfc) => Some(&ppfc.pairs),
            _ => None,
        }
    }
}
