//! The hooks of an admission policy. A policy leaves out those for which it has nothing to do.

use penstock_packet::SwitchFacts;
use penstock_units::Problems;

use super::accounts::{Accounts, Request};
use crate::config::{Surroundings, SwitchConfig};

/// What a policy is told of its switch.
pub(crate) struct Place<'a> {
    /// The switch and its ports.
    pub facts: &'a SwitchFacts,
    /// Priority classes, each with an account at every port.
    pub classes: usize,
}

/// What the parameters of a policy tell.
pub(crate) trait Parameters {
    /// Checks the fields with each other; their bounds are declared with them.
    fn check(&self, _problems: &mut Problems) {}

    /// Checks that the policy goes together with the others of `switch`, its own switch, in its
    /// surroundings. Fields are named by their path below the switch; those that were refused before are
    /// not counted with.
    fn fits(&self, _switch: &SwitchConfig, _around: &Surroundings, _problems: &mut Problems) {}

    /// The memory that all ports of the switch `node` share (bytes); without limit where there is none, or
    /// where each port has its own.
    fn memory(&self, _node: u32) -> u64 {
        u64::MAX
    }

    /// Whether an ingress has a threshold of its own, which PFC can take for XOFF.
    fn has_thresholds(&self) -> bool {
        false
    }

    /// Whether all ports share one memory, and nothing but its size limits them.
    fn is_plain_pool(&self) -> bool {
        false
    }
}

/// An admission policy of a switch. It writes the ingress accounts; their totals are kept by
/// [`super::Admission`].
pub(crate) trait Policy {
    /// Stores the packet's bytes in its account, or says that there is no room.
    fn admit(&self, accounts: &mut Accounts, request: Request) -> bool;

    /// Gives `bytes` of the account `index` back.
    #[inline]
    fn release(&self, accounts: &mut Accounts, index: usize, bytes: u64) {
        accounts.ingress[index].used -= bytes;
    }

    /// The threshold at which the accounts of an ingress port stop growing if `shared` bytes of the pool are
    /// in use, where there is one (bytes beyond its reserve).
    #[inline]
    fn threshold(&self, _ingress: u16, _shared: u64) -> Option<u64> {
        None
    }

    /// What an account has for itself (bytes).
    #[inline]
    fn reserve(&self) -> u64 {
        0
    }
}
