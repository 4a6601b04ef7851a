//! Both ends of packet-pair flow control, stepped by hand.

use penstock_units::Problems;

use super::*;
use crate::control::ControllerConfig;
use crate::fixture;

/// At 100 Gb/s a packet of 1,048 B takes 83.84 ns.
const PACKET: Time = Time::from_ps(83_840);

fn packet_pair(bytes_per_round: u64) -> PacketPair {
    let config = PacketPairConfig {
        gain: 0.25,
        mark_gain: 1.0 / 16.0,
        in_flight_factor: 1.5,
        bytes_per_round: Bytes::new(bytes_per_round),
        on_change: OnChange::Follow,
    };
    PacketPair::new(&config, &fixture::flow(&fixture::path()))
}

/// The acknowledgement of packet number `packet` (from 1), 8 us after it left. `next` packets have been
/// sent.
fn acknowledge(flow: &mut PacketPair, packet: u64, next: u64, pair_gap: Time, is_marked: bool) {
    let now = Time::from_us(100);
    let ack = Acknowledgement {
        cumulative: packet * 1_000,
        is_negative: false,
        received: 0,
        is_marked,
        sent_at: now - Time::from_us(8),
        pair_gap,
        path: 0,
        telemetry: &[],
    };
    let view =
        FlowView { acknowledged: packet * 1_000, next: next * 1_000, newly_acknowledged: 1_000 };
    flow.on_acknowledgement(now, &ack, &view);
}

/// A pair leaves back to back.
fn send_pair(flow: &mut PacketPair) {
    flow.on_send(Time::from_us(100), 1_048);
    flow.on_send(Time::from_us(100) + PACKET, 1_048);
}

/// Packets at line rate from the beginning of the last pair until the next pair may leave.
fn period(flow: &PacketPair) -> f64 {
    1.0 + 100e9 / flow.rate().unwrap().as_bps() as f64
}

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-6, "{value} {expected}");
}

#[test]
fn the_next_flow_of_a_connection_keeps_the_gap_unless_it_comes_late() {
    let mut flow = packet_pair(1_048);
    send_pair(&mut flow);
    acknowledge(&mut flow, 2, 2, PACKET * 4, false);
    flow.on_send(Time::from_us(100), 1_048); // an odd packet ends the flow
    let window = |flow: &PacketPair| (flow.opens_pair(), flow.window());
    flow.on_next_flow(false);
    let (opens_pair, known) = window(&flow);
    assert!(opens_pair && known > 30_000, "{known}");
    flow.on_next_flow(true);
    assert_eq!((window(&flow), flow.rate()), ((true, 1), None));
}

#[test]
fn the_first_pair_waits_and_its_gap_is_the_rate() {
    let mut flow = packet_pair(1_048);
    assert!(flow.opens_pair());
    assert_eq!((flow.window(), flow.rate()), (1, None));
    flow.on_send(Time::ZERO, 1_048);
    assert!(!flow.opens_pair());
    assert_eq!((flow.window(), flow.rate()), (u64::MAX, None)); // back to back
    flow.on_send(PACKET, 1_048);
    assert_eq!((flow.window(), flow.rate()), (1, None));
    acknowledge(&mut flow, 1, 2, Time::ZERO, false); // the first packet brings no gap
    assert_eq!(flow.window(), 1);
    acknowledge(&mut flow, 2, 2, PACKET * 4, false);
    // The flow has a quarter of the line: 25,000 B / 1.048 of payload in 8 us, times 1.5. The pair
    // leaves at once.
    assert_eq!((flow.window(), flow.rate()), (35_783, None));
    send_pair(&mut flow);
    near(period(&flow), 8.0); // two packets at a quarter of the line
}

#[test]
fn a_pair_waits_while_more_than_the_cap_is_in_flight() {
    let mut flow = packet_pair(1_048);
    send_pair(&mut flow);
    acknowledge(&mut flow, 2, 2, Time::from_us(1), false);
    // 1.5 times the 8 packets of 1,000 B that come in 8 us: a pair leaves behind 12,000 B, not behind
    // 12,001 B. A sender waits when as much is in flight as the window.
    assert_eq!(flow.window(), 12_001);
}

