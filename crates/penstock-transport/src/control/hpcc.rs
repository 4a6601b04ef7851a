//! HPCC: the window follows the utilization that in-band telemetry reports.
//!
//! Y. Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, Sec. 3 and Algorithm 1.
//! Implemented: the estimate of in-flight bytes per hop, its average over a round trip, the
//! multiplicative and additive steps, and the reference window that makes it safe to react to every
//! acknowledgement. Left out: the PINT variant, and a W_AI that follows an unknown number of flows
//! (W_AI is a parameter).
//!
//! Where the paper is silent we follow its authors' simulator
//! (alibaba-edu/High-Precision-Congestion-Control): the average U starts at 1; the first
//! acknowledgement only stores its telemetry; the window is bounded by the minimum rate and the
//! bandwidth-delay product. That simulator has no pathID, because its routes stay. An acknowledgement from
//! another path than the last one only stores its telemetry (Sec. 4.1). A hop whose clock did not advance is
//! skipped, because no rate can be computed (our choice).

use alloc::format;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::source::BFC_SIMULATOR;
use penstock_units::{BitRate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::control::hooks::{AtSource, Parameters};
use crate::control::last_hops::LastHops;
use crate::control::paced_rate::{Increase, PacedRate, RateWindow};
use crate::flow::{FlowFacts, FlowView};
use crate::path::{Acknowledgement, HopTelemetry};

/// Parameters of [`Hpcc`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HpccConfig {
    /// Utilization that is aimed at (eta).
    #[schemars(
        range(max = 1),
        extend("exclusiveMinimum" = 0, "default" = 0.95, "source" = "BFC 6.2.1")
    )]
    pub target_utilization: f64,
    /// Additive steps before a multiplicative one (maxStage).
    ///
    /// The scripts of the paper's authors have 0.
    #[schemars(extend("default" = 5, "source" = "BFC 6.2.1"))]
    pub maximum_stage: u32,
    /// Added by every step (W_AI).
    ///
    /// The BFC authors' scripts add 50 B.
    #[schemars(extend(
        "default" = {"kind": "window", "size": "80 B"},
        "source" = "said to be the HPCC paper's, which was not at hand: 62 steps are the 5 % of 100 kB that \
                    eta leaves"
    ))]
    pub additive_increase: Increase,
    /// Rate below which no flow falls.
    #[schemars(
        range(min = 1),
        extend(
            "default" = "100 Mb/s",
            "source" = format!("{BFC_SIMULATOR}: MIN_RATE 100 Mb/s")
        )
    )]
    pub minimum_rate: BitRate,
    /// When the window follows a measurement.
    ///
    /// FAST_REACT of the authors' simulator; per-rtt is an ablation.
    #[schemars(extend(
        "default" = "per-ack",
        "source" = "HPCC paper: each ACK, from a reference that is set once per RTT"
    ))]
    pub react: HpccReaction,
    /// In flight at most: anything, one BDP, or BDP x rate / line rate.
    ///
    /// HAS_WIN and VAR_WIN of the authors' simulator; all but the last are ablations.
    #[schemars(extend(
        "default" = "scaled",
        "source" = "HPCC paper: the rate is the window over the RTT"
    ))]
    pub window: RateWindow,
}

/// Which acknowledgements change an HPCC window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HpccReaction {
    /// Every one, always starting from the reference window of the round trip.
    PerAck,
    /// The first one of each round trip; the telemetry between is not looked at.
    PerRtt,
}

impl Parameters for HpccConfig {
    fn uses_telemetry(&self) -> bool {
        true
    }
}

/// The state of one HPCC flow.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Hpcc {
    rate: PacedRate,
    /// The rate that the steps of this round trip start from (W^c / T in the paper) (bit/s).
    reference: u64,
    /// Average normalized bytes in flight on the busiest hop (U in the paper), >= 0.
    utilization: f64,
    target_utilization: f64,
    /// W_AI / T (bit/s).
    additive_increase: u64,
    base_rtt: Time,
    /// The round trip ends with the first acknowledgement beyond this byte.
    round_end: u64,
    stage: u32,
    maximum_stage: u32,
    react: HpccReaction,
    has_reacted: bool,
    history: LastHops,
}

