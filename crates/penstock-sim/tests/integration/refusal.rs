//! Scenarios that are refused: all problems come at once, and no text causes a panic.

use penstock_sim::Scenario;
use serde_json::{Value, json};

use crate::fixture::{US, bfc, credits, incast, leaf_spine, listed, open_loop, parse, pfc};
use crate::fixture::{scenario, schemes, with};

/// Two racks of two hosts (0 to 3), ToRs 4 and 5, spines 6 and 7; traffic of every kind.
fn good(scheme: Value) -> Value {
    let flows = listed(&[(0, 2, 1_000, 0), (1, 3, 1_000, 0)]);
    let open = open_loop(json!({"kind": "fixed", "size": 1_000}), 0.1, 10 * US);
    let traffic = [flows, open, incast(2, 2_000, Some(0))];
    scenario(leaf_spine(2, 2, 2), scheme, &traffic, 10 * US)
}

fn refused(scenario: &Value) -> Vec<String> {
    let error = penstock_sim::validate(&parse(scenario)).unwrap_err();
    let lines = error.to_string();
    assert_eq!(lines.lines().count(), error.problems().len(), "{lines}");
    error.problems().iter().map(|problem| problem.path.clone()).collect()
}

#[test]
fn five_problems_in_different_places_are_told_in_order() {
    let changes = [
        ("/wire/header", json!(0)),
        ("/scheme/switch/scheduling/quantum", json!(2_000_000)),
        ("/measure/series", json!([[0, 3]])),
        ("/faults/outages", json!([{"link": [0, 4], "start": US, "end": null}])),
        ("/traffic/1/load", json!(1.5)),
    ];
    let bad = changes.into_iter().fold(good(bfc()), |bad, (at, value)| with(bad, at, value));
    assert_eq!(
        refused(&bad),
        [
            "wire.header",
            "scheme.switch.scheduling.quantum",
            "measure.series[0]",
            "faults.outages[0].link",
            "traffic[1].load"
        ]
    );
}

#[test]
fn what_counts_with_a_refused_field_is_not_told() {
    // The packet of credits is compared with the packet of the wire, the queues of the NIC with the
    // queues of a port.
    let credits = good(credits(32, 10_000_000));
    assert_eq!(refused(&with(credits.clone(), "/wire/payload", 9_001)), ["wire.payload"]);
    let no_queues = with(credits, "/scheme/switch/assignment/queues", 0);
    assert_eq!(refused(&no_queues), ["scheme.switch.assignment.queues"]);
    // FIFO needs a single class.
    let classes = with(good(pfc()), "/scheme/switch/assignment/classes", 9);
    assert_eq!(refused(&classes), ["scheme.switch.assignment.classes"]);
    // All traffic ends with the scenario, so only the duration is refused.
    assert_eq!(refused(&with(good(bfc()), "/duration", 0)), ["duration"]);
}

#[test]
fn a_network_and_an_entry_tell_each_of_their_fields() {
    let bad = with(good(bfc()), "/topology/spines", 0);
    let bad = with(with(bad, "/topology/host_rate", 0), "/topology/spine_delay", u64::MAX);
    assert_eq!(refused(&bad), ["topology.spines", "topology.host_rate", "topology.spine_delay"]);
    let bad = with(good(bfc()), "/traffic/1/sizes/size", 0);
    let bad = with(with(bad, "/traffic/1/load", 0.0), "/traffic/2/period", 0);
    let bad = with(bad, "/traffic/0/flows", json!([[0, 9, 1, 0], [1, 2, 1, 0], [3, 3, 1, 0]]));
    assert_eq!(
        refused(&bad),
        [
            "traffic[0].flows[0][1]",
            "traffic[0].flows[2][1]",
            "traffic[1].sizes.size",
            "traffic[1].load",
            "traffic[2].period"
        ]
    );
}

#[test]
fn a_list_tells_each_wrong_entry() {
    let bad = with(good(bfc()), "/traffic/0/flows", json!([[9, 8, 1, 0], [1, 1, 1, 0]]));
    let bad = with(bad, "/traffic/2/senders", json!([9, 0, 9, 1, 1]));
    let one = |link, start, end| json!({"link": link, "start": start, "end": end});
    let twice = |link: [u32; 2]| [one(link, 1, 3), one(link, 3, 5), one(link, 4, 6)];
    let outages =
        [twice([4, 6]), twice([7, 5]), [one([4, 5], 2, 2), one([4, 6], 0, 1), one([0, 6], 2, 3)]];
    let bad = with(bad, "/faults/outages", Value::from(outages.concat()));
    assert_eq!(
        refused(&bad),
        [
            "faults.outages[7].start",
            "faults.outages[6].link",
            "faults.outages[6].end",
            "faults.outages[8].link",
            "faults.outages",
            "faults.outages",
            "traffic[0].flows[0][0]",
            "traffic[0].flows[0][1]",
            "traffic[0].flows[1][1]",
            "traffic[2].senders[0]",
            "traffic[2].senders[2]",
            "traffic[2].senders[4]",
            "traffic[2].receiver",
        ]
    );
}

