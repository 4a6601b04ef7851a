//! The way into the namespaces.

use std::fs::{self, OpenOptions};

use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{getegid, geteuid};
use rustix::thread::UnshareFlags;

use super::error::{Doing, NamespaceError};
use super::forbidden::{forbidden, tun_refused};
use super::guardian;
use super::host::HostNamespace;
use super::privilege::{drop_capabilities, privileged_threads};
use super::settings::HostSettings;
use super::tap::{TUN, TapDevice};
use crate::system;

/// The proof that this process is in namespaces of its own, with the capabilities to make hosts in
/// them.
///
/// Hosts are made first, then [`drop_privileges`](Namespaces::drop_privileges) takes this value:
/// after it no host can be made.
#[derive(Debug)]
pub struct Namespaces(());

/// Moves this process into a user, mount, network, PID and IPC namespace of its own, in which it is
/// root.
///
/// Outside of them it is who it was: the present user and group are root inside, and nobody else
/// has a name there. The network namespace has no way out. The IPC namespace is for System V memory
/// that a program leaves.
///
/// **`enter` returns in another process.** The process that calls stays behind, waits for the
/// worker and ends with its exit code; between them is PID 1 of the new PID namespace. Whichever of
/// the three ends, and however, the others and all programs end too. The same holds when the
/// process ends that started the caller. Signals that reach the caller are passed on to the worker.
/// So what a caller has printed but not flushed is printed by the worker alone, and `getpid` says
/// something else than before.
///
/// # Errors
///
/// - [`NamespaceError::Threads`]: this process has more than one thread.
/// - [`NamespaceError::Tun`]: `/dev/net/tun` is missing or cannot be opened.
/// - [`NamespaceError::Forbidden`]: the system forbids namespaces.
/// - [`NamespaceError::System`]: another step failed.
///
/// After the first two this process is as before; after the others it may be in some of the
/// namespaces, and should end.
pub fn enter() -> Result<Namespaces, NamespaceError> {
    match system::thread_count().doing(|| "count the threads of this process".into())? {
        1 => {}
        threads => return Err(NamespaceError::Threads { threads }),
    }
    OpenOptions::new().read(true).write(true).open(TUN).map_err(tun_refused)?;
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let kinds = UnshareFlags::NEWUSER
        | UnshareFlags::NEWNS
        | UnshareFlags::NEWNET
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWIPC;
    system::enter_new_namespaces(kinds).map_err(forbidden)?;
    // user_namespaces(7): a group can be mapped without privilege only where setgroups(2) is
    // denied.
    for (file, text) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("0 {user} 1")),
        ("gid_map", format!("0 {group} 1")),
    ] {
        fs::write(format!("/proc/self/{file}"), text).map_err(forbidden)?;
    }
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(|error| forbidden(error.into()))?;
    guardian::start_worker().doing(|| "start the worker in its PID namespace".into())?;
    Ok(Namespaces(()))
}

impl Namespaces {
    /// Makes a host: a network namespace with a TAP device, a thread in it, and the descriptor
    /// through which the emulator receives what the host sends, and sends what the host should
    /// receive.
    ///
    /// # Errors
    ///
    /// A setting that the kernel lacks or refuses.
    pub fn host(
        &self,
        settings: &HostSettings,
    ) -> Result<(HostNamespace, TapDevice), NamespaceError> {
        HostNamespace::create(settings)
    }

    /// Drops all capabilities of the calling thread and of the threads of these hosts, for good:
    /// neither these threads, nor threads and programs that they start, can get any
    /// (`no_new_privs`, an empty bounding set).
    ///
    /// Programs need none: they start from a thread that is in their namespace already. What needs
    /// capabilities comes before: hosts, packet sockets.
    ///
    /// # Errors
    ///
    /// - [`NamespaceError::StillPrivileged`]: a thread of this process is neither the caller nor of
    ///   these hosts.
    /// - [`NamespaceError::System`]: a system call failed.
    pub fn drop_privileges<'a>(
        self,
        hosts: impl IntoIterator<Item = &'a HostNamespace>,
    ) -> Result<(), NamespaceError> {
        for host in hosts {
            host.run(drop_capabilities)
                .doing(|| format!("drop the capabilities of host {}", host.name()))?;
        }
        drop_capabilities().doing(|| "drop the capabilities".into())?;
        let threads =
            privileged_threads().doing(|| "look for capabilities that are left".into())?;
        if threads.is_empty() {
            Ok(())
        } else {
            Err(NamespaceError::StillPrivileged { threads: threads.join(", ") })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_threads_is_refused() {
        // The harness runs each test in a thread of its own.
        let refused = std::thread::spawn(enter).join().unwrap().unwrap_err();
        assert!(matches!(refused, NamespaceError::Threads { threads } if threads > 1), "{refused}");
    }
}
