//! Windows, pacing, the retransmission timer and the ends of flows.

use penstock_transport::control::hpcc::HpccReaction;
use penstock_transport::control::{HpccConfig, Increase, RateWindow};
use penstock_transport::{
    Acknowledgement, ControllerConfig, HopTelemetry, PathFacts, Readiness, Sender,
};
use penstock_units::{BitRate, Bytes, Fidelity, Time};

use crate::{acknowledgement, dctcp, go_back_n, host, line_rate, path, perfect, window};

fn sender(size: u64, controller: ControllerConfig) -> Sender {
    Sender::new(size, &host(controller, go_back_n()), &path(), Time::ZERO)
}

fn send(sender: &mut Sender, packets: u32, now: Time) {
    for _ in 0..packets {
        sender.send(now);
    }
}

#[test]
fn the_packets_of_a_flow_are_full_but_the_last() {
    let mut sender = sender(2_001, line_rate());
    let expected = [(0, 1_000, 2_001), (1_000, 1_000, 1_001), (2_000, 1, 1)];
    for (offset, payload, remaining) in expected {
        assert_eq!(sender.remaining_unsent(), remaining);
        let segment = sender.send(Time::ZERO);
        assert_eq!((segment.offset, segment.payload), (offset, payload));
        assert_eq!((segment.remaining, segment.is_retransmission), (remaining, false));
    }
    assert_eq!(sender.readiness(Time::ZERO), Readiness::Idle);
    assert!(!sender.on_acknowledgement(Time::from_us(8), &acknowledgement(2_000)));
    assert!(sender.on_acknowledgement(Time::from_us(8), &acknowledgement(2_001)));
    assert_eq!((sender.size(), sender.next(), sender.acknowledged()), (2_001, 2_001, 2_001));
}

#[test]
fn a_flow_of_size_0_is_endless() {
    let mut sender = sender(0, line_rate());
    for packet in 1..=1_000 {
        assert_eq!(sender.send(Time::ZERO).payload, 1_000);
        assert!(!sender.on_acknowledgement(Time::ZERO, &acknowledgement(packet * 1_000)));
    }
    assert_eq!(sender.size(), u64::MAX);
}

#[test]
fn a_flow_that_stops_has_the_size_of_what_it_has_sent() {
    let stop = Time::from_us(5);
    for size in [0, 1_000_000] {
        let mut sender = sender(size, line_rate());
        sender.stop_at(stop);
        send(&mut sender, 3, Time::from_us(1));
        assert_eq!(sender.deadline(), stop);
        assert!(!sender.on_deadline(stop), "a stop is no timeout");
        assert_eq!((sender.size(), sender.readiness(stop)), (3_000, Readiness::Idle));
        assert!(sender.deadline() > stop, "it stops once");
        assert!(!sender.on_acknowledgement(Time::from_us(8), &acknowledgement(2_000)));
        assert!(sender.on_acknowledgement(Time::from_us(8), &acknowledgement(3_000)));
    }
}

#[test]
fn a_flow_that_stops_without_a_packet_has_one_to_send() {
    for (size, left) in [(0, 1_000), (400, 400)] {
        let mut sender = sender(size, line_rate());
        sender.stop_at(Time::ZERO);
        sender.on_deadline(Time::ZERO);
        assert_eq!((sender.size(), sender.remaining_unsent()), (left, left));
    }
}

#[test]
fn a_flow_may_stop_when_nothing_is_in_flight() {
    let mut sender = sender(0, line_rate());
    sender.stop_at(Time::from_us(9));
    send(&mut sender, 2, Time::ZERO);
    assert!(!sender.on_acknowledgement(Time::from_us(8), &acknowledgement(2_000)));
    sender.on_deadline(Time::from_us(9));
    assert!(sender.is_complete());
}

#[test]
fn a_window_may_be_exceeded_by_less_than_a_packet() {
    let mut sender = sender(10_000, window(2_001));
    send(&mut sender, 3, Time::ZERO);
    assert_eq!((sender.readiness(Time::ZERO), sender.in_flight()), (Readiness::Blocked, 3_000));
    sender.on_acknowledgement(Time::from_us(8), &acknowledgement(1_000));
    assert_eq!(sender.readiness(Time::from_us(8)), Readiness::Ready);
    let mut exact = self::sender(10_000, window(2_000));
    send(&mut exact, 2, Time::ZERO);
    assert_eq!(exact.readiness(Time::ZERO), Readiness::Blocked);
}