impl Hpcc {
    /// A flow that has sent nothing; it starts at line rate with a full window.
    pub fn new(config: &HpccConfig, flow: &FlowFacts) -> Self {
        let path = flow.path;
        let rate = PacedRate::new(path, config.minimum_rate, config.window);
        Hpcc {
            rate,
            reference: rate.get(),
            utilization: 1.0,
            target_utilization: config.target_utilization,
            additive_increase: config.additive_increase.as_rate(path),
            base_rtt: path.base_rtt,
            round_end: 0,
            stage: 0,
            maximum_stage: config.maximum_stage,
            react: config.react,
            has_reacted: false,
            history: LastHops::default(),
        }
    }

    /// Takes the telemetry into the average and into the history (Algorithm 1, MeasureInflight).
    ///
    /// The operations have the order of the authors' simulator and work in nanoseconds. So the results
    /// are the same numbers when the times are whole nanoseconds.
    fn measure(&mut self, hops: &[HopTelemetry]) {
        let (line, bdp) = (self.rate.line() as f64, self.rate.bdp() as f64);
        let mut busiest = 0.0;
        let mut span = 0.0;
        for (hop, last) in hops.iter().zip(self.history.iter_mut()) {
            let elapsed = hop.time.saturating_sub(last.time).as_ns_f64();
            if elapsed == 0.0 {
                continue;
            }
            let capacity = hop.rate.as_bps() as f64;
            let sent = (hop.sent_bytes.saturating_sub(last.sent_bytes) * 8) as f64;
            let queued = hop.queue_bytes.min(last.queue_bytes);
            // Eq. 2. Most queues are empty, and two divisions less bought 0.7 % of a packet-hop.
            let mut load = sent / (elapsed * 1e-9) / capacity;
            if queued > 0 {
                load += queued as f64 * line / capacity / bdp;
            }
            if load > busiest {
                busiest = load;
                span = elapsed;
            }
            *last = *hop;
        }
        let base_rtt = self.base_rtt.as_ns_f64();
        let span = span.min(base_rtt);
        self.utilization = (self.utilization * (base_rtt - span) + busiest * span) / base_rtt;
    }
}

impl AtSource for Hpcc {
    #[inline]
    fn moves_pending_gap_in_ns3(&self) -> bool {
        true
    }

    /// Every acknowledgement that sets the rate moves the gap.
    #[inline]
    fn has_moved_gap(&self) -> bool {
        self.has_reacted
    }

    /// Algorithm 1, NewAck.
    fn on_acknowledgement(&mut self, _now: Time, ack: &Acknowledgement, view: &FlowView) {
        let hops = ack.telemetry;
        self.has_reacted = false;
        let is_first = self.history.is_empty();
        if !self.history.compares(ack) {
            if is_first {
                self.round_end = view.next;
            }
            return;
        }
        let is_round_end = view.acknowledged > self.round_end;
        if hops.is_empty() || (self.react == HpccReaction::PerRtt && !is_round_end) {
            return;
        }
        self.has_reacted = true;
        self.measure(hops);
        let excess = self.utilization / self.target_utilization;
        let is_multiplicative = excess >= 1.0 || self.stage >= self.maximum_stage;
        let start = match is_multiplicative {
            true => (self.reference as f64 / excess) as u64,
            false => self.reference,
        };
        self.rate.set(start.saturating_add(self.additive_increase)); // Algorithm 1, ComputeWind
        if is_round_end {
            self.reference = self.rate.get();
            self.stage = if is_multiplicative { 0 } else { self.stage + 1 };
            self.round_end = view.next;
        }
    }

    /// A switch dropped a packet of the flow: the rate falls to the minimum rate. The next
    /// acknowledgement starts from the reference again.
    fn on_switch_drop(&mut self, _now: Time) {
        self.rate.set_minimum();
    }

    /// The host is paused: the flow keeps the share `kept` of its rate (FAFC, Algorithm 3) and of the
    /// reference, from which the next acknowledgement starts.
    fn on_timed_pause(&mut self, _now: Time, kept: f64) {
        self.rate.scale(kept);
        self.reference = self.rate.bounded((self.reference as f64 * kept) as u64);
    }

    #[inline]
    fn window(&self) -> u64 {
        self.rate.window()
    }

    #[inline]
    fn rate(&self) -> Option<BitRate> {
        self.rate.rate()
    }
}

#[cfg(test)]
#[path = "hpcc_tests.rs"]
mod tests;
