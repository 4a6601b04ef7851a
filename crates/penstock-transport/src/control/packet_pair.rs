//! Packet-pair flow control over fair queues: two packets leave back to back. The gap between their
//! arrivals is the time that one packet takes at the flow's share of the bottleneck.
//!
//! N. K. Sharma et al., "Approximating Fair Queueing on Reconfigurable Switches" (AFQ), NSDI 2018, Sec.
//! 5 and Fig. 13, after S. Keshav, "A Control-Theoretic Approach to Flow Control", SIGCOMM 1991.
//! Implemented: pairs and their gap as the receiver measures it (Fig. 13, "receiver protocol"), the
//! moving average of the gap, the rate cut by the share of marked packets, the cap on the bytes in
//! flight, and the spacing of the first pair where a round of the switches takes more than two packets.
//! Recovery handles losses; Fig. 13 does not change the rate for a loss.
//!
//! Sec. 5 and Fig. 13 differ in what a new estimate does. Fig. 13, the whole of the pseudo-code, only paces
//! the next pair by it (`on_change = "follow"`). By the text of Sec. 5 a lower estimate makes the sender miss
//! some of its cycles, and a higher one makes it send some packets at once, both in proportion to the change
//! of the rate (`on_change = "skip-and-inject"`).
//!
//! Where the sources are silent, or where we differ from them (our choices):
//! - A new gap has a weight of 1/4 in the average, about an RTT of four pairs at 10 Gb/s and 10 us.
//! - Alpha is DCTCP's (RFC 8257 Sec. 3.3), per round trip and with its gain. But alpha counts packets
//!   and starts at 0, so that a new flow sends at the rate that it has measured.
//! - A spaced pair measures the time of a whole round, so its gap is divided by the packets in a round.
//! - In proportion means: by the packets that a round trip at the new rate holds more, or fewer, than one
//!   at the old rate, with the smallest round-trip time measured. A cycle is a pair. Fractions are kept,
//!   and an increase makes up for a decrease before it. Injected pairs stay below the cap on the bytes in
//!   flight.
//! - Where changes skip and inject pairs, a new estimate also moves the end of the gap that has begun.
//!   Fig. 13 sets the timer of the next pair when a pair leaves, and does not move that timer. By
//!   "follow" a new estimate therefore counts from the next pair on.
//! - Every packet is acknowledged, for recovery's sake. Only the second packet of a pair brings a gap.
//! - The paper's receiver takes any packet that does not open a pair for the second one of the last
//!   pair that it saw. Packets can be lost, so here the second one must begin where the first one ended
//!   and be as long. Otherwise nothing is measured.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::{BitRate, Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::control::hooks::{AtDestination, AtSource, Parameters};
use crate::flow::{FlowFacts, FlowView};
use crate::path::Acknowledgement;

/// The largest round (bytes): a thousand packets. Our choice.
const LARGEST_ROUND: u64 = 1 << 20;

/// Parameters of [`PacketPair`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacketPairConfig {
    /// Weight of a new gap (GAIN).
    #[schemars(
        range(max = 1),
        extend(
            "exclusiveMinimum" = 0,
            "default" = 0.25,
            "source" = "our choice: an RTT of AFQ's network has four pairs"
        )
    )]
    pub gain: f64,
    /// Weight of a round trip's share of marked packets (g).
    #[schemars(
        range(max = 1),
        extend(
            "exclusiveMinimum" = 0,
            "default" = 0.0625,
            "source" = "RFC 8257 (1/16): AFQ 5 says like DCTCP"
        )
    )]
    pub mark_gain: f64,
    /// Cap of what is in flight, in BDPs of the flow's share (CWND_FACTOR).
    #[schemars(extend("exclusiveMinimum" = 0, "default" = 1.5, "source" = "AFQ 5"))]
    pub in_flight_factor: f64,
    /// Bytes of a flow on the wire in a round of the switches (BpR).
    ///
    /// Above two packets the first pair is spaced; 0 stands for bit-by-bit round robin.
    #[schemars(
        range(max = LARGEST_ROUND),
        extend("default" = "1048 B", "source" = "AFQ 6.2.2: one packet")
    )]
    pub bytes_per_round: Bytes,
    /// What a new estimate of the share does besides pacing the next pair.
    #[schemars(extend("default" = "follow", "source" = "AFQ fig. 13"))]
    pub on_change: OnChange,
}

/// What a new estimate of the share does besides pacing the next pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnChange {
    /// Nothing (AFQ fig. 13).
    Follow,
    /// A decrease skips pairs, an increase sends pairs at once, in proportion to the change (AFQ 5).
    SkipAndInject,
}

