//! Backpressure Flow Control (P. Goyal, P. Shah, K. Zhao, G. Nikolaidis, M. Alizadeh, T. Anderson,
//! "Backpressure Flow Control", NSDI 2022), sec. 3.3.2.
//!
//! Implemented:
//! - The pause counter by ingress port and upstream queue; pause on 0→1 and resume on 1→0 only.
//! - The threshold Th = HRTT·µ/N_active from a table for each egress port. HRTT is the largest over the
//!   ingresses.
//! - The periodic bitmap.
//! - Where upstream queues have epochs (ours, [`penstock_packet::epochs`]), a counter, a pause and a
//!   bitmap for each epoch.
//! - Elision of the signal for packets that come from a higher tier and go to a higher tier, or that a
//!   match table on ingress and egress names (App. B). Only Clos networks that reroute need elisions;
//!   `penstock deadlock` computes the match table.
//!
//! The assignment axis holds the other half of BFC: the flow table and the queues. Left out:
//! recirculation and multiple pipelines (sec. 4), which are limits of Tofino2 and not of the scheme.
//!
//! The threshold test uses the queue's length with the arriving packet. N_active counts the queues with
//! data that are not paused, the packet's queue included. With no such queue N_active is 1 (our choice:
//! Th needs a divisor).
//!
//! By the pseudo-code the last packet of a flow pauses an upstream queue from which that flow sends no
//! more. Such a pause holds the next flow that gets the queue. Without `counts_last`, which is ours, no
//! such pause is sent: a packet with the last bytes of its flow holds no pause counter. Flows that have
//! more to send are paused as before. The test reads the header field of App. A.2. `assignment::dynamic`
//! has other remedies.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::epochs::{epoch_of, label};
use penstock_packet::{ControlFrame, Packet, PacketFlags, PortFacts, Signal};
use penstock_units::{Fidelity, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{KeptPause, Parameters, Place, Policy, Repeats, Stops};
use crate::admission::Admission;
use crate::config::{Surroundings, SwitchConfig};
use crate::passing::Passing;
use crate::port::Port;
use crate::stored::Stored;

/// Upstream queues that a bitmap can name (Tofino2 has 128 at a port, BFC sec. 3.1).
pub const UPSTREAM_QUEUES: usize = 128;

/// Upstream queues under fidelity ns3-bfc: a host's queue is the number of its flow.
const UPSTREAM_FLOWS: usize = 1 << 16;

/// More active queues than this share as this many (our choice: an upstream has no more queues).
const MOST_ACTIVE: u32 = UPSTREAM_QUEUES as u32;

/// Parameters of BFC's backpressure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BfcConfig {
    /// Pause threshold (Th).
    #[schemars(extend(
        "default" = {"kind": "hop-rtts", "factor": 1.0},
        "source" = "BFC 3.3.2"
    ))]
    pub threshold: ThresholdConfig,
    /// How often the paused queues are told again; 100 ns or more, or 0: never.
    #[schemars(extend(
        "default" = "100 us",
        "source" = "our choice: a 64 B frame per 1,250 kB of a link; BFC 3.3.2 gives no period"
    ))]
    pub bitmap_interval: Time,
    /// A packet with the last bytes of its flow can cause a pause.
    #[schemars(extend("default" = true, "source" = "BFC 3.3.2: any packet"))]
    pub counts_last: bool,
    /// No backpressure for packets that come down and go up again.
    #[schemars(extend(
        "default" = false,
        "source" = "our choice: shortest paths in a Clos have none (BFC App. B)"
    ))]
    pub elide_down_up: bool,
    /// No backpressure for packets that come from a node to a switch for a node: [from, at, to].
    #[schemars(extend(
        "default" = [],
        "source" = "our choice: shortest paths in a Clos need none (BFC App. B)"
    ))]
    pub elide: Vec<(u32, u32, u32)>,
}

impl Parameters for BfcConfig {
    fn check(&self, problems: &mut Problems) {
        problems.unless_period_or_never("bitmap_interval", self.bitmap_interval);
    }

    fn fits(&self, switch: &SwitchConfig, _: &Surroundings, problems: &mut Problems) {
        fits_numbers(switch, problems);
    }

    fn is_in(&self, simulator: Fidelity) -> bool {
        simulator != Fidelity::Ns3Hpcc
    }

    fn pauses_queues(&self) -> bool {
        true
    }

