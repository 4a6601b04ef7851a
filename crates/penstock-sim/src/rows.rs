//! The tables that grow with time: flows that have ended, samples, events, dependent flows, requests, and the
//! packet trace. Their
//! complete rows can be taken out while the run goes on, so that its memory does not grow with them.
//!
//! Rows are taken out between windows, when all partitions have measured until the same time. So the
//! rows of a table, put one after the other, are the same whenever they were taken out.

use std::ops::DerefMut;

use penstock_packet::{Observer, PacketEvent, Unobserved};

use crate::measure::flows::FlowTable;
use crate::measure::table::Table;
use crate::partition::Partition;
use crate::setting::Setting;

/// An observer that may write rows.
pub trait Record: Observer {
    /// How many rows nobody has taken out.
    fn rows(&self) -> usize {
        0
    }

    /// Takes out all rows; none when the observer has no table.
    fn take(&mut self) -> Option<Table> {
        None
    }
}

impl Record for Unobserved {}

/// How many rows `flows` and `partitions` hold.
pub(crate) fn count<O: Record>(
    flows: &FlowTable,
    partitions: &[impl DerefMut<Target = Partition<O>>],
) -> usize {
    let of = |partition: &Partition<O>| {
        let measured = &partition.measured;
        let events = measured.event_table.as_ref().map_or(0, |events| events.rows());
        let applications = measured.dependents.rows() + measured.requests.rows();
        measured.buffers.rows()
            + measured.series.rows()
            + events
            + applications
            + partition.observer.rows()
    };
    flows.rows() + partitions.iter().map(|partition| of(partition)).sum::<usize>()
}

/// Takes out all rows, those of the partitions merged.
pub(crate) fn take<O: Record>(
    setting: &Setting,
    flows: &mut FlowTable,
    partitions: &mut [impl DerefMut<Target = Partition<O>>],
) -> Vec<Table> {
    let (mut buffers, mut series, mut events, mut packets) = (vec![], vec![], vec![], vec![]);
    let (mut dependents, mut requests) = (vec![], vec![]);
    let (has_plan, has_requests) =
        (!setting.plan.is_empty(), setting.plan.requests().next().is_some());
    for partition in partitions {
        let measured = &mut partition.measured;
        buffers.push(measured.buffers.take());
        series.push(measured.series.take());
        events.extend(measured.event_table.as_mut().map(|events| events.take()));
        dependents.extend(has_plan.then(|| measured.dependents.take()));
        requests.extend(has_requests.then(|| measured.requests.take()));
        packets.extend(partition.observer.take());
    }
    let places = places_in_series(setting);
    let tables = [
        Some(flows.take()),
        Table::merged(buffers, ["time_ns", "node"], |key| key),
        Table::merged(series, ["time_ns", "link"], |[time, link]| (time, places[link as usize])),
        Table::merged(events, EVENT_KEY, |key| event_key(setting, key)),
        Table::merged(packets, ["time_ps", "node"], |key| key),
        Table::merged(dependents, ["start_ps", "flow"], |key| key),
        Table::merged(requests, ["end_ps", "flow"], |key| key),
    ];
    tables.into_iter().flatten().collect()
}

/// By link: its place among the links whose series are recorded; 0 where it has none. A row asks for it,
/// and a scenario may record every link, so the place is not searched for.
fn places_in_series(setting: &Setting) -> Vec<usize> {
    let mut places = vec![0; setting.topology.links.len()];
    for (place, &link) in setting.series.iter().enumerate().rev() {
        places[link as usize] = place;
    }
    places
}

/// The columns by which events are sorted.
const EVENT_KEY: [&str; 5] = ["time_ps", "node", "link", "event", "queue"];

/// Events come in order of time and node. At one node those of one link come in the order in which they
/// happened, and last what was lost on the way to the node, which two partitions may have listed. Under
/// the fidelity of the ns-3 HPCC simulator all events come in the order in which they happened.
fn event_key(setting: &Setting, [time, node, link, event, queue]: [u64; 5]) -> [u64; 4] {
    if setting.scenario.fidelity.is_ns3() {
        return [0; 4];
    }
    let is_to_node = u64::from(setting.topology.links[link as usize].to) == node;
    let is_lost = is_to_node && event == PacketEvent::Drop as u64;
    [time, node, link, if is_lost { 1 + queue } else { 0 }]
}
