//! The same scenario gives the same tables, byte for byte, on any number of threads.

use penstock_sim::measure::table::Table;
use penstock_sim::{Progress, Results, RunOptions, Scenario, Watch};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::determinism::busy;
use crate::fixture::{
    US, graph, leaf_spine, line_rate, listed, name, parse, scenario, schemes, with,
};
use crate::invariant::any_case;

/// Every table of a run, and its summary, as lines of text.
fn everything(scenario: &Scenario, threads: usize) -> Vec<String> {
    let options = RunOptions { check: true, threads, ..RunOptions::default() };
    lines(&penstock_sim::run(scenario, options, |_| true).unwrap())
}

/// Every table, and the summary, as lines of text.
pub fn lines(results: &Results) -> Vec<String> {
    let tables = results.tables.iter().flat_map(|table| {
        let columns = table.columns.iter();
        columns.map(|(column, rows)| format!("{} {column}: {rows:?}", table.name))
    });
    tables.chain([serde_json::to_string(&results.summary).unwrap()]).collect()
}

/// Keeps the rows that a run hands out.
#[derive(Default)]
struct Keeper {
    pieces: Vec<Table>,
    calls: usize,
}

impl Watch for &mut Keeper {
    fn progress(&mut self, _: Progress) -> bool {
        true
    }

    fn rows(&mut self, tables: Vec<Table>) -> bool {
        self.pieces.extend(tables);
        self.calls += 1;
        true
    }

    fn state(&mut self) -> std::io::Result<Option<Box<dyn std::io::Write>>> {
        Ok(None)
    }

    fn saved(&mut self) -> bool {
        true
    }
}

/// As [`everything`] without checks, of a run that hands out its rows whenever it has more than
/// `most_rows`; and how often it has.
fn put_together(scenario: &Scenario, threads: usize, most_rows: usize) -> (Vec<String>, usize) {
    let options = RunOptions { threads, most_rows, ..RunOptions::default() };
    let mut keeper = Keeper::default();
    let mut results = penstock_sim::run(scenario, options, &mut keeper).unwrap();
    for table in &mut results.tables {
        let (earlier, later): (Vec<_>, Vec<_>) =
            keeper.pieces.into_iter().partition(|piece| piece.name == table.name);
        keeper.pieces = later;
        let last = std::mem::take(&mut table.columns);
        for piece in earlier.into_iter().map(|piece| piece.columns).chain([last]) {
            if table.columns.is_empty() {
                table.columns = piece;
                continue;
            }
            for ((_, rows), (_, more)) in table.columns.iter_mut().zip(piece) {
                rows.append(more);
            }
        }
    }
    assert!(keeper.pieces.is_empty(), "the results have all tables");
    (lines(&results), keeper.calls)
}

/// The first lines that differ between one thread and each of these numbers.
pub fn difference(scenario: &Scenario, threads: &[usize]) -> Option<String> {
    let expected = everything(scenario, 1);
    threads.iter().find_map(|&threads| {
        let found = everything(scenario, threads);
        let pairs = expected.iter().zip(&found);
        let (one, other) = pairs.into_iter().find(|(one, other)| one != other)?;
        Some(format!("{threads} threads:\n{one:.2000}\n{other:.2000}"))
    })
}

/// `scenario` with everything measured that can be measured.
pub fn measured(scenario: Value) -> Value {
    let measured = [
        ("/measure/sample_interval", json!(777_000)),
        ("/measure/active_flows", json!(true)),
        ("/measure/queue_delays", json!(true)),
        ("/measure/events", json!(true)),
        ("/measure/trace", json!({"nodes": [], "events": []})),
    ];
    measured.into_iter().fold(scenario, |scenario, (at, new)| with(scenario, at, new))
}

#[test]
fn any_number_of_threads_gives_the_same_tables() {
    for scheme in schemes() {
        let name = name(&scheme).to_owned();
        let series = json!([[8, 10], [0, 8], [10, 9]]);
        let scenario = measured(with(busy(scheme), "/measure/series", series));
        assert_eq!(difference(&parse(&scenario), &[2, 3, 4]), None, "{name}");
    }
}

#[test]
fn rows_that_were_taken_out_early_are_the_same_rows() {
    for scheme in schemes() {
        let name = name(&scheme).to_owned();
        let series = json!([[8, 10], [0, 8], [10, 9]]);
        let scenario = parse(&measured(with(busy(scheme), "/measure/series", series)));
        let whole = everything(&scenario, 1);
        for (threads, most_rows) in [(1, 0), (3, 0), (2, 500)] {
            let (found, calls) = put_together(&scenario, threads, most_rows);
            assert!(calls > 5, "{name}: rows came {calls} times");
            assert_eq!(found, whole, "{name}, {threads} threads, {most_rows} rows");
        }
    }
}

/// With four racks a flow within a partition may take a spine of another one.
#[test]
fn flows_leave_their_partition_and_come_back() {
    for scheme in schemes() {
        let name = name(&scheme).to_owned();
        let scenario = with(busy(scheme), "/topology", leaf_spine(4, 2, 2));
        assert_eq!(difference(&parse(&measured(scenario)), &[2, 3]), None, "{name}");
    }
}

#[test]
fn every_preset_gives_the_same_tables_on_two_and_four_threads() {
    let file = include_str!("../../../../tests/golden/builds.json");
    let cases: Vec<Value> = serde_json::from_str(file).unwrap();
    for case in cases {
        let scenario = measured(case["scenario"].clone());
        assert_eq!(difference(&parse(&scenario), &[2, 4]), None, "{}", case["name"]);
    }
}

/// The source of a flow that stops knows in the middle of a window what the flow has sent.
#[test]
fn the_backlog_of_flows_that_stop_is_the_same_on_any_number_of_threads() {
    let row = |flow: u32| (flow % 4, 4 + flow % 3, 1 << 40, 500_000 * u64::from(flow));
    let rows: Vec<_> = (0..390).map(row).collect();
    let flows = with(listed(&rows), "/lasts", json!(vec![US; 390]));
    let scenario = scenario(leaf_spine(2, 4, 2), line_rate(), &[flows], 198 * US);
    assert_eq!(difference(&parse(&scenario), &[2, 3]), None);
}

/// A packet counts the links of its path in a byte, where one thread keeps the paths of flows.
#[test]
fn paths_of_more_links_than_a_byte_counts_are_the_same_on_any_number_of_threads() {
    let ends = (0..299).map(|switch| (2 + switch, 3 + switch));
    let links: Vec<_> = [(0, 2), (301, 1)].into_iter().chain(ends).collect();
    let links: Vec<_> = links.iter().map(|&(from, to)| (from, to, 100, US)).collect();
    let flows = listed(&[(0, 1, 20_000, 0), (1, 0, 20_000, 0)]);
    let scenario = parse(&scenario(graph(2, 300, &links), line_rate(), &[flows], 2_000 * US));
    assert_eq!(difference(&scenario, &[2]), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn faults_and_outages_are_the_same_on_any_number_of_threads(
        case in any_case(), threads in 2usize..6, start in 1u64..60, length in 1u64..60,
    ) {
        // Not every scheme goes with outages, and not every network has this link.
        let outage = json!([{"link": [8, 10], "start": start * US, "end": (start + length) * US}]);
        let with_outage = parse(&measured(with(case.clone(), "/faults/outages", outage)));
        let scenario = match penstock_sim::validate(&with_outage) {
            Ok(()) => with_outage,
            Err(_) => parse(&measured(case)),
        };
        prop_assert_eq!(difference(&scenario, &[threads]), None, "{}", scenario.to_json());
    }
}
