//! System calls for which neither the standard library nor `rustix` has a safe function.
//!
//! This directory has all unsafe code of the crate: [`batch`] that of reading many frames at once, this file
//! all else. Each function here is safe to call: it checks what its system call needs, or takes types that
//! guarantee it. No function here knows what it is used for.

#![allow(
    unsafe_code,
    reason = "system calls without a safe wrapper; each block says why it is sound"
)]

pub(crate) mod batch;

use std::ffi::CStr;
use std::io;
use std::mem::{MaybeUninit, size_of, size_of_val, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use rustix::process::Pid;
use rustix::thread::UnshareFlags;

/// An error of `errno` where a C function has returned −1.
fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// The number of threads of this process.
///
/// # Errors
///
/// `/proc` is not mounted.
pub(crate) fn thread_count() -> io::Result<usize> {
    Ok(std::fs::read_dir("/proc/self/task")?.count())
}

/// Moves the calling thread into new namespaces of these kinds (unshare(2)).
///
/// # Errors
///
/// Those of unshare(2), and `InvalidInput` for flags that are no namespace.
pub(crate) fn enter_new_namespaces(kinds: UnshareFlags) -> io::Result<()> {
    let namespaces = UnshareFlags::NEWUSER
        | UnshareFlags::NEWNS
        | UnshareFlags::NEWNET
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWIPC;
    if !namespaces.contains(kinds) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: unsound is only an unshared table of file descriptors (FILES), which the check above
    // excludes.
    unsafe { rustix::thread::unshare_unsafe(kinds) }.map_err(io::Error::from)
}

/// Signals that a process has blocked.
pub(crate) struct SignalMask(libc::sigset_t);

/// A set of these signals.
fn signal_set(signals: &[libc::c_int]) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset writes the whole set, and sigaddset takes any number: it refuses what is
    // no signal.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for &signal in signals {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

/// Blocks signals in the calling thread, and returns the mask from before.
pub(crate) fn block_signals(signals: &[libc::c_int]) -> SignalMask {
    let set = signal_set(signals);
    let mut before = signal_set(&[]);
    // SAFETY: both pointers are to sets that live through the call. SIG_BLOCK is a valid request,
    // so it cannot fail.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, &raw mut before) };
    SignalMask(before)
}

impl SignalMask {
    /// Makes this the mask of the calling thread again.
    pub(crate) fn restore(self) {
        // SAFETY: the mask came from the kernel, and a null pointer for the old mask is allowed.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut()) };
    }
}

/// Gives a signal its default action.
pub(crate) fn reset_signal(signal: libc::c_int) {
    // SAFETY: SIG_DFL installs no handler, so no code of ours can run inside a signal.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

/// A descriptor from which blocked signals are read (signalfd(2)).
///
/// # Errors
///
/// Those of signalfd(2).
pub(crate) fn signal_descriptor(signals: &[libc::c_int]) -> io::Result<OwnedFd> {
    let set = signal_set(signals);
    // SAFETY: the set lives through the call; −1 asks for a new descriptor.
    let fd = checked(unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC) })?;
    // SAFETY: the kernel has just made the descriptor, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Which of two processes a fork has returned in.
pub(crate) enum Fork {
    /// The process that called.
    Parent {
        /// The new process.
        child: Pid,
    },
    /// The new process.
    Child,
}

/// Splits the process in two (fork(2)).
///
/// # Errors
///
/// Those of fork(2), and `InvalidInput` where the process has more than one thread: the child would
/// have locks that nobody opens.
pub(crate) fn fork() -> io::Result<Fork> {
    if thread_count()? != 1 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: no other thread exists, so that the child has a whole copy of the process, with no
    // lock held.
    let child = checked(unsafe { libc::fork() })?;
    Ok(Pid::from_raw(child).map_or(Fork::Child, |child| Fork::Parent { child }))
}

/// Closes all descriptors but the three standard ones and `kept`, runs `work`, and ends the process
/// with what `work` returns.
///
/// Nothing else of the program runs in this process any more: no destructor, no handler of
/// `atexit`. Buffers that were copied in a fork are not written a second time.
///
/// `work` is `Copy`, so that it owns no descriptor but those in `kept`.
pub(crate) fn live_for<const N: usize>(
    kept: [OwnedFd; N],
    work: impl FnOnce([OwnedFd; N]) -> i32 + Copy,
) -> ! {
    let mut numbers = kept.each_ref().map(|fd| fd.as_raw_fd());
    numbers.sort_unstable();
    let mut first = libc::STDERR_FILENO + 1;
    for number in numbers {
        close_between(first, number - 1);
        first = number + 1;
    }
    close_between(first, RawFd::MAX);
    let code = work(kept);
    // SAFETY: _exit takes any code and does not return.
    unsafe { libc::_exit(code) }
}

/// Closes the descriptors `first..=last`. Only [`live_for`] may call it.
fn close_between(first: RawFd, last: RawFd) {
    let (Ok(first), Ok(last)) = (u32::try_from(first), u32::try_from(last)) else { return };
    if first <= last {
        // SAFETY: the owners of these descriptors never run again (`live_for` does not return), so
        // none of them uses a number that a later descriptor has got. A kernel before 5.9 lacks the
        // call: they stay open.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    }
}

/// Makes the device of an open `/dev/net/tun`: a TAP device of this name, whose frames have no
/// header of the kernel before them (`IFF_TAP | IFF_NO_PI`), and without offloads (`TUNSETOFFLOAD`
/// 0).
///
/// # Errors
///
/// The kernel's: no permission (`EPERM`), a name in use (`EBUSY`), or a name that is no name
/// (`EINVAL`).
pub(crate) fn make_tap(device: BorrowedFd<'_>, name: &CStr) -> io::Result<()> {
    let bytes = name.to_bytes();
    if bytes.len() >= libc::IFNAMSIZ {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: `ifreq` consists of integers, and all zeros is a valid value of it.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (place, &byte) in request.ifr_name.iter_mut().zip(bytes) {
        *place = byte as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes one `ifreq`, which lives through the call.
    checked(unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETIFF, &raw mut request) })?;
    let no_offload: libc::c_ulong = 0;
    // SAFETY: TUNSETOFFLOAD takes its argument by value.
    checked(unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETOFFLOAD, no_offload) })?;
    Ok(())
}

