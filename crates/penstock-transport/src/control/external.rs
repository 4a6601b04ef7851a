//! A controller whose code lies outside of this crate: the program that runs the scenario supplies it.
//!
//! The scenario names a class. The program finds the class and fills in
//! [`ExternalConfig::supplied`] before it checks the scenario; Penstock's own program looks for a class in
//! Python. The class makes a controller for each flow, and the controller hears what happens to its
//! flow, one [`Event`] after the other. It answers with the flow's [`Pace`].
//!
//! Such a controller has a half at the source only. Its state cannot be saved, so a run with it has no
//! checkpoints.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt::Debug;

use borsh::io::{Error, ErrorKind, Read, Result, Write};
use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::{BitRate, Problems, Supplied, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hooks::{AtSource, Parameters};
use crate::flow::{FlowFacts, FlowView, LossSignal};
use crate::path::Acknowledgement;

/// Which class controls the flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExternalConfig {
    /// The class, as module:Class or ./file.py:Class.
    #[schemars(extend("is_long" = true))]
    pub class: String,
    /// SHA-256 of the file of the class, which is filled in when the scenario is read.
    #[schemars(extend("default" = null, "source" = "our choice: that of the file as it is"))]
    pub sha256: Option<String>,
    /// The class itself, from the program.
    #[serde(skip)]
    pub supplied: Supplied<dyn ControllerClass>,
}

/// What a class of controllers reacts to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Senses {
    /// Congestion marks of data packets.
    pub marks: bool,
    /// Telemetry of each hop.
    pub telemetry: bool,
    /// Feedback of switches.
    pub feedback: bool,
    /// Echoed timestamps, from which round-trip times follow.
    pub timestamp: bool,
    /// Losses that recovery reports before a timeout.
    pub losses: bool,
}

/// A class of controllers, as a program supplies it.
pub trait ControllerClass: Debug + Send + Sync {
    /// What its controllers react to.
    fn senses(&self) -> Senses;

    /// The controller of a flow that starts, and the flow's first pace.
    fn open(&self, flow: &FlowFacts<'_>) -> (Box<dyn ExternalController>, Pace);
}

/// The controller of one flow, as a program supplies it.
pub trait ExternalController: Debug + Send {
    /// Something happened to the flow at `now`. Answers how the flow goes on.
    fn hear(&mut self, now: Time, event: Event<'_>) -> Pace;
}

/// How a flow sends from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// How many bytes may be in flight (bytes), >= 1; `u64::MAX` means no limit.
    pub window: u64,
    /// The rate at which packets are paced, >= 1 bit/s; `None` means the line rate.
    pub rate: Option<BitRate>,
    /// When the flow's timer is due, later than the event that is answered, or as it was set before;
    /// [`Time::NEVER`] when none runs.
    pub deadline: Time,
}

/// What happens to a flow.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// An acknowledgement arrived; the view is the flow's state after it.
    Acknowledged(&'a Acknowledgement<'a>, &'a FlowView),
    /// Recovery reports a loss, or the end of a recovery.
    Loss(LossSignal),
    /// The feedback of a switch arrived, 1 to 63.
    Feedback(u8),
    /// A packet of so many bytes leaves, header included.
    Sent(u32),
    /// The timer is due.
    Timer,
    /// A switch reported that it dropped a packet.
    SwitchDrop,
    /// A timed pause of the host leaves this share of the time, 0 to 1.
    Paused(f64),
}

impl ExternalConfig {
    fn senses(&self) -> Senses {
        self.supplied.get().map_or_else(Senses::default, |class| class.senses())
    }
}

impl Parameters for ExternalConfig {
    fn check(&self, problems: &mut Problems) {
        let remedy = "this program has no such class; simulate it with `penstock run`, or use a \
                      controller of `penstock list schemes`";
        problems.unless(self.supplied.get().is_some(), "class", &self.class, remedy);
    }

    fn uses_telemetry(&self) -> bool {
        self.senses().telemetry
    }

    fn uses_marks(&self) -> bool {
        self.senses().marks
    }

    fn uses_feedback(&self) -> bool {
        self.senses().feedback
    }

    fn uses_timestamp(&self) -> bool {
        self.senses().timestamp
    }

    fn needs_losses(&self) -> bool {
        self.senses().losses
    }
}

/// The controller of one flow.
#[derive(Debug)]
pub struct External(Box<Inside>);

/// What is kept of a controller, in a box so that flows of other controllers stay small.
#[derive(Debug)]
struct Inside {
    controller: Box<dyn ExternalController>,
    pace: Pace,
}

impl External {
    /// The controller of `flow`.
    ///
    /// # Panics
    /// When nobody has supplied the class; `Parameters::check` refuses such a scenario.
    pub fn new(config: &ExternalConfig, flow: &FlowFacts<'_>) -> Self {
        let class = config.supplied.get().expect("a scenario without its class is refused");
        let (controller, pace) = class.open(flow);
        External(Box::new(Inside { controller, pace }))
    }

    fn hear(&mut self, now: Time, event: Event<'_>) {
        let inside = &mut *self.0;
        inside.pace = inside.controller.hear(now, event);
    }
}

impl AtSource for External {
    fn window(&self) -> u64 {
        self.0.pace.window
    }

    fn rate(&self) -> Option<BitRate> {
        self.0.pace.rate
    }

    fn deadline(&self) -> Time {
        self.0.pace.deadline
    }

    fn on_acknowledgement(&mut self, now: Time, ack: &Acknowledgement, view: &FlowView) {
        self.hear(now, Event::Acknowledged(ack, view));
    }

    fn on_feedback(&mut self, now: Time, feedback: u8) {
        self.hear(now, Event::Feedback(feedback));
    }

    fn on_send(&mut self, now: Time, wire_bytes: u32) {
        self.hear(now, Event::Sent(wire_bytes));
    }

    fn on_deadline(&mut self, now: Time) {
        if now >= self.0.pace.deadline {
            self.hear(now, Event::Timer);
        }
    }

    fn on_switch_drop(&mut self, now: Time) {
        self.hear(now, Event::SwitchDrop);
    }

    fn on_timed_pause(&mut self, now: Time, kept: f64) {
        self.hear(now, Event::Paused(kept));
    }

    fn on_loss(&mut self, now: Time, signal: LossSignal) {
        self.hear(now, Event::Loss(signal));
    }
}

/// The state lies in the program that supplies the class.
fn unsaved() -> Error {
    Error::new(ErrorKind::InvalidData, "the state of a class in Python cannot be saved")
}

impl BorshSerialize for External {
    fn serialize<W: Write>(&self, _: &mut W) -> Result<()> {
        Err(unsaved())
    }
}

impl BorshDeserialize for External {
    fn deserialize_reader<R: Read>(_: &mut R) -> Result<Self> {
        Err(unsaved())
    }
}

#[cfg(test)]
#[path = "external_tests.rs"]
mod tests;
