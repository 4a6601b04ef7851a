//! The samples of a partition: buffers of its switches, series of its links.

use penstock_packet::Observer;
use penstock_units::Time;

use super::Partition;
use crate::measure::samples::allowed_rate;

impl<O: Observer> Partition<O> {
    /// Samples the buffers of all switches, the active flows and the series.
    pub(super) fn sample(&mut self, now: Time) {
        if let Some(active) = &mut self.measured.active_flows {
            active.sample();
        }
        for place in 0..self.switches.len() {
            let node = self.node(place as u32 + self.sources.hosts);
            let buffers = &mut self.measured.buffers;
            buffers.time.push(now.as_ns_f64());
            buffers.node.push(node);
            buffers.bytes.push(self.switches[place].accounts().total);
        }
        for number in 0..self.setting.series.len() {
            let link = self.setting.series[number];
            let from = self.setting.topology.links[link as usize].from;
            if self.setting.placement.of_node(from).0 == self.number {
                self.sample_link(now, link);
            }
        }
    }

    /// Samples link `link` of the network, which begins here.
    fn sample_link(&mut self, now: Time, link: u32) {
        let place = self.setting.placement.of_link(link)[0];
        let wire = &self.wires[place as usize];
        let carried = self.carried(place);
        let samples = &mut self.measured.series;
        let switch = wire.from.checked_sub(self.sources.hosts);
        let port = switch.map(|switch| self.switches[switch as usize].port(wire.from_port));
        samples.time.push(now.as_ns_f64());
        samples.link.push(link);
        samples.queue_bytes.push(port.map_or(0, |port| port.bytes()));
        samples.active_queues.push(port.map_or(0, |port| port.active()));
        let active = self.measured.active_flows.as_ref();
        samples.active_flows.push(active.map_or(0, |active| active.active(place)));
        samples.paused_queues.push(port.map_or(0, |port| port.paused_queues()));
        samples.tx_bytes.push(carried.bytes);
        samples.data_bytes.push(carried.payload);
        let line_rate = self.setting.topology.links[link as usize].rate.as_bps();
        samples.allowed_bps.push(match port {
            None => allowed_rate(&self.hosts[wire.from as usize], &self.flows, line_rate),
            Some(_) => 0,
        });
    }
}
