//! First in, first out: one data queue a port, as the `class` assignment gives with one class.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::PacketPool;
use penstock_units::{Fidelity, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Egress, Parameters, Policy, fits_one_queue};
use crate::config::{Surroundings, SwitchConfig};
use crate::queue::DataQueue;

/// Parameters of the FIFO scheduler: none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FifoConfig {}

impl Parameters for FifoConfig {
    fn fits(&self, switch: &SwitchConfig, _: &Surroundings, problems: &mut Problems) {
        fits_one_queue(switch, problems);
    }

    fn is_in(&self, simulator: Fidelity) -> bool {
        simulator != Fidelity::Ns3Bfc
    }
}

/// The FIFO scheduler, which remembers the number of the one queue.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct Fifo {
    queue: u32,
}

impl Fifo {
    pub(crate) fn new(_: &FifoConfig, _: &Egress) -> Self {
        Fifo::default()
    }
}

impl Policy for Fifo {
    #[inline]
    fn activate(&mut self, _: &mut [DataQueue], number: u32, _: &PacketPool) {
        self.queue = number;
    }

    #[inline]
    fn select(&mut self, _: Time, _: &mut [DataQueue], _: &PacketPool) -> u32 {
        self.queue
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::fixture::refusal::{SFQ, refused};

    #[test]
    fn it_serves_one_queue() {
        assert!(refused(&[], &[]).is_empty());
        let expected = "scheduling.kind is fifo; it serves one queue, and the stochastic assignment makes \
                        several; use assignment {kind = \"class\", classes = 1}, or scheduling \"drr\" or \
                        \"strict\"";
        assert_eq!(refused(&[SFQ], &[]), [expected]);
        let classes = |classes| refused(&[], &[("/assignment/classes", json!(classes))]);
        assert!(classes(2)[0].contains("the class assignment makes several"));
        assert_eq!(classes(9), ["assignment.classes is 9; write 1 to 8"]);
    }
}