#[test]
fn later_gaps_are_averaged() {
    let mut flow = packet_pair(1_048);
    send_pair(&mut flow);
    acknowledge(&mut flow, 2, 2, PACKET * 4, false);
    send_pair(&mut flow);
    acknowledge(&mut flow, 4, 4, PACKET * 8, false); // 3/4 · 4 + 1/4 · 8 = 5
    send_pair(&mut flow);
    near(period(&flow), 10.0);
    acknowledge(&mut flow, 6, 6, PACKET, false); // 3/4 · 5 + 1/4 = 4
    send_pair(&mut flow);
    near(period(&flow), 8.0);
}

#[test]
fn the_share_of_marked_packets_throttles_the_rate_once_per_round_trip() {
    let mut flow = packet_pair(1_048);
    send_pair(&mut flow);
    acknowledge(&mut flow, 2, 4, PACKET, false); // the first round ends beyond packet 4
    acknowledge(&mut flow, 3, 6, Time::ZERO, true);
    send_pair(&mut flow);
    near(period(&flow), 2.0); // the whole line
    acknowledge(&mut flow, 4, 6, PACKET, true);
    acknowledge(&mut flow, 5, 8, Time::ZERO, false);
    send_pair(&mut flow);
    near(period(&flow), 2.0 * 48.0 / 47.0); // two of three: alpha = 1/16 · 2/3 = 1/24
    assert_eq!(flow.window(), 143_130); // the cap takes the whole share
    acknowledge(&mut flow, 9, 10, Time::ZERO, false);
    near(flow.alpha, 15.0 / 16.0 / 24.0); // a round trip without a mark
}

#[test]
fn an_estimate_counts_from_the_next_pair_on() {
    // Fig. 13 sets the timer of the next pair when a pair leaves.
    let mut flow = at_a_quarter(OnChange::Follow);
    near(period(&flow), 8.0);
    acknowledge(&mut flow, 4, 4, PACKET * 8, false); // 3/4 · 4 + 1/4 · 8 = 5
    near(period(&flow), 8.0);
    send_pair(&mut flow);
    near(period(&flow), 10.0);
}

#[test]
fn the_first_pair_is_spaced_over_a_long_round() {
    let mut flow = packet_pair(4 * 1_048);
    flow.on_send(Time::ZERO, 1_048);
    // The second packet leaves when a round has passed at line rate, 3 packets behind the first.
    assert_eq!(flow.rate(), Some(BitRate::from_gbps(25)));
    flow.on_send(PACKET * 4, 1_048);
    // Three other flows send a round each. So the pair's gap is four rounds, and the share is a
    // quarter.
    acknowledge(&mut flow, 2, 2, PACKET * 16, false);
    send_pair(&mut flow);
    near(period(&flow), 8.0);
    flow.on_send(Time::from_us(101), 1_048);
    assert_eq!(flow.rate(), None); // only the first pair is spaced
    let mut short = packet_pair(2 * 1_048);
    short.on_send(Time::ZERO, 1_048);
    assert_eq!(short.rate(), None); // two packets are not more than two
    assert!(packet_pair(2 * 1_048 + 1).spacing.is_some());
}

/// A flow that has sent and measured a first pair: its share is a quarter of the line.
fn at_a_quarter(on_change: OnChange) -> PacketPair {
    let config = PacketPairConfig {
        gain: 0.25,
        mark_gain: 1.0 / 16.0,
        in_flight_factor: 1.5,
        bytes_per_round: Bytes::new(1_048),
        on_change,
    };
    let mut flow = PacketPair::new(&config, &fixture::flow(&fixture::path()));
    send_pair(&mut flow);
    acknowledge(&mut flow, 2, 2, PACKET * 4, false);
    send_pair(&mut flow);
    flow
}

#[test]
fn cycles_are_skipped_in_proportion_to_a_decrease() {
    // AFQ 5. 8 us hold 95.4 packets at line rate: 23.9 at a quarter of it, 19.1 at a fifth. The 4.8 packets
    // too many are two pairs, and 0.8 of a packet is left.
    let mut flow = at_a_quarter(OnChange::SkipAndInject);
    near(period(&flow), 8.0);
    acknowledge(&mut flow, 4, 4, PACKET * 8, false); // 3/4 · 4 + 1/4 · 8 = 5
    near(period(&flow), 30.0); // the cycle of ten packets' time, and two that are skipped
    send_pair(&mut flow);
    near(period(&flow), 10.0);
    // At 5.5 a round trip holds 17.3 packets: 1.7 too many, and 0.8 from before are a pair.
    acknowledge(&mut flow, 6, 6, PACKET * 7, false);
    near(period(&flow), 22.0);
}

