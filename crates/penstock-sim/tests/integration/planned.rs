//! The tables of flows that wait for others, before anything runs.

use penstock_sim::measure::table::Table;
use penstock_sim::planned;
use serde_json::{Value, json};

use crate::dependent::{after, collective, numbers, rpc};
use crate::fixture::{MS, US, bfc, listed, parse, scenario, single_switch, with};

/// The tables of the first `most` flows of `traffic` between eight hosts.
fn tables(traffic: &[Value], most: u64) -> [Table; 2] {
    let scheme = with(bfc(), "/switch/assignment/classes", 2);
    planned(&parse(&scenario(single_switch(8), scheme, traffic, MS)), most).unwrap()
}

/// All columns of a table, by name.
fn columns(table: &Table) -> Vec<(&str, Vec<u64>)> {
    table.columns.iter().map(|column| (column.0, numbers(table, column.0))).collect()
}

/// A job of three flows: the second one waits for the first, the third one for either of them.
fn job() -> Value {
    let flows = [(0, 1, 5_000, 2 * US), (1, 2, 700, 0), (3, 0, 100, 9 * US)];
    let edges = [(1, 0, "received"), (2, 1, "started"), (2, 0, "acknowledged")];
    let job = with(after(&flows, &edges), "/lag", json!([US, 4 * US, 2 * US]));
    let job = with(with(job, "/delay", json!([0, 0, 8 * US])), "/needed", json!([0, 0, 1]));
    let job = with(job, "/places", json!([[0, 0, 3], [0, 1, 4], [5, 0, 6]]));
    with(with(job, "/steps", json!(["there", "back"])), "/label", "job")
}

#[test]
fn a_row_says_which_flow_it_is_and_an_edge_for_what_the_flow_waits() {
    let alone = ["one", "two"].map(|label| with(listed(&[(5, 6, 900, 0)]), "/label", label));
    let [one, two] = alone;
    let [flows, edges] = tables(&[one, two, with(job(), "/class", 1)], 100);
    assert_eq!((flows.name, edges.name), ("flows", "edges"));
    // The flows that wait for nobody have no rows. Edges are in the order of what is awaited, and of events.
    let expected = [
        ("flow", vec![0, 1, 2]),
        ("src", vec![0, 1, 3]),
        ("dst", vec![1, 2, 0]),
        ("size_bytes", vec![5_000, 700, 100]),
        ("label", vec![2, 2, 2]),
        ("class", vec![1, 1, 1]),
        ("iteration", vec![0, 0, 5]),
        ("step", vec![0, 1, 0]),
        ("rank", vec![3, 4, 6]),
        ("start_ps", vec![2 * US, 0, 9 * US]),
        ("needed", vec![0, 1, 1]),
    ];
    assert_eq!(columns(&flows), expected);
    let expected = [
        ("flow", vec![1, 2, 2]),
        ("awaited", vec![0, 0, 1]),
        ("event", vec![0, 1, 2]),
        ("delay_ps", vec![US, 10 * US, 12 * US]),
    ];
    assert_eq!(columns(&edges), expected);
}

#[test]
fn a_barrier_needs_all_of_its_events() {
    let barrier = after(
        &[(0, 1, 900, 0), (2, 1, 900, 0), (1, 3, 900, 0)],
        &[(2, 0, "natural"), (2, 1, "natural")],
    );
    let [flows, edges] = tables(&[barrier], 100);
    assert_eq!(numbers(&flows, "needed"), [0, 0, 2]);
    assert_eq!(numbers(&edges, "awaited"), [0, 1]);
}

#[test]
fn flows_beyond_the_asked_number_and_their_edges_are_left_out() {
    let rows = |most| {
        let [flows, edges] = tables(&[job()], most);
        (numbers(&flows, "flow"), numbers(&edges, "flow"))
    };
    assert_eq!(rows(3), (vec![0, 1, 2], vec![1, 2, 2]));
    assert_eq!(rows(2), (vec![0, 1], vec![1]));
    assert_eq!(rows(1), (vec![0], vec![]));
    assert_eq!(rows(0), (vec![], vec![]));
}

#[test]
fn flows_that_start_together_have_a_row_each() {
    // A rank sends to two peers at once, and to a third one when the first flow is acknowledged.
    let job = with(collective("all-to-all", 80_000, 1), "/peers", 2);
    let rows = |most| {
        let [flows, edges] = tables(&[with(job.clone(), "/start", 7 * US)], most);
        (numbers(&flows, "start_ps"), numbers(&flows, "needed"), numbers(&edges, "awaited"))
    };
    assert_eq!(rows(3), (vec![7 * US, 7 * US, 0], vec![0, 0, 1], vec![0]));
    assert_eq!(rows(1), (vec![7 * US], vec![0], vec![]));
}

#[test]
fn flows_of_closed_loops_are_in_no_table() {
    let [flows, edges] = tables(&[rpc(1, 1, 300 * US), job()], 100);
    assert_eq!(numbers(&flows, "label"), [1, 1, 1]);
    assert_eq!(numbers(&edges, "flow"), [1, 2, 2]);
}

#[test]
fn traffic_that_a_run_refuses_has_no_tables() {
    let flow = listed(&[(0, 99, 1_000, 0)]);
    let refused = planned(&parse(&scenario(single_switch(8), bfc(), &[flow], MS)), 100);
    assert!(refused.unwrap_err().to_string().starts_with("traffic[0].flows[0][1] is 99"));
}