#[test]
fn a_change_of_the_rate_moves_the_pending_gap() {
    let mut sender = sender(1_000_000, dctcp());
    send(&mut sender, 3, Time::from_us(1));
    assert_eq!(sender.readiness(Time::from_us(1)), Readiness::Ready); // line rate: not paced
    let marked = Acknowledgement { is_marked: true, ..acknowledgement(1_000) };
    sender.on_acknowledgement(Time::from_us(1), &marked);
    assert_eq!(sender.rate(), Some(BitRate::from_gbps(50)));
    // The gap after the last packet is 1048 B at 50 Gb/s, though that packet left before the cut.
    let gap = Time::from_ps(167_680);
    assert_eq!(sender.readiness(Time::from_us(1)), Readiness::At(Time::from_us(1) + gap));
    assert_eq!(sender.readiness(Time::from_us(1) + gap), Readiness::Ready);
    // A packet leaves at 50 Gb/s. Then the window is halved, which changes the packet's gap.
    sender.send(Time::from_us(2));
    assert_eq!(sender.readiness(Time::from_us(2)), Readiness::At(Time::from_us(2) + gap));
    let marked = Acknowledgement { is_marked: true, ..acknowledgement(4_000) };
    sender.on_acknowledgement(Time::from_us(2), &marked);
    assert_eq!(sender.rate(), Some(BitRate::from_gbps(25)));
    assert_eq!(sender.readiness(Time::from_us(2)), Readiness::At(Time::from_us(2) + gap * 2));
}

#[test]
fn a_timed_pause_and_the_feedback_of_a_switch_move_the_pending_gap() {
    // At half the rate 1048 B take 167.68 ns.
    let at_half = Readiness::At(Time::from_ps(167_680));
    let mut paused = sender(1_000_000, dctcp());
    paused.send(Time::ZERO);
    paused.on_timed_pause(Time::ZERO, 0.5);
    assert_eq!(paused.readiness(Time::ZERO), at_half);
    let qcn = r#"{"kind":"qcn","decrease_gain":0.0625,"minimum_decrease_factor":0.5,
        "increase_interval":15000000000,"increase_bytes":150000,"fast_recovery_rounds":5,
        "additive_increase":5000000,"hyper_increase":50000000,"minimum_rate":5000000,"window":"none"}"#;
    let mut told = sender(1_000_000, serde_json::from_str(qcn).unwrap());
    told.send(Time::ZERO);
    told.on_feedback(Time::ZERO, 8);
    assert_eq!(told.readiness(Time::ZERO), at_half);
}

#[test]
fn the_last_acknowledgement_changes_no_rate_except_in_the_ns3_hpcc_simulator() {
    for (fidelity, is_told) in [(Fidelity::Exact, false), (Fidelity::Ns3Hpcc, true)] {
        let path = PathFacts { fidelity, ..path() };
        let mut sender = Sender::new(1_000, &host(dctcp(), go_back_n()), &path, Time::ZERO);
        send(&mut sender, 1, Time::ZERO);
        let marked = Acknowledgement { is_marked: true, ..acknowledgement(1_000) };
        assert!(sender.on_acknowledgement(Time::from_us(8), &marked));
        assert_eq!(sender.rate().is_some(), is_told);
    }
}

#[test]
fn hpcc_paces_and_charges_the_overhead_of_the_wire() {
    let config = HpccConfig {
        target_utilization: 0.95,
        maximum_stage: 0,
        additive_increase: Increase::Window { size: Bytes::ZERO },
        minimum_rate: BitRate::from_mbps(100),
        react: HpccReaction::PerAck,
        window: RateWindow::Scaled,
    };
    let mut path = path();
    path.data_overhead = 90;
    let host = host(ControllerConfig::Hpcc(config), go_back_n());
    let mut sender = Sender::new(1_000_000, &host, &path, Time::ZERO);
    send(&mut sender, 5, Time::ZERO);
    let rate = BitRate::from_gbps(100);
    let at = |time, sent_bytes| [HopTelemetry { time, sent_bytes, queue_bytes: 90_000, rate }];
    let first = at(Time::from_us(4), 0);
    sender.on_acknowledgement(
        Time::from_us(8),
        &Acknowledgement { telemetry: &first, ..acknowledgement(1_000) },
    );
    assert_eq!(sender.rate(), None);
    let second = at(Time::from_us(12), 100_000); // U = 1.9, so half the rate
    sender.on_acknowledgement(
        Time::from_us(16),
        &Acknowledgement { telemetry: &second, ..acknowledgement(2_000) },
    );
    let rate = sender.rate().unwrap().as_bps();
    assert!(rate.abs_diff(50_000_000_000) <= 1, "{rate}");
    sender.send(Time::from_us(20));
    let Readiness::At(time) = sender.readiness(Time::from_us(20)) else { panic!("not paced") };
    assert!((time - Time::from_us(20)).as_ps().abs_diff(174_400) <= 1, "{time}"); // 1090 B
}

