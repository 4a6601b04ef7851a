use penstock_units::{BitRate, Time};

use super::*;

fn flow(destination: &str, class: u8, protocol: Protocol) -> LoadFlow {
    let destination = destination.parse().unwrap();
    LoadFlow {
        number: 1,
        destination,
        start: Time::ZERO,
        stop: Time::NEVER,
        size: None,
        class,
        protocol,
    }
}

fn protocols() -> [Protocol; 2] {
    let udp = Protocol::Udp { rate: BitRate::from_mbps(1), payload: Bytes::new(100) };
    [Protocol::Tcp { congestion: Some("reno".to_owned()) }, udp]
}

#[test]
fn a_class_is_a_priority_and_the_class_selector_of_the_header() {
    for protocol in protocols() {
        let socket = of_flow(&flow("127.0.0.1:9", 5, protocol.clone())).unwrap();
        // Class selector 5 is the DSCP 101000, the upper six bits of the byte (RFC 2474 sec. 4.2.2.2).
        assert_eq!((socket.priority().unwrap(), socket.tos_v4().unwrap()), (5, 0b1010_0000));
        let socket = of_flow(&flow("127.0.0.1:9", 0, protocol)).unwrap();
        assert_eq!((socket.priority().unwrap(), socket.tos_v4().unwrap()), (0, 0));
    }
}

#[test]
fn the_header_of_ipv6_has_the_class_too() {
    for protocol in protocols() {
        // A machine without IPv6 makes no such socket.
        let Ok(socket) = of_flow(&flow("[::1]:9", 3, protocol)) else { return };
        assert_eq!((socket.priority().unwrap(), socket.tclass_v6().unwrap()), (3, 0b0110_0000));
    }
}

#[test]
fn a_tcp_socket_has_its_options() {
    let [tcp, _] = protocols();
    let socket = of_flow(&flow("127.0.0.1:9", 0, tcp)).unwrap();
    assert!(socket.tcp_nodelay().unwrap() && socket.nonblocking().unwrap());
    assert_eq!(socket.tcp_notsent_lowat().unwrap(), UNSENT_BYTES);
    assert!(socket.tcp_congestion().unwrap().starts_with(b"reno"));
}

#[test]
fn a_server_has_one_port_for_both_protocols() {
    let (listener, datagrams, address) = of_server("127.0.0.1:0".parse().unwrap()).unwrap();
    assert_ne!(address.port(), 0);
    for socket in [&listener, &datagrams] {
        assert_eq!(socket.local_addr().unwrap().as_socket(), Some(address));
    }
    assert!(of_server(address).is_err(), "the port is taken");
}
