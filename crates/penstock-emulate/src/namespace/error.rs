//! Why a namespace, or something in one, is refused.

use std::io;

use thiserror::Error;

/// Why the emulator's namespaces cannot be made or used. The message says what would help.
#[derive(Debug, Error)]
pub enum NamespaceError {
    /// The process has more than one thread; the kernel lets such a process enter no user namespace
    /// (unshare(2)).
    #[error(
        "the process has {threads} threads, and only a process with one thread can enter namespaces; \
         enter them before a library starts threads of its own (numpy does)"
    )]
    Threads {
        /// How many.
        threads: usize,
    },
    /// The system lets this process make no namespaces.
    #[error("this process may not make namespaces: {reason}; {remedy}")]
    Forbidden {
        /// What forbids it, as far as the system tells.
        reason: String,
        /// What would help.
        remedy: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// The device from which TAP devices are made cannot be opened.
    #[error("/dev/net/tun cannot be opened ({source}); {remedy}")]
    Tun {
        /// What would help.
        remedy: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel lacks a congestion control.
    #[error("host {host}: this kernel has no congestion control {name:?}; it has: {available}")]
    UnknownCongestionControl {
        /// The host that should have it.
        host: String,
        /// Its name.
        name: String,
        /// The names of those that the kernel has, with spaces between them.
        available: String,
    },
    /// The kernel lets programs without privilege not choose a congestion control.
    #[error(
        "host {host}: programs may not choose the congestion control {name:?} themselves; \
         they may choose: {allowed}. An administrator can add it: \
         sysctl -w net.ipv4.tcp_allowed_congestion_control=\"{allowed} {name}\""
    )]
    CongestionControlNotAllowed {
        /// The host whose programs should choose it.
        host: String,
        /// Its name.
        name: String,
        /// The names of those that programs may choose, with spaces between them.
        allowed: String,
    },
    /// A thread has kept capabilities when all should have been dropped.
    #[error(
        "these threads still hold capabilities: {threads}; drop the privileges before other threads start"
    )]
    StillPrivileged {
        /// The names of the threads, with commas between them.
        threads: String,
    },
    /// A program was to start while its thread holds capabilities.
    #[error("programs start only after the privileges are dropped")]
    NotYetDropped,
    /// A system call failed.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// What the kernel said.
        source: io::Error,
    },
}

/// Says what was tried when an error comes.
pub(super) trait Doing<T> {
    /// The value, or the error together with what was tried.
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, NamespaceError>;
}

impl<T, E: Into<io::Error>> Doing<T> for Result<T, E> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, NamespaceError> {
        self.map_err(|error| NamespaceError::System { what: what(), source: error.into() })
    }
}
