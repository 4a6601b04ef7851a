//! CUBIC, stepped by hand through RFC 9438 Sec. 4, and compared with the closed forms of Sec. 4.3 and
//! 5.

use proptest::prelude::*;

use super::*;
use crate::fixture::{self, view};

const JSON: &str = concat!(
    r#"{"kind":"cubic","initial_window_packets":10,"steepness":0.4,"beta":0.7,"#,
    r#""fast_convergence":true}"#
);

/// A flow with a window of `packets`.
fn cubic(packets: u32, fast_convergence: bool) -> Cubic {
    let config = CubicConfig {
        initial_window_packets: packets,
        steepness: 0.4,
        beta: 0.7,
        fast_convergence,
    };
    Cubic::new(&config, &fixture::flow(&fixture::path()))
}

/// A loss with `packets` in flight, then the end of the recovery with as many in flight.
fn lose(cubic: &mut Cubic, packets: u64) {
    let in_flight = packets * 1_000;
    cubic.on_loss(Time::ZERO, LossSignal::FastRetransmit { in_flight });
    cubic.on_loss(Time::ZERO, LossSignal::RecoveryExit { in_flight });
}

/// A packet of a full window is acknowledged at `now` after `round_trip`.
fn acknowledge(cubic: &mut Cubic, now: Time, round_trip: Time) {
    let ack =
        Acknowledgement { sent_at: now.saturating_sub(round_trip), ..Acknowledgement::plain(0) };
    cubic.on_acknowledgement(now, &ack, &view(1, cubic.window() / 1_000, 1));
}

/// The acknowledgement of one packet. Packets up to `acknowledged` are then acknowledged, and all up to
/// `next` are sent.
fn echo(cubic: &mut Cubic, is_marked: bool, acknowledged: u64, next: u64) {
    let ack = Acknowledgement { is_marked, ..Acknowledgement::plain(0) };
    cubic.on_acknowledgement(Time::from_us(8), &ack, &view(acknowledged, next, 1));
}

#[track_caller]
fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value / expected - 1.0).abs() < tolerance, "{value} {expected}");
}

/// A loss every `period` packets at a fixed round-trip time.
struct Losses {
    round_trip: Time,
    period: u64,
}

impl Losses {
    /// The average window (packets), which equals the packets per round trip, in the later half of
    /// `periods` periods. Before the first period a packet is lost at a window of `start`.
    fn average(&self, start: f64, periods: u64) -> f64 {
        let length = self.round_trip.as_ps() as f64;
        let mut cubic = cubic(10, false);
        cubic.window = start;
        lose(&mut cubic, start as u64);
        let (mut now, mut sent, mut settled) = (length, 0, 0.0);
        while sent < periods * self.period {
            let packets = cubic.window() / 1_000;
            for _ in 0..packets {
                now += length / packets as f64;
                acknowledge(&mut cubic, Time::from_ps(now as u64), self.round_trip);
                sent += 1;
                if sent % self.period == 0 {
                    lose(&mut cubic, packets);
                    if sent == periods / 2 * self.period {
                        settled = now;
                    }
                    break;
                }
            }
        }
        (periods / 2 * self.period) as f64 * length / (now - settled)
    }

    /// The average window by RFC 9438 Sec. 5, outside the Reno-friendly region.
    fn closed_form(&self) -> f64 {
        let (seconds, loss_rate) = (seconds(self.round_trip), 1.0 / self.period as f64);
        (0.4 * 3.7 / (4.0 * 0.3_f64)).powf(0.25) * (seconds / loss_rate).powf(0.75)
    }
}

/// The average of a cubic function that climbs from 0.7 of its plateau to the plateau: 1 - 0.3 / 4.
const SHARE: f64 = 0.925;

