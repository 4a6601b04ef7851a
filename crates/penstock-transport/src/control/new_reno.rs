//! The congestion control of TCP NewReno: the window doubles per round trip up to a threshold, grows by
//! a packet per round trip above the threshold, and is halved by a loss.
//!
//! Sources: RFC 5681 Sec. 3.1 and 3.2 (slow start, congestion avoidance, fast recovery), RFC 6582 Sec.
//! 3.2 (how a fast recovery ends), RFC 6928 (the initial window). The AFQ paper's TCP uses this
//! congestion control (N. Sharma et al., NSDI 2018, Sec. 6.2.2). Recovery
//! ([`crate::recovery::fast_retransmit`]) decides what is sent again and when. Recovery also inflates
//! the window in a fast recovery. A window that the NIC leaves unused does not grow
//! (`crate::control::most_in_flight`).
//!
//! The next flow of an open connection goes on with the window. After a timeout without packets it begins
//! with the initial window, if that is smaller (RFC 5681 Sec. 4.1), and the threshold stays.
//!
//! Left out: the receiver's window; appropriate byte counting (RFC 3465). Every acknowledgement counts once,
//! because every packet has one. The flow is not paced: a burst of acknowledgements causes a burst of
//! packets, as in TCP. The threshold of slow start is unlimited at first (RFC 5681 Sec. 3.1: arbitrarily
//! high).

use crate::control::hooks::{AtSource, Parameters};
use crate::control::most_in_flight::MostInFlight;
use crate::flow::{FlowFacts, FlowView, LossSignal};
use crate::path::Acknowledgement;
use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of [`NewReno`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRenoConfig {
    /// First window (IW).
    #[schemars(
        range(min = 1),
        extend("unit" = "packets", "default" = 10, "source" = "RFC 6928")
    )]
    pub initial_window_packets: u32,
}

impl Parameters for NewRenoConfig {
    fn needs_losses(&self) -> bool {
        true
    }

    fn keeps_connections(&self) -> bool {
        true
    }
}

/// The state of one NewReno flow.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct NewReno {
    /// cwnd in the RFCs (bytes). Fractions are kept so that small steps add up.
    window: f64,
    /// Slow start lasts while the window is below this (bytes); ssthresh in the RFCs.
    threshold: f64,
    /// Payload of a full packet (bytes); SMSS in the RFCs.
    packet: f64,
    /// Whether a fast recovery is on. The window does not change during one.
    is_recovering: bool,
    /// What bounds the growth of the window.
    most_in_flight: MostInFlight,
    /// The window of a new connection (bytes).
    initial: f64,
}

impl NewReno {
    /// A flow that has sent nothing.
    pub fn new(config: &NewRenoConfig, flow: &FlowFacts) -> Self {
        let path = flow.path;
        let packet = f64::from(path.payload);
        let initial = f64::from(config.initial_window_packets) * packet;
        NewReno {
            window: initial,
            threshold: f64::INFINITY,
            packet,
            is_recovering: false,
            most_in_flight: MostInFlight::default(),
            initial,
        }
    }

    /// Whether a fast recovery is on.
    pub(crate) fn is_recovering(&self) -> bool {
        self.is_recovering
    }

    /// Cuts the window to a share of itself, but not below a packet, and ends slow start.
    pub(crate) fn keep(&mut self, share: f64) {
        self.window = (self.window * share).max(self.packet);
        self.threshold = self.window;
        self.most_in_flight.forget();
    }
}

impl AtSource for NewReno {
    fn on_acknowledgement(&mut self, _now: Time, _ack: &Acknowledgement, view: &FlowView) {
        if self.is_recovering || view.newly_acknowledged == 0 {
            return;
        }
        self.most_in_flight.count(view);
        let is_slow_start = self.window < self.threshold;
        if !self.most_in_flight.lets_grow(self.window, self.packet, is_slow_start) {
            return;
        }
        self.window += if is_slow_start {
            self.packet.min(view.newly_acknowledged as f64) // RFC 5681 Eq. 2
        } else {
            self.packet * self.packet / self.window // RFC 5681 Eq. 3
        };
    }

    fn on_next_flow(&mut self, is_late: bool) {
        if is_late {
            self.window = self.window.min(self.initial); // RFC 5681 Sec. 4.1, RW
            self.most_in_flight.forget();
        }
    }

    fn on_loss(&mut self, _now: Time, signal: LossSignal) {
        self.most_in_flight.forget();
        let half = |in_flight: u64| (in_flight as f64 / 2.0).max(2.0 * self.packet); // RFC 5681 Eq. 4
        match signal {
            LossSignal::FastRetransmit { in_flight } => {
                self.threshold = half(in_flight);
                self.window = self.threshold;
                self.is_recovering = true;
            }
            LossSignal::RecoveryExit { in_flight } => {
                if self.is_recovering {
                    // RFC 6582 Sec. 3.2, step 3, the first of its two ways, which causes no burst.
                    let burstless = self.packet.max(in_flight as f64) + self.packet;
                    self.window = self.threshold.min(burstless);
                    self.is_recovering = false;
                }
            }
            LossSignal::Timeout { in_flight, is_repeated } => {
                if !is_repeated {
                    self.threshold = half(in_flight);
                }
                self.window = self.packet;
                self.is_recovering = false;
            }
        }
    }

