//! Loads, tested on whole workloads.

use penstock_units::{Bytes, Time};

use super::*;
use crate::routing::Routing;
use crate::topology::build;
use crate::topology::tests::{bfc, dumbbell, graph};
use crate::workload::merge::tests::{incast, open_loop, workload};
use crate::workload::{ArrivalConfig, Incast, OpenLoop, PairConfig, SizeConfig, TrafficConfig};

/// Mean payload load of each link over `duration`.
fn measured(traffic: &[TrafficConfig], topology: &Topology, duration: Time) -> Vec<f64> {
    let routing = Routing::new(topology);
    let workload = workload(traffic, topology, &routing, 1, duration).unwrap();
    let mut bytes = vec![0u64; topology.links.len()];
    let mut path = Vec::new();
    for (hash, flow) in (0..).zip(workload) {
        path.clear();
        let hash = penstock_engine::stream::mix(hash);
        routing.path(flow.source, flow.destination, hash, &mut path);
        path.iter().for_each(|link| bytes[*link as usize] += flow.size);
    }
    let load = |(bytes, link): (u64, &crate::topology::Link)| {
        bytes as f64 * 8.0 / (link.rate.as_bps() as f64 * duration.as_s_f64())
    };
    bytes.into_iter().zip(&topology.links).map(load).collect()
}

fn mean(loads: &[f64], links: impl Fn(u32) -> bool) -> f64 {
    let chosen: Vec<f64> =
        (0..).zip(loads).filter(|(link, _)| links(*link)).map(|(_, load)| *load).collect();
    chosen.iter().sum::<f64>() / chosen.len() as f64
}

#[test]
fn a_crossing_load_is_the_load_of_its_links() {
    let network = build(&bfc()).unwrap();
    let duration = Time::from_ms(4);
    let pairs = [PairConfig::Uniform {}, PairConfig::RackLocal { fraction: 0.5 }];
    for pairs in pairs {
        let config = OpenLoop { load: 0.4, pairs, ..open_loop() };
        let loads = measured(&[TrafficConfig::OpenLoop(config)], &network, duration);
        let core = mean(&loads, |link| network.is_core(link));
        // With about 2e5 flows of exponential size the standard error is 0.3 %.
        assert!((core / 0.4 - 1.0).abs() < 0.015, "{core}");
    }
    let config = OpenLoop { load: 0.4, load_on: LoadOn::Edge {}, ..open_loop() };
    let loads = measured(&[TrafficConfig::OpenLoop(config)], &network, duration);
    let edge = mean(&loads, |link| network.is_host(network.links[link as usize].from));
    assert!((edge / 0.4 - 1.0).abs() < 0.015, "{edge}");
}

#[test]
fn the_fullest_link_is_the_first_with_the_most_payload_of_all_entries() {
    let network = build(&dumbbell(2, 2)).unwrap();
    let fullest = |traffic: &[TrafficConfig]| {
        let routing = Routing::new(&network);
        let found = workload(traffic, &network, &routing, 1, Time::from_ms(1)).unwrap();
        found.fullest_link().cloned()
    };
    let open_loop = OpenLoop { load: 0.4, ..open_loop() };
    let later = OpenLoop {
        label: "later".to_owned(),
        load: 0.2,
        start: Time::from_us(500),
        ..open_loop.clone()
    };
    let found = fullest(&[open_loop, later].map(TrafficConfig::OpenLoop)).unwrap();
    // Half of a host's flows cross the core; a link of the core carries what two hosts send over it.
    assert_eq!((found.name.as_str(), found.layer.as_str()), ("S0->S1", "switch-switch"));
    assert!((found.load - 0.6).abs() < 1e-9, "{found:?}");
    let burst = Incast { stop: Time::from_us(1), ..incast() };
    assert_eq!(fullest(&[TrafficConfig::Incast(burst)]), None);
}

#[test]
fn a_load_of_all_flows_is_that_of_the_bfc_generator() {
    let network = build(&bfc()).unwrap();
    let config = OpenLoop { load: 0.6, load_counts: LoadCounts::All, ..open_loop() };
    let loads = measured(&[TrafficConfig::OpenLoop(config)], &network, Time::from_ms(4));
    let core = mean(&loads, |link| network.is_core(link));
    // The reference is 64 x 100 Gb/s, and 112/127 of the flows cross the core (BASELINES 0.5).
    assert!((core / (0.6 * 112.0 / 127.0) - 1.0).abs() < 0.015, "{core}");
}

#[test]
fn a_load_on_named_links_is_theirs() {
    let network = build(&dumbbell(2, 2)).unwrap();
    let pairs = PairConfig::Between { sources: vec![0, 1], destinations: vec![2, 3] };
    let load_on = LoadOn::Links { links: vec![(4, 5)] };
    let config = OpenLoop { load: 0.8, pairs, load_on, ..open_loop() };
    let loads = measured(&[TrafficConfig::OpenLoop(config)], &network, Time::from_ms(40));
    let link = network.link_between(4, 5).unwrap() as usize;
    // With about 20,000 flows the standard error is 1 %.
    assert!((loads[link] / 0.8 - 1.0).abs() < 0.04, "{}", loads[link]);
}

