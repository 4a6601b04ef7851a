//! Why a scenario is refused, or a run failed.

use penstock_units::{Problem, Problems};
use thiserror::Error;

/// A scenario that cannot be run. The message has a line for each problem, with the field, its
/// value and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ScenarioError(pub(crate) Problems);

impl ScenarioError {
    /// An error with all `problems`, if there are any.
    pub(crate) fn unless_none(problems: Problems) -> Result<(), ScenarioError> {
        if problems.is_empty() { Ok(()) } else { Err(ScenarioError(problems)) }
    }

    /// The problems, in the order of the checks; at least one.
    pub fn problems(&self) -> &[Problem] {
        self.0.found()
    }
}

impl From<Problem> for ScenarioError {
    fn from(problem: Problem) -> Self {
        let mut problems = Problems::default();
        problems.add(problem);
        ScenarioError(problems)
    }
}

/// A run in which time stands still.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "time stands still at {time}: after {events} events there, {sources} keep firing; this is a \
     defect of Penstock, please report it with the scenario"
)]
pub struct StandstillError {
    /// Time at which the run stands still (ps).
    pub time: penstock_units::Time,
    /// Events that happened at that time.
    pub events: u64,
    /// The sources whose events keep happening, in words.
    pub sources: String,
}

/// An invariant that did not hold while a run was checked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("at {time}: {what}; this is a defect of Penstock, please report it with the scenario")]
pub struct InvariantError {
    /// Time of the check that failed.
    pub time: penstock_units::Time,
    /// The invariant that did not hold.
    pub what: String,
}
