//! Looks for deadlocks while a simulation runs, and ends it when there is one.
//!
//! The detector watches only links on a cycle of buffer dependencies: without a cycle there is no
//! deadlock (BFC Theorem 1), and such a run pays nothing. With a cycle, the detector looks through
//! the packets that wait at these links every ten base round trips (our choice: the run in between
//! costs a hundred times as much). The detector does nothing per packet.

use std::collections::BTreeMap;

use penstock_fabric::KeptPause;
use penstock_packet::{Observer, PacketEvent};
use penstock_units::Time;

use crate::clock::Clock;
use crate::measure::deadlock::{Deadlock, Pause, Waiting};
use crate::network::Network;
use crate::routing::Dependencies;
use crate::simulation::Simulation;

/// Base round trips between two looks of the detector.
const ROUND_TRIPS: u64 = 10;

/// The links that the detector watches.
#[derive(Debug)]
pub(crate) struct DeadlockWatch {
    links: Vec<u32>,
    interval: Time,
}

impl DeadlockWatch {
    /// The links of `network` to watch; none when no deadlock is possible.
    pub(crate) fn new(network: &Network) -> Option<Self> {
        if !network.switches.first()?.has_lasting_pauses() {
            return None;
        }
        let dependencies = Dependencies::new(&network.topology, &network.routings());
        let mut links = dependencies.cycles().concat();
        links.sort_unstable();
        let interval = network.path.base_rtt * ROUND_TRIPS;
        (!links.is_empty()).then_some(DeadlockWatch { links, interval })
    }

    pub(crate) fn interval(&self) -> Time {
        self.interval
    }
}

impl<O: Observer> Simulation<O> {
    /// Looks for a deadlock, and ends the run when there is one.
    pub(crate) fn on_deadlock_clock(&mut self, now: Time) {
        let Some(watch) = &self.deadlock_watch else { return };
        let next = now + watch.interval;
        let Some(stuck) = self.waiting(&watch.links).stuck(|pauses| self.lasting(pauses)) else {
            self.wheel.schedule(self.sources.clock(Clock::Deadlock), next);
            return;
        };
        for pause in &stuck.cycle {
            let node = self.network.wires[pause.link as usize].from;
            self.note(now, node, pause.link, PacketEvent::Deadlock, pause.number);
        }
        let wires = &self.network.wires;
        let deadlock = Deadlock::new(now, stuck, |link| wires[link as usize].from);
        self.measured.deadlock = Some(deadlock);
        self.is_done = true;
    }

    /// Which pauses wait for which at `links`.
    fn waiting(&self, links: &[u32]) -> Waiting {
        let mut waiting = Waiting::default();
        for &link in links {
            let wire = &self.network.wires[link as usize];
            let switch = &self.network.switches[(wire.from - self.sources.hosts) as usize];
            for packet in switch.stopped(&self.pool, wire.from_port) {
                let upstream = &self.network.ports.ingress[wire.from as usize];
                let kept =
                    Pause { link: upstream[usize::from(packet.ingress)], number: packet.keeps };
                waiting.add(kept, Pause { link, number: packet.pause }, packet.bytes);
            }
        }
        waiting
    }

    /// Which of `pauses` would last with these bytes alone, according to the switches that sent
    /// them.
    fn lasting(&self, pauses: &[(Pause, u64)]) -> Vec<bool> {
        let mut by_switch: BTreeMap<u32, Vec<(usize, KeptPause)>> = BTreeMap::new();
        for (place, &(pause, bytes)) in pauses.iter().enumerate() {
            let wire = &self.network.wires[pause.link as usize];
            let kept = KeptPause { ingress: wire.to_port, number: pause.number, bytes };
            by_switch.entry(wire.to - self.sources.hosts).or_default().push((place, kept));
        }
        let mut lasts = vec![false; pauses.len()];
        for (switch, kept) in by_switch {
            let (places, kept): (Vec<usize>, Vec<KeptPause>) = kept.into_iter().unzip();
            let answers = self.network.switches[switch as usize].lasting(&kept);
            for (place, answer) in places.into_iter().zip(answers) {
                lasts[place] = answer;
            }
        }
        lasts
    }
}

#[cfg(test)]
#[path = "deadlock_tests.rs"]
mod tests;
