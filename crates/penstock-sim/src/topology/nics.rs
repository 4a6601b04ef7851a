//! NICs as nodes of their own, for hosts that are not ours: between such a host and its switch.

use penstock_units::{BitRate, Time};

use super::network::{Frame, Link, Node, Topology};

/// The link between a host and its own NIC is so many times as fast as the cable behind the NIC (our choice:
/// a packet crosses it in a hundredth of the time that it takes on the cable).
const INSIDE_A_HOST: u64 = 100;

impl Topology {
    /// This network with a NIC of its own, a switch with two ports, at each of `hosts` (ascending). Nodes
    /// and links keep their numbers. The NICs are the last nodes, in the order of their hosts: port 0 leads
    /// into the network, port 1 to the host. Neighbours take a NIC for a host, because its tier is 0.
    pub fn with_nics(&self, hosts: &[u32]) -> Topology {
        let (mut nodes, mut links) = (self.nodes.clone(), self.links.clone());
        let mut layers = self.layers.clone();
        let [up, down] = [0, 1].map(|direction| layers.len() as u16 + direction);
        if !hosts.is_empty() {
            layers.extend(["host-NIC".to_owned(), "NIC-host".to_owned()]);
        }
        for &host in hosts {
            let nic = nodes.len() as u32;
            nodes.push(Node { name: format!("N{host}"), tier: 0 });
            let uplink = self.uplink(host) as usize;
            let downlink = self.links[uplink].reverse as usize;
            links[uplink].from = nic;
            links[downlink].to = nic;
            let rate = BitRate::from_bps(self.links[uplink].rate.as_bps() * INSIDE_A_HOST);
            for (from, to, layer) in [(host, nic, up), (nic, host, down)] {
                let reverse = links.len() as u32 ^ 1;
                links.push(Link { from, to, rate, delay: Time::ZERO, layer, reverse });
            }
        }
        let pipeline_delay = self.pipeline_delay;
        Topology::new(Frame { hosts: self.hosts, nodes, layers, pipeline_delay }, links)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::build;
    use crate::topology::tests::leaf_spine;

    #[test]
    fn a_nic_stands_between_its_host_and_the_switch() {
        let plain = build(&leaf_spine(2, 2, 1)).unwrap();
        let network = plain.with_nics(&[1, 3]);
        assert_eq!((network.hosts, network.switches), (4, 3 + 2));
        let (nic, switch) = (7, plain.edge_switch(1));
        assert_eq!(network.nodes[nic as usize], Node { name: "N1".to_owned(), tier: 0 });
        assert_eq!(network.edge_switch(1), nic);
        assert_eq!(network.edge_switch(0), plain.edge_switch(0), "host 0 has no NIC of its own");
        let (into, out) = (plain.uplink(1), plain.downlink(1));
        assert_eq!(network.egress_links(nic), [into, network.downlink(1)]);
        assert_eq!(network.links[into as usize].to, switch);
        assert_eq!(network.links[out as usize].to, nic);
        assert_eq!(network.egress_links(switch), plain.egress_links(switch));
        for link in &network.links {
            let reverse = &network.links[link.reverse as usize];
            assert_eq!((link.from, link.to), (reverse.to, reverse.from));
        }
    }
}
