//! By ingress: a data queue for each port that packets come from.
//!
//! With deficit round robin this assignment gives the fair queueing between ingress ports of FAFC's
//! switches (C. Lu et al., "FAFC: Fast and Accurate Flow Control in Data Center Networks", sec. IV).
//! FAFC calls the queueing weighted and gives no weights. Our weights are equal, because FAFC's pause
//! times assume that every ingress port gets about the same service.

use alloc::vec;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::SwitchFacts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Assigning, Parameters, Policy};

/// Parameters of the assignment by ingress: none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByIngressConfig {}

impl Parameters for ByIngressConfig {
    fn queue_classes(&self, ports: usize) -> Vec<u8> {
        vec![0; ports]
    }

    fn queues(&self) -> Option<u32> {
        None
    }
}

/// The assignment by ingress of a switch.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct ByIngress;

impl ByIngress {
    pub(crate) fn new(_: &ByIngressConfig, _: &SwitchFacts) -> Self {
        ByIngress
    }
}

impl Policy for ByIngress {
    /// The first port has queue number 1.
    #[inline]
    fn assign(&mut self, arrival: Assigning<'_>) -> Option<u16> {
        Some(1 + arrival.packet.ingress)
    }
}

#[cfg(test)]
mod tests {
    use super::ByIngressConfig;
    use crate::fixture::{Bench, Flow, drr, hosts, plain};
    use crate::{AssignmentConfig, SwitchConfig};

    #[test]
    fn ports_share_an_egress_evenly_whatever_they_send() {
        let config = SwitchConfig {
            assignment: AssignmentConfig::Ingress(ByIngressConfig {}),
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
