//! DCTCP as TCP has it: NewReno's window, clocked by acknowledgements, which marks cut in proportion to the
//! share of marked bytes.
//!
//! M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, and RFC 8257. The window grows as without
//! DCTCP (RFC 8257 Sec. 3.4, here [`crate::control::new_reno`]), and losses count as without DCTCP (Sec.
//! 3.5). This is the DCTCP of TCP simulators and of AFQ's evaluation (N. Sharma et al., NSDI
//! 2018, Sec. 6.2.2). [`crate::control::dctcp`] is that of the RDMA simulators, which pace a window of at
//! most a bandwidth-delay product.
//!
//! Left out: the delayed-acknowledgement state machine of RFC 8257 Sec. 3.2, because every packet is
//! acknowledged and echoes its own mark.
//!
//! Where the sources are silent:
//! - After a cut the window does not grow for a round trip, as after any reaction to marks (RFC 3168 Sec.
//!   6.1.2, as in [`crate::control::cubic`]).
//! - A cut leaves a packet at least, the smallest window of RFC 3168 Sec. 6.1.2.
//! - In a fast recovery marks do not cut, as the window has been halved (RFC 3168 Sec. 6.1.2). A loss behind
//!   a cut halves it all the same: losses count as without DCTCP.
//! - A timeout ends a cut and begins a new round: what the marks were about has been sent before it.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::control::hooks::{AtSource, Parameters};
use crate::control::marked_share::MarkedShare;
use crate::control::new_reno::{NewReno, NewRenoConfig};
use crate::flow::{FlowFacts, FlowView, LossSignal};
use crate::path::Acknowledgement;

/// Parameters of [`RenoDctcp`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenoDctcpConfig {
    /// Weight of a new estimate (g).
    #[schemars(
        range(max = 1),
        extend("exclusiveMinimum" = 0, "default" = 0.0625, "source" = "RFC 8257 (1/16)")
    )]
    pub gain: f64,
    /// First window (IW).
    #[schemars(
        range(min = 1),
        extend("unit" = "packets", "default" = 10, "source" = "RFC 6928")
    )]
    pub initial_window_packets: u32,
}

impl Parameters for RenoDctcpConfig {
    fn uses_marks(&self) -> bool {
        true
    }

    fn keeps_connections(&self) -> bool {
        true
    }
}

/// The state of one flow.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct RenoDctcp {
    reno: NewReno,
    marked: MarkedShare,
}

impl RenoDctcp {
    /// A flow that has sent nothing.
    pub fn new(config: &RenoDctcpConfig, flow: &FlowFacts) -> Self {
        let initial_window_packets = config.initial_window_packets;
        RenoDctcp {
            reno: NewReno::new(&NewRenoConfig { initial_window_packets }, flow),
            marked: MarkedShare::new(config.gain),
        }
    }
}

impl AtSource for RenoDctcp {
    fn on_acknowledgement(&mut self, now: Time, ack: &Acknowledgement, view: &FlowView) {
        self.marked.count(ack.is_marked, view);
        if ack.is_marked
            && !self.reno.is_recovering()
            && let Some(kept) = self.marked.cut(view.next)
        {
            self.reno.keep(kept);
        }
        if !self.marked.is_cut() {
            self.reno.on_acknowledgement(now, ack, view);
        }
    }

    fn on_next_flow(&mut self, is_late: bool) {
        self.reno.on_next_flow(is_late);
    }

    fn on_loss(&mut self, now: Time, signal: LossSignal) {
        if let LossSignal::Timeout { .. } = signal {
            self.marked.begin_anew();
        }
        self.reno.on_loss(now, signal);
    }

