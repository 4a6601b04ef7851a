//! The table of events has one row for each event.

use super::*;

#[test]
fn a_row_says_when_where_what_and_how_full() {
    let mut table = EventTable::default();
    let record = EventRecord {
        time: Time::from_ns(3),
        node: 9,
        link: 4,
        event: PacketEvent::PauseSent,
        queue: 7,
        bytes: 1_234,
    };
    table.push(record);
    table.push(EventRecord { event: PacketEvent::Drop, queue: 0, ..record });
    let columns = table.take().columns;
    let expected = [
        ("time_ps", Column::U64(vec![3_000; 2])),
        ("node", Column::U32(vec![9; 2])),
        ("link", Column::U32(vec![4; 2])),
        ("event", Column::U32(vec![PacketEvent::PauseSent as u32, PacketEvent::Drop as u32])),
        ("queue", Column::U32(vec![7, 0])),
        ("bytes", Column::U64(vec![1_234; 2])),
    ];
    assert_eq!(columns, expected);
}
