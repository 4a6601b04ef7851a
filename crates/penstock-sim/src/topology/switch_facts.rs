//! What a switch of a network knows of its place there.

use penstock_packet::{PortFacts, SwitchFacts, SwitchFrames};
use penstock_units::{Fidelity, Time};

use super::Topology;

impl Topology {
    /// What the switch `node` knows of itself and its links; with a salt and frames of nothing.
    pub(crate) fn switch_facts(&self, node: u32) -> SwitchFacts {
        let port = |link: &u32| {
            let link = &self.links[*link as usize];
            let is_host = self.nodes[link.to as usize].tier == 0;
            PortFacts {
                rate: link.rate,
                delay: link.delay,
                neighbour_pipeline: if is_host { Time::ZERO } else { self.pipeline_delay },
                neighbour_tier: self.nodes[link.to as usize].tier,
                neighbour: link.to,
            }
        };
        SwitchFacts {
            node,
            tier: self.nodes[node as usize].tier,
            pipeline_delay: self.pipeline_delay,
            ports: self.egress_links(node).iter().map(port).collect(),
            salt: 0,
            frames: SwitchFrames::default(),
            fidelity: Fidelity::Exact,
            shared: None,
        }
    }
}
