//! Congestion control and ECN of the hosts' connections.

use std::net::{SocketAddr, TcpListener, TcpStream};

use penstock_emulate::namespace::{Ecn, NamespaceError, enter};
use rustix::net::sockopt::{set_tcp_congestion, tcp_congestion};

use crate::network::{Network, hosts, ip, kernel, kernel_host};
use crate::part;

/// The words of a setting of this kernel.
fn setting(name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).unwrap();
    text.split_whitespace().map(str::to_owned).collect()
}

/// The variable that tells a part which congestion controls its hosts should have.
const PAIR: &str = "PENSTOCK_NAMESPACE_PAIR";

/// Connects two hosts and checks that each end of the connection has the congestion control of its
/// host.
pub fn part_connect() {
    let pair = std::env::var(PAIR).unwrap();
    let [client, server, version] = pair.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let wanted = [client, server];
    let version = version.parse().unwrap();
    let [mut one, mut two] = [kernel_host(1, 2, &[4, 6]), kernel_host(2, 2, &[4, 6])];
    kernel(&mut one).congestion_control = Some(client.to_owned());
    kernel(&mut two).congestion_control = Some(server.to_owned());
    let (namespaces, [(one, first), (two, second)]) = hosts([one, two]);
    namespaces.drop_privileges([&one, &two]).unwrap();
    let network = Network::join([first, second], |_, _| true);
    let address = SocketAddr::from((ip(2, version), 80));
    let listener = two.run(move || TcpListener::bind(address)).unwrap();
    let client = one.run(move || TcpStream::connect(address)).unwrap();
    let server = listener.accept().unwrap().0;
    let names = [&client, &server].map(|stream| tcp_congestion(stream).unwrap());
    network.frames();
    assert_eq!(names, wanted, "over IPv{version}");
}

pub fn of_connections() {
    for name in setting("tcp_available_congestion_control") {
        for pair in [format!("{name} reno 4"), format!("reno {name} 6")] {
            let output = part("connect").env(PAIR, pair).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

pub fn chosen_by_programs() {
    let allowed = setting("tcp_allowed_congestion_control");
    let mut settings = kernel_host(1, 1, &[4]);
    kernel(&mut settings).chosen_by_programs = allowed.clone();
    let (namespaces, [(one, _device)]) = hosts([settings]);
    namespaces.drop_privileges([&one]).unwrap();
    one.run(move || {
        let listener = TcpListener::bind((ip(1, 4), 80)).unwrap();
        for name in allowed {
            set_tcp_congestion(&listener, &name).unwrap();
            assert_eq!(tcp_congestion(&listener).unwrap(), name);
        }
    });
    let available = setting("tcp_available_congestion_control");
    let forbidden = available
        .into_iter()
        .find(|name| !setting("tcp_allowed_congestion_control").contains(name));
    if let Some(name) = forbidden {
        let refused = one.run(move || {
            let listener = TcpListener::bind((ip(1, 4), 81)).unwrap();
            set_tcp_congestion(&listener, &name)
        });
        assert_eq!(refused, Err(rustix::io::Errno::PERM));
    }
}

pub fn unknown() {
    let namespaces = enter().unwrap();
    let mut settings = kernel_host(1, 1, &[4]);
    kernel(&mut settings).congestion_control = Some("swift".to_owned());
    let refused = namespaces.host(&settings).unwrap_err();
    let NamespaceError::UnknownCongestionControl { host, name, available } = &refused else {
        panic!("{refused}")
    };
    assert_eq!((host.as_str(), name.as_str()), ("h1", "swift"));
    assert_eq!(*available, setting("tcp_available_congestion_control").join(" "));
}

pub fn ecn() {
    /// Flags ECE and CWR of TCP, both set where a connection asks for ECN (RFC 3168, 6.1.1), and
    /// SYN.
    const ASKS: u8 = 0xc0;
    const SYN: u8 = 0x02;
    for (setting, asks) in [(Ecn::Off, false), (Ecn::On, true), (Ecn::Granted, false)] {
        let [mut one, two] = [kernel_host(1, 2, &[4]), kernel_host(2, 2, &[4])];
        kernel(&mut one).ecn = setting;
        let (_namespaces, [(one, first), (two, second)]) = hosts([one, two]);
        let network = Network::join([first, second], |_, _| true);
        let address = SocketAddr::from((ip(2, 4), 80));
        let _listener = two.run(move || TcpListener::bind(address)).unwrap();
        one.run(move || TcpStream::connect(address)).unwrap();
        let frames = network.frames();
        let flags = frames[0][14 + 20 + 13];
        assert_eq!(flags, if asks { ASKS | SYN } else { SYN }, "{setting:?}");
    }
}
