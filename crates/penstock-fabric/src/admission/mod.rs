//! Admission: is there room?
//!
//! Every packet is stored once and counted twice: at its egress queue, and at its ingress port and
//! class. Every policy keeps the ingress accounts, and PFC reads them.

pub mod accounts;
pub(crate) mod policy;
mod port_memory;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::{SwitchFacts, axis};
use penstock_units::Problems;

use accounts::{Accounts, IngressAccount, Request};
use policy::{Parameters as _, Place, Policy as _};

use crate::config::{Surroundings, SwitchConfig};

axis! { $
    /// The admission axis of a scenario.
    config AdmissionConfig, each by configured;
    /// The memory of a switch, stored by value.
    state Memory, built in Place<'_>, each by dispatch;
    /// Nothing is ever dropped (BFC's Ideal-FQ).
    infinite: Infinite(InfiniteConfig => Infinite),
    /// One packet memory for all ports.
    shared: Shared(SharedConfig => Shared),
    /// A memory of its own for each egress port.
    static_port: Static(StaticConfig => PortMemory),
    /// A short queue for each egress port; a packet that finds no room loses its payload (NDP).
    trimming: Trimming(TrimmingConfig => PortMemory),
}

impl AdmissionConfig {
    /// The memory that all ports of the switch `node` share (bytes). `u64::MAX` where memory has no
    /// limit, or where each port has its own.
    pub fn memory(&self, node: u32) -> u64 {
        configured!(self, parameters => parameters.memory(node))
    }

    /// Whether an ingress has a threshold of its own, which PFC can take for XOFF.
    pub(crate) fn has_thresholds(&self) -> bool {
        configured!(self, parameters => parameters.has_thresholds())
    }

    /// Whether all ports share one memory whose size is the only limit.
    pub(crate) fn is_plain_pool(&self) -> bool {
        configured!(self, parameters => parameters.is_plain_pool())
    }

    /// Whether each egress port has a memory of its own.
    pub(crate) fn is_per_port(&self) -> bool {
        configured!(self, parameters => parameters.is_per_port())
    }

    /// Whether the header of a packet goes on that finds no room.
    pub fn trims(&self) -> bool {
        self.control_weight().is_some()
    }

    /// How many control packets leave for each data packet that waits, where switches trim.
    pub(crate) fn control_weight(&self) -> Option<u32> {
        configured!(self, parameters => parameters.control_weight())
    }

    /// Checks that the admission goes together with the other policies of `switch`.
    pub(crate) fn fits(
        &self,
        switch: &SwitchConfig,
        around: &Surroundings,
        problems: &mut Problems,
    ) {
        configured!(self, parameters => parameters.fits(switch, around, problems));
    }
}

/// Admission: the policy and the accounts it writes.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub struct Admission {
    memory: Memory,
    accounts: Accounts,
}

impl Admission {
    pub(crate) fn new(config: &AdmissionConfig, facts: &SwitchFacts, classes: usize) -> Self {
        let memory = Memory::new(config, &Place { facts, classes });
        Admission { memory, accounts: Accounts::new(facts.ports.len(), classes) }
    }

    /// The accounts of stored bytes.
    #[inline]
    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// Stores the packet's bytes. Answers false when there is no room.
    #[inline(always)] // one call is on the way of a packet that finds room
    pub(crate) fn admit(&mut self, request: Request) -> bool {
        let accounts = &mut self.accounts;
        let bytes = request.bytes;
        let is_admitted = dispatch!(&self.memory, policy => policy.admit(accounts, request));
        if is_admitted {
            accounts.total += bytes;
        }
        is_admitted
    }

    /// Gives the packet's bytes back. Always inlined: an ordinary call cost 8 instructions a
    /// packet-hop.
    #[inline(always)]
    pub(crate) fn release(&mut self, ingress: u16, class: u8, bytes: u64) {
        let accounts = &mut self.accounts;
        let index = accounts.index(ingress, class);
        accounts.peak = accounts.peak.max(accounts.total);
        accounts.total -= bytes;
        dispatch!(&self.memory, policy => policy.release(accounts, index, bytes));
    }

    /// Gives the bytes of a packet back that was admitted and that no queue takes: they were never stored.
    #[cold]
    pub(crate) fn refuse(&mut self, ingress: u16, class: u8, bytes: u64) {
        let peak = self.accounts.peak;
        self.release(ingress, class, bytes);
        self.accounts.peak = peak;
    }

    /// What an egress port with `egress_bytes` has left of its own memory (bytes); `u64::MAX` where ports
    /// have none of their own.
    #[inline]
    pub(crate) fn free(&self, egress_bytes: u64) -> u64 {
        dispatch!(&self.memory, policy => policy.free(egress_bytes))
    }

    /// The dynamic threshold at which an ingress account stops growing, where there is one.
    #[inline]
    pub(crate) fn ingress_threshold(&self, ingress: u16) -> Option<u64> {
        self.threshold_with(ingress, self.accounts.shared)
    }

    /// The same threshold if `shared` bytes of the pool were in use.
    #[inline]
    pub(crate) fn threshold_with(&self, ingress: u16, shared: u64) -> Option<u64> {
        dispatch!(&self.memory, policy => policy.threshold(ingress, shared))
    }

    /// The sum of all accounts' shared bytes, where shared bytes are counted.
    pub(crate) fn recounted_shared(&self) -> Option<u64> {
        self.ingress_threshold(0)?;
        Some(self.accounts.ingress.iter().map(|account| self.shared_bytes(*account)).sum())
    }

    /// Bytes of an account beyond its reserve.
    #[inline]
    pub(crate) fn shared_bytes(&self, account: IngressAccount) -> u64 {
        self.beyond_reserve(account.used)
    }

    /// Bytes beyond its reserve of an account that holds `bytes`.
    #[inline]
    pub(crate) fn beyond_reserve(&self, bytes: u64) -> u64 {
        bytes.saturating_sub(dispatch!(&self.memory, policy => policy.reserve()))
    }
}