    #[inline]
    fn window(&self) -> u64 {
        self.reno.window()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    const JSON: &str = r#"{"kind":"reno-dctcp","gain":0.0625,"initial_window_packets":10}"#;

    fn flow(gain: f64) -> RenoDctcp {
        let config = RenoDctcpConfig { gain, initial_window_packets: 10 };
        RenoDctcp::new(&config, &fixture::flow(&fixture::path()))
    }

    /// The acknowledgement of packet number `packet` (from 1), with `in_flight` packets behind it.
    fn acknowledge(flow: &mut RenoDctcp, packet: u64, in_flight: u64, is_marked: bool) {
        let view = fixture::view(packet, packet + in_flight, 1);
        let ack = Acknowledgement { is_marked, ..Acknowledgement::plain(0) };
        flow.on_acknowledgement(Time::ZERO, &ack, &view);
    }

    #[test]
    fn it_grows_as_tcp_beyond_any_product_and_is_not_paced() {
        let mut flow = flow(0.0625);
        for packet in 1..=200 {
            acknowledge(&mut flow, packet, 200, false);
        }
        assert_eq!((flow.window(), flow.rate()), (210_000, None)); // a product is 100,000 bytes
    }

    #[test]
    fn a_mark_ends_slow_start_with_a_cut_by_half_of_alpha() {
        let mut flow = flow(1.0);
        for packet in 1..=16 {
            acknowledge(&mut flow, packet, 10, false);
        }
        assert_eq!(flow.window(), 22_000); // twice what is in flight
        // Alpha is 0 since packet 12 has ended a round, so the first mark cuts nothing. It ends slow start,
        // and the window stays until packet 27.
        for packet in 17..=27 {
            acknowledge(&mut flow, packet, 10, packet <= 21);
        }
        assert_eq!(flow.window(), 22_000);
        // The round of packets 13 to 23 had 5 marks of 11.
        acknowledge(&mut flow, 28, 10, true);
        assert_eq!(flow.window(), 22_000 * 17 / 22 / 1_000 * 1_000);
    }

    #[test]
    fn losses_are_those_of_new_reno_and_marks_in_a_recovery_cut_no_more() {
        let mut flow = flow(1.0);
        flow.on_loss(Time::ZERO, LossSignal::FastRetransmit { in_flight: 40_000 });
        assert_eq!(flow.window(), 20_000);
        acknowledge(&mut flow, 1, 39, true);
        assert_eq!(flow.window(), 20_000);
        flow.on_loss(Time::ZERO, LossSignal::RecoveryExit { in_flight: 30_000 });
        acknowledge(&mut flow, 2, 39, true);
        assert_eq!(flow.window(), 10_000); // alpha is still 1
    }

    #[test]
    fn a_timeout_ends_a_cut_and_slow_start_follows() {
        let mut flow = flow(1.0);
        acknowledge(&mut flow, 1, 100, true); // cuts until packet 101
        flow.on_loss(Time::ZERO, LossSignal::Timeout { in_flight: 40_000, is_repeated: false });
        assert_eq!(flow.window(), 1_000);
        for packet in 2..=4 {
            acknowledge(&mut flow, packet, 1, false);
        }
        assert_eq!(flow.window(), 4_000);
        // Packets 2 to 4 had no mark, so that alpha is 0 and the next mark cuts nothing.
        acknowledge(&mut flow, 5, 1, true);
        assert_eq!(flow.window(), 4_000);
    }

    #[test]
    fn the_next_flow_of_a_connection_keeps_the_window_and_a_late_one_the_threshold() {
        let mut flow = flow(1.0);
        flow.on_loss(Time::ZERO, LossSignal::FastRetransmit { in_flight: 40_000 });
        flow.on_loss(Time::ZERO, LossSignal::RecoveryExit { in_flight: 30_000 });
        flow.on_next_flow(false);
        assert_eq!(flow.window(), 20_000);
        flow.on_next_flow(true);
        assert_eq!(flow.window(), 10_000);
        for packet in 1..=10 {
            acknowledge(&mut flow, packet, 10, false);
        }
        assert_eq!(flow.window(), 20_000); // slow start up to the threshold
    }

    #[test]
    fn a_packet_is_left_of_the_smallest_window() {
        let mut flow = flow(1.0);
        for packet in 0..50 {
            acknowledge(&mut flow, 1 + packet, 0, true);
        }
        assert_eq!(flow.window(), 1_000);
    }

    #[test]
    fn parameters_are_read_and_written_and_refused_out_of_bounds() {
        fixture::check_controller(
            JSON,
            &[
                (JSON.replace("0.0625", "1.5"), "gain"),
                (JSON.replace(":10}", ":0}"), "initial_window_packets"),
            ],
        );
    }
}
