//! Users' classes in Python as policies of the simulator.
//!
//! [`Classes`] finds the classes that a scenario names. `controller`, `marking` and `scheduling` each make
//! a policy of a class: they call its objects and read what the objects return. A class that raises an
//! error, or returns nonsense, stops the run ([`Stop`]); until the run has stopped, no Python code is
//! called any more, and each policy goes on in a harmless way.
//!
//! What it is not: a judge of the class. [`penstock.own_class`] finds and checks it.

mod controller;
mod marking;
mod scheduling;
mod stop;

use std::sync::Arc;

use penstock_sim::external::{ControllerClass, Library, MarkingClass, SchedulingClass};
use penstock_units::Time;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyType};

pub(crate) use controller::{Acknowledgement, Flow, Hop, Loss};
pub(crate) use marking::Packet;
pub(crate) use scheduling::Queue;
pub(crate) use stop::{SchemeError, Stop};

/// What a class of a switch knows of a port.
#[pyclass(frozen, get_all, module = "penstock._core")]
pub(crate) struct Port {
    /// Node number of the switch.
    switch: u32,
    /// Number of the port at its switch.
    number: u16,
    /// Rate of the link (bit/s).
    rate: u64,
    /// The longest data packet on the wire (bytes).
    packet: u16,
}

/// The classes of one run, and what stops the run.
pub(crate) struct Classes {
    pub(crate) stop: Arc<Stop>,
}

impl Classes {
    /// No class has been looked up, and nothing stops the run.
    pub(crate) fn new() -> Self {
        Classes { stop: Arc::new(Stop::default()) }
    }

    /// The class `name` of the kind `kind`, which is the name of its base class.
    fn find(&self, kind: &str, name: &str, sha256: Option<&str>) -> PyResult<Class> {
        Python::attach(|py| {
            let found = py.import("penstock.own_class")?.getattr("find")?.call1((
                name,
                kind,
                sha256.unwrap_or_default(),
            ))?;
            let base = py.import("penstock.own_scheme")?.getattr(kind)?;
            let class = found.cast_into::<PyType>()?.unbind();
            let (base, stop) = (base.unbind(), Arc::clone(&self.stop));
            stop.expect();
            Ok(Class { name: name.to_owned(), class, base, stop })
        })
    }
}

impl Library for Classes {
    type Error = PyErr;

    fn controller(&self, class: &str, sha256: Option<&str>) -> PyResult<Arc<dyn ControllerClass>> {
        Ok(Arc::new(controller::Controllers::new(self.find("Controller", class, sha256)?)?))
    }

    fn marking(&self, class: &str, sha256: Option<&str>) -> PyResult<Arc<dyn MarkingClass>> {
        Ok(Arc::new(marking::Markers::new(self.find("Marking", class, sha256)?)?))
    }

    fn scheduling(&self, class: &str, sha256: Option<&str>) -> PyResult<Arc<dyn SchedulingClass>> {
        Ok(Arc::new(scheduling::Schedulers::new(self.find("Scheduler", class, sha256)?)?))
    }
}

/// A user's class.
#[derive(Debug)]
struct Class {
    /// How the scenario names it.
    name: String,
    class: Py<PyType>,
    /// The class of ours from which it derives.
    base: Py<PyAny>,
    stop: Arc<Stop>,
}

/// What is wrong with a call of a hook.
enum Wrong {
    /// The user's code raised this.
    Raised(PyErr),
    /// The hook returned something else than it should: in words, what is wrong and what would be right.
    Returned(String),
}

impl From<PyErr> for Wrong {
    fn from(error: PyErr) -> Self {
        Wrong::Raised(error)
    }
}

/// Where a hook is called.
struct Call<'a> {
    hook: &'static str,
    /// The flow or the port, in words.
    place: &'a str,
    now: Time,
}

impl Class {
    /// Whether the class has `hook` of its own.
    fn has(&self, py: Python<'_>, hook: &str) -> PyResult<bool> {
        let own = self.class.bind(py).getattr(hook)?;
        Ok(!own.is(self.base.bind(py).getattr(hook)?))
    }

    /// An object of the class for `place`, which is what `argument` makes for Python.
    fn object<'py, A: IntoPyObject<'py>>(
        &self,
        py: Python<'py>,
        argument: A,
    ) -> Result<Py<PyAny>, Wrong> {
        Ok(self.class.bind(py).call1((argument,))?.unbind())
    }

    /// Does `work`, which calls a hook; none when that went wrong, now or before.
    fn attempt<T>(
        &self,
        call: &Call<'_>,
        work: impl FnOnce(Python<'_>) -> Result<T, Wrong>,
    ) -> Option<T> {
        if self.stop.is_set() {
            return None;
        }
        Python::attach(|py| work(py).map_err(|wrong| self.stop.set(py, self, call, wrong)).ok())
    }
}

/// A number that is returned for a quantity called `what`: the whole part of one that is finite and 1 or
/// more.
fn amount(value: &Bound<'_, PyAny>, what: &str) -> Result<u64, Wrong> {
    if !value.is_instance_of::<PyBool>() {
        if let Ok(whole) = value.extract::<u64>()
            && whole >= 1
        {
            return Ok(whole);
        }
        if let Ok(number) = value.extract::<f64>() {
            if number >= 1.0 && number < u64::MAX as f64 {
                return Ok(number as u64);
            }
            return Err(Wrong::Returned(format!("the {what} is {}", shown(value))));
        }
    }
    Err(Wrong::Returned(format!("the {what} is {}, which is no number", shown(value))))
}

/// A value as a message shows it, at most 80 characters long.
fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| "an object".to_owned(), |text| text.to_string());
    if text.chars().count() <= 80 {
        text
    } else {
        text.chars().take(77).chain("...".chars()).collect()
    }
}
