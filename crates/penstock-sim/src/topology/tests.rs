//! Tests of all kinds of topology.

use penstock_units::{BitRate, Time};
use proptest::prelude::*;

use super::*;

/// The network of BFC's evaluation (BFC Sec. 6.2.1).
pub(crate) fn bfc() -> TopologyConfig {
    leaf_spine(8, 16, 8)
}

pub(crate) fn leaf_spine(racks: u32, hosts_per_rack: u32, spines: u32) -> TopologyConfig {
    TopologyConfig::LeafSpine(LeafSpine {
        racks,
        hosts_per_rack,
        spines,
        host_rate: BitRate::from_gbps(100),
        spine_rate: BitRate::from_gbps(100),
        host_delay: Time::from_us(1),
        spine_delay: Time::from_us(1),
        pipeline_delay: Time::ZERO,
        failed_links: vec![],
    })
}

pub(crate) fn dumbbell(left: u32, right: u32) -> TopologyConfig {
    TopologyConfig::Dumbbell(Dumbbell {
        left,
        right,
        edge_rate: BitRate::from_gbps(100),
        edge_delay: Time::from_us(1),
        core_rate: BitRate::from_gbps(40),
        core_delay: Time::from_us(5),
        pipeline_delay: Time::from_ns(500),
        failed_links: vec![],
    })
}

fn chain(switches: u32, hosts_per_switch: u32) -> TopologyConfig {
    TopologyConfig::Chain(Chain {
        switches,
        hosts_per_switch,
        edge_rate: BitRate::from_gbps(100),
        edge_delay: Time::from_us(1),
        core_rate: BitRate::from_gbps(100),
        core_delay: Time::from_us(1),
        pipeline_delay: Time::ZERO,
        failed_links: vec![],
    })
}

/// A graph whose links all have 10 Gb/s and 1 us.
pub(crate) fn graph(hosts: u32, switches: u32, ends: &[(u32, u32)]) -> TopologyConfig {
    let link = |&(a, b)| GraphLink { a, b, rate: BitRate::from_gbps(10), delay: Time::from_us(1) };
    let links = ends.iter().map(link).collect();
    TopologyConfig::Graph(Graph {
        hosts,
        switches,
        links,
        pipeline_delay: Time::ZERO,
        failed_links: vec![],
    })
}

fn refusal(config: &TopologyConfig) -> String {
    build(config).expect_err("this topology must be refused").to_string()
}

#[test]
fn the_bfc_network_has_its_counts_names_and_layers() {
    let network = build(&bfc()).unwrap();
    assert_eq!((network.hosts, network.switches), (128, 16));
    assert_eq!(network.links.len(), 2 * (128 + 64));
    assert_eq!(network.layers, ["host-ToR", "ToR-spine", "spine-ToR", "ToR-host"]);
    let node = |id: usize| (network.nodes[id].name.as_str(), network.nodes[id].tier);
    assert_eq!([node(3), node(128), node(138)], [("H3", 0), ("T0", 1), ("S2", 2)]);
    assert_eq!(network.edge_switch(17), 129);
    assert_eq!(network.egress_links(128).len(), 16 + 8);
    let core = (0..network.links.len() as u32).filter(|link| network.is_core(*link)).count();
    assert_eq!(core, 128);
    assert_eq!(network.link_name(256), "T0->S0");
    assert_eq!(network.link_between(136, 128), Some(257));
    assert_eq!(network.link_between(0, 1), None);
    assert_eq!(network.link_between(9_999, 1), None);
}

#[test]
fn plain_networks_are_numbered_as_documented() {
    let network = build(&dumbbell(2, 3)).unwrap();
    assert_eq!(network.layers, ["host-switch", "switch-switch", "switch-host"]);
    assert_eq!((network.edge_switch(1), network.edge_switch(2)), (5, 6));
    assert_eq!(network.link_name(10), "S0->S1");

    let network = build(&chain(3, 2)).unwrap();
    assert_eq!((network.edge_switch(1), network.edge_switch(4)), (6, 8));
    assert_eq!(network.link_name(12), "S0->S1");

    let star = SingleSwitch {
        hosts: 4,
        rate: BitRate::from_gbps(10),
        delay: Time::ZERO,
        pipeline_delay: Time::ZERO,
        failed_links: vec![],
    };
    let network = build(&TopologyConfig::SingleSwitch(star)).unwrap();
    assert_eq!(network.layers, ["host-switch", "switch-host"]);
    assert_eq!(network.nodes[4].name, "S0");
}

#[test]
fn a_graph_counts_tiers_from_the_hosts() {
    let network = build(&graph(2, 3, &[(0, 2), (2, 3), (3, 4), (4, 1), (2, 4)])).unwrap();
    let tiers: Vec<u8> = network.nodes.iter().map(|node| node.tier).collect();
    assert_eq!(tiers, [0, 0, 1, 2, 1]);
}

#[test]
fn the_largest_network_that_is_meant_is_built() {
    let network = build(&leaf_spine(256, 32, 64)).unwrap();
    assert_eq!((network.hosts, network.links.len()), (8_192, 2 * (8_192 + 16_384)));
}

