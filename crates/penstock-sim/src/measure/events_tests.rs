//! The table of events has one row for each event.

use super::*;

const PLACE: EventPlace = EventPlace { time: Time::from_ns(3), node: 9, link: 4, bytes: 1_234 };

/// What the rows say that was paused (true) or resumed: (link, subject, whether it is a pause).
fn told(table: &mut EventTable) -> Vec<(u32, u32, bool)> {
    let taken = std::mem::take(&mut table.rows);
    let is_pause = taken.event.iter().map(|&event| event == PacketEvent::PauseReceived as u32);
    let subjects = taken.link.iter().copied().zip(taken.queue);
    subjects.zip(is_pause).map(|((link, subject), is_pause)| (link, subject, is_pause)).collect()
}

#[test]
fn a_row_says_when_where_what_and_how_full() {
    let mut table = EventTable::default();
    table.push(PLACE, PacketEvent::PauseSent, 7);
    table.push(PLACE, PacketEvent::Drop, 0);
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

#[test]
fn a_bitmap_tells_what_lost_frames_have_left_wrong() {
    use Signal::*;
    let mut table = EventTable::default();
    table.hear(PLACE, PauseQueue(5));
    table.hear(PLACE, PauseQueue(label(5, 3)));
    assert_eq!(told(&mut table), [(4, 5, true), (4, 0x305, true)]);
    let bitmap = |epoch, queues| QueueBitmap { epoch, queues };
    table.hear(PLACE, bitmap(0, 1 << 5));
    table.hear(PLACE, bitmap(3, 1 << 5));
    assert_eq!(told(&mut table), [], "nothing was lost");
    table.hear(PLACE, bitmap(0, 1 << 127));
    table.hear(EventPlace { link: 6, ..PLACE }, bitmap(0, 1 << 5));
    let repaired = [(4, 5, false), (4, 127, true), (6, 5, true)];
    assert_eq!(told(&mut table), repaired);
    table.hear(PLACE, bitmap(3, 0));
    assert_eq!(told(&mut table), [(4, 0x305, false)]);
}

#[test]
fn a_link_that_fails_ends_its_pauses_and_no_others() {
    use Signal::*;
    let mut table = EventTable::default();
    for signal in [PauseClass(0), PauseClass(3), PauseFlow(u32::MAX), PauseTime(70), ResumeClass(3)]
    {
        table.hear(PLACE, signal);
    }
    table.hear(EventPlace { link: 5, ..PLACE }, PauseClass(0));
    assert_eq!(told(&mut table).len(), 6);
    table.end_pauses(PLACE);
    assert_eq!(told(&mut table), [(4, 0, false), (4, 8, false), (4, u32::MAX, false)]);
    table.end_pauses(PLACE);
    assert_eq!(told(&mut table), []);
}