    /// The window (bytes), >= one packet. The window is in whole packets, because a part of a packet
    /// does not let a packet leave (RFC 5681 Sec. 3.1: nothing beyond the window is sent).
    #[inline]
    fn window(&self) -> u64 {
        let packet = self.packet as u64;
        self.window as u64 / packet * packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    const JSON: &str = r#"{"kind":"new-reno","initial_window_packets":10}"#;

    fn new_reno() -> NewReno {
        NewReno::new(
            &NewRenoConfig { initial_window_packets: 10 },
            &fixture::flow(&fixture::path()),
        )
    }

    /// A flow that has `in_flight` bytes in flight gets the acknowledgement of `bytes` of them.
    fn acknowledge_some(new_reno: &mut NewReno, bytes: u64, in_flight: u64) {
        let view = FlowView { acknowledged: 0, next: in_flight - bytes, newly_acknowledged: bytes };
        new_reno.on_acknowledgement(Time::ZERO, &Acknowledgement::plain(0), &view);
    }

    /// The acknowledgements of `packets` packets of a flow that fills its window.
    fn acknowledge(new_reno: &mut NewReno, packets: u64) {
        for _ in 0..packets {
            acknowledge_some(new_reno, 1_000, new_reno.window());
        }
    }

    #[test]
    fn slow_start_adds_a_packet_per_acknowledgement() {
        let mut new_reno = new_reno();
        assert_eq!(new_reno.window(), 10_000);
        acknowledge(&mut new_reno, 10);
        assert_eq!(new_reno.window(), 20_000);
        acknowledge_some(&mut new_reno, 15_000, 20_000); // at most a packet
        acknowledge_some(&mut new_reno, 400, 20_000);
        assert_eq!(new_reno.window, 21_400.0);
    }

    #[test]
    fn a_loss_halves_what_is_in_flight_and_then_a_packet_is_added_per_round_trip() {
        let mut new_reno = new_reno();
        new_reno.on_loss(Time::ZERO, LossSignal::FastRetransmit { in_flight: 40_000 });
        acknowledge(&mut new_reno, 40);
        assert_eq!(new_reno.window(), 20_000); // the recovery adds nothing
        new_reno.on_loss(Time::ZERO, LossSignal::RecoveryExit { in_flight: 20_000 });
        assert_eq!(new_reno.window(), 20_000);
        acknowledge(&mut new_reno, 20);
        // 20 steps of 1/w each give a little less than 1, because w^2 grows by 2 a step.
        let expected = 1_000.0 * (400.0f64 + 2.0 * 20.0).sqrt();
        assert!((new_reno.window - expected).abs() < 2.0, "{} {expected}", new_reno.window);
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        let mut new_reno = new_reno();
        for _ in 0..50 {
            acknowledge_some(&mut new_reno, 1_000, 8_000);
        }
        assert_eq!(new_reno.window(), 16_000); // slow start: twice what is in flight
        new_reno.keep(0.5);
        for _ in 0..50 {
            acknowledge_some(&mut new_reno, 1_000, 8_000);
        }
        assert_eq!(new_reno.window(), 9_000); // a packet more
    }

    #[test]
    fn a_recovery_that_ends_with_little_in_flight_sends_no_burst() {
        let mut new_reno = new_reno();
        new_reno.on_loss(Time::ZERO, LossSignal::FastRetransmit { in_flight: 40_000 });
        new_reno.on_loss(Time::ZERO, LossSignal::RecoveryExit { in_flight: 3_000 });
        assert_eq!((new_reno.window(), new_reno.threshold), (4_000, 20_000.0));
        acknowledge(&mut new_reno, 1);
        assert_eq!(new_reno.window(), 5_000); // slow start again, up to the threshold
        new_reno.on_loss(Time::ZERO, LossSignal::RecoveryExit { in_flight: 0 });
        assert_eq!(new_reno.window(), 5_000);
    }

    #[test]
    fn a_timeout_starts_again_with_one_packet() {
        let mut new_reno = new_reno();
        new_reno.on_loss(Time::ZERO, LossSignal::Timeout { in_flight: 30_000, is_repeated: false });
        assert_eq!((new_reno.window(), new_reno.threshold), (1_000, 15_000.0));
        new_reno.on_loss(Time::ZERO, LossSignal::Timeout { in_flight: 1_000, is_repeated: true });
        assert_eq!((new_reno.window(), new_reno.threshold), (1_000, 15_000.0));
        acknowledge(&mut new_reno, 14);
        assert_eq!(new_reno.window, 15_000.0);
        acknowledge(&mut new_reno, 1);
        assert!(new_reno.window < 15_100.0);
    }

    #[test]
    fn the_threshold_is_two_packets_at_least() {
        let mut new_reno = new_reno();
        new_reno.on_loss(Time::ZERO, LossSignal::FastRetransmit { in_flight: 1_000 });
        assert_eq!(new_reno.window(), 2_000);
        new_reno.on_loss(Time::ZERO, LossSignal::Timeout { in_flight: 0, is_repeated: false });
        assert_eq!((new_reno.window(), new_reno.threshold), (1_000, 2_000.0));
    }

    #[test]
    fn parameters_are_read_and_written_and_refused_out_of_bounds() {
        fixture::check_controller(JSON, &[(JSON.replace("10", "0"), "initial_window_packets")]);
    }
}