#[test]
fn refusals_name_field_value_and_remedy() {
    let cases = [
        (leaf_spine(0, 16, 8), "topology.racks is 0; write"),
        (
            leaf_spine(1, 1, 8),
            "topology.hosts_per_rack is 1; it leaves a network of one host; write",
        ),
        (
            leaf_spine(4_000_000_000, 4_000_000_000, 4_000_000_000),
            "topology.racks is 4000000000; this asks for",
        ),
        (chain(u32::MAX, u32::MAX), "topology.switches is 4294967295; this asks for"),
        (dumbbell(u32::MAX, u32::MAX), "topology.left is 4294967295; this asks for"),
        (chain(5_000, 1), "topology.switches is 5000; this asks for 5000 hosts, 5000 switches"),
        (dumbbell(3, 0), "topology.right is 0"),
        (
            leaf_spine(2, 65_528, 8),
            "topology.hosts_per_rack is 65528; this asks for 131056 hosts, 10 switches, 131072 links and \
             65536 ports of a switch; write counts that give at most",
        ),
        (dumbbell(65_535, 1), "topology.left is 65535; this asks for"),
        (chain(2, 65_534), "topology.hosts_per_switch is 65534; this asks for"),
        (
            graph(65_536, 1, &(0..65_536).map(|host| (host, 65_536)).collect::<Vec<_>>()),
            "topology.links is a list in which switch 65536 has 65536 cables; a switch has at most 65535",
        ),
        (
            graph(2, 1, &[(0, 2), (1, 7)]),
            "topology.links[1].b is 7; there is no such node; nodes are 0 to 2",
        ),
        (graph(2, 1, &[(0, 2), (2, 2)]), "topology.links[1] is [2, 2]; it joins a node to itself"),
        (
            graph(2, 1, &[(0, 1)]),
            "topology.links[0] is [0, 1]; it joins two hosts, and a host has one",
        ),
        (
            graph(2, 2, &[(0, 2), (1, 2), (1, 3)]),
            "in which host 1 has cables to [2, 3]; a host has exactly one cable",
        ),
        (graph(2, 1, &[(0, 2)]), "in which host 1 has cables to nothing; a host"),
        (
            graph(2, 2, &[(0, 2), (1, 3)]),
            "leaves no path from node 0 to [1, 3]; the network is disconnected",
        ),
        (
            graph(2, 2, &[(0, 2), (1, 3), (2, 3), (3, 2)]),
            "topology.links[3] is [3, 2]; topology.links[2] joins the same two nodes",
        ),
    ];
    for (config, expected) in cases {
        let message = refusal(&config);
        assert!(message.contains(expected), "{message:?} does not say {expected:?}");
    }
}

#[test]
fn rates_and_delays_are_checked() {
    let TopologyConfig::Graph(mut config) = graph(2, 1, &[(0, 2), (1, 2)]) else { unreachable!() };
    config.links[1].rate = BitRate::from_bps(0);
    let message = refusal(&TopologyConfig::Graph(config.clone()));
    assert!(message.contains("topology.links[1].rate is 0 b/s"), "{message}");
    config.links[1] = GraphLink { delay: Time::NEVER, ..config.links[0] };
    config.links[1].a = 1;
    let message = refusal(&TopologyConfig::Graph(config.clone()));
    assert!(message.contains("topology.links[1].delay") && message.contains("1 s"), "{message}");
}

#[test]
fn json_is_that_of_the_scenario() {
    let text = concat!(
        r#"{"kind":"single-switch","hosts":3,"rate":100000000000,"delay":1000000,"#,
        r#""pipeline_delay":0,"failed_links":[]}"#
    );
    let config: TopologyConfig = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&config).unwrap(), text);
    for config in [bfc(), dumbbell(1, 1), chain(2, 1), graph(2, 1, &[(0, 2), (1, 2)])] {
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<TopologyConfig>(&text).unwrap(), config);
        let unknown = text.replacen('{', r#"{"colour":1,"#, 1);
        let message = serde_json::from_str::<TopologyConfig>(&unknown).unwrap_err().to_string();
        assert!(message.contains("colour"), "{message}");
    }
}

proptest! {
    #[test]
    fn links_come_in_pairs_and_are_indexed(racks in 1u32..6, hosts in 2u32..5, spines in 1u32..5) {
        let network = build(&leaf_spine(racks, hosts, spines)).unwrap();
        let mut seen = 0;
        for node in 0..network.hosts + network.switches {
            let leaving = network.egress_links(node);
            prop_assert!(leaving.is_sorted());
            prop_assert!(leaving.iter().all(|link| network.links[*link as usize].from == node));
            seen += leaving.len();
        }
        prop_assert_eq!(seen, network.links.len());
        for (id, link) in (0..).zip(&network.links) {
            let back = network.links[link.reverse as usize];
            prop_assert_eq!((back.from, back.to, back.reverse), (link.to, link.from, id));
        }
    }
}
