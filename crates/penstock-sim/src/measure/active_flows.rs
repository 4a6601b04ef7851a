//! Active flows: flows with packets at a port. The number of active flows is counted exactly and
//! weighted by time; the number of packets of each active flow is counted at samples.
//!
//! The counts ask no policy, so FIFO ports can be compared with per-flow queues (BFC Fig. 4, 10c).

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;

use super::flow_packets::FlowPackets;
use super::table::{Column, Table};

/// The active flows of one link.
#[derive(Clone, Default, BorshSerialize, BorshDeserialize)]
struct LinkFlows {
    packets: FlowPackets,
    /// When the number of active flows last changed.
    since: Time,
    /// The element at `index` is the time with `index` active flows.
    time: Vec<Time>,
}

impl LinkFlows {
    /// The number of active flows was `active` until `now`.
    fn weigh(&mut self, now: Time, active: u32) {
        let active = active as usize;
        if self.time.len() <= active {
            self.time.resize(active + 1, Time::ZERO);
        }
        self.time[active] += now - self.since;
        self.since = now;
    }
}

/// The active flows of every link.
#[derive(Default, BorshSerialize, BorshDeserialize)]
pub struct ActiveFlows {
    /// None for a link without traffic.
    links: Vec<Option<Box<LinkFlows>>>,
    /// The link and the flow of a packet that has just come and may leave at this very moment. None
    /// between events.
    coming: Option<(u32, u32)>,
    /// How many samples were taken.
    samples: u64,
}

impl ActiveFlows {
    /// Counters for `links` links.
    pub fn new(links: usize) -> Self {
        ActiveFlows { links: vec![None; links], coming: None, samples: 0 }
    }

    /// A data packet of `flow` joins a queue in front of `link`. What happens at this moment is told before
    /// [`ActiveFlows::stay`]: a packet that leaves as it comes changes no count, so it costs nothing. With
    /// that, what the demo measures takes 6 % of PFC's run and not 11.
    pub fn come(&mut self, link: u32, flow: u32) {
        debug_assert_eq!(self.coming, None, "the packet before has left or stays");
        self.links[link as usize].get_or_insert_default();
        self.coming = Some((link, flow));
    }

    /// The packet that came last stays, unless one of its flow has left.
    pub fn stay(&mut self, now: Time) {
        let Some((link, flow)) = self.coming.take() else { return };
        let flows = self.links[link as usize].get_or_insert_default();
        if flows.packets.enter(flow, self.samples) {
            flows.weigh(now, flows.packets.flows() - 1);
        }
    }

    /// A data packet of `flow` left a queue in front of `link`.
    ///
    /// # Panics
    /// When no packet of `flow` is there.
    pub fn leave(&mut self, now: Time, link: u32, flow: u32) {
        if self.coming == Some((link, flow)) {
            self.coming = None;
            return;
        }
        let flows = self.links[link as usize].as_mut().expect("a packet leaves after it entered");
        if flows.packets.leave(flow, self.samples) {
            flows.weigh(now, flows.packets.flows() + 1);
        }
    }

    /// Counts the packets of every active flow now.
    pub fn sample(&mut self) {
        self.samples += 1;
    }

    /// The table of how many active flows had how many packets in front of each link, summed over
    /// the samples.
    /// `numbers` has the network's number of each link.
    pub fn packets_table(&self, numbers: &[u32]) -> Table {
        let (mut link_column, mut packets_column, mut flows_column) = (vec![], vec![], vec![]);
        for (&link, flows) in numbers.iter().zip(&self.links) {
            for (packets, count) in flows.iter().flat_map(|one| one.packets.totals(self.samples)) {
                link_column.push(link);
                packets_column.push(packets);
                flows_column.push(count);
            }
        }
        let columns = vec![
            ("link", Column::U32(link_column)),
            ("packets", Column::U32(packets_column)),
            ("flows", Column::U64(flows_column)),
        ];
        Table { name: "flow_packets", columns }
    }

    /// Flows with packets in front of `link`.
    pub fn active(&self, link: u32) -> u32 {
        self.links[link as usize].as_ref().map_or(0, |flows| flows.packets.flows())
    }

    /// The table of how long each link had how many active flows, until `now`. Links without
    /// traffic have no rows. `numbers` has the network's number of each link.
    pub fn into_table(self, now: Time, numbers: &[u32]) -> Table {
        let (mut link_column, mut flows_column, mut time_column) = (vec![], vec![], vec![]);
        for (&link, flows) in numbers.iter().zip(self.links) {
            let Some(mut flows) = flows else { continue };
            flows.weigh(now, flows.packets.flows());
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

#[cfg(test)]
#[path = "active_flows_tests.rs"]
mod tests;
