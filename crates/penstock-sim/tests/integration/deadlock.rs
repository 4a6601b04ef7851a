//! Rings of switches: cyclic routes under PFC and BFC, and what the run reports about them.

use penstock_sim::{DependencyReport, Results, dependencies};
use serde_json::{Value, json};

use crate::fixture::{
    MS, US, bfc, column, graph, leaf_spine, listed, parse, pfc, run, run_to_the_end, scenario, with,
};
use crate::threads;

/// A ring of `switches` with two hosts each; all links have 100 Gb/s and 1 us. Host `h` is on
/// switch `h / 2`, which is node `2 * switches + h / 2`.
fn ring(switches: u32) -> Value {
    let hosts = 2 * switches;
    let to_hosts = (0..hosts).map(|host| (host, hosts + host / 2, 100, US));
    let around = (0..switches).map(|one| (hosts + one, hosts + (one + 1) % switches, 100, US));
    graph(hosts, switches, &to_hosts.chain(around).collect::<Vec<_>>())
}

/// Both hosts of every switch send 20 MB to the switch `ahead` places further. Every link of the
/// ring is asked for `2 * ahead` times its rate.
fn around(switches: u32, ahead: u32) -> Vec<(u32, u32, u64, u64)> {
    let hosts = 2 * switches;
    (0..hosts).map(|host| (host, (host + 2 * ahead) % hosts, 20_000_000, 0)).collect()
}

/// PFC with a small static XOFF, so that the ring fills soon.
fn static_pfc() -> Value {
    with(pfc(), "/switch/backpressure/xoff", 100_000)
}

fn ring_scenario(switches: u32, ahead: u32, scheme: Value) -> Value {
    let flows = listed(&around(switches, ahead));
    let scenario = scenario(ring(switches), scheme, &[flows], 10 * US);
    with(scenario, "/measure/events", true)
}

fn ring_run(switches: u32, ahead: u32, scheme: Value) -> Results {
    run(&ring_scenario(switches, ahead, scheme))
}

#[test]
fn a_ring_of_cyclic_routes_deadlocks_under_pfc_and_the_run_ends() {
    let results = ring_run(5, 2, static_pfc());
    let summary = &results.summary;
    let deadlock = summary.deadlock.as_ref().expect("a deadlock");
    // The cycle has all five links of the ring, clockwise. The run does not wait for the drain of
    // 20 ms.
    assert_eq!(deadlock.nodes, [10, 11, 12, 13, 14, 10]);
    assert_eq!((deadlock.cycle.len(), deadlock.stuck_pauses), (5, 5));
    assert_eq!(deadlock.time_ps, summary.sim_end_ps);
    assert!(deadlock.time_ps < MS, "{deadlock:?}");
    assert_eq!(summary.drops, 0);
    // After the deadlock its links carry no data. The events name these links.
    let number = summary.event_names.iter().position(|name| *name == "deadlock").unwrap();
    let events = column(&results, "events", "event");
    let [times, nodes, links, queues] =
        ["time_ps", "node", "link", "queue"].map(|name| column(&results, "events", name));
    let named: Vec<[f64; 4]> = (0..events.len())
        .filter(|&row| events[row] == number as f64)
        .map(|row| [times[row], nodes[row], links[row], queues[row]])
        .collect();
    let (time, cycle) = (deadlock.time_ps as f64, deadlock.cycle.iter().zip(&deadlock.nodes));
    let cycle: Vec<[f64; 4]> = cycle
        .map(|(pause, &node)| [time, node.into(), pause.link.into(), pause.number.into()])
        .collect();
    assert_eq!(named, cycle);
}

#[test]
fn the_same_ring_does_not_deadlock_when_no_packet_passes_two_of_its_links() {
    // Flows go to neighbours only: the routes have cycles, the traffic has none.
    let results = ring_run(5, 1, static_pfc());
    assert_eq!(results.summary.deadlock, None);
    assert_eq!(results.summary.flows_finished, 10);
    assert!(results.summary.pfc_pauses > 0);
}

#[test]
fn a_ring_that_fails_open_does_not_deadlock() {
    // Conversely, without the link between the last switch and the first the ring is a line.
    let line = with(ring(5), "/failed_links", json!([[14, 10]]));
    let scenario = scenario(line, static_pfc(), &[listed(&around(5, 2))], 10 * US);
    let results = run_to_the_end(&with(scenario, "/drain", 100 * MS));
    assert_eq!(results.summary.deadlock, None);
    assert!(results.summary.pfc_pauses > 0);
}

