//! Rows of flows, their digest, and the rows of unfinished flows.

use super::*;

fn record() -> FlowRecord {
    FlowRecord {
        flow: 3,
        source: 1,
        destination: 2,
        size: 5_000,
        start: Time::from_ns(10),
        completion: Some(Time::from_ns(900)),
        ideal: Time::from_ns(450),
        label: 1,
        class: 2,
        delivered: 5_000,
        retransmitted_packets: 4,
    }
}

fn digest(records: &[FlowRecord]) -> String {
    let mut table = FlowTable::default();
    records.iter().for_each(|record| table.push(record));
    table.digest()
}

fn reals(table: &Table, name: &str) -> Vec<f64> {
    match &table.columns.iter().find(|column| column.0 == name).unwrap().1 {
        Column::F64(values) => values.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_digest_depends_on_every_field_to_the_picosecond_and_on_the_order() {
    let base = record();
    let changed = [
        FlowRecord { flow: 4, ..base },
        FlowRecord { source: 2, ..base },
        FlowRecord { destination: 1, ..base },
        FlowRecord { size: 5_001, ..base },
        FlowRecord { start: base.start + Time::from_ps(1), ..base },
        FlowRecord { completion: Some(Time::from_ps(900_001)), ..base },
        FlowRecord { completion: None, ..base },
        FlowRecord { label: 0, ..base },
        FlowRecord { class: 0, ..base },
        FlowRecord { delivered: 4_999, ..base },
        FlowRecord { retransmitted_packets: 5, ..base },
    ];
    let expected = digest(&[base]);
    assert_eq!((digest(&[record()]), expected.len()), (expected.clone(), 32));
    assert!(changed.iter().all(|changed| digest(&[*changed]) != expected));
    assert_ne!(digest(&[base, changed[0]]), digest(&[changed[0], base]));
    assert_ne!(digest(&[]), digest(&[base]));
}

#[test]
fn a_flow_that_did_not_finish_has_no_times() {
    let mut table = FlowTable::default();
    table.push(&record());
    table.push(&FlowRecord { completion: None, delivered: 10, ..record() });
    assert_eq!(table.retransmitted_packets(), 8);
    let table = table.take();
    let (times, slowdowns) = (reals(&table, "fct_ns"), reals(&table, "slowdown"));
    assert_eq!((times[0], slowdowns[0]), (900.0, 2.0));
    assert!(times[1].is_nan() && slowdowns[1].is_nan());
    assert_eq!(reals(&table, "start_ns"), [10.0, 10.0]);
    let finished = table.columns.iter().find(|column| column.0 == "finished").unwrap();
    assert_eq!(finished.1, Column::Bool(vec![true, false]));
}

#[test]
fn an_endless_flow_has_no_ideal_time_and_no_slowdown() {
    let mut table = FlowTable::default();
    table.push(&FlowRecord { size: 0, completion: None, ideal: Time::NEVER, ..record() });
    let table = table.take();
    assert!(reals(&table, "ideal_fct_ns")[0].is_nan());
    assert!(reals(&table, "slowdown")[0].is_nan());
}