    fn tells_epochs(&self) -> bool {
        true
    }

    fn repeats(&self, epochs: u32) -> Option<Repeats> {
        let interval = self.bitmap_interval;
        let repeats = Repeats { field: "bitmap_interval", interval, frames: epochs };
        (interval > Time::ZERO).then_some(repeats)
    }
}

/// Checks that a pause can name the number of every queue.
pub(super) fn fits_numbers(switch: &SwitchConfig, problems: &mut Problems) {
    if !problems.has_sound("assignment") {
        return;
    }
    let kind = switch.assignment.kind();
    let Some(queues) = switch.assignment.queues() else {
        let remedy = format!(
            "BFC pauses numbered queues, and {kind} queues have no fixed number; use \"dynamic\", \
             \"stochastic\" or \"class\""
        );
        return problems.unless(false, "assignment.kind", kind, remedy);
    };
    let remedy = format!(
        "BFC pauses at most {UPSTREAM_QUEUES} queues of a port; use at most {UPSTREAM_QUEUES} (BFC: 32)"
    );
    problems.unless(queues as usize <= UPSTREAM_QUEUES, "assignment.queues", queues, remedy);
}

/// The pause threshold of a queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ThresholdConfig {
    /// Th = factor x hop RTT x rate / active queues.
    HopRtts {
        /// Hop round-trip times.
        #[schemars(extend("exclusiveMinimum" = 0, "default" = 1.0, "source" = "BFC 3.3.2"))]
        factor: f64,
    },
    /// Th = time x rate, however many queues are active (BFC fig. 7 and App. C sweep Th).
    Time {
        /// Data of this time at the full rate, at which a queue pauses.
        #[schemars(range(min = 1))]
        time: Time,
    },
}

/// An ingress port has no row of pause counters for an epoch yet.
const NO_ROW: u32 = u32::MAX;

/// BFC's backpressure at a switch.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Bfc {
    /// The smallest of `wholes`. Most queues are so short that no port's whole is needed.
    least_whole: u64,
    /// By egress port: Th (bytes), or what the active queues share, N_active Th.
    wholes: Vec<u64>,
    /// Whether Th is a share.
    is_shared: bool,
    counts_last: bool,
    /// By ingress: the delay of the link (s), under fidelity ns3-bfc; else empty.
    delays: Vec<f64>,
    /// Pause counters: one row of `width` for each ingress port and epoch that has counted a packet.
    counters: Vec<u32>,
    /// Upstream queues that have a counter, a power of two.
    width: usize,
    /// By ingress port and epoch: where the row starts in `counters`, or [`NO_ROW`].
    starts: Vec<u32>,
    /// Epochs of an upstream queue, a power of two.
    epochs: usize,
    /// Whether packets between two ports cause no backpressure, by ingress and egress. Empty where all
    /// do.
    is_elided: Vec<bool>,
    ports: usize,
}

impl Bfc {
    pub(crate) fn new(config: &BfcConfig, place: &Place<'_>) -> Self {
        let facts = place.facts;
        let ports = facts.ports.len();
        let hop_rtt = facts.hop_rtt();
        let whole = |port: &PortFacts| match config.threshold {
            ThresholdConfig::Time { time } => port.rate.bytes_in(time).get(),
            ThresholdConfig::HopRtts { factor } => {
                (port.rate.bytes_in(hop_rtt).get() as f64 * factor) as u64
            }
        };
        let wholes: Vec<u64> = facts.ports.iter().map(whole).collect();
        let is_up = |port: usize| facts.ports[port].neighbour_tier > facts.tier;
        let neighbour = |port: usize| facts.ports[port].neighbour;
        let is_elided = |ingress, egress| {
            let turn = (neighbour(ingress), facts.node, neighbour(egress));
            (config.elide_down_up && is_up(ingress) && is_up(egress))
                || config.elide.contains(&turn)
        };
        let elides = config.elide_down_up || !config.elide.is_empty();
        let pairs = if elides { ports * ports } else { 0 };
        let is_elided = (0..pairs).map(|pair| is_elided(pair / ports, pair % ports)).collect();
        let is_ns3 = facts.fidelity == Fidelity::Ns3Bfc;
        let delay = |port: &PortFacts| port.delay.as_ns3_seconds();
        Bfc {
            least_whole: wholes.iter().copied().min().unwrap_or(0),
            wholes,
            is_shared: matches!(config.threshold, ThresholdConfig::HopRtts { .. }),
            counts_last: config.counts_last,
            delays: if is_ns3 { facts.ports.iter().map(delay).collect() } else { Vec::new() },
            counters: Vec::new(),
            width: if is_ns3 { UPSTREAM_FLOWS } else { UPSTREAM_QUEUES },
            starts: vec![NO_ROW; ports * place.epochs],
            epochs: place.epochs,
            is_elided,
            ports,
        }
    }

