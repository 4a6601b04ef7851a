//! Socket options that no library has: what TCP knows of a connection, and what a socket dropped. The
//! only unsafe code of this crate.

use std::os::fd::AsRawFd;

use penstock_units::Time;
use socket2::Socket;

/// What the kernel knows of a TCP connection at its end (`TCP_INFO`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFacts {
    /// Segments that were sent again over the life of the connection (`tcpi_total_retrans`).
    pub retransmissions: u32,
    /// The smallest round-trip time (`tcpi_min_rtt`, whole microseconds); none when none was measured.
    pub least_rtt: Option<Time>,
    /// The smoothed round-trip time at the end (`tcpi_rtt`, cut off to whole microseconds, so that it may be
    /// 0); none when none was measured.
    pub last_rtt: Option<Time>,
}

/// Offsets in `struct tcp_info` (include/uapi/linux/tcp.h): eight bytes, then fields of four; from byte 104
/// four of eight bytes, then three of four before the last one read here.
const RTT: usize = 68;
const TOTAL_RETRANSMISSIONS: usize = 100;
const LEAST_RTT: usize = 148;

/// Room for `struct tcp_info` to the last field that is read here. The kernel writes at most this much.
const TCP_INFO_BYTES: usize = LEAST_RTT + 4;

/// How many counters `SO_MEMINFO` has that are read here: drops are the last one
/// (include/uapi/linux/sock_diag.h).
const MEMORY_COUNTERS: usize = libc::SK_MEMINFO_DROPS as usize + 1;

/// What the kernel knows of the TCP connection `socket`; none when it does not tell.
pub(crate) fn tcp_facts(socket: &Socket) -> Option<TcpFacts> {
    let mut info = [0; TCP_INFO_BYTES];
    let length = option(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut info)?;
    let field = |offset: usize| {
        let bytes = info.get(offset..offset + 4).filter(|_| offset + 4 <= length)?;
        Some(u32::from_ne_bytes(bytes.try_into().ok()?))
    };
    // The kernel says 2^32 - 1 for "no sample yet" of the smallest time, and 0 for the smoothed one.
    let least = field(LEAST_RTT).filter(|&least| least != 0 && least != u32::MAX);
    let microseconds = |value: u32| Time::from_us(value.into());
    Some(TcpFacts {
        retransmissions: field(TOTAL_RETRANSMISSIONS)?,
        least_rtt: least.map(microseconds),
        last_rtt: least.and(field(RTT)).map(microseconds),
    })
}

/// How many datagrams `socket` dropped because its receive buffer was full; none when the kernel does
/// not tell.
pub(crate) fn socket_drops(socket: &Socket) -> Option<u64> {
    let mut counters = [0; 4 * MEMORY_COUNTERS];
    let length = option(socket, libc::SOL_SOCKET, libc::SO_MEMINFO, &mut counters)?;
    let drops = counters.last_chunk().filter(|_| length == counters.len())?;
    Some(u32::from_ne_bytes(*drops).into())
}

/// Reads an option of `socket` into `value`; the result is how many bytes the kernel wrote.
#[allow(unsafe_code, reason = "neither rustix nor socket2 reads TCP_INFO or SO_MEMINFO")]
fn option(
    socket: &Socket,
    level: libc::c_int,
    name: libc::c_int,
    value: &mut [u8],
) -> Option<usize> {
    let mut length = libc::socklen_t::try_from(value.len()).ok()?;
    // SAFETY: `socket` is open as long as it is borrowed. The kernel writes at most `length` bytes to
    // `value`, which has as many, and then one number to `length`. Any byte is a valid `u8`.
    let outcome = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            level,
            name,
            value.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    (outcome == 0).then_some(length as usize)
}
