//! Theta-PowerTCP: PowerTCP without switches. The power of the path follows from its round-trip time.
//!
//! V. Addanki, O. Michel and S. Schmid, "PowerTCP: Pushing the Performance Limits of Datacenter
//! Networks", NSDI 2022, Algorithm 2. The growth of the round-trip time and one stands for the current,
//! the round-trip time for the voltage: normalized power is (dRTT/dt + 1) RTT / tau. Implemented: the
//! power of each acknowledgement, its average over a round trip, and a step of the window per round trip.
//!
//! What [`powertcp`](super::powertcp) says of the paper that was not at hand, of bounds, losses and timed
//! pauses holds here, too. Where the algorithm is silent:
//! - A step comes with the first acknowledgement of a packet that was sent after the last step (lastUpdated
//!   in the paper). So the window when that packet left is the present one, and GET_CWND needs no memory.
//! - The first acknowledgement only stores its round-trip time (our choice: there is nothing to compare).
//! - dRTT/dt + 1 below zero counts as zero, as in the group's Linux code: acknowledgements that come
//!   closer together than half the gap of their packets would ask for a negative window. The authors'
//!   simulator counts what is below 0.5 as 0.5 (`least_current`). Without that, packets that come to a queue
//!   at half the link's rate ask for any window, and a few flows fill and drain it in turn
//!   (`beyond/powertcp`).
//! - An acknowledgement at the same instant as the last one is not looked at (our choice: no gradient).
//! - tau is the base round-trip time that hosts know, by default the longest of the network. The codes of
//!   the group take the least round-trip time that the flow has seen.
//!
//! The authors' simulator departs from the algorithm where we do not: it divides the power by 1.05, and has
//! a gamma of 0.7.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::{BitRate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::control::hooks::{AtSource, Parameters};
use crate::control::paced_rate::{PacedRate, RateWindow};
use crate::control::power::{EXPECTED_FLOWS, MINIMUM_RATE, Power};
use crate::flow::{FlowFacts, FlowView};
use crate::path::Acknowledgement;

/// Parameters of [`ThetaPowerTcp`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThetaPowerTcpConfig {
    /// Weight of the window that the power asks for, against the present one (gamma).
    #[schemars(
        range(max = 1),
        extend(
            "exclusiveMinimum" = 0,
            "default" = 0.9,
            "source" = "PowerTCP 3.3: 0.9; the authors' simulator (inet-tub/ns3-datacenter): 0.7"
        )
    )]
    pub weight: f64,
    /// Flows that are expected at a host's NIC (N); together they add a BDP per step.
    ///
    /// The additive increase is beta = line rate x base RTT / N.
    #[schemars(
        range(min = 1),
        extend(
            "default" = 167,
            "source" = EXPECTED_FLOWS
        )
    )]
    pub expected_flows: u32,
    /// Smallest value of dRTT/dt + 1 that counts.
    #[schemars(
        range(min = 0, max = 1),
        extend(
            "default" = 0.0,
            "source" = "PowerTCP, Algorithm 2: none; the authors' simulator (inet-tub/ns3-datacenter): 0.5"
        )
    )]
    pub least_current: f64,
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
    #[schemars(extend("default" = "scaled", "source" = "PowerTCP, Algorithm 2: the window itself"))]
    pub window: RateWindow,
}

impl Parameters for ThetaPowerTcpConfig {
    fn uses_timestamp(&self) -> bool {
        true
    }
}

/// The state of one theta-PowerTCP flow.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct ThetaPowerTcp {
    rate: PacedRate,
    power: Power,
    least_current: f64,
    /// The latest acknowledgement that was looked at; `None` before the first one.
    last: Option<Sample>,
    /// The next step comes with the first acknowledgement beyond this byte.
    round_end: u64,
}

/// A measured round-trip time.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct Sample {
    /// When the acknowledgement arrived.
    at: Time,
    rtt: Time,
}

impl ThetaPowerTcp {
    /// A flow that has sent nothing; it starts at line rate with a full window.
    pub fn new(config: &ThetaPowerTcpConfig, flow: &FlowFacts) -> Self {
        let rate = PacedRate::new(flow.path, config.minimum_rate, config.window);
        let power = Power::new(flow.path, config.weight, config.expected_flows);
        let least_current = config.least_current;
        ThetaPowerTcp { rate, power, least_current, last: None, round_end: 0 }
    }

    /// Takes the power between two acknowledgements into the average (Algorithm 2, NORM_POWER). The
    /// second one came later.
    fn measure(&mut self, last: Sample, sample: Sample) {
        let elapsed = (sample.at - last.at).as_ns_f64();
        let gradient = (sample.rtt.as_ns_f64() - last.rtt.as_ns_f64()) / elapsed;
        let current = (gradient + 1.0).max(self.least_current);
        let voltage = sample.rtt.as_ns_f64() / self.power.base_rtt().as_ns_f64();
        self.power.take(current * voltage, elapsed);
    }
}

