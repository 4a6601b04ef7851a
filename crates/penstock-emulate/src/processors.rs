//! Which processors the threads of a run use. The other threads of a run keep off one processor, because the
//! frames of the network leave late when another thread is in its place.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The processors of this process.
#[derive(Clone, Debug)]
pub struct Processors {
    of_network: CpuSet,
    others: CpuSet,
}

impl Processors {
    /// All but the last processor are for the hosts; none when there is only one.
    pub fn split() -> Option<Self> {
        let all = sched_getaffinity(None).ok()?;
        let own = |cpu: &usize| all.is_set(*cpu);
        let last = (0..CpuSet::MAX_CPU).rev().find(own)?;
        let (mut of_network, mut others) = (CpuSet::new(), all);
        of_network.set(last);
        others.unset(last);
        (others.count() > 0).then_some(Processors { of_network, others })
    }

    /// The calling thread, and those that it starts from now on, keep off the last processor.
    pub fn leave_to_network(&self) {
        let _ = sched_setaffinity(None, &self.others);
    }

    /// The calling thread drives the network. It stays on the last processor: elsewhere it would share one
    /// with the thread that drives the hosts, and neither of them sleeps.
    pub fn for_network(&self) {
        let _ = sched_setaffinity(None, &self.of_network);
    }
}
