//! Whole workloads, and the entries that other tests start from.

use penstock_units::Bytes;
use proptest::prelude::*;

use super::*;
use crate::topology::build;
use crate::topology::tests::{bfc, leaf_spine};
use crate::workload::{
    ArrivalConfig, Convention, FlowArrival, Incast, Listed, LoadCounts, LoadOn, OpenLoop,
    PairConfig, SizeConfig,
};

/// The workload of `traffic`; entries that would last longer end at `duration`.
pub(crate) fn workload(
    traffic: &[TrafficConfig],
    topology: &Topology,
    routing: &Routing,
    seed: u64,
    duration: Time,
) -> Result<Workload, ScenarioError> {
    let mut traffic = traffic.to_vec();
    for entry in &mut traffic {
        match entry {
            TrafficConfig::OpenLoop(open_loop) => open_loop.stop = open_loop.stop.min(duration),
            TrafficConfig::Incast(incast) => incast.stop = incast.stop.min(duration),
            _ => {}
        }
    }
    Workload::new(&traffic, topology, routing, seed, duration)
}

/// Poisson flows of 30 kB on average that load the core with 20 %.
pub(crate) fn open_loop() -> OpenLoop {
    OpenLoop {
        label: "background".to_owned(),
        class: 0,
        class_above: Vec::new(),
        connections: 0,
        sizes: SizeConfig::Exponential { mean: Bytes::new(30_000) },
        arrivals: ArrivalConfig::Poisson {},
        pairs: PairConfig::Uniform {},
        load: 0.2,
        load_on: LoadOn::Core {},
        load_counts: LoadCounts::Crossing,
        start: Time::ZERO,
        stop: Time::from_ms(1_000),
    }
}

/// The incast of BFC Sec. 6.2.2.
pub(crate) fn incast() -> Incast {
    Incast {
        label: "incast".to_owned(),
        class: 0,
        degree: 100,
        size: Bytes::new(20_000_000),
        period: Time::from_us(500),
        start: Time::ZERO,
        stop: Time::from_ms(1_000),
        receiver: None,
        senders: None,
        lasts: Time::ZERO,
        replace: true,
    }
}

fn listed(flows: &[(u32, u32, u64, u64)]) -> TrafficConfig {
    listed_to_ports(flows, &[])
}

fn listed_to_ports(flows: &[(u32, u32, u64, u64)], ports: &[u16]) -> TrafficConfig {
    let flow = |&(source, destination, size, start)| {
        (source, destination, Bytes::new(size), Time::from_ps(start))
    };
    let flows = flows.iter().map(flow).collect();
    TrafficConfig::Listed(Listed {
        label: "listed".to_owned(),
        class: 1,
        flows,
        spread: Time::ZERO,
        lasts: vec![],
        after: vec![],
        delay: vec![],
        lag: vec![],
        needed: vec![],
        places: vec![],
        steps: vec![],
        destination_ports: ports.to_vec(),
    })
}

fn named(label: &str, entry: TrafficConfig) -> TrafficConfig {
    let TrafficConfig::Listed(listed) = entry else { panic!("{entry:?}") };
    TrafficConfig::Listed(Listed { label: label.to_owned(), ..listed })
}

/// A thousand flows, each of which starts up to `spread` after 1 us.
fn spread_out(spread: Time) -> TrafficConfig {
    let flow = (0, 1, Bytes::new(10), Time::from_us(1));
    TrafficConfig::Listed(Listed {
        label: "spread".to_owned(),
        class: 1,
        flows: vec![flow; 1_000],
        spread,
        lasts: vec![],
        after: vec![],
        delay: vec![],
        lag: vec![],
        needed: vec![],
        places: vec![],
        steps: vec![],
        destination_ports: vec![],
    })
}

fn flows(traffic: &[TrafficConfig], seed: u64, duration: Time) -> Vec<FlowArrival> {
    let network = build(&bfc()).unwrap();
    let routing = Routing::new(&network);
    workload(traffic, &network, &routing, seed, duration).unwrap().collect()
}

#[test]
fn ties_are_in_order_of_entry_and_sequence() {
    let traffic = [
        listed(&[(0, 1, 10, 500), (2, 3, 20, 0), (4, 5, 0, 500)]),
        named("second", listed(&[(6, 7, 40, 500), (8, 9, 50, 0)])),
    ];
    let got = flows(&traffic, 1, Time::from_us(1));
    let order: Vec<(u32, u64, u16)> =
        got.iter().map(|flow| (flow.source, flow.size, flow.label)).collect();
    assert_eq!(order, [(2, 20, 0), (8, 50, 1), (0, 10, 0), (4, 0, 0), (6, 40, 1)]);
    assert!(got.iter().all(|flow| flow.class == 1));
}

#[test]
fn each_listed_flow_keeps_its_destination_port() {
    let rows = [(0, 1, 10, 500), (2, 3, 20, 0)];
    let got = flows(
        &[listed_to_ports(&rows, &[100, 200]), named("portless", listed(&rows))],
        1,
        Time::from_us(1),
    );
    let ports: Vec<_> = got.iter().map(|flow| (flow.source, flow.destination_port)).collect();
    assert_eq!(ports, [(2, 200), (2, 0), (0, 100), (0, 0)]);
}