impl AtSource for ThetaPowerTcp {
    /// Algorithm 2, NEW_ACK.
    fn on_acknowledgement(&mut self, now: Time, ack: &Acknowledgement, view: &FlowView) {
        let sample = Sample { at: now, rtt: now.saturating_sub(ack.sent_at) };
        let Some(last) = self.last else {
            self.last = Some(sample);
            self.round_end = view.next;
            return;
        };
        if now <= last.at {
            return;
        }
        self.measure(last, sample);
        self.last = Some(sample);
        if view.acknowledged > self.round_end {
            self.rate.set(self.power.step(self.rate.get(), self.rate.get()));
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
mod tests {
    use super::*;
    use crate::fixture;

    const JSON: &str = concat!(
        r#"{"kind":"theta-powertcp","weight":0.9,"expected_flows":1000,"least_current":0.0,"#,
        r#""minimum_rate":100000000,"window":"scaled"}"#
    );

    /// At 100 Gb/s and 8 us (100 kB); beta is 100 B.
    fn theta(least_current: f64) -> ThetaPowerTcp {
        let config = ThetaPowerTcpConfig {
            weight: 0.9,
            expected_flows: 1_000,
            least_current,
            minimum_rate: BitRate::from_mbps(100),
            window: RateWindow::Scaled,
        };
        ThetaPowerTcp::new(&config, &fixture::flow(&fixture::path()))
    }

    /// An acknowledgement of `acknowledged` bytes at `at`, with 100 kB behind them, whose packet took
    /// `rtt`; both times in nanoseconds.
    fn acknowledge(flow: &mut ThetaPowerTcp, at: u64, rtt: u64, acknowledged: u64) {
        let next = acknowledged + 100_000;
        let view = FlowView { acknowledged, next, newly_acknowledged: 1_000 };
        let sent_at = Time::from_ns(at - rtt);
        let ack = Acknowledgement { sent_at, ..Acknowledgement::plain(acknowledged) };
        flow.on_acknowledgement(Time::from_ns(at), &ack, &view);
    }

    #[test]
    fn the_first_acknowledgement_only_stores_its_round_trip_time() {
        let mut flow = theta(0.0);
        acknowledge(&mut flow, 20_000, 16_000, 1_000);
        assert_eq!((flow.window(), flow.rate(), flow.power.average()), (100_000, None, 1.0));
    }

    #[test]
    fn the_power_is_averaged_by_each_acknowledgement_and_used_once_per_round_trip() {
        let mut flow = theta(0.0);
        acknowledge(&mut flow, 20_000, 8_000, 1_000); // the round trip ends beyond 101 kB
        // 4 us more in 8 us: (0.5 + 1) 12 / 8 = 2.25, for a whole round trip.
        acknowledge(&mut flow, 28_000, 12_000, 101_000);
        assert!((flow.power.average() - 2.25).abs() < 1e-9);
        assert_eq!(flow.window(), 100_000);
        // The same round-trip time 0.8 us later: (0 + 1) 12 / 8 = 1.5 has a tenth of the weight.
        acknowledge(&mut flow, 28_800, 12_000, 102_000);
        assert!((flow.power.average() - 2.175).abs() < 1e-9);
        assert_eq!(flow.window(), 51_469); // 0.9 (100,000 / 2.175 + 100) + 0.1 x 100,000
        // The next step comes beyond 202 kB.
        acknowledge(&mut flow, 29_600, 12_000, 202_000);
        assert_eq!(flow.window(), 51_469);
    }

    #[test]
    fn a_round_trip_time_that_falls_raises_the_window_although_it_is_long() {
        let mut flow = theta(0.0);
        flow.rate.set(20_000_000_000);
        acknowledge(&mut flow, 30_000, 16_000, 1_000);
        // 6 us less in 8 us: (1 - 0.75) 10 / 8 = 0.3125.
        acknowledge(&mut flow, 38_000, 10_000, 102_000);
        assert_eq!(flow.window(), 59_690); // 0.9 (20,000 / 0.3125 + 100) + 0.1 x 20,000
    }

    #[test]
    fn no_gradient_makes_the_power_negative() {
        let mut flow = theta(0.0);
        acknowledge(&mut flow, 30_000, 16_000, 1_000);
        acknowledge(&mut flow, 30_000, 1_000, 2_000); // the same instant: not looked at
        assert_eq!(flow.power.average(), 1.0);
        acknowledge(&mut flow, 34_000, 10_000, 102_000); // -1.5 + 1 counts as 0, for half a round trip
        assert_eq!((flow.power.average(), flow.window()), (0.5, 100_000));
    }

    #[test]
    fn a_least_current_keeps_a_queue_that_drains_from_asking_for_any_window() {
        let mut flow = theta(0.5);
        flow.rate.set(20_000_000_000);
        acknowledge(&mut flow, 30_000, 16_000, 1_000);
        // 1 - 0.75 counts as 0.5: 0.5 x 10 / 8 = 0.625.
        acknowledge(&mut flow, 38_000, 10_000, 102_000);
        assert_eq!(flow.window(), 30_890); // 0.9 (20,000 / 0.625 + 100) + 0.1 x 20,000
    }

    #[test]
    fn parameters_are_read_and_written_and_refused_out_of_bounds() {
        let config = fixture::check_controller(
            JSON,
            &[
                (JSON.replace("0.9", "0"), "weight"),
                (JSON.replace(":1000,", ":0,"), "expected_flows"),
                (JSON.replace(":0.0,", ":1.1,"), "least_current"),
            ],
        );
        assert!(config.uses_timestamp() && !config.uses_telemetry());
    }
}
