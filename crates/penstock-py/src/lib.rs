//! The Python binding `penstock._core`: conversion only, no logic.
//!
//! Scenarios come in as JSON, long lists of flows in columns; tables go out as NumPy arrays that own their
//! memory. Long calls release the interpreter and report progress about ten times a second.

mod capture;
mod error;
mod given;
mod own;
mod reporter;
mod tables;

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use numpy::ndarray::ArrayView1;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2};
use penstock_emulate::config::EmulationConfig;
use penstock_emulate::error::EmulationError as Refused;
use penstock_emulate::glance::Glance;
use penstock_packet::PacketKind;
use penstock_sim::CheckpointError as Unusable;
use penstock_sim::bare::BareLoop;
use penstock_sim::pause_time::{IngressPort, allocate};
use penstock_sim::{CorePaths, FlowStart, RunError, RunOptions, Scenario};
use penstock_units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use error::{
    CheckpointError, EmulationError, ScenarioError, SimulationError, StorageError, refusal,
};
use given::Given;
use own::{Acknowledgement, Classes, Flow, Hop, Loss, Packet, Port, Queue, SchemeError, Stop};
use reporter::{REPORT_INTERVAL, Reporter};
use tables::{hand_over, tables};

/// A scenario with the classes in Python that it names; what may stop its run.
fn with_classes(given: Given<'_>) -> PyResult<(Scenario, Arc<Stop>)> {
    let (mut scenario, classes) = (given.parse()?, Classes::new());
    scenario.supply(&classes)?;
    Ok((scenario, classes.stop))
}

/// Parses a scenario and writes it back, so that Python and Rust can be compared field by field.
#[pyfunction]
fn normalize(scenario: Given<'_>) -> PyResult<String> {
    Ok(scenario.parse()?.to_json())
}

/// Checks a scenario as `run` does, without running it.
#[pyfunction]
fn validate(scenario: Given<'_>) -> PyResult<()> {
    let (scenario, _) = with_classes(scenario)?;
    penstock_sim::validate(&scenario).map_err(|error| refusal(&error))
}

/// The JSON schema of a scenario for `run`; see `_core.pyi`.
#[pyfunction]
fn schema() -> String {
    Scenario::schema()
}

/// The expected work of a run, as JSON; see `_core.pyi`.
#[pyfunction]
fn forecast(scenario: Given<'_>) -> PyResult<String> {
    let (scenario, _) = with_classes(scenario)?;
    let found = penstock_sim::forecast(&scenario).map_err(|error| refusal(&error))?;
    serde_json::to_string(&found).map_err(|error| SimulationError::new_err(error.to_string()))
}

/// The flows that depend on others, and who waits for whom; see `_core.pyi`.
#[pyfunction]
fn planned<'py>(py: Python<'py>, scenario: Given<'_>, most: u64) -> PyResult<Bound<'py, PyDict>> {
    let found = penstock_sim::planned(&scenario.parse()?, most).map_err(|error| refusal(&error))?;
    tables(py, found.into())
}

/// The buffer dependencies of a scenario's network and routes, as JSON; see `_core.pyi`.
#[pyfunction]
#[pyo3(signature = (scenario, *, any_route = false, listed = true))]
fn dependencies(scenario: Given<'_>, any_route: bool, listed: bool) -> PyResult<String> {
    let (scenario, _) = with_classes(scenario)?;
    let found = penstock_sim::dependencies(&scenario, any_route, listed);
    let found = found.map_err(|error| refusal(&error))?;
    serde_json::to_string(&found).map_err(|error| SimulationError::new_err(error.to_string()))
}

/// The two nodes of each directed link; see `_core.pyi`.
#[pyfunction]
fn link_ends(scenario: Given<'_>) -> PyResult<Vec<(u32, u32)>> {
    penstock_sim::link_ends(&scenario.parse()?).map_err(|error| refusal(&error))
}

/// The room behind the pauses of each link into a switch, as JSON; see `_core.pyi`.
#[pyfunction]
fn pause_room(scenario: Given<'_>) -> PyResult<String> {
    let (scenario, _) = with_classes(scenario)?;
    let found = penstock_sim::pause_room(&scenario).map_err(|error| refusal(&error))?;
    serde_json::to_string(&found).map_err(|error| SimulationError::new_err(error.to_string()))
}

