//! Why an emulation fails.

use std::io;
use std::path::PathBuf;

use penstock_load::LoadError;
use penstock_sim::{ScenarioError, StandstillError};
use penstock_wire::Unwritable;
use thiserror::Error;

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
    /// The machine forwards too few frames.
    #[error(
        "the run may need {needed:.0} frames a second and this machine forwards {possible:.0} in time; slow \
         it down with --set emulation.scale_time={scale_time}, or add --force to see what happens"
    )]
    TooFast {
        /// What the run may need (frames a second).
        needed: f64,
        /// What the machine forwards in time (frames a second).
        possible: f64,
        /// A scale of time that would do.
        scale_time: u32,
    },
    /// A device fails.
    #[error("copying frames: {0}")]
    Device(#[from] io::Error),
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

/// Why a drive has ended before its time.
#[derive(Debug, Error)]
pub enum DriveError {
    /// Time stands still in a part.
    #[error(transparent)]
    Standstill(#[from] StandstillError),
    /// A device is gone.
    #[error("the device of host {host}: {error}")]
    Device {
        /// The host.
        host: u32,
        /// What the system says.
        error: io::Error,
    },
    /// The system refuses to wait for devices.
    #[error("waiting for frames: {0}")]
    Waiting(#[from] rustix::io::Errno),
    /// A packet that no frame can bear.
    #[error(transparent)]
    Unwritable(#[from] Unwritable),
}
