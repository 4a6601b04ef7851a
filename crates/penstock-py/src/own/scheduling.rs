//! A class of schedulers in Python: an object for each port of a switch.

use std::sync::Arc;

use penstock_sim::external::{ActiveQueue, Egress, ExternalScheduling, SchedulingClass};
use penstock_units::Time;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::{Call, Class, Port, Wrong, shown};

/// A queue that has packets and may send.
#[pyclass(frozen, get_all, module = "penstock._core")]
pub(crate) struct Queue {
    /// Number of the queue, from 1.
    number: u32,
    /// Priority class that the queue serves.
    priority: u8,
    /// Bytes that wait.
    bytes: u64,
    /// Size of the first packet on the wire (bytes).
    head_bytes: u16,
    /// The flow identifier of the first packet, as switches see it.
    head_flow: u32,
}

/// The hooks that a class has beside `select`.
#[derive(Clone, Copy, Debug)]
struct Hooks {
    active: bool,
    idle: bool,
    sent: bool,
}

/// A class of schedulers.
#[derive(Debug)]
pub(super) struct Schedulers {
    class: Arc<Class>,
    hooks: Hooks,
}

impl Schedulers {
    /// The schedulers of `class`.
    ///
    /// # Errors
    /// Those of Python.
    pub(super) fn new(class: Class) -> PyResult<Self> {
        let hooks = Python::attach(|py| {
            let has = |hook| class.has(py, hook);
            PyResult::Ok(Hooks {
                active: has("on_active")?,
                idle: has("on_idle")?,
                sent: has("on_sent")?,
            })
        })?;
        Ok(Schedulers { class: Arc::new(class), hooks })
    }
}

impl SchedulingClass for Schedulers {
    fn open(&self, egress: &Egress) -> Box<dyn ExternalScheduling> {
        let &Egress { node, port: number, rate, packet } = egress;
        let port = Port { switch: node, number, rate: rate.as_bps(), packet };
        let place = format!("port {number} of switch {node}");
        let call = Call { hook: "__init__", place: &place, now: Time::ZERO };
        let object = self.class.attempt(&call, |py| self.class.object(py, port));
        let class = Arc::clone(&self.class);
        Box::new(Scheduler { class, hooks: self.hooks, object, place, now: Time::ZERO })
    }
}

/// The scheduler of one port.
#[derive(Debug)]
struct Scheduler {
    class: Arc<Class>,
    hooks: Hooks,
    /// None when the class failed to make it; then the run stops.
    object: Option<Py<PyAny>>,
    place: String,
    /// When `select` was called last, for the messages of hooks without a time.
    now: Time,
}

impl Scheduler {
    /// Calls `hook` by `call`, which gets the object.
    fn ask<T>(
        &self,
        hook: &'static str,
        call: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> Result<T, Wrong>,
    ) -> Option<T> {
        let object = self.object.as_ref()?;
        let place = Call { hook, place: &self.place, now: self.now };
        self.class.attempt(&place, |py| call(py, object.bind(py)))
    }
}

impl ExternalScheduling for Scheduler {
    fn activate(&mut self, number: u32, class: u8) {
        if self.hooks.active {
            self.ask("on_active", |py, object| {
                Ok(object.call_method1(intern!(py, "on_active"), (number, class)).map(drop)?)
            });
        }
    }

    fn deactivate(&mut self, number: u32) {
        if self.hooks.idle {
            self.ask("on_idle", |py, object| {
                Ok(object.call_method1(intern!(py, "on_idle"), (number,)).map(drop)?)
            });
        }
    }

    fn select(&mut self, now: Time, queues: &[ActiveQueue]) -> u32 {
        self.now = now;
        let chosen = self.ask("select", |py, object| {
            let shown_to = |one: &ActiveQueue| {
                let &ActiveQueue { number, class: priority, bytes, head_bytes, head_flow } = one;
                Py::new(py, Queue { number, priority, bytes, head_bytes, head_flow })
            };
            let shown_queues = queues.iter().map(shown_to).collect::<PyResult<Vec<_>>>()?;
            let list = PyList::new(py, shown_queues)?;
            let answer = object.call_method1(intern!(py, "select"), (now.as_ps(), list))?;
            let number = answer.extract::<u32>().ok();
            number.filter(|&number| queues.iter().any(|one| one.number == number)).ok_or_else(
                || {
                    Wrong::Returned(format!(
                        "{}; return the number of one of the queues",
                        shown(&answer)
                    ))
                },
            )
        });
        chosen.unwrap_or(queues[0].number)
    }

    fn sent(&mut self, number: u32, bytes: u32) {
        if self.hooks.sent {
            self.ask("on_sent", |py, object| {
                Ok(object.call_method1(intern!(py, "on_sent"), (number, bytes)).map(drop)?)
            });
        }
    }
}
