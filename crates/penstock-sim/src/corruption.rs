//! Frames that arrive corrupted, on some cables or on all.
//!
//! The end of a link that receives a frame with a wrong check sequence discards the frame, whatever it
//! carries: data, an acknowledgement, a credit or a pause (P. Goyal et al., BFC, NSDI 2022, sec. 3.3; FAFC,
//! sec. II). The frame has taken its time on the wire, and nobody is told. Each direction of a cable draws
//! for itself, frame by frame.

use penstock_units::Problems;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::topology::Topology;

/// A cable on which frames are corrupted, or all cables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CorruptionConfig {
    /// The two nodes that the cable joins; null: all cables that no other entry names.
    #[schemars(extend("default" = null, "source" = "our choice: every cable"))]
    pub link: Option<(u32, u32)>,
    /// Probability that a frame arrives corrupted, in each direction.
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
    pub probability: f64,
}

impl CorruptionConfig {
    /// Whether the entry names the cable between two nodes.
    fn names(&self, from: u32, to: u32) -> bool {
        self.link.is_some_and(|link| link == (from, to) || link == (to, from))
    }
}

/// Checks that each entry names a cable, and no cable twice.
pub(crate) fn check(entries: &[CorruptionConfig], topology: &Topology, problems: &mut Problems) {
    for (index, entry) in entries.iter().enumerate() {
        let field = format!("faults.corruption[{index}].link");
        let before = &entries[..index];
        let Some((from, to)) = entry.link else {
            let is_first = before.iter().all(|other| other.link.is_some());
            let remedy = "another entry is for all cables; keep one of them";
            problems.unless(is_first, &field, "null", remedy);
            continue;
        };
        let value = format!("[{from}, {to}]");
        let remedy = "no cable joins two nodes of these numbers; name the two ends of one";
        let is_there = topology.link_between(from, to).is_some();
        problems.unless(is_there, &field, &value, remedy);
        let is_first = !before.iter().any(|other| other.names(from, to));
        problems.unless(is_first, &field, &value, "another entry names it; keep one of them");
    }
}

/// The probability that a frame arrives corrupted on the way from one node to another.
pub(crate) fn probability(entries: &[CorruptionConfig], from: u32, to: u32) -> f64 {
    let own = entries.iter().find(|entry| entry.names(from, to));
    let entry = own.or_else(|| entries.iter().find(|entry| entry.link.is_none()));
    entry.map_or(0.0, |entry| entry.probability)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(link: Option<(u32, u32)>, probability: f64) -> CorruptionConfig {
        CorruptionConfig { link, probability }
    }

    #[test]
    fn an_entry_of_its_own_counts_for_both_directions_of_a_cable_and_another_for_the_rest() {
        let own = [entry(Some((0, 4)), 0.25), entry(Some((6, 4)), 0.0)];
        let all = [&[entry(None, 0.5)], &own[..]].concat();
        for (from, to, alone, with_all) in [
            (0, 4, 0.25, 0.25),
            (4, 0, 0.25, 0.25),
            (4, 6, 0.0, 0.0),
            (0, 5, 0.0, 0.5),
            (1, 4, 0.0, 0.5),
        ] {
            assert_eq!(probability(&own, from, to), alone, "{from} -> {to}");
            assert_eq!(probability(&all, from, to), with_all, "{from} -> {to}");
        }
    }
}
