//! The window of pFabric: flows start at line rate and slow down only when packets are lost for long.
//!
//! M. Alizadeh et al., "pFabric: Minimal Near-Optimal Datacenter Transport", SIGCOMM 2013, sec. 4.2. The
//! paper was not at hand: rules and values are those of an implementation, NetSys/simulator. Implemented:
//! - The first window is a bandwidth-delay product, so that a flow starts at line rate.
//! - Each acknowledged packet adds a packet below the threshold, and its part of a packet per window above
//!   it, up to the largest window.
//! - A timeout sets the threshold to half the window, and the window to one packet.
//!
//! In that simulator an acknowledgement counts as one packet if the first missing byte has moved, and not at
//! all otherwise. There a sender also knows, without an acknowledgement, what its receiver has.
//!
//! The order in which packets leave and are dropped is the switches' (scheduling `pfabric`) and the NIC's
//! (`srf`). The threshold is unlimited at first.

use crate::control::hooks::{AtSource, Parameters};
use crate::flow::{FlowFacts, FlowView, LossSignal};
use crate::path::Acknowledgement;
use alloc::format;
use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::{Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of [`Pfabric`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PfabricConfig {
    /// First window, in bandwidth-delay products.
    #[schemars(
        extend("exclusiveMinimum" = 0, "default" = 1.0, "source" = "pFabric 4.2: 1 BDP, 12 packets")
    )]
    pub initial_bdp_factor: f64,
    /// Largest window, in bandwidth-delay products, at least initial_bdp_factor.
    #[schemars(extend(
        "exclusiveMinimum" = 0,
        "default" = 1.25,
        "source" = "pFabric in NetSys/simulator: 15 packets, where the first window is 12"
    ))]
    pub maximum_bdp_factor: f64,
}

impl Parameters for PfabricConfig {
    fn check(&self, problems: &mut Problems) {
        let (first, most) = (self.initial_bdp_factor, self.maximum_bdp_factor);
        let remedy = format!("write at least initial_bdp_factor, {first}");
        problems.unless(most >= first, "maximum_bdp_factor", most, remedy);
    }
}

/// The state of one pFabric flow.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct Pfabric {
    /// cwnd (bytes). Fractions are kept so that small steps add up.
    window: f64,
    /// The window doubles per round trip while it is below this (bytes); ssthresh.
    threshold: f64,
    /// The largest window (bytes).
    most: f64,
    /// Payload of a full packet (bytes).
    packet: f64,
}

impl Pfabric {
    /// A flow that has sent nothing.
    pub fn new(config: &PfabricConfig, flow: &FlowFacts) -> Self {
        let packet = f64::from(flow.path.payload);
        let window = |factor: f64| (flow.path.bdp.get() as f64 * factor).max(packet);
        Pfabric {
            window: window(config.initial_bdp_factor),
            threshold: f64::INFINITY,
            most: window(config.maximum_bdp_factor),
            packet,
        }
    }
}

impl AtSource for Pfabric {
    fn on_acknowledgement(&mut self, _now: Time, _ack: &Acknowledgement, view: &FlowView) {
        let packets = view.newly_acknowledged as f64 / self.packet;
        let step = match self.window < self.threshold {
            true => self.packet,
            false => self.packet * self.packet / self.window,
        };
        self.window = (self.window + packets * step).min(self.most);
    }

    fn on_loss(&mut self, _now: Time, signal: LossSignal) {
        if matches!(signal, LossSignal::Timeout { .. }) {
            self.threshold = (self.window / 2.0).max(2.0 * self.packet);
            self.window = self.packet;
        }
    }

    #[inline]
    fn window(&self) -> u64 {
        self.window as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    const JSON: &str = r#"{"kind":"pfabric","initial_bdp_factor":1.0,"maximum_bdp_factor":1.25}"#;

    /// A flow on the fixture's path, whose bandwidth-delay product is 100 packets of 1,000 B.
    fn pfabric() -> Pfabric {
        let config = PfabricConfig { initial_bdp_factor: 1.0, maximum_bdp_factor: 1.25 };
        Pfabric::new(&config, &fixture::flow(&fixture::path()))
    }

    fn acknowledge(pfabric: &mut Pfabric, packets: u64) {
        for packet in 0..packets {
            let view = fixture::view(packet + 1, 1_000, 1);
            pfabric.on_acknowledgement(Time::ZERO, &Acknowledgement::plain(0), &view);
        }
    }

    fn time_out(pfabric: &mut Pfabric, is_repeated: bool) {
        pfabric.on_loss(Time::ZERO, LossSignal::Timeout { in_flight: 7_000, is_repeated });
    }

    #[test]
    fn it_starts_at_line_rate_and_grows_to_the_largest_window() {
        let mut pfabric = pfabric();
        assert_eq!(pfabric.window(), 100_000);
        acknowledge(&mut pfabric, 20);
        assert_eq!(pfabric.window(), 120_000);
        acknowledge(&mut pfabric, 20);
        assert_eq!(pfabric.window(), 125_000);
    }

    #[test]
    fn an_acknowledgement_adds_a_packet_for_each_packet_that_it_acknowledges() {
        let mut pfabric = pfabric();
        let view = fixture::view(3, 1_000, 3);
        pfabric.on_acknowledgement(Time::ZERO, &Acknowledgement::plain(0), &view);
        assert_eq!(pfabric.window(), 103_000);
    }

    #[test]
    fn the_first_window_may_be_the_largest() {
        let refused = |maximum_bdp_factor| {
            let mut problems = Problems::default();
            PfabricConfig { initial_bdp_factor: 1.0, maximum_bdp_factor }.check(&mut problems);
            !problems.is_empty()
        };
        assert_eq!([0.9, 1.0, 1.1].map(refused), [true, false, false]);
    }

    #[test]
    fn a_window_has_room_for_a_packet() {
        let config = PfabricConfig { initial_bdp_factor: 1e-9, maximum_bdp_factor: 1e-9 };
        let mut pfabric = Pfabric::new(&config, &fixture::flow(&fixture::path()));
        assert_eq!(pfabric.window(), 1_000);
        acknowledge(&mut pfabric, 3);
        assert_eq!(pfabric.window(), 1_000);
    }

    #[test]
    fn a_timeout_leaves_a_packet_and_half_the_window_as_the_threshold() {
        let mut pfabric = pfabric();
        time_out(&mut pfabric, false);
        assert_eq!((pfabric.window(), pfabric.threshold), (1_000, 50_000.0));
        acknowledge(&mut pfabric, 49);
        assert_eq!(pfabric.window(), 50_000);
        acknowledge(&mut pfabric, 1);
        assert_eq!(pfabric.window(), 50_020, "a packet per window");
        time_out(&mut pfabric, false);
        time_out(&mut pfabric, true);
        assert_eq!((pfabric.window(), pfabric.threshold), (1_000, 2_000.0));
        pfabric.on_loss(Time::ZERO, LossSignal::FastRetransmit { in_flight: 7_000 });
        acknowledge(&mut pfabric, 1);
        assert_eq!(pfabric.window(), 2_000, "only a timeout cuts it");
    }

    #[test]
    fn parameters_are_read_and_written_and_refused_out_of_bounds() {
        let refused = [
            (JSON.replace("1.0,", "0.0,"), "initial_bdp_factor"),
            (JSON.replace("1.25", "0.5"), "maximum_bdp_factor"),
        ];
        fixture::check_controller(JSON, &refused);
    }
}