#[test]
fn an_end_at_zero_is_told_once() {
    let outage = json!([{"link": [4, 6], "start": 1, "end": 0}]);
    assert_eq!(refused(&with(good(bfc()), "/faults/outages", outage)), ["faults.outages[0].end"]);
}

#[test]
fn corruption_names_a_cable_once_and_all_cables_once() {
    let links = json!([[4, 6], null, [0, 4], [6, 4], null, [0, 1], [5, 6], [0, 4]]);
    let entry = |link: &Value| json!({"link": link, "probability": 0.1});
    let entries: Vec<Value> = links.as_array().unwrap().iter().map(entry).collect();
    let error = penstock_sim::validate(&parse(&with(good(bfc()), "/faults/corruption", entries)));
    let expected = [
        "faults.corruption[3].link is [6, 4]; another entry names it; keep one of them",
        "faults.corruption[4].link is null; another entry is for all cables; keep one of them",
        "faults.corruption[5].link is [0, 1]; no cable joins two nodes of these numbers; name the two \
         ends of one",
        "faults.corruption[7].link is [0, 4]; another entry names it; keep one of them",
    ];
    assert_eq!(error.unwrap_err().to_string().lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_graph_tells_each_wrong_link() {
    let link = |a: u32, b: u32, rate: u64| json!({"a": a, "b": b, "rate": rate, "delay": 0});
    let links =
        [link(0, 9, 1), link(8, 9, 0), link(1, 3, 0), link(3, 1, 1), link(2, 2, 1), link(0, 1, 1)];
    let graph = json!({"kind": "graph", "hosts": 2, "switches": 2, "links": links,
                       "pipeline_delay": 2 * 1_000_000 * US, "failed_links": []});
    assert_eq!(
        refused(&with(good(pfc()), "/topology", graph)),
        [
            "topology.pipeline_delay",
            "topology.links[0].b",
            "topology.links[1].a",
            "topology.links[1].b",
            "topology.links[1].rate",
            "topology.links[2].rate",
            "topology.links[3]",
            "topology.links[4]",
            "topology.links[5]",
        ]
    );
}

#[test]
fn traffic_is_needed_and_told_of_once() {
    assert_eq!(refused(&with(good(pfc()), "/traffic", json!([]))), ["traffic"]);
    let bad = with(with(good(pfc()), "/traffic", json!([])), "/wire/header", 0);
    assert_eq!(refused(&bad), ["traffic", "wire.header"]);
}

#[test]
fn names_can_be_shown() {
    let bad = with(with(good(pfc()), "/name", ""), "/scheme/name", "x".repeat(201));
    let bad = with(bad, "/traffic/1/label", "a\u{1b}");
    assert_eq!(refused(&bad), ["name", "scheme.name", "traffic[1].label"]);
    // The longest name has 200 characters, of however many bytes.
    let longest = with(good(pfc()), "/name", "\u{e9}".repeat(200));
    assert!(penstock_sim::validate(&parse(&longest)).is_ok());
    let same = with(with(good(pfc()), "/traffic/1/label", "x"), "/traffic/2/label", "x");
    assert_eq!(refused(&same), ["traffic[2].label"]);
}

/// Collects the pointer to each number in `value`, which is at `at`.
fn numbers(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| numbers(value, &format!("{at}/{key}"), found));
        }
        Value::Array(rows) => {
            let rows = rows.iter().enumerate();
            rows.for_each(|(row, value)| numbers(value, &format!("{at}/{row}"), found));
        }
        Value::Number(_) => found.push(at.to_owned()),
        _ => {}
    }
}

#[test]
fn no_two_numbers_make_a_check_panic() {
    let extremes = [json!(0), json!(u32::MAX), json!(u64::MAX), json!(-1.0), json!(1e300)];
    for scheme in schemes().into_iter().chain([credits(32, 10_000_000)]) {
        let good = good(scheme);
        let mut places = vec![];
        numbers(&good, "", &mut places);
        for (number, one) in places.iter().enumerate() {
            // The second place is another one for each first place and each extreme.
            for (step, extreme) in extremes.iter().enumerate() {
                let other = &places[(number * 7 + step * 13 + 1) % places.len()];
                let bad = with(with(good.clone(), one, extreme.clone()), other, extreme.clone());
                if let Ok(scenario) = Scenario::from_json(&bad.to_string()) {
                    drop(penstock_sim::forecast(&scenario));
                    drop(penstock_sim::validate(&scenario));
                }
            }
        }
    }
}
