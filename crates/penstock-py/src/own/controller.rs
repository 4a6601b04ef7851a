//! A class of congestion controllers in Python: an object for each flow, at the flow's source.

use std::sync::Arc;

use penstock_sim::external::{
    self, ControllerClass, Event, ExternalController, FlowFacts, HopTelemetry, LossSignal, Pace,
    Senses,
};
use penstock_units::{BitRate, Time};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use pyo3::{IntoPyObjectExt, intern};

use super::{Call, Class, Wrong, amount, shown};

/// What a controller knows of its flow when the flow starts.
#[pyclass(frozen, get_all, module = "penstock._core")]
pub(crate) struct Flow {
    /// Number of the flow in the run.
    number: u64,
    /// When the flow starts (ps).
    start: u64,
    /// Bytes of the flow; none for an endless one.
    size: Option<u64>,
    /// Round-trip time of the unloaded path (ps).
    base_rtt: u64,
    /// Rate of the sender's NIC (bit/s).
    line_rate: u64,
    /// Bandwidth-delay product (bytes).
    bdp: u64,
    /// Payload of a full data packet (bytes).
    payload: u32,
    /// Switches on the path.
    hops: u32,
}

/// An acknowledgement, and the state of the flow after it.
#[pyclass(frozen, get_all, module = "penstock._core")]
pub(crate) struct Acknowledgement {
    /// Whether the data packet was marked.
    is_marked: bool,
    /// Whether the receiver saw a gap.
    is_negative: bool,
    /// Bytes that the receiver is known to have.
    acknowledged: u64,
    /// Bytes that this acknowledgement was the first to report.
    newly_acknowledged: u64,
    /// What `acknowledged` becomes once all that is in flight is acknowledged.
    next: u64,
    /// When the data packet left its source (ps).
    sent_at: u64,
    /// Names the path of the data packet.
    path: u16,
    /// A row for each hop of the data packet, in the order of the path.
    telemetry: Py<PyTuple>,
}

/// What one hop reports about its port.
#[pyclass(frozen, get_all, module = "penstock._core")]
pub(crate) struct Hop {
    /// When the packet left (ps).
    time: u64,
    /// Bytes that the port had sent before.
    sent_bytes: u64,
    /// Data bytes left in the port's queues.
    queue_bytes: u64,
    /// Rate of the port (bit/s).
    rate: u64,
}

/// A loss that recovery reports, or the end of a recovery.
#[pyclass(frozen, get_all, module = "penstock._core")]
pub(crate) struct Loss {
    /// "fast-retransmit", "recovery-exit" or "timeout".
    kind: &'static str,
    /// Bytes sent and not acknowledged.
    in_flight: u64,
    /// Whether nothing was acknowledged since the last timeout.
    is_repeated: bool,
}

/// The hooks that a class has.
#[derive(Clone, Copy, Debug)]
struct Hooks {
    acknowledgement: bool,
    loss: bool,
    feedback: bool,
    sent: bool,
    timer: bool,
    switch_drop: bool,
    pause: bool,
}

/// A class of controllers.
#[derive(Debug)]
pub(super) struct Controllers {
    class: Arc<Class>,
    hooks: Hooks,
    senses: Senses,
}

impl Controllers {
    /// The controllers of `class`.
    ///
    /// # Errors
    /// Those of Python.
    pub(super) fn new(class: Class) -> PyResult<Self> {
        let (hooks, senses) = Python::attach(|py| {
            let has = |hook| class.has(py, hook);
            let hooks = Hooks {
                acknowledgement: has("on_acknowledgement")?,
                loss: has("on_loss")?,
                feedback: has("on_feedback")?,
                sent: has("on_sent")?,
                timer: has("on_timer")?,
                switch_drop: has("on_switch_drop")?,
                pause: has("on_pause")?,
            };
            let needs = class.class.bind(py).getattr("needs")?;
            let needs = |what: &str| needs.contains(what);
            let senses = Senses {
                marks: needs("marks")?,
                telemetry: needs("telemetry")?,
                feedback: needs("feedback")?,
                timestamp: needs("timestamp")?,
                losses: needs("losses")?,
            };
            PyResult::Ok((hooks, senses))
        })?;
        Ok(Controllers { class: Arc::new(class), hooks, senses })
    }
}

