//! Hosts of ours, which speak through packet sockets.

use std::time::Duration;

use penstock_emulate::namespace::{HostSettings, PacketSocket, Stack};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::network::{MTU, hosts, kernel_host, mac};

/// Settings of a host of ours.
fn packet_host(host: u8) -> HostSettings {
    HostSettings { stack: Stack::Packets, ..kernel_host(host, 1, &[]) }
}

/// A frame to host 1 with this EtherType and payload.
fn frame(ether_type: u16, payload: &[u8]) -> Vec<u8> {
    [&mac(1)[..], &mac(2), &ether_type.to_be_bytes(), payload].concat()
}

/// Everything that waits in a socket.
fn all_frames(socket: &PacketSocket) -> Vec<Vec<u8>> {
    let mut buffer = [0; 2_000];
    std::iter::from_fn(|| {
        socket.receive(&mut buffer).unwrap().map(|length| buffer[..length].to_vec())
    })
    .collect()
}

pub fn kernel_is_silent() {
    let (_namespaces, [(one, device), (_two, talkative)]) =
        hosts([packet_host(1), kernel_host(1, 2, &[4])]);
    // Who has 10.0.0.1? (RFC 826); an ICMPv4 echo request to 10.0.0.1, its checksums right; and a
    // neighbour solicitation to all nodes (RFC 4861), which a kernel with IPv6 would look at.
    let arp =
        [&[0, 1, 8, 0, 6, 4, 0, 1][..], &mac(2), &[10, 0, 0, 2], &[0; 6], &[10, 0, 0, 1]].concat();
    let echo = [
        0x45, 0, 0, 28, 0, 1, 0, 0, 64, 1, 0x66, 0xde, 10, 0, 0, 2, 10, 0, 0, 1, // IPv4
        8, 0, 0xf7, 0xfd, 0, 1, 0, 1, // ICMP
    ];
    for question in [frame(0x0806, &arp), frame(0x0800, &echo), frame(0x86dd, &[0x60; 60])] {
        assert!(device.send(&question).unwrap());
    }
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(device.receive(&mut [0; 2_000]).unwrap(), None);
    assert_eq!(one.counters().unwrap().inbound, 3);
    // A host with the kernel's TCP/IP answers the echo request, which is thus well put.
    assert!(talkative.send(&frame(0x0800, &echo)).unwrap());
    assert!(talkative.receive(&mut [0; 2_000]).unwrap().is_some());
}

pub fn frames_are_whole() {
    let (namespaces, [(one, device)]) = hosts([packet_host(1)]);
    let socket = one.packet_socket().expect("capabilities are there");
    namespaces.drop_privileges([&one]).unwrap();
    assert!(one.packet_socket().is_err(), "a new socket needs capabilities");
    // To the socket: an experimental EtherType (IEEE 802, 9.2.4), a pause (802.1Qbb), tags with a
    // class, a tag in a tag, another host's address, and the longest frame.
    let mut to_another = frame(0x88b5, &[4; 50]);
    to_another[5] = 99;
    let mut pause = frame(0x8808, &[1, 1, 0, 1]);
    pause[..6].copy_from_slice(&[1, 0x80, 0xc2, 0, 0, 1]);
    let sent = [
        frame(0x88b5, &[1; 46]),
        pause,
        frame(0x8100, &[&[0x60, 0x05, 0x88, 0xb5][..], &[2; 46]].concat()),
        frame(0x8100, &[&[0xe0, 0x00, 0x88, 0xb5][..], &[3; 46]].concat()),
        frame(0x88a8, &[&[0x20, 0x07, 0x81, 0x00, 0x60, 0x05, 0x88, 0xb5][..], &[3; 46]].concat()),
        to_another,
        frame(0x88b5, &[5; MTU as usize]),
        frame(0x8100, &[&[0, 5, 0x88, 0xb5][..], &[6; MTU as usize]].concat()),
    ];
    for frame in &sent {
        assert!(device.send(frame).unwrap());
    }
    let mut readable = [PollFd::new(&socket, PollFlags::IN)];
    assert_eq!(poll(&mut readable, Some(&Timespec { tv_sec: 1, tv_nsec: 0 })), Ok(1));
    assert_eq!(all_frames(&socket), sent);
    // From the socket; it does not hear itself.
    for frame in &sent {
        assert!(socket.send(frame).unwrap());
    }
    let mut buffer = [0; 2_000];
    let received: Vec<Vec<u8>> = std::iter::from_fn(|| {
        device.receive(&mut buffer).unwrap().map(|length| buffer[..length].to_vec())
    })
    .collect();
    assert_eq!(received, sent);
    assert_eq!(all_frames(&socket), Vec::<Vec<u8>>::new());
    // What is too short or too long is refused on both sides, or cut off; nothing breaks.
    let refusal = |result: std::io::Result<bool>| Errno::from_io_error(&result.unwrap_err());
    assert_eq!(refusal(socket.send(&[0; 13])), Some(Errno::INVAL));
    assert_eq!(refusal(socket.send(&frame(0x88b5, &[0; MTU as usize + 5]))), Some(Errno::MSGSIZE));
    assert_eq!(refusal(device.send(&[0; 13])), Some(Errno::INVAL));
    assert!(device.send(&sent[6]).unwrap());
    assert_eq!(socket.receive(&mut buffer[..20]).unwrap(), Some(20));
    // A queue that is full says so.
    let took = (0..2_000).take_while(|_| socket.send(&sent[0]).unwrap()).count();
    // The kernel frees places in groups of a cache line, so a few are missing.
    assert!((900..=1_000).contains(&took), "{took}");
}
