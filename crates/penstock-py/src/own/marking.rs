//! A class of markers in Python: an object for each port of a switch.

use std::sync::Arc;

use penstock_sim::external::{
    ExternalMarking, MarkingClass, MarkingPoint, Seen, SwitchFacts, Verdict,
};
use penstock_units::Time;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBool;

use super::{Call, Class, Port, Wrong, shown};

/// A data packet that joins a queue or leaves one.
#[pyclass(frozen, get_all, module = "penstock._core")]
pub(crate) struct Packet {
    /// Size of the packet on the wire (bytes).
    bytes: u16,
    /// The packet's queue at its port.
    queue: u16,
    /// Bytes in the queue, with the packet when it joins and without it when it leaves.
    queue_bytes: u64,
    /// Bytes in all data queues of the port, counted in the same way.
    port_bytes: u64,
    /// Priority class of the packet.
    priority: u8,
    /// The flow identifier that switches see.
    flow: u32,
}

/// A class of markers.
#[derive(Debug)]
pub(super) struct Markers {
    class: Arc<Class>,
    hears_enqueue: bool,
    hears_dequeue: bool,
}

impl Markers {
    /// The markers of `class`.
    ///
    /// # Errors
    /// Those of Python.
    pub(super) fn new(class: Class) -> PyResult<Self> {
        let (hears_enqueue, hears_dequeue) = Python::attach(|py| {
            PyResult::Ok((class.has(py, "on_enqueue")?, class.has(py, "on_dequeue")?))
        })?;
        Ok(Markers { class: Arc::new(class), hears_enqueue, hears_dequeue })
    }
}

impl MarkingClass for Markers {
    fn open(&self, switch: &SwitchFacts) -> Box<dyn ExternalMarking> {
        let rates = switch.ports.iter().map(|port| port.rate.as_bps());
        let open = |(number, rate): (u16, u64)| {
            let port = Port { switch: switch.node, number, rate, packet: switch.frames.packet };
            let place = format!("port {number} of switch {}", switch.node);
            let call = Call { hook: "__init__", place: &place, now: Time::ZERO };
            let object = self.class.attempt(&call, |py| self.class.object(py, port));
            (place, object)
        };
        let ports = (0..).zip(rates).map(open).collect();
        let class = Arc::clone(&self.class);
        let (hears_enqueue, hears_dequeue) = (self.hears_enqueue, self.hears_dequeue);
        Box::new(Marker { class, hears_enqueue, hears_dequeue, ports })
    }
}

/// The markers of one switch.
#[derive(Debug)]
struct Marker {
    class: Arc<Class>,
    hears_enqueue: bool,
    hears_dequeue: bool,
    /// By port: its name, and its object unless the class failed to make it.
    ports: Vec<(String, Option<Py<PyAny>>)>,
}

impl ExternalMarking for Marker {
    fn mark(&mut self, seen: &Seen) -> Verdict {
        let (hook, is_heard) = match seen.point {
            MarkingPoint::Enqueue => ("on_enqueue", self.hears_enqueue),
            MarkingPoint::Dequeue => ("on_dequeue", self.hears_dequeue),
        };
        let (place, Some(object)) = &self.ports[usize::from(seen.egress)] else {
            return Verdict::Marked(false);
        };
        if !is_heard {
            return Verdict::Marked(false);
        }
        let call = Call { hook, place, now: seen.now };
        let verdict = self.class.attempt(&call, |py| {
            let packet = Packet {
                bytes: seen.packet_bytes,
                queue: seen.queue,
                queue_bytes: seen.queue_bytes,
                port_bytes: seen.port_bytes,
                priority: seen.class,
                flow: seen.flow,
            };
            let name = match seen.point {
                MarkingPoint::Enqueue => intern!(py, "on_enqueue"),
                MarkingPoint::Dequeue => intern!(py, "on_dequeue"),
            };
            verdict(&object.bind(py).call_method1(name, (seen.now.as_ps(), packet))?)
        });
        verdict.unwrap_or(Verdict::Marked(false))
    }
}

/// What a hook has returned.
fn verdict(answer: &Bound<'_, PyAny>) -> Result<Verdict, Wrong> {
    if let Ok(is_marked) = answer.cast::<PyBool>() {
        return Ok(Verdict::Marked(is_marked.is_true()));
    }
    if answer.is_none() {
        return Ok(Verdict::Marked(false));
    }
    match answer.extract::<f64>() {
        Ok(probability) if (0.0..=1.0).contains(&probability) => Ok(Verdict::Perhaps(probability)),
        _ => Err(Wrong::Returned(format!(
            "{}; return True, False, or the probability of a mark, 0 to 1",
            shown(answer)
        ))),
    }
}