impl ControllerClass for Controllers {
    fn senses(&self) -> Senses {
        self.senses
    }

    fn open(&self, flow: &FlowFacts<'_>) -> (Box<dyn ExternalController>, Pace) {
        let place = format!("flow {}", flow.number);
        let line = flow.path.line_rate.as_bps();
        let pace = Pace { window: flow.path.bdp.get(), rate: None, deadline: Time::NEVER };
        let class = Arc::clone(&self.class);
        let mut controller =
            Controller { class, hooks: self.hooks, object: None, place, line, pace };
        controller.start(flow);
        let pace = controller.pace;
        (Box::new(controller), pace)
    }
}

/// The controller of one flow.
#[derive(Debug)]
struct Controller {
    class: Arc<Class>,
    hooks: Hooks,
    /// None when the class failed to make it; then the run stops.
    object: Option<Py<PyAny>>,
    place: String,
    /// The line rate (bit/s).
    line: u64,
    pace: Pace,
}

impl Controller {
    /// Makes the object, and asks for the first pace.
    fn start(&mut self, flow: &FlowFacts<'_>) {
        let path = flow.path;
        let facts = Flow {
            number: flow.number,
            start: flow.start.as_ps(),
            size: (flow.size < u64::MAX).then_some(flow.size),
            base_rtt: path.base_rtt.as_ps(),
            line_rate: self.line,
            bdp: path.bdp.get(),
            payload: path.payload,
            hops: path.hops,
        };
        let call = Call { hook: "__init__", place: &self.place, now: flow.start };
        self.object = self.class.attempt(&call, |py| self.class.object(py, facts));
        self.ask("on_start", flow.start, |py, object| object.call_method0(intern!(py, "on_start")));
    }

    /// Calls `hook` by `call`, and takes what it returns for the flow's pace.
    fn ask(
        &mut self,
        hook: &'static str,
        now: Time,
        call: impl for<'py> FnOnce(Python<'py>, &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
    ) {
        let Some(object) = &self.object else { return };
        let place = Call { hook, place: &self.place, now };
        let found = self.class.attempt(&place, |py| {
            let object = object.bind(py);
            let answer = call(py, object)?;
            let (window, rate) = self.pace_of(&answer)?;
            let deadline = self.timer(object, now)?;
            Ok(Pace { window, rate, deadline })
        });
        // After a failure no timer runs, so that the run comes to its end.
        self.pace = found.unwrap_or(Pace { deadline: Time::NEVER, ..self.pace });
    }

    /// The window and the rate that a hook has returned; the old ones for `None`.
    fn pace_of(&self, answer: &Bound<'_, PyAny>) -> Result<(u64, Option<BitRate>), Wrong> {
        if answer.is_none() {
            return Ok((self.pace.window, self.pace.rate));
        }
        let Ok((window, rate)) = answer.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() else {
            return Err(Wrong::Returned(format!("{}; {REMEDY}", shown(answer))));
        };
        let remedy = |wrong| match wrong {
            Wrong::Returned(words) => Wrong::Returned(format!("{words}; {REMEDY}")),
            raised => raised,
        };
        let window =
            if window.is_none() { u64::MAX } else { amount(&window, "window").map_err(remedy)? };
        let rate =
            if rate.is_none() { self.line } else { amount(&rate, "rate").map_err(remedy)? };
        Ok((window, (rate < self.line).then_some(BitRate::from_bps(rate))))
    }

