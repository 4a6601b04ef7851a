//! The limit of open files.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::LoadError;
use crate::flow::{LoadFlow, Protocol};

/// Descriptors of a host without flows: epoll, timer, TCP listener, UDP socket.
const HOST_DESCRIPTORS: u64 = 4;

/// Descriptors for the rest of the process: two events of a run, standard streams, files that are read (our
/// choice: more than this crate opens beside its sockets).
const OTHER_DESCRIPTORS: u64 = 64;

/// How many descriptors `flows` between `hosts` hosts of this process need if all flows are open at a
/// time. Flows that follow each other need fewer.
pub fn descriptors_at_most(hosts: usize, flows: &[LoadFlow]) -> u64 {
    let of_flow = |flow: &LoadFlow| match flow.protocol {
        Protocol::Tcp { .. } => 2,
        Protocol::Udp { .. } => 1,
    };
    let of_flows: u64 = flows.iter().map(of_flow).sum();
    hosts as u64 * HOST_DESCRIPTORS + of_flows + OTHER_DESCRIPTORS
}

/// Raises the limit of open files of this process to `needed`, if it is lower; past the hard limit where the
/// process may do so.
///
/// A flow that finds no descriptor when it starts ends as failed ("Too many open files"), and a server
/// without one leaves connections in its backlog until it has one.
///
/// # Errors
/// [`LoadError::TooFewDescriptors`] when the hard limit is below `needed`; the limit is then at the hard
/// limit.
pub fn raise_descriptor_limit(needed: u64) -> Result<(), LoadError> {
    let limit = getrlimit(Resource::Nofile);
    let covers = |limit: Option<u64>| limit.is_none_or(|limit| limit >= needed);
    if covers(limit.current) {
        return Ok(());
    }
    let maximum = limit.maximum.map(|maximum| maximum.max(needed));
    if setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum }).is_ok() {
        return Ok(());
    }
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })
        .map_err(LoadError::system("setrlimit"))?;
    match limit.maximum {
        Some(limit) if limit < needed => Err(LoadError::TooFewDescriptors { needed, limit }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_cannot_be_reached_is_refused_with_both_numbers() {
        // The kernel's own bound of a process (fs.nr_open) is far below 2^40.
        let error = raise_descriptor_limit(1 << 40).unwrap_err();
        let LoadError::TooFewDescriptors { needed, limit } = error else { panic!("{error}") };
        assert_eq!(needed, 1 << 40);
        assert_eq!(getrlimit(Resource::Nofile).current, Some(limit));
        assert!(raise_descriptor_limit(limit).is_ok());
    }
}
