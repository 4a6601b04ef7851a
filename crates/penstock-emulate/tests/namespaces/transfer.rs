//! Transfers of the kernel's TCP between two hosts.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use penstock_emulate::namespace::HostNamespace;

use crate::frames::{ETHERNET_BYTES, check_tcp};
use crate::network::{MTU, Network, hosts, ip, kernel_host};

/// Bytes of a transfer, each way.
const TRANSFER: usize = 1 << 20;

/// The byte at `position` of a transfer: no period that a segment could hide.
fn byte(position: usize, seed: usize) -> u8 {
    ((position * 31 + position / 251 + seed) % 256) as u8
}

/// Sends a transfer on `stream` while it receives the other one.
fn exchange(stream: TcpStream, sent: usize, received: usize) {
    let mut writer = stream.try_clone().expect("a second handle");
    let thread = std::thread::spawn(move || {
        let bytes: Vec<u8> = (0..TRANSFER).map(|position| byte(position, sent)).collect();
        writer.write_all(&bytes).expect("the transfer is sent");
        writer.shutdown(Shutdown::Write).expect("the transfer ends");
    });
    let mut bytes = Vec::new();
    (&stream).read_to_end(&mut bytes).expect("the transfer is received");
    assert_eq!(bytes.len(), TRANSFER);
    assert!(bytes.iter().enumerate().all(|(position, &value)| value == byte(position, received)));
    thread.join().expect("the transfer was sent");
}

/// A transfer each way between two hosts.
pub fn both_ways(client: &HostNamespace, server: &HostNamespace, address: SocketAddr) {
    let listener =
        server.run(move || TcpListener::bind(address)).expect("the server's address is its own");
    let answers = server
        .thread("server", move || exchange(listener.accept().expect("a client comes").0, 7, 1))
        .expect("a thread");
    client
        .thread("client", move || {
            exchange(TcpStream::connect(address).expect("the server is there"), 1, 7)
        })
        .expect("a thread")
        .join()
        .expect("the client is content");
    answers.join().expect("the server is content");
}

fn transfer(version: u8, longest_wanted: usize) {
    let (namespaces, [(one, first), (two, second)]) =
        hosts([kernel_host(1, 2, &[version]), kernel_host(2, 2, &[version])]);
    namespaces.drop_privileges([&one, &two]).expect("no capability is left");
    let network = Network::join([first, second], |_, _| true);
    both_ways(&one, &two, (ip(2, version), 80).into());
    let (frames, _devices) = network.end();
    let counted = [one.counters(), two.counters()].map(Result::unwrap);
    for frame in &frames {
        check_tcp(frame).unwrap_or_else(|wrong| panic!("{wrong}: {frame:02x?}"));
    }
    let longest = frames.iter().map(Vec::len).max().unwrap();
    assert_eq!(longest, longest_wanted, "segments are as long as the MTU lets them");
    assert_eq!(counted.map(|host| host.outbound).iter().sum::<u64>(), frames.len() as u64);
    assert_eq!(counted[0].outbound, counted[1].inbound);
    assert_eq!(counted.map(|host| host.dropped_outbound + host.dropped_inbound), [0, 0]);
}

pub fn over_ipv4() {
    transfer(4, MTU as usize + ETHERNET_BYTES);
}

pub fn over_ipv6() {
    transfer(6, MTU as usize + ETHERNET_BYTES);
}

pub fn with_changed_frames() {
    let (namespaces, [(one, first), (two, second)]) =
        hosts([kernel_host(1, 2, &[4]), kernel_host(2, 2, &[4])]);
    namespaces.drop_privileges([&one, &two]).expect("no capability is left");
    // Every 97th frame has one bit of its last byte changed: TCP must see it and send again.
    let network = Network::join([first, second], |number, frame| {
        if number.is_multiple_of(97) && frame.len() > 1_000 {
            *frame.last_mut().unwrap() ^= 1;
        }
        true
    });
    both_ways(&one, &two, (ip(2, 4), 80).into());
    assert!(network.frames().len() > 1_500);
}

pub fn of_a_quiet_host() {
    let (_namespaces, hosts) = hosts([kernel_host(1, 2, &[4]), kernel_host(2, 2, &[4, 6])]);
    // Reports of IPv6 groups and solicitations of routers come within a second.
    std::thread::sleep(Duration::from_millis(1_500));
    for (host, device) in hosts {
        let mut buffer = [0; 2_000];
        let frame = device.receive(&mut buffer).unwrap().map(|length| &buffer[..length]);
        assert_eq!(frame, None, "{}", host.name());
        assert_eq!(host.counters().unwrap().outbound, 0);
    }
}

pub fn no_way_out() {
    let (namespaces, [(one, device)]) = hosts([kernel_host(1, 2, &[4, 6])]);
    namespaces.drop_privileges([&one]).expect("no capability is left");
    for outside in ["192.0.2.1:9", "10.0.0.3:9", "[2001:db8::1]:9", "[fd00::3]:9"] {
        let outside: SocketAddr = outside.parse().unwrap();
        let refused = one.run(move || TcpStream::connect(outside)).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::NetworkUnreachable, "{outside}");
    }
    assert_eq!(
        device.receive(&mut [0; 2_000]).unwrap(),
        None,
        "no frame leaves for an address outside"
    );
}

pub fn counts_what_finds_no_room() {
    let mut settings = kernel_host(1, 2, &[4]);
    settings.queue_frames = 10;
    let (_namespaces, [(one, device)]) = hosts([settings]);
    one.run(|| {
        let socket = UdpSocket::bind((ip(1, 4), 0)).unwrap();
        for _ in 0..100 {
            // The kernel may say that the device has no room; that is what this case is about.
            let _ = socket.send_to(b"to nobody", (ip(2, 4), 9));
        }
    });
    let received = std::iter::from_fn(|| device.receive(&mut [0; 2_000]).unwrap()).count() as u64;
    let counted = one.counters().unwrap();
    assert!((10..20).contains(&received), "{received}");
    assert_eq!((counted.outbound, counted.dropped_outbound), (received, 100 - received));
}
