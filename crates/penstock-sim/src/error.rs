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
    ///
    /// # Errors
    /// When there are some.
    pub fn unless_none(problems: Problems) -> Result<(), ScenarioError> {
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

/// Why a checkpoint cannot be saved or restored.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CheckpointError {
    /// The run shares random numbers as ns-3 does.
    #[error(
        "a run with the fidelity of another simulator cannot be saved; run it from the beginning to the end"
    )]
    Fidelity,
    /// The state cannot be written; why.
    #[error("the checkpoint cannot be written: {0}")]
    Write(String),
    /// The bytes cannot be read; why.
    #[error("the checkpoint cannot be read: {0}")]
    Read(String),
    /// The bytes do not begin as a checkpoint does.
    #[error("this is no checkpoint of Penstock")]
    Foreign,
    /// The checkpoint has another format.
    #[error("the checkpoint has format {saved}, and this version of Penstock reads format {read}")]
    Format {
        /// The format of the checkpoint.
        saved: u32,
        /// The format that can be read.
        read: u32,
    },
    /// There are fewer bytes, or more, than the checkpoint says.
    #[error("the checkpoint is cut or damaged: it does not have the length that it says")]
    Length,
    /// The bytes are not those that were saved.
    #[error("the checkpoint is damaged: its checksum does not hold")]
    Checksum,
    /// The state is of something else.
    #[error("the checkpoint is of another scenario, or of another version of Penstock")]
    Scenario,
    /// The run was cut otherwise.
    #[error("the checkpoint has {saved} partitions and this run has {built}; both must be equal")]
    Partitions {
        /// Partitions of the run that was saved.
        saved: u32,
        /// Partitions of the simulation that was built.
        built: u32,
    },
    /// The state does not fit what was built; where.
    #[error("the state in the checkpoint does not fit this version of Penstock: {0}")]
    State(String),
}

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RunError {
    /// The scenario was refused; nothing ran.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// An invariant did not hold.
    #[error(transparent)]
    Invariant(#[from] InvariantError),
    /// Time stands still.
    #[error(transparent)]
    Standstill(#[from] StandstillError),
    /// The state cannot be saved, or restored.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}
