//! DCTCP: the window falls in proportion to the fraction of marked bytes.
//!
//! M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, and RFC 8257. Implemented: the
//! estimate alpha (RFC 8257 Sec. 3.3), the proportional cut once per round trip, and the two starts
//! that the BFC paper compares (P. Goyal et al., NSDI 2022): `line-rate` (Sec. 6.2.1) and
//! `slow-start`, its "DCTCP + SS" (App. A.6). Both pace the window over the base round-trip time,
//! as the RDMA simulators do (alibaba-edu/High-Precision-Congestion-Control).
//!
//! Left out: the delayed-acknowledgement state machine of RFC 8257 Sec. 3.2, because every packet is
//! acknowledged and echoes its own mark. Recovery decides what is sent again.
//!
//! Where the sources are silent or differ:
//! - A loss that recovery detects halves the window (RFC 8257 Sec. 3.5).
//! - A timeout also halves the window, each time (our choice). RFC 8257 Sec. 3.5 leaves timeouts to TCP,
//!   which goes down to one packet and starts slowly again. A window that grows by one packet per round
//!   trip would need as many round trips as it had packets. The HPCC simulator has no timer. Forks of it
//!   that have one send again and leave the rate of DCTCP (conweave-project/conweave-ns3,
//!   `HandleTimeout`), so that a flow which lost all it sent goes on as fast as before.
//! - A drop that a switch reports also ends the slow start (our choice: a drop says more than a mark
//!   does).

use alloc::format;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::source::{BFC_SIMULATOR, HPCC_SIMULATOR};
use penstock_units::{BitRate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::control::hooks::{AtSource, Parameters};
use crate::control::marked_share::MarkedShare;
use crate::control::paced_rate::{Increase, PacedRate, RateWindow, bits_per_second};
use crate::flow::{FlowFacts, FlowView, LossSignal};
use crate::path::Acknowledgement;

/// Parameters of [`Dctcp`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DctcpConfig {
    /// Weight of a new estimate (g).
    ///
    /// The BFC authors' scripts have 1/256.
    #[schemars(
        range(max = 1),
        extend(
            "exclusiveMinimum" = 0,
            "default" = 0.0625,
            "source" = format!("RFC 8257 (1/16), as {HPCC_SIMULATOR}")
        )
    )]
    pub gain: f64,
    /// How a flow begins.
    #[schemars(extend("default" = "line-rate", "source" = "BFC 6.2.1"))]
    pub start: DctcpStart,
    /// First window of slow start; a start at line rate has none.
    #[schemars(range(min = 1), extend("unit" = "packets", "default" = 10, "source" = "BFC A.6"))]
    pub initial_window_packets: u32,
    /// Added by a round trip without a cut.
    ///
    /// The BFC authors' scripts add 500 B.
    #[schemars(extend(
        "default" = {"kind": "window", "size": "1000 B"},
        "source" = "DCTCP paper: TCP's increase of one packet per round trip"
    ))]
    pub increase: Increase,
    /// Rate below which no flow falls.
    #[schemars(
        range(min = 1),
        extend(
            "default" = "100 Mb/s",
            "source" = format!("{BFC_SIMULATOR}: MIN_RATE 100 Mb/s")
        )
    )]
    pub minimum_rate: BitRate,
    /// In flight at most: anything, one BDP, or BDP x rate / line rate.
    #[schemars(extend(
        "default" = "scaled",
        "source" = format!("DCTCP paper; VAR_WIN of {HPCC_SIMULATOR}")
    ))]
    pub window: RateWindow,
}

/// How a DCTCP flow starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DctcpStart {
    /// With a window of one bandwidth-delay product.
    LineRate,
    /// With a small window that every unmarked acknowledgement enlarges, until the first mark.
    SlowStart,
}

impl Parameters for DctcpConfig {
    fn uses_marks(&self) -> bool {
        true
    }
}

/// The state of one DCTCP flow.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Dctcp {
    rate: PacedRate,
    marked: MarkedShare,
    /// Rate that a round without a cut adds (bit/s).
    increase: u64,
    base_rtt: Time,
    is_slow_start: bool,
}

