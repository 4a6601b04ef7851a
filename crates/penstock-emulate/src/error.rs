//! Why an emulation fails.

use std::io;
use std::path::PathBuf;

use penstock_load::LoadError;
use penstock_sim::ScenarioError;
use thiserror::Error;

use crate::drive::DriveError;
use crate::namespace::NamespaceError;

/// Why an emulation fails.
#[derive(Debug, Error)]
pub enum EmulationError {
    /// The scenario is refused.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// Namespaces cannot be made.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// The load cannot be sent.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The loop has failed.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// The output of a program has no file.
    #[error("{path}: {error}")]
    Output {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A program cannot be watched.
    #[error("watching a program: {0}")]
    Program(io::Error),
}
