//! By ingress: a data queue for each port that packets come from. With deficit round robin this is
//! the fair queueing between ingress ports of FAFC's switches (C. Lu et al., "FAFC: Fast and
//! Accurate Flow Control in Data Center Networks", sec. IV). FAFC calls it weighted and gives no
//! weights; ours are equal, because its pause times assume "near equal service rate for each
//! ingress port".
use penstock_packet::Packet;

/// The queue of a packet: number 1 for the first port.
#[inline]
pub(crate) fn queue_of(packet: &Packet) -> u16 {
    1 + packet.ingress
}

#[cfg(test)]
mod tests {
    use crate::fixture::{Bench, Flow, drr, hosts, plain};
    use crate::{AssignmentConfig, SwitchConfig};

    #[test]
    fn ports_share_an_egress_evenly_whatever_they_send() {
        let config = SwitchConfig {
            assignment: AssignmentConfig::Ingress {},
            scheduling: drr(1_000),
            ..plain()
        };
        let mut bench = Bench::new(&config, &hosts(3));
        let from = |hash, ingress| Flow { hash, ingress, egress: 0, ..Flow::default() };
        for flow in [from(10, 1), from(11, 1), from(12, 1), from(20, 2)] {
            assert_eq!(bench.queue_of(flow), 1 + flow.ingress);
        }
        assert_eq!(bench.drain(0), [10, 20, 11, 12]);
    }
}
