//! Whose arithmetic a run follows: our own, or that of another simulator.

use borsh::{BorshDeserialize, BorshSerialize};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose arithmetic a run follows.
///
/// A scheme is the same code under every fidelity. The fidelity says how numbers are rounded, which
/// of two events at the same moment comes first, and where a real simulator's peculiarities stand
/// in for our rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fidelity {
    /// Exact: picoseconds, serialization times rounded up.
    #[default]
    Exact,
    /// The arithmetic of the ns-3 HPCC simulator (alibaba-edu/High-Precision-Congestion-Control,
    /// commit 9f4be2a), so that a run of it can be compared flow by flow. `docs/validation.md`
    /// lists what this changes.
    Ns3Hpcc,
    /// As `Ns3Hpcc`, with BFC as a simulator built on it has it (NASA-NJU/Pyrrha-NS3, commit 3765687), so
    /// that a run of BFC can be compared choice by choice and pause by pause. `docs/validation.md` lists
    /// what this changes.
    Ns3Bfc,
}

impl Fidelity {
    /// Its name in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            Fidelity::Exact => "exact",
            Fidelity::Ns3Hpcc => "ns3-hpcc",
            Fidelity::Ns3Bfc => "ns3-bfc",
        }
    }

    /// Whether the clock, the rounding and the order of events are those of ns-3.
    pub fn is_ns3(self) -> bool {
        self != Fidelity::Exact
    }
}
