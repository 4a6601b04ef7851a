//! Swift: the window follows the delay of each packet towards a target that depends on the path and
//! on the window itself.
//! G. Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter",
//! SIGCOMM 2020, Sec. 3. Implemented: the fabric window with its target delay, scaled by hops
//! (topology) and by the window (flows); additive increase per round trip; decrease in proportion to
//! the excess delay and at most once per round trip; pacing of windows below one packet; the reactions
//! to losses and timeouts. Left out: the endpoint window and acknowledgements in bundles. Hosts here
//! take no time for a packet, so the round-trip time is the fabric's delay.
//!
//! Every flow uses the hops of the longest path of the network, as it uses the longest base round-trip
//! time. In Swift the hops come from the packet's time to live.
//!
//! The paper publishes no full set of parameters. Values marked htsim are from that simulator
//! (Broadcom/csg-htsim), whose authors guessed them. Delays are scaled to a fabric of 8 us and 100
//! Gb/s.

use alloc::format;

use crate::control::hooks::{AtSource, Parameters};
use crate::flow::{FlowFacts, FlowView, LossSignal};
use crate::path::Acknowledgement;
use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::{BitRate, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The source of values that the paper leaves out.
const HTSIM: &str = "htsim simulator (Broadcom/csg-htsim), a guess: the Swift paper is silent";

/// The largest window (packets): more than any path holds; our choice.
const LARGEST_WINDOW: u32 = 1_000_000_000;

/// Parameters of [`Swift`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwiftConfig {
    /// Added per round trip below the target (ai).
    #[schemars(extend(
        "exclusiveMinimum" = 0,
        "unit" = "packets",
        "default" = 1.0,
        "source" = HTSIM
    ))]
    pub additive_increase: f64,
    /// Share of the excess delay that a cut takes.
    #[schemars(extend("exclusiveMinimum" = 0, "default" = 0.8, "source" = HTSIM))]
    pub beta: f64,
    /// Largest share of the window that one cut takes (max_mdf).
    #[schemars(extend(
        "exclusiveMinimum" = 0,
        "exclusiveMaximum" = 1,
        "default" = 0.5,
        "source" = HTSIM
    ))]
    pub maximum_decrease: f64,
    /// Target delay without switches; null: the base RTT.
    #[schemars(
        range(min = 1),
        extend(
            "default" = null,
            "source" = "our choice: below the base RTT no flow keeps its window"
        )
    )]
    pub base_target: Option<Time>,
    /// Added to the target by each switch of the longest path (h).
    #[schemars(extend(
        "default" = "1.2 us",
        "source" = "our choice: 45 kB of queue over three switches at 100 Gb/s"
    ))]
    pub hop_target: Time,
    /// Added to the target by a small window at most (fs_range).
    #[schemars(extend(
        "default" = "8 us",
        "source" = "our choice: a base RTT of BFC's fabric; htsim has five"
    ))]
    pub range: Time,
    /// Window up to which all of range is added (fs_min).
    #[schemars(extend(
        "exclusiveMinimum" = 0,
        "unit" = "packets",
        "default" = 0.1,
        "source" = HTSIM
    ))]
    pub minimum_flow_window: f64,
    /// Window from which on none of range is added (fs_max), above minimum_flow_window.
    #[schemars(extend(
        "unit" = "packets",
        "default" = 100.0,
        "source" = "our choice: one BDP of BFC's fabric, as in htsim"
    ))]
    pub maximum_flow_window: f64,
    /// Smallest window.
    #[schemars(
        range(max = 1),
        extend(
            "exclusiveMinimum" = 0,
            "unit" = "packets",
            "default" = 0.001,
            "source" = "said to be the Swift paper's, which was not at hand: a packet per thousand \
                        round trips"
        )
    )]
    pub minimum_window: f64,
    /// Largest window.
    #[schemars(
        range(min = 1, max = LARGEST_WINDOW),
        extend("unit" = "packets", "default" = 1000.0, "source" = HTSIM)
    )]
    pub maximum_window: f64,
    /// First window.
    #[schemars(
        range(min = 1),
        extend(
            "unit" = "packets",
            "default" = 100,
            "source" = "our choice: one BDP of BFC's fabric, as its DCTCP and HPCC start"
        )
    )]
    pub initial_window_packets: u32,
    /// Timeouts in a row that end in the smallest window (RETX_RESET).
    #[schemars(range(min = 1), extend("default" = 5, "source" = HTSIM))]
    pub reset_after: u32,
}

impl Parameters for SwiftConfig {
    fn check(&self, problems: &mut Problems) {
        let (smallest, largest) = (self.minimum_flow_window, self.maximum_flow_window);
        let remedy = format!("write more than minimum_flow_window, {smallest}");
        problems.unless(largest > smallest, "maximum_flow_window", largest, remedy);
    }

