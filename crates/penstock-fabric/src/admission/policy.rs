//! The hooks of an admission policy. A policy writes only the hooks for which it has something to do.

use alloc::format;

use penstock_packet::SwitchFacts;
use penstock_units::{Bytes, Problems};

use super::accounts::{Accounts, Request};
use crate::config::{Surroundings, SwitchConfig};

/// What a new policy learns of its switch.
pub(crate) struct Place<'a> {
    /// The switch and its ports.
    pub facts: &'a SwitchFacts,
    /// Priority classes, each with an account at every port.
    pub classes: usize,
}

/// Checks of a policy's parameters, and what other policies ask of them.
pub(crate) trait Parameters {
    /// Compares the fields with each other. Each field declares its own bounds.
    fn check(&self, _problems: &mut Problems) {}

    /// Checks that the policy goes together with the other policies of `switch`, its own switch, in its
    /// surroundings. Fields are named by their path below the switch. Fields that were refused before
    /// are skipped.
    fn fits(&self, _switch: &SwitchConfig, _around: &Surroundings, _problems: &mut Problems) {}

    /// The memory that all ports of the switch `node` share (bytes). `u64::MAX` where memory has no
    /// limit, or where each port has its own.
    fn memory(&self, _node: u32) -> u64 {
        u64::MAX
    }

    /// Whether an ingress has a threshold of its own, which PFC can take for XOFF.
    fn has_thresholds(&self) -> bool {
        false
    }

    /// Whether all ports share one memory whose size is the only limit.
    fn is_plain_pool(&self) -> bool {
        false
    }

    /// Whether each egress port has a memory of its own.
    fn is_per_port(&self) -> bool {
        false
    }

    /// How many control packets leave for each data packet that waits, where the header of a packet goes on
    /// that finds no room. `None` where such a packet is dropped.
    fn control_weight(&self) -> Option<u32> {
        None
    }
}

/// Checks that a full packet fits into the memory `size`, the value of `field`, and into those of the
/// entries of `others`. Into a smaller one no full packet would ever be let.
pub(crate) fn fits_packet(
    (field, size): (&str, Bytes),
    (others, sizes): (&str, impl Iterator<Item = Bytes>),
    around: &Surroundings,
    problems: &mut Problems,
) {
    let Some(packet) = around.packet else { return };
    let remedy =
        format!("a full packet has {packet} on the wire, and would never pass; write that or more");
    let entries = sizes.enumerate().map(|(index, size)| (format!("{others}[{index}][1]"), size));
    for (field, size) in core::iter::once((field.into(), size)).chain(entries) {
        if problems.has_sound(&field) {
            problems.unless(size >= packet, &field, size, &remedy);
        }
    }
}

/// An admission policy of a switch. The policy writes the ingress accounts; [`super::Admission`] keeps
/// their totals.
pub(crate) trait Policy {
    /// Stores the packet's bytes in its account. Answers false when there is no room.
    fn admit(&self, accounts: &mut Accounts, request: Request) -> bool;

    /// Gives `bytes` back from the account `index`.
    #[inline]
    fn release(&self, accounts: &mut Accounts, index: usize, bytes: u64) {
        accounts.ingress[index].used -= bytes;
    }

    /// The threshold at which the accounts of an ingress port stop growing while `shared` bytes of the
    /// pool are in use, where there is one (bytes beyond the reserve).
    #[inline]
    fn threshold(&self, _ingress: u16, _shared: u64) -> Option<u64> {
        None
    }

    /// The reserve of an account (bytes).
    #[inline]
    fn reserve(&self) -> u64 {
        0
    }

    /// What an egress port with `egress_bytes` has left of its own memory (bytes); `u64::MAX` where ports
    /// have none of their own.
    #[inline]
    fn free(&self, _egress_bytes: u64) -> u64 {
        u64::MAX
    }
}