impl Dctcp {
    /// A flow that has sent nothing.
    pub fn new(config: &DctcpConfig, flow: &FlowFacts) -> Self {
        let path = flow.path;
        let mut rate = PacedRate::new(path, config.minimum_rate, config.window);
        let is_slow_start = config.start == DctcpStart::SlowStart;
        if is_slow_start {
            let window = u64::from(config.initial_window_packets) * u64::from(path.payload);
            rate.set(bits_per_second(window, path.base_rtt));
        }
        Dctcp {
            rate,
            marked: MarkedShare::new(config.gain),
            increase: config.increase.as_rate(path),
            base_rtt: path.base_rtt,
            is_slow_start,
        }
    }
}

impl AtSource for Dctcp {
    fn on_acknowledgement(&mut self, _now: Time, ack: &Acknowledgement, view: &FlowView) {
        let is_round_end = self.marked.count(ack.is_marked, view);
        if ack.is_marked {
            self.is_slow_start = false;
            if let Some(kept) = self.marked.cut(view.next) {
                self.rate.scale(kept);
            }
        } else if self.is_slow_start {
            let step = bits_per_second(view.newly_acknowledged, self.base_rtt);
            self.rate.set(self.rate.get().saturating_add(step));
        }
        if is_round_end && !self.is_slow_start && !self.marked.is_cut() {
            self.rate.set(self.rate.get().saturating_add(self.increase));
        }
    }

    /// A switch dropped a packet of the flow: the rate falls to the minimum rate.
    fn on_switch_drop(&mut self, _now: Time) {
        self.is_slow_start = false;
        self.rate.set_minimum();
    }

    /// The host is paused: the flow keeps the share `kept` of its rate (FAFC, Algorithm 3).
    fn on_timed_pause(&mut self, _now: Time, kept: f64) {
        self.is_slow_start = false;
        self.rate.scale(kept);
    }

