//! What Python hears of a run while it goes on: its progress, its rows, its state.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use penstock_sim::measure::table::Table;
use penstock_sim::{Progress, Watch};
use pyo3::prelude::*;

use crate::own::Stop;
use crate::tables::tables;

/// Time between two calls of a progress callback.
pub(crate) const REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// Reports progress to Python, at most once in [`REPORT_INTERVAL`], and hands rows over.
pub(crate) struct Reporter {
    on_progress: Option<Py<PyAny>>,
    on_saved: Option<Py<PyAny>>,
    on_rows: Option<Py<PyAny>>,
    last: Instant,
    /// Where the state of the run goes, which has been stopped for that.
    state: Option<PathBuf>,
    /// Whether users' code stops the run.
    own: Arc<Stop>,
    error: Option<PyErr>,
}

/// What Python answers when it hears of progress.
#[derive(FromPyObject)]
enum Answer {
    /// Whether the run goes on.
    GoesOn(bool),
    /// It goes on once its state is in this file.
    Saves(PathBuf),
}

impl Reporter {
    /// Tells Python's functions, where there are some, of a run that `own` may stop.
    pub(crate) fn new(
        on_progress: Option<Py<PyAny>>,
        on_saved: Option<Py<PyAny>>,
        on_rows: Option<Py<PyAny>>,
        own: Arc<Stop>,
    ) -> Self {
        let last = Instant::now();
        Reporter { on_progress, on_saved, on_rows, last, state: None, own, error: None }
    }

    /// What a function has raised, which has stopped the run.
    pub(crate) fn into_error(self) -> Option<PyErr> {
        self.error
    }

    /// What Python has answered; false when it has raised an error.
    fn unless_raised(&mut self, answer: PyResult<bool>) -> bool {
        answer.unwrap_or_else(|error| {
            self.error = Some(error);
            false
        })
    }
}

impl Watch for &mut Reporter {
    fn progress(&mut self, progress: Progress) -> bool {
        if self.own.is_set() {
            return false;
        }
        if self.last.elapsed() < REPORT_INTERVAL {
            return true;
        }
        self.last = Instant::now();
        let answer = Python::attach(|py| {
            py.check_signals()?;
            let Some(callback) = &self.on_progress else { return Ok(Answer::GoesOn(true)) };
            let arguments = (
                progress.now.as_ps(),
                progress.end.as_ps(),
                progress.events,
                progress.flows_finished,
            );
            callback.call1(py, arguments)?.extract::<Answer>(py)
        });
        let goes_on = answer.map(|answer| match answer {
            Answer::GoesOn(goes_on) => goes_on,
            Answer::Saves(file) => {
                self.state = Some(file);
                false
            }
        });
        self.unless_raised(goes_on)
    }

    fn is_close(&self) -> bool {
        self.own.is_expected()
    }

    fn state(&mut self) -> io::Result<Option<Box<dyn Write>>> {
        let Some(path) = self.state.take() else { return Ok(None) };
        Ok(Some(Box::new(BufWriter::new(File::create(path)?))))
    }

    fn saved(&mut self) -> bool {
        let answer = Python::attach(|py| {
            let Some(callback) = &self.on_saved else { return Ok(true) };
            callback.call0(py)?;
            Ok(true)
        });
        self.unless_raised(answer)
    }

    fn rows(&mut self, rows: Vec<Table>) -> bool {
        let answer = Python::attach(|py| {
            let Some(callback) = &self.on_rows else { return Ok(true) };
            callback.call1(py, (tables(py, rows)?,))?;
            Ok(true)
        });
        self.unless_raised(answer)
    }
}
