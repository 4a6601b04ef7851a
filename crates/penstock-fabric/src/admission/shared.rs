//! One shared packet memory, optionally with dynamic thresholds and headroom for each ingress port.
//!
//! The thresholds are those of A. Choudhury, E. Hahne, "Dynamic Queue Length Thresholds for
//! Shared-Memory Packet Switches", IEEE/ACM ToN 1998. The whole follows the ns-3 HPCC simulator's model
//! of a lossless Broadcom switch.
//!
//! A packet is charged to its port's reserve first. Beyond the reserve it is charged to the shared pool
//! while the port is below XOFF = alpha · (S − shared bytes), then to the port's headroom. It is
//! dropped when the headroom is full too. S is the buffer without all headrooms and reserves. Bytes are
//! given back in the reverse order. Without `ingress` the only limit is the buffer.
//!
//! An alpha of 1/8 is BFC's "11 % of the free buffer". Gateways of its authors' simulator have 64 MiB.
//! Alpha grows with the port's rate over the slowest port's rate, as in the HPCC simulator, which
//! doubles alpha with every doubling of the rate.

use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::{PortFacts, SwitchFacts};
use penstock_units::{Bytes, Problems};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use super::accounts::{Accounts, Request};
use super::policy::{Parameters, Place, Policy, fits_packet};
use crate::config::{Surroundings, SwitchConfig};

/// The largest alpha, with which an ingress may hold 64/65 of the memory; our choice.
const LARGEST_ALPHA: f64 = 64.0;

/// The source of the numbers of the ingress thresholds.
const MMU: &str = "ns-3 HPCC simulator (alibaba-edu/High-Precision-Congestion-Control), whose shared \
                   buffer BFC 6.2.1 uses";

/// Parameters of the shared admission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedConfig {
    /// Memory of the switch.
    #[schemars(
        range(min = 1),
        extend(
            "default" = "12 MiB",
            "source" = "BFC 6.2.1 (12 MB; 12 x 2^20 B in its simulator)"
        )
    )]
    pub buffer: Bytes,
    /// Switches with another memory, as [node, size].
    #[schemars(
        transform = some_memory,
        extend("default" = [], "source" = "our choice: all switches are alike")
    )]
    pub other_buffers: Vec<(u32, Bytes)>,
    /// Thresholds of each ingress; null: only the whole memory limits.
    #[schemars(extend(
        "default" = null,
        "source" = "BFC authors' simulator (preeyshah/High-Precision-Congestion-Control): so without PFC"
    ))]
    pub ingress: Option<IngressConfig>,
}

/// Declares that an own memory of a switch has at least one byte.
fn some_memory(schema: &mut Schema) {
    let pair = schema.pointer_mut("/items/prefixItems/1").and_then(|size| size.as_object_mut());
    pair.into_iter().for_each(|size| drop(size.insert("minimum".into(), 1.into())));
}

impl SharedConfig {
    /// Memory of the switch `node` (bytes).
    pub fn buffer_of(&self, node: u32) -> Bytes {
        let other = self.other_buffers.iter().find(|(switch, _)| *switch == node);
        other.map_or(self.buffer, |&(_, buffer)| buffer)
    }
}

impl Parameters for SharedConfig {
    fn fits(&self, _: &SwitchConfig, around: &Surroundings, problems: &mut Problems) {
        let own = ("admission.buffer", self.buffer);
        let others = self.other_buffers.iter().map(|&(_, size)| size);
        fits_packet(own, ("admission.other_buffers", others), around, problems);
    }

    fn memory(&self, node: u32) -> u64 {
        self.buffer_of(node).get()
    }

    fn has_thresholds(&self) -> bool {
        self.ingress.is_some()
    }

    fn is_plain_pool(&self) -> bool {
        self.ingress.is_none()
    }
}

/// Dynamic thresholds per ingress, as lossless classes need them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IngressConfig {
    /// Share of the free buffer that one ingress may hold (alpha).
    #[schemars(
        range(max = LARGEST_ALPHA),
        extend("exclusiveMinimum" = 0, "default" = 0.125, "source" = MMU)
    )]
    pub alpha: f64,
    /// Memory guaranteed to each ingress and class.
    #[schemars(extend("default" = "4096 B", "source" = MMU))]
    pub reserve: Bytes,
    /// Room for what arrives after a pause was sent, for each ingress and class.
    #[schemars(extend("default" = {"kind": "bdp", "factor": 3.0}, "source" = MMU))]
    pub headroom: HeadroomConfig,
}