#[test]
fn the_average_window_is_that_of_the_deterministic_loss_model() {
    // Round trip (ms), packets from loss to loss, and the average: two rows of Table 1, then rows by
    // Sec. 5.1.
    for (round_trip, period, expected) in [
        (100, 10_000, 187.0),
        (100, 100_000, 1_054.0),
        (100, 300_000, 2_403.0),
        (500, 10_000, 627.0),
        (20, 1_000_000, 1_773.0),
    ] {
        let losses = Losses { round_trip: Time::from_ms(round_trip), period };
        let form = losses.closed_form();
        near(expected, form, 0.003);
        near(losses.average(form / SHARE, 12), form, 0.015);
    }
}

/// Near the closed form the plateau hardly moves from loss to loss: a deviation by the
/// share d shrinks by 0.7 d^3 per period, so in 300 periods it falls to 0.05.
#[test]
fn the_average_window_comes_near_the_closed_form_from_both_sides() {
    let losses = Losses { round_trip: Time::from_ms(100), period: 10_000 };
    let form = losses.closed_form();
    for start in [0.8, 1.2] {
        near(losses.average(start * form / SHARE, 300), form, 0.055);
    }
}

#[test]
fn the_average_window_of_the_reno_friendly_region_is_renos() {
    // Tables 1 and 2: at 0.1 s 38, at 0.01 s 120 and 379; and at a data center's 10 us.
    for (round_trip, period, expected) in [
        (Time::from_ms(100), 1_000, 38.0),
        (Time::from_ms(10), 10_000, 120.0),
        (Time::from_ms(10), 100_000, 379.0),
        (Time::from_us(10), 10_000, 120.0),
        (Time::from_us(10), 100_000, 379.0),
    ] {
        let form = (1.5 * period as f64).sqrt(); // Sec. 4.3: AIMD(1, 0.5), and AIMD(9/17, 0.7)
        near(expected, form, 0.03);
        near((9.0 / 17.0 * 1.7 / 0.6 * period as f64).sqrt(), form, 1e-12);
        near(Losses { round_trip, period }.average(form, 24), form, 0.012);
    }
}

#[test]
fn slow_start_adds_a_packet_per_acknowledgement() {
    let mut cubic = cubic(10, true);
    assert_eq!(cubic.window(), 10_000);
    for _ in 0..10 {
        acknowledge(&mut cubic, Time::from_us(8), Time::from_us(8));
    }
    assert_eq!(cubic.window(), 20_000);
    let ack = Acknowledgement::plain(0);
    cubic.on_acknowledgement(Time::from_us(8), &ack, &view(90, 90, 90)); // at most a packet
    let short = FlowView { newly_acknowledged: 400, ..view(1, 1, 0) };
    cubic.on_acknowledgement(Time::from_us(8), &ack, &short);
    cubic.on_acknowledgement(Time::from_us(8), &ack, &view(1, 1, 0)); // a duplicate
    assert_eq!(cubic.window, 21.4);
}

#[test]
fn the_window_climbs_back_to_its_plateau_in_k_seconds() {
    let (begin, round_trip) = (Time::from_ms(500), Time::from_ms(100));
    let mut cubic = cubic(99, false);
    lose(&mut cubic, 70);
    assert_eq!((cubic.window(), cubic.threshold, cubic.plateau), (49_000, 49.0, 99.0));
    acknowledge(&mut cubic, begin, round_trip);
    let stage = cubic.stage.unwrap();
    assert_eq!(stage.began, begin);
    near(stage.climb, 5.0, 1e-12); // K = cbrt((99 - 49) / 0.4)
    // W_cubic(0) is 49, and Reno has a little more: 9/17 of a packet per round trip.
    near(cubic.window, 49.0 + 9.0 / 17.0 / 49.0, 1e-12);
    // W_cubic(t + RTT) = 0.4 (t + RTT - 5)^3 + 99. It is concave up to the plateau, then convex.
    for (ahead, target) in [(3_000, 95.8), (5_000, 99.0), (7_000, 102.2), (9_000, 124.6)] {
        cubic.window = target - 0.5;
        acknowledge(&mut cubic, begin + Time::from_ms(ahead) - round_trip, round_trip);
        near(cubic.window, target - 0.5 + 0.5 / (target - 0.5), 1e-12);
    }
}

