//! Why a load generator refuses its input or cannot go on.

use std::io;

use thiserror::Error;

/// Why a host of the load generator cannot start, or cannot go on.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The kernel does not know this congestion control.
    #[error("this kernel has no congestion control {name:?}; it has {}", .available.join(", "))]
    UnknownCongestion {
        /// The name that was asked for.
        name: String,
        /// The names that the kernel has.
        available: Vec<String>,
    },
    /// The kernel lets only administrators of the network use this congestion control.
    #[error(
        "congestion control {name:?} needs CAP_NET_ADMIN; without it the kernel allows those of \
         /proc/sys/net/ipv4/tcp_allowed_congestion_control"
    )]
    ForbiddenCongestion {
        /// The name that was asked for.
        name: String,
    },
    /// A flow cannot be sent as it is described.
    #[error("flow {number}: {reason}")]
    Flow {
        /// The flow's number.
        number: u64,
        /// What is wrong, and what would be right.
        reason: &'static str,
    },
    /// The options of a run contradict each other.
    #[error("{0}")]
    Options(&'static str),
    /// The process may not open as many files as it needs.
    #[error(
        "{needed} file descriptors are needed and the limit is {limit}; raise the hard limit (ulimit -Hn) or \
         send fewer flows at a time"
    )]
    TooFewDescriptors {
        /// How many are needed.
        needed: u64,
        /// The hard limit of this process.
        limit: u64,
    },
    /// A system call failed.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

impl LoadError {
    /// `what` failed; for `map_err`.
    pub(crate) fn system<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> LoadError {
        move |error| LoadError::System { what, source: error.into() }
    }
}
