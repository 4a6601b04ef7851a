//! The parts of a switch, for measurement and checks.

use alloc::vec::Vec;

use penstock_packet::{Balance, Packet};

use super::Switch;
use crate::admission::Admission;
use crate::admission::accounts::Accounts;
use crate::assignment::Assignment;
use crate::backpressure::policy::Policy as _;
use crate::backpressure::{self, Backpressure, Granted};
use crate::marking::Marking;
use crate::port::Port;
use crate::ports::Ports;

impl Switch {
    /// The name of the switch in observations.
    pub fn node(&self) -> u32 {
        self.node
    }

    /// Whether queues have epochs.
    pub(crate) fn has_epochs(&self) -> bool {
        self.has_epochs
    }

    pub(crate) fn assignment(&self) -> &Assignment {
        &self.assignment
    }

    pub(crate) fn marking(&self) -> &Marking {
        &self.marking
    }

    /// The egress ports.
    #[inline]
    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    /// An egress port.
    #[inline]
    pub fn port(&self, port: u16) -> &Port {
        &self.ports[usize::from(port)]
    }

    /// `packet`, which has just left `port`, never gets onto the link: the link has failed.
    pub fn take_back(&mut self, port: u16, packet: &Packet) {
        self.ports[usize::from(port)].take_back(packet);
    }

    /// The queues of `port`, the control queue included, also those that it has from its first packet or
    /// pause on.
    pub fn queue_count(&self, port: u16) -> usize {
        self.port(port).queues().len().max(1 + self.classes.len())
    }

    /// The accounts of stored bytes.
    pub fn accounts(&self) -> &Accounts {
        self.admission.accounts()
    }

    pub(crate) fn admission(&self) -> &Admission {
        &self.admission
    }

    pub(crate) fn backpressure(&self) -> &Backpressure {
        &self.backpressure
    }

    /// The largest share of its threshold that an ingress port and class has held; `None` where the
    /// backpressure does not look at ingress ports and classes.
    pub fn peak_fraction(&self) -> Option<f64> {
        backpressure::dispatch!(&self.backpressure, policy => policy.peak_fraction())
    }

    /// The credit that the neighbour behind `port` has granted, where there are credits.
    pub fn balance(&self, port: u16) -> Option<&Balance> {
        backpressure::dispatch!(&self.backpressure, policy => policy.balance(port))
    }

    /// The credit granted to the neighbour behind `port`, one entry per account as in the neighbour's
    /// [`Balance`]. Empty where there are no credits.
    pub fn ledger(&self, port: u16) -> Vec<Granted> {
        backpressure::dispatch!(&self.backpressure, policy => policy.ledger(port))
    }
}
