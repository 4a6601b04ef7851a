//! A host by hand: what it sends, and what it asks of its driver.

use alloc::vec::Vec;

use penstock_packet::{ALL_CLASSES, PacketFlags, Signal};

use penstock_units::Supplied;

use super::bench::{Bench, FRAMES};
use super::*;
use crate::control::ControllerConfig;
use crate::control::external::{
    ControllerClass, Event, ExternalConfig, ExternalController, Pace, Senses,
};
use crate::fixture::line_rate;
use crate::nic::NicConfig;

/// A host with this controller and recovery, as a scenario names them.
fn config(controller: &str, recovery: &str) -> HostConfig {
    HostConfig {
        controller: serde_json::from_str(controller).unwrap(),
        recovery: serde_json::from_str(recovery).unwrap(),
        ..line_rate()
    }
}

/// TCP with a first window of one packet.
fn tcp() -> HostConfig {
    let recovery = r#"{"kind":"fast-retransmit","duplicate_threshold":3,"initial_timeout":200000000,
        "minimum_timeout":200000000,"maximum_timeout":100000000000}"#;
    config(r#"{"kind":"new-reno","initial_window_packets":1}"#, recovery)
}

/// Homa with 5,000 B that need no grant.
fn homa() -> HostConfig {
    let controller = r#"{"kind":"homa","bdp_factor":0.05,"overcommitment":1,"cutoffs":[1000]}"#;
    config(controller, r#"{"kind":"resend","timeout":1000000000}"#)
}

/// NDP with a first window of 2,000 B.
fn ndp() -> HostConfig {
    let recovery = r#"{"kind":"trimmed-headers","timeout":200000000}"#;
    config(r#"{"kind":"ndp","bdp_factor":0.02}"#, recovery)
}

/// ExpressPass, which asks for credits again after 100 us.
fn expresspass() -> HostConfig {
    let controller = r#"{"kind":"expresspass","initial_rate":0.5,"initial_weight":0.0625,
        "minimum_weight":0.01,"maximum_weight":0.5,"jitter":0.1,"full_rate_packets":40,
        "feedback":{"kind":"released","target_loss":0.125,"weight_step":0.05},"early_stop":true,
        "credit_minimum":84,"credit_maximum":84,"request_timeout":100000000}"#;
    config(controller, r#"{"kind":"perfect"}"#)
}

/// The kinds, flows and offsets of `packets`.
fn listed(packets: &[Packet]) -> Vec<(PacketKind, u32, u64)> {
    packets.iter().map(|packet| (packet.kind, packet.flow, packet.offset)).collect()
}

#[test]
fn timed_pauses_add_up_and_hold_data_but_no_acknowledgements() {
    let mut bench = Bench::new(line_rate());
    let due = |nanoseconds| Request::Timer(Timer::Uplink, Time::from_ns(nanoseconds));
    assert!(bench.signal(Signal::PauseTime(1_000)).contains(&due(1_000)));
    bench.now = Time::from_ns(200);
    assert!(bench.signal(Signal::PauseTime(500)).contains(&due(1_500)));
    bench.signal(Signal::PauseClass(0)); // its time is within that of all data
    bench.now = Time::from_ns(300);
    bench.signal(Signal::ResumeClass(0));
    bench.open(bench.flow(1, 1_000));
    bench.expect(bench.flow(2, 1_000));
    bench.bring(2, 0);
    assert_eq!(listed(&bench.drain()), [(PacketKind::Acknowledgement, 2, 1_000)]);
    bench.now = Time::from_ns(1_000);
    assert_eq!(bench.timer(Timer::Uplink), [due(1_500)], "the second pause goes on");
    bench.now = Time::from_ns(1_500);
    assert_eq!(bench.timer(Timer::Uplink), [Request::Lapsed(ALL_CLASSES), Request::Ready]);
    assert_eq!(listed(&bench.drain()), [(PacketKind::Data, 1, 0)]);
    let pauses = bench.host.pauses();
    assert_eq!(pauses.class_pauses, 2, "that of the class, and one of all data that became longer");
    assert_eq!(pauses.class_clock.total(Time::from_us(9)), Time::from_ns(1_500));
}

#[test]
fn the_pause_of_a_class_has_the_end_that_came_last() {
    let mut bench = Bench::new(line_rate());
    bench.open(bench.flow(1, 1_000));
    let pause = Signal::PauseClassFor { class: 0, nanoseconds: 1_000 };
    let due = Request::Timer(Timer::Uplink, Time::from_ns(1_000));
    assert_eq!(bench.signal(pause), [due, Request::Ready]);
    bench.now = Time::from_ns(500);
    bench.signal(Signal::PauseClass(0)); // without an end
    bench.now = Time::from_ns(1_000);
    assert_eq!(bench.timer(Timer::Uplink), [Request::Ready]);
    assert!(bench.drain().is_empty());
    bench.signal(pause);
    bench.now = Time::from_ns(2_000);
    assert_eq!(bench.timer(Timer::Uplink), [Request::Lapsed(0), Request::Ready]);
    assert_eq!(bench.drain().len(), 1);
    let pauses = bench.host.pauses();
    assert_eq!(pauses.class_pauses, 1);
    assert_eq!(pauses.class_clock.total(Time::from_us(9)), Time::from_ns(2_000));
}

#[test]
fn a_pause_of_a_queue_counts_when_it_begins() {
    let config = line_rate();
    let nic = NicConfig { queues: 8, ..config.nic };
    let mut bench = Bench::new(HostConfig { nic, ..config });
    for queue in [1, 2, 1] {
        bench.signal(Signal::PauseQueue(queue));
    }
    bench.now = Time::from_us(1);
    bench.signal(Signal::QueueBitmap { epoch: 0, queues: 1 << 2 | 1 << 3 });
    let pauses = bench.host.pauses();
    assert_eq!(pauses.queue_pauses, 3);
    assert_eq!(pauses.queue_clock.total(Time::from_us(2)), Time::from_us(4));
}

#[test]
fn a_pause_of_an_epoch_before_ends_for_the_clock_when_a_new_flow_comes() {
    let config = line_rate();
    let nic = NicConfig { queues: 8, ..config.nic };
    let mut bench = Bench::new(HostConfig { nic, ..config });
    bench.host.nic = bench.host.nic.clone().with_epochs(2);
    bench.signal(Signal::QueueBitmap { epoch: 0, queues: 0b1111_1110 });
    bench.now = Time::from_us(1);
    bench.open(bench.flow(0, 1_000));
    // Seven queues for 1 us, then six.
    let pauses = bench.host.pauses();
    assert_eq!(pauses.queue_clock.total(Time::from_us(2)), Time::from_us(13));
    assert_eq!(pauses.queue_pauses, 7);
}

#[test]
fn a_flow_that_may_not_send_stops_on_time() {
    let mut bench = Bench::new(line_rate());
    bench.signal(Signal::PauseClass(0));
    let stop = Time::from_us(3);
    let asked = bench.open(Opening { stop, ..bench.flow(1, 0) });
    assert!(asked.contains(&Request::Timer(Timer::Sender(1), stop)));
}

#[test]
fn a_flow_that_stops_with_nothing_in_flight_is_complete() {
    let mut bench = Bench::new(tcp());
    let stop = Time::from_us(3);
    bench.open(Opening { stop, ..bench.flow(1, 0) });
    assert_eq!(bench.drain().len(), 1);
    bench.signal(Signal::PauseClass(0));
    bench.acknowledge(1, 1_000);
    bench.now = stop;
    assert!(bench.timer(Timer::Sender(1)).contains(&Request::Completed(1)));
    assert!(bench.timer(Timer::Sender(1)).is_empty(), "a flow completes once");
}

#[test]
fn a_flow_leaves_its_connection_the_window_after_its_last_acknowledgement() {
    let mut bench = Bench::new(tcp());
    let connections = Some(SharedConnections { label: 0, most: 1 });
    bench.open(Opening { connections, ..bench.flow(1, 1_000) });
    bench.open(Opening { connections, ..bench.flow(2, 3_000) });
    assert_eq!(listed(&bench.drain()), [(PacketKind::Data, 1, 0)], "the second flow waits");
    bench.acknowledge(1, 1_000);
    // Slow start: a packet more for each packet that is acknowledged (RFC 5681 Sec. 3.1).
    assert_eq!(listed(&bench.drain()), [(PacketKind::Data, 2, 0), (PacketKind::Data, 2, 1_000)]);
}

#[test]
fn flows_take_the_connection_that_was_used_last_and_wait_in_their_order() {
    let mut bench = Bench::new(tcp());
    let shared = |label| Some(SharedConnections { label, most: 2 });
    let open = |bench: &mut Bench, flow, packets: u64| {
        bench.open(Opening { connections: shared(0), ..bench.flow(flow, packets * 1_000) });
    };
    let names = |bench: &mut Bench| -> Vec<u32> {
        bench.drain().iter().map(|packet| packet.flow).collect()
    };
    open(&mut bench, 1, 1);
    open(&mut bench, 2, 3);
    assert_eq!(names(&mut bench), [1, 2]);
    bench.acknowledge(1, 1_000); // a window of 2 packets
    bench.acknowledge(2, 1_000); // the same
    assert_eq!(names(&mut bench), [2, 2]);
    bench.acknowledge(2, 3_000); // a larger one, on the connection that is used last
    open(&mut bench, 3, 3);
    assert_eq!(names(&mut bench), [3, 3, 3]);
    open(&mut bench, 4, 2);
    assert_eq!(names(&mut bench), [4, 4]);
    open(&mut bench, 5, 1);
    open(&mut bench, 6, 1);
    assert!(bench.drain().is_empty(), "both connections are in use");
    bench.open(Opening { connections: shared(1), ..bench.flow(7, 1_000) });
    bench.open(Opening { connections: shared(0), destination: 2, ..bench.flow(8, 1_000) });
    assert_eq!(names(&mut bench), [7, 8], "other traffic and other destinations have their own");
    bench.acknowledge(4, 2_000);
    assert_eq!(names(&mut bench), [5]);
    bench.acknowledge(3, 3_000);
    assert_eq!(names(&mut bench), [6]);
}

#[test]
fn a_complete_flow_sends_nothing_again() {
    let mut bench = Bench::new(line_rate());
    bench.open(bench.flow(1, 2_000));
    bench.drain();
    // The switch has dropped the first packet, and later all bytes are acknowledged all the same.
    let (kind, payload) = (PacketKind::DropNotice, 1_000);
    bench.receive(Packet { kind, flow: 1, payload, ..Packet::default() });
    assert!(bench.acknowledge(1, 2_000).contains(&Request::Completed(1)));
    assert!(bench.drain().is_empty());
    assert_eq!(bench.acknowledge(1, 2_000), [], "a flow completes once");
}

#[test]
fn an_endless_message_is_granted_like_a_long_one() {
    for size in [0, 1_000_000] {
        let mut bench = Bench::new(homa());
        bench.expect(bench.flow(1, size));
        bench.bring(1, 0);
        // 5,000 B may be on their way beyond the 1,000 B that have arrived (Homa sec. 3.3).
        assert_eq!(listed(&bench.drain()), [(PacketKind::Grant, 1, 6_000)], "{size}");
    }
}

#[test]
fn bytes_that_were_never_sent_are_answered_with_busy_and_put_off_the_next_request() {
    let mut bench = Bench::new(homa());
    bench.open(bench.flow(1, 10_000));
    assert_eq!(bench.drain().len(), 5);
    let (kind, offset, remaining) = (PacketKind::Resend, 6_000, 1_000);
    bench.receive(Packet { kind, flow: 1, offset, remaining, ..Packet::default() });
    // The sender knows now that it may send these bytes. Its grant was lost.
    let sent =
        [(PacketKind::Busy, 1, 0), (PacketKind::Data, 1, 5_000), (PacketKind::Data, 1, 6_000)];
    assert_eq!(listed(&bench.drain()), sent);
    bench.expect(bench.flow(2, 5_000));
    let due = Request::Timer(Timer::Receiver(2), Time::from_us(1_000));
    assert_eq!(bench.bring(2, 0), [due]);
    bench.now = Time::from_us(500);
    bench.receive(Packet { kind: PacketKind::Busy, flow: 2, ..Packet::default() });
    for (now, resent) in [(1_000, 0), (1_500, 1)] {
        bench.now = Time::from_us(now);
        bench.timer(Timer::Receiver(2));
        assert_eq!(bench.drain().len(), resent, "at {now} us");
    }
}

#[test]
fn a_message_that_is_granted_later_is_asked_for_again_a_timeout_after_its_grant() {
    let mut bench = Bench::new(homa());
    bench.expect(bench.flow(1, 7_000));
    bench.expect(bench.flow(2, 20_000));
    bench.bring(1, 0);
    (0..5).for_each(|packet| drop(bench.bring(2, packet * 1_000)));
    bench.drain(); // the second message is longer, so it has no grant
    bench.now = Time::from_us(1_000);
    assert_eq!(bench.timer(Timer::Receiver(2)), [], "all that it may send has arrived");
    let asked: Vec<Request> = (1..7).flat_map(|packet| bench.bring(1, packet * 1_000)).collect();
    let due = Request::Timer(Timer::Receiver(2), Time::from_us(2_000));
    assert_eq!(asked.iter().filter(|&&request| request == due).count(), 1);
}

#[test]
fn a_request_for_credits_that_is_lost_is_sent_again() {
    let mut bench = Bench::new(expresspass());
    let asked = bench.open(bench.flow(1, 1_000_000));
    let due = Time::from_us(100);
    assert!(asked.contains(&Request::Timer(Timer::Sender(1), due)));
    assert_eq!(listed(&bench.drain()), [(PacketKind::CreditRequest, 1, 0)]);
    bench.now = due;
    bench.timer(Timer::Sender(1));
    assert_eq!(listed(&bench.drain()), [(PacketKind::CreditRequest, 1, 0)]);
}

#[test]
fn a_flow_that_is_over_gets_no_pulls() {
    let mut bench = Bench::new(ndp());
    for flow in [1, 2, 3] {
        bench.expect(bench.flow(flow, 10_000));
    }
    for flow in [1, 2, 3] {
        bench.bring(flow, 0);
    }
    bench.close(2);
    bench.bring(2, 1_000);
    let pulled = |packets: Vec<Packet>| -> Vec<u32> {
        let pulls = packets.iter().filter(|packet| packet.kind == PacketKind::Grant);
        pulls.map(|packet| packet.flow).collect()
    };
    assert_eq!(pulled(bench.drain()), [1]);
    bench.now = Time::from_ps(83_840); // 1,048 B at 100 Gb/s
    bench.timer(Timer::Uplink);
    assert_eq!(pulled(bench.drain()), [3]);
    bench.close(1);
    bench.bring(1, 1_000);
    bench.receive(Packet { kind: PacketKind::Trimmed, flow: 1, ..Packet::default() });
    assert!(bench.drain().is_empty());
    bench.now = Time::from_us(1);
    bench.timer(Timer::Uplink);
    assert!(bench.drain().is_empty());
}

#[test]
fn packets_say_what_their_flow_is_and_replies_carry_nothing() {
    let mut bench = Bench::new(line_rate());
    bench.open(Opening { is_incast: true, ..bench.flow(1, 1_000) });
    bench.open(bench.flow(2, 1_000));
    let is_incast = |packet: &Packet| packet.flags.contains(PacketFlags::INCAST);
    assert!(bench.drain().iter().map(is_incast).eq([true, false]));
    bench.expect(bench.flow(3, 1_000));
    bench.bring(3, 0);
    let reply = bench.drain()[0];
    assert_eq!((reply.kind, reply.payload), (PacketKind::Acknowledgement, 0));
    assert_eq!(reply.wire_bytes, FRAMES.acknowledgement);
}

#[test]
fn under_fidelity_ns3_bfc_a_reply_carries_the_label_of_its_flow() {
    for (fidelity, label) in [(Fidelity::Ns3Bfc, 4), (Fidelity::Exact, 0)] {
        let mut bench = Bench::of(line_rate(), fidelity);
        bench.expect(bench.flow(3, 1_000)); // labels begin with 1, flows with 0
        bench.bring(3, 0);
        assert_eq!(bench.drain()[0].queue, label, "{fidelity:?}");
    }
}

#[test]
fn data_of_flows_that_are_unknown_are_not_answered() {
    let mut bench = Bench::new(line_rate());
    bench.expect(bench.flow(5, 1_000));
    bench.bring(3, 0);
    bench.bring(7, 0);
    assert!(bench.drain().is_empty());
    assert_eq!(bench.pool.live(), 0);
}

#[test]
fn only_in_the_ns3_hpcc_simulator_a_completion_wakes_the_nic_and_a_timer_does_not() {
    for (fidelity, on_completion, on_timer) in
        [(Fidelity::Exact, false, true), (Fidelity::Ns3Hpcc, true, false)]
    {
        let mut bench = Bench::of(line_rate(), fidelity);
        let stop = Time::from_us(3);
        bench.open(Opening { stop, ..bench.flow(1, 2_000) });
        bench.drain();
        bench.now = stop;
        let is_woken = |asked: Vec<Request>| asked.contains(&Request::Ready);
        assert_eq!(is_woken(bench.timer(Timer::Sender(1))), on_timer, "{fidelity:?}");
        assert_eq!(is_woken(bench.acknowledge(1, 2_000)), on_completion, "{fidelity:?}");
        assert_eq!(is_woken(bench.signal(Signal::PauseClass(0))), !fidelity.is_ns3());
        assert!(is_woken(bench.signal(Signal::ResumeClass(0))), "{fidelity:?}");
    }
}

#[test]
fn a_flow_that_waited_for_its_connection_until_it_was_to_stop_stops_at_once() {
    let mut bench = Bench::new(tcp());
    let connections = Some(SharedConnections { label: 0, most: 1 });
    bench.open(Opening { connections, ..bench.flow(1, 1_000) });
    assert_eq!(bench.drain().len(), 1);
    bench.open(Opening { connections, stop: Time::from_us(3), ..bench.flow(2, 9_000) });
    bench.now = Time::from_us(5);
    bench.acknowledge(1, 1_000);
    let asked = bench.call(|host, turn| host.transmit(turn)).1;
    assert!(asked.contains(&Request::Timer(Timer::Sender(2), bench.now)), "{asked:?}");
}

/// A class whose controllers have a timer from the start, due at 1 us.
#[derive(Debug)]
struct Ringing;

impl ControllerClass for Ringing {
    fn senses(&self) -> Senses {
        Senses::default()
    }

    fn open(&self, _: &FlowFacts<'_>) -> (Box<dyn ExternalController>, Pace) {
        let pace = Pace { window: 1_000, rate: None, deadline: Time::from_us(1) };
        (Box::new(Ringing), pace)
    }
}

impl ExternalController for Ringing {
    fn hear(&mut self, _: Time, _: Event<'_>) -> Pace {
        Pace { window: 1_000, rate: None, deadline: Time::NEVER }
    }
}

#[test]
fn the_timer_that_a_controller_has_from_the_start_is_asked_for_before_the_first_packet() {
    let supplied = Supplied::with(Arc::new(Ringing) as Arc<dyn ControllerClass>);
    let class = ExternalConfig { class: "mine:Mine".into(), sha256: None, supplied };
    let controller = ControllerConfig::Python(class);
    let mut bench = Bench::new(HostConfig { controller, ..line_rate() });
    let asked = bench.open(bench.flow(1, 1_000));
    assert!(asked.contains(&Request::Timer(Timer::Sender(1), Time::from_us(1))), "{asked:?}");
}
