//! Static: each egress port has a private memory with drop tail (AFQ sec. 6.2.1).

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::accounts::{Accounts, Request};
use super::policy::{Parameters, Place, Policy};

/// Parameters of the static admission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StaticConfig {
    /// Memory of each egress port.
    #[schemars(range(min = 1))]
    pub per_port: Bytes,
}

impl Parameters for StaticConfig {}

/// The private memories of a switch's ports.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct StaticPort {
    /// Memory of each port (bytes).
    size: u64,
}

impl StaticPort {
    pub(crate) fn new(config: &StaticConfig, _: &Place<'_>) -> Self {
        StaticPort { size: config.per_port.get() }
    }
}

impl Policy for StaticPort {
    #[inline]
    fn admit(&self, accounts: &mut Accounts, request: Request) -> bool {
        let index = accounts.index(request.ingress, request.class);
        let fits = request.egress_bytes + request.bytes <= self.size;
        accounts.ingress[index].used += if fits { request.bytes } else { 0 };
        fits
    }
}

#[cfg(test)]
#[path = "static_port_tests.rs"]
mod tests;
