//! Trimming: a data packet that finds its queue full loses its payload, and its header goes on.
//!
//! M. Handley et al., "Re-architecting Datacenter Networks and Stacks for Low Latency and High Performance"
//! (NDP), SIGCOMM 2017, sec. 3.1. The paper was not at hand: rules and values are those of the authors'
//! simulator (Broadcom/csg-htsim, `compositequeue.cpp`). Implemented:
//! - The data queue of a port holds a few full packets.
//! - Where a packet does not fit, either it is trimmed or the last packet of the queue is, each with a
//!   probability of one half. Thus no flow loses always because of its phase.
//! - Headers, acknowledgements and PULLs have a queue of their own, the control queue. While data wait, a
//!   data packet leaves after every ten of them. The weight is the paper's; the simulator has 100,000.
//!   Where headers go strictly first they can fill a link for good: `docs/schemes.md` has such a case.
//!
//! The packet that the port is sending is not in the queue here. In the simulator it counts as one of the
//! queue.
//!
//! Left out: headers that return to their sender when they find no room (here they always find room, as all
//! control packets do).
//!
//! A packet whose payload is cut off counts as a drop. [`crate::Switch`] makes the header.

use penstock_units::Problems;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Parameters, Place};
pub(crate) use super::port_memory::PortMemory;
use super::port_memory::SizesPorts;
use crate::config::{Surroundings, SwitchConfig};

/// The most full packets in a queue, and control packets for each of data; our choice: 64 MB of packets of
/// 1,000 B, and headers that go strictly first as far as one can see.
const MOST_PACKETS: u32 = 1 << 16;

/// Parameters of trimming.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrimmingConfig {
    /// Full packets for which the data queue of a port has room.
    #[schemars(
        range(min = 1, max = MOST_PACKETS),
        extend(
            "unit" = "packets",
            "default" = 8,
            "source" = "NDP 3.1: eight packets; csg-htsim (main_ndp.cpp) has 15 unless told otherwise"
        )
    )]
    pub packets: u32,
    /// Control packets that leave for each data packet while both wait.
    ///
    /// Headers are control packets, and so are acknowledgements and PULLs.
    #[schemars(
        range(min = 1, max = MOST_PACKETS),
        extend("unit" = "packets", "default" = 10, "source" = "NDP 3.1: a weight of 10 to 1")
    )]
    pub control_weight: u32,
}

impl Parameters for TrimmingConfig {
    fn fits(&self, switch: &SwitchConfig, _: &Surroundings, problems: &mut Problems) {
        let field = ("admission.kind", "trimming");
        switch.fits_drops_of_queued_packets(field, problems);
        let reason = "it cuts packets of the one data queue of a port";
        switch.fits_one_queue(field, (reason, ""), problems);
    }

    fn is_per_port(&self) -> bool {
        true
    }

    fn control_weight(&self) -> Option<u32> {
        Some(self.control_weight)
    }
}

impl SizesPorts for TrimmingConfig {
    fn per_port(&self, place: &Place<'_>) -> u64 {
        u64::from(self.packets) * u64::from(place.facts.frames.packet)
    }
}

#[cfg(test)]
#[path = "trimming_tests.rs"]
mod tests;
