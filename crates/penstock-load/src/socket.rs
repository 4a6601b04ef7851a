//! Sockets with the options that a flow or a server asks for.

use std::io;
use std::net::SocketAddr;

use penstock_units::Bytes;
use socket2::{Domain, Protocol as IpProtocol, SockRef, Socket, Type};

use crate::error::LoadError;
use crate::flow::{LoadFlow, Protocol};

/// How many bytes a TCP socket takes that it has not sent yet (`TCP_NOTSENT_LOWAT`). Our choice: a flow
/// that is stopped has at most as many left to send, 10 ms at 100 Mb/s, and a thousand flows hold 128
/// MiB.
const UNSENT_BYTES: u32 = 128 << 10;

/// How many connections may wait to be accepted. Our choice: the kernel's own bound (net.core.somaxconn)
/// since Linux 5.4.
const BACKLOG: i32 = 4_096;

/// Room for datagrams that wait to be read. Our choice: 20 ms at 1.6 Gb/s; the kernel grants up to
/// net.core.rmem_max.
const DATAGRAM_BUFFER: usize = 4 << 20;

/// How often a pair of sockets at one free port is tried (our choice: UDP rarely uses a port that is
/// free for TCP).
const PORT_ATTEMPTS: usize = 16;

/// A socket that does not block, with the options of `flow`; not connected.
pub(crate) fn of_flow(flow: &LoadFlow) -> io::Result<Socket> {
    let domain = Domain::for_address(flow.destination);
    let socket = match &flow.protocol {
        Protocol::Tcp { congestion } => {
            let socket = Socket::new(domain, Type::STREAM.nonblocking(), Some(IpProtocol::TCP))?;
            if let Some(name) = congestion {
                socket.set_tcp_congestion(name.as_bytes())?;
            }
            socket.set_tcp_nodelay(true)?;
            socket.set_tcp_notsent_lowat(UNSENT_BYTES)?;
            socket
        }
        Protocol::Udp { .. } => {
            Socket::new(domain, Type::DGRAM.nonblocking(), Some(IpProtocol::UDP))?
        }
    };
    set_class(&socket, flow.destination.is_ipv4(), flow.class)?;
    Ok(socket)
}

/// The largest priority that a socket may have without CAP_NET_ADMIN (socket(7)).
const LARGEST_FREE_PRIORITY: u32 = 6;

/// Gives what `socket` sends a priority class.
pub(crate) fn set_class(socket: &Socket, is_ipv4: bool, class: u8) -> io::Result<()> {
    if class == 0 {
        return Ok(());
    }
    // The class selector is the upper three bits (RFC 2474 sec. 4.2.2).
    let selector = u32::from(class) << 5;
    if is_ipv4 {
        socket.set_tos_v4(selector)?;
    } else {
        socket.set_tclass_v6(selector)?;
    }
    // After the selector: the kernel derives a priority from it (rt_tos2priority), which is not the class.
    match socket.set_priority(class.into()) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            socket.set_priority(LARGEST_FREE_PRIORITY)
        }
        done => done,
    }
}

/// A TCP listener and a UDP socket at one address; where its port is 0, at a port that is free for both.
pub(crate) fn of_server(address: SocketAddr) -> Result<(Socket, Socket, SocketAddr), LoadError> {
    for _ in 1..PORT_ATTEMPTS {
        match pair(address) {
            Err(error) if address.port() == 0 && error.kind() == io::ErrorKind::AddrInUse => {}
            outcome => return outcome.map_err(LoadError::system("bind the server")),
        }
    }
    pair(address).map_err(LoadError::system("bind the server"))
}

fn pair(address: SocketAddr) -> io::Result<(Socket, Socket, SocketAddr)> {
    let domain = Domain::for_address(address);
    let listener = Socket::new(domain, Type::STREAM.nonblocking(), Some(IpProtocol::TCP))?;
    listener.set_reuse_address(true)?;
    listener.bind(&address.into())?;
    let bound = listener.local_addr()?.as_socket().ok_or(io::ErrorKind::Unsupported)?;
    let datagrams = Socket::new(domain, Type::DGRAM.nonblocking(), Some(IpProtocol::UDP))?;
    datagrams.set_recv_buffer_size(DATAGRAM_BUFFER)?;
    datagrams.bind(&bound.into())?;
    listener.listen(BACKLOG)?;
    Ok((listener, datagrams, bound))
}

/// Makes closing `socket` end the connection at once: what it has not sent is discarded, and the peer is
/// reset.
pub(crate) fn abort_on_close(socket: &Socket) {
    // A socket that is closed anyway ends in any case.
    let _ = SockRef::from(socket).set_linger(Some(std::time::Duration::ZERO));
}

/// Checks that this thread may make the sockets that `flows` need, by making one of each class.
pub(crate) fn check_classes(flows: &[LoadFlow]) -> Result<(), LoadError> {
    let mut is_checked = [false; 256];
    for flow in flows {
        if std::mem::replace(&mut is_checked[usize::from(flow.class)], true) {
            continue;
        }
        let system = |source| LoadError::System { what: "make the socket of a flow", source };
        of_flow(flow).map_err(system)?;
    }
    Ok(())
}

/// The bytes that `count` is, as a system call counts them.
pub(crate) fn bytes(count: usize) -> Bytes {
    Bytes::new(count as u64)
}

#[cfg(test)]
#[path = "socket_tests.rs"]
mod tests;
