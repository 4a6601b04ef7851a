use super::*;

const NOW: Time = Time::from_us(5);

fn header(number: u64, size: Option<u64>) -> Header {
    Header { number, size: size.map(Bytes::new), class: 0 }
}

#[test]
fn flows_that_are_not_expected_take_no_memory() {
    let mut inbox = Inbox::new(&[1, 2, 2], None);
    assert_eq!(inbox.open(), 2);
    assert_eq!(inbox.begin_stream(header(3, Some(9)), NOW, NOW), Err(Refusal::Unknown));
    assert_eq!(inbox.take_datagram(header(4, None), Bytes::new(9), NOW), Err(Refusal::Unknown));
    assert_eq!(inbox.finish(NOW), [1, 2].map(ReceivedFlow::none));
}

#[test]
fn a_flow_comes_once() {
    let mut inbox = Inbox::new(&[1, 2], None);
    assert_eq!(inbox.begin_stream(header(1, Some(9)), NOW, NOW), Ok(0));
    assert_eq!(inbox.begin_stream(header(1, Some(9)), NOW, NOW), Err(Refusal::Repeated));
    assert_eq!(inbox.take_datagram(header(1, Some(9)), Bytes::new(9), NOW), Err(Refusal::Repeated));
    assert_eq!(inbox.take_datagram(header(2, Some(9)), Bytes::new(4), NOW), Ok(()));
    assert_eq!(inbox.begin_stream(header(2, Some(9)), NOW, NOW), Err(Refusal::Repeated));
    assert_eq!(inbox.open(), 2);
}

#[test]
fn a_flow_ends_with_its_last_byte_and_takes_nothing_behind_it() {
    let mut inbox = Inbox::new(&[7], None);
    let later = |us| NOW + Time::from_us(us);
    for us in 0..5 {
        // Five datagrams of 4 B for a flow of 10 B: the third completes it.
        assert_eq!(inbox.take_datagram(header(7, Some(10)), Bytes::new(4), later(us)), Ok(()));
    }
    assert_eq!(inbox.open(), 0);
    let flows = inbox.finish(later(9));
    assert_eq!((flows[0].first, flows[0].last), (Some(NOW), Some(later(2))));
    assert!(flows[0].is_complete);
    assert_eq!(flows[0].delivered, Bytes::new(12));
}

#[test]
fn a_flow_of_no_bytes_is_complete_with_its_header() {
    let mut inbox = Inbox::new(&[7], None);
    assert_eq!(inbox.begin_stream(header(7, Some(0)), NOW, NOW + Time::from_us(1)), Ok(0));
    let flow = &inbox.finish(NOW)[0];
    assert!(flow.is_complete);
    assert_eq!((flow.first, flow.last), (Some(NOW), Some(NOW + Time::from_us(1))));
}

#[test]
fn amounts_that_a_stranger_makes_up_do_not_overflow() {
    let mut inbox = Inbox::new(&[7], None);
    let index = inbox.begin_stream(header(7, Some(u64::MAX)), NOW, NOW).unwrap();
    inbox.deliver(index, Bytes::new(u64::MAX - 1), NOW);
    assert_eq!(inbox.missing(index), Some(Bytes::new(1)));
    inbox.deliver(index, Bytes::new(9), NOW);
    assert_eq!(inbox.missing(index), Some(Bytes::ZERO));
}

#[test]
fn endless_flows_have_samples_and_others_have_none() {
    let mut inbox = Inbox::new(&[1, 2], Some(Time::from_ms(1)));
    let endless = inbox.begin_stream(header(1, None), NOW, NOW).unwrap();
    inbox.begin_stream(header(2, Some(9)), NOW, NOW).unwrap();
    inbox.deliver(endless, Bytes::new(100), Time::from_us(500));
    inbox.deliver(endless, Bytes::new(50), Time::from_us(2_500));
    let flows = inbox.finish(Time::from_us(3_500));
    let samples = flows[0].samples.as_ref().map(Samples::delivered);
    assert_eq!(samples, Some(&[100, 100, 150].map(Bytes::new)[..]));
    assert_eq!(flows[1].samples, None);
}
