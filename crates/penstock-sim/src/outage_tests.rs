//! Lists of outages, by hand: which links fail and recover at which moment, and which lists are refused.

use super::*;
use crate::topology::build;
use crate::topology::tests::leaf_spine;

/// Two racks of two hosts (0 to 3), ToRs 4 and 5, spines 6 and 7.
fn network() -> Topology {
    build(&leaf_spine(2, 2, 2)).unwrap()
}

/// An outage of the link between `from` and `to` (times in ns).
fn outage(from: u32, to: u32, start: u64, end: Option<u64>) -> OutageConfig {
    OutageConfig { link: (from, to), start: Time::from_ns(start), end: end.map(Time::from_ns) }
}

/// Both directions of a cable, the one with the lower number first.
fn cable(topology: &Topology, from: u32, to: u32) -> Vec<u32> {
    let mut links =
        [(from, to), (to, from)].map(|(from, to)| topology.link_between(from, to).unwrap());
    links.sort_unstable();
    links.to_vec()
}

fn accepted(outages: &[OutageConfig]) -> Vec<RouteChange> {
    let mut problems = Problems::default();
    let changes = route_changes(outages, &network(), &mut problems);
    assert_eq!(problems.found(), []);
    changes
}

/// The fields that are refused, and their values.
fn refused(outages: &[OutageConfig]) -> Vec<(String, String)> {
    let mut problems = Problems::default();
    assert!(route_changes(outages, &network(), &mut problems).is_empty());
    problems.found().iter().map(|one| (one.path.clone(), one.value.clone())).collect()
}

/// The refusal of outages of the link between nodes 4 and 6.
fn overlap() -> (String, String) {
    let value = "a list whose outages of [4, 6] overlap or touch";
    ("faults.outages".to_owned(), value.to_owned())
}

#[test]
fn a_cable_fails_in_both_directions_and_may_fail_again() {
    let topology = network();
    let changes = accepted(&[outage(6, 4, 400, None), outage(4, 6, 100, Some(200))]);
    let times: Vec<Time> = changes.iter().map(|change| change.time).collect();
    assert_eq!(times, [100, 200, 400].map(Time::from_ns));
    let cable = cable(&topology, 4, 6);
    let none = Vec::new();
    let links = |change: &RouteChange| (change.failed.clone(), change.recovered.clone());
    assert_eq!(links(&changes[0]), (cable.clone(), none.clone()));
    assert_eq!(links(&changes[1]), (none.clone(), cable.clone()));
    assert_eq!(links(&changes[2]), (cable, none));
}

#[test]
fn routes_avoid_both_directions_while_a_cable_is_down() {
    let topology = network();
    let changes = accepted(&[outage(4, 6, 100, Some(200))]);
    // By the rack of the destination: the links to it from the other rack's ToR.
    let ways = |routing: &Routing| {
        let edges = routing.edge_switches().to_vec();
        [(4, 5), (5, 4)].map(|(from, to)| {
            let edge = edges.iter().position(|&edge| edge == to).unwrap() as u32;
            let links = routing.next_hops(from, edge).iter();
            links.map(|link| topology.links[link as usize].to).collect::<Vec<u32>>()
        })
    };
    assert_eq!(ways(&changes[0].routing), [[7], [7]]);
    assert_eq!(ways(&changes[1].routing), [[6, 7], [6, 7]]);
}

#[test]
fn one_cable_may_fail_at_the_moment_at_which_another_recovers() {
    let topology = network();
    // ToR 4 keeps a way, whichever of its cables has the lower number.
    for (one, other) in [(6, 7), (7, 6)] {
        let changes = accepted(&[outage(4, one, 100, Some(200)), outage(4, other, 200, None)]);
        assert_eq!(changes.len(), 2);
        assert_eq!(changes[1].time, Time::from_ns(200));
        assert_eq!(changes[1].failed, cable(&topology, 4, other));
        assert_eq!(changes[1].recovered, cable(&topology, 4, one));
    }
}

#[test]
fn a_network_that_is_cut_for_a_nanosecond_is_refused() {
    let cut = [outage(4, 6, 100, None), outage(4, 7, 199, Some(200))];
    assert_eq!(refused(&cut), [("faults.outages".to_owned(), "at 199 ns".to_owned())]);
}

#[test]
fn outages_of_a_cable_that_touch_are_refused_in_any_order() {
    let (early, late) = (outage(4, 6, 100, Some(200)), outage(6, 4, 200, Some(300)));
    assert_eq!(refused(&[early.clone(), late.clone()]), [overlap()]);
    assert_eq!(refused(&[late, early.clone()]), [overlap()]);
    // A picosecond is enough.
    let start = Time::from_ns(200) + Time::from_ps(1);
    let later = OutageConfig { start, ..outage(4, 6, 0, Some(300)) };
    assert_eq!(accepted(&[early, later]).len(), 4);
}

#[test]
fn a_cable_whose_outages_overlap_is_told_once() {
    let three = [100, 110, 120].map(|start| outage(4, 6, start, None));
    assert_eq!(refused(&three), [overlap()]);
}

#[test]
fn an_outage_that_is_refused_does_not_count_among_the_others() {
    // The first one would begin in the second one.
    let list = [outage(4, 6, 150, Some(120)), outage(4, 6, 140, Some(200))];
    assert_eq!(refused(&list), [("faults.outages[0].end".to_owned(), "120 ns".to_owned())]);
}
