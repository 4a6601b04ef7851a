//! No backpressure: the upstream learns nothing.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Fidelity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Parameters, Place, Policy};

/// Parameters of no backpressure: none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoneConfig {}

impl Parameters for NoneConfig {
    fn is_silent(&self) -> bool {
        true
    }

    fn lets_rounds_end(&self) -> bool {
        true
    }

    fn is_in(&self, simulator: Fidelity) -> bool {
        simulator != Fidelity::Ns3Bfc
    }
}

/// No backpressure at a switch.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Nothing;

impl Nothing {
    pub(crate) fn new(_: &NoneConfig, _: &Place<'_>) -> Self {
        Nothing
    }
}

impl Policy for Nothing {}
