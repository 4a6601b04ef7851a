//! No marking: packets learn nothing.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::SwitchFacts;
use penstock_units::Fidelity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Parameters, Policy};

/// Parameters of no marking: none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoneConfig {}

impl Parameters for NoneConfig {
    fn is_in(&self, _: Fidelity) -> bool {
        true
    }
}

/// No marking at a switch.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Nothing;

impl Nothing {
    pub(crate) fn new(_: &NoneConfig, _: &SwitchFacts) -> Self {
        Nothing
    }
}

impl Policy for Nothing {}
