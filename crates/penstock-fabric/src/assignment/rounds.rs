//! Assignment by rounds (AFQ: N. K. Sharma et al., "Approximating Fair Queueing on Reconfigurable
//! Switches", NSDI 2018, sec. 3.2, 3.3.1 and Fig. 3): in each round every flow may send a number of
//! bytes, and each of the next rounds has a queue.
//!
//! The bytes of a flow are counted from round 0. A packet's *bid* is the byte at which the packet ends.
//! A flow that falls behind continues at the byte where the current round begins. A packet goes into
//! the queue of the round in which its bid falls. The packet is dropped when that round has no queue
//! yet.
//!
//! The pseudo-code (Fig. 3) drops a packet only beyond round R + nQ. But round R + nQ has the queue of
//! round R, which is being drained. Here the last round is R + nQ - 1.
//!
//! `round = "occupancy"` is for switches whose scheduler cannot tell its round (sec. 4). The assignment
//! estimates the round itself: a round is over when its queue is found empty. The paper stops the
//! estimate at a queue with packets or at a round to which no packet was given, and gives the packet to
//! that queue, which conflicts with the round of Fig. 3. Here the packet goes to the round of Fig. 3. A
//! packet that fills a round to its end belongs to the next round, so some rounds are skipped. So the
//! estimate stops behind the last round to which a packet was given. The scheduler may not have come to
//! a skipped round yet. So the queues of the rounds behind the last round that was certainly served are
//! not given to later rounds.
//!
//! The scheduler must leave a queue as soon as the queue is empty, as
//! [`crate::scheduling::scanning_drr`] does.
//!
//! `bids = "audited"` uses the sketch, and writes the same bids to a perfect table beside it. A packet
//! is *misestimated* when the sketch queues it for a later round than the perfect table would (App. E,
//! Fig. 17c; the paper does not say which bids are exact after a collision).
//!
//! `horizon = "free-memory"` is ours. AFQ drops nothing that is queued (sec. 5), and a flow may be as many
//! rounds ahead as there are queues. So a few flows can fill a port's memory (eleven, with 32 rounds of
//! 1,500 B and 512 KB), and then whoever comes is dropped, however little it has queued. A flow's bid less
//! the byte at which the current round begins is about what the flow has queued. So a switch with AFQ can
//! hold each flow to the dynamic threshold of A. Choudhury and E. Hahne ("Dynamic Queue Length Thresholds
//! for Shared-Memory Packet Switches", IEEE/ACM ToN 1998) without a counter for each flow. Their factor is
//! 1 here: a packet is dropped when its flow would have more bytes queued than the port has free. A flow
//! with nothing queued gets in as long as there is room.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::SwitchFacts;
use penstock_units::{Bytes, Problems};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::classes::{LARGEST_QUEUES, partition};
use super::policy::{Assigning, Parameters, Policy};
use super::sketch::{PerfectTable, Sketch};
use crate::config::{Surroundings, SwitchConfig};
use crate::parts::Bitmap;
use crate::port::Port;
use crate::scheduling::policy::RoundSource;

/// The most that a flow may send in a round (bytes); our choice: a thousand packets.
const LARGEST_ROUND: u64 = 1 << 20;

/// The most rows of the sketch: each takes a stage of a switch's pipeline, and a switch has 12 to 16
/// (AFQ sec. 3.2).
const SKETCH_ROWS: u32 = 16;

/// The most columns of the sketch: sixteen times the register entries of a stage (AFQ sec. 3.2).
const SKETCH_COLUMNS: u32 = 1 << 20;

/// Where bids are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BidStore {
    /// In a count-min sketch.
    Sketch,
    /// In a table with an entry for each flow.
    PerFlow,
    /// In a sketch, whose errors are counted with the help of a table.
    Audited,
}

/// How far ahead of the current round a packet may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Horizon {
    /// As far as rounds have queues.
    Queues,
    /// As far as rounds have queues, and by at most the bytes that the port has free.
    FreeMemory,
}