impl Parameters for PacketPairConfig {
    fn keeps_connections(&self) -> bool {
        true
    }
}

/// Packets in a pair.
const PAIR: f64 = 2.0;

/// The packets that changes of the rate have made too many or too few.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
struct Adjustment {
    /// Packets to inject; negative: to skip (packets).
    due: f64,
    /// Cycles by which the pending gap is longer.
    skipped: u32,
}

impl Adjustment {
    /// A round trip holds so many `packets` more than before.
    fn add(&mut self, packets: f64) {
        self.due += packets;
        while self.due <= -PAIR {
            self.due += PAIR;
            self.skipped += 1;
        }
        while self.skipped > 0 && self.due >= PAIR {
            self.due -= PAIR;
            self.skipped -= 1;
        }
    }

    /// Whether a pair is to be sent at once.
    fn injects(&self) -> bool {
        self.due >= PAIR
    }

    /// A pair leaves.
    fn on_pair(&mut self) {
        self.skipped = 0;
        if self.injects() {
            self.due -= PAIR;
        }
    }
}

/// The state of one packet-pair flow. Times are in picoseconds.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct PacketPair {
    gain: f64,
    mark_gain: f64,
    in_flight_factor: f64,
    line_rate: BitRate,
    /// A full packet: its payload, and its size on the wire (bytes).
    payload: f64,
    wire_bytes: f64,
    /// Packets in a round, if the first pair is spaced over a round.
    spacing: Option<f64>,
    /// The average gap of a pair; `None` until the first one was measured (STARTUP in the paper).
    gap: Option<f64>,
    /// The shortest round-trip time so far.
    minimum_rtt: Time,
    /// Whether the next packet is the second of a pair.
    is_inside_pair: bool,
    /// When the first packet of the last pair left, and the time from it to the second one.
    pair_at: Time,
    spread: Time,
    /// Whether a pair has left since the first gap was measured.
    is_paced: bool,
    /// The rate that gave the gap behind the last pair when that pair left (bit/s).
    pending: Option<BitRate>,
    /// Pairs to skip or to inject, where changes of the rate call for that.
    adjustment: Option<Adjustment>,
    /// The share of marked packets.
    alpha: f64,
    /// Acknowledgements of this round trip, and the marked ones among them.
    acknowledged: u32,
    marked: u32,
    /// The round trip ends when more than this is acknowledged (bytes).
    round_end: u64,
}

impl PacketPair {
    /// A flow that has sent nothing.
    pub fn new(config: &PacketPairConfig, flow: &FlowFacts) -> Self {
        let path = flow.path;
        let wire_bytes = f64::from(path.payload + path.data_overhead);
        let packets = config.bytes_per_round.get() as f64 / wire_bytes;
        PacketPair {
            gain: config.gain,
            mark_gain: config.mark_gain,
            in_flight_factor: config.in_flight_factor,
            line_rate: path.line_rate,
            payload: f64::from(path.payload),
            wire_bytes,
            spacing: (packets > 2.0).then_some(packets),
            gap: None,
            minimum_rtt: Time::NEVER,
            is_inside_pair: false,
            pair_at: Time::ZERO,
            spread: Time::ZERO,
            is_paced: false,
            pending: None,
            adjustment: (config.on_change == OnChange::SkipAndInject).then(Adjustment::default),
            alpha: 0.0,
            acknowledged: 0,
            marked: 0,
            round_end: 0,
        }
    }

    /// Takes the gap of a pair (ps) into the average.
    fn measure(&mut self, sample: f64) {
        let Some(gap) = self.gap else {
            self.gap = Some(sample / self.spacing.unwrap_or(1.0));
            return;
        };
        let new = (1.0 - self.gain) * gap + self.gain * sample;
        self.gap = Some(new);
        if let Some(adjustment) = &mut self.adjustment {
            adjustment.add(self.minimum_rtt.as_ps() as f64 * (1.0 / new - 1.0 / gap));
        }
    }

    /// The rate (bit/s) that gives the gap behind a pair: the time of two packets at the flow's rate,
    /// and as long again for each pair that is skipped, less the time since the pair began. A pair that
    /// is injected leaves at once.
    fn rate_behind_pair(&self) -> Option<BitRate> {
        let gap = self.gap.filter(|_| self.is_paced)?;
        let rate = self.wire_bytes * 8e12 / gap * (1.0 - self.alpha / 2.0);
        let cycles = match &self.adjustment {
            None => 1.0,
            Some(adjustment) if adjustment.injects() => return None,
            Some(adjustment) => 1.0 + f64::from(adjustment.skipped),
        };
        let rest = cycles * PAIR * self.wire_bytes * 8e12 / rate - self.spread.as_ps() as f64;
        (rest > 0.0).then(|| of_bps(self.wire_bytes * 8e12 / rest))
    }

