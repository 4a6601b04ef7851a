//! The sender is stepped by hand: the time is an argument, and no test waits.

use std::net::UdpSocket;

use super::*;
use crate::client::CHUNK_BYTES;
use crate::flow::Protocol;

/// 8 Mb/s in datagrams of 1,000 B: one each millisecond.
const RATE: BitRate = BitRate::from_mbps(8);
const PAYLOAD: Bytes = Bytes::new(1_000);
const START: Time = Time::from_ms(3);

/// A sender of `size` bytes that stops `stop` after its start, and the server that its datagrams reach.
fn sender(size: Option<u64>, stop: Time) -> (DatagramSender, SentFlow, UdpSocket) {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let flow = LoadFlow {
        number: 1,
        destination: server.local_addr().unwrap(),
        start: START,
        stop: START.saturating_add(stop),
        size: size.map(Bytes::new),
        class: 0,
        protocol: Protocol::Udp { rate: RATE, payload: PAYLOAD },
    };
    let mut sent = SentFlow::default();
    let sender = DatagramSender::start(&flow, RATE, PAYLOAD, &mut sent, Origin::now()).unwrap();
    (sender, sent, server)
}

/// Steps `sender` to each time at which it asks to be called, from the flow's start on.
fn play(sender: &mut DatagramSender, sent: &mut SentFlow) -> FlowEnd {
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut now = START;
    loop {
        match sender.send_due(now, sent, &mut chunk) {
            Ok(next) => now = next,
            Err(end) => return end,
        }
    }
}

/// Lengths of the datagrams that wait at `server`.
fn lengths(server: &UdpSocket) -> Vec<usize> {
    let mut datagram = [0; 2_000];
    std::iter::from_fn(|| server.recv(&mut datagram).ok()).collect()
}

#[test]
fn there_are_as_many_datagrams_as_rate_times_life() {
    for (life_us, count) in [(1, 1), (1_000, 1), (1_001, 2), (20_000, 20), (20_500, 21)] {
        let (mut sender, mut sent, server) = sender(None, Time::from_us(life_us));
        assert_eq!(play(&mut sender, &mut sent), FlowEnd::Stopped);
        let facts = sent.datagrams.unwrap();
        assert_eq!((facts.scheduled, facts.unsent, facts.most_late), (count, 0, Time::ZERO));
        assert_eq!(sent.sent, Bytes::new(1_000 * count));
        assert_eq!(lengths(&server), vec![1_000 + HEADER_BYTES; count as usize]);
    }
}

#[test]
fn a_size_ends_with_a_shorter_datagram() {
    let (mut sender, mut sent, server) = sender(Some(2_300), Time::from_ms(900));
    assert_eq!(play(&mut sender, &mut sent), FlowEnd::Completed);
    assert_eq!(lengths(&server), [1_000, 1_000, 300].map(|bytes| bytes + HEADER_BYTES));
    assert_eq!(sent.sent, Bytes::new(2_300));
}

#[test]
fn a_size_that_the_stop_cuts_off_is_not_complete() {
    let (mut sender, mut sent, _server) = sender(Some(5_000), Time::from_ms(2));
    assert_eq!(play(&mut sender, &mut sent), FlowEnd::Stopped);
    assert_eq!(sent.sent, Bytes::new(2_000));
}

#[test]
fn a_flow_of_no_bytes_is_one_header() {
    let (mut sender, mut sent, server) = sender(Some(0), Time::from_ms(2));
    assert_eq!(play(&mut sender, &mut sent), FlowEnd::Completed);
    assert_eq!(lengths(&server), [HEADER_BYTES]);
}

#[test]
fn a_late_sender_catches_up_and_one_that_is_very_late_leaves_datagrams_out() {
    let (mut sender, mut sent, _server) = sender(None, Time::from_ms(500));
    let mut chunk = vec![0; CHUNK_BYTES];
    // 20 ms late: datagrams 0 to 20 are due.
    let next = sender.send_due(START + Time::from_ms(20), &mut sent, &mut chunk);
    assert_eq!(next, Ok(START + Time::from_ms(21)));
    assert_eq!(sent.datagrams.unwrap().unsent, 0);
    assert_eq!(sent.datagrams.unwrap().most_late, Time::from_ms(20));
    // At 300 ms, those due before 200 ms are left out: 179 of them.
    let next = sender.send_due(START + Time::from_ms(300), &mut sent, &mut chunk);
    assert_eq!(next, Ok(START + Time::from_ms(200 + TURN as u64)));
    assert_eq!(sent.datagrams.unwrap().unsent, 179);
    // However late: every datagram of the schedule is counted.
    assert_eq!(sender.send_due(Time::NEVER, &mut sent, &mut chunk), Err(FlowEnd::Stopped));
    assert_eq!(sent.datagrams.unwrap().scheduled, 500);
}

#[test]
fn a_sender_goes_on_when_nobody_listens() {
    let (mut sender, mut sent, server) = sender(None, Time::from_ms(50));
    drop(server);
    assert_eq!(play(&mut sender, &mut sent), FlowEnd::Stopped);
    let facts = sent.datagrams.unwrap();
    assert_eq!(facts.scheduled, 50);
    assert_eq!(sent.sent, Bytes::new(1_000 * (facts.scheduled - facts.unsent)));
}
