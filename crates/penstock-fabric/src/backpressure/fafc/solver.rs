//! A solver that takes its time: the control plane of FAFC's testbed (sec. IV-B), where the data plane sends
//! a digest when a predicted queue is beyond the threshold, and pauses leave when the linear program is
//! solved.
//!
//! The control program reads the statistics periodically, so it takes up a digest when they are renewed. It
//! solves one program at a time, with the statistics of its beginning. Where the paper is silent: digests
//! wait in the order of their arrival, and at most one of each egress.

use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;

/// A program that is being solved.
#[derive(Clone, Copy, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub(super) struct Task {
    /// The egress that is relieved.
    pub(super) egress: u16,
    /// The share of the arrivals that counts (f_dec, or 1).
    pub(super) kept: f64,
    /// When the pauses leave.
    ends_at: Time,
}

/// The solver of a switch.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct Solver {
    /// How long a program takes; 0 where it is solved at once, without digests.
    delay: Time,
    /// Egresses whose digests wait, the oldest first.
    digests: Vec<u16>,
    task: Option<Task>,
}

impl Solver {
    /// A solver without work.
    pub(super) fn new(delay: Time) -> Self {
        Solver { delay, digests: Vec::new(), task: None }
    }

    /// Whether pauses come later than the trigger.
    pub(super) fn takes_time(&self) -> bool {
        self.delay > Time::ZERO
    }

    /// A digest of `egress` comes.
    pub(super) fn ask(&mut self, egress: u16) {
        if !self.digests.contains(&egress) {
            self.digests.push(egress);
        }
    }

    /// When the task ends; [`Time::NEVER`] without one.
    pub(super) fn ends_at(&self) -> Time {
        self.task.map_or(Time::NEVER, |task| task.ends_at)
    }

    /// Takes the task whose end has come by `now`.
    pub(super) fn take_finished(&mut self, now: Time) -> Option<Task> {
        self.task.take_if(|task| task.ends_at <= now)
    }

    /// Takes the oldest digest, when the solver has no task.
    pub(super) fn next_digest(&mut self) -> Option<u16> {
        (self.task.is_none() && !self.digests.is_empty()).then(|| self.digests.remove(0))
    }

    /// The program of `egress`, with the share `kept` of the arrivals, is solved from `now` on.
    pub(super) fn begin(&mut self, now: Time, egress: u16, kept: f64) {
        self.task = Some(Task { egress, kept, ends_at: now + self.delay });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_program_at_a_time_and_one_digest_of_an_egress() {
        let us = Time::from_us;
        let mut solver = Solver::new(us(30));
        for egress in [4, 2, 4] {
            solver.ask(egress);
        }
        assert_eq!(solver.next_digest(), Some(4));
        solver.begin(us(1), 4, 0.9);
        solver.ask(4); // while its program is being solved
        assert_eq!((solver.next_digest(), solver.ends_at()), (None, us(31)));
        assert_eq!(solver.take_finished(us(30)), None);
        assert_eq!(
            solver.take_finished(us(31)).map(|task| (task.egress, task.kept)),
            Some((4, 0.9))
        );
        assert_eq!(solver.ends_at(), Time::NEVER);
        assert_eq!([solver.next_digest(), solver.next_digest()], [Some(2), Some(4)]);
        assert_eq!(solver.next_digest(), None);
    }
}