    fn uses_timestamp(&self) -> bool {
        true
    }
}

/// The state of one Swift flow. Times are in picoseconds, windows in packets.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct Swift {
    window: f64,
    additive_increase: f64,
    beta: f64,
    maximum_decrease: f64,
    /// Base target plus the share of the hops.
    path_target: f64,
    range: f64,
    /// fs_a and fs_b of the paper.
    scale: f64,
    offset: f64,
    minimum: f64,
    maximum: f64,
    /// The latest round-trip time.
    rtt: Time,
    last_decrease: Option<Time>,
    /// Timeouts since the last acknowledgement.
    timeouts: u32,
    reset_after: u32,
    /// A full packet: its payload, and its size on the wire (bytes).
    payload: f64,
    wire_bytes: f64,
}

impl Swift {
    /// A flow that has sent nothing.
    pub fn new(config: &SwiftConfig, flow: &FlowFacts) -> Self {
        let path = flow.path;
        let base = config.base_target.unwrap_or(path.base_rtt).as_ps() as f64;
        let hops = f64::from(path.hops) * config.hop_target.as_ps() as f64;
        let range = config.range.as_ps() as f64;
        let inverse_root = |window: f64| 1.0 / libm::sqrt(window);
        let least = inverse_root(config.maximum_flow_window);
        let scale = range / (inverse_root(config.minimum_flow_window) - least);
        let initial = f64::from(config.initial_window_packets);
        Swift {
            window: initial.min(config.maximum_window),
            additive_increase: config.additive_increase,
            beta: config.beta,
            maximum_decrease: config.maximum_decrease,
            path_target: base + hops,
            range,
            scale,
            offset: -scale * least,
            minimum: config.minimum_window,
            maximum: config.maximum_window,
            rtt: path.base_rtt,
            last_decrease: None,
            timeouts: 0,
            reset_after: config.reset_after,
            payload: f64::from(path.payload),
            wire_bytes: f64::from(path.payload + path.data_overhead),
        }
    }

    /// The target delay of the flow (ps).
    fn target(&self) -> f64 {
        let flows = self.scale / libm::sqrt(self.window) + self.offset;
        self.path_target + flows.min(self.range).max(0.0)
    }

    /// Takes `share` off the window, unless a decrease happened within the last round-trip time.
    fn decrease(&mut self, now: Time, share: f64) {
        if self.last_decrease.is_some_and(|last| now.saturating_sub(last) < self.rtt) {
            return;
        }
        let reduced = (self.window * (1.0 - share)).max(self.minimum);
        if reduced < self.window {
            self.last_decrease = Some(now);
        }
        self.window = reduced;
    }
}

impl AtSource for Swift {
    fn on_acknowledgement(&mut self, now: Time, ack: &Acknowledgement, view: &FlowView) {
        self.timeouts = 0;
        self.rtt = now.saturating_sub(ack.sent_at).max(Time::from_ps(1));
        let delay = self.rtt.as_ps() as f64;
        let target = self.target();
        if delay < target {
            let packets = view.newly_acknowledged as f64 / self.payload;
            let per_packet = self.additive_increase / self.window.max(1.0);
            self.window = (self.window + per_packet * packets).min(self.maximum);
        } else {
            let share = self.beta * (delay - target) / delay;
            self.decrease(now, share.min(self.maximum_decrease));
        }
    }

    fn on_loss(&mut self, now: Time, signal: LossSignal) {
        match signal {
            LossSignal::FastRetransmit { .. } => {
                self.timeouts = 0;
                self.decrease(now, self.maximum_decrease);
            }
            LossSignal::Timeout { .. } => {
                self.timeouts += 1;
                if self.timeouts >= self.reset_after {
                    self.window = self.minimum;
                    self.last_decrease = Some(now);
                } else {
                    self.decrease(now, self.maximum_decrease);
                }
            }
            LossSignal::RecoveryExit { .. } => {}
        }
    }

    /// The window in whole packets (bytes), because a packet leaves only when the window covers it. A
    /// window below one packet is 1 byte here, which lets one packet be in flight.
    #[inline]
    fn window(&self) -> u64 {
        if self.window < 1.0 { 1 } else { self.window as u64 * self.payload as u64 }
    }

    /// The rate of a window below one packet (bit/s): one packet per round-trip time over window.
    /// `None` for larger windows, because acknowledgements pace the flow.
    #[inline]
    fn rate(&self) -> Option<BitRate> {
        if self.window >= 1.0 {
            return None;
        }
        let rate = self.wire_bytes * 8e12 * self.window / self.rtt.as_ps() as f64;
        Some(BitRate::from_bps((rate as u64).max(1)))
    }
}

#[cfg(test)]
#[path = "swift_tests.rs"]
mod tests;