#[test]
fn flows_of_synchronous_hosts_start_together_and_have_the_load_in_total() {
    let network = build(&dumbbell(3, 1)).unwrap();
    let routing = Routing::new(&network);
    let pairs = PairConfig::Synchronous { sources: vec![0, 1, 2], receiver: 3 };
    let load_on = LoadOn::Links { links: vec![(4, 5)] };
    let config = OpenLoop { load: 0.8, pairs, load_on, ..open_loop() };
    let traffic = [TrafficConfig::OpenLoop(config)];
    let flows = workload(&traffic, &network, &routing, 1, Time::from_ms(4)).unwrap();
    let flows: Vec<_> = flows.map(|flow| (flow.time, flow.source)).collect();
    for burst in flows.chunks_exact(3) {
        let time = burst[0].0;
        assert_eq!(burst, [(time, 0), (time, 1), (time, 2)]);
    }
    let loads = measured(&traffic, &network, Time::from_ms(40));
    let link = network.link_between(4, 5).unwrap() as usize;
    // With about 20,000 flows in bursts of three the standard error is 1.4 %.
    assert!((loads[link] / 0.8 - 1.0).abs() < 0.06, "{}", loads[link]);
}

#[test]
fn the_incast_of_bfc_is_five_percent_of_the_core_reference() {
    let network = build(&bfc()).unwrap();
    let duration = Time::from_ms(200);
    let loads = measured(&[TrafficConfig::Incast(incast())], &network, duration);
    let edge = mean(&loads, |link| network.is_host(network.links[link as usize].from));
    // The load is 320 Gb/s over 128 hosts of 100 Gb/s.
    assert!((edge / 0.025 - 1.0).abs() < 1e-9, "{edge}");
}

fn refusal(traffic: &[TrafficConfig], topology: &Topology) -> String {
    let routing = Routing::new(topology);
    workload(traffic, topology, &routing, 1, Time::from_ms(10)).unwrap_err().to_string()
}

#[test]
fn loads_that_are_no_loads_are_refused() {
    let network = build(&dumbbell(2, 2)).unwrap();
    let star = build(&graph(2, 1, &[(0, 2), (1, 2)])).unwrap();
    let check = |topology: &Topology, change: &dyn Fn(&mut OpenLoop), expected: &str| {
        let mut config = open_loop();
        change(&mut config);
        let message = refusal(&[TrafficConfig::OpenLoop(config)], topology);
        let begins = message.strip_prefix("traffic[0].").unwrap();
        assert!(begins.starts_with(expected), "{message:?} is not {expected:?}");
    };
    for load in [0.0, 1.0, -0.5] {
        check(&network, &|c| c.load = load, &format!("load is {load:?}; write above 0, below 1"));
    }
    check(&network, &|c| c.load = f64::NAN, "load is no finite number;");
    check(&star, &|_| (), "load_on.kind is core; this topology has no");
    let local = PairConfig::RackLocal { fraction: 1.0 };
    check(&network, &|c| c.pairs = local.clone(), "load_on is core; no flow of");
    let between_switches = |config: &mut OpenLoop| {
        config.pairs = local.clone();
        config.load_on = LoadOn::Links { links: vec![(4, 5)] };
    };
    check(&network, &between_switches, "load_on is links; no flow of");
    let cases = [
        (vec![(4, 5), (0, 5)], "load_on.links[1] is [0, 5]; no link leads"),
        (
            vec![(4, 5), (4, 5)],
            "load_on.links[1] is [4, 5]; it repeats traffic[0].load_on.links[0]",
        ),
        (vec![], "load_on.links is a list of 0; write 1 or more"),
    ];
    for (links, expected) in cases {
        let load_on = LoadOn::Links { links };
        check(&network, &|c| c.load_on = load_on.clone(), expected);
    }
    let all_on_the_edge = |config: &mut OpenLoop| {
        config.load_on = LoadOn::Edge {};
        config.load_counts = LoadCounts::All;
    };
    check(&network, &all_on_the_edge, "load_counts is all;");
}

#[test]
fn an_overloaded_link_is_refused_with_the_largest_load_that_would_do() {
    let network = build(&dumbbell(2, 2)).unwrap();
    // All flows go from left to right, so the mean over both directions is half the load of one.
    let one_way = |load| {
        let pairs = PairConfig::Between { sources: vec![0, 1], destinations: vec![2, 3] };
        TrafficConfig::OpenLoop(OpenLoop { load, pairs, ..open_loop() })
    };
    let message = refusal(&[one_way(0.6)], &network);
    let expected = "traffic[0].load is 0.6; all traffic together loads S0->S1 (switch-switch) with \
                    1.200 of its rate, which must be below 1; write at most 0.499";
    assert_eq!(message, expected);
    let routing = Routing::new(&network);
    let accepts = |traffic: &[TrafficConfig]| {
        workload(traffic, &network, &routing, 1, Time::from_ms(10)).is_ok()
    };
    assert!(accepts(&[one_way(0.499)]));
    // The two halves are too much together, but not one after the other.
    let TrafficConfig::OpenLoop(half) = one_way(0.3) else { unreachable!() };
    let (early, late) = (Time::from_ms(5), Time::from_ms(5));
    let other = OpenLoop { label: "other".to_owned(), ..half.clone() };
    let first = OpenLoop { stop: early, ..half.clone() };
    let second = OpenLoop { start: late, ..other.clone() };
    assert!(!accepts(&[half, other].map(TrafficConfig::OpenLoop)));
    assert!(accepts(&[first, second].map(TrafficConfig::OpenLoop)));
}