    /// Takes a mark into alpha.
    fn count(&mut self, is_marked: bool, view: &FlowView) {
        self.acknowledged += 1;
        self.marked += u32::from(is_marked);
        if view.acknowledged > self.round_end {
            let share = f64::from(self.marked) / f64::from(self.acknowledged);
            self.alpha = (1.0 - self.mark_gain) * self.alpha + self.mark_gain * share;
            (self.acknowledged, self.marked) = (0, 0);
            self.round_end = view.next;
        }
    }
}

impl AtSource for PacketPair {
    #[inline]
    fn opens_pair(&self) -> bool {
        !self.is_inside_pair
    }

    #[inline]
    fn on_send(&mut self, now: Time, _wire_bytes: u32) {
        self.is_inside_pair = !self.is_inside_pair;
        if self.is_inside_pair {
            self.pair_at = now;
            self.adjustment.iter_mut().for_each(Adjustment::on_pair);
        } else {
            self.spread = now - self.pair_at;
            self.is_paced = self.gap.is_some();
            self.pending = self.rate_behind_pair();
        }
    }

    fn on_acknowledgement(&mut self, now: Time, ack: &Acknowledgement, view: &FlowView) {
        self.minimum_rtt = self.minimum_rtt.min(now.saturating_sub(ack.sent_at));
        self.count(ack.is_marked, view);
        if ack.pair_gap == Time::ZERO {
            return;
        }
        self.measure(ack.pair_gap.as_ps() as f64);
    }

    /// A flow begins with the first packet of a pair. After a timeout without packets its share is not known
    /// any more, and nothing is due for changes of it (our choice, as TCP begins anew).
    fn on_next_flow(&mut self, is_late: bool) {
        self.is_inside_pair = false;
        if is_late {
            self.gap = None;
            self.is_paced = false;
            self.pending = None;
            self.adjustment = self.adjustment.map(|_| Adjustment::default());
        }
    }

    /// The bytes that may be in flight (bytes), >= 1. The second packet of a pair has no limit. After
    /// the first pair the flow waits for an acknowledgement.
    #[inline]
    fn window(&self) -> u64 {
        match self.gap {
            _ if self.is_inside_pair => u64::MAX,
            None => 1,
            Some(gap) => {
                let share = self.payload * self.minimum_rtt.as_ps() as f64 / gap;
                // Fig. 13 waits while more than the cap is in flight. A sender waits at the window.
                ((self.in_flight_factor * share) as u64).saturating_add(1)
            }
        }
    }

    /// The rate (bit/s) that gives the gap behind the last packet. Inside a pair there is no gap,
    /// unless the pair is a spaced first one. Behind a pair, the timer of the next pair stays as it was
    /// set when the pair left (Fig. 13), unless changes of the rate skip and inject pairs.
    #[inline]
    fn rate(&self) -> Option<BitRate> {
        if self.is_inside_pair {
            let packets = self.spacing.filter(|_| self.gap.is_none())?;
            return Some(of_bps(self.line_rate.as_bps() as f64 / packets));
        }
        if self.adjustment.is_none() { self.pending } else { self.rate_behind_pair() }
    }
}

/// A rate of at least 1 bit/s.
fn of_bps(bits_per_second: f64) -> BitRate {
    BitRate::from_bps((bits_per_second as u64).max(1))
}

/// The pair that is arriving at a flow's receiver.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct PairMeter {
    /// When the first packet arrived (`first_pktpair_time` in the paper).
    first_at: Time,
    /// The end of the first packet in the flow; 0 when no pair is open.
    end: u64,
    payload: u32,
}

impl PairMeter {
    /// No pair is open.
    pub(crate) fn new(_config: &PacketPairConfig, _flow: &FlowFacts) -> Self {
        PairMeter::default()
    }
}

impl AtDestination for PairMeter {
    fn pair_gap(&mut self, now: Time, offset: u64, payload: u32, opens_pair: bool) -> Time {
        if opens_pair {
            *self = PairMeter { first_at: now, end: offset + u64::from(payload), payload };
            return Time::ZERO;
        }
        let completes = self.end > 0 && offset == self.end && payload == self.payload;
        self.end = 0;
        if completes { now - self.first_at } else { Time::ZERO }
    }
}

#[cfg(test)]
#[path = "packet_pair_tests.rs"]
mod tests;