#[test]
fn the_target_is_one_to_one_and_a_half_windows() {
    let mut cubic = cubic(100, false);
    lose(&mut cubic, 100);
    acknowledge(&mut cubic, Time::from_ms(100), Time::from_ms(100));
    let before = cubic.window;
    acknowledge(&mut cubic, Time::from_ms(60_000), Time::from_ms(100));
    assert_eq!(cubic.window, before + 0.5);
    cubic.window = 1e9; // the function is below it
    acknowledge(&mut cubic, Time::from_ms(60_001), Time::from_ms(100));
    assert_eq!(cubic.window, 1e9);
}

#[test]
fn the_friendly_region_adds_alpha_per_round_trip_and_then_a_packet() {
    let round_trip = Time::from_us(8);
    let mut cubic = cubic(10, true);
    lose(&mut cubic, 10);
    assert_eq!((cubic.window(), cubic.prior), (7_000, 10.0));
    acknowledge(&mut cubic, round_trip, round_trip);
    near(cubic.window, 7.0 + 9.0 / 17.0 / 7.0, 1e-12);
    let mut packets = 1;
    while cubic.window < 10.0 {
        acknowledge(&mut cubic, round_trip, round_trip);
        packets += 1;
    }
    // w^2 grows by 2 alpha a packet: (100 - 49) / (18 / 17) = 48.2 packets.
    assert_eq!(packets, 48);
    let before = cubic.window;
    acknowledge(&mut cubic, round_trip, round_trip);
    near(cubic.window, before + 1.0 / before, 1e-12);
    // Two packets with one acknowledgement count twice (segments_acked).
    let (before, ack) = (cubic.window, Acknowledgement::plain(0));
    cubic.on_acknowledgement(round_trip, &ack, &view(2, 2, 2));
    near(cubic.window, before + 2.0 / before, 1e-12);
}

#[test]
fn a_window_that_is_not_used_does_not_grow_and_its_stage_begins_anew() {
    let round_trip = Time::from_us(8);
    let mut cubic = cubic(10, true);
    lose(&mut cubic, 10);
    acknowledge(&mut cubic, round_trip, round_trip);
    let first = 7.0 + 9.0 / 17.0 / 7.0;
    assert_eq!(cubic.stage.unwrap().began, round_trip);
    cubic.most_in_flight.forget();
    let (ack, unused) = (Acknowledgement::plain(0), view(1, 6, 1)); // 6 packets of 7 are in flight
    for _ in 0..100 {
        cubic.on_acknowledgement(round_trip, &ack, &unused);
    }
    near(cubic.window, first, 1e-12);
    let later = Time::from_ms(10_000);
    acknowledge(&mut cubic, later, round_trip);
    assert_eq!(cubic.stage.unwrap().began, later);
    near(cubic.window, first + 9.0 / 17.0 / first, 1e-12);
}

#[test]
fn fast_convergence_lowers_the_plateau_of_a_window_that_falls() {
    for (fast_convergence, expected) in [(true, 68.0), (false, 80.0)] {
        let mut cubic = cubic(100, fast_convergence);
        lose(&mut cubic, 100);
        assert_eq!(cubic.plateau, 100.0);
        cubic.window = 80.0;
        lose(&mut cubic, 80);
        assert_eq!((cubic.plateau, cubic.prior), (expected, 80.0)); // 80 x 1.7 / 2
        near(cubic.window, 56.0, 1e-12);
        cubic.window = 90.0;
        lose(&mut cubic, 90);
        assert_eq!(cubic.plateau, 90.0);
    }
}

