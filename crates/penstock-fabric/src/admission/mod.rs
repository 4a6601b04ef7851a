//! Admission: is there room?
//!
//! Every packet is stored once and counted twice: at its egress queue and at its ingress port and
//! class. The ingress accounts are kept here for every policy; PFC reads them.

pub mod accounts;
pub mod shared;
pub mod static_port;

use penstock_packet::SwitchFacts;
use serde::{Deserialize, Serialize};

use accounts::{Accounts, IngressAccount, Request};
use shared::{Shared, SharedConfig};
use static_port::StaticConfig;

/// The admission axis of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AdmissionConfig {
    /// There is always room.
    Infinite {},
    /// One memory for all ports.
    Shared(SharedConfig),
    /// A private memory for each egress port.
    Static(StaticConfig),
}

impl AdmissionConfig {
    /// The memory that all ports of the switch `node` share (bytes); without limit where there is none, or where each port
    /// has its own.
    pub(crate) fn memory(&self, node: u32) -> u64 {
        match self {
            AdmissionConfig::Shared(config) => config.buffer_of(node).get(),
            AdmissionConfig::Infinite {} | AdmissionConfig::Static(_) => u64::MAX,
        }
    }
}

/// The admission policy of a switch, stored by value and dispatched by `match`.
#[derive(Debug)]
pub(crate) enum Policy {
    Infinite,
    Shared(Shared),
    Static(StaticConfig),
}

/// Admission: the policy and the accounts it writes.
#[derive(Debug)]
pub struct Admission {
    pub(crate) policy: Policy,
    accounts: Accounts,
}

impl Admission {
    pub(crate) fn new(config: &AdmissionConfig, facts: &SwitchFacts, classes: usize) -> Self {
        let policy = match config {
            AdmissionConfig::Infinite {} => Policy::Infinite,
            AdmissionConfig::Shared(config) => Policy::Shared(Shared::new(config, facts, classes)),
            AdmissionConfig::Static(config) => Policy::Static(config.clone()),
        };
        Admission { policy, accounts: Accounts::new(facts.ports.len(), classes) }
    }

    /// What is stored.
    #[inline]
    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// Stores the packet's bytes, or says that there is no room.
    #[inline]
    pub(crate) fn admit(&mut self, request: Request) -> bool {
        let accounts = &mut self.accounts;
        let index = accounts.index(request.ingress, request.class);
        let bytes = request.bytes;
        let is_admitted = match &self.policy {
            Policy::Infinite => {
                accounts.ingress[index].used += bytes;
                true
            }
            Policy::Static(config) => {
                let fits = request.egress_bytes + bytes <= config.per_port.get();
                accounts.ingress[index].used += if fits { bytes } else { 0 };
                fits
            }
            Policy::Shared(shared) => {
                let account = &mut accounts.ingress[index];
                let fits = shared.admit(account, &mut accounts.shared, accounts.total, request);
                accounts.headroom_peak = accounts.headroom_peak.max(account.headroom);
                fits
            }
        };
        if is_admitted {
            accounts.total += bytes;
            accounts.peak = accounts.peak.max(accounts.total);
        }
        is_admitted
    }

    /// Gives the packet's bytes back.
    #[inline]
    pub(crate) fn release(&mut self, ingress: u16, class: u8, bytes: u64) {
        let accounts = &mut self.accounts;
        let index = accounts.index(ingress, class);
        accounts.total -= bytes;
        let account = &mut accounts.ingress[index];
        match &self.policy {
            Policy::Shared(shared) => shared.release(account, &mut accounts.shared, bytes),
            _ => account.used -= bytes,
        }
    }

    /// The dynamic threshold at which an ingress account stops growing, where there is one.
    #[inline]
    pub(crate) fn ingress_threshold(&self, ingress: u16) -> Option<u64> {
        self.threshold_with(ingress, self.accounts.shared)
    }

    /// The same if `shared` bytes of the pool were in use.
    #[inline]
    pub(crate) fn threshold_with(&self, ingress: u16, shared: u64) -> Option<u64> {
        match &self.policy {
            Policy::Shared(policy) => policy.threshold(ingress, shared),
            _ => None,
        }
    }

    /// What the shared bytes of all accounts add up to, where they are counted.
    pub(crate) fn recounted_shared(&self) -> Option<u64> {
        self.ingress_threshold(0)?;
        Some(self.accounts.ingress.iter().map(|account| self.shared_bytes(*account)).sum())
    }

    /// Bytes of an account beyond its reserve.
    #[inline]
    pub(crate) fn shared_bytes(&self, account: IngressAccount) -> u64 {
        self.beyond_reserve(account.used)
    }

    /// Bytes of an account that holds `bytes` which are beyond its reserve.
    #[inline]
    pub(crate) fn beyond_reserve(&self, bytes: u64) -> u64 {
        match &self.policy {
            Policy::Shared(shared) => bytes.saturating_sub(shared.reserve()),
            _ => bytes,
        }
    }
}
