//! Static: each egress port has a private memory with drop tail (AFQ sec. 6.2.1).

use penstock_units::Bytes;
use serde::{Deserialize, Serialize};

/// Parameters of the static admission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StaticConfig {
    /// Memory of an egress port (bytes), > 0.
    pub per_port: Bytes,
}

#[cfg(test)]
#[path = "static_port_tests.rs"]
mod tests;
