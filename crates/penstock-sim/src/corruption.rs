//! Frames that arrive corrupted, on some cables or on all.
//!
//! The end of a link that receives a frame with a wrong check sequence discards the frame, whatever it
//! carries: data, an acknowledgement, a credit or a pause (P. Goyal et al., BFC, NSDI 2022, sec. 3.3; FAFC,
//! sec. II). The frame has taken its time on the wire, and nobody is told. Each direction of a cable draws
//! for itself, frame by frame.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_transport::RecoveryConfig;
use penstock_units::random::Pcg32;
use penstock_units::{Fidelity, Problems};
use rand_core::RngCore;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scenario::Scenario;
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

/// Checks that each entry names a cable, and no cable twice; with corrupted frames, that a source finds
/// out by itself what is lost.
pub(crate) fn check(scenario: &Scenario, topology: &Topology, problems: &mut Problems) {
    let entries = &scenario.faults.corruption;
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
    if entries.is_empty() {
        return;
    }
    let is_exact = scenario.fidelity == Fidelity::Exact;
    let remedy = format!(
        "nobody shares random numbers with the simulator of fidelity {}; leave it out, or use fidelity \
         \"exact\"",
        scenario.fidelity.name()
    );
    let value = format!("a list of {}", entries.len());
    problems.unless(is_exact, "faults.corruption", value, remedy);
    let is_perfect = matches!(scenario.scheme.host.recovery, RecoveryConfig::Perfect(_));
    let remedy = "nobody tells a source of a corrupted frame; use another recovery, or leave out \
                  faults.corruption";
    problems.unless(!is_perfect, "scheme.host.recovery.kind", "perfect", remedy);
}

/// Which frames of the links of a partition arrive corrupted.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Corruption {
    links: Vec<Draws>,
}

/// The draws of a link.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
struct Draws {
    /// A frame is corrupted when a draw of 64 bits is below.
    below: u64,
    random: Pcg32,
}

impl Corruption {
    /// Those of `links` of the network, with `random` for each by its number; none where no frame is
    /// corrupted.
    pub(crate) fn new(
        entries: &[CorruptionConfig],
        topology: &Topology,
        links: &[u32],
        random: impl Fn(u32) -> Pcg32,
    ) -> Option<Box<Self>> {
        let draws = |&link: &u32| {
            let ends = &topology.links[link as usize];
            let own = entries.iter().find(|entry| entry.names(ends.from, ends.to));
            let entry = own.or_else(|| entries.iter().find(|entry| entry.link.is_none()));
            let probability = entry.map_or(0.0, |entry| entry.probability);
            Draws { below: (probability * 2f64.powi(64)) as u64, random: random(link) }
        };
        let is_any = !entries.is_empty();
        is_any.then(|| Box::new(Corruption { links: links.iter().map(draws).collect() }))
    }

    /// Draws whether the frame that arrives on a link of the partition is corrupted.
    pub(crate) fn hits(&mut self, link: u32) -> bool {
        let draws = &mut self.links[link as usize];
        draws.below > 0 && draws.random.next_u64() < draws.below
    }
}
