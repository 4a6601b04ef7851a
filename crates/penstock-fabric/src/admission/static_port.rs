//! Static: each egress port has a private memory with drop tail (AFQ sec. 6.2.1). The switches of a tier
//! may have other memories than the rest, as AFQ's spine switches have.

use alloc::format;
use alloc::vec::Vec;

use penstock_units::{Bytes, Problems};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use super::policy::{Parameters, Place, fits_packet};
pub(crate) use super::port_memory::PortMemory;
use super::port_memory::SizesPorts;
use crate::config::{Surroundings, SwitchConfig};

/// Parameters of the static admission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StaticConfig {
    /// Memory of each egress port.
    #[schemars(range(min = 1))]
    pub per_port: Bytes,
    /// Tiers whose ports have another memory, as [tier, size].
    ///
    /// Tier 1 is next to the hosts: top-of-rack switches. Spines of two tiers are tier 2.
    #[schemars(
        transform = tier_and_memory,
        extend("default" = [], "source" = "our choice: all ports are alike")
    )]
    pub other_tiers: Vec<(u8, Bytes)>,
}

/// Declares that tiers are counted from 1, and that a port has at least one byte of memory.
fn tier_and_memory(schema: &mut Schema) {
    for part in ["/items/prefixItems/0", "/items/prefixItems/1"] {
        let declared = schema.pointer_mut(part).and_then(|part| part.as_object_mut());
        declared.into_iter().for_each(|part| drop(part.insert("minimum".into(), 1.into())));
    }
}

impl StaticConfig {
    /// Memory of each port of a switch of `tier`.
    pub fn per_port_of(&self, tier: u8) -> Bytes {
        let other = self.other_tiers.iter().find(|(named, _)| *named == tier);
        other.map_or(self.per_port, |&(_, size)| size)
    }

    /// The largest memory of a port in any tier.
    pub fn largest(&self) -> Bytes {
        self.other_tiers.iter().map(|&(_, size)| size).fold(self.per_port, Bytes::max)
    }
}

impl Parameters for StaticConfig {
    fn check(&self, problems: &mut Problems) {
        for (index, (tier, _)) in self.other_tiers.iter().enumerate() {
            let is_first = self.other_tiers[..index].iter().all(|(earlier, _)| earlier != tier);
            let field = format!("other_tiers[{index}][0]");
            problems.unless(is_first, &field, tier, "its memory is given above; name a tier once");
        }
    }

    fn fits(&self, _: &SwitchConfig, around: &Surroundings, problems: &mut Problems) {
        let own = ("admission.per_port", self.per_port);
        let others = self.other_tiers.iter().map(|&(_, size)| size);
        fits_packet(own, ("admission.other_tiers", others), around, problems);
    }

    fn is_per_port(&self) -> bool {
        true
    }
}

impl SizesPorts for StaticConfig {
    fn per_port(&self, place: &Place<'_>) -> u64 {
        self.per_port_of(place.facts.tier).get()
    }
}

#[cfg(test)]
#[path = "static_port_tests.rs"]
mod tests;
