//! What a hop reports about itself (HPCC sec. 3.1).

use alloc::vec;
use alloc::vec::Vec;

use penstock_packet::{PortFacts, SwitchFacts};
use penstock_units::{BitRate, HopTelemetry, Time};

use crate::fixture::{Bench, flow, host_port, hosts, per_flow, plain, switch_with};
use crate::marking::telemetry::TelemetryConfig;
use crate::{MarkingConfig, SwitchConfig};

fn telemetry(multiplier: u32) -> MarkingConfig {
    MarkingConfig::Telemetry(TelemetryConfig { multiplier })
}

/// The telemetry of the next packet out of port 0.
fn depart(bench: &mut Bench) -> Vec<HopTelemetry> {
    let id = bench.departure(0).unwrap().id;
    let telemetry = bench.pool.telemetry(id).to_vec();
    bench.pool.remove(id);
    telemetry
}

#[test]
fn a_hop_reports_the_queue_without_the_packet_and_the_bytes_sent_before_it() {
    let config = SwitchConfig { marking: telemetry(0), ..plain() };
    let rate = BitRate::from_gbps(40);
    let facts = switch_with(vec![PortFacts { rate, ..host_port() }, host_port()]);
    let mut bench = Bench::new(&config, &facts);
    for bytes in [1_000, 700, 300] {
        bench.admit(flow(1), bytes);
    }
    bench.acknowledge(0);
    assert_eq!(depart(&mut bench), [], "control packets carry none");
    let mut expected = HopTelemetry { time: Time::ZERO, sent_bytes: 60, queue_bytes: 1_000, rate };
    assert_eq!(depart(&mut bench), [expected]);
    bench.after(Time::from_ns(200));
    expected = HopTelemetry { time: bench.now, sent_bytes: 1_060, queue_bytes: 300, rate };
    assert_eq!(depart(&mut bench), [expected]);
    expected = HopTelemetry { sent_bytes: 1_760, queue_bytes: 0, ..expected };
    assert_eq!(depart(&mut bench), [expected]);
}

#[test]
fn the_queue_is_that_of_the_whole_port() {
    let drr = crate::fixture::drr(1_000);
    let config = SwitchConfig { marking: telemetry(0), ..per_flow(drr) };
    let mut bench = Bench::new(&config, &hosts(2));
    for number in 1..=4 {
        bench.admit(flow(number), 1_000);
    }
    let queues: Vec<u64> = (0..4).map(|_| depart(&mut bench)[0].queue_bytes).collect();
    assert_eq!(queues, [3_000, 2_000, 1_000, 0]);
}

#[test]
fn a_multiplier_of_four_counts_in_512_and_320_bytes() {
    let config = SwitchConfig { marking: telemetry(4), ..plain() };
    let mut bench = Bench::new(&config, &hosts(2));
    for bytes in [1_000, 700, 300] {
        bench.admit(flow(1), bytes);
    }
    let hops: Vec<_> = (0..3).map(|_| depart(&mut bench)[0]).collect();
    let numbers = hops.iter().map(|hop| (hop.sent_bytes, hop.queue_bytes));
    assert_eq!(numbers.collect::<Vec<_>>(), [(0, 960), (512, 0), (1_536, 0)]);
}

#[test]
fn every_switch_takes_its_number_into_the_name_of_the_path() {
    let config = SwitchConfig { marking: telemetry(0), ..plain() };
    let mut tag = 0;
    for (node, name) in [(6, 6), (3, 5)] {
        let mut bench = Bench::new(&config, &SwitchFacts { node, ..hosts(2) });
        bench.admit(flow(1), 1_000);
        let id = bench.switch.port(0).queues()[1].packets.head();
        bench.pool[id].tag = tag;
        let departure = bench.departure(0).unwrap();
        tag = bench.pool[departure.id].tag;
        assert_eq!(tag, name);
    }
}