/// Sets an integer option of packet sockets.
fn set_packet_option(
    socket: BorrowedFd<'_>,
    name: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    // SAFETY: the value lives through the call, and its size is the size given.
    checked(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            name,
            (&raw const value).cast(),
            size_of_val(&value) as libc::socklen_t,
        )
    })?;
    Ok(())
}

/// Joins a packet socket without a protocol to an interface, from which it then gets the frames
/// that arrive, of any protocol, but not those that are sent there. Frames that it sends pass over
/// the queueing discipline.
///
/// # Errors
///
/// The kernel's: the interface is gone (`ENODEV`) or down (`ENETDOWN`).
pub(crate) fn join_interface(socket: BorrowedFd<'_>, interface: u32) -> io::Result<()> {
    set_packet_option(socket, libc::PACKET_IGNORE_OUTGOING, 1)?;
    set_packet_option(socket, libc::PACKET_QDISC_BYPASS, 1)?;
    set_packet_option(socket, libc::PACKET_AUXDATA, 1)?;
    // SAFETY: `sockaddr_ll` consists of integers, and all zeros is a valid value of it.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as libc::c_ushort;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = i32::try_from(interface).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: the address lives through the call, and its size is the size given.
    checked(unsafe {
        libc::bind(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of_val(&address) as libc::socklen_t,
        )
    })?;
    Ok(())
}

/// How many frames a packet socket has had no room for since it was asked last (`PACKET_STATISTICS`,
/// packet(7)).
///
/// # Errors
///
/// Those of getsockopt(2).
pub(crate) fn dropped_frames(socket: BorrowedFd<'_>) -> io::Result<u64> {
    // SAFETY: `tpacket_stats` consists of integers, and all zeros is a valid value of it.
    let mut counts: libc::tpacket_stats = unsafe { zeroed() };
    let mut length = size_of_val(&counts) as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into `counts`, which has as many, and then their
    // number to `length`; both live through the call.
    checked(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            (&raw mut counts).cast(),
            &raw mut length,
        )
    })?;
    Ok(counts.tp_drops.into())
}

/// A frame that a packet socket has received.
pub(crate) struct ReceivedFrame {
    /// Bytes of the frame in the buffer.
    pub(crate) length: usize,
    /// The VLAN tag that the kernel has cut out of the frame: protocol identifier and control
    /// information.
    pub(crate) tag: Option<(u16, u16)>,
}

/// Receives a frame from a packet socket.
///
/// # Errors
///
/// Those of recvmsg(2); `WouldBlock` where no frame waits.
pub(crate) fn receive_frame<Fd: AsFd>(socket: &Fd, buffer: &mut [u8]) -> io::Result<ReceivedFrame> {
    /// Room for one control message with the kernel's facts about a frame; u64 for the alignment of
    /// `cmsghdr`.
    const CONTROL_WORDS: usize = 8;
    let mut control = [0u64; CONTROL_WORDS];
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: `msghdr` consists of integers and pointers, and all zeros is a valid value of it.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the message points to `buffer` and `control` with their true sizes; both live through
    // the call.
    let length = unsafe { libc::recvmsg(fd, &raw mut message, 0) };
    let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
    Ok(ReceivedFrame { length, tag: tag_of(&message) })
}

/// The VLAN tag in the control messages of a message that recvmsg(2) has filled in.
fn tag_of(message: &libc::msghdr) -> Option<(u16, u16)> {
    // SAFETY: the kernel has filled in the header, and its control buffer is alive
    // (`receive_frame`).
    let mut next = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !next.is_null() {
        // SAFETY: CMSG_FIRSTHDR and CMSG_NXTHDR return null, or a header that lies within the
        // control buffer.
        let header = unsafe { &*next };
        let enough = header.cmsg_len as usize
            >= size_of::<libc::cmsghdr>() + size_of::<libc::tpacket_auxdata>();
        if (header.cmsg_level, header.cmsg_type) == (libc::SOL_PACKET, libc::PACKET_AUXDATA)
            && enough
        {
            // SAFETY: the check above says that the data of this header hold a `tpacket_auxdata`;
            // it is read without a demand on its alignment.
            let facts: libc::tpacket_auxdata =
                unsafe { ptr::read_unaligned(libc::CMSG_DATA(next).cast()) };
            if facts.tp_status & libc::TP_STATUS_VLAN_VALID == 0 {
                return None;
            }
            return Some((facts.tp_vlan_tpid, facts.tp_vlan_tci));
        }
        // SAFETY: `next` is a header of this message.
        next = unsafe { libc::CMSG_NXTHDR(message, next) };
    }
    None
}