#[test]
fn a_spread_draws_starts_evenly_and_by_the_seed() {
    let starts = |seed| -> Vec<u64> {
        let got = flows(&[spread_out(Time::from_us(8))], seed, Time::from_us(10));
        got.iter().map(|flow| flow.time.as_ps()).collect()
    };
    let first = starts(1);
    assert!(first.is_sorted() && first != starts(2));
    assert!(first[0] >= 1_000_000 && first[999] <= 9_000_000);
    let mean = first.iter().sum::<u64>() / 1_000;
    // For the mean of 1,000 even draws over 8 us, four standard errors are 292 ns.
    assert!(mean.abs_diff(5_000_000) < 292_000, "{mean}");
    assert_eq!(first, starts(1));
}

#[test]
fn a_spread_ends_before_traffic_does() {
    let network = build(&bfc()).unwrap();
    let routing = Routing::new(&network);
    let traffic = [spread_out(Time::from_us(9))];
    let refused = workload(&traffic, &network, &routing, 1, Time::from_us(10));
    let message = refused.unwrap_err().to_string();
    let expected = "traffic[0].spread is 9 us; the last flow is at 1 us and may then start after \
                    the scenario's duration, 10 us;";
    assert!(message.starts_with(expected), "{message:?}");
}

#[test]
fn listed_flows_are_checked() {
    let network = build(&bfc()).unwrap();
    let routing = Routing::new(&network);
    let cases = [
        (
            listed(&[(0, 1, 1, 0), (128, 1, 1, 0)]),
            "traffic[0].flows[1][0] is 128; there is no such host; hosts are 0 to 127",
        ),
        (listed(&[(0, 200, 1, 0)]), "traffic[0].flows[0][1] is 200;"),
        (listed(&[]), "traffic[0].flows is a list of 0; write"),
        (listed(&[(5, 5, 1, 0)]), "traffic[0].flows[0][1] is 5; a flow from a host to itself"),
        (
            listed(&[(5, 6, 1, 1_000_000)]),
            "traffic[0].flows[0][3] is 1 us; it is not before the scenario's duration, 1 us (1 such",
        ),
        (
            listed_to_ports(&[(5, 6, 1, 0), (6, 5, 1, 0)], &[100]),
            "traffic[0].destination_ports is a list of 1; write one for each of the 2 flows",
        ),
    ];
    for (config, expected) in cases {
        let refused = workload(&[config], &network, &routing, 1, Time::from_us(1));
        let message = refused.unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message:?} does not say {expected:?}");
    }
}

#[test]
fn labels_are_those_of_the_entries() {
    let network = build(&bfc()).unwrap();
    let routing = Routing::new(&network);
    let nameless = OpenLoop { label: String::new(), ..open_loop() };
    let traffic = [TrafficConfig::Incast(incast()), TrafficConfig::OpenLoop(nameless)];
    let named = workload(&traffic[..1], &network, &routing, 1, Time::from_us(1)).unwrap();
    assert_eq!(named.labels(), ["incast"]);
    let refused = workload(&traffic, &network, &routing, 1, Time::from_us(1));
    assert!(refused.unwrap_err().to_string().starts_with("traffic[1].label is \"\";"));
    let twice = [listed(&[(0, 1, 1, 0)]), listed(&[(0, 1, 1, 0)])];
    let refused = workload(&twice, &network, &routing, 1, Time::from_us(1));
    let message = refused.unwrap_err().to_string();
    assert!(message.starts_with("traffic[1].label is \"listed\"; traffic[0] has"), "{message}");
}

#[test]
fn an_added_entry_changes_no_other_flow() {
    let duration = Time::from_us(600);
    let background = TrafficConfig::OpenLoop(open_loop());
    let alone = flows(std::slice::from_ref(&background), 4, duration);
    let both = flows(&[background, TrafficConfig::Incast(incast())], 4, duration);
    let background: Vec<FlowArrival> = both.into_iter().filter(|flow| flow.label == 0).collect();
    assert!(alone.len() > 1_000);
    assert_eq!(alone, background);
}

#[test]
fn the_largest_network_that_is_meant_has_a_workload() {
    let network = build(&leaf_spine(256, 32, 64)).unwrap();
    let routing = Routing::new(&network);
    let pairs = [
        PairConfig::Uniform {},
        PairConfig::RackLocal { fraction: 0.2 },
        PairConfig::Between {
            sources: (0..4_096).collect(),
            destinations: (2_048..8_192).collect(),
        },
    ];
    for pairs in pairs {
        let traffic = [TrafficConfig::OpenLoop(OpenLoop { load: 0.1, pairs, ..open_loop() })];
        let mut workload = workload(&traffic, &network, &routing, 1, Time::from_ms(1)).unwrap();
        assert!(workload.nth(1_000).is_some());
    }
}

