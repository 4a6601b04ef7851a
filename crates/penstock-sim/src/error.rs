//! Why a scenario is refused, or a run failed.

use penstock_units::{Problem, Problems};
use thiserror::Error;

/// A scenario that cannot be run; the message has a line for each problem, with the field, its value and the
/// remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ScenarioError(pub(crate) Problems);

impl ScenarioError {
    /// Refuses what has `problems`.
    pub(crate) fn unless_none(problems: Problems) -> Result<(), ScenarioError> {
        if problems.is_empty() { Ok(()) } else { Err(ScenarioError(problems)) }
    }

    /// What is wrong, in the order of the checks; at least one problem.
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