/// Parameters of the assignment by rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundsConfig {
    /// Queues of a port (nQ and one), the control queue included.
    #[schemars(
        range(min = 3, max = LARGEST_QUEUES),
        extend("default" = 33, "source" = "AFQ 6.2.2: 32 FIFO queues per port")
    )]
    pub queues: u32,
    /// What a flow may send in a round, on the wire (BpR).
    #[schemars(
        range(min = 1, max = LARGEST_ROUND),
        extend("default" = "1048 B", "source" = "AFQ 6.2.2: one packet")
    )]
    pub bytes_per_round: Bytes,
    /// Rows of the count-min sketch (nH).
    #[schemars(
        range(min = 1, max = SKETCH_ROWS),
        extend("default" = 2, "source" = "AFQ 6.2.2")
    )]
    pub rows: u32,
    /// Columns of the count-min sketch (nB).
    #[schemars(
        range(min = 1, max = SKETCH_COLUMNS),
        extend("default" = 16_384, "source" = "AFQ 6.2.2")
    )]
    pub columns: u32,
    /// Where the bids of flows are kept; audited: in the sketch, its errors counted.
    #[schemars(extend("default" = "sketch", "source" = "AFQ 3.2"))]
    pub bids: BidStore,
    /// Who says which round it is (R); occupancy: the queues that are empty.
    #[schemars(extend(
        "default" = "scheduler",
        "source" = "AFQ fig. 3; 4: by occupancy where the scheduler cannot tell"
    ))]
    pub round: RoundSource,
    /// How far ahead a flow may be: as far as rounds have queues, or at most by the bytes that the port has
    /// free, too.
    #[schemars(extend(
        "default" = "queues",
        "source" = "AFQ fig. 3; free-memory is ours"
    ))]
    pub horizon: Horizon,
}

impl Parameters for RoundsConfig {
    /// Checks five things: a packet fits into the rounds; the scheduler serves the rounds in their
    /// order; assignment and scheduler agree on who tells the round; every round ends; a port has the memory
    /// that flows are to divide.
    fn fits(&self, switch: &SwitchConfig, around: &Surroundings, problems: &mut Problems) {
        if let Some(packet) = around.packet.filter(|_| problems.has_sound("assignment")) {
            let rounds = self.queues - 1;
            let holds = packet.get() < u64::from(rounds) * self.bytes_per_round.get();
            let remedy = format!(
                "a packet of {packet} does not fit into {rounds} rounds; make it larger (AFQ: one packet)"
            );
            let field = "assignment.bytes_per_round";
            problems.unless(holds, field, self.bytes_per_round, remedy);
        }
        let (scheduling, source) = (switch.scheduling.kind(), switch.scheduling.round_source());
        let remedy = "it does not serve rounds in their order; use scheduling \"rotating-strict\", \
                      \"scanning-drr\" or \"priority-groups\"";
        problems.unless(source.is_some(), "scheduling.kind", &scheduling, remedy);
        if let Some(source) = source.filter(|&source| source != self.round) {
            let remedy = match source {
                RoundSource::Occupancy => format!(
                    "{scheduling} does not tell which round it serves; use \"{}\"",
                    source.name()
                ),
                RoundSource::Scheduler => format!(
                    "{scheduling} knows its round, and stays in it while the port is idle; use \"{}\"",
                    source.name()
                ),
            };
            problems.unless(false, "assignment.round", self.round.name(), remedy);
        }
        let backpressure = &switch.backpressure;
        let remedy =
            "a round whose queue is paused cannot end; use backpressure \"none\" or \"pfc\"";
        let holds = backpressure.lets_rounds_end();
        problems.unless(holds, "backpressure.kind", backpressure.kind(), remedy);
        let holds = self.horizon == Horizon::Queues || switch.admission.is_per_port();
        let remedy = format!(
            "the {} admission gives a port no memory of its own; use \"queues\", or admission \"static\"",
            switch.admission.kind()
        );
        problems.unless(holds, "assignment.horizon", "free-memory", remedy);
    }

    fn queue_classes(&self, _: usize) -> Vec<u8> {
        partition(self.queues, 1)
    }

    fn keeps_rounds(&self) -> bool {
        true
    }
}

/// The round of a port, estimated from its empty queues.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
struct Estimate {
    /// The estimate: no round before this one has packets.
    round: u64,
    /// The round behind the last one that was certainly served, that is, had packets and has none now.
    served: u64,
    /// The round behind the last one to which a packet was given.
    unused: u64,
    /// Queues to which packets were given since the estimate last passed their round.
    given: Bitmap,
}

