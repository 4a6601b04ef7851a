//! A memory for each egress port alone: what the policies share whose ports have nothing in common.

use borsh::{BorshDeserialize, BorshSerialize};

use super::accounts::{Accounts, Request};
use super::policy::{Place, Policy};

/// Parameters that say how much memory a port has.
pub(crate) trait SizesPorts {
    /// Memory of each port of a switch at `place` (bytes).
    fn per_port(&self, place: &Place<'_>) -> u64;
}

/// The private memories of a switch's ports.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct PortMemory {
    /// Memory of each port (bytes).
    size: u64,
}

impl PortMemory {
    pub(crate) fn new(config: &impl SizesPorts, place: &Place<'_>) -> Self {
        PortMemory { size: config.per_port(place) }
    }
}

impl Policy for PortMemory {
    #[inline]
    fn admit(&self, accounts: &mut Accounts, request: Request) -> bool {
        let index = accounts.index(request.ingress, request.class);
        let fits = request.egress_bytes + request.bytes <= self.size;
        accounts.ingress[index].used += if fits { request.bytes } else { 0 };
        fits
    }

    #[inline]
    fn free(&self, egress_bytes: u64) -> u64 {
        self.size.saturating_sub(egress_bytes)
    }
}
