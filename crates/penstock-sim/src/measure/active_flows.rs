//! Active flows: flows with packets at a port. The number of active flows is counted exactly and
//! weighted by time; the number of packets of each active flow is counted at samples.
//!
//! The counts ask no policy, so FIFO ports can be compared with per-flow queues (BFC Fig. 4, 10c).

use std::collections::{BTreeMap, HashMap};

use penstock_fabric::parts::MixedKeys;
use penstock_units::Time;

use super::table::{Column, Table};

#[derive(Clone, Default)]
struct LinkFlows {
    active: usize,
    since: Time,
    /// The element at `index` is the time with `index` active flows.
    time: Vec<Time>,
}

impl LinkFlows {
    fn change(&mut self, now: Time, active: usize) {
        if self.time.len() <= self.active {
            self.time.resize(self.active + 1, Time::ZERO);
        }
        self.time[self.active] += now - self.since;
        self.since = now;
        self.active = active;
    }
}

/// The active flows of every link.
#[derive(Default)]
pub struct ActiveFlows {
    /// Packets queued by (link, flow hash).
    packets: HashMap<u64, u32, MixedKeys>,
    links: Vec<LinkFlows>,
    /// By link and number of packets: how many flows had so many packets, summed over the samples.
    snapshots: BTreeMap<(u32, u32), u64>,
}

impl ActiveFlows {
    /// Counters for `links` links.
    pub fn new(links: usize) -> Self {
        ActiveFlows { links: vec![LinkFlows::default(); links], ..ActiveFlows::default() }
    }

    /// A packet of `flow` joined a queue in front of `link`.
    pub fn enter(&mut self, now: Time, link: u32, flow: u32) {
        let packets = self.packets.entry(key(link, flow)).or_insert(0);
        *packets += 1;
        if *packets == 1 {
            let flows = &mut self.links[link as usize];
            flows.change(now, flows.active + 1);
        }
    }

    /// A packet of `flow` left a queue in front of `link`.
    pub fn leave(&mut self, now: Time, link: u32, flow: u32) {
        let key = key(link, flow);
        let packets = self.packets.get_mut(&key).expect("a packet leaves after it entered");
        *packets -= 1;
        if *packets == 0 {
            self.packets.remove(&key);
            let flows = &mut self.links[link as usize];
            flows.change(now, flows.active - 1);
        }
    }

    /// Counts the packets of every active flow now.
    pub fn sample(&mut self) {
        for (&key, &packets) in &self.packets {
            *self.snapshots.entry(((key >> 32) as u32, packets)).or_insert(0) += 1;
        }
    }

    /// The table of how many active flows had how many packets in front of each link, summed over
    /// the samples.
    /// `numbers` has the network's number of each link.
    pub fn packets_table(&self, numbers: &[u32]) -> Table {
        let link = |key: &(u32, u32)| numbers[key.0 as usize];
        let columns = vec![
            ("link", Column::U32(self.snapshots.keys().map(link).collect())),
            ("packets", Column::U32(self.snapshots.keys().map(|key| key.1).collect())),
            ("flows", Column::U64(self.snapshots.values().copied().collect())),
        ];
        Table { name: "flow_packets", columns }
    }

    /// Flows with packets in front of `link`.
    pub fn active(&self, link: u32) -> u32 {
        self.links[link as usize].active as u32
    }

    /// The table of how long each link had how many active flows, until `now`. Links without
    /// traffic have no rows. `numbers` has the network's number of each link.
    pub fn into_table(mut self, now: Time, numbers: &[u32]) -> Table {
        let (mut link_column, mut flows_column, mut time_column) = (vec![], vec![], vec![]);
        for (&link, flows) in numbers.iter().zip(&mut self.links) {
            if flows.time.is_empty() {
                continue;
            }
            flows.change(now, flows.active);
            for (active, time) in (0u32..).zip(&flows.time) {
                if *time > Time::ZERO {
                    link_column.push(link);
                    flows_column.push(active);
                    time_column.push(time.as_ns_f64());
                }
            }
        }
        let columns = vec![
            ("link", Column::U32(link_column)),
            ("flows", Column::U32(flows_column)),
            ("time_ns", Column::F64(time_column)),
        ];
        Table { name: "active_flows", columns }
    }
}

fn key(link: u32, flow: u32) -> u64 {
    (u64::from(link) << 32) | u64::from(flow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_counts_the_packets_of_each_flow_and_link() {
        let mut flows = ActiveFlows::new(2);
        for (link, flow) in [(0, 7), (0, 7), (0, 9), (1, 7)] {
            flows.enter(Time::from_ns(10), link, flow);
        }
        flows.sample();
        flows.leave(Time::from_ns(20), 0, 7);
        flows.sample();
        let table = flows.packets_table(&[4, 6]);
        assert_eq!(table.columns[0].1, Column::U32(vec![4, 4, 6]));
        assert_eq!(table.columns[1].1, Column::U32(vec![1, 2, 1]));
        assert_eq!(table.columns[2].1, Column::U64(vec![3, 1, 2]));
    }

    #[test]
    fn time_is_weighted_by_the_number_of_flows() {
        let mut flows = ActiveFlows::new(1);
        flows.enter(Time::from_ns(10), 0, 7);
        flows.enter(Time::from_ns(20), 0, 7);
        flows.enter(Time::from_ns(30), 0, 9);
        flows.leave(Time::from_ns(40), 0, 7);
        flows.leave(Time::from_ns(60), 0, 7);
        flows.leave(Time::from_ns(70), 0, 9);
        let table = flows.into_table(Time::from_ns(100), &[3]);
        assert_eq!(table.columns[1].1, Column::U32(vec![0, 1, 2]));
        assert_eq!(table.columns[2].1, Column::F64(vec![40.0, 30.0, 30.0]));
    }
}