#[test]
fn a_negative_acknowledgement_rewinds_to_the_gap() {
    let mut sender = sender(10_000, line_rate());
    send(&mut sender, 5, Time::ZERO);
    let nack = Acknowledgement { is_negative: true, ..acknowledgement(2_000) };
    sender.on_acknowledgement(Time::from_us(8), &nack);
    assert_eq!((sender.next(), sender.in_flight(), sender.deadline()), (2_000, 0, Time::NEVER));
    for offset in [2_000, 3_000, 4_000] {
        let segment = sender.send(Time::from_us(8));
        assert_eq!((segment.offset, segment.is_retransmission), (offset, true));
    }
    assert!(!sender.send(Time::from_us(8)).is_retransmission);
    assert_eq!(sender.retransmitted_packets(), 3);
    // An acknowledgement that comes late says nothing new.
    sender.on_acknowledgement(Time::from_us(9), &acknowledgement(4_000));
    sender.on_acknowledgement(Time::from_us(9), &nack);
    assert_eq!((sender.next(), sender.acknowledged()), (6_000, 4_000));
}

#[test]
fn the_timer_runs_while_bytes_are_in_flight_and_progress_restarts_it() {
    let mut sender = sender(3_000, line_rate());
    assert_eq!(sender.deadline(), Time::NEVER);
    sender.send(Time::from_us(1));
    sender.send(Time::from_us(50));
    assert_eq!(sender.deadline(), Time::from_us(101));
    sender.on_acknowledgement(Time::from_us(60), &acknowledgement(1_000));
    assert_eq!(sender.deadline(), Time::from_us(160));
    sender.on_acknowledgement(Time::from_us(70), &acknowledgement(1_000)); // no progress
    assert_eq!(sender.deadline(), Time::from_us(160));
    assert!(!sender.on_deadline(Time::from_us(101)));
    sender.on_acknowledgement(Time::from_us(110), &acknowledgement(2_000));
    assert_eq!((sender.deadline(), sender.timeouts()), (Time::NEVER, 0));
    assert!(!sender.on_deadline(Time::from_us(160)));
}

#[test]
fn an_expired_timer_rewinds_and_is_counted() {
    let mut sender = sender(3_000, dctcp());
    send(&mut sender, 3, Time::ZERO);
    assert_eq!(sender.readiness(Time::ZERO), Readiness::Idle);
    assert!(sender.on_deadline(Time::from_us(100)));
    assert_eq!((sender.timeouts(), sender.next(), sender.window()), (1, 0, 50_000));
    assert_eq!(sender.deadline(), Time::NEVER);
    assert!(sender.send(Time::from_us(100)).is_retransmission);
    assert_eq!(sender.deadline(), Time::from_us(200));
    // The packets were only late. Their acknowledgements move the flow on past the rewind.
    assert!(!sender.on_acknowledgement(Time::from_us(101), &acknowledgement(2_000)));
    assert_eq!((sender.next(), sender.in_flight()), (2_000, 0));
    assert!(sender.on_acknowledgement(Time::from_us(101), &acknowledgement(3_000)));
    assert_eq!(
        (sender.readiness(Time::from_us(101)), sender.deadline()),
        (Readiness::Idle, Time::NEVER)
    );
}

#[test]
fn an_acknowledgement_of_more_than_the_flow_is_cut_to_its_size() {
    let mut sender = sender(1_500, line_rate());
    sender.send(Time::ZERO);
    assert!(sender.on_acknowledgement(Time::ZERO, &acknowledgement(u64::MAX)));
    assert_eq!((sender.acknowledged(), sender.remaining_unsent()), (1_500, 0));
}

#[test]
fn a_switch_drop_means_nothing_to_go_back_n_and_the_minimum_rate_to_perfect_recovery() {
    let mut go_back = sender(3_000, dctcp());
    go_back.send(Time::ZERO);
    go_back.on_switch_drop(Time::ZERO, 0, 1_000);
    assert_eq!((go_back.in_flight(), go_back.rate()), (1_000, None));
    let host = host(dctcp(), perfect());
    let mut perfect = Sender::new(3_000, &host, &path(), Time::ZERO);
    perfect.send(Time::ZERO);
    perfect.on_switch_drop(Time::ZERO, 0, 1_000);
    assert_eq!((perfect.in_flight(), perfect.rate()), (0, Some(BitRate::from_mbps(100))));
    assert_eq!(perfect.readiness(Time::ZERO), Readiness::At(Time::from_ps(83_840_000)));
    assert_eq!((perfect.deadline(), perfect.on_deadline(Time::from_ms(9))), (Time::NEVER, false));
}