    /// When the timer of `object` is due: later than `now`, or still at a time for which it was set before.
    fn timer(&self, object: &Bound<'_, PyAny>, now: Time) -> Result<Time, Wrong> {
        let timer = object.getattr(intern!(object.py(), "timer"))?;
        if timer.is_none() {
            return Ok(Time::NEVER);
        }
        let remedy = match timer.extract::<u64>().map(Time::from_ps) {
            Ok(_) if !self.hooks.timer => "write on_timer(self, now), or set it to None".into(),
            Ok(time) if time > now || time == self.pace.deadline => return Ok(time),
            _ => format!(
                "set it to a whole number of ps later than now, {}, or to None",
                now.as_ps()
            ),
        };
        Err(Wrong::Returned(format!("self.timer is {}; {remedy}", shown(&timer))))
    }
}

/// What a hook of a controller should return.
const REMEDY: &str = "return (window [B], rate [bit/s]), each a number of 1 or more, or None for no limit; \
                      or return None to change nothing";

impl ExternalController for Controller {
    fn hear(&mut self, now: Time, event: Event<'_>) -> Pace {
        let (hooks, at) = (self.hooks, now.as_ps());
        match event {
            Event::Acknowledged(ack, view) if hooks.acknowledgement => {
                self.ask("on_acknowledgement", now, |py, object| {
                    let ack = acknowledgement(py, ack, view)?;
                    object.call_method1(intern!(py, "on_acknowledgement"), (at, ack))
                });
            }
            Event::Loss(signal) if hooks.loss => self.ask("on_loss", now, |py, object| {
                object.call_method1(intern!(py, "on_loss"), (at, loss(signal)))
            }),
            Event::Feedback(feedback) if hooks.feedback => {
                self.ask("on_feedback", now, |py, object| {
                    object.call_method1(intern!(py, "on_feedback"), (at, feedback))
                });
            }
            Event::Sent(bytes) if hooks.sent => self.ask("on_sent", now, |py, object| {
                object.call_method1(intern!(py, "on_sent"), (at, bytes))
            }),
            Event::Timer => {
                // A timer that has rung is off until a hook sets it again.
                self.pace.deadline = Time::NEVER;
                self.ask("on_timer", now, |py, object| {
                    object.setattr(intern!(py, "timer"), py.None())?;
                    object.call_method1(intern!(py, "on_timer"), (at,))
                });
            }
            Event::SwitchDrop if hooks.switch_drop => {
                self.ask("on_switch_drop", now, |py, object| {
                    object.call_method1(intern!(py, "on_switch_drop"), (at,))
                });
            }
            Event::Paused(kept) if hooks.pause => self.ask("on_pause", now, |py, object| {
                object.call_method1(intern!(py, "on_pause"), (at, kept))
            }),
            _ => {}
        }
        self.pace
    }
}

fn acknowledgement(
    py: Python<'_>,
    ack: &external::Acknowledgement<'_>,
    view: &external::FlowView,
) -> PyResult<Acknowledgement> {
    let hop = |hop: &HopTelemetry| Hop {
        time: hop.time.as_ps(),
        sent_bytes: hop.sent_bytes,
        queue_bytes: hop.queue_bytes,
        rate: hop.rate.as_bps(),
    };
    let telemetry = match ack.telemetry {
        [] => PyTuple::empty(py),
        hops => {
            let rows = hops.iter().map(|one| hop(one).into_bound_py_any(py));
            PyTuple::new(py, rows.collect::<PyResult<Vec<_>>>()?)?
        }
    };
    Ok(Acknowledgement {
        is_marked: ack.is_marked,
        is_negative: ack.is_negative,
        acknowledged: view.acknowledged,
        newly_acknowledged: view.newly_acknowledged,
        next: view.next,
        sent_at: ack.sent_at.as_ps(),
        path: ack.path,
        telemetry: telemetry.unbind(),
    })
}

fn loss(signal: LossSignal) -> Loss {
    match signal {
        LossSignal::FastRetransmit { in_flight } => {
            Loss { kind: "fast-retransmit", in_flight, is_repeated: false }
        }
        LossSignal::RecoveryExit { in_flight } => {
            Loss { kind: "recovery-exit", in_flight, is_repeated: false }
        }
        LossSignal::Timeout { in_flight, is_repeated } => {
            Loss { kind: "timeout", in_flight, is_repeated }
        }
    }
}
