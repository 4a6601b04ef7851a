//! Whose arithmetic a run follows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose arithmetic a run follows.
///
/// A scheme is the same code under both; this says how its numbers are rounded, which of two events
/// of the same moment comes first, and where a real simulator's peculiarities stand in for ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fidelity {
    /// Exact: picoseconds, serialization times rounded up.
    #[default]
    Exact,
    /// The arithmetic of the ns-3 HPCC simulator (alibaba-edu/High-Precision-Congestion-Control,
    /// commit 9f4be2a), so that a run of it can be compared flow by flow. `docs/validation.md`
    /// lists what this changes.
    Ns3Hpcc,
}
