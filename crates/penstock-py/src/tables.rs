//! Results as Python gets them: a summary in JSON, and tables of NumPy arrays.

use numpy::IntoPyArray;
use penstock_sim::Results;
use penstock_sim::measure::table::{Column, Table};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::error::SimulationError;

/// What a run leaves: `summary` and `tables`.
pub(crate) fn hand_over(py: Python<'_>, results: Results) -> PyResult<Py<PyDict>> {
    let summary = serde_json::to_string(&results.summary)
        .map_err(|error| SimulationError::new_err(error.to_string()))?;
    let result = PyDict::new(py);
    result.set_item("summary", PyString::new(py, &summary))?;
    result.set_item("tables", tables(py, results.tables)?)?;
    Ok(result.unbind())
}

/// The tables, by name.
pub(crate) fn tables(py: Python<'_>, tables: Vec<Table>) -> PyResult<Bound<'_, PyDict>> {
    let found = PyDict::new(py);
    for table in tables {
        found.set_item(table.name, columns(py, table)?)?;
    }
    Ok(found)
}

/// The columns of a table, by name; the arrays own their memory.
fn columns<'py>(py: Python<'py>, table: Table) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    for (name, column) in table.columns {
        let array = match column {
            Column::Bool(values) => values.into_pyarray(py).into_any(),
            Column::U32(values) => values.into_pyarray(py).into_any(),
            Column::I32(values) => values.into_pyarray(py).into_any(),
            Column::U64(values) => values.into_pyarray(py).into_any(),
            Column::I64(values) => values.into_pyarray(py).into_any(),
            Column::F64(values) => values.into_pyarray(py).into_any(),
        };
        columns.set_item(name, array)?;
    }
    Ok(columns)
}
