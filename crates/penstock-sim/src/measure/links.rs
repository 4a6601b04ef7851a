//! The links of a run: one row for each directed link.

use penstock_fabric::Switch;
use penstock_fabric::port::{Port, PortCounters};
use penstock_packet::{Carried, Observer};
use penstock_transport::Host;
use penstock_units::{Bytes, Time};

use super::summary::Measurements;
use super::table::{Column, Table};
use crate::partition::Partition;
use crate::topology::Topology;

/// Pauses as the sending end of a link counts them.
#[derive(Clone, Copy, Debug, Default)]
struct Paused {
    class_time: Time,
    queue_time: Time,
    class_pauses: u64,
    queue_pauses: u64,
}

/// What the sending end of a link has counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendingEnd {
    /// Carried in the whole run.
    carried: Carried,
    /// Carried until the traffic ended.
    carried_in_duration: Carried,
    paused: Paused,
    port: PortCounters,
}

/// The links table. `end` answers what the sending end of a link has counted. The table asks once for
/// each column, because a list of all answers would take more memory than the table. In a run that was
/// stopped before the end of the traffic, `duration_tx_bytes` and `duration_data_bytes` equal the
/// totals.
pub(crate) fn table(topology: &Topology, end: impl Fn(u32) -> SendingEnd) -> Table {
    let links = &topology.links;
    let ends = || (0..links.len() as u32).map(&end);
    let of_link = |pick: fn(&crate::topology::Link) -> u32| links.iter().map(pick).collect();
    let of_end = |pick: fn(&SendingEnd) -> u64| Column::U64(ends().map(|end| pick(&end)).collect());
    let ns_of_end = |pick: fn(&SendingEnd) -> Time| {
        Column::F64(ends().map(|end| pick(&end).as_ns_f64()).collect())
    };
    let busy = links
        .iter()
        .zip(ends())
        .map(|(link, end)| link.rate.transmission_time(Bytes::new(end.carried.bytes)).as_ns_f64());
    let columns = vec![
        ("link", Column::U32((0..links.len() as u32).collect())),
        ("from", Column::U32(of_link(|link| link.from))),
        ("to", Column::U32(of_link(|link| link.to))),
        ("layer", Column::U32(of_link(|link| u32::from(link.layer)))),
        ("rate_bps", Column::U64(links.iter().map(|link| link.rate.as_bps()).collect())),
        ("delay_ns", Column::F64(links.iter().map(|link| link.delay.as_ns_f64()).collect())),
        ("tx_bytes", of_end(|end| end.carried.bytes)),
        ("tx_packets", of_end(|end| end.carried.packets)),
        ("data_bytes", of_end(|end| end.carried.payload)),
        ("duration_tx_bytes", of_end(|end| end.carried_in_duration.bytes)),
        ("duration_data_bytes", of_end(|end| end.carried_in_duration.payload)),
        ("busy_ns", Column::F64(busy.collect())),
        ("port_pause_ns", ns_of_end(|end| end.paused.class_time)),
        ("queue_pause_ns", ns_of_end(|end| end.paused.queue_time)),
        ("port_pauses", of_end(|end| end.paused.class_pauses)),
        ("queue_pauses", of_end(|end| end.paused.queue_pauses)),
        ("drops", of_end(|end| end.port.drops)),
        ("refusals", of_end(|end| end.port.refusals)),
        ("queue_bytes_max", of_end(|end| end.port.bytes_max)),
        ("assignments", of_end(|end| end.port.enqueued)),
        ("collisions", of_end(|end| end.port.collisions)),
        ("misestimates", of_end(|end| end.port.misestimates)),
    ];
    Table { name: "links", columns }
}

/// What the links table needs of a partition.
pub(crate) struct Counted {
    /// By host: what its uplink has carried, and how its NIC was paused.
    hosts: Vec<(Carried, Paused)>,
    switches: Vec<Switch>,
    /// By link: carried until the traffic ended; none when the run was stopped before.
    carried_in_duration: Option<Vec<Carried>>,
}

impl<O: Observer> Partition<O> {
    /// Ends the partition at `now`: what the links table needs, and everything measured. The rest is freed
    /// before the table is made, because the table of a large network takes as much memory as its wires and
    /// its wheel together.
    pub(crate) fn into_counted(mut self, now: Time) -> (Counted, Measurements) {
        let carried_in_duration = self.measured.duration_carried.take().map(|links| {
            let mut all = vec![Carried::default(); self.wires.len()];
            links.iter().for_each(|&(link, carried)| all[link as usize] = carried);
            all
        });
        let counted = Counted {
            hosts: self.hosts.iter().map(|host| of_host(now, host)).collect(),
            switches: self.switches,
            carried_in_duration,
        };
        (counted, self.measured)
    }
}

impl Counted {
    /// What the sending end of `link` has counted until `now`: port `port` of the node with place `node`.
    pub(crate) fn at(&self, now: Time, link: u32, (node, port): (usize, u16)) -> SendingEnd {
        let ((carried, paused), port) = match node.checked_sub(self.hosts.len()) {
            None => (self.hosts[node], PortCounters::default()),
            Some(switch) => {
                let port = self.switches[switch].port(port);
                ((port.carried(), of_port(now, port)), port.counters)
            }
        };
        let in_duration = self.carried_in_duration.as_ref();
        let carried_in_duration = in_duration.map_or(carried, |links| links[link as usize]);
        SendingEnd { carried, carried_in_duration, paused, port }
    }
}

fn of_host(now: Time, host: &Host) -> (Carried, Paused) {
    let pauses = host.pauses();
    let paused = Paused {
        class_time: pauses.class_clock.total(now),
        queue_time: pauses.queue_clock.total(now),
        class_pauses: pauses.class_pauses,
        queue_pauses: pauses.queue_pauses,
    };
    (host.counters().carried, paused)
}

fn of_port(now: Time, port: &Port) -> Paused {
    Paused {
        class_time: port.class_pause_time(now),
        queue_time: port.queue_pause_time(now),
        class_pauses: port.counters.class_pauses,
        queue_pauses: port.counters.queue_pauses,
    }
}
