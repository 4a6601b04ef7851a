//! Tests of incast.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::routing::Routing;
use crate::topology::build;
use crate::topology::tests::bfc;
use crate::workload::merge::tests::{incast, workload};
use crate::workload::{TrafficConfig, Workload};

fn events(config: Incast, duration: Time) -> BTreeMap<Time, Vec<FlowArrival>> {
    let network = build(&bfc()).unwrap();
    let routing = Routing::new(&network);
    let traffic = [TrafficConfig::Incast(config)];
    let mut events: BTreeMap<Time, Vec<FlowArrival>> = BTreeMap::new();
    for flow in workload(&traffic, &network, &routing, 1, duration).unwrap() {
        events.entry(flow.time).or_default().push(flow);
    }
    events
}

#[test]
fn events_are_periodic_and_complete() {
    let config = Incast { start: Time::from_us(10), ..incast() };
    let events = events(config, Time::from_ms(2));
    let times: Vec<Time> = events.keys().copied().collect();
    assert_eq!(times, [10, 510, 1_010, 1_510].map(Time::from_us));
    let receivers: BTreeSet<u32> = events.values().map(|flows| flows[0].destination).collect();
    assert!(receivers.len() > 1, "{receivers:?}");
    for flows in events.values() {
        assert_eq!(flows.len(), 100);
        let receiver = flows[0].destination;
        assert!(flows.iter().all(|flow| flow.destination == receiver && flow.source != receiver));
        assert!(flows.iter().all(|flow| flow.size == 200_000));
    }
}

#[test]
fn without_replacement_every_sender_sends_once() {
    let config = Incast { degree: 127, replace: false, ..incast() };
    for flows in events(config, Time::from_ms(5)).values() {
        let senders: BTreeSet<u32> = flows.iter().map(|flow| flow.source).collect();
        assert_eq!(senders.len(), 127);
        assert!(!senders.contains(&flows[0].destination));
    }
}

#[test]
fn with_replacement_the_degree_may_exceed_the_hosts() {
    let config = Incast { degree: 2_000, replace: true, ..incast() };
    let events = events(config, Time::from_us(400));
    assert_eq!(events[&Time::ZERO].len(), 2_000);
}

#[test]
fn given_senders_are_drawn_alike() {
    let config = Incast {
        degree: 2,
        replace: false,
        receiver: None,
        senders: Some(vec![3, 5, 8]),
        period: Time::from_us(1),
        size: Bytes::new(200),
        ..incast()
    };
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    for flow in events(config, Time::from_ms(3)).into_values().flatten() {
        *counts.entry(flow.source).or_default() += 1;
    }
    // 3,000 events of 2 senders out of 3: mean 2,000, standard deviation 25.8. Within five of them.
    assert!(counts.keys().eq(&[3, 5, 8]));
    assert!(counts.values().all(|count| count.abs_diff(2_000) < 130), "{counts:?}");
}

#[test]
fn refusals_name_field_and_value() {
    let network = build(&bfc()).unwrap();
    let routing = Routing::new(&network);
    type Change = fn(&mut Incast);
    let cases: [(Change, &str); 11] = [
        (|c| c.degree = 0, "degree is 0;"),
        (|c| c.size = Bytes::new(99), "size is 99 B;"),
        (|c| c.size = Bytes::new(u64::MAX), "size is 18446744073709551"),
        (|c| c.period = Time::ZERO, "period is 0 ps;"),
        (|c| c.receiver = Some(128), "receiver is 128;"),
        (|c| (c.receiver, c.senders) = (Some(4), Some(vec![4, 5])), "receiver is 4; it is among"),
        (|c| c.senders = Some(vec![4, 4]), "senders[1] is 4; it repeats"),
        (|c| c.senders = Some(vec![4]), "senders is [4];"),
        (|c| (c.degree, c.replace) = (128, false), "degree is 128; only 127"),
        (|c| c.stop = Time::ZERO, "start is 0 ps; it is not before its stop"),
        (|c| c.start = Time::from_ms(30), "start is 30 ms;"),
    ];
    for (change, expected) in cases {
        let mut config = incast();
        change(&mut config);
        let traffic = [TrafficConfig::Incast(config)];
        let refused = workload(&traffic, &network, &routing, 1, Time::from_ms(10));
        let message = refused.unwrap_err().to_string();
        let begins = message.strip_prefix("traffic[0].").unwrap();
        assert!(begins.starts_with(expected), "{message:?} is not {expected:?}");
    }
}

#[test]
fn traffic_does_not_stop_behind_the_end() {
    let network = build(&bfc()).unwrap();
    let config = Incast { stop: Time::from_us(11), ..incast() };
    let traffic = [TrafficConfig::Incast(config)];
    let refused = Workload::new(&traffic, &network, &Routing::new(&network), 1, Time::from_us(10));
    let message = refused.unwrap_err().to_string();
    assert!(
        message.starts_with(
            "traffic[0].stop is 11 us; traffic ends with the scenario's duration, 10 us"
        ),
        "{message}"
    );
}