/// The longest data packet on the wire (bytes); see `_core.pyi`.
#[pyfunction]
fn full_packet(scenario: Given<'_>) -> PyResult<u64> {
    let (scenario, _) = with_classes(scenario)?;
    Ok(scenario.full_packet().get())
}

/// The paths of flows between switches; see `_core.pyi` for the arguments and the result.
#[pyfunction]
fn core_paths<'py>(
    py: Python<'py>,
    scenario: Given<'_>,
    flows: PyReadonlyArray2<'py, u64>,
) -> PyResult<Option<[Bound<'py, PyArray1<u32>>; 3]>> {
    let scenario = scenario.parse()?;
    let node = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let rows = flows.as_array();
    let start = |row: ArrayView1<'_, u64>| FlowStart {
        number: row[0],
        source: node(row[1]),
        destination: node(row[2]),
        start: Time::from_ps(row[3]),
    };
    if rows.ncols() != 4 {
        return Err(PyValueError::new_err("flows: a row has 4 columns"));
    }
    let flows: Vec<FlowStart> = rows.rows().into_iter().map(start).collect();
    let found = py.detach(|| penstock_sim::core_paths(&scenario, &flows));
    let found = found.map_err(|error| refusal(&error))?;
    Ok(found.map(|CorePaths { of_flow, starts, links }| {
        [of_flow, starts, links].map(|column| column.into_pyarray(py))
    }))
}

/// Runs a scenario; see `_core.pyi` for the arguments and the result.
#[pyfunction]
#[pyo3(signature = (
    scenario, *, on_progress = None, on_saved = None, restore = None, on_rows = None,
    most_rows = 0, check = false, threads = 1
))]
#[allow(clippy::too_many_arguments, reason = "they are the named arguments of a Python function")]
fn run(
    py: Python<'_>,
    scenario: Given<'_>,
    on_progress: Option<Py<PyAny>>,
    on_saved: Option<Py<PyAny>>,
    restore: Option<PathBuf>,
    on_rows: Option<Py<PyAny>>,
    most_rows: usize,
    check: bool,
    threads: usize,
) -> PyResult<Py<PyDict>> {
    let (scenario, stop) = with_classes(scenario)?;
    let most_rows = if on_rows.is_some() { most_rows } else { usize::MAX };
    let options = RunOptions { check, threads, most_rows };
    let unreadable = |error: io::Error| CheckpointError::new_err(error.to_string());
    let mut file = restore.map(File::open).transpose().map_err(unreadable)?;
    let from = file.as_mut().map(|file| file as &mut (dyn Read + Send));
    let mut reporter = Reporter::new(on_progress, on_saved, on_rows, Arc::clone(&stop));
    let outcome = py.detach(|| penstock_sim::resume(&scenario, options, &mut reporter, from));
    if let Some(error) = stop.take().or_else(|| reporter.into_error()) {
        return Err(error);
    }
    match outcome {
        Ok(results) => hand_over(py, results),
        Err(RunError::Scenario(error)) => Err(refusal(&error)),
        Err(RunError::Checkpoint(error @ Unusable::Write(_))) => {
            Err(StorageError::new_err(error.to_string()))
        }
        Err(RunError::Checkpoint(error)) => Err(CheckpointError::new_err(error.to_string())),
        Err(error) => Err(SimulationError::new_err(error.to_string())),
    }
}