impl Estimate {
    fn new(queues: u64) -> Self {
        let given = Bitmap::new(queues as usize + 1);
        Estimate { round: 0, served: 0, unused: 0, given }
    }

    /// Moves past the rounds that are over. Answers the current round, and the first round for which
    /// none of `queues` data queues is free yet.
    #[inline]
    fn advance(&mut self, port: &Port, queues: u64) -> (u64, u64) {
        while self.round < self.unused {
            let queue = 1 + (self.round % queues) as usize;
            if !port.empty_queues().contains(queue) {
                break;
            }
            self.round += 1;
            if self.given.contains(queue) {
                self.given.remove(queue);
                self.served = self.round;
            }
        }
        (self.round, self.served + queues)
    }

    /// A packet was given to `round` and its `queue`.
    #[inline]
    fn give(&mut self, round: u64, queue: u16) {
        self.unused = self.unused.max(round + 1);
        self.given.insert(usize::from(queue));
    }
}

/// The assignment by rounds of a switch.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Rounds {
    /// Data queues of a port.
    queues: u64,
    bytes_per_round: u64,
    /// Whether a flow has at most as much queued as the port has free.
    heeds_memory: bool,
    sketch: Option<Sketch>,
    table: Option<PerfectTable>,
    /// One estimate per egress, where the scheduler does not tell the round.
    estimates: Option<Vec<Estimate>>,
}

impl Rounds {
    pub(crate) fn new(config: &RoundsConfig, facts: &SwitchFacts) -> Self {
        let (ports, salt) = (facts.ports.len(), facts.salt);
        let (has_sketch, has_table) = match config.bids {
            BidStore::Sketch => (true, false),
            BidStore::PerFlow => (false, true),
            BidStore::Audited => (true, true),
        };
        Rounds {
            queues: u64::from(config.queues - 1),
            bytes_per_round: config.bytes_per_round.get(),
            heeds_memory: config.horizon == Horizon::FreeMemory,
            sketch: has_sketch.then(|| Sketch::new(ports, config.rows, config.columns, salt)),
            table: has_table.then(|| PerfectTable::new(ports)),
            estimates: (config.round == RoundSource::Occupancy)
                .then(|| vec![Estimate::new(u64::from(config.queues - 1)); ports]),
        }
    }
}

impl Policy for Rounds {
    /// The queue of the packet's round; `None` when that round has no queue yet, or when the flow would
    /// have more queued than is free. Stores in [`penstock_packet::Packet::time`] how many rounds the
    /// packet is ahead.
    #[inline]
    fn assign(&mut self, arrival: Assigning<'_>) -> Option<u16> {
        let Assigning { egress, port, packet, admission, .. } = arrival;
        let flow = packet.flow_hash;
        let (round, end) = match &mut self.estimates {
            None => (port.round(), port.rounds_end(self.queues)),
            Some(estimates) => estimates[usize::from(egress)].advance(port, self.queues),
        };
        let start = round * self.bytes_per_round;
        let of_table = self.table.as_ref().map(|table| table.read(egress, flow));
        let of_sketch = self.sketch.as_ref().map(|sketch| sketch.read(egress, flow));
        let size = u64::from(packet.wire_bytes);
        let raised = |bid: u64| bid.max(start) + size;
        let bid = raised(of_sketch.or(of_table).unwrap_or(0));
        let packet_round = bid / self.bytes_per_round;
        let is_over = self.heeds_memory && bid - start > admission.free(port.bytes());
        if packet_round >= end || is_over {
            return None;
        }
        if let (Some(_), Some(exact)) = (of_sketch, of_table) {
            let is_late = packet_round > raised(exact) / self.bytes_per_round;
            port.counters.misestimates += u64::from(is_late);
        }
        if let Some(sketch) = &mut self.sketch {
            sketch.raise(egress, flow, bid, start);
        }
        if let Some(table) = &mut self.table {
            table.raise(egress, flow, bid, start);
        }
        packet.time = packet_round - round;
        let queue = 1 + (packet_round % self.queues) as u16;
        if let Some(estimates) = &mut self.estimates {
            estimates[usize::from(egress)].give(packet_round, queue);
        }
        Some(queue)
    }
}

#[cfg(test)]
#[path = "rounds_tests.rs"]
mod tests;