#[test]
fn an_incast_on_a_fixed_receiver_must_fit_its_link() {
    let network = build(&bfc()).unwrap();
    let fixed = TrafficConfig::Incast(Incast { receiver: Some(3), ..incast() });
    let message = refusal(&[fixed], &network);
    let expected = "traffic[0].period is 500 us; all traffic together loads T0->H3 (ToR-host) with \
                    3.200 of its rate, which must be below 1; write at least 1600.002 us";
    assert_eq!(message, expected);
    let routing = Routing::new(&network);
    let once = Incast { receiver: Some(3), stop: Time::from_us(500), ..incast() };
    let traffic = [TrafficConfig::Incast(once)];
    assert!(workload(&traffic, &network, &routing, 1, Time::from_ms(10)).is_ok());
    let slow = Incast { receiver: Some(3), period: Time::from_ns(1_600_002), ..incast() };
    let traffic = [TrafficConfig::Incast(slow)];
    assert!(workload(&traffic, &network, &routing, 1, Time::from_ms(10)).is_ok());
}

#[test]
fn small_flows_of_one_size_give_the_expected_count() {
    let network = build(&bfc()).unwrap();
    let routing = Routing::new(&network);
    let config = OpenLoop {
        load: 0.5,
        load_counts: LoadCounts::All,
        sizes: SizeConfig::Fixed { size: Bytes::new(1_000) },
        arrivals: ArrivalConfig::Deterministic {},
        ..open_loop()
    };
    let traffic = [TrafficConfig::OpenLoop(config)];
    let flows = workload(&traffic, &network, &routing, 1, Time::from_us(100)).unwrap();
    // 0.5 x 6.4 Tb/s / 8,000 b are 4e8 flows/s; the first flow starts after one gap.
    assert_eq!(flows.count(), 39_999);
}

#[test]
fn the_entry_that_loads_a_link_most_is_named() {
    let network = build(&bfc()).unwrap();
    let background = TrafficConfig::OpenLoop(OpenLoop { load: 0.9, ..open_loop() });
    let heavy = TrafficConfig::Incast(Incast {
        receiver: Some(3),
        period: Time::from_us(1_700),
        ..incast()
    });
    let message = refusal(&[background, heavy], &network);
    // 20 MB in 1.7 ms are 94.1 Gb/s; the background leaves 49 % of the receiver's link.
    let expected = "traffic[1].period is 1.7 ms; all traffic together loads T0->H3 (ToR-host)";
    assert!(message.starts_with(expected), "{message}");
    assert!(
        message.contains("1.451 of its rate, which must be below 1; write at least"),
        "{message}"
    );
}

#[test]
fn the_entry_that_fills_a_link_alone_is_to_be_reduced_first() {
    let network = build(&bfc()).unwrap();
    let fixed = |label: &str, period| {
        let label = label.to_owned();
        TrafficConfig::Incast(Incast { label, receiver: Some(3), period, ..incast() })
    };
    // 20 MB need 1.6 ms of the receiver's link: two such entries load it with 1.333 and 1.067.
    let traffic = [fixed("one", Time::from_us(1_200)), fixed("other", Time::from_us(1_500))];
    let expected = "traffic[0].period is 1.2 ms; all traffic together loads T0->H3 (ToR-host) with \
                    2.400 of its rate, which must be below 1; without this entry T0->H3 has 1.067, \
                    of which traffic[1].period brings 1.067: reduce that first";
    assert_eq!(refusal(&traffic, &network), expected);
}

#[test]
fn a_small_load_that_would_do_has_three_digits() {
    assert_eq!(Knob::Load(0.5).bound(0.000_844_4), "at most 0.000422");
    assert_eq!(Knob::Load(0.5).bound(0.844_4), "at most 0.422");
    assert_eq!(Knob::Load(8.0).bound(0.25), "at most 1.999");
}

#[test]
fn an_entry_that_is_far_too_much_alone_is_refused_with_what_would_do() {
    let network = build(&bfc()).unwrap();
    let once = Incast { receiver: Some(3), period: Time::from_ps(1), ..incast() };
    let message = refusal(&[TrafficConfig::Incast(once)], &network);
    assert!(message.ends_with("write at least 1600.002 us"), "{message}");
    assert!(Knob::Period(Time::from_ms(60_000)).bound(1e-12).starts_with("at least "));
}