    /// Recovery has detected a loss, or its timer has expired: the window is halved.
    fn on_loss(&mut self, _now: Time, signal: LossSignal) {
        match signal {
            LossSignal::FastRetransmit { .. } | LossSignal::Timeout { .. } => {
                self.is_slow_start = false;
                self.rate.scale(0.5);
            }
            LossSignal::RecoveryExit { .. } => {}
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
    use penstock_units::Bytes;

    use super::*;
    use crate::fixture;

    const JSON: &str = concat!(
        r#"{"kind":"dctcp","gain":0.0625,"start":"slow-start","initial_window_packets":10,"#,
        r#""increase":{"kind":"window","size":1000},"minimum_rate":100000000,"window":"scaled"}"#
    );

    fn dctcp(start: DctcpStart) -> Dctcp {
        growing(start, Increase::Window { size: Bytes::new(500) })
    }

    fn growing(start: DctcpStart, increase: Increase) -> Dctcp {
        let config = DctcpConfig {
            gain: 1.0 / 16.0,
            start,
            initial_window_packets: 10,
            increase,
            minimum_rate: BitRate::from_mbps(100),
            window: RateWindow::Scaled,
        };
        Dctcp::new(&config, &fixture::flow(&fixture::path()))
    }

    /// The acknowledgement of packet number `packet` (from 1), with `in_flight` packets behind it.
    fn acknowledge(dctcp: &mut Dctcp, packet: u64, in_flight: u64, is_marked: bool) {
        let view = fixture::view(packet, packet + in_flight, 1);
        let ack = Acknowledgement { is_marked, ..Acknowledgement::plain(0) };
        dctcp.on_acknowledgement(Time::ZERO, &ack, &view);
    }

    #[test]
    fn a_line_rate_start_is_unpaced_until_the_first_cut_which_halves_it() {
        let mut dctcp = dctcp(DctcpStart::LineRate);
        assert_eq!((dctcp.window(), dctcp.rate()), (100_000, None));
        acknowledge(&mut dctcp, 1, 99, true); // alpha is 1
        assert_eq!((dctcp.window(), dctcp.rate()), (50_000, Some(BitRate::from_gbps(50))));
    }

    #[test]
    fn there_is_one_cut_per_round_trip_and_no_increase_in_it() {
        let mut dctcp = dctcp(DctcpStart::LineRate);
        acknowledge(&mut dctcp, 1, 99, true);
        for packet in 2..=100 {
            acknowledge(&mut dctcp, packet, 49, true);
        }
        assert_eq!(dctcp.window(), 50_000);
        acknowledge(&mut dctcp, 101, 49, true); // alpha is still 1: every byte was marked
        assert_eq!(dctcp.window(), 25_000);
    }

    #[test]
    fn a_round_without_marks_adds_the_increase_once() {
        let mut dctcp = dctcp(DctcpStart::LineRate);
        acknowledge(&mut dctcp, 1, 49, true);
        for packet in 2..=51 {
            acknowledge(&mut dctcp, packet, 49, false);
        }
        assert_eq!(dctcp.window(), 50_500);
        for packet in 52..=100 {
            acknowledge(&mut dctcp, packet, 49, false);
        }
        assert_eq!(dctcp.window(), 50_500);
        acknowledge(&mut dctcp, 101, 49, false);
        assert_eq!(dctcp.window(), 51_000);
    }

    #[test]
    fn slow_start_doubles_per_round_trip_and_the_first_mark_ends_it_for_ever() {
        let mut dctcp = dctcp(DctcpStart::SlowStart);
        assert_eq!((dctcp.window(), dctcp.rate()), (10_000, Some(BitRate::from_gbps(10))));
        for packet in 1..=10 {
            acknowledge(&mut dctcp, packet, 10 + packet, false);
        }
        assert_eq!(dctcp.window(), 20_000);
        acknowledge(&mut dctcp, 11, 19, true);
        assert!(dctcp.window() < 11_000, "{}", dctcp.window());
        let after_cut = dctcp.window();
        // The cut lasts to packet 30. The first round that ends after packet 30 ends with packet 35.
        for packet in 12..=34 {
            acknowledge(&mut dctcp, packet, 10, false);
        }
        assert_eq!(dctcp.window(), after_cut);
        acknowledge(&mut dctcp, 35, 10, false);
        assert_eq!(dctcp.window(), after_cut + 500);
    }

    #[test]
    fn the_window_never_leaves_its_bounds() {
        let mut dctcp = dctcp(DctcpStart::LineRate);
        for packet in 1..=5_000 {
            acknowledge(&mut dctcp, packet, 0, true);
        }
        assert_eq!(dctcp.window(), 100); // 100 Mb/s for 8 us
        for packet in 5_001..=10_000 {
            acknowledge(&mut dctcp, packet, 0, false);
        }
        assert_eq!(dctcp.window(), 100_000);
    }

    #[test]
    fn the_largest_increase_leads_to_the_line_rate() {
        let rate = BitRate::from_bps(u64::MAX);
        let mut dctcp = growing(DctcpStart::LineRate, Increase::Rate { rate });
        acknowledge(&mut dctcp, 1, 0, true);
        for packet in 2..=3 {
            acknowledge(&mut dctcp, packet, 0, false);
        }
        assert_eq!(dctcp.window(), 100_000);
    }

    #[test]
    fn a_timed_pause_leaves_a_share_of_the_rate_at_once() {
        let mut dctcp = dctcp(DctcpStart::SlowStart);
        dctcp.on_timed_pause(Time::ZERO, 0.4); // 600 of 1,000 ns
        assert_eq!((dctcp.window(), dctcp.rate()), (4_000, Some(BitRate::from_gbps(4))));
        acknowledge(&mut dctcp, 1, 3, false);
        assert_eq!(dctcp.window(), 4_500); // the increase of a round, no slow start
        dctcp.on_timed_pause(Time::ZERO, 0.0);
        assert_eq!(dctcp.rate(), Some(BitRate::from_mbps(100)));
    }

    #[test]
    fn losses_reduce_the_window() {
        let mut dctcp = dctcp(DctcpStart::SlowStart);
        dctcp.on_loss(Time::ZERO, LossSignal::FastRetransmit { in_flight: 0 });
        assert_eq!(dctcp.window(), 5_000);
        for (is_repeated, halved) in [(false, 2_500), (true, 1_250)] {
            dctcp.on_loss(Time::ZERO, LossSignal::Timeout { in_flight: 0, is_repeated });
            assert_eq!(dctcp.window(), halved);
        }
        dctcp.on_switch_drop(Time::ZERO);
        assert_eq!(dctcp.rate(), Some(BitRate::from_mbps(100)));
        acknowledge(&mut dctcp, 1, 3, false);
        assert_eq!(dctcp.window(), 600); // the increase of a round, no slow start
    }

    #[test]
    fn parameters_are_read_and_written_and_refused_out_of_bounds() {
        fixture::check_controller(
            JSON,
            &[
                (JSON.replace("0.0625", "1.5"), "gain"),
                (JSON.replace(":10,", ":0,"), "initial_window_packets"),
                (JSON.replace("100000000", "0"), "minimum_rate"),
                (JSON.replace(":1000}", ":0}"), "increase.size"),
            ],
        );
    }
}