/// The headroom of a port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum HeadroomConfig {
    /// Headroom as a multiple of the link's one-way bandwidth-delay product.
    Bdp {
        /// Times rate x delay of the link.
        #[schemars(extend("exclusiveMinimum" = 0, "default" = 3.0, "source" = MMU))]
        factor: f64,
    },
    /// The same headroom for every ingress.
    Bytes {
        /// Headroom of each ingress.
        size: Bytes,
    },
    /// As much as each link needs so that nothing is dropped: what arrives until a pause acts.
    Lossless {},
}

impl HeadroomConfig {
    /// The headroom of the ingress `port` of the switch `facts` (bytes).
    pub fn of(&self, facts: &SwitchFacts, port: &PortFacts) -> u64 {
        match *self {
            HeadroomConfig::Bytes { size } => size.get(),
            HeadroomConfig::Bdp { factor } => {
                (port.rate.bytes_in(port.delay).get() as f64 * factor) as u64
            }
            HeadroomConfig::Lossless {} => facts.bytes_until_a_pause_acts(port).get(),
        }
    }
}

/// Alpha in units of 2^-16.
const ALPHA_BITS: u32 = 16;

#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct IngressLimit {
    alpha: u64,
    headroom: u64,
}

/// The shared memory of a switch.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Shared {
    buffer: u64,
    reserve: u64,
    /// S: the pool that dynamic thresholds divide.
    pool: u64,
    limits: Vec<IngressLimit>,
}

impl Shared {
    pub(crate) fn new(config: &SharedConfig, place: &Place<'_>) -> Self {
        let &Place { facts, classes } = place;
        let buffer = config.buffer_of(facts.node).get();
        let ports = &facts.ports;
        let Some(ingress) = &config.ingress else {
            return Shared { buffer, reserve: 0, pool: buffer, limits: Vec::new() };
        };
        let slowest = ports.iter().map(|port| port.rate.as_bps()).min().unwrap_or(1) as f64;
        let limits: Vec<_> = ports
            .iter()
            .map(|port| {
                let alpha = ingress.alpha * port.rate.as_bps() as f64 / slowest;
                let headroom = ingress.headroom.of(facts, port);
                IngressLimit { alpha: (alpha * f64::from(1u32 << ALPHA_BITS)) as u64, headroom }
            })
            .collect();
        let set_aside: u64 = limits.iter().map(|l| l.headroom + ingress.reserve.get()).sum();
        let pool = buffer.saturating_sub(set_aside * classes as u64);
        Shared { buffer, reserve: ingress.reserve.get(), pool, limits }
    }
}

impl Policy for Shared {
    #[inline]
    fn admit(&self, accounts: &mut Accounts, request: Request) -> bool {
        let Request { ingress, class, bytes, .. } = request;
        let index = accounts.index(ingress, class);
        let (total, shared) = (accounts.total, accounts.shared);
        let account = &mut accounts.ingress[index];
        let Some(threshold) = self.threshold(ingress, shared) else {
            let fits = total + bytes <= self.buffer;
            account.used += if fits { bytes } else { 0 };
            return fits;
        };
        let headroom = self.limits[usize::from(ingress)].headroom;
        let before = account.used.saturating_sub(self.reserve);
        let beyond = (account.used + bytes).saturating_sub(self.reserve);
        // Beside XOFF, as with alpha above 1 XOFF is more than the pool has left.
        if beyond > threshold || shared + (beyond - before) > self.pool {
            let fits = account.headroom + bytes <= headroom;
            account.headroom += if fits { bytes } else { 0 };
            accounts.headroom_peak = accounts.headroom_peak.max(account.headroom);
            return fits;
        }
        account.used += bytes;
        accounts.shared += beyond - before;
        true
    }

    #[inline]
    fn release(&self, accounts: &mut Accounts, index: usize, bytes: u64) {
        let account = &mut accounts.ingress[index];
        let from_headroom = account.headroom.min(bytes);
        account.headroom -= from_headroom;
        if self.limits.is_empty() {
            account.used -= bytes;
            return;
        }
        let before = account.used.saturating_sub(self.reserve);
        account.used -= bytes - from_headroom;
        accounts.shared -= before - account.used.saturating_sub(self.reserve);
    }

    /// XOFF of a port (bytes beyond its reserve).
    #[inline]
    fn threshold(&self, ingress: u16, shared: u64) -> Option<u64> {
        let limit = self.limits.get(usize::from(ingress))?;
        let free = self.pool.saturating_sub(shared);
        Some(((u128::from(free) * u128::from(limit.alpha)) >> ALPHA_BITS) as u64)
    }

    #[inline]
    fn reserve(&self) -> u64 {
        self.reserve
    }
}

#[cfg(test)]
#[path = "shared_tests.rs"]
mod tests;