#[test]
fn a_loss_cuts_what_is_in_flight_and_the_recovery_adds_nothing() {
    let mut cubic = cubic(100, true);
    cubic.on_loss(Time::ZERO, LossSignal::FastRetransmit { in_flight: 40_000 });
    assert_eq!((cubic.window(), cubic.prior, cubic.plateau), (28_000, 100.0, 100.0));
    for _ in 0..40 {
        acknowledge(&mut cubic, Time::from_us(8), Time::from_us(8));
        echo(&mut cubic, true, 1, 41);
    }
    assert_eq!(cubic.window(), 28_000);
    cubic.on_loss(Time::ZERO, LossSignal::RecoveryExit { in_flight: 3_000 });
    assert_eq!((cubic.window(), cubic.threshold), (4_000, 28.0)); // no burst
    acknowledge(&mut cubic, Time::from_us(8), Time::from_us(8));
    assert_eq!((cubic.window(), cubic.stage.is_none()), (5_000, true)); // slow start
    cubic.on_loss(Time::ZERO, LossSignal::RecoveryExit { in_flight: 0 });
    assert_eq!(cubic.window(), 5_000);
}

#[test]
fn a_timeout_starts_again_with_one_packet_and_a_plateau_of_its_own() {
    let (round_trip, repeated) = (Time::from_ms(100), true);
    let mut cubic = cubic(30, true);
    lose(&mut cubic, 30);
    cubic.window = 30.0;
    let timeout = |in_flight, is_repeated| LossSignal::Timeout { in_flight, is_repeated };
    cubic.on_loss(Time::ZERO, timeout(30_000, !repeated));
    assert_eq!((cubic.window(), cubic.threshold, cubic.prior), (1_000, 21.0, 30.0));
    cubic.on_loss(Time::ZERO, timeout(1_000, repeated));
    assert_eq!((cubic.window(), cubic.threshold, cubic.prior), (1_000, 21.0, 30.0));
    for _ in 0..20 {
        acknowledge(&mut cubic, round_trip, round_trip);
    }
    assert_eq!((cubic.window, cubic.stage.is_none()), (21.0, true));
    acknowledge(&mut cubic, round_trip, round_trip);
    let stage = cubic.stage.unwrap();
    assert_eq!((cubic.plateau, stage.climb), (21.0, 0.0));
    // Sec. 4.8: W_est starts at the window at the beginning of the stage, which is 21.
    near(stage.reno, 21.0 + 9.0 / 17.0 / 21.0, 1e-12);
}

#[test]
fn windows_and_thresholds_have_the_least_values_of_the_rfc() {
    let mut lost = cubic(2, true);
    lose(&mut lost, 1);
    assert_eq!((lost.window(), lost.threshold), (2_000, 2.0));
    lost.on_loss(Time::ZERO, LossSignal::Timeout { in_flight: 0, is_repeated: false });
    assert_eq!((lost.window(), lost.threshold), (1_000, 2.0));
    let mut marked = cubic(1, true);
    echo(&mut marked, true, 1, 1);
    assert_eq!((marked.window, marked.threshold), (1.0, 2.0));
}

#[test]
fn a_mark_cuts_once_per_window_of_data() {
    let mut cubic = cubic(20, true);
    echo(&mut cubic, true, 1, 20); // 19 in flight, and the one that is acknowledged
    assert_eq!((cubic.window(), cubic.prior, cubic.plateau), (14_000, 20.0, 20.0));
    for packet in 2..=20 {
        echo(&mut cubic, packet % 2 == 0, packet, 20 + packet / 2);
    }
    assert_eq!(cubic.window, 14.0);
    echo(&mut cubic, false, 21, 34);
    near(cubic.window, 14.0 + 9.0 / 17.0 / 14.0, 1e-12);
    echo(&mut cubic, true, 22, 35);
    near(cubic.window, 0.7 * 14.0, 1e-12);
    near(cubic.plateau, 0.85 * (14.0 + 9.0 / 17.0 / 14.0), 1e-12); // fast convergence
}

