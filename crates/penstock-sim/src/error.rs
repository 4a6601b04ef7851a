//! Why a scenario is refused, or a run failed.

use penstock_units::Problems;
use thiserror::Error;

use crate::topology::TopologyError;
use crate::workload::WorkloadError;

/// A scenario that cannot be run; the message names the field, its value and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScenarioError {
    /// A field of the scenario itself.
    #[error("{field} is {value}; {remedy}")]
    Field {
        /// Path of the field.
        field: String,
        /// What was written there.
        value: String,
        /// What would be right.
        remedy: String,
    },
    /// The topology.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// The traffic.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
}

impl ScenarioError {
    /// From a field path, the value found there, and what would be right.
    pub fn new(field: impl Into<String>, value: impl ToString, remedy: impl Into<String>) -> Self {
        let (field, value, remedy) = (field.into(), value.to_string(), remedy.into());
        ScenarioError::Field { field, value, remedy }
    }

    /// Refuses a scenario that has `problems`, because of the first one.
    pub(crate) fn unless_none(problems: &Problems) -> Result<(), ScenarioError> {
        let Some(first) = problems.found().first() else { return Ok(()) };
        Err(ScenarioError::new(&first.path, &first.value, &first.remedy))
    }
}

/// A run in which time stands still.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "time stands still at {time}: after {events} events there, {sources} keep firing; this is a \
     defect of Penstock, please report it with the scenario"
)]
pub struct StandstillError {
    /// Where (ps).
    pub time: penstock_units::Time,
    /// How many events happened at that time.
    pub events: u64,
    /// The sources of events that go on, in words.
    pub sources: String,
}

/// An invariant that did not hold while a run was checked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("at {time}: {what}; this is a defect of Penstock, please report it with the scenario")]
pub struct InvariantError {
    /// When.
    pub time: penstock_units::Time,
    /// What did not hold.
    pub what: String,
}