    /// Th of an egress port at this moment (bytes), for a packet that has come by `ingress`.
    fn limit(&self, (ingress, egress): (u16, u16), port: &Port) -> u64 {
        if !self.delays.is_empty() {
            return self.ns3_limit(ingress, port);
        }
        self.wholes[usize::from(egress)] / self.shares(port)
    }

    /// How many queues share a whole.
    #[inline]
    fn shares(&self, port: &Port) -> u64 {
        if self.is_shared { port.active().clamp(1, MOST_ACTIVE).into() } else { 1 }
    }

    /// Whether a queue of `bytes` is above [`Bfc::limit`]. Th is a whole over its shares, rounded down. So a
    /// queue is above Th when its length times the shares is above the whole: a product, not a quotient.
    #[inline(always)] // each data packet comes here
    fn is_above(&self, bytes: u64, (ingress, egress): (u16, u16), port: &Port) -> bool {
        if !self.delays.is_empty() {
            return bytes > self.ns3_limit(ingress, port);
        }
        let all = bytes * self.shares(port);
        all > self.least_whole && all > self.wholes[usize::from(egress)]
    }

    /// Th in the arithmetic of NASA-NJU/Pyrrha-NS3: HRTT is that of the packet's ingress, in doubles.
    #[cold]
    fn ns3_limit(&self, ingress: u16, port: &Port) -> u64 {
        let bytes_per_second = port.rate().as_bps() as f64 / 8.0;
        let share = bytes_per_second / f64::from(port.active().max(1));
        ((share * self.delays[usize::from(ingress)] * 2.0) as u64).max(1)
    }

    /// Whether `packet`, which leaves by `egress`, causes no backpressure.
    #[inline]
    fn is_elided(&self, packet: &Packet, egress: u16) -> bool {
        let pair = usize::from(packet.ingress) * self.ports + usize::from(egress);
        self.is_elided.get(pair).copied().unwrap_or(false)
    }

    /// Which entry of `starts` is that of `ingress` and the epoch that `label` names.
    #[inline]
    fn row_of(&self, ingress: u16, label: u16) -> usize {
        usize::from(ingress) * self.epochs + (usize::from(epoch_of(label)) & (self.epochs - 1))
    }

    /// The counter of the upstream queue of `packet`, for which there is a row.
    #[inline]
    fn counter_of(&mut self, packet: &Packet) -> &mut u32 {
        let start = self.starts[self.row_of(packet.ingress, packet.upstream_queue)] as usize;
        &mut self.counters[start + (usize::from(packet.upstream_queue) & (self.width - 1))]
    }

    /// Makes row `row` of pause counters.
    #[cold]
    fn add_row(&mut self, row: usize) {
        self.starts[row] = self.counters.len() as u32;
        self.counters.resize(self.counters.len() + self.width, 0);
    }

    /// The pause counters of `ingress` and the epoch that `label` names; empty where no packet was
    /// counted yet.
    fn row(&self, ingress: u16, label: u16) -> &[u32] {
        match self.starts[self.row_of(ingress, label)] {
            NO_ROW => &[],
            start => &self.counters[start as usize..start as usize + self.width],
        }
    }

    /// Whether a packet that has joined its queue holds a pause counter. Always inlined: an ordinary
    /// call cost 6 instructions a packet-hop.
    #[inline(always)]
    pub(crate) fn counts(&self, joining: &Passing<'_>) -> bool {
        let (packet, egress) = (joining.packet(), joining.egress);
        self.is_above(joining.queue_bytes, (packet.ingress, egress), joining.port())
            && !self.is_elided(packet, egress)
            && packet.flags.contains(PacketFlags::TRACKED)
            && (self.counts_last || !packet.is_last())
    }

