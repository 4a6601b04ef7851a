//! QCN's congestion point: samples packets and tells the source of a sampled packet how congested the
//! packet's queue is (IEEE 802.1Qau, now 802.1Q, clauses 30 to 33; M. Alizadeh et al., Allerton 2008).
//!
//! A packet is sampled every `sample_base` bytes, or sooner. The measure is Fb = (q - Qeq) + w (q -
//! q_old): the distance of the queue from the set point, and how fast the queue grows. 0 or less means
//! no congestion. Fb is cut off to 6 bits; all bits are set at Qeq (1 + 2 w). The source gets Fb in a
//! message of its own, the smallest Ethernet frame. With more congestion the next sample comes sooner,
//! unless the distance is to stay (`sooner_when_congested`).
//! Left out: the identifier of the congestion point and the part of the packet that the message
//! carries, because no reaction point here looks at them.
//!
//! Our choices, where the sources are silent or differ:
//! - The sampled packet belongs to its queue.
//! - The quantized value is cut off, not rounded.
//! - Jitter is uniform. The first sample comes after `sample_base` without jitter.
//! - Each queue of a port is a congestion point.
//! - Packets are counted and sampled as they arrive. As in PCN's simulator, they can instead be counted
//!   and sampled as they leave, by the queue that they leave behind.

use alloc::vec;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::SwitchFacts;
use penstock_units::Bytes;
use penstock_units::random::Pcg32;
use rand_core::RngCore;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Mark, MarkingPoint, Parameters, Policy};
use crate::passing::Passing;

/// The largest feedback: 6 bits.
const LARGEST: f64 = 63.0;

/// Bytes to the next sample for each eighth of the range of feedback, in parts of [`WHOLE_SHARE`] of
/// the base: 150, 75, 50, 37.5, 30, 25, 21.5 and 18.5 kB of 150 kB (802.1Q, clause 30).
const SAMPLE_SHARES: [u64; 8] = [300, 150, 100, 75, 60, 50, 43, 37];
const WHOLE_SHARE: u64 = 300;

/// The largest set point and sampling distance (bytes); our choice: a thousand times any that is in
/// use.
const LARGEST_SAMPLE: u64 = 1_000_000_000;

/// Parameters of the congestion points.
#[derive(Clone, Debug, PartialEq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(deny_unknown_fields)]
pub struct QcnConfig {
    /// Queue that is aimed at (Qeq).
    #[schemars(
        range(min = 1, max = LARGEST_SAMPLE),
        extend("default" = "26 kB", "source" = "IEEE 802.1Q (802.1Qau): cpQSizeSetPoint")
    )]
    pub set_point: Bytes,
    /// Weight of the queue's growth (w).
    #[schemars(
        range(min = 0, max = 1_000_000),
        extend("default" = 2.0, "source" = "IEEE 802.1Q (802.1Qau): cpWeight")
    )]
    pub weight: f64,
    /// Bytes from sample to sample without congestion.
    #[schemars(
        range(min = 1, max = LARGEST_SAMPLE),
        extend("default" = "150 kB", "source" = "IEEE 802.1Q (802.1Qau): cpMinSampleBase")
    )]
    pub sample_base: Bytes,
    /// Whether the next sample comes sooner with more congestion.
    #[schemars(extend(
        "default" = true,
        "source" = "IEEE 802.1Q (802.1Qau), clause 30; PCN 3.2 has 20 us, and no word of sooner"
    ))]
    pub sooner_when_congested: bool,
    /// Share by which that varies either way.
    #[schemars(
        range(min = 0),
        extend("exclusiveMaximum" = 1, "default" = 0.15, "source" = "IEEE 802.1Q (802.1Qau): 15 %")
    )]
    pub jitter: f64,
    /// When packets are counted and sampled; PCN 3.2 samples as they leave.
    #[schemars(extend("default" = "enqueue", "source" = "IEEE 802.1Q (802.1Qau): on arrival"))]
    pub at: MarkingPoint,
}

