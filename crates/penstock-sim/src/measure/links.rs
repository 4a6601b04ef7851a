//! The links of a run: one row for each directed link.

use penstock_fabric::port::PortCounters;
use penstock_transport::Host;
use penstock_units::{Bytes, Time};

use super::summary::Measurements;
use super::table::{Column, Table};
use crate::network::Network;
use crate::wire::WireCounters;

/// Pauses as the sending end of a link counts them.
#[derive(Default)]
struct Paused {
    class_time: Time,
    queue_time: Time,
    class_pauses: u64,
    queue_pauses: u64,
}

/// The links table at `now`. `duration_tx_bytes` and `duration_data_bytes` count what a link had
/// carried when the traffic ended. In a run that was stopped before the end of the traffic, both
/// equal the totals.
pub fn table(
    now: Time,
    (network, hosts): (&Network, &[Host]),
    counters: &[WireCounters],
    measured: &Measurements,
) -> Table {
    let links = &network.topology.links;
    let until_duration = match measured.duration_counters.is_empty() {
        true => counters,
        false => &measured.duration_counters,
    };
    let ends: Vec<(Paused, PortCounters)> =
        (0..links.len()).map(|link| sending_end(now, network, hosts, link)).collect();
    let of_link = |pick: fn(&crate::topology::Link) -> u32| links.iter().map(pick).collect();
    let of_wire =
        |of: &[WireCounters], pick: fn(&WireCounters) -> u64| of.iter().map(pick).collect();
    let of_port = |pick: fn(&PortCounters) -> u64| ends.iter().map(|end| pick(&end.1)).collect();
    let of_pause = |pick: fn(&Paused) -> u64| ends.iter().map(|end| pick(&end.0)).collect();
    let ns_of_pause =
        |pick: fn(&Paused) -> Time| ends.iter().map(|end| pick(&end.0).as_ns_f64()).collect();
    let busy = links
        .iter()
        .zip(counters)
        .map(|(link, carried)| link.rate.transmission_time(Bytes::new(carried.bytes)).as_ns_f64());
    let columns = vec![
        ("link", Column::U32((0..links.len() as u32).collect())),
        ("from", Column::U32(of_link(|link| link.from))),
        ("to", Column::U32(of_link(|link| link.to))),
        ("layer", Column::U32(of_link(|link| u32::from(link.layer)))),
        ("rate_bps", Column::U64(links.iter().map(|link| link.rate.as_bps()).collect())),
        ("delay_ns", Column::F64(links.iter().map(|link| link.delay.as_ns_f64()).collect())),
        ("tx_bytes", Column::U64(of_wire(counters, |wire| wire.bytes))),
        ("tx_packets", Column::U64(of_wire(counters, |wire| wire.packets))),
        ("data_bytes", Column::U64(of_wire(counters, |wire| wire.payload))),
        ("duration_tx_bytes", Column::U64(of_wire(until_duration, |wire| wire.bytes))),
        ("duration_data_bytes", Column::U64(of_wire(until_duration, |wire| wire.payload))),
        ("busy_ns", Column::F64(busy.collect())),
        ("port_pause_ns", Column::F64(ns_of_pause(|paused| paused.class_time))),
        ("queue_pause_ns", Column::F64(ns_of_pause(|paused| paused.queue_time))),
        ("port_pauses", Column::U64(of_pause(|paused| paused.class_pauses))),
        ("queue_pauses", Column::U64(of_pause(|paused| paused.queue_pauses))),
        ("drops", Column::U64(of_port(|port| port.drops))),
        ("refusals", Column::U64(of_port(|port| port.refusals))),
        ("queue_bytes_max", Column::U64(of_port(|port| port.bytes_max))),
        ("assignments", Column::U64(of_port(|port| port.enqueued))),
        ("collisions", Column::U64(of_port(|port| port.collisions))),
        ("misestimates", Column::U64(of_port(|port| port.misestimates))),
    ];
    Table { name: "links", columns }
}

fn sending_end(
    now: Time,
    network: &Network,
    hosts: &[Host],
    link: usize,
) -> (Paused, PortCounters) {
    let wire = &network.wires[link];
    if wire.from < network.topology.hosts {
        let host = hosts[wire.from as usize].pauses();
        let paused = Paused {
            class_time: host.class_clock.total(now),
            queue_time: host.queue_clock.total(now),
            class_pauses: host.class_pauses,
            queue_pauses: host.queue_pauses,
        };
        return (paused, PortCounters::default());
    }
    let port = network.switches[(wire.from - network.topology.hosts) as usize].port(wire.from_port);
    let paused = Paused {
        class_time: port.class_pause_time(now),
        queue_time: port.queue_pause_time(now),
        class_pauses: port.counters.class_pauses,
        queue_pauses: port.counters.queue_pauses,
    };
    (paused, port.counters)
}