/// Emulates a scenario in real time; see `_core.pyi` for the arguments and the result.
#[pyfunction]
#[pyo3(signature = (scenario, config_json, *, on_progress = None))]
fn emulate(
    py: Python<'_>,
    scenario: Given<'_>,
    config_json: &str,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyDict>> {
    let scenario = scenario.parse()?;
    let config: EmulationConfig = serde_json::from_str(config_json)
        .map_err(|error| EmulationError::new_err(error.to_string()))?;
    let mut raised = None;
    let mut last = Instant::now();
    let mut goes_on = |now: Time, glance: Option<Glance>| {
        if glance.is_none() && last.elapsed() < REPORT_INTERVAL {
            return true;
        }
        last = Instant::now();
        let seen = glance.map(|glance| serde_json::to_string(&glance).expect("it is plain data"));
        let answer = Python::attach(|py| {
            py.check_signals()?;
            let Some(callback) = &on_progress else { return Ok(true) };
            callback.call1(py, (now.as_ps(), seen))?.extract::<bool>(py)
        });
        answer.unwrap_or_else(|error| {
            raised = Some(error);
            false
        })
    };
    let outcome = py.detach(|| penstock_emulate::run::emulate(&scenario, &config, &mut goes_on));
    if let Some(error) = raised {
        return Err(error);
    }
    match outcome {
        Ok(outcome) => {
            let beside = outcome.beside().to_string();
            let result = hand_over(py, outcome.results)?;
            result.bind(py).set_item("emulation", beside)?;
            Ok(result)
        }
        Err(Refused::Scenario(error)) => Err(refusal(&error)),
        Err(error) => Err(EmulationError::new_err(error.to_string())),
    }
}

/// Runs the bare event loop on a scenario's topology and traffic; returns (packet-hops, events,
/// seconds that the loop alone took).
#[pyfunction]
fn run_bare(py: Python<'_>, scenario: Given<'_>) -> PyResult<(u64, u64, f64)> {
    let scenario = scenario.parse()?;
    py.detach(|| {
        let mut bare = BareLoop::new(&scenario)?;
        let start = Instant::now();
        let (packet_hops, events) = bare.run();
        Ok((packet_hops, events, start.elapsed().as_secs_f64()))
    })
    .map_err(|error| refusal(&error))
}

/// How many threads this process may run at once.
#[pyfunction]
fn processors() -> usize {
    penstock_sim::processors()
}

/// The optimal pause times of FAFC, for comparison with a solver of linear programs. `ports` has
/// (relief, loss, longest) for each ingress port; see `penstock_sim::pause_time`.
#[pyfunction]
fn allocate_pauses(ports: Vec<(f64, f64, f64)>, need: f64) -> Vec<f64> {
    let port = |(relief, loss, longest)| IngressPort { relief, loss, longest };
    let ports: Vec<IngressPort> = ports.into_iter().map(port).collect();
    let (mut ranks, mut times) = (vec![0; ports.len()], vec![0.0; ports.len()]);
    allocate(&ports, need, &mut ranks, &mut times);
    times
}

/// The module `penstock._core`.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(normalize, module)?)?;
    module.add_function(wrap_pyfunction!(validate, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(forecast, module)?)?;
    module.add_function(wrap_pyfunction!(planned, module)?)?;
    module.add_function(wrap_pyfunction!(dependencies, module)?)?;
    module.add_function(wrap_pyfunction!(link_ends, module)?)?;
    module.add_function(wrap_pyfunction!(pause_room, module)?)?;
    module.add_function(wrap_pyfunction!(full_packet, module)?)?;
    module.add_function(wrap_pyfunction!(core_paths, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(emulate, module)?)?;
    module.add_function(wrap_pyfunction!(run_bare, module)?)?;
    module.add_function(wrap_pyfunction!(processors, module)?)?;
    module.add_function(wrap_pyfunction!(allocate_pauses, module)?)?;
    module.add_function(wrap_pyfunction!(capture::capture_head, module)?)?;
    module.add_function(wrap_pyfunction!(capture::capture_frames, module)?)?;
    module.add("PACKET_KINDS", PacketKind::NAMES)?;
    module.add_class::<Flow>()?;
    module.add_class::<Acknowledgement>()?;
    module.add_class::<Hop>()?;
    module.add_class::<Loss>()?;
    module.add_class::<Port>()?;
    module.add_class::<Packet>()?;
    module.add_class::<Queue>()?;
    module.add("SchemeError", module.py().get_type::<SchemeError>())?;
    module.add("PROFILE", env!("PENSTOCK_PROFILE"))?;
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add("SimulationError", module.py().get_type::<SimulationError>())?;
    module.add("EmulationError", module.py().get_type::<EmulationError>())?;
    module.add("CheckpointError", module.py().get_type::<CheckpointError>())?;
    module.add("StorageError", module.py().get_type::<StorageError>())
}
