//! PowerTCP: the window follows the power of the path, which in-band telemetry reports.
//!
//! V. Addanki, O. Michel and S. Schmid, "PowerTCP: Pushing the Performance Limits of Datacenter
//! Networks", NSDI 2022, Sec. 3 and Algorithm 1. Power is current times voltage. The current of an egress
//! port is the rate at which bytes come to it: what it sends, and the growth of its queue. The voltage is
//! the queue and the bandwidth-delay product. So a queue that grows counts before it is long, and a long
//! queue counts though it does not grow. Implemented: the normalized power per hop, the largest of all
//! hops, its average over a round trip, and the window that each acknowledgement sets anew from the
//! window of a round trip ago.
//!
//! The paper itself was not at hand. The algorithm is as its authors' group quotes it in its Linux code
//! (inet-tub/powertcp-linux, `tcp_powertcp.c`), beside their simulator (inet-tub/ns3-datacenter). Where
//! the algorithm is silent:
//! - The window of a round trip ago (GET_CWND, UPDATE_OLD) is the one at the last end of a round trip, as
//!   HPCC's reference is. Both codes of the group keep this one value.
//! - The first acknowledgement only stores its telemetry, and the window is bounded by the minimum rate
//!   and the bandwidth-delay product, as in both.
//! - A current below zero, which a queue that loses packets can show, counts as zero, as in the Linux
//!   code.
//! - An acknowledgement from another path than the last one only stores its telemetry, and a hop whose clock
//!   did not advance is skipped (our choices, the same as for HPCC).
//!
//! The simulator departs from the algorithm where we do not: it divides the power by HPCC's target
//! utilization of 0.95, and mixes the new window with the old one in place of the present one.
//!
//! Left out: reconfigurable networks (Sec. 5). A loss, a switch's notice of a drop and a timed pause
//! change nothing (our choice: no source combines them).

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::{BitRate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::control::hooks::{AtSource, Parameters};
use crate::control::last_hops::LastHops;
use crate::control::paced_rate::{PacedRate, RateWindow};
use crate::control::power::{EXPECTED_FLOWS, MINIMUM_RATE, Power};
use crate::flow::{FlowFacts, FlowView};
use crate::path::{Acknowledgement, HopTelemetry};

/// Parameters of [`PowerTcp`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PowerTcpConfig {
    /// Weight of the window that the power asks for, against the present one (gamma).
    #[schemars(
        range(max = 1),
        extend("exclusiveMinimum" = 0, "default" = 0.9, "source" = "PowerTCP 3.3: 0.9")
    )]
    pub weight: f64,
    /// Flows that are expected at a host's NIC (N); together they add a BDP per step.
    ///
    /// The additive increase is beta = line rate x base RTT / N. In balance a queue holds beta of each
    /// of its flows.
    #[schemars(
        range(min = 1),
        extend(
            "default" = 167,
            "source" = EXPECTED_FLOWS
        )
    )]
    pub expected_flows: u32,
    /// Rate below which no flow falls.
    #[schemars(
        range(min = 1),
        extend(
            "default" = "100 Mb/s",
            "source" = MINIMUM_RATE
        )
    )]
    pub minimum_rate: BitRate,
    /// In flight at most: anything, one BDP, or BDP x rate / line rate.
    #[schemars(extend("default" = "scaled", "source" = "PowerTCP, Algorithm 1: the window itself"))]
    pub window: RateWindow,
}

impl Parameters for PowerTcpConfig {
    fn uses_telemetry(&self) -> bool {
        true
    }
}

/// The state of one PowerTCP flow.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct PowerTcp {
    rate: PacedRate,
    /// The rate at the last end of a round trip (cwnd_old / tau in the paper) (bit/s).
    old: u64,
    power: Power,
    /// The round trip ends with the first acknowledgement beyond this byte.
    round_end: u64,
    history: LastHops,
}

impl PowerTcp {
    /// A flow that has sent nothing; it starts at line rate with a full window.
    pub fn new(config: &PowerTcpConfig, flow: &FlowFacts) -> Self {
        let rate = PacedRate::new(flow.path, config.minimum_rate, config.window);
        let power = Power::new(flow.path, config.weight, config.expected_flows);
        PowerTcp { rate, old: rate.get(), power, round_end: 0, history: LastHops::default() }
    }

    /// Takes the power of the hop with the most power into the average, and the telemetry into the
    /// history (Algorithm 1, NORM_POWER).
    fn measure(&mut self, hops: &[HopTelemetry]) {
        let base_rtt = self.power.base_rtt().as_ns_f64();
        let mut largest = 0.0;
        let mut span = 0.0;
        for (hop, last) in hops.iter().zip(self.history.iter_mut()) {
            let elapsed = hop.time.saturating_sub(last.time).as_ns_f64();
            if elapsed == 0.0 {
                continue;
            }
            let capacity = hop.rate.as_bps() as f64 / 8e9; // bytes per nanosecond
            let sent = hop.sent_bytes.saturating_sub(last.sent_bytes);
            let arrived = (sent + hop.queue_bytes).saturating_sub(last.queue_bytes);
            let current = arrived as f64 / elapsed / capacity;
            let voltage = 1.0 + hop.queue_bytes as f64 / (capacity * base_rtt);
            let power = current * voltage;
            if power > largest {
                largest = power;
                span = elapsed;
            }
            *last = *hop;
        }
        self.power.take(largest, span);
    }
}

impl AtSource for PowerTcp {
    /// Algorithm 1, NEW_ACK.
    fn on_acknowledgement(&mut self, _now: Time, ack: &Acknowledgement, view: &FlowView) {
        let hops = ack.telemetry;
        let is_first = self.history.is_empty();
        if !self.history.compares(ack) {
            if is_first {
                self.round_end = view.next;
            }
            return;
        }
        if hops.is_empty() {
            return;
        }
        self.measure(hops);
        self.rate.set(self.power.step(self.old, self.rate.get()));
        if view.acknowledged > self.round_end {
            self.old = self.rate.get();
            self.round_end = view.next;
        }
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
#[path = "powertcp_tests.rs"]
mod tests;
