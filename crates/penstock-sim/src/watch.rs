//! Whoever follows a run, and what it may ask of it.

use std::io::{self, Write};

use penstock_units::Time;

use crate::measure::table::Table;

/// Options of a run that do not change its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Whether the invariants are checked regularly during the run. That packets of a flow arrive in order is
    /// checked in a run from its start on; one that goes on from a checkpoint does as the saved one did.
    pub check: bool,
    /// Threads that share the run, 1 or more. Under the fidelity of the ns-3 HPCC simulator, and with a
    /// class that the program supplies ([`crate::external`]), one thread does all.
    pub threads: usize,
    /// The rows of all tables that the run holds before it hands them to [`Watch::rows`]; more come at
    /// once when they are measured at once.
    pub most_rows: usize,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions { check: false, threads: 1, most_rows: usize::MAX }
    }
}

/// The progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// When the run ends at the latest.
    pub end: Time,
    /// Events processed.
    pub events: u64,
    /// Flows that finished.
    pub flows_finished: u64,
}

/// Whoever follows a run. A function of its progress is one, too: it lets the run go on when it answers
/// true.
pub trait Watch {
    /// Hears how far the run is; false stops it.
    fn progress(&mut self, progress: Progress) -> bool;

    /// Whether it hears so after every window, and not only after some ten thousands of events: the code of
    /// users may take long for each of them, and nobody should wait for a run to stop.
    fn is_close(&self) -> bool {
        false
    }

    /// Gets the rows so far, table by table, when they are more than [`RunOptions::most_rows`]. The results
    /// do not hold them again. False stops the run.
    fn rows(&mut self, tables: Vec<Table>) -> bool;

    /// The run has been stopped. Its state goes to the file that this opens, and then the run goes on; none
    /// ends it.
    ///
    /// # Errors
    /// When there is no such file.
    fn state(&mut self) -> io::Result<Option<Box<dyn Write>>>;

    /// The state has been written; false ends the run.
    fn saved(&mut self) -> bool;
}

impl<F: FnMut(Progress) -> bool> Watch for F {
    fn progress(&mut self, progress: Progress) -> bool {
        self(progress)
    }

    fn rows(&mut self, _: Vec<Table>) -> bool {
        true
    }

    fn state(&mut self) -> io::Result<Option<Box<dyn Write>>> {
        Ok(None)
    }

    fn saved(&mut self) -> bool {
        true
    }
}