impl Parameters for QcnConfig {
    fn has_feedback(&self) -> bool {
        true
    }
}

/// One congestion point.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct Point {
    /// The queue at the last sample (q_old in the standard) (bytes).
    last_queue: u64,
    /// Bytes that are still to arrive until a packet is sampled (bytes).
    until_sample: u64,
}

/// The congestion points of a switch.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Qcn {
    config: QcnConfig,
    /// The points, by port and queue. A port has entries up to the highest queue with packets so far.
    points: Vec<Vec<Point>>,
}

impl Qcn {
    pub(crate) fn new(config: &QcnConfig, facts: &SwitchFacts) -> Self {
        Qcn { config: config.clone(), points: vec![vec![]; facts.ports.len()] }
    }

    /// A packet of `bytes` is at `point` of `queue` of `egress`, which now holds `queue_bytes`. Answers
    /// the feedback for the packet's source, 1 to 63, if there is any.
    #[inline]
    fn on_packet(
        &mut self,
        point: MarkingPoint,
        (egress, queue): (u16, u16),
        queue_bytes: u64,
        bytes: u64,
        random: &mut Pcg32,
    ) -> Option<u8> {
        if point != self.config.at {
            return None;
        }
        let points = &mut self.points[usize::from(egress)];
        if points.len() <= usize::from(queue) {
            let until_sample = self.config.sample_base.get();
            points.resize(usize::from(queue) + 1, Point { last_queue: 0, until_sample });
        }
        let point = &mut points[usize::from(queue)];
        if point.until_sample > bytes {
            point.until_sample -= bytes;
            return None;
        }
        let feedback = self.config.feedback(queue_bytes, point.last_queue);
        point.last_queue = queue_bytes;
        point.until_sample = self.config.distance(feedback, random);
        (feedback > 0).then_some(feedback)
    }

    /// The feedback for the source of a packet that is at `point`.
    #[inline]
    fn mark(&mut self, point: MarkingPoint, packet: &mut Passing<'_>) -> Mark {
        let Passing { egress, queue_bytes, .. } = *packet;
        let (queue, bytes) = (packet.packet().queue, u64::from(packet.packet().wire_bytes));
        let random = packet.draws.own();
        let feedback = self.on_packet(point, (egress, queue), queue_bytes, bytes, random);
        Mark { feedback, ..Mark::default() }
    }
}

impl Policy for Qcn {
    #[inline]
    fn on_enqueue(&mut self, packet: &mut Passing<'_>) -> Mark {
        self.mark(MarkingPoint::Enqueue, packet)
    }

    #[inline]
    fn on_dequeue(&mut self, packet: &mut Passing<'_>) -> Mark {
        self.mark(MarkingPoint::Dequeue, packet)
    }
}

impl QcnConfig {
    /// The quantized feedback, 0 to 63, of a queue that now has `queue` bytes and had `last_queue`
    /// bytes at the last sample.
    fn feedback(&self, queue: u64, last_queue: u64) -> u8 {
        let (queue, set_point) = (queue as f64, self.set_point.get() as f64);
        let measure = queue - set_point + self.weight * (queue - last_queue as f64);
        let full_scale = set_point * (1.0 + 2.0 * self.weight);
        (measure * LARGEST / full_scale).clamp(0.0, LARGEST) as u8
    }

    /// The distance to the next sample after `feedback` (bytes), >= 1.
    fn distance(&self, feedback: u8, random: &mut Pcg32) -> u64 {
        let eighth = if self.sooner_when_congested { usize::from(feedback >> 3) } else { 0 };
        let share = SAMPLE_SHARES[eighth];
        let distance = (self.sample_base.get() * share / WHOLE_SHARE) as f64;
        let draw = f64::from(random.next_u32()) / f64::from(u32::MAX); // in [0, 1]
        ((distance * (1.0 + self.jitter * (2.0 * draw - 1.0))) as u64).max(1)
    }
}

#[cfg(test)]
#[path = "qcn_tests.rs"]
mod tests;
