//! Assignment by rounds (AFQ: N. K. Sharma et al., "Approximating Fair Queueing on Reconfigurable
//! Switches", NSDI 2018, sec. 3.2, 3.3.1 and Fig. 3): in a round every flow may send a number of bytes,
//! and each of the next rounds has a queue.
//!
//! A flow's *bid* is the byte of its own, counted from round 0, at which its last packet ends: at least
//! where the current round begins. A packet goes into the queue of the round in which its bid falls,
//! or is dropped when that round has no queue yet.
//!
//! | symbol | field | default | source |
//! |---|---|---|---|
//! | nQ | `queues` | 33: 32 and the control queue | sec. 6.2.2 |
//! | BpR | `bytes_per_round` | 1 full packet | sec. 6.2.2 |
//! | nH, nB | `rows`, `columns` | 2, 16384 | sec. 6.2.2 |
//! | - | `bids` | the sketch | sec. 3.2 |
//! | R | - | the scheduler's round | Fig. 3 |
//!
//! The pseudo-code (Fig. 3) drops a packet only beyond round R + nQ; but round R + nQ has the queue of
//! round R, which is being drained. Here the last round is R + nQ - 1 (`DESIGN.md` sec. 9).
//!
//! Left out: the emulations of sec. 4, for switches whose scheduler cannot rotate priorities or cannot
//! tell its round.
//!
//! `bids = "audited"` uses the sketch and keeps a perfect table beside it that is written with the
//! same bids. A packet that is queued for a later round than by the perfect table is *misestimated*
//! (App. E, Fig. 17c; the paper does not say what its exact bids are after a collision).

use serde::{Deserialize, Serialize};

use super::Assigning;
use super::sketch::{PerfectTable, Sketch};

/// Where bids are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BidStore {
    /// In a count-min sketch.
    Sketch,
    /// In a table with an entry for each flow.
    PerFlow,
    /// In a sketch, whose errors are counted with the help of a table.
    Audited,
}

/// Parameters of the assignment by rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundsConfig {
    /// Queues of a port, the control queue included; 3 to 4,096.
    pub queues: u32,
    /// What a flow may send in a round (bytes on the wire), > 0.
    pub bytes_per_round: u32,
    /// Rows of the sketch, 1 to 16.
    pub rows: u32,
    /// Columns of the sketch, 1 to 2^20.
    pub columns: u32,
    /// Where bids are kept.
    pub bids: BidStore,
}

/// The assignment by rounds of a switch.
#[derive(Debug)]
pub(crate) struct Rounds {
    /// Data queues of a port.
    queues: u64,
    bytes_per_round: u64,
    sketch: Option<Sketch>,
    table: Option<PerfectTable>,
}

impl Rounds {
    pub(crate) fn new(config: &RoundsConfig, ports: usize, salt: u32) -> Self {
        let (has_sketch, has_table) = match config.bids {
            BidStore::Sketch => (true, false),
            BidStore::PerFlow => (false, true),
            BidStore::Audited => (true, true),
        };
        Rounds {
            queues: u64::from(config.queues - 1),
            bytes_per_round: u64::from(config.bytes_per_round),
            sketch: has_sketch.then(|| Sketch::new(ports, config.rows, config.columns, salt)),
            table: has_table.then(|| PerfectTable::new(ports)),
        }
    }

    /// The queue of the packet's round; `None` when that round has no queue yet. Leaves in
    /// [`crate::Packet::time`] by how many rounds the packet is ahead.
    #[inline]
    pub(crate) fn assign(&mut self, arrival: Assigning<'_>) -> Option<u16> {
        let Assigning { egress, port, packet, .. } = arrival;
        let flow = packet.flow_hash;
        let round = port.round();
        let start = round * self.bytes_per_round;
        let of_table = self.table.as_ref().map(|table| table.read(egress, flow));
        let of_sketch = self.sketch.as_ref().map(|sketch| sketch.read(egress, flow));
        let size = u64::from(packet.wire_bytes);
        let raised = |bid: u64| bid.max(start) + size;
        let bid = raised(of_sketch.or(of_table).unwrap_or(0));
        let packet_round = bid / self.bytes_per_round;
        let ahead = packet_round - round;
        if ahead >= self.queues {
            return None;
        }
        if let (Some(_), Some(exact)) = (of_sketch, of_table) {
            let is_late = packet_round > raised(exact) / self.bytes_per_round;
            port.counters.misestimates += u64::from(is_late);
        }
        if let Some(sketch) = &mut self.sketch {
            sketch.raise(egress, flow, bid);
        }
        if let Some(table) = &mut self.table {
            table.set(egress, flow, bid, start);
        }
        packet.time = ahead;
        Some(1 + (packet_round % self.queues) as u16)
    }
}

#[cfg(test)]
#[path = "rounds_tests.rs"]
mod tests;
