//! Periodic samples: the buffer of every switch, and the series of the links that the scenario
//! names.

use super::table::{Column, Table};
use borsh::{BorshDeserialize, BorshSerialize};
use penstock_transport::{Flows, Host};

/// Buffer occupancy by time and switch.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct BufferSamples {
    /// Time of the sample (ns).
    pub time: Vec<f64>,
    /// Node number of the switch.
    pub node: Vec<u32>,
    /// Data bytes stored.
    pub bytes: Vec<u64>,
}

impl BufferSamples {
    /// How many rows nobody has taken out.
    pub fn rows(&self) -> usize {
        self.time.len()
    }

    /// Takes out all rows.
    pub fn take(&mut self) -> Table {
        let taken = std::mem::take(self);
        let columns = vec![
            ("time_ns", Column::F64(taken.time)),
            ("node", Column::U32(taken.node)),
            ("buffer_bytes", Column::U64(taken.bytes)),
        ];
        Table { name: "buffers", columns }
    }
}

/// Series of links.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct LinkSamples {
    /// Time of the sample (ns).
    pub time: Vec<f64>,
    /// The directed link.
    pub link: Vec<u32>,
    /// Data bytes queued in front of the link.
    pub queue_bytes: Vec<u64>,
    /// Queues that have data and are not paused.
    pub active_queues: Vec<u32>,
    /// Flows with packets in the queues; zero unless active flows are measured.
    pub active_flows: Vec<u32>,
    /// Queues that the other end of the link has paused.
    pub paused_queues: Vec<u32>,
    /// Wire bytes sent until then.
    pub tx_bytes: Vec<u64>,
    /// Payload bytes sent until then.
    pub data_bytes: Vec<u64>,
    /// The rate that the controllers of a host's flows allow together (bit/s); zero for a switch.
    pub allowed_bps: Vec<u64>,
}

/// The rate that the controllers of the flows of `host` allow together (bit/s). A controller that
/// does not pace counts as `line_rate`.
pub fn allowed_rate(host: &Host, ends: &Flows, line_rate: u64) -> u64 {
    let rates = host.open_flows(ends).map(|sender| sender.rate());
    rates.map(|rate| rate.map_or(line_rate, |rate| rate.as_bps())).sum()
}

impl LinkSamples {
    /// How many rows nobody has taken out.
    pub fn rows(&self) -> usize {
        self.time.len()
    }

    /// Takes out all rows.
    pub fn take(&mut self) -> Table {
        let taken = std::mem::take(self);
        let columns = vec![
            ("time_ns", Column::F64(taken.time)),
            ("link", Column::U32(taken.link)),
            ("queue_bytes", Column::U64(taken.queue_bytes)),
            ("active_queues", Column::U32(taken.active_queues)),
            ("active_flows", Column::U32(taken.active_flows)),
            ("paused_queues", Column::U32(taken.paused_queues)),
            ("tx_bytes", Column::U64(taken.tx_bytes)),
            ("data_bytes", Column::U64(taken.data_bytes)),
            ("allowed_bps", Column::U64(taken.allowed_bps)),
        ];
        Table { name: "series", columns }
    }
}