#[test]
fn bfc_deadlocks_in_a_ring_with_one_queue_a_port() {
    let single = with(bfc(), "/switch/assignment", json!({"kind": "class", "classes": 1}));
    let results = ring_run(5, 2, with(single, "/switch/scheduling", json!({"kind": "fifo"})));
    let deadlock = results.summary.deadlock.as_ref().expect("a deadlock");
    assert_eq!(deadlock.nodes.len(), 6);
    assert!(deadlock.cycle.iter().all(|pause| pause.number == 1));
}

#[test]
fn a_deadlock_is_the_same_on_any_number_of_threads() {
    let scenario = parse(&ring_scenario(5, 2, static_pfc()));
    assert_eq!(threads::difference(&scenario, &[2, 5]), None);
}

/// The buffer dependencies of a network in which one flow is enough for a scenario.
fn report(topology: Value, outages: Value, any_route: bool) -> DependencyReport {
    let one = scenario(topology, pfc(), &[listed(&[(0, 7, 1_000, 0)])], 10 * US);
    dependencies(&parse(&with(one, "/faults/outages", outages)), any_route, true).unwrap()
}

#[test]
fn the_report_of_a_ring_has_its_links_its_routes_and_a_cycle_each_way() {
    let found = report(ring(5), json!([]), false);
    // Links 20 to 29 join switches; those of hosts are no part of the report.
    let numbers: Vec<u32> = found.links.iter().map(|link| link.link).collect();
    assert_eq!(numbers, (20..30).collect::<Vec<_>>());
    let name = |link: u32| found.links[link as usize - 20].name.as_str();
    for link in &found.links {
        assert_eq!(link.name, format!("S{}->S{}", link.from - 10, link.to - 10));
    }
    // In a ring of five the shortest way to another switch is the only one.
    let routes: Vec<(u32, u32, Vec<&str>)> = found
        .next_hops
        .iter()
        .map(|(edge, from, links)| (*edge, *from, links.iter().map(|&link| name(link)).collect()))
        .collect();
    let expected = (0..5).flat_map(|edge: u32| {
        (0..5).filter(move |&from| from != edge).map(move |from: u32| {
            let is_clockwise = (edge + 5 - from) % 5 <= 2;
            let next = if is_clockwise { (from + 1) % 5 } else { (from + 4) % 5 };
            (10 + edge, 10 + from, format!("S{from}->S{next}"))
        })
    });
    let expected: Vec<(u32, u32, String)> = expected.collect();
    assert_eq!(routes.len(), expected.len());
    for (route, expected) in routes.iter().zip(&expected) {
        assert_eq!((route.0, route.1, &route.2[..]), (expected.0, expected.1, &[&*expected.2][..]));
    }
    // A packet that waits for one link waits next for the link that follows in the same direction.
    let mut pairs: Vec<(&str, &str)> =
        found.dependencies.iter().map(|&(one, next)| (name(one), name(next))).collect();
    pairs.sort_unstable();
    let mut expected = vec![];
    for at in 0..5 {
        let [before, from, to] = [at, (at + 1) % 5, (at + 2) % 5];
        expected.push((format!("S{before}->S{from}"), format!("S{from}->S{to}")));
        expected.push((format!("S{to}->S{from}"), format!("S{from}->S{before}")));
    }
    expected.sort_unstable();
    assert!(pairs.iter().copied().eq(expected.iter().map(|(one, next)| (&**one, &**next))));
    let cycles = found
        .cycles
        .iter()
        .map(|cycle| cycle.example.iter().map(|&link| name(link)).collect::<Vec<_>>().join(" "));
    let cycles: Vec<String> = cycles.collect();
    assert_eq!(cycles[0], "S0->S1 S1->S2 S2->S3 S3->S4 S4->S0");
    assert_eq!(cycles.len(), 2);
    assert_eq!(found.cycles[0].links.len(), 5);
    // All switches are of one tier: no turn leads down and up, and one of each cycle has to go.
    assert_eq!((found.elided.len(), found.down_up_suffices), (2, false));
}

#[test]
fn the_report_counts_the_routes_before_and_after_an_outage() {
    // One pod of PCN's Clos network; without the links L0-T3 and L1-T0 it has a cycle (PCN app. B.5).
    let pod = || leaf_spine(4, 2, 2);
    let fails = |link: [u32; 2], start| json!({"link": link, "start": start, "end": null});
    assert!(report(pod(), json!([]), false).cycles.is_empty());
    let outages = json!([fails([12, 11], US), fails([13, 8], 2 * US)]);
    let found = report(pod(), outages, false);
    assert!(!found.cycles.is_empty() && !found.elided.is_empty() && found.down_up_suffices);
    let any = report(pod(), json!([]), true);
    assert_eq!((any.cycles.len(), any.down_up_suffices), (1, true));
}
