//! Deadlocks: pauses that keep each other in place round a cycle.
//!
//! A pause stops a class (PFC), a queue (BFC) or a flow at the egress of a link. The pause lasts while
//! packets at the far end of that link do not leave. When another pause stops these packets, the
//! first pause waits for the other. [`Waiting`] holds which pause waits for which at one moment.
//!
//! Take a set of pauses in which each pause lasts for as long as the others do. Such a set never
//! ends: the first pause to end would need a packet to leave that another pause of the set stops.
//! The set is a deadlock, and every deadlock becomes such a set once all packets that can move have
//! moved. Some congestion only looks alike: some packets of an ingress wait in a cycle, and enough
//! others do not. That is no deadlock.
//!
//! After S. Hu et al., "Deadlocks in Datacenter Networks: Why Do They Form, and How to Avoid Them"
//! (HotNets 2016): a cyclic buffer dependency is necessary and not sufficient.

use std::collections::{BTreeMap, BTreeSet};

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;
use serde::Serialize;

/// A class, queue or flow that is paused at the egress of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[derive(Serialize, BorshSerialize, BorshDeserialize)]
pub struct Pause {
    /// The directed link whose sender is paused.
    pub link: u32,
    /// Priority class (PFC), queue (BFC), or the hash of a flow (pauses of single flows).
    pub number: u32,
}

/// A deadlock that ended a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Deadlock {
    /// When the detector found the deadlock (ps). The cycle closed at most one interval of the
    /// detector earlier.
    pub time_ps: u64,
    /// Each pause waits for the next, the last for the first.
    pub cycle: Vec<Pause>,
    /// The nodes around the cycle; the first node again at the end.
    pub nodes: Vec<u32>,
    /// How many pauses will never end because of the deadlock, the pauses of the cycle included.
    pub stuck_pauses: u64,
}

impl Deadlock {
    /// The deadlock that `found` describes; `from` names the sender of a link.
    pub fn new(now: Time, found: Stuck, from: impl Fn(u32) -> u32) -> Self {
        let senders = found.cycle.iter().map(|pause| from(pause.link));
        let nodes = senders.clone().chain(senders.clone().next()).collect();
        let stuck_pauses = found.stuck_pauses;
        Deadlock { time_ps: now.as_ps(), cycle: found.cycle, nodes, stuck_pauses }
    }
}

/// Pauses that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// A cycle: each pause waits for the next, the last for the first.
    pub cycle: Vec<Pause>,
    /// How many pauses never end.
    pub stuck_pauses: u64,
}

/// Which pauses wait for which.
#[derive(Clone, Debug, Default)]
pub struct Waiting {
    /// For each pause, the pauses that stop the packets which keep it, and how many bytes each of
    /// them stops.
    kept_by: BTreeMap<Pause, BTreeMap<Pause, u64>>,
    /// All pauses that stop packets.
    stopping: BTreeSet<Pause>,
}

impl Waiting {
    /// Notes that `stopping` stops `bytes` more of the packets that keep `kept`.
    pub fn add(&mut self, kept: Pause, stopping: Pause, bytes: u64) {
        *self.kept_by.entry(kept).or_default().entry(stopping).or_default() += bytes;
        self.stopping.insert(stopping);
    }

    /// Finds pauses that never end. `lasts` gets pauses by ascending link. With each pause comes a
    /// number of bytes: the packets that keep the pause and are themselves stopped for ever.
    /// `lasts` says which of the pauses would last with these packets alone.
    pub fn stuck(&self, lasts: impl Fn(&[(Pause, u64)]) -> Vec<bool>) -> Option<Stuck> {
        let mut stuck = self.stopping.clone();
        loop {
            let kept: Vec<_> =
                stuck.iter().map(|&pause| (pause, self.bytes(pause, &stuck))).collect();
            let is_kept = lasts(&kept);
            let before = stuck.len();
            let left = kept.iter().zip(is_kept).filter(|((_, bytes), lasts)| *lasts && *bytes > 0);
            stuck = left.map(|((pause, _), _)| *pause).collect();
            if stuck.len() == before {
                break;
            }
        }
        let first = *stuck.first()?;
        Some(Stuck { cycle: self.cycle(first, &stuck), stuck_pauses: stuck.len() as u64 })
    }