    /// Gives `packet` a pause counter. Answers the pause, if the packet is the first counted for its
    /// upstream queue.
    fn count(&mut self, packet: &mut Packet) -> Option<ControlFrame> {
        packet.flags.insert(PacketFlags::COUNTED);
        let row = self.row_of(packet.ingress, packet.upstream_queue);
        if self.starts[row] == NO_ROW {
            self.add_row(row);
        }
        let counter = self.counter_of(packet);
        *counter += 1;
        if *counter > 1 {
            return None;
        }
        let signal = Signal::PauseQueue(packet.upstream_queue);
        Some(ControlFrame { port: packet.ingress, signal })
    }

    /// The periodic bitmap for the neighbour behind `ingress` (sec. 3.3.2): the upstream queues that should
    /// be paused in `epoch`.
    fn bitmap_frame(&self, ingress: u16, epoch: usize) -> ControlFrame {
        let epoch = epoch as u8;
        let counters = self.row(ingress, label(0, epoch)).iter().enumerate();
        let queues =
            counters.fold(0, |bits, (queue, &count)| bits | (u128::from(count > 0) << queue));
        ControlFrame { port: ingress, signal: Signal::QueueBitmap { epoch, queues } }
    }

    /// Packets that hold a pause counter, for checks.
    pub(crate) fn counted(&self) -> u64 {
        self.counters.iter().map(|&count| u64::from(count)).sum()
    }

    /// The pause counter of the upstream queue with this label, for checks.
    pub(crate) fn counter(&self, ingress: u16, label: u16) -> u32 {
        let queue = usize::from(label) & (self.width - 1);
        self.row(ingress, label).get(queue).copied().unwrap_or(0)
    }
}

impl Policy for Bfc {
    /// Always inlined, for the reason given at [`Bfc::counts`].
    #[inline(always)]
    fn on_enqueue(&mut self, joining: &mut Passing<'_>) -> Option<ControlFrame> {
        if self.counts(joining) { self.count(joining.packet_mut()) } else { None }
    }

    #[inline]
    fn on_dequeue(&mut self, leaving: &mut Passing<'_>) -> Option<ControlFrame> {
        let packet = leaving.packet();
        if !packet.flags.contains(PacketFlags::COUNTED) {
            return None;
        }
        let counter = self.counter_of(packet);
        *counter -= 1;
        if *counter > 0 {
            return None;
        }
        let signal = Signal::ResumeQueue(packet.upstream_queue);
        Some(ControlFrame { port: packet.ingress, signal })
    }

    fn threshold(&self, _: &Admission, ingress: u16, egress: u16, port: &Port) -> i64 {
        self.limit((ingress, egress), port) as i64
    }

    /// The bitmaps tell all pauses.
    fn standing_pauses(&self, _: &Admission, ingress: u16) -> Vec<ControlFrame> {
        (0..self.epochs).map(|epoch| self.bitmap_frame(ingress, epoch)).collect()
    }

    /// A bitmap for each epoch.
    fn repeated_frame(
        &mut self,
        _: &Admission,
        ingress: u16,
        number: usize,
    ) -> Option<ControlFrame> {
        (number < self.epochs).then(|| self.bitmap_frame(ingress, number))
    }

    fn stops(&self) -> Option<Stops> {
        Some(Stops::Queues)
    }

    /// A queue is resumed when the last packet counted for it leaves.
    fn lasts(&self, _: &Admission, pause: &KeptPause, _: u64) -> bool {
        pause.bytes > 0
    }

    fn audit(&self, stored: &Stored<'_>) -> Result<(), String> {
        let mut counted = vec![0; self.starts.len() * self.width];
        for (_, _, packet) in stored.packets() {
            let row = self.row_of(packet.ingress, packet.upstream_queue);
            let queue = usize::from(packet.upstream_queue) & (self.width - 1);
            let is_counted = packet.flags.contains(PacketFlags::COUNTED);
            counted[row * self.width + queue] += u32::from(is_counted);
        }
        for (key, counted) in counted.into_iter().enumerate() {
            let (row, queue) = (key / self.width, key % self.width);
            let (ingress, epoch) = (row / self.epochs, row % self.epochs);
            let counter = self.counter(ingress as u16, label(queue as u16, epoch as u8));
            if counter != counted {
                return Err(format!(
                    "ingress {ingress}, upstream queue {queue} in epoch {epoch}: pause counter {counter}, \
                     but {counted} counted packets are queued"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "bfc_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "bfc_letter_tests.rs"]
mod letter_tests;
