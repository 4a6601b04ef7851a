//! Algorithms 1, 2 and 4 on a switch of three 25 Gb/s ports (3.125 bytes/ns) with T_hop 1 us: ports
//! 1 and 2 send to port 0, and port 2 also to port 1.

use crate::fixture::refusal::{assert_pfc_beneath, refused};
use alloc::vec::Vec;
use serde_json::json;

use penstock_packet::{PacketFlags, PortFacts, SwitchFacts};
use penstock_units::{BitRate, Bytes};

use super::*;
use crate::assignment::ingress::ByIngressConfig;
use crate::backpressure::Backpressure;
use crate::backpressure::pfc::{PfcConfig, PfcPause};
use crate::fixture::{Bench, Flow, drr, host_port, plain, switch_with};
use crate::marking::predicted::PredictedConfig;
use crate::{AssignmentConfig, BackpressureConfig, MarkingConfig, SwitchConfig, marking};

#[path = "hold_tests.rs"]
mod hold_tests;

const US: Time = Time::from_us(1);

fn config() -> FafcConfig {
    FafcConfig {
        threshold: Bytes::new(10_000),
        queue_smoothing: 0.8,
        rate_smoothing: 0.8,
        congested_hops: 1.0,
        rate_decrease: 0.5,
        congested_queue: CongestedQueue::Egress,
        decrease_in: DecreaseIn::NeedAndRelief,
        drain_share: 0.0,
        solver_delay: Time::ZERO,
        pause_unit: PauseUnit::Nanoseconds,
        pfc: PfcConfig {
            xon_offset: Bytes::ZERO,
            xoff: Some(Bytes::new(1_000_000)),
            pause: PfcPause::Lasting {},
        },
    }
}

fn facts(delays: [u64; 3]) -> SwitchFacts {
    let port = |delay| PortFacts {
        rate: BitRate::from_gbps(25),
        delay: Time::from_us(delay),
        ..host_port()
    };
    switch_with(delays.map(port).to_vec())
}

fn switch_of(marking: MarkingConfig, fafc: FafcConfig) -> SwitchConfig {
    SwitchConfig {
        assignment: AssignmentConfig::Ingress(ByIngressConfig {}),
        scheduling: drr(1_000),
        marking,
        backpressure: BackpressureConfig::Fafc(fafc),
        ..plain()
    }
}

fn bench() -> Bench {
    bench_of(config())
}

fn bench_of(fafc: FafcConfig) -> Bench {
    let marking = MarkingConfig::None(marking::none::NoneConfig {});
    Bench::new(&switch_of(marking, fafc), &facts([1; 3]))
}

impl Bench {
    fn fafc(&self) -> &Fafc {
        let Backpressure::Fafc(fafc) = self.switch.backpressure() else { unreachable!() };
        fafc
    }

    /// `count` packets of 1,000 bytes come from `ingress` for `egress`.
    fn bring(&mut self, count: usize, ingress: u16, egress: u16) {
        for _ in 0..count {
            self.admit(Flow { ingress, egress, ..Flow::default() }, 1_000);
        }
    }

    /// Moves time on to `now`, and serves the deadlines on the way.
    fn until(&mut self, now: Time) {
        while let Some(deadline) = self.switch.deadline().filter(|&deadline| deadline <= now) {
            self.switch.on_deadline(deadline);
        }
        self.now = now;
    }

    /// Takes a packet out of `egress`. Answers the pauses that are sent because of it, as (port, ns).
    fn pauses(&mut self, egress: u16) -> Vec<(u16, u32)> {
        self.depart(egress).unwrap();
        self.sent()
    }

