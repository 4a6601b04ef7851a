//! Hosts that an entry names.

use penstock_units::Problems;

use crate::topology::Topology;

/// Hosts of a list that may be empty, which stands for all.
pub(super) fn named(list: &[u32], hosts: u32) -> Vec<u32> {
    if list.is_empty() { (0..hosts).collect() } else { list.to_vec() }
}

/// Refuses unknown and repeated hosts in the list at `field`.
pub(super) fn check_hosts(field: &str, list: &[u32], hosts: u32, problems: &mut Problems) {
    let mut first_at = vec![None; hosts as usize];
    for (position, &host) in list.iter().enumerate() {
        if problems.is_full() {
            return;
        }
        let first = first_at.get_mut(host as usize).map(|at| *at.get_or_insert(position));
        if first == Some(position) {
            continue;
        }
        let at = format!("{field}[{position}]");
        check_host(&at, host, hosts, problems);
        if let Some(first) = first {
            problems.unless(
                false,
                &at,
                host,
                format!("it repeats {field}[{first}]; name each once"),
            );
        }
    }
}

/// Refuses an unknown host at `field`.
pub(super) fn check_host(field: &str, host: u32, hosts: u32, problems: &mut Problems) {
    if host >= hosts {
        let remedy =
            format!("there is no such host; hosts are 0 to {}, write one of these", hosts - 1);
        problems.unless(false, field, host, remedy);
    }
}

/// The share of the pairs of different hosts, one of each list, that are in one server. An empty list has all
/// hosts.
pub(super) fn share_inside(topology: &Topology, sources: &[u32], destinations: &[u32]) -> f64 {
    let all = |list: &[u32]| named(list, topology.hosts);
    topology.inner.map_or(0.0, |links| links.share(&all(sources), &all(destinations)))
}