#[test]
fn a_mark_and_a_loss_in_one_window_of_data_cut_once() {
    let loss = LossSignal::FastRetransmit { in_flight: 20_000 };
    let mut cubic = cubic(20, true);
    echo(&mut cubic, true, 1, 20);
    cubic.on_loss(Time::ZERO, loss); // the packet after the marked one
    assert_eq!((cubic.window(), cubic.is_recovering), (14_000, true));
    cubic.on_loss(Time::ZERO, LossSignal::RecoveryExit { in_flight: 14_000 });
    assert_eq!(cubic.window(), 14_000);
    echo(&mut cubic, true, 22, 35); // what left since counts anew
    near(cubic.window, 0.7 * 14.0, 1e-12);
    echo(&mut cubic, false, 35, 40);
    let before = cubic.window;
    cubic.on_loss(Time::ZERO, loss); // a packet that left after the cut
    assert_eq!((cubic.window, cubic.prior), (14.0, before));
}

#[test]
fn a_negative_acknowledgement_with_a_mark_cuts_what_is_in_flight() {
    let mut cubic = cubic(20, true);
    let negative =
        Acknowledgement { is_marked: true, is_negative: true, ..Acknowledgement::plain(0) };
    cubic.on_acknowledgement(Time::from_us(8), &negative, &view(0, 20, 1));
    assert_eq!(cubic.window, 14.0);
}

#[test]
fn the_round_trip_time_is_smoothed() {
    let mut cubic = cubic(10, true);
    acknowledge(&mut cubic, Time::from_us(100), Time::from_us(8));
    near(cubic.round_trip.unwrap(), 8e-6, 1e-12);
    acknowledge(&mut cubic, Time::from_us(100), Time::from_us(16));
    near(cubic.round_trip.unwrap(), 9e-6, 1e-12);
    let ack = Acknowledgement { sent_at: Time::ZERO, ..Acknowledgement::plain(0) };
    cubic.on_acknowledgement(Time::from_us(100), &ack, &view(1, 9, 0)); // no sample
    near(cubic.round_trip.unwrap(), 9e-6, 1e-12);
}

#[test]
fn parameters_are_read_and_written_and_refused_out_of_bounds() {
    let config = fixture::check_controller(
        JSON,
        &[
            (JSON.replace("10", "0"), "initial_window_packets"),
            (JSON.replace("0.4", "0.0"), "steepness"),
            (JSON.replace("0.7", "0.0"), "beta"),
            (JSON.replace("0.7", "1.0"), "beta"),
        ],
    );
    assert!(config.needs_losses() && config.uses_timestamp() && !config.uses_marks());
}

/// Anything that may happen to a flow that has `packets` in flight.
fn signal(kind: u8, packets: u64) -> LossSignal {
    let in_flight = packets * 1_000;
    match kind {
        0 => LossSignal::FastRetransmit { in_flight },
        1 => LossSignal::RecoveryExit { in_flight },
        kind => LossSignal::Timeout { in_flight, is_repeated: kind == 2 },
    }
}

proptest! {
    #[test]
    fn a_packet_may_leave_whatever_happens(
        steepness in prop_oneof![Just(0.4), Just(f64::MIN_POSITIVE), Just(1e300)],
        beta in prop_oneof![Just(0.7), Just(1e-9), Just(0.999_999)],
        events in prop::collection::vec((0u8..12, 0u64..40, 0u64..50_000_000), 0..300),
    ) {
        let mut cubic = Cubic { steepness, beta, ..cubic(10, true) };
        let (mut now, mut acknowledged) = (Time::ZERO, 0);
        for (kind, packets, wait) in events {
            now += Time::from_us(wait);
            if kind < 4 {
                cubic.on_loss(now, signal(kind, packets));
            } else {
                let newly = u64::from(kind > 5);
                acknowledged += newly;
                let is_marked = kind % 4 == 0;
                let ack = Acknowledgement { is_marked, ..Acknowledgement::plain(0) };
                let view = view(acknowledged, acknowledged + packets, newly);
                cubic.on_acknowledgement(now, &ack, &view);
            }
            prop_assert!(cubic.window() >= 1_000 && cubic.window.is_finite(), "{cubic:?}");
            prop_assert!(cubic.threshold >= 2.0, "{cubic:?}");
        }
    }
}