    /// The pauses that wait to be sent, as (port, ns).
    fn sent(&mut self) -> Vec<(u16, u32)> {
        let frames = core::iter::from_fn(|| self.switch.take_frame());
        frames
            .map(|frame| match frame.signal {
                Signal::PauseTime(nanoseconds) => (frame.port, nanoseconds),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    fn forecast(&self, egress: u16) -> (f64, f64) {
        let QueueForecast { queue, predicted } = self.switch.port(egress).forecast();
        (queue, predicted)
    }
}

fn near(one: f64, other: f64) {
    assert!((one - other).abs() < 1e-6, "{one} is not {other}");
}

#[test]
fn timed_pauses_of_pfc_beneath_are_repeated_above_xoff() {
    let pause = PfcPause::Timed { lifetime: US * 5, refresh: US * 2, at_arrivals: false };
    let pfc = PfcConfig { xon_offset: Bytes::new(1), xoff: Some(Bytes::new(3_000)), pause };
    let mut bench = bench_of(FafcConfig { pfc, ..config() });
    assert_eq!(bench.switch.repeat_interval, Some(US * 2));
    bench.bring(2, 1, 0);
    assert_eq!(bench.switch.repeated_frame(1, 0), None);
    bench.bring(2, 1, 0);
    let signal = Signal::PauseClassFor { class: 0, nanoseconds: 5_000 };
    assert_eq!(bench.switch.repeated_frame(1, 0), Some(ControlFrame { port: 1, signal }));
    assert_eq!(bench.switch.repeated_frame(1, 1), None);
}

#[test]
fn holt_smooths_the_queue_and_its_growth() {
    let mut bench = bench_of(FafcConfig { queue_smoothing: 0.5, ..config() });
    bench.bring(4, 1, 0);
    assert_eq!(bench.forecast(0), (0.0, 0.0));
    bench.until(US);
    // q = 0.5 · 4,000; r = 0.8 · 4,000 / 1,000 ns; predicted q + 2 r T_hop.
    let forecast = &bench.fafc().forecast;
    near(forecast.queue(0), 2_000.0);
    near(forecast.growth(0), 3.2);
    near(forecast.arrival(1, 0), 3.2);
    near(bench.forecast(0).1, 8_400.0);
    // Two packets leave, one comes: 3,000 are stored. q = 0.5 · 3,000 + 0.5 (2,000 + 3,200);
    // r = 0.8 · (-1) + 0.2 · 3.2; r^i = 0.8 · 1 + 0.2 · 3.2; r^o = r^i - r.
    bench.depart(0);
    bench.depart(0);
    bench.bring(1, 1, 0);
    bench.until(US * 2);
    let forecast = &bench.fafc().forecast;
    near(forecast.queue(0), 4_100.0);
    near(forecast.growth(0), -0.16);
    near(forecast.arrival(1, 0), 1.44);
    near(forecast.departure(1, 0), 1.6);
    near(bench.forecast(0).1, 4_100.0 - 320.0);
}

#[test]
fn the_port_without_victims_is_paused_and_the_prediction_knows_it() {
    let mut bench = bench();
    // To port 0: 6 packets from port 1 and 3 from port 2, which also sends 2 to the idle port 1.
    bench.bring(6, 1, 0);
    bench.bring(3, 2, 0);
    bench.bring(2, 2, 1);
    bench.depart(1);
    bench.depart(1);
    bench.until(US);
    let forecast = &bench.fafc().forecast;
    near(forecast.arrival(1, 0), 4.8);
    near(forecast.arrival(2, 0), 2.4);
    near(forecast.departure(2, 1), 1.6);
    near(bench.fafc().loss(1, 0), 0.0);
    near(bench.fafc().loss(2, 0), 1.6);
    near(bench.forecast(0).1, 7_200.0 + 2.0 * 7_200.0);
    // 21,600 > 10,000, and the need is r_*e T_hop = 7,200 bytes. Port 1 gives 4,800 in all of T_hop,
    // port 2 the other 2,400.
    assert_eq!(bench.pauses(0), [(1, 1_000), (2, 1_000)]);
    // Everything that comes is held back: 21,600 less pausNext, which is 4,800 and 4,000 with q_20 /
    // q_2* = 1.
    near(bench.fafc().egress_offsets[0], -4_800.0 - 4_000.0);
    near(bench.forecast(0).1, 21_600.0 - 8_800.0);
    // The prediction is still beyond the threshold, but the need is 0.5 · 7,200 - 3,600 - 8,800 < 0.
    assert_eq!(bench.pauses(0), []);
}

/// Four of nine packets for port 0 have left it by 1 us, two from each port, and port 2 has victims.
fn with_a_small_need(fafc: FafcConfig) -> Bench {
    let mut bench = bench_of(fafc);
    bench.bring(6, 1, 0);
    bench.bring(3, 2, 0);
    bench.bring(2, 2, 1);
    for egress in [0, 0, 0, 0, 1, 1] {
        bench.depart(egress);
    }
    bench.bring(1, 2, 1); // stored, but no more than one T_hop of data: uncongested
    bench.until(US);
    bench
}

#[test]
fn a_small_need_spares_the_port_with_victims() {
    let mut bench = with_a_small_need(config());
    near(bench.fafc().forecast.growth(0), 4.0); // r_*0 = 0.8 · 5
    near(bench.fafc().loss(2, 0), 1.6);
    near(bench.forecast(0).1, 12_000.0);
    // Port 1 sends 4.8 bytes/ns, so 4,000 bytes take 833.3 ns, rounded up. Port 2 goes on.
    assert_eq!(bench.pauses(0), [(1, 834)]);
    near(bench.fafc().egress_offsets[0], -834.0 * 4.8);
}

#[test]
fn quanta_are_longer_than_nanoseconds() {
    let mut bench = with_a_small_need(FafcConfig { pause_unit: PauseUnit::Quanta, ..config() });
    assert_eq!(bench.pauses(0), [(1, 840)]); // 41 times 20.48 ns, for 833.3 ns
    near(bench.fafc().egress_offsets[0], -840.0 * 4.8);
}

#[test]
fn a_slow_solver_sends_what_was_right_when_it_began() {
    let mut bench = bench_of(FafcConfig { solver_delay: Time::from_ns(2_500), ..config() });
    bench.bring(9, 1, 0);
    bench.until(US);
    assert_eq!(bench.pauses(0), []); // a digest, which is taken up at the next update
    bench.bring(9, 1, 0);
    bench.until(US * 2);
    near(bench.fafc().forecast.growth(0), 0.8 * 8.0 + 0.2 * 7.2);
    near(bench.fafc().forecast.arrival(1, 0), 0.8 * 9.0 + 0.2 * 7.2);
    bench.until(Time::from_ns(4_499));
    assert_eq!(bench.sent(), []);
    bench.until(Time::from_ns(4_500));
    assert_eq!(bench.sent(), [(1, 908)]); // 7,840 bytes at 8.64 bytes/ns
    assert!(bench.fafc().has_just_triggered(US * 8, 0));
    near(bench.fafc().egress_offsets[0], -908.0 * bench.fafc().forecast.ingress_arrival(1));
    bench.until(US * 9);
    assert_eq!(bench.sent(), []);
}

#[test]
fn a_long_queue_of_many_senders_is_congested_by_the_whole_and_not_by_each() {
    for (congested_queue, congested_hops, loss) in [
        (CongestedQueue::Egress, 1.0, 0.0),
        (CongestedQueue::Egress, 2.0, 0.8),
        (CongestedQueue::Pair, 1.0, 0.8),
    ] {
        let mut bench = bench_of(FafcConfig { congested_queue, congested_hops, ..config() });
        bench.bring(4, 2, 1);
        bench.bring(4, 0, 1);
        bench.depart(1);
        bench.depart(1);
        bench.until(US);
        // T_hop of data is 3,125 bytes; one packet of each port has left.
        near(bench.fafc().forecast.pair_queue(2, 1), 2_400.0);
        near(bench.fafc().forecast.queue(1), 4_800.0);
        near(bench.fafc().loss(2, 0), loss);
    }
}

#[test]
fn slots_take_pauses_off_the_prediction_then_add_them_and_then_forget() {
    let mut bench = bench();
    bench.bring(9, 1, 0);
    bench.until(US);
    assert_eq!(bench.pauses(0), [(1, 1_000)]);
    let offset = |bench: &Bench| bench.fafc().egress_offsets[0];
    near(offset(&bench), -7_200.0);
    bench.until(US * 2); // the slot from 1 to 2 us ends: pausOld is 7,200
    near(offset(&bench), 7_200.0);
    bench.until(US * 3);
    near(offset(&bench), 0.0);
    assert_eq!(bench.fafc().slots[1], Slots::IDLE);
}

#[test]
fn a_slot_ends_between_two_updates() {
    let mut bench = bench();
    bench.bring(9, 1, 0);
    bench.until(Time::from_ns(1_300));
    assert_eq!(bench.pauses(0), [(1, 1_000)]);
    bench.until(US * 2);
    let growth = bench.fafc().forecast.growth(0);
    near(bench.fafc().egress_offsets[0], -7_200.0);
    assert_eq!(bench.switch.deadline(), Some(Time::from_ns(2_300)));
    bench.until(Time::from_ns(2_300));
    near(bench.fafc().egress_offsets[0], 7_200.0);
    assert_eq!(bench.fafc().forecast.growth(0), growth);
    let forecast = &bench.fafc().forecast;
    near(bench.forecast(0).1, forecast.queue(0) + 2.0 * forecast.trend(0) + 7_200.0);
    assert_eq!(bench.switch.deadline(), Some(US * 3));
}

#[test]
fn what_a_pause_holds_back_is_divided_among_egresses_by_their_queues() {
    let mut bench = bench();
    bench.bring(6, 1, 0);
    bench.bring(2, 1, 1);
    bench.until(US);
    let mut fafc = bench.fafc().clone();
    // 4.8 and 1.6 bytes/ns come, and half of the 4.8 count: 4 bytes/ns are held back for 500 ns.
    fafc.pause(US, (1, 0), 500.0, 0.5);
    near(fafc.egress_offsets[0], -1_500.0);
    near(fafc.egress_offsets[1], -500.0);
}

#[test]
fn consecutive_triggers_count_less_of_what_arrives() {
    let mut bench = bench();
    bench.bring(9, 1, 0);
    bench.until(US);
    assert!(!bench.fafc().has_just_triggered(US, 0));
    near(bench.fafc().need(0, 1.0), 7_200.0);
    assert_eq!(bench.pauses(0), [(1, 1_000)]);
    assert!(bench.fafc().has_just_triggered(US * 5, 0));
    assert!(!bench.fafc().has_just_triggered(US * 5 + Time::from_ps(1), 0));
    assert!(!bench.fafc().has_just_triggered(US, 1));
    // Half of the 7.2 bytes/ns counts: 7,200 - 3,600, less the bytes that are held back already.
    near(bench.fafc().need(0, 0.5), 3_600.0 - 7_200.0);
}

#[test]
fn in_the_relief_alone_a_decrease_makes_pauses_longer() {
    // Port 1 sends 4.8 bytes/ns of 7.2, and 4,000 bytes are too many: 833.3 ns without a decrease.
    for (decrease_in, time) in [
        (DecreaseIn::NeedAndRelief, (4_000.0 - 0.1 * 7_200.0) / (0.9 * 4.8)),
        (DecreaseIn::Relief, 4_000.0 / (0.9 * 4.8)),
    ] {
        let bench = with_a_small_need(FafcConfig { decrease_in, rate_decrease: 0.9, ..config() });
        let mut fafc = bench.fafc().clone();
        fafc.last_trigger[0] = Some(Time::ZERO);
        assert_eq!(fafc.solve(US, 0), Some(0.9));
        near(fafc.times[1], time);
    }
}

#[test]
fn a_shrinking_queue_pauses_nobody_however_long_it_is() {
    let mut bench = bench();
    bench.bring(40, 1, 0);
    bench.until(US * 10); // its growth is forgotten
    assert_eq!(bench.pauses(0), []);
    bench.until(US * 11);
    assert!(bench.fafc().forecast.growth(0) < 0.0);
    assert!(bench.forecast(0).1 > 10_000.0);
    assert_eq!(bench.pauses(0), []);
}

#[test]
fn links_of_different_delays_count_with_their_own() {
    let marking = MarkingConfig::None(marking::none::NoneConfig {});
    let mut bench = Bench::new(&switch_of(marking, config()), &facts([2, 4, 1]));
    bench.bring(2, 1, 0);
    bench.bring(1, 2, 0);
    assert_eq!(bench.switch.deadline(), Some(US)); // the shortest
    bench.until(US);
    // r_10 = 1.6 over 4 us, r_20 = 0.8 over 1 us: predicted 2,400 + 2 (6,400 + 800).
    near(bench.forecast(0).1, 16_800.0);
    // The need is 7,200. Of two ports without loss the first is paused, up to its own T_hop of 4 us.
    assert_eq!(bench.pauses(0), [(1, 4_000), (2, 1_000)]);
    let ends: Vec<Time> = bench.fafc().slots.iter().map(Slots::ends_at).collect();
    assert_eq!(ends, [Time::NEVER, US * 5, US * 2]);
    // Half of 1.6 bytes/ns in 4 us and of 0.8 in 1 us, less what is held back.
    near(bench.fafc().need(0, 0.5), 3_600.0 + bench.fafc().egress_offsets[0]);
    // Triggers are consecutive within four T_hop of the longest link.
    assert!(bench.fafc().has_just_triggered(US * 17, 0));
    assert!(!bench.fafc().has_just_triggered(US * 18, 0));
}

#[test]
fn a_hop_takes_the_delay_of_the_link_and_the_pipeline_behind_it() {
    let mut facts = facts([1; 3]);
    facts.ports[1].neighbour_pipeline = Time::from_ns(500);
    let marking = MarkingConfig::None(marking::none::NoneConfig {});
    let bench = Bench::new(&switch_of(marking, config()), &facts);
    assert_eq!(bench.fafc().hops, [US, Time::from_ns(1_500), US]);
}

#[test]
fn the_egress_that_triggers_is_no_victim_of_its_own_pauses() {
    let mut bench = bench();
    for egress in [0, 1] {
        bench.bring(3, 1, egress);
        bench.depart(egress);
    }
    bench.until(US);
    // Both queues are shorter than T_hop of data, and 0.8 bytes/ns leave each.
    near(bench.fafc().loss(1, 0), 0.8);
    near(bench.fafc().loss(1, 2), 1.6);
}

#[test]
fn marks_follow_the_prediction_and_not_what_a_pause_has_piled_up() {
    let marking = MarkingConfig::Predicted(PredictedConfig { threshold: Bytes::new(5_000) });
    let mut bench = Bench::new(&switch_of(marking, config()), &facts([1; 3]));
    let is_marked = |bench: &mut Bench| {
        let (packet, _) = bench.depart(0).unwrap();
        packet.flags.contains(PacketFlags::MARKED)
    };
    bench.bring(3, 1, 0);
    bench.until(US);
    assert!(is_marked(&mut bench)); // 2,400 + 2 · 2,400
    bench.until(US * 20);
    assert!(!is_marked(&mut bench)); // 2,000 and steady
    bench.signal(0, Signal::PauseTime(500));
    bench.bring(3, 1, 0);
    assert!(bench.depart(0).is_none());
    bench.until(US * 21);
    bench.switch.release(bench.now, 0);
    // q = 0.8 · 4,000 + 0.2 · 2,000 and r = 0.8 · 2. The prediction is beyond 5,000, but 3,000 came
    // during the pause.
    near(bench.forecast(0).1, 3_600.0 + 2.0 * 1_600.0);
    assert!(!is_marked(&mut bench));
}

#[test]
fn pauses_of_a_port_add_up_and_end_by_themselves() {
    let mut bench = bench();
    bench.bring(2, 1, 0);
    bench.acknowledge(0);
    bench.signal(0, Signal::PauseTime(400));
    bench.now = Time::from_ns(100);
    bench.signal(0, Signal::PauseTime(300));
    assert_eq!(bench.switch.port(0).held_until(), Time::from_ns(700));
    assert!(bench.depart(0).is_some()); // control packets are never paused
    assert!(bench.depart(0).is_none() && !bench.switch.port(0).is_ready());
    bench.switch.release(Time::from_ns(400), 0); // that was the end of the first one alone
    assert!(bench.depart(0).is_none());
    bench.switch.release(Time::from_ns(700), 0);
    assert!(bench.depart(0).is_some());
    assert_eq!(bench.switch.port(0).class_pause_time(US), Time::from_ns(700));
    assert_eq!(bench.switch.port(0).counters.class_pauses, 1);
}

#[test]
fn a_lost_safety_margin_is_pfcs_business() {
    let mut bench = bench();
    let flow = Flow { ingress: 1, ..Flow::default() };
    let frames: Vec<_> = (0..1_000).filter_map(|_| bench.admit(flow, 1_000)).collect();
    assert_eq!(frames, [ControlFrame { port: 1, signal: Signal::PauseClass(0) }]);
}

const POLICY: (&str, &str) = (
    "backpressure",
    r#"{"kind": "fafc", "threshold": 350000, "queue_smoothing": 0.8, "rate_smoothing": 0.8,
        "congested_hops": 1.0, "rate_decrease": 0.9, "congested_queue": "egress",
        "decrease_in": "need-and-relief", "drain_share": 0.0, "solver_delay": 0, "pause_unit": "nanoseconds",
        "pfc": {"xon_offset": 3072, "xoff": 250000, "pause": {"kind": "lasting"}}}"#,
);

#[test]
fn it_knows_one_class_and_pfc_beneath_is_in_order() {
    assert_pfc_beneath(POLICY, "fafc");
    let pause =
        json!({"kind": "timed", "lifetime": 5_000_000, "refresh": 2_000_000, "at_arrivals": true});
    assert!(refused(&[POLICY], &[("/backpressure/pfc/pause", pause)]).is_empty());
}

#[test]
fn the_queue_that_it_predicts_can_be_marked_by() {
    let predicted = ("marking", r#"{"kind": "predicted", "threshold": 200000}"#);
    assert!(refused(&[POLICY, predicted], &[]).is_empty());
}

#[test]
fn what_lies_outside_its_bounds_is_refused() {
    let fields = [
        ("/backpressure/queue_smoothing", json!(0.0)),
        ("/backpressure/rate_decrease", json!(1.5)),
        ("/backpressure/congested_hops", json!(-1.0)),
    ];
    let expected = [
        "backpressure.queue_smoothing is 0.0; write above 0, at most 1",
        "backpressure.congested_hops is -1.0; write 0 to 1000000.0",
        "backpressure.rate_decrease is 1.5; write above 0, at most 1",
    ];
    assert_eq!(refused(&[POLICY], &fields), expected);
}
