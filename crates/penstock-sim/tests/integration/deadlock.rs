//! Rings of switches: cyclic routes under PFC and BFC, and what the run reports about them.

use penstock_sim::Results;
use serde_json::{Value, json};

use crate::fixture::{
    MS, US, bfc, column, graph, listed, pfc, run, run_to_the_end, scenario, with,
};

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

fn ring_run(switches: u32, ahead: u32, scheme: Value) -> Results {
    let flows = listed(&around(switches, ahead));
    let scenario = scenario(ring(switches), scheme, &[flows], 10 * US);
    run(&with(scenario, "/measure/events", true))
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
    let links = column(&results, "events", "link");
    let named: Vec<f64> = (0..events.len())
        .filter(|&row| events[row] == number as f64)
        .map(|row| links[row])
        .collect();
    let cycle: Vec<f64> = deadlock.cycle.iter().map(|pause| f64::from(pause.link)).collect();
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
