//! BFC's delay controller: a window that holds the round-trip time near a target.
//!
//! P. Goyal et al., "Backpressure Flow Control", NSDI 2022, App. A.1, Algorithm 1. The controller keeps
//! a sender from filling the network when there are more flows than queues. Precise control is left to
//! the backpressure.
//!
//! Where the paper is silent:
//! - The paper's window counts packets and gains or loses a fraction of a packet per acknowledgement.
//!   Our window counts bytes and scales that fraction by the bytes acknowledged, so that a short last
//!   packet weighs less.
//! - The window is at least one packet, because less cannot be sent.
//! - The window is at most `target_factor` bandwidth-delay products (our choice). With so much in
//!   flight even a flow alone meets the target. An unbounded window would take many round trips to come
//!   down after a time without congestion.

use crate::control::hooks::{AtSource, Parameters};
use crate::flow::{FlowFacts, FlowView};
use crate::path::Acknowledgement;
use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of [`Delay`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelayConfig {
    /// Target RTT in base RTTs.
    #[schemars(extend("exclusiveMinimum" = 1, "default" = 2.5, "source" = "BFC A.1"))]
    pub target_factor: f64,
}

impl Parameters for DelayConfig {}

/// The window of one flow under the delay controller.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct Delay {
    /// (bytes)
    window: f64,
    minimum: f64,
    maximum: f64,
    /// (ps)
    target: f64,
}

impl Delay {
    /// Starts with one bandwidth-delay product (Algorithm 1, line 2).
    pub fn new(config: &DelayConfig, flow: &FlowFacts) -> Self {
        let path = flow.path;
        let window = path.bdp.get() as f64;
        Delay {
            window,
            minimum: f64::from(path.payload),
            maximum: (window * config.target_factor).max(f64::from(path.payload)),
            target: path.base_rtt.as_ps() as f64 * config.target_factor,
        }
    }
}

impl AtSource for Delay {
    fn on_acknowledgement(&mut self, now: Time, ack: &Acknowledgement, view: &FlowView) {
        let rtt = now.saturating_sub(ack.sent_at).as_ps().max(1) as f64;
        // Algorithm 1, lines 4-7: both branches are the same signed step.
        let step = (self.target - rtt) / rtt;
        let window = self.window + step * view.newly_acknowledged as f64;
        self.window = window.max(self.minimum).min(self.maximum);
    }

    /// The window (bytes), >= one packet.
    #[inline]
    fn window(&self) -> u64 {
        self.window as u64
    }
}

#[cfg(test)]
mod tests {
    use penstock_units::Bytes;

    use super::*;
    use crate::fixture;

    const JSON: &str = r#"{"kind":"delay","target_factor":2.5}"#;

    fn acknowledge(delay: &mut Delay, rtt: Time, packets: u64) {
        for _ in 0..packets {
            let view = FlowView { acknowledged: 0, next: 0, newly_acknowledged: 1_000 };
            delay.on_acknowledgement(rtt, &Acknowledgement::plain(0), &view);
        }
    }

    fn delay() -> Delay {
        Delay::new(&DelayConfig { target_factor: 2.5 }, &fixture::flow(&fixture::path()))
    }

    #[test]
    fn the_window_starts_at_one_bandwidth_delay_product() {
        assert_eq!(delay().window(), 100_000);
    }

    #[test]
    fn a_packet_above_the_target_costs_the_excess_fraction_of_a_packet() {
        let mut delay = delay();
        acknowledge(&mut delay, Time::from_us(40), 1); // (40 - 20) / 40 of 1000 B
        assert_eq!(delay.window(), 99_500);
    }

    #[test]
    fn a_packet_below_the_target_earns_the_missing_fraction_of_a_packet() {
        let mut delay = delay();
        acknowledge(&mut delay, Time::from_us(16), 1); // (20 - 16) / 16 of 1000 B
        assert_eq!(delay.window(), 100_250);
        acknowledge(&mut delay, Time::from_us(20), 50);
        assert_eq!(delay.window(), 100_250);
    }

    #[test]
    fn the_round_trip_is_that_of_the_acknowledged_packet() {
        let mut delay = delay();
        let ack = Acknowledgement { sent_at: Time::from_us(100), ..Acknowledgement::plain(0) };
        delay.on_acknowledgement(Time::from_us(140), &ack, &fixture::view(1, 1, 1));
        assert_eq!(delay.window(), 99_500);
    }

    #[test]
    fn the_window_is_a_packet_at_least_where_two_and_a_half_products_are_less() {
        let path = crate::path::PathFacts { bdp: Bytes::new(100), ..fixture::path() };
        let mut delay = Delay::new(&DelayConfig { target_factor: 2.5 }, &fixture::flow(&path));
        acknowledge(&mut delay, Time::from_us(40), 1);
        assert_eq!(delay.window(), 1_000);
    }

    #[test]
    fn a_window_of_acknowledgements_scales_it_by_target_over_rtt() {
        let mut delay = delay();
        acknowledge(&mut delay, Time::from_us(40), 100);
        assert_eq!(delay.window(), 50_000); // App. A.1: w -> w * RTTTarget / RTT within an RTT
    }

    #[test]
    fn the_window_is_bounded_on_both_sides() {
        let mut delay = delay();
        acknowledge(&mut delay, Time::from_us(8), 10_000);
        assert_eq!(delay.window(), 250_000);
        acknowledge(&mut delay, Time::from_ms(1), 10_000);
        assert_eq!(delay.window(), 1_000);
        acknowledge(&mut delay, Time::ZERO, 1);
        assert_eq!(delay.window(), 250_000);
    }

    #[test]
    fn parameters_are_read_and_written_and_refused_out_of_bounds() {
        fixture::check_controller(JSON, &[(JSON.replace("2.5", "1.0"), "target_factor")]);
    }
}