#[test]
fn pairs_are_injected_in_proportion_to_an_increase() {
    // 3/4 · 4 + 1/4 · 2 = 3.5: a round trip holds 27.3 packets, 3.4 more than before: one pair more.
    let mut flow = at_a_quarter(OnChange::SkipAndInject);
    acknowledge(&mut flow, 4, 4, PACKET * 2, false);
    assert_eq!(flow.rate(), None, "at once");
    send_pair(&mut flow);
    near(period(&flow), 7.0);
    // The cap on what is in flight is 1.5 of these 27.3 packets, whatever is injected.
    assert_eq!(flow.window(), 40_895);
}

#[test]
fn a_pair_is_skipped_or_injected_once_two_packets_are_due() {
    let mut adjustment = Adjustment::default();
    adjustment.add(-2.0);
    assert_eq!((adjustment.due, adjustment.skipped), (0.0, 1));
    adjustment.add(2.0);
    assert_eq!((adjustment.due, adjustment.skipped), (0.0, 0));
    adjustment.add(2.0);
    assert!(adjustment.injects());
    adjustment.on_pair();
    assert_eq!(adjustment.due, 0.0);
}

#[test]
fn an_increase_before_a_timeout_without_packets_injects_nothing_after_it() {
    for (is_late, is_injected) in [(false, true), (true, false)] {
        let mut flow = at_a_quarter(OnChange::SkipAndInject);
        // 3/4 · 4 + 1/4 · 0.4 = 3.1: a round trip holds 6.9 packets more: three pairs.
        acknowledge(&mut flow, 4, 4, Time::from_ps(33_536), false);
        flow.on_next_flow(is_late);
        send_pair(&mut flow);
        acknowledge(&mut flow, 6, 6, Time::from_ps(259_904), false); // 3.1 again
        send_pair(&mut flow);
        assert_eq!(flow.rate().is_none(), is_injected);
    }
}

#[test]
fn an_increase_makes_up_for_the_decrease_before_it() {
    let mut flow = at_a_quarter(OnChange::SkipAndInject);
    acknowledge(&mut flow, 4, 4, PACKET * 8, false);
    near(period(&flow), 30.0);
    acknowledge(&mut flow, 6, 4, PACKET, false); // back at 3/4 · 5 + 1/4 = 4
    near(period(&flow), 8.0);
}

fn is_refused(config: &PacketPairConfig) -> bool {
    let mut problems = Problems::default();
    ControllerConfig::PacketPair(config.clone()).check(&mut problems);
    !problems.found().is_empty()
}

#[test]
fn bounds_are_checked() {
    let good = PacketPairConfig {
        gain: 1.0,
        mark_gain: 1.0,
        in_flight_factor: 0.1,
        bytes_per_round: Bytes::ZERO,
        on_change: OnChange::SkipAndInject,
    };
    assert!(!is_refused(&good));
    for bad in [
        PacketPairConfig { gain: 0.0, ..good.clone() },
        PacketPairConfig { mark_gain: 1.1, ..good.clone() },
        PacketPairConfig { in_flight_factor: 0.0, ..good.clone() },
        PacketPairConfig { bytes_per_round: Bytes::new(LARGEST_ROUND + 1), ..good },
    ] {
        assert!(is_refused(&bad), "{bad:?}");
    }
}

#[test]
fn the_second_packet_of_a_pair_brings_the_gap() {
    let mut meter = PairMeter::default();
    let at = Time::from_ns;
    assert_eq!(meter.pair_gap(at(100), 0, 1_000, true), Time::ZERO);
    assert_eq!(meter.pair_gap(at(180), 1_000, 1_000, false), at(80));
    assert_eq!(meter.pair_gap(at(260), 2_000, 1_000, false), Time::ZERO); // no pair is open
}

#[test]
fn packets_that_are_no_pair_bring_none() {
    let mut meter = PairMeter::default();
    let at = Time::from_ns;
    assert_eq!(meter.pair_gap(at(50), 0, 1_000, false), Time::ZERO); // its first one is lost
    meter.pair_gap(at(100), 2_000, 1_000, true);
    assert_eq!(meter.pair_gap(at(180), 4_000, 1_000, false), Time::ZERO); // 3,000 is lost
    meter.pair_gap(at(200), 5_000, 1_000, true);
    assert_eq!(meter.pair_gap(at(220), 6_000, 400, false), Time::ZERO); // too short to compare
}