    /// Bytes of the packets that keep `pause` and that pauses in `stuck` stop.
    fn bytes(&self, pause: Pause, stuck: &BTreeSet<Pause>) -> u64 {
        let kept_by = self.kept_by.get(&pause).into_iter().flatten();
        kept_by.filter(|(stopping, _)| stuck.contains(stopping)).map(|(_, bytes)| bytes).sum()
    }

    /// Follows pauses from `first` to a pause that each waits for, until a pause comes up again.
    fn cycle(&self, first: Pause, stuck: &BTreeSet<Pause>) -> Vec<Pause> {
        let mut path = vec![first];
        loop {
            let waits_for = self.kept_by.get(&path[path.len() - 1]).into_iter().flatten();
            let next = waits_for.map(|(stopping, _)| *stopping).find(|next| stuck.contains(next));
            let next = next.expect("a stuck pause is kept by another");
            if let Some(start) = path.iter().position(|&pause| pause == next) {
                return path.split_off(start);
            }
            path.push(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pause(link: u32) -> Pause {
        Pause { link, number: 0 }
    }

    /// A pause lasts with at least `least` bytes.
    fn at_least(least: u64) -> impl Fn(&[(Pause, u64)]) -> Vec<bool> {
        move |pauses| pauses.iter().map(|(_, bytes)| *bytes >= least).collect()
    }

    /// Links 0 -> 1 -> 2 -> 0 wait for each other with 5 kB each. Link 7 waits for link 0.
    fn three_in_a_ring() -> Waiting {
        let mut waiting = Waiting::default();
        for (kept, stopping) in [(0, 1), (1, 2), (2, 0), (7, 0)] {
            waiting.add(pause(kept), pause(stopping), 5_000);
        }
        waiting
    }

    #[test]
    fn three_pauses_in_a_ring_never_end() {
        let stuck = three_in_a_ring().stuck(at_least(5_000)).unwrap();
        assert_eq!(stuck.cycle, [0, 1, 2].map(pause));
        // Link 7 stops no packets: its pause is a victim and not on the cycle.
        assert_eq!(stuck.stuck_pauses, 3);
        let from = |link: u32| 10 + link;
        let deadlock = Deadlock::new(Time::from_us(3), stuck, from);
        assert_eq!((deadlock.time_ps, deadlock.nodes), (3_000_000, vec![10, 11, 12, 10]));
    }

    #[test]
    fn a_cycle_is_none_when_one_of_its_pauses_can_end() {
        // 5 kB are too few bytes to keep a pause: once the other packets have left, all pauses end.
        assert_eq!(three_in_a_ring().stuck(at_least(5_001)), None);
        // One more packet for links 0 and 1, but not for 2: the pause of link 2 ends first, then
        // that of 1, then that of 0.
        let mut waiting = three_in_a_ring();
        waiting.add(pause(0), pause(1), 1_000);
        waiting.add(pause(1), pause(2), 1_000);
        assert_eq!(waiting.stuck(at_least(5_001)), None);
    }

    #[test]
    fn a_chain_is_no_deadlock() {
        let mut waiting = Waiting::default();
        waiting.add(pause(0), pause(1), 9_000);
        waiting.add(pause(1), pause(2), 9_000);
        assert_eq!(waiting.stuck(at_least(1)), None);
        assert_eq!(Waiting::default().stuck(at_least(0)), None);
    }

    #[test]
    fn bytes_that_different_pauses_stop_add_up() {
        // The pause of link 0 is kept by 3 kB that link 1 stops and 2 kB that link 2 stops. The
        // pauses of links 1 and 2 are kept by packets that link 0 stops.
        let mut waiting = Waiting::default();
        waiting.add(pause(0), pause(1), 3_000);
        waiting.add(pause(0), pause(2), 2_000);
        waiting.add(pause(1), pause(0), 5_000);
        waiting.add(pause(2), pause(0), 5_000);
        assert_eq!(waiting.stuck(at_least(5_000)).unwrap().stuck_pauses, 3);
        assert_eq!(waiting.stuck(at_least(5_001)), None);
    }

    #[test]
    fn classes_of_one_link_are_told_apart() {
        let low = |link| Pause { link, number: 1 };
        let mut waiting = three_in_a_ring();
        waiting.add(low(0), low(1), 9_000);
        waiting.add(low(1), pause(2), 9_000);
        let stuck = waiting.stuck(at_least(9_000));
        assert_eq!(stuck, None);
        waiting.add(low(1), low(0), 9_000);
        assert_eq!(waiting.stuck(at_least(9_000)).unwrap().cycle, [low(0), low(1)]);
    }
}
