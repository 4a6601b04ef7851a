//! A constant window.
//!
//! P. Goyal et al., "Backpressure Flow Control", NSDI 2022. Implemented: the cap on the bytes in flight
//! of Ideal-FQ (Sec. 6.2.1) and of hosts that do not react to backpressure (App. A.8). Both caps are
//! one bandwidth-delay product.

use crate::control::hooks::{AtSource, Parameters};
use crate::flow::FlowFacts;
use crate::path::PathFacts;
use borsh::{BorshDeserialize, BorshSerialize};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of [`Window`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WindowConfig {
    /// Window in bandwidth-delay products.
    #[schemars(
        extend("exclusiveMinimum" = 0, "default" = 1.0, "source" = "BFC 6.2.1: 1 BDP")
    )]
    pub bdp_factor: f64,
}

impl WindowConfig {
    /// The window on `path` (bytes), at least one byte so that a flow can start.
    pub fn bytes(&self, path: &PathFacts) -> u64 {
        ((path.bdp.get() as f64 * self.bdp_factor) as u64).max(1)
    }
}

impl Parameters for WindowConfig {}

/// A window that never changes.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct Window {
    bytes: u64,
}

impl Window {
    /// The window of a flow; it is the same for every flow on a path.
    pub fn new(config: &WindowConfig, flow: &FlowFacts) -> Self {
        Window { bytes: config.bytes(flow.path) }
    }
}

impl AtSource for Window {
    #[inline]
    fn window(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    const JSON: &str = r#"{"kind":"window","bdp_factor":1.0}"#;

    #[test]
    fn the_window_is_a_multiple_of_the_bandwidth_delay_product() {
        let of = |bdp_factor| {
            let config = WindowConfig { bdp_factor };
            Window::new(&config, &fixture::flow(&fixture::path())).window()
        };
        assert_eq!(of(1.0), 100_000);
        assert_eq!(of(1.5), 150_000);
        assert_eq!(of(1e-9), 1);
    }

    #[test]
    fn parameters_are_read_and_written_and_refused_out_of_bounds() {
        fixture::check_controller(JSON, &[(JSON.replace("1.0", "-1.0"), "bdp_factor")]);
    }
}
