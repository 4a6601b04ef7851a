//! Looks for deadlocks while a simulation runs, and ends it when there is one.
//!
//! The detector watches only links on a cycle of buffer dependencies: without a cycle there is no
//! deadlock (BFC Theorem 1), and such a run pays nothing. With a cycle, the detector looks through
//! the packets that wait at these links every ten base round trips, at the end of a window (our choice:
//! the run in between costs a hundred times as much). The detector does nothing per packet.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_fabric::KeptPause;
use penstock_packet::{Observer, PacketEvent};
use penstock_units::Time;

use crate::measure::deadlock::{Deadlock, Pause, Waiting};
use crate::network::Network;
use crate::partition::Partition;
use crate::routing::{Dependencies, go_up_then_down};
use crate::setting::Setting;

/// Base round trips between two looks of the detector.
const ROUND_TRIPS: u64 = 10;

/// The links that the detector watches.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct DeadlockWatch {
    links: Vec<u32>,
    interval: Time,
    due: Time,
}

impl DeadlockWatch {
    /// The links of `network` to watch; none when no deadlock is possible.
    pub(crate) fn new(network: &Network) -> Option<Self> {
        if !network.switches.first()?.has_lasting_pauses() {
            return None;
        }
        if go_up_then_down(&network.topology, &network.routings()) {
            return None;
        }
        let dependencies = Dependencies::new(&network.topology, &network.routings());
        let mut links = dependencies.cycles().concat();
        links.sort_unstable();
        let interval = network.path.base_rtt * ROUND_TRIPS;
        (!links.is_empty()).then_some(DeadlockWatch { links, interval, due: interval })
    }

    /// When the detector looks next.
    pub(crate) fn due(&self) -> Time {
        self.due
    }

    /// Looks for a deadlock `now`, at the end of a window.
    pub(crate) fn look<O: Observer>(
        &mut self,
        now: Time,
        setting: &Setting,
        partitions: &mut [impl DerefMut<Target = Partition<O>>],
    ) -> Option<Deadlock> {
        self.due = now + self.interval;
        let switches = Switches { setting, partitions: &*partitions };
        let stuck = switches.waiting(&self.links).stuck(|pauses| switches.lasting(pauses))?;
        let from = |link: u32| setting.topology.links[link as usize].from;
        for pause in &stuck.cycle {
            let (partition, node) = setting.placement.of_node(from(pause.link));
            let link = setting.placement.of_link(pause.link)[0];
            partitions[partition].note(now, node as u32, link, PacketEvent::Deadlock, pause.number);
        }
        Some(Deadlock::new(now, stuck, from))
    }
}

/// The switches of a network, in their partitions.
struct Switches<'a, P> {
    setting: &'a Setting,
    partitions: &'a [P],
}

impl<O, P: Deref<Target = Partition<O>>> Switches<'_, P> {
    /// The partition of switch `node`, and its place among the switches there.
    fn place(&self, node: u32) -> (&Partition<O>, usize) {
        let (partition, place) = self.setting.placement.of_node(node);
        let partition = &*self.partitions[partition];
        (partition, place - partition.hosts.len())
    }

    /// Which pauses wait for which at `links`.
    fn waiting(&self, links: &[u32]) -> Waiting {
        let topology = &self.setting.topology;
        let mut waiting = Waiting::default();
        for &link in links {
            let from = topology.links[link as usize].from;
            let (partition, switch) = self.place(from);
            let port = partition.wires[self.setting.placement.of_link(link)[0] as usize].from_port;
            for packet in partition.switches[switch].stopped(&partition.pool, port) {
                let egress = topology.egress_links(from)[usize::from(packet.ingress)];
                let upstream = topology.links[egress as usize].reverse;
                let kept = Pause { link: upstream, number: packet.keeps };
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
            let to = self.setting.topology.links[pause.link as usize].to;
            let (partition, _) = self.place(to);
            let wire = self.setting.placement.of_link(pause.link)[1];
            let ingress = partition.wires[wire as usize].to_port;
            let kept = KeptPause { ingress, number: pause.number, bytes };
            by_switch.entry(to).or_default().push((place, kept));
        }
        let mut lasts = vec![false; pauses.len()];
        for (node, kept) in by_switch {
            let (places, kept): (Vec<usize>, Vec<KeptPause>) = kept.into_iter().unzip();
            let (partition, switch) = self.place(node);
            let answers = partition.switches[switch].lasting(&kept);
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
