//! The two processes that stand between a worker and whoever started it.
//!
//! ```text
//! the process that called `enter` ── PID 1 of the PID namespace ── the worker
//!        (waits)                        (waits, reaps)              (`enter` returns here)
//! ```
//!
//! The kernel starts no thread in a process that has unshared its PID namespace, so a fork is
//! needed. The worker is not PID 1 itself: the kernel keeps from PID 1 each signal for which it has
//! no handler, and PID 1 must reap processes whose parent has ended.
//!
//! Whichever of the three is killed, the others and all programs in the namespace end: the kernel
//! kills a PID namespace whose PID 1 has ended. Both waiting processes pass signals on to the
//! worker, and end with its exit code.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, getppid, kill_process, pidfd_open,
    set_parent_process_death_signal, wait,
};

use crate::system::{self, Fork, SignalMask};

/// Signals that are passed on: those that ask a program to end or to tell something, and a user may
/// handle.
const PASSED_ON: [Signal; 6] =
    [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM, Signal::USR1, Signal::USR2];

/// What a shell adds to the number of the signal that ended a program (POSIX, Shell Command
/// Language, 2.8.2).
const ENDED_BY_SIGNAL: i32 = 128;

/// The exit code where the worker could not be started: our choice, what `env` uses for its own
/// failures (POSIX, env).
const NO_WORKER: i32 = 125;

/// Bytes of `struct signalfd_siginfo` (signalfd(2)).
const SIGNAL_RECORD_BYTES: usize = 128;

/// `ssi_code` of a signal that the kernel has sent, such as Ctrl-C of a terminal (`SI_KERNEL`).
const FROM_KERNEL: i32 = 0x80;

/// Starts PID 1 of the PID namespace that this process has unshared, and the worker in it. Returns
/// in the worker only.
///
/// # Errors
///
/// A system call fails; then this process goes on as before the call.
pub(super) fn start_worker() -> io::Result<()> {
    let caller = pidfd_open(getpid(), PidfdFlags::empty())?;
    // A process whose parent is in another PID namespace sees no parent. It watches itself, which
    // never ends.
    let starter = match getppid() {
        Some(parent) => pidfd_open(parent, PidfdFlags::empty())?,
        None => caller.try_clone()?,
    };
    let handled = handled_signals();
    let signals = system::signal_descriptor(&handled)?;
    let mask = system::block_signals(&handled);
    // A process that ignores SIGCHLD would not learn that a child has ended.
    system::reset_signal(Signal::CHILD.as_raw());
    match system::fork() {
        Err(error) => {
            mask.restore();
            Err(error)
        }
        Ok(Fork::Parent { child }) => {
            system::live_for([signals, starter], move |[signals, starter]| {
                stand_by(child, &signals, &starter)
            })
        }
        Ok(Fork::Child) => be_first(caller, signals, mask),
    }
}

/// The first half of the life of PID 1: starts the worker. Returns in the worker only.
fn be_first(caller: OwnedFd, signals: OwnedFd, mask: SignalMask) -> io::Result<()> {
    let failed = |_| -> ! { system::live_for([], |[]| NO_WORKER) };
    // The caller may have ended before this call; `stand_by` finds that out.
    set_parent_process_death_signal(Some(Signal::KILL))
        .unwrap_or_else(|error| failed(error.into()));
    // In a container with a masked /proc the kernel refuses a new one. Nothing here depends on it:
    // the old /proc shows the processes outside too, and `/proc/self` is right in both.
    let hidden = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let _ = mount("proc", "/proc", "proc", hidden, None);
    match system::fork().unwrap_or_else(|error| failed(error)) {
        Fork::Parent { child } => system::live_for([signals, caller], move |[signals, caller]| {
            stand_by(child, &signals, &caller)
        }),
        Fork::Child => {
            mask.restore();
            Ok(())
        }
    }
}

/// The signals that both waiting processes handle.
fn handled_signals() -> Vec<i32> {
    PASSED_ON.iter().chain(&[Signal::CHILD]).map(|signal| signal.as_raw()).collect()
}

/// Waits for the end of `child`, and returns its exit code; passes signals on to it, and reaps
/// every other child. When `watched` ends, kills the child and returns.
fn stand_by(child: Pid, signals: &OwnedFd, watched: &OwnedFd) -> i32 {
    loop {
        let mut events = [PollFd::new(signals, PollFlags::IN), PollFd::new(watched, PollFlags::IN)];
        match poll(&mut events, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return ENDED_BY_SIGNAL,
        }
        let [signal_waits, watched_has_ended] = events.map(|event| !event.revents().is_empty());
        if watched_has_ended {
            // The child may have ended in the meantime, which is as good.
            let _ = kill_process(child, Signal::KILL);
            return ENDED_BY_SIGNAL + Signal::KILL.as_raw();
        }
        if !signal_waits {
            continue;
        }
        if let Some(signal) = signal_to_pass_on(signals) {
            // A child that has ended is reaped at its SIGCHLD.
            let _ = kill_process(child, signal);
        }
        if let Some(code) = reap(child) {
            return code;
        }
    }
}

/// Reads one signal; the signal, if it should be passed on.
///
/// A terminal sends Ctrl-C to the worker too, so what the kernel has sent is not passed on.
fn signal_to_pass_on(signals: &OwnedFd) -> Option<Signal> {
    let mut record = [0u8; SIGNAL_RECORD_BYTES];
    if rustix::io::read(signals, &mut record).ok()? != SIGNAL_RECORD_BYTES {
        return None;
    }
    // `struct signalfd_siginfo`: ssi_signo, ssi_errno and ssi_code are its first three 32-bit
    // fields.
    let [number, _, code] = [0, 4, 8].map(|at| {
        let mut field = [0u8; 4];
        field.copy_from_slice(&record[at..at + 4]);
        i32::from_ne_bytes(field)
    });
    let signal = PASSED_ON.into_iter().find(|signal| signal.as_raw() == number)?;
    (code != FROM_KERNEL).then_some(signal)
}

/// Reaps all children that have ended; the exit code of `child`, if it is one of them.
fn reap(child: Pid) -> Option<i32> {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((ended, status))) if ended == child => return Some(exit_code(status)),
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return None,
            // No child is left, and so not `child` either.
            Err(_) => return Some(NO_WORKER),
        }
    }
}

/// The exit code that tells a shell how a process has ended.
fn exit_code(status: WaitStatus) -> i32 {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => code,
        (None, Some(signal)) => ENDED_BY_SIGNAL + signal,
        (None, None) => NO_WORKER,
    }
}
