//! Ports are made when something is done to them, and nobody sees the difference.

use penstock_packet::{PortFacts, Signal};
use penstock_units::state::State;
use penstock_units::{BitRate, Time};

use super::*;
use crate::fixture::{Bench, bfc, dynamic, flow, hop_rtts, host_port, hosts, plain, switch_with};
use crate::scheduling::fifo::FifoConfig;

#[test]
fn only_a_port_with_packets_or_signals_is_made() {
    let mut bench = Bench::new(&bfc(dynamic(8), hop_rtts(1.0)), &hosts(4));
    assert_eq!((bench.switch.ports().len(), bench.switch.ports().made()), (4, 0));
    bench.admit(flow(1), 1_000);
    assert_eq!(bench.switch.ports().made(), 1, "the egress of the packet");
    bench.signal(3, Signal::PauseQueue(4));
    assert_eq!(bench.switch.ports().made(), 2);
    assert_eq!(bench.switch.port(3).paused_queues(), 1);
    bench.switch.verify(&bench.pool).unwrap();
}

#[test]
fn a_port_that_is_not_made_answers_with_its_own_rate() {
    let fast = PortFacts { rate: BitRate::from_gbps(400), ..host_port() };
    let slow = PortFacts { rate: BitRate::from_gbps(40), ..host_port() };
    let facts = switch_with([host_port(), fast, slow, host_port()].to_vec());
    let mut ports = Ports::new(&SchedulingConfig::Fifo(FifoConfig {}), &facts, 0);
    let rates = [host_port().rate, fast.rate, slow.rate, host_port().rate];
    assert!(ports.iter().map(Port::rate).eq(rates));
    assert!(ports.iter().all(|port| port.bytes() == 0 && !port.is_ready()));
    ports[1].hold(Time::ZERO, Time::from_ns(5));
    assert_eq!(ports.made(), 1);
    assert!(ports.iter().map(Port::rate).eq(rates), "the port that was made has the same rate");
    assert!(ports[1].is_stopped(0) && !ports[0].is_stopped(0));
}

#[test]
fn a_state_that_is_put_back_has_the_ports_that_were_made() {
    let mut bench = Bench::new(&plain(), &hosts(3));
    bench.admit(flow(1), 1_000);
    let mut saved = Vec::new();
    bench.switch.save(&mut saved).unwrap();
    let mut other = Bench::new(&plain(), &hosts(3));
    other.switch.restore(&mut saved.as_slice()).unwrap();
    assert_eq!(other.switch.ports().made(), 1);
    assert_eq!(other.switch.port(0).bytes(), 1_000);
}
