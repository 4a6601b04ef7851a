//! Ingresses that stay paused while a queue is too long. This is ours and not FAFC's: without it
//! (`drain_share` 0) none of it is done.
//!
//! FAFC's pauses follow the growth of a queue (eq. 10) and stop when it no longer grows (Algorithm 2, lines
//! 2 and 3). Pauses themselves end the growth, two T_hop later, and the next ones come when it grows again.
//! So a queue whose senders go on does not come back to the threshold. Here an egress beyond the threshold
//! looks at its length: once in T_hop it takes the ingresses that are not yet held, and holds as many more
//! of them, in the order of the linear program, as leave it less than it sends. A held ingress is paused
//! for a whole T_hop in each T_hop. At the threshold the egress lets one ingress go in each T_hop, in turn,
//! so that ingresses with equal losses share the pauses.
//!
//! What an egress sends is measured. So an egress that is itself paused holds its ingresses, too, without a
//! packet that leaves.
//!
//! An ingress that several egresses hold is paused once. What is held does not count in the need, so the two
//! T_hop that a pause takes to be seen do not bring further pauses. A ring of egresses that hold each other
//! stands still, as under PFC; the detector of deadlocks does not see it.

use alloc::vec;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;

use super::Fafc;
use super::pause_time::{IngressPort, allocate};

/// Which ingresses stay paused.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct Hold {
    /// Share of what an egress beyond the threshold sends by which it shall shrink, 0 to 1.
    drain_share: f64,
    ports: usize,
    /// One row of ingresses for each egress.
    is_held: Vec<bool>,
    /// How many ingresses each egress holds.
    held: Vec<u16>,
    /// The first ingress that each egress may let go next.
    turn: Vec<u16>,
    /// Working memory: what the linear program says of one egress (ns).
    found: Vec<f64>,
    /// Working memory: how long each ingress is paused now (ns).
    pauses: Vec<f64>,
}

impl Hold {
    pub(super) fn new(ports: usize, drain_share: f64) -> Self {
        Hold {
            drain_share,
            ports,
            is_held: vec![false; ports * ports],
            held: vec![0; ports],
            turn: vec![0; ports],
            found: vec![0.0; ports],
            pauses: vec![0.0; ports],
        }
    }

    /// Whether there is anything to do with queues: some may be too long, or hold ingresses.
    pub(super) fn has_work(&self, queues_have_changed: bool) -> bool {
        let holds = || self.held.iter().any(|&held| held > 0);
        self.drain_share > 0.0 && (queues_have_changed || holds())
    }

    fn index(&self, ingress: u16, egress: u16) -> usize {
        usize::from(egress) * self.ports + usize::from(ingress)
    }

    fn is_held(&self, ingress: u16, egress: u16) -> bool {
        self.is_held[self.index(ingress, egress)]
    }

    fn hold(&mut self, ingress: u16, egress: u16) {
        let index = self.index(ingress, egress);
        self.is_held[index] = true;
        self.held[usize::from(egress)] += 1;
    }

    /// What `egress` holds is paused for a whole T_hop, by ingress in `hops` (ns).
    fn renew(&mut self, egress: u16, hops: &[f64]) {
        if self.held[usize::from(egress)] == 0 {
            return;
        }
        let row = &self.is_held[usize::from(egress) * self.ports..];
        for ((pause, &is_held), &hop) in self.pauses.iter_mut().zip(row).zip(hops) {
            if is_held {
                *pause = hop;
            }
        }
    }

    /// Lets the next ingress of `egress` go that is held, if there is one.
    fn let_one_go(&mut self, egress: u16) {
        if self.held[usize::from(egress)] == 0 {
            return;
        }
        let (ports, first) = (self.ports as u16, self.turn[usize::from(egress)]);
        let held = |&ingress: &u16| self.is_held(ingress, egress);
        if let Some(ingress) = (first..ports).chain(0..first).find(held) {
            let index = self.index(ingress, egress);
            self.is_held[index] = false;
            self.held[usize::from(egress)] -= 1;
            self.turn[usize::from(egress)] = (ingress + 1) % ports;
        }
    }
}

impl Fafc {
    /// Whether the length of `egress` decides about pauses, and not its growth.
    pub(super) fn goes_by_length(&self, egress: u16) -> bool {
        self.hold.drain_share > 0.0
            && (self.hold.held[usize::from(egress)] > 0
                || self.forecast.queue(egress) > self.threshold)
    }

    /// Holds ingresses of each queue that is beyond the threshold, lets ingresses of the others go, and
    /// pauses what is held.
    pub(super) fn hold_by_length(&mut self, now: Time) {
        let ports = self.slots.len() as u16;
        self.hold.pauses.fill(0.0);
        for egress in 0..ports {
            if self.forecast.queue(egress) > self.threshold {
                self.hold_more(egress);
            } else {
                self.hold.let_one_go(egress);
            }
            self.hold.renew(egress, &self.hops_ns);
        }
        for ingress in (0..ports).rev() {
            let time = self.hold.pauses[usize::from(ingress)];
            if time > 0.0 {
                // The egress does not matter, as all of what arrives counts.
                self.pause(now, (ingress, ingress), time, 1.0);
            }
        }
    }

    /// Holds as many more ingresses of `egress` as leave it `drain_share` less than it sends. The last of
    /// them may need a part of T_hop only, and is not held.
    fn hold_more(&mut self, egress: u16) {
        let (mut arriving, mut leaving) = (0.0, 0.0);
        for ingress in 0..self.slots.len() as u16 {
            let longest = self.hops_ns[usize::from(ingress)];
            let is_held = self.hold.is_held(ingress, egress);
            let relief = if is_held { 0.0 } else { self.forecast.arrival(ingress, egress) };
            arriving += relief * longest;
            leaving += self.forecast.departure(ingress, egress) * longest;
            let loss = self.loss(ingress, egress);
            self.candidates[usize::from(ingress)] = IngressPort { relief, loss, longest };
        }
        let need = arriving - (1.0 - self.hold.drain_share) * leaving;
        allocate(&self.candidates, need, &mut self.ranks, &mut self.hold.found);
        for ingress in 0..self.slots.len() as u16 {
            let (time, port) = (self.hold.found[usize::from(ingress)], usize::from(ingress));
            if time <= 0.0 {
                continue;
            }
            if time >= self.hops_ns[port] {
                self.hold.hold(ingress, egress);
            } else {
                self.hold.pauses[port] = self.hold.pauses[port].max(time);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ingresses_are_let_go_in_turn() {
        let mut hold = Hold::new(4, 0.25);
        for ingress in [0, 2, 3] {
            hold.hold(ingress, 1);
        }
        assert!(hold.has_work(false));
        hold.let_one_go(1);
        assert!(!hold.is_held(0, 1) && hold.is_held(2, 1));
        hold.hold(0, 1);
        let order: Vec<u16> = (0..3)
            .map(|_| {
                let before = hold.is_held.clone();
                hold.let_one_go(1);
                let changed = |&port: &u16| before[4 + usize::from(port)] != hold.is_held(port, 1);
                (0..4).find(changed).unwrap()
            })
            .collect();
        assert_eq!(order, [2, 3, 0]);
        hold.let_one_go(1);
        assert!(!hold.has_work(false) && hold.has_work(true));
        assert!(!Hold::new(4, 0.0).has_work(true));
    }
}