#[test]
fn a_flow_that_exceeds_sizes_has_a_higher_class_and_is_the_same_otherwise() {
    // A third of the flows each: at the first limit, beyond it, and beyond both.
    let points = [(10_000, 1.0 / 3.0), (10_001, 2.0 / 3.0), (2_000_000, 1.0)];
    let points = points.map(|(size, share)| (Bytes::new(size), share)).to_vec();
    let convention = Convention::Step;
    let sizes = SizeConfig::Cdf { name: "three".to_owned(), convention, points };
    let class_above = vec![Bytes::new(10_000), Bytes::new(1_000_000)];
    let plain = OpenLoop { class: 2, sizes, ..open_loop() };
    let classed = OpenLoop { class_above, ..plain.clone() };
    let drawn = |entry| flows(&[TrafficConfig::OpenLoop(entry)], 1, Time::from_ms(10));
    let (plain, classed) = (drawn(plain), drawn(classed));
    let class_of = |size| match size {
        10_000 => 2,
        10_001 => 3,
        _ => 4,
    };
    assert!([2, 3, 4].iter().all(|class| classed.iter().any(|flow| flow.class == *class)));
    assert_eq!(plain.len(), classed.len());
    for (plain, classed) in plain.iter().zip(&classed) {
        assert_eq!(*classed, FlowArrival { class: class_of(plain.size), ..*plain });
        assert_eq!(plain.class, 2);
    }
}

#[test]
fn sizes_of_classes_ascend() {
    let class_above = vec![Bytes::new(10), Bytes::new(10), Bytes::new(9)];
    let entry = TrafficConfig::OpenLoop(OpenLoop { class_above, ..open_loop() });
    let network = build(&bfc()).unwrap();
    let routing = Routing::new(&network);
    let refused =
        workload(&[entry], &network, &routing, 1, Time::from_ms(1)).unwrap_err().to_string();
    let lines: Vec<_> = refused.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(lines, ["traffic[0].class_above[1]", "traffic[0].class_above[2]"]);
    assert!(refused.contains("the size before it is 10 B; write them in ascending order"));
}

#[test]
fn json_is_that_of_the_scenario() {
    let text = concat!(
        r#"{"kind":"open-loop","label":"background","class":0,"class_above":[],"#,
        r#""sizes":{"kind":"exponential","mean":30000},"arrivals":{"kind":"poisson"},"#,
        r#""pairs":{"kind":"uniform"},"load":0.2,"load_on":{"kind":"core"},"#,
        r#""load_counts":"crossing","connections":0,"start":0,"stop":1000000000000}"#
    );
    let config = TrafficConfig::OpenLoop(open_loop());
    assert_eq!(serde_json::to_string(&config).unwrap(), text);
    let cdf = r#"{"kind":"cdf","name":"w","convention":"step","points":[[3,0.5],[9,1.0]]}"#;
    let sizes: SizeConfig = serde_json::from_str(cdf).unwrap();
    assert_eq!(serde_json::to_string(&sizes).unwrap(), cdf);
    let links = r#"{"kind":"links","links":[[4,5]]}"#;
    let load_on: LoadOn = serde_json::from_str(links).unwrap();
    assert_eq!(serde_json::to_string(&load_on).unwrap(), links);
    for config in [config, TrafficConfig::Incast(incast()), listed(&[(0, 1, 2, 3)])] {
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<TrafficConfig>(&text).unwrap(), config);
        let unknown = text.replacen('{', r#"{"colour":1,"#, 1);
        let message = serde_json::from_str::<TrafficConfig>(&unknown).unwrap_err().to_string();
        assert!(message.contains("colour"), "{message}");
    }
    assert!(serde_json::from_str::<LoadOn>(r#"{"kind":"core","links":[]}"#).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn flows_are_ordered_in_range_and_reproducible(
        seed: u64,
        start in 0u64..100,
        length in 1u64..100,
        degree in 1u32..40,
        sigma in 0.1f64..3.0,
        replace: bool,
    ) {
        let (start, stop) = (Time::from_us(start), Time::from_us(start + length));
        let traffic = [
            TrafficConfig::OpenLoop(OpenLoop {
                arrivals: ArrivalConfig::Lognormal { sigma },
                start,
                stop,
                ..open_loop()
            }),
            TrafficConfig::Incast(Incast { degree, replace, start, stop, ..incast() }),
            listed(&[(0, 1, 0, 70_000_000), (3, 2, 7, 0)]),
        ];
        let duration = Time::from_us(120);
        let once = flows(&traffic, seed, duration);
        prop_assert!(once.is_sorted_by_key(|flow| (flow.time, flow.label)));
        for flow in &once {
            prop_assert!(flow.source < 128 && flow.destination < 128);
            prop_assert!(flow.source != flow.destination && flow.time < duration);
            if flow.label < 2 {
                prop_assert!(flow.size > 0 && flow.time >= start && flow.time < stop);
            }
        }
        prop_assert_eq!(&once, &flows(&traffic, seed, duration));
    }
}
