//! Links that have failed from the start. They are left out before routes are found.

use std::collections::HashMap;

use penstock_units::Problems;

use super::plan::{Plan, neighbours};

/// How many pairs of unconnected nodes a message names.
const NAMED_PAIRS: usize = 4;

impl Plan {
    /// The plan without the cables of `failed_links`. The other cables keep their order.
    pub(super) fn without_failed_links(mut self, problems: &mut Problems) -> Option<Self> {
        if self.failed_links.is_empty() {
            return Some(self);
        }
        let ends = |a: u32, b: u32| (a.min(b), a.max(b));
        let cables = self.cables.iter().enumerate();
        let mut sound: HashMap<_, _> =
            cables.map(|(index, cable)| (ends(cable.a, cable.b), index)).collect();
        let mut has_failed = vec![false; self.cables.len()];
        for (index, &(a, b)) in self.failed_links.iter().enumerate() {
            let cable = sound.remove(&ends(a, b));
            let (field, value) = (format!("topology.failed_links[{index}]"), format!("[{a}, {b}]"));
            let remedy = "no link (that has not failed already) joins these nodes; write the two \
                          ends of one";
            problems.unless(cable.is_some(), &field, value, remedy);
            cable.into_iter().for_each(|cable| has_failed[cable] = true);
        }
        let mut has_failed = has_failed.into_iter();
        self.cables.retain(|_| has_failed.next() == Some(false));
        self.check_whole(problems);
        problems.is_sound("topology").then_some(self)
    }

    /// Refuses a network in pieces. The message names nodes that host 0 does not reach, hosts
    /// first.
    fn check_whole(&self, problems: &mut Problems) {
        let names: Vec<String> = self.names().collect();
        let neighbours = neighbours(&self.cables, names.len());
        let mut is_reached = vec![false; names.len()];
        let mut waiting = vec![0u32];
        while let Some(node) = waiting.pop() {
            if !std::mem::replace(&mut is_reached[node as usize], true) {
                waiting.extend(&neighbours[node as usize]);
            }
        }
        let lost = names.iter().zip(is_reached).filter(|(_, is_reached)| !is_reached);
        let pairs: Vec<_> =
            lost.take(NAMED_PAIRS).map(|(name, _)| format!("{} and {name}", names[0])).collect();
        let value = format!("a list that leaves no path between {}", pairs.join(", "));
        problems.unless(pairs.is_empty(), "topology.failed_links", value, "remove one of them");
    }
}

#[cfg(test)]
mod tests {
    use crate::error::ScenarioError;
    use crate::topology::tests::{graph, leaf_spine};
    use crate::topology::{Topology, TopologyConfig, build};

    /// A network of two racks of one host (nodes 0 and 1), ToRs 2 and 3, spines 4 and 5.
    fn failing(failed: &[(u32, u32)]) -> Result<Topology, ScenarioError> {
        let TopologyConfig::LeafSpine(mut config) = leaf_spine(2, 1, 2) else { unreachable!() };
        config.failed_links = failed.to_vec();
        build(&TopologyConfig::LeafSpine(config))
    }

    #[test]
    fn a_failed_link_is_gone_and_the_others_keep_their_order() {
        let whole = failing(&[]).unwrap();
        // The two ends of a failed link may be given in either order.
        let network = failing(&[(4, 3)]).unwrap();
        assert_eq!(network.links.len(), whole.links.len() - 2);
        assert_eq!((network.link_between(3, 4), network.link_between(4, 3)), (None, None));
        let names = |network: &Topology| -> Vec<String> {
            (0..network.links.len() as u32).map(|link| network.link_name(link)).collect()
        };
        let mut expected = names(&whole);
        expected.retain(|name| name != "T1->S0" && name != "S0->T1");
        assert_eq!(names(&network), expected);
    }

    #[test]
    fn refusals_name_the_link_or_the_nodes_that_are_apart() {
        let cases: [(&[(u32, u32)], &str); 4] = [
            (&[(2, 3)], "topology.failed_links[0] is [2, 3]; no link"),
            (&[(2, 4), (4, 2)], "topology.failed_links[1] is [4, 2]; no link"),
            (&[(3, 4), (3, 5)], "no path between H0 and H1, H0 and T1; remove"),
            (&[(2, 4), (3, 4)], "no path between H0 and S0; remove"),
        ];
        for (failed, expected) in cases {
            let message = failing(failed).unwrap_err().to_string();
            assert!(message.contains(expected), "{message:?} does not say {expected:?}");
        }
    }

    #[test]
    fn graphs_fail_too() {
        let ring = [(0, 2), (1, 3), (2, 3), (3, 4), (4, 2)];
        let TopologyConfig::Graph(mut config) = graph(2, 3, &ring) else { unreachable!() };
        config.failed_links = vec![(2, 3)];
        let network = build(&TopologyConfig::Graph(config)).unwrap();
        assert_eq!(network.egress_links(2).len(), 2);
    }
}
