//! No control: a flow has no window and no rate, and sends whenever the NIC lets it.

use borsh::{BorshDeserialize, BorshSerialize};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::control::hooks::{AtSource, Parameters};
use crate::flow::FlowFacts;

/// [`LineRate`] has no parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LineRateConfig {}

impl Parameters for LineRateConfig {}

/// A flow without control.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct LineRate;

impl LineRate {
    /// Every flow has the same state.
    pub fn new(_config: &LineRateConfig, _flow: &FlowFacts) -> Self {
        LineRate
    }
}

impl AtSource for LineRate {}

#[cfg(test)]
mod tests {
    use crate::fixture;

    const JSON: &str = r#"{"kind":"line-rate"}"#;

    #[test]
    fn there_are_no_parameters() {
        fixture::check_controller(JSON, &[]);
    }
}
