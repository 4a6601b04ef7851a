//! Hosts whose generators run in step: at every arrival each of these hosts starts a flow.
//!
//! PCN's paper lets the generators of hosts H2 to H15 run in step, so that their bursts meet (W. Cheng et
//! al., PCN, NSDI 2020, sec. 7.2). The paper says no more. Here the hosts
//! share their arrivals and the receiver, and every flow draws a size of its own (our choice:
//! generators that also drew alike would be one generator). The gaps of the entry are the gaps
//! between bursts; they are longer by the number of hosts, so that the load counts all flows.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Problems;

use super::hosts::{check_host, check_hosts};

/// Bursts of flows, returned one flow at a time.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct Synchronous {
    sources: Vec<u32>,
    receiver: u32,
    /// How many flows of the current burst have started; 0 between bursts.
    started: usize,
}

impl Synchronous {
    /// Bursts from each of `sources` to `receiver` among `hosts` hosts.
    pub(super) fn new(sources: &[u32], receiver: u32, hosts: u32, problems: &mut Problems) -> Self {
        check_hosts("sources", sources, hosts, problems);
        check_host("receiver", receiver, hosts, problems);
        let remedy = "it is among the sources, and a host does not send to itself; take it out";
        problems.unless(!sources.contains(&receiver), "receiver", receiver, remedy);
        Synchronous { sources: sources.to_vec(), receiver, started: 0 }
    }

    /// The hosts that send.
    pub(super) fn sources(&self) -> &[u32] {
        &self.sources
    }

    /// The host that receives.
    pub(super) fn receiver(&self) -> u32 {
        self.receiver
    }

    /// Whether the next flow starts together with the previous flow.
    pub(super) fn is_within_group(&self) -> bool {
        self.started > 0
    }

    /// The next (source, destination); the sources take turns.
    pub(super) fn next(&mut self) -> (u32, u32) {
        let source = self.sources[self.started];
        self.started = (self.started + 1) % self.sources.len();
        (source, self.receiver)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_sends_once_in_a_burst() {
        let mut bursts = Synchronous::new(&[4, 2, 5], 0, 6, &mut Problems::default());
        for _ in 0..2 {
            assert!(!bursts.is_within_group());
            assert_eq!(bursts.next(), (4, 0));
            assert!(bursts.is_within_group());
            assert_eq!(bursts.next(), (2, 0));
            assert!(bursts.is_within_group());
            assert_eq!(bursts.next(), (5, 0));
        }
    }

    #[test]
    fn hosts_are_checked() {
        let refused = |sources: &[u32], receiver| {
            let mut problems = Problems::below("x");
            Synchronous::new(sources, receiver, 4, &mut problems);
            problems.found().iter().map(|problem| problem.path.clone()).collect::<Vec<_>>()
        };
        assert_eq!(refused(&[1, 2, 1], 0), ["x.sources[2]"]);
        assert_eq!(
            refused(&[1, 4, 1, 9], 4),
            ["x.sources[1]", "x.sources[2]", "x.sources[3]", "x.receiver", "x.receiver"]
        );
        assert_eq!(refused(&[1, 3], 3), ["x.receiver"]);
    }
}
