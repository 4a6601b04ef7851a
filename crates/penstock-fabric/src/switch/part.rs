//! The parts of a switch, for whoever measures or checks it.

use super::Switch;
use crate::admission::Admission;
use crate::admission::accounts::Accounts;
use crate::assignment::Assignment;
use crate::backpressure::flow_pauses::FlowPauses;
use crate::backpressure::pairs::Pairs;
use crate::backpressure::{Backpressure, bfc::Bfc, credits::Credits, fafc::Fafc, pfc::Pfc};
use crate::marking::Marking;
use crate::port::Port;

impl Switch {
    /// Its name in observations.
    pub fn node(&self) -> u32 {
        self.node
    }

    pub(crate) fn assignment(&self) -> &Assignment {
        &self.assignment
    }

    pub(crate) fn marking(&self) -> &Marking {
        &self.marking
    }

    /// The egress ports.
    #[inline]
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// An egress port.
    #[inline]
    pub fn port(&self, port: u16) -> &Port {
        &self.ports[usize::from(port)]
    }

    /// What is stored.
    pub fn accounts(&self) -> &Accounts {
        self.admission.accounts()
    }

    pub(crate) fn admission(&self) -> &Admission {
        &self.admission
    }

    /// PFC, if that is the backpressure or beneath it.
    pub fn pfc(&self) -> Option<&Pfc> {
        self.backpressure.pfc()
    }

    /// The pairs of ports, where ingresses are paused for the sake of an egress.
    pub(crate) fn pairs(&self) -> Option<&Pairs> {
        self.backpressure.pairs()
    }

    /// BFC, if that is the backpressure or part of it.
    pub fn bfc(&self) -> Option<&Bfc> {
        match &self.backpressure {
            Backpressure::Bfc(bfc) => Some(bfc),
            Backpressure::Credits(credits) => Some(&credits.bfc),
            _ => None,
        }
    }

    /// Pauses by flow, if that is the backpressure.
    pub fn flow_pauses(&self) -> Option<&FlowPauses> {
        match &self.backpressure {
            Backpressure::FlowPauses(flows) => Some(flows),
            _ => None,
        }
    }

    /// FAFC, if that is the backpressure.
    pub fn fafc(&self) -> Option<&Fafc> {
        match &self.backpressure {
            Backpressure::Fafc(fafc) => Some(fafc),
            _ => None,
        }
    }

    /// BFC with credits, if that is the backpressure.
    pub fn credits(&self) -> Option<&Credits> {
        match &self.backpressure {
            Backpressure::Credits(credits) => Some(credits),
            _ => None,
        }
    }
}
