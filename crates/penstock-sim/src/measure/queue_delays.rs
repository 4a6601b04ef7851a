//! How long data packets wait in the queues of switches, by group of links, when the scenario asks
//! for it.
//!
//! A wait lasts from the moment a packet joins its queue to the moment its first bit leaves (BFC
//! table 2). Homa's scheduled packets are also counted by themselves.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::{Packet, PacketId};
use penstock_transport::ControllerConfig;
use penstock_units::Time;

use super::histogram::LogHistogram;
use super::table::{Column, Table};
use crate::setting::Setting;

/// Waiting times in one group of links.
#[derive(Clone, Default, BorshSerialize, BorshDeserialize)]
struct Layer {
    all: LogHistogram,
    scheduled: LogHistogram,
}

/// Waiting times at all switches.
#[derive(Clone, BorshSerialize, BorshDeserialize)]
pub struct QueueDelays {
    /// By link: the number of its group.
    layer_of: Vec<u16>,
    layers: Vec<Layer>,
    /// By place of a packet in the pool: when the packet joined its queue.
    entered: Vec<Time>,
    /// The first scheduled level of Homa; none under other controllers.
    first_scheduled: Option<u8>,
}

impl QueueDelays {
    /// No waits yet in partition `number`.
    pub(crate) fn new(setting: &Setting, number: usize) -> Self {
        let topology = &setting.topology;
        let links = setting.placement.links[number].iter();
        let first_scheduled = match &setting.scenario.scheme.host.controller {
            ControllerConfig::Homa(homa) => Some(homa.first_scheduled_level()),
            _ => None,
        };
        QueueDelays {
            layer_of: links.map(|&link| topology.links[link as usize].layer).collect(),
            layers: vec![Layer::default(); topology.layers.len()],
            entered: vec![],
            first_scheduled,
        }
    }

    /// Adds what another partition has counted.
    pub(crate) fn add(&mut self, other: &QueueDelays) {
        for (own, other) in self.layers.iter_mut().zip(&other.layers) {
            own.all.add(&other.all);
            own.scheduled.add(&other.scheduled);
        }
    }

    /// The packet `id` joined a queue.
    pub(crate) fn enter(&mut self, now: Time, id: PacketId) {
        if self.entered.len() <= id.index() {
            self.entered.resize(id.index() + 1, Time::ZERO);
        }
        self.entered[id.index()] = now;
    }

    /// The data packet `id` leaves its queue for `link`.
    pub(crate) fn leave(&mut self, now: Time, link: u32, id: PacketId, packet: &Packet) {
        let waited = (now - self.entered[id.index()]).as_ps();
        let layer = &mut self.layers[usize::from(self.layer_of[link as usize])];
        layer.all.record(waited);
        if self.first_scheduled.is_some_and(|level| packet.tag >= u16::from(level)) {
            layer.scheduled.record(waited);
        }
    }

    /// A row for each group of links in which packets waited. With Homa, a second row for the
    /// scheduled packets of the group.
    pub fn into_table(self) -> Table {
        let numbered = (0u32..).zip(&self.layers);
        let rows: Vec<(u32, bool, &LogHistogram)> = numbered
            .flat_map(|(number, layer)| {
                [(number, false, &layer.all), (number, true, &layer.scheduled)]
            })
            .filter(|row| row.2.count() > 0)
            .collect();
        let percentile = |share: f64| {
            Column::F64(rows.iter().map(|row| row.2.percentile(share) as f64 / 1e3).collect())
        };
        let columns = vec![
            ("layer", Column::U32(rows.iter().map(|row| row.0).collect())),
            ("scheduled", Column::Bool(rows.iter().map(|row| row.1).collect())),
            ("packets", Column::U64(rows.iter().map(|row| row.2.count()).collect())),
            ("mean_ns", Column::F64(rows.iter().map(|row| row.2.mean() / 1e3).collect())),
            ("p50_ns", percentile(0.5)),
            ("p95_ns", percentile(0.95)),
            ("p99_ns", percentile(0.99)),
        ];
        Table { name: "queue_delays", columns }
    }
}
