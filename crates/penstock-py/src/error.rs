//! The exceptions of `penstock._core`, and what a refusal is in Python.

use penstock_units::Problem;
use pyo3::exceptions::{PyException, PyOSError};
use pyo3::prelude::*;

pyo3::create_exception!(_core, ScenarioError, PyException, "A scenario that was refused.");
pyo3::create_exception!(_core, SimulationError, PyException, "A run that failed.");
pyo3::create_exception!(_core, CheckpointError, PyException, "A state that cannot be used.");
pyo3::create_exception!(_core, EmulationError, PyException, "An emulation that failed.");
pyo3::create_exception!(_core, StorageError, PyOSError, "A state that cannot be written.");

/// One row for each problem: (path of a field, its value, what would be right); see `_core.pyi`.
pub(crate) fn refusal(error: &penstock_sim::ScenarioError) -> PyErr {
    let row = |problem: &Problem| {
        let Problem { path, value, remedy } = problem.clone();
        (path, value, remedy)
    };
    ScenarioError::new_err((error.problems().iter().map(row).collect::<Vec<_>>(),))
}
