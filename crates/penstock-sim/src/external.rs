//! Policies whose code the program supplies, not this workspace: a scenario names their classes.
//!
//! The program has a [`Library`], in which it finds the classes by their names. [`Scenario::supply`] fills
//! them in before the scenario is checked. The traits that a class implements are those of the axes; they
//! are named here again, so that a program needs no other crate. Invariant: a run with such a policy has
//! one thread, because the program's code may share state.

use std::sync::Arc;

pub use penstock_fabric::marking::MarkingPoint;
pub use penstock_fabric::marking::external::{ExternalMarking, MarkingClass, Seen, Verdict};
pub use penstock_fabric::scheduling::external::{
    ActiveQueue, Egress, ExternalScheduling, SchedulingClass,
};
pub use penstock_packet::SwitchFacts;
pub use penstock_transport::control::external::{
    ControllerClass, Event, ExternalController, Pace, Senses,
};
pub use penstock_transport::{Acknowledgement, FlowFacts, FlowView, HopTelemetry, LossSignal};

use penstock_fabric::{MarkingConfig, SchedulingConfig};
use penstock_transport::ControllerConfig;
use penstock_units::Supplied;

use crate::scenario::Scenario;

/// Where a program finds classes by the names that scenarios give them.
pub trait Library {
    /// Why a class cannot be used.
    type Error;

    /// The class of controllers that is called `class`, from a file with this SHA-256 if one is given.
    ///
    /// # Errors
    /// When there is no such class.
    fn controller(
        &self,
        class: &str,
        sha256: Option<&str>,
    ) -> Result<Arc<dyn ControllerClass>, Self::Error>;

    /// As [`Library::controller`], for marking.
    ///
    /// # Errors
    /// When there is no such class.
    fn marking(
        &self,
        class: &str,
        sha256: Option<&str>,
    ) -> Result<Arc<dyn MarkingClass>, Self::Error>;

    /// As [`Library::controller`], for scheduling.
    ///
    /// # Errors
    /// When there is no such class.
    fn scheduling(
        &self,
        class: &str,
        sha256: Option<&str>,
    ) -> Result<Arc<dyn SchedulingClass>, Self::Error>;
}

impl Scenario {
    /// Whether a policy of the scheme is a class that a program supplies.
    pub fn is_external(&self) -> bool {
        let scheme = &self.scheme;
        scheme.host.controllers().any(|one| matches!(one, ControllerConfig::Python(_)))
            || matches!(scheme.switch.marking, MarkingConfig::Python(_))
            || matches!(scheme.switch.scheduling, SchedulingConfig::Python(_))
    }

    /// Fills in every class that the scheme names, from `library`.
    ///
    /// # Errors
    /// Those of the library.
    pub fn supply<L: Library>(&mut self, library: &L) -> Result<(), L::Error> {
        let (switch, host) = (&mut self.scheme.switch, &mut self.scheme.host);
        let others = host.other_controllers.iter_mut().map(|other| &mut other.controller);
        for controller in std::iter::once(&mut host.controller).chain(others) {
            if let ControllerConfig::Python(named) = controller {
                let class = library.controller(&named.class, named.sha256.as_deref())?;
                named.supplied = Supplied::with(class);
            }
        }
        if let MarkingConfig::Python(named) = &mut switch.marking {
            let class = library.marking(&named.class, named.sha256.as_deref())?;
            named.supplied = Supplied::with(class);
        }
        if let SchedulingConfig::Python(named) = &mut switch.scheduling {
            let class = library.scheduling(&named.class, named.sha256.as_deref())?;
            named.supplied = Supplied::with(class);
        }
        Ok(())
    }
}
