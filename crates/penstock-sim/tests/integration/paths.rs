//! Paths that are asked for without a run. `tests/python/test_watch.py` compares them with the packets of
//! runs.

use penstock_sim::paths::INSIDE;
use penstock_sim::{FlowStart, core_paths, link_ends};
use penstock_units::Time;
use serde_json::Value;

use crate::fixture::{US, bfc, leaf_spine, listed, parse, rail, scenario};

/// Two racks of two hosts (0 to 3), ToRs 4 and 5, spines 6 and 7.
fn network() -> Value {
    scenario(leaf_spine(2, 2, 2), bfc(), &[listed(&[(0, 2, 1_000, 0)])], US)
}

fn flow(number: u64, source: u32, destination: u32) -> FlowStart {
    FlowStart { number, source, destination, start: Time::ZERO }
}

#[test]
fn equal_paths_are_stored_once() {
    let scenario = parse(&network());
    let ends = link_ends(&scenario).unwrap();
    let flows: Vec<FlowStart> = (0..64).map(|number| flow(number, 0, 2)).collect();
    let found = core_paths(&scenario, &flows).unwrap().unwrap();
    assert_eq!(found.of_flow.len(), 64);
    assert_eq!(found.starts, [0, 2, 4], "one path over each spine");
    for path in found.links.chunks(2) {
        let [up, down] = [ends[path[0] as usize], ends[path[1] as usize]];
        assert_eq!((up.0, down.1), (4, 5));
        assert_eq!(up.1, down.0);
    }
}

#[test]
fn a_flow_inside_a_rack_or_between_hosts_that_do_not_exist_has_the_empty_path() {
    let found = core_paths(&parse(&network()), &[flow(0, 0, 1), flow(1, 0, 99)]).unwrap().unwrap();
    assert_eq!((found.of_flow, found.starts, found.links), (vec![0, 0], vec![0, 0], vec![]));
}

#[test]
fn a_flow_inside_a_server_has_no_path() {
    // Hosts 0 and 1 are a server; 0 and 2 are on one rail.
    let case = scenario(rail(2, 2, 3_600), bfc(), &[listed(&[(0, 1, 1_000, 0)])], US);
    let flows = [flow(0, 0, 1), flow(1, 0, 2), flow(2, 0, 3)];
    let found = core_paths(&parse(&case), &flows).unwrap().unwrap();
    assert_eq!((found.of_flow, found.starts), (vec![INSIDE, 0, 1], vec![0, 0, 2]));
}
