//! Why users' code stops a run: the first thing that went wrong.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use super::{Call, Class, Wrong};
use crate::error::SimulationError;

pyo3::create_exception!(_core, SchemeError, SimulationError, "A user's class that failed.");

/// What stops a run, once something does.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    is_set: AtomicBool,
    /// Whether the run has users' code.
    is_expected: AtomicBool,
    why: Mutex<Option<PyErr>>,
}

impl Stop {
    /// Whether the run is to stop.
    pub(crate) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Relaxed)
    }

    /// Whether the run has users' code, which may stop it or take long.
    pub(crate) fn is_expected(&self) -> bool {
        self.is_expected.load(Ordering::Relaxed)
    }

    /// Says that the run has users' code.
    pub(super) fn expect(&self) {
        self.is_expected.store(true, Ordering::Relaxed);
    }

    /// The error to raise for the run, if users' code has stopped it.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Stops the run because of `call` of a hook of `class`. What is no error of the class, such as Ctrl-C,
    /// is raised as it is.
    pub(super) fn set(&self, py: Python<'_>, class: &Class, call: &Call<'_>, wrong: Wrong) {
        let Call { hook, place, now } = call;
        let name = &class.name;
        let error = match wrong {
            Wrong::Raised(error) if !error.is_instance_of::<PyException>(py) => error,
            Wrong::Raised(error) => {
                let why = why(py, class, &error);
                let message = format!("{name} failed in {hook} for {place} at {now}: {why}");
                let failure = SchemeError::new_err(message);
                failure.set_cause(py, Some(error));
                failure
            }
            Wrong::Returned(words) => SchemeError::new_err(format!(
                "{name} returned something wrong from {hook} for {place} at {now}: {words}"
            )),
        };
        self.why.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.is_set.store(true, Ordering::Relaxed);
    }
}

/// An error of the user's code in words, with the line of the code.
fn why(py: Python<'_>, class: &Class, error: &PyErr) -> String {
    let words = py.import("penstock.own_class").and_then(|module| {
        // The error that Python sees has its traceback, too.
        error.value(py).setattr("__traceback__", error.traceback(py))?;
        let arguments = (error.value(py), class.class.bind(py));
        module.getattr("where_raised")?.call1(arguments)?.extract::<String>()
    });
    words.unwrap_or_else(|_| error.to_string())
}
