use super::*;
use crate::flow::Protocol;

fn flow(number: u64) -> LoadFlow {
    LoadFlow {
        number,
        destination: "127.0.0.1:9".parse().unwrap(),
        start: Time::from_us(10),
        stop: Time::NEVER,
        size: Some(Bytes::new(100)),
        class: 0,
        protocol: Protocol::Tcp { congestion: None },
    }
}

fn sent(end: Option<FlowEnd>) -> SentFlow {
    SentFlow {
        started: Some(Time::from_us(12)),
        established: Some(Time::from_us(15)),
        sent: Bytes::new(100),
        end,
        ..SentFlow::default()
    }
}

fn received(number: u64, delivered: u64) -> ReceivedFlow {
    ReceivedFlow {
        first: Some(Time::from_us(20)),
        last: Some(Time::from_us(52)),
        delivered: Bytes::new(delivered),
        is_complete: delivered == 100,
        ..ReceivedFlow::none(number)
    }
}

#[test]
fn times_count_from_the_start_of_the_flow_not_from_when_it_was_due() {
    let client = HostReport { sent: vec![(flow(3), sent(None))], ..HostReport::default() };
    let server = HostReport { received: vec![received(3, 100)], ..HostReport::default() };
    let records = join(vec![client, server]);
    let [record] = &records[..] else { panic!("{records:?}") };
    assert_eq!(record.lateness(), Some(Time::from_us(2)));
    assert_eq!(record.setup_time, Some(Time::from_us(3)));
    assert_eq!(record.completion_time, Some(Time::from_us(40)));
    // The client had not heard of the server's close yet, but the server had read all.
    assert_eq!(record.end, FlowEnd::Completed);
}

#[test]
fn the_server_decides_what_is_complete_and_the_client_how_the_rest_ended() {
    let completed = Some(FlowEnd::Completed);
    let cases = [
        (completed, 100, FlowEnd::Completed),
        (completed, 99, FlowEnd::Unfinished),
        (Some(FlowEnd::Stopped), 100, FlowEnd::Completed),
        (Some(FlowEnd::Stopped), 99, FlowEnd::Stopped),
        (Some(FlowEnd::Reset), 0, FlowEnd::Reset),
        (None, 99, FlowEnd::Unfinished),
    ];
    for (end, delivered, joined) in cases {
        let report = HostReport {
            sent: vec![(flow(3), sent(end))],
            received: vec![received(3, delivered)],
            ..HostReport::default()
        };
        let record = &join(vec![report])[0];
        assert_eq!(record.end, joined);
        assert_eq!(record.completion_time.is_some(), joined == FlowEnd::Completed);
        assert_eq!(record.delivered, Bytes::new(delivered));
    }
}

#[test]
fn records_are_in_order_and_a_flow_that_no_server_saw_has_one_too() {
    let flows = [9, 2, 5].map(|number| (flow(number), SentFlow::default()));
    let records = join(vec![HostReport { sent: flows.into(), ..HostReport::default() }]);
    assert!(records.iter().map(|record| record.number).eq([2, 5, 9]));
    assert!(
        records
            .iter()
            .all(|record| record.end == FlowEnd::Unfinished && record.lateness().is_none())
    );
}

#[test]
fn an_end_is_printed_as_one_word_or_with_its_reason() {
    assert_eq!(format!("{:>9}", FlowEnd::Refused), "  refused");
    let text = FlowEnd::Failed { errno: libc::EMFILE }.to_string();
    assert!(text.starts_with("failed: Too many open files"), "{text}");
}
